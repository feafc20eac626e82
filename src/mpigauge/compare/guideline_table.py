"""Guidelines in sentences and as a document: what is violated, where, how much, and what is faster."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.compare.comparison import Run, distance, runs_of
from mpigauge.compare.guidelines import PAIRED_ALONG, PAIRS_MOST, USUAL, Checked
from mpigauge.compare.pairs import Matched
from mpigauge.compare.sentences import ratio_words
from mpigauge.document.cell_names import names_of
from mpigauge.document.document import DOT, Cases, Column, Document, Line, Table
from mpigauge.document.phrases import WORDS, phrases_of, unusual
from mpigauge.document.ratio_words import OF_PAIRS
from mpigauge.document.records import cell_record, number
from mpigauge.plan.factors import SIZE
from mpigauge.plan.patterns import usual_mode
from mpigauge.sequences import group_by
from mpigauge.units import format_percent
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.guidelines import Best, Guidelines
    from mpigauge.document.document import Tone, Units
    from mpigauge.plan.patterns import Pattern
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import Verdict

VERDICTS: dict[Verdict, str] = {
    "slower": "violated",
    "faster": "kept",
    "same": "kept",
    "undecided": "undecided",
}
MEASURE = "what could replace them: mpigauge run --suite guidelines"


def headline(shown: Guidelines) -> str:
    """The verdict on all of them."""
    count, allow = len(shown.checked), units.format_percent(USUAL.allow)
    match shown.verdict:
        case "slower":
            named = dict.fromkeys(one.pair.other.cell.pattern for one in shown.violated)
            return f"violated: {len(shown.violated)} of {count} guidelines, of {', '.join(named)}"
        case "same":
            return f"kept: none of {count} guidelines is violated by {allow}"
        case _ if not shown.replaceable:
            own = "operations were held against their own sizes and ranks alone"
            why = own if count else "nothing to hold an operation against was measured"
            return f"undecided: {why}; {MEASURE}"
        case _:
            return f"undecided: {len(shown.open)} of {count} guidelines may be violated by {allow}"


def verdict_of(one: Checked) -> str:
    """The word for one of them."""
    if one.pair.base.time is None or one.pair.other.time is None:
        return "not measured"
    if one.decision is None:
        return "too few launches"
    if one.verdict == "undecided" and one.decision.verdict == "slower":
        return "undecided: less than starts and clock tell apart"
    return VERDICTS[one.verdict]


def sentence(run: Run, unsaid: Collection[str]) -> str:
    """What a run of violated ones means: `bcast of 8 B takes 1.4 (1.3 - 1.5) times as long as reduce-bcast`.

    Args:
        unsaid: Words that go without saying.
    """
    one = checked(run)
    most = "up to " if len(run.cells) > 1 else ""
    text = f"{name_of(one.pair.other, unsaid)}{sizes_of(run)} takes {most}{ratio_words(one.decision)}"
    return f"{text} times as long as {instead_of(one)}{_saving(run)}"


def _saving(run: Run) -> str:
    one = checked(run)
    if one.saved_s is None or one.kind in PAIRED_ALONG:
        return ""
    saved_s, low_s, high_s = one.saved_s
    saved = units.with_interval(units.format_time(saved_s), low_s, high_s, units.format_time)
    where = f" at {units.format_size(one.pair.other.cell.bytes)}" if len(run.cells) > 1 else ""
    return f": saves {saved} per call{where}"


def checked(run: Run) -> Checked:
    """The worst of a run."""
    worst = run.worst
    assert isinstance(worst, Checked)  # noqa: S101 - runs of guidelines have no other
    return worst


def going_unsaid(shown: Guidelines, patterns: Mapping[str, Pattern]) -> frozenset[str]:
    """Usual modes, and the number of ranks if there is one: words that need not be said."""
    cells = (row.cell for one in shown.checked for row in (one.pair.base, one.pair.other))
    ranks = {WORDS["ranks"](cell) for cell in cells}
    modes = map(usual_mode, patterns.values())
    return frozenset({AUTO, *modes, *(ranks if len(ranks) == 1 else ())})


def name_of(row: Row, unsaid: Collection[str]) -> str:
    """Of an operation, with what is not usual about it."""
    cell = row.cell
    job = phrases_of(cell, ("mode", "ranks", "transport", "setting")).values()
    return " ".join([cell.pattern, *(phrase for phrase in job if phrase not in unsaid), *unusual(cell)])


def sizes_of(run: Run) -> str:
    """` of 4 KiB to 32 KiB`; nothing where there are no sizes."""
    first, last = run.cells[0].pair.other, run.cells[-1].pair.other
    if not first.sized:
        return ""
    return f" of {units.span(*(units.format_size(row.cell.bytes) for row in (first, last)))}"


def instead_of(one: Checked) -> str:
    """What it should not be slower than."""
    base = one.pair.base.cell
    match one.kind:
        case "mock-up":
            return base.mode
        case "split":
            return f"in {one.parts} parts"
        case "monotony":
            return f"with {units.format_size(base.bytes)}"
        case "ranks":
            return f"with {base.ranks} ranks"


def best_words(best: Best, unsaid: Collection[str]) -> str:
    """Of several better ways: how much the best one saves, whichever it is."""
    first, *others = (one.pair.base.cell.mode for one in best.ways)
    low, high = units.format_factor(best.low), units.format_factor(best.high)
    row = best.ways[0].pair.other
    size = f" of {units.format_size(row.cell.bytes)}" if row.sized else ""
    return (
        f"{name_of(row, unsaid)}{size}: the best of its ways is {low} to {high} times as fast: "
        f"{first}, or {', '.join(others)}"
    )


def notes(shown: Guidelines, shown_best: Sequence[Best], unsaid: Collection[str]) -> Iterator[str]:
    """What else is to be known."""
    yield from (best_words(best, unsaid) for best in shown_best)
    said = Counter(map(verdict_of, shown.checked))
    if gaps := said["not measured"]:
        yield f"not measured on one side: {gaps}"
    if few := said["too few launches"]:
        yield f"too few launches in common: {few}; --launches 10"
    if shown.left_out:
        yield f"{shown.left_out} sizes left out: {PAIRS_MOST} pairs of sizes are held against each other"
    if any(one.decision is not None and one.pair.paired for one in shown.checked):
        yield f"times as long: {OF_PAIRS}"


# ---- The document --------------------------------------------------------------------------------

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
    unsaid = going_unsaid(shown, patterns)
    violated = _runs(shown.violated)
    lines = _runs(shown.checked) if everything else violated or _runs(shown.open)
    kept = lines if everything else lines[:LINES_MOST]
    more = [f"{len(lines) - len(kept)} more: --all"] if len(lines) > len(kept) else []
    best = shown.best if everything else shown.best[:LINES_MOST]
    said = [sentence(run, unsaid) for run in violated[:LINES_MOST]]
    return Document(
        head=[headline(shown), *said, DOT.join(_basis(shown))],
        tables=[_table(kept, unsaid)] if kept else [],
        foot=[Line(text) for text in (*more, *notes(shown, best, unsaid))],
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
    worst = checked
    return Table(
        "",
        "",
        runs,
        [
            Column("cell", "", lambda run: name_of(worst(run).pair.other, unsaid), left=True, goes=None),
            Column("sizes", "size", lambda run: sizes_of(run).removeprefix(" of "), left=True, goes=None),
            Column("against", "against", lambda run: instead_of(worst(run)), left=True, goes=None),
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


def _cases(runs: Sequence[Run], unsaid: Collection[str]) -> Cases:
    """The same with a row per number, since where a run begins and ends is another thing each time."""
    alone = [Run((one,), 1) for run in runs for one in run.cells]
    rows = [run.worst.pair.other for run in alone]
    against = [instead_of(checked(run)) for run in alone]
    names = names_of([row.of for row in rows])
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
        "said": verdict_of(one),
    }
