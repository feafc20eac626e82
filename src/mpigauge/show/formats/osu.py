"""Text as the OSU Micro-Benchmarks 7.4 print it, for programs that read theirs: estimates in place of means.

Source of its form: their own output. A benchmark that OSU does not have is left out, and named at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.size_words import UNSIZED
from mpigauge.plan.benchmarks import DATATYPES, OSU_VERSION, OWN_DECIMALS, Counterpart
from mpigauge.plan.patterns import known
from mpigauge.show.formats.twins import blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.document.document import Document
    from mpigauge.show.formats.twins import Block

US, MB, PERCENT = 1e6, 1e-6, 100.0
USUAL_TYPE = "MPI_CHAR"
LATENCY = ("Avg Latency(us)",)
BANDWIDTH = ("Bandwidth (MB/s)",)
OF_PAIRS = ("MB/s", "Messages/s")
HIDING = ("Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)")
VALIDATION, UNKNOWN = "Validation", "-"
FORMULA = "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait"
WIDTH, SIZE_WIDTH = 18, 10


def render(document: Document) -> str:
    """Return a table per measurement that OSU has, too.

    Raises:
        UsageError: The document has no times that OSU has a name for.
    """
    return tables(document, "osu")


def tables(document: Document, form: str, *, validated: bool = False) -> str:
    """Return the tables as text.

    Args:
        form: Name of the format, for errors.
        validated: Whether to add the column Validation, as OSU does with its option -c. Tables without sizes
            have no payload, and no such column.

    Raises:
        UsageError: The document has no times that OSU has a name for.
    """
    blocks, left_out = blocks_of(document, form, lambda twin: twin.osu)
    lines = [line for block in blocks for line in ("", *_table(block, validated=validated))]
    return "\n".join([*lines, *left_out]) + "\n"


def _table(block: Block, *, validated: bool) -> list[str]:
    twin = block.twin
    sized = block.cell.pattern not in UNSIZED
    names = (*_numbers_of(twin), *([VALIDATION] if validated and sized else []))
    datatype = DATATYPES.get(block.cell.datatype, block.cell.datatype) or USUAL_TYPE
    return [
        f"# OSU MPI{'_' if known()[twin.pattern].one_sided else ' '}{twin.osu} v{OSU_VERSION}",
        *block.comments,
        *_head(block),
        *([FORMULA, ""] if twin.hides else []),
        *([f"# Datatype: {datatype}."] if sized else []),
        _heading(names, sized=sized),
        *(_row(record, twin, names, sized=sized) for record in block.rows),
    ]


def _numbers_of(twin: Counterpart) -> tuple[str, ...]:
    """Return the names of the columns of numbers."""
    if twin.hides:
        return HIDING
    if not twin.rate:
        return LATENCY
    return OF_PAIRS if known()[twin.pattern].in_halves else BANDWIDTH


def _head(block: Block) -> Iterator[str]:
    """Yield what its program prints above the columns: the window and how it synchronises, or its pairs."""
    pattern, cell = known()[block.twin.pattern], block.cell
    if pattern.one_sided:
        yield f"# Window creation: MPI_Win_{cell.rma_window}"
        yield f"# Synchronization: MPI_Win_{cell.mode}"
    elif pattern.in_halves and block.twin.rate:
        yield f"# [ pairs: {cell.senders or cell.ranks // 2} ] [ window size: {cell.window} ]"


def _heading(names: tuple[str, ...], *, sized: bool) -> str:
    if sized:
        return f"{'# Size':<{SIZE_WIDTH}}" + "".join(f"{name:>{WIDTH}}" for name in names)
    first, *others = names
    return f"# {first}" + "".join(f"{name:>{WIDTH}}" for name in others)


def _row(record: Mapping[str, Any], twin: Counterpart, names: tuple[str, ...], *, sized: bool) -> str:
    words = "".join(f" {number:{WIDTH - 1}.{OWN_DECIMALS}f}" for number in _numbers(record, twin))
    words += f"{_validation(record):>{WIDTH}}" if VALIDATION in names else ""
    return f"{record['bytes']:<{SIZE_WIDTH}}{words}" if sized else words


def _validation(record: Mapping[str, Any]) -> str:
    """Return the result of validation: the kernel checks every visit of a cell, others may check nothing."""
    if record["status"] == "corrupt":
        return "Fail"
    return "Pass" if record["launches"] else UNKNOWN


def _numbers(record: Mapping[str, Any], twin: Counterpart) -> list[float]:
    """Return the numbers of a row; computation is inferred from the overlap: see `rows.synchrony.Overlap`."""
    time_s = record["time_estimate_s"]
    if twin.rate:
        rate = record["rate_bytes_per_s"] or 0.0
        return [rate * MB, 1 / time_s][: len(_numbers_of(twin))]
    if not twin.hides:
        return [time_s * US]
    pure_s, hidden = record["overlap_pure_s"], record["overlap_estimate"]
    compute_s = max(0.0, time_s - (1 - hidden) * pure_s)
    return [time_s * US, compute_s * US, pure_s * US, max(0.0, hidden) * PERCENT]
