"""Guidelines as a document: what is violated, where, by how much, and what would be faster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.compare import guideline_sentences as words
from mpigauge.compare.guidelines import USUAL
from mpigauge.compare.pairs import Matched
from mpigauge.compare.runs import Run, distance, runs_of
from mpigauge.compare.sentences import ratio_words
from mpigauge.document.cell_names import names_of
from mpigauge.document.document import DOT, Cases, Column, Document, Line, Table
from mpigauge.document.records import cell_record, number
from mpigauge.plan.factors import SIZE
from mpigauge.sequences import group_by
from mpigauge.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from mpigauge.compare.guidelines import Best, Checked, Guidelines
    from mpigauge.document.document import Tone, Units
    from mpigauge.plan.patterns import Pattern

LINES_MOST = 14
"""Of the table, unless all are asked for."""

TONES: dict[str, Tone] = {"violated": "bad", "kept": "good"}
"""Of verdicts; all others are a doubt."""


def document(
    shown: Guidelines, patterns: Mapping[str, Pattern], chosen: Units, *, everything: bool = False
) -> Document:
    """The verdict, what is violated, the worst first; and if nothing is, what keeps it from being sure.

    Args:
        patterns: By name.
        everything: A line for every guideline.
    """
    unsaid = words.going_unsaid(shown, patterns)
    violated = _runs(shown.violated)
    lines = _runs(shown.checked) if everything else violated or _runs(shown.open)
    kept = lines if everything else lines[:LINES_MOST]
    more = [f"{len(lines) - len(kept)} more: --all"] if len(lines) > len(kept) else []
    best = shown.best if everything else shown.best[:LINES_MOST]
    said = [words.sentence(run, unsaid) for run in violated[:LINES_MOST]]
    return Document(
        head=[words.headline(shown), *said, DOT.join(_basis(shown))],
        tables=[_table(kept, unsaid)] if kept else [],
        foot=[Line(text) for text in (*more, *words.notes(shown, best, unsaid))],
        units=chosen,
        schema="guidelines",
        data=lambda: _data(shown),
        records=lambda: [_record(one) for one in shown.checked],
        cases=lambda: [_cases(kept, unsaid)] if kept else [],
    )


def _runs(checked: Iterable[Checked]) -> list[Run]:
    """Neighbouring sizes of one guideline as one, the worst first; of pairs of sizes each is one."""
    groups = group_by(checked, lambda one: one.kind if one.kind != "monotony" else id(one))
    found = [run for some in groups.values() for run in runs_of(some, SIZE)]
    return sorted(found, key=lambda run: (run.verdict != "slower", -distance(run.worst)))


def _basis(shown: Guidelines) -> list[str]:
    counts = [one.decision.launches for one in shown.checked if one.decision is not None]
    most = f"{max(counts)} launches in common" if counts else "too few launches"
    error = f"{format_percent(USUAL.level)} error of all guidelines together"
    return [most, error, f"margin {format_percent(USUAL.margin)}, allowed {format_percent(USUAL.allow)}"]


def _table(runs: Sequence[Run], unsaid: Collection[str]) -> Table:
    worst = words.checked
    return Table(
        "",
        "",
        runs,
        [
            Column(
                "cell", "", lambda run: words.name_of(worst(run).pair.other, unsaid), left=True, goes=None
            ),
            Column(
                "sizes", "size", lambda run: words.sizes_of(run).removeprefix(" of "), left=True, goes=None
            ),
            Column("against", "against", lambda run: words.instead_of(worst(run)), left=True, goes=None),
            Column("time_s", "takes", lambda run: worst(run).time_s, "s", goes=1),
            Column("against_s", "instead of", lambda run: worst(run).against_s, "s", goes=2),
            Column("ratio", "times as long", lambda run: ratio_words(worst(run).decision), goes=None),
            Column(
                "verdict",
                "",
                lambda run: words.verdict_of(worst(run)),
                left=True,
                goes=None,
                tone=lambda run: TONES.get(words.verdict_of(worst(run)), "doubt"),
            ),
        ],
    )


# ---- For programs --------------------------------------------------------------------------------


def _cases(runs: Sequence[Run], unsaid: Collection[str]) -> Cases:
    """The same with a row per number, since where a run begins and ends is another thing each time."""
    alone = [Run((one,), 1) for run in runs for one in run.cells]
    rows = [run.worst.pair.other for run in alone]
    against = [words.instead_of(words.checked(run)) for run in alone]
    names = names_of([(row.cell, row.state) for row in rows])
    return Cases(
        _table(alone, unsaid), [f"{name} against {one}" for name, one in zip(names, against, strict=True)]
    )


def _data(shown: Guidelines) -> dict[str, Any]:
    """docs/numbers.md#guidelines."""
    return {
        "verdict": shown.verdict,
        "margin": USUAL.margin,
        "allow": USUAL.allow,
        "checked": len(shown.checked),
        "violated": [_record(one) for one in shown.violated],
        "undecided": [_record(one) for one in shown.open],
        "best": [_best(best) for best in shown.best],
    }


def _best(best: Best) -> dict[str, Any]:
    return {
        **cell_record(best.ways[0].pair.other.cell),
        "low": number(best.low),
        "high": number(best.high),
        "ways": [one.pair.base.cell.mode for one in best.ways],
    }


def _record(one: Checked) -> dict[str, Any]:
    decision, base, other = one.decision, one.pair.base, one.pair.other
    parts = one.pair.parts if isinstance(one.pair, Matched) else ()
    saved = one.saved_s or (None, None, None)
    numbers = ("ratio", "low", "high", "bound", "p", "launches")
    return {
        **cell_record(other.cell),
        "states": [part.base.state for part in parts if part.base.state],
        "kind": one.kind,
        "against_mode": base.cell.mode,
        "against_bytes": base.cell.bytes,
        "against_ranks": base.cell.ranks,
        "against_parts": one.parts,
        "time_s": number(one.time_s),
        "against_s": number(one.against_s),
        **{name: number(getattr(decision, name, None)) for name in numbers},
        **{
            f"saved_{name}": number(value)
            for name, value in zip(("s", "low_s", "high_s"), saved, strict=True)
        },
        "guard_s": one.guard_s,
        "verdict": one.verdict,
        "said": words.verdict_of(one),
    }
