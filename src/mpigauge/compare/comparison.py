"""A whole comparison: what is slower, whether the machine moved, and how often it would be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.compare.sides import OddPair, family_of, odd_pairs, paired_family
from mpigauge.plan.factors import ALONG, SIZE
from mpigauge.plan.model import variables_of
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import cell_key, row_key
from mpigauge.sequences import group_by, runs
from mpigauge.stats.decision import RUNS_SHARE, Decision, Thresholds, decide, verdicts
from mpigauge.stats.max_t import Paired
from mpigauge.stats.pooled import pooled_runs
from mpigauge.vocabulary import BROKEN, DIFFERENT, PASSES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from mpigauge.compare.alike import Builds
    from mpigauge.compare.pairs import Pair
    from mpigauge.compare.sides import Unmatched
    from mpigauge.rows.group import Key
    from mpigauge.rows.machine.sessions import OddSession
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import ComparisonVerdict, MachineSign, Verdict

TRIALS = 20
PLANTED = (0.0, 0.03, 0.05, 0.10)


@dataclass(frozen=True, slots=True)
class DecisionRate:
    """How a comparison of these launches decides.

    Attributes:
        planted: By how much some cells were made slower, as a fraction; 0: by nothing.
        times: Trials in which any cell was called slower; or, if something was planted, cells called slower
            that are.
        of: Trials, or planted cells of all trials.
    """

    planted: float
    times: int
    of: int

    @property
    def share(self) -> float:
        """How often."""
        return self.times / self.of


def rates_of(family: Paired, thresholds: Thresholds) -> tuple[DecisionRate, ...]:
    """Return how often nulls raise a false alarm, and the share found of each planted difference."""
    return tuple(_rate(family, thresholds, planted) for planted in PLANTED)


def _rate(family: Paired, thresholds: Thresholds, planted: float) -> DecisionRate:
    cells = len(family.mean)
    shifted = np.zeros(cells)
    shifted[::4] = np.log1p(planted)
    found = alarms = 0
    for null in _nulls(family):
        words = verdicts(Paired(null + shifted, family.floor, thresholds.level), thresholds)
        found += sum(word == "slower" for word in words[::4])
        alarms += "slower" in words
    if planted:
        return DecisionRate(planted, found, TRIALS * len(range(0, cells, 4)))
    return DecisionRate(0.0, alarms, TRIALS)


def _nulls(family: Paired) -> Iterator[Values]:
    """Launches without their difference, sides swapped at random; as spread as they were."""
    launches = family.launches
    centred = (family.differences - family.mean) * np.sqrt(launches / np.maximum(launches - 1, 1))
    chance = np.random.default_rng(TRIALS)
    for _ in range(TRIALS):
        yield centred * chance.choice((-1.0, 1.0), (len(centred), 1))


# ---- The comparison ------------------------------------------------------------------------------

CONTROLS = patterns_with(
    lambda pattern: pattern.is_floor or (pattern.family == "memory" and not pattern.reduces)
)
"""What no MPI library takes part in: if it changes, the machine has changed, or the seats of the ranks."""

BASE_LEAST = 3
"""Sessions, of which fewer say nothing of the next one."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A pair of cells, and what is said of it.

    Attributes:
        decision: None if there are too few launches, or one of both was not measured.
        trusted: Whether its verdict holds: launches were interleaved, and nothing moved that cannot.
    """

    pair: Pair
    decision: Decision | None
    trusted: bool = True

    @property
    def verdict(self) -> Verdict:
        """What may be said."""
        if self.decision is None:
            return "undecided"
        if self.decision.verdict in DIFFERENT and not self.trusted:
            return "undecided"
        return self.decision.verdict

    @property
    def ratio(self) -> float | None:
        """How many times as long the other takes; None if one was not measured, or both never in like states.

        Where nothing is decided, of imported numbers and of too few launches, it is that of the two times.
        """
        if self.decision is not None:
            return self.decision.ratio
        base, other = self.pair.time_s(0), self.pair.time_s(1)
        like = self.pair.imported or self.pair.sessions is not None or all(self.pair.times)
        return other / base if like and base and other else None

    @property
    def lost(self) -> bool:
        """Whether the other broke where the base was measured; a lack of time is no loss."""
        return self.pair.base.time is not None and self.pair.other.status in BROKEN


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Neighbouring sizes of a curve that are slower or faster together.

    Attributes:
        cells: From the smallest size to the largest.
        decision: What is said of all of them as one number.
    """

    cells: tuple[Compared, ...]
    decision: Decision


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All pairs of cells of two sides.

    Attributes:
        cells: In the order of the base, without controls.
        controls: What cannot differ.
        interleaved: Whether both sides are of one campaign, launch by launch; what is not may differ since
            the machine does, and is never called slower.
        rates: How this very data would decide if there were no difference, and if there were one.
        together: Runs of sizes that are slower or faster together, without those whose every size is so by
            itself.
        sessions: Of how many the base is the mean, whose differences are known; None of a single result.
        odd: Those of them that are far from the others.
        signs: Of the machine itself, those that are not as they were in the sessions.
        builds: Libraries of one kind that were configured otherwise.
        forced: In what both sides differ that must be alike, if they were compared all the same.
        unasked: The factor that both sides differ in, if nobody asked for a verdict on it and its values are
            no builds or settings: then ratios are told, and nothing is failed. Empty otherwise.
        unmatched: Cells of one side alone, of which nothing is said.
        odd_launches: Those that were odd in several cells.
    """

    cells: tuple[Compared, ...]
    controls: tuple[Compared, ...]
    thresholds: Thresholds
    interleaved: bool
    rates: tuple[DecisionRate, ...] = ()
    together: tuple[Together, ...] = ()
    sessions: int | None = None
    odd: tuple[OddSession, ...] = ()
    signs: tuple[MachineSign, ...] = ()
    forced: tuple[str, ...] = ()
    builds: tuple[Builds, ...] = ()
    unasked: str = ""
    unmatched: tuple[Unmatched, ...] = ()
    odd_launches: tuple[OddPair, ...] = ()

    @property
    def judges(self) -> bool:
        """Whether chance is known, of launches in turn or of sessions: else anything may be the machine."""
        return self.interleaved or (self.sessions or 0) >= BASE_LEAST

    @property
    def moved(self) -> tuple[Compared, ...]:
        """Controls that differ."""
        return tuple(
            one for one in self.controls if one.decision is not None and one.decision.verdict in DIFFERENT
        )

    @property
    def lost(self) -> tuple[Compared, ...]:
        """Cells that the base has and the other has lost."""
        return tuple(one for one in self.cells if one.lost)

    @property
    def verdict(self) -> ComparisonVerdict:
        """Of all of it: the worst comes first."""
        words = {one.verdict for one in self.cells} | {one.decision.verdict for one in self.together}
        if self.lost or "slower" in words:
            return "slower"
        if (self.moved or self.signs) and self.judges:
            return "machine"
        passing = [
            one.decision is not None and one.decision.passes(self.thresholds.allow) for one in self.cells
        ]
        if not self.judges or not passing or not all(passing):
            return "undecided"
        return "faster" if "faster" in words else "same"

    def strictly(self) -> ComparisonVerdict:
        """The same, where numbers that are undecided, or of one side alone, keep the whole from passing."""
        open_ = bool(self.unmatched) or any(one.verdict == "undecided" for one in self.cells)
        return "undecided" if open_ and self.verdict in PASSES else self.verdict


def compare(pairs: Iterable[Pair], thresholds: Thresholds, *, controlled: bool = True) -> Comparison:
    """Every pair judged, with all others of its kind: paired by launch, or not.

    Args:
        controlled: Whether it is also tried how often these launches would be wrong, which takes longer.

    Source: docs/method-comparison.md#comparison
    """
    known = list(pairs)
    interleaved = bool(known) and all(pair.interleaved for pair in known)
    apart = any(not pair.twins for pair in known if not pair.other.cell.arm)
    cannot_differ = [pair for pair in known if _cannot_differ(pair, twins=apart)]
    controls = _judged(cannot_differ, thresholds, trusted=True, share=1.0)
    found = Comparison((), controls, thresholds, interleaved)
    trusted = interleaved and not found.moved
    asked = [pair for pair in known if not _cannot_differ(pair, twins=apart)]
    # Of fewer pairs no run can be rare enough, and all of the error is that of single cells.
    rare = [
        pair for pair in asked if pair.paired and 2.0 ** -len(pair.common) <= RUNS_SHARE * thresholds.level
    ]
    curves = _curves(rare)
    share = 1.0 - RUNS_SHARE if curves and trusted else 1.0
    cells = _judged(asked, thresholds, trusted=trusted, share=share)
    judged = [one.pair for one in cells if one.decision is not None and one.pair.paired]
    rates = rates_of(paired_family(judged, thresholds.level), thresholds) if judged and controlled else ()
    together = _together(cells, curves, thresholds) if trusted else ()
    odd = tuple(odd_pairs(judged, thresholds.margin)) if judged else ()
    return Comparison(cells, controls, thresholds, interleaved, rates, together, odd_launches=odd)


def _curves(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Pairs of two sizes or more that differ in nothing else, by their size."""
    ordered = sorted(pairs, key=lambda pair: pair.base.cell.bytes)
    curves = group_by(ordered, lambda pair: (row_key(pair.base, SIZE), row_key(pair.other, SIZE)))
    return [curve for curve in curves.values() if len(curve) > 1]


def _together(
    cells: Sequence[Compared], curves: Sequence[Sequence[Pair]], thresholds: Thresholds
) -> tuple[Together, ...]:
    """Runs of sizes, without those whose every size has the word of the run anyway."""
    pairs = [pair for curve in curves for pair in curve]
    if not pairs:
        return ()
    places = {id(pair): place for place, pair in enumerate(pairs)}
    by_pair = {id(one.pair): one for one in cells}
    found = pooled_runs(
        paired_family(pairs, thresholds.level),
        [[places[id(pair)] for pair in curve] for curve in curves],
        thresholds,
    )
    runs = [Together(tuple(by_pair[id(pairs[cell])] for cell in run.cells), run.decision) for run in found]
    return tuple(run for run in runs if any(cell.verdict != run.decision.verdict for cell in run.cells))


def _cannot_differ(pair: Pair, *, twins: bool) -> bool:
    """Whether a pair is a control: of no library, or of one; but if all are, that is the question.

    A copy in another mode, or of other memory, is another copy.
    """
    base, other = pair.base.cell, pair.other.cell
    same_copy = (base.mode, base.buffers) == (other.mode, other.buffers)
    return (base.pattern in CONTROLS and same_copy) or bool(other.arm) or (twins and pair.twins)


def _judged(
    pairs: Sequence[Pair], thresholds: Thresholds, *, trusted: bool, share: float
) -> tuple[Compared, ...]:
    """In the order of the pairs."""
    decisions: dict[int, Decision] = {}
    for paired in (True, False):
        mine = [pair for pair in pairs if pair.judged and pair.paired == paired]
        if mine:
            decided = decide(family_of(mine, thresholds.level), thresholds, share if paired else 1.0)
            decisions |= {id(pair): one for pair, one in zip(mine, decided, strict=True)}
    return tuple(Compared(pair, decisions.get(id(pair)), trusted) for pair in pairs)


# ---- Settings without effect ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A setting that changed nothing measurable.

    Attributes:
        other: What is held against the base; of both only the variables that differ.
        numbers: How many there are, all of them within the margin.
    """

    base: str
    other: str
    numbers: int


def without_effect(shown: Comparison) -> list[NoEffect]:
    """Settings of which every number is within the margin of its base, and none is small but real."""
    if not shown.judges or shown.verdict == "machine":
        return []
    found = group_by(shown.cells, lambda one: _apart(one.pair.base.cell.setting, one.pair.other.cell.setting))
    known = ((sides, cells) for sides, cells in found.items() if sides is not None)
    return [NoEffect(*sides, len(cells)) for sides, cells in known if all(map(_alike, cells))]


def _alike(one: Compared) -> bool:
    return one.decision is not None and one.verdict == "same" and not one.decision.small


def _apart(base: str, other: str) -> tuple[str, str] | None:
    """Of two settings what differs; None if nothing does."""
    first, second = variables_of(base), variables_of(other)
    names = [name for name in first if first[name] != second.get(name)]
    if not names:
        return None
    mine, others = ([f"{name}={side.get(name, '')}" for name in names] for side in (first, second))
    return " ".join(mine), " ".join(others)


# ---- Runs of sizes -------------------------------------------------------------------------------

GAP = 1
"""Sizes between two of a run that are not like them."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Cells of one curve, from the smallest to the largest.

    Attributes:
        cells: Those with the verdict of the run.
        sizes: How many sizes of the curve lie between its ends, these included.
    """

    cells: tuple[Compared, ...]
    sizes: int

    @property
    def verdict(self) -> Verdict:
        """Of all its cells."""
        return self.cells[0].verdict

    @property
    def worst(self) -> Compared:
        """The cell that is farthest from 1."""
        return max(self.cells, key=distance)


def distance(one: Compared) -> float:
    """How far apart both are, in either direction."""
    ratio = one.decision.ratio if one.decision else 1.0
    return max(ratio, 1 / ratio)


def runs_of(
    cells: Iterable[Compared], along: frozenset[str], together: Collection[Verdict] = DIFFERENT
) -> list[Run]:
    """Cells as runs of neighbours with one verdict; every other alone.

    Args:
        along: Factors in which a curve's cells differ, and what is compared.
        together: Verdicts of which neighbours are one run.
    """

    def curve(one: Compared) -> Key:
        return row_key(one.pair.base, along), cell_key(one.pair.other.cell, ALONG)

    curves = group_by(cells, curve)
    return [run for curve in curves.values() for run in _runs(curve, together)]


def _runs(curve: Sequence[Compared], together: Collection[Verdict]) -> list[Run]:
    ordered = sorted(curve, key=lambda one: one.pair.base.cell.bytes)
    found: list[list[int]] = []
    for verdict in dict.fromkeys(one.verdict for one in ordered):
        mine = [at for at, one in enumerate(ordered) if one.verdict == verdict]
        found += runs(mine, near) if verdict in together else [[at] for at in mine]
    return [Run(tuple(ordered[at] for at in run), run[-1] - run[0] + 1) for run in sorted(found)]


def near(one: int, two: int) -> bool:
    """Whether places of sizes are of one run: with `GAP` others at most between them."""
    return two - one <= 1 + GAP
