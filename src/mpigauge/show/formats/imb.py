"""Text as the Intel MPI Benchmarks 2021.11 print it, for programs that read theirs: estimates, not means.

Source of its form: their own output. A benchmark that IMB does not have is left out, and named at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.size_words import UNSIZED
from mpigauge.errors import UsageError
from mpigauge.plan.benchmarks import DATATYPES, IMB_VERSION, LEFT_OUT, OWN_DECIMALS, Counterpart
from mpigauge.plan.groups import active_ranks
from mpigauge.plan.patterns import blocks_of as blocks_of_terms
from mpigauge.plan.patterns import known
from mpigauge.show.formats.twins import Block, blocks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.document.document import Document

US, MB, PERCENT = 1e6, 1e-6, 100.0
WIDTH = 13
RULE = "#" + "-" * 64
END = "# All processes entering MPI_Finalize"
PARTS = {False: "MPI-1", True: "MPI-NBC"}
"""Programs of IMB, by whether a benchmark overlaps communication with computation."""

MESSAGES = ("Mbytes/sec", "Msg/sec")
TIME = ("t[usec]", "Mbytes/sec")
TIMES = ("t_min[usec]", "t_max[usec]", "t_avg[usec]")
HIDING = ("t_ovrl[usec]", "t_pure[usec]", "t_CPU[usec]", "overlap[%]")


def render(document: Document) -> str:
    """Return a table per measurement that IMB has, too, under the heading of its program.

    Raises:
        UsageError: The document has no times that IMB has a name for.
    """
    blocks, left_out = blocks_of(document, "imb", lambda twin: twin.imb)
    lacking: dict[str, list[str]] = {}
    for block in blocks:
        if lack := _missing_for(block):
            lacking.setdefault(lack, []).append(f"{block.cell.pattern} {block.cell.mode}")
    complete = [block for block in blocks if not _missing_for(block)]
    without = [f"{', '.join(dict.fromkeys(names))}: {lack}" for lack, names in lacking.items()]
    if not complete:
        raise UsageError(f"format imb cannot have {'; '.join(without)}", "use --format csv or json for those")
    left_out += [f"{LEFT_OUT}{block}" for block in without]
    lines = [
        line
        for part in PARTS
        for line in _program([block for block in complete if block.twin.hides is part], part)
    ]
    return "\n".join([*lines, *left_out, END]) + "\n"


def _missing_for(block: Block) -> str:
    """Return what a table of IMB needs and the result lacks; empty if nothing."""
    if not all(record["samples"] for record in block.rows):
        return "imported without its repetitions, least and mean"
    return "" if _ranks(block) else "nobody says its number of ranks"


def _ranks(block: Block) -> int:
    """Return the number of ranks; 0 if unknown."""
    return active_ranks(block.cell, known()[block.cell.pattern])


def _program(blocks: Sequence[Block], hides: bool) -> list[str]:
    if not blocks:
        return []
    title = f"#    Intel(R) MPI Benchmarks {IMB_VERSION}, {PARTS[hides]} part"
    return [RULE, title, RULE, "", *(line for block in blocks for line in _table(block))]


def _table(block: Block) -> list[str]:
    cell, pattern = block.cell, known()[block.cell.pattern]
    names = _names(block.twin)
    sized = cell.pattern not in UNSIZED
    reduced = [
        f"# MPI_Datatype for reductions    :   {DATATYPES.get(cell.datatype, cell.datatype)}",
        f"# MPI_Op                         :   MPI_{cell.op.upper()}",
    ]
    return [
        *(reduced if pattern.reduces and cell.datatype else []),
        RULE,
        f"# Benchmarking {block.twin.imb} ",
        f"# #processes = {_ranks(block)} ",
        *block.comments,
        RULE,
        _words([*(["#bytes"] if sized else []), "#repetitions", *names], sized=sized),
        *(_row(record, block.twin, sized=sized) for record in block.rows),
        "",
    ]


def _names(twin: Counterpart) -> tuple[str, ...]:
    if twin.hides:
        return HIDING
    if twin.rate:
        return MESSAGES
    together = known()[twin.pattern]
    if together.active_ranks:
        return TIME
    return TIMES if together.family == "collective" else (*TIMES, TIME[1])


def _words(words: Sequence[str], *, sized: bool) -> str:
    text = "".join(f"{word:>{WIDTH}}" for word in words)
    return text if sized else " " + text.lstrip()


def _row(record: Mapping[str, Any], twin: Counterpart, *, sized: bool) -> str:
    size = [f"{record['bytes']:{WIDTH}d}"] if sized else []
    numbers = [f" {number:{WIDTH - 1}.{OWN_DECIMALS}f}" for number in _numbers(record, twin)]
    return "".join([*size, f" {record['samples']:{WIDTH - 1}d}", *numbers])


def _numbers(record: Mapping[str, Any], twin: Counterpart) -> list[float]:
    """Return the numbers of a row. Our times are of all ranks: minimum, maximum and mean are the same."""
    time_us, rate = record["time_estimate_s"] * US, (record["rate_bytes_per_s"] or 0.0) * MB
    names = _names(twin)
    if twin.hides:
        pure_s, hidden = record["overlap_pure_s"], record["overlap_estimate"]
        compute_us = max(0.0, time_us - (1 - hidden) * pure_s * US)
        return [time_us, pure_s * US, compute_us, max(0.0, hidden) * PERCENT]
    if twin.rate:
        mode = known()[twin.pattern].mode(twin.mode)
        return [rate, (mode.directions if mode else 1) / record["time_estimate_s"]]
    counted = _counted(twin, record["bytes"]) / record["time_estimate_s"] * MB
    return [time_us] * (len(names) - (TIME[1] in names)) + [counted] * (TIME[1] in names)


def _counted(twin: Counterpart, size_bytes: int) -> int:
    """Return the bytes that IMB's rate counts per time: only one message of two that a pair exchanges."""
    pattern = known()[twin.pattern]
    mode = pattern.mode(twin.mode)
    if pattern.active_ranks or mode is None:
        return size_bytes
    return round(blocks_of_terms(pattern.volumes.operation, pattern.min_ranks)) * mode.directions * size_bytes
