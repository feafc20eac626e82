"""Guidelines in sentences and as a document: what is violated, where, how much, and what is faster."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.compare.comparison import Run, runs_of
from mpigauge.compare.guidelines import MAX_PAIRS, PAIRED_ALONG, USUAL, Checked
from mpigauge.compare.pairs import StateMatchedPair
from mpigauge.compare.sentences import is_open, ratio_words
from mpigauge.document.cell_names import names_of, sized_subject, subject, varied_among
from mpigauge.document.document import DOT, Cases, Column, Document, Line, Table
from mpigauge.document.ratio_words import OF_PAIRS
from mpigauge.document.records import cell_record, decision_record, finite_or_none, states_record
from mpigauge.plan.factors import SIZE
from mpigauge.sequences import group_by
from mpigauge.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mpigauge.compare.guidelines import Best, Guidelines
    from mpigauge.document.document import Tone, Units
    from mpigauge.vocabulary import Verdict

VERDICTS: dict[Verdict, str] = {
    "slower": "violated",
    "faster": "kept",
    "same": "kept",
    "undecided": "undecided",
}
MEASURE = "what could replace them: mpigauge run --suite guidelines"


def headline(shown: Guidelines) -> str:
    """Return the verdict on all guidelines as a sentence."""
    count, allow = len(shown.checked), units.format_percent(USUAL.allow)
    match shown.verdict:
        case "slower":
            named = dict.fromkeys(checked.pair.other.cell.pattern for checked in shown.violated)
            return f"violated: {len(shown.violated)} of {count} guidelines, of {', '.join(named)}"
        case "same":
            return f"kept: none of {count} guidelines is violated by {allow}"
        case _ if not shown.replaceable:
            own = "operations were held against their own sizes and ranks alone"
            why = own if count else "nothing to hold an operation against was measured"
            return f"undecided: {why}; {MEASURE}"
        case _:
            return f"undecided: {len(shown.open)} of {count} guidelines may be violated by {allow}"


def verdict_of(checked: Checked) -> str:
    """Return the word for the verdict on one guideline."""
    if checked.pair.base.time is None or checked.pair.other.time is None:
        return "not measured"
    if checked.decision is None:
        return "too few launches"
    if checked.verdict == "undecided" and checked.decision.verdict == "slower":
        return "undecided: less than starts and clock tell apart"
    return VERDICTS[checked.verdict]


def sentence(run: Run, varied: Collection[str]) -> str:
    """Return what a violated run means: `bcast, 8 B: takes 1.4 (1.3 - 1.5) times as long as reduce-bcast`.

    Args:
        varied: Factors in which the operations differ.
    """
    worst = worst_of(run)
    bounded = worst.decision is not None and is_open(worst.decision)
    most = "up to " if len(run.cells) > 1 and not bounded else ""
    name = sized_subject(worst.pair.other.of, varied, sizes=sizes_of(run))
    times = f"{most}{ratio_words(worst.decision)} times"
    return f"{name}: takes {times} as long as {base_words(worst)}{_saving(run)}"


def _saving(run: Run) -> str:
    worst = worst_of(run)
    if worst.saved_s is None or worst.kind in PAIRED_ALONG:
        return ""
    saved_s, low_s, high_s = worst.saved_s
    saved = units.with_interval(units.format_time(saved_s), low_s, high_s, units.format_time)
    where = f" at {units.format_size(worst.pair.other.cell.bytes)}" if len(run.cells) > 1 else ""
    return f": saves {saved} per call{where}"


def worst_of(run: Run) -> Checked:
    """Return the worst guideline of a run."""
    worst = run.worst
    assert isinstance(worst, Checked)  # noqa: S101 - runs of guidelines have no other
    return worst


def sizes_of(run: Run) -> str:
    """Return `4 KiB to 32 KiB`; empty where there are no sizes."""
    first, last = run.cells[0].pair.other, run.cells[-1].pair.other
    if not first.sized:
        return ""
    return units.span(*(units.format_size(row.cell.bytes) for row in (first, last)))


def base_words(checked: Checked) -> str:
    """Return the name of what an operation should not be slower than."""
    base = checked.pair.base.cell
    match checked.kind:
        case "mock-up":
            return base.mode
        case "split":
            return f"in {checked.parts} parts"
        case "monotony":
            return f"with {units.format_size(base.bytes)}"
        case "ranks":
            return f"with {base.ranks} ranks"


def best_words(best: Best, varied: Collection[str]) -> str:
    """Return how much the best of several better ways saves, whichever it is."""
    first, *others = (checked.pair.base.cell.mode for checked in best.ways)
    low, high = units.format_factor(best.low), units.format_factor(best.high)
    row = best.ways[0].pair.other
    return (
        f"{sized_subject(row.of, varied)}: the best of its ways is {low} to {high} times as fast: "
        f"{first}, or {', '.join(others)}"
    )


def notes(shown: Guidelines, shown_best: Sequence[Best], varied: Collection[str]) -> Iterator[str]:
    """Yield what else a reader should know of the guidelines."""
    yield from (best_words(best, varied) for best in shown_best)
    said = Counter(map(verdict_of, shown.checked))
    if gaps := said["not measured"]:
        yield f"not measured on one side: {gaps}"
    if few := said["too few launches"]:
        yield f"too few launches in common: {few}; --launches 10"
    if shown.left_out:
        yield f"{shown.left_out} sizes left out: {MAX_PAIRS} pairs of sizes are held against each other"
    if any(checked.decision is not None and checked.pair.paired for checked in shown.checked):
        yield f"times as long: {OF_PAIRS}"


# ---- The document --------------------------------------------------------------------------------

MAX_LINES = 14
"""Lines of the table, unless all are asked for."""

TONES: dict[str, Tone] = {"violated": "bad", "kept": "good"}
"""Tones of verdicts; all others are a doubt."""


def document(shown: Guidelines, chosen: Units, *, everything: bool = False) -> Document:
    """Return the verdict and the violations, the worst first; without any, what keeps it undecided.

    Args:
        everything: A line for every guideline.
    """
    varied = varied_among(checked.pair.other.cell for checked in shown.checked)
    violated = _runs(shown.violated)
    lines = _runs(shown.checked) if everything else violated or _runs(shown.open)
    kept = lines if everything else lines[:MAX_LINES]
    more = [f"{len(lines) - len(kept)} more: --all"] if len(lines) > len(kept) else []
    best = shown.best if everything else shown.best[:MAX_LINES]
    said = [sentence(run, varied) for run in violated[:MAX_LINES]]
    return Document(
        head=[headline(shown), *said, DOT.join(_basis(shown))],
        tables=[_table(kept, varied)] if kept else [],
        foot=[Line(text) for text in (*more, *notes(shown, best, varied))],
        units=chosen,
        schema="guidelines",
        data=lambda: _data(shown),
        records=lambda: [_record(checked) for checked in shown.checked],
        cases=lambda: [_cases(kept, varied)] if kept else [],
    )


def _runs(guidelines: Iterable[Checked]) -> list[Run]:
    """Return neighbouring sizes of one guideline as runs, the worst first; pairs of sizes stay alone."""
    groups = group_by(guidelines, lambda checked: checked.kind if checked.kind != "monotony" else id(checked))
    found = [run for some in groups.values() for run in runs_of(some, SIZE)]
    return sorted(found, key=lambda run: (run.verdict != "slower", -run.distance))


def _basis(shown: Guidelines) -> list[str]:
    counts = [checked.decision.launches for checked in shown.checked if checked.decision is not None]
    most = f"{max(counts)} launches in common" if counts else "too few launches"
    error = f"{format_percent(USUAL.level)} error of all guidelines together"
    return [most, error, f"margin {format_percent(USUAL.margin)}, allowed {format_percent(USUAL.allow)}"]


def _table(runs: Sequence[Run], varied: Collection[str]) -> Table:
    worst = worst_of
    return Table(
        "",
        "",
        runs,
        [
            Column("cell", "", lambda run: subject(worst(run).pair.other.of, varied), left=True, goes=None),
            Column(
                "sizes",
                "size",
                sizes_of,
                left=True,
                goes=None,
                tells=True,
            ),
            Column(
                "against", "against", lambda run: base_words(worst(run)), left=True, goes=None, tells=True
            ),
            Column("time_s", "takes", lambda run: worst(run).time_s, "s", goes=1),
            Column("against_s", "instead of", lambda run: worst(run).against_s, "s", goes=2),
            Column("ratio", "times as long", lambda run: ratio_words(worst(run).decision), goes=None),
            Column(
                "verdict",
                "",
                lambda run: verdict_of(worst(run)),
                left=True,
                goes=None,
                tone=lambda run: TONES.get(verdict_of(worst(run)), "doubt"),
            ),
        ],
    )


# ---- For programs --------------------------------------------------------------------------------


def _cases(runs: Sequence[Run], varied: Collection[str]) -> Cases:
    """Return a table with a row per number, since runs begin and end elsewhere each time."""
    single = [Run((one,)) for run in runs for one in run.cells]
    rows = [run.worst.pair.other for run in single]
    against = [base_words(worst_of(run)) for run in single]
    names = names_of([row.of for row in rows])
    return Cases(
        _table(single, varied), [f"{name} against {one}" for name, one in zip(names, against, strict=True)]
    )


def _data(shown: Guidelines) -> dict[str, Any]:
    """Return the data of the document: docs/numbers-verbs.md#guidelines."""
    return {
        "verdict": shown.verdict,
        "margin": USUAL.margin,
        "allow": USUAL.allow,
        "checked": len(shown.checked),
        "violated": [_record(checked) for checked in shown.violated],
        "undecided": [_record(checked) for checked in shown.open],
        "best": [_best(best) for best in shown.best],
    }


def _best(best: Best) -> dict[str, Any]:
    return {
        **cell_record(best.ways[0].pair.other.cell),
        "low": finite_or_none(best.low),
        "high": finite_or_none(best.high),
        "ways": [checked.pair.base.cell.mode for checked in best.ways],
    }


def _record(checked: Checked) -> dict[str, Any]:
    base, other = checked.pair.base, checked.pair.other
    parts = checked.pair.by_state if isinstance(checked.pair, StateMatchedPair) else ()
    saved = checked.saved_s or (None, None, None)
    return {
        **cell_record(other.cell),
        "states": [*filter(None, states_record(part.base.of for part in parts))],
        "kind": checked.kind,
        "against_mode": base.cell.mode,
        "against_bytes": base.cell.bytes,
        "against_ranks": base.cell.ranks,
        "against_parts": checked.parts,
        "time_s": finite_or_none(checked.time_s),
        "against_s": finite_or_none(checked.against_s),
        **decision_record(checked.decision, "ratio", "low", "high", "bound", "p", "launches"),
        **{
            f"saved_{name}": finite_or_none(value)
            for name, value in zip(("s", "low_s", "high_s"), saved, strict=True)
        },
        "guard_s": checked.guard_s,
        "verdict": checked.verdict,
        "said": verdict_of(checked),
    }
