"""What is said of guidelines: which are violated, by how much, and what that costs in each call."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.compare.guidelines import PAIRED_ALONG, PAIRS_MOST, USUAL, Checked
from mpigauge.compare.sentences import ratio_words
from mpigauge.document.phrases import WORDS, phrases_of, unusual
from mpigauge.document.ratio_words import OF_PAIRS
from mpigauge.plan.patterns import usual_mode
from mpigauge.vocabulary import AUTO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.compare.guidelines import Best, Guidelines
    from mpigauge.compare.runs import Run
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
