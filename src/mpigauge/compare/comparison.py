"""A whole comparison: what is slower, whether the machine moved, and how often it would be wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import geometric_mean
from typing import TYPE_CHECKING, Literal

import numpy as np

from mpigauge.compare.cells import CONTROLS
from mpigauge.compare.sides import OddPair, family_of, odd_pairs, paired_family
from mpigauge.compare.size_ratio import size_pair
from mpigauge.compare.two import piece_of, size_pieces
from mpigauge.plan.factors import ALONG, SIZE
from mpigauge.plan.model import variables_of
from mpigauge.rows.group import cell_key, row_key
from mpigauge.rows.ratios import ratio_from
from mpigauge.sequences import group_by, runs
from mpigauge.stats.decision import RUNS_SHARE, Decision, Thresholds, decide, pooled_runs, verdicts
from mpigauge.stats.max_t import Paired
from mpigauge.vocabulary import BROKEN, DIFFERENT, PASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from mpigauge.compare.alike import Builds
    from mpigauge.compare.pairs import Pair
    from mpigauge.compare.sides import Unmatched
    from mpigauge.compare.size_ratio import SizePair
    from mpigauge.compare.two import SizePiece
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Key
    from mpigauge.rows.machine.sessions import OddSession
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.percentiles import Values
    from mpigauge.vocabulary import ComparisonVerdict, MachineSign, StateName, Verdict

TRIALS = 20
PLANTED = (0.0, 0.03, 0.05, 0.10)


@dataclass(frozen=True, slots=True)
class DecisionRate:
    """How often a comparison of these launches calls cells slower.

    Attributes:
        planted: Slowdown given to some cells, as a fraction; 0 for none.
        times: Trials in which any cell was called slower; with a slowdown, slowed cells that were.
        of: Trials; with a slowdown, slowed cells of all trials.
    """

    planted: float
    times: int
    of: int

    @property
    def share(self) -> float:
        """Fraction of the trials or cells."""
        return self.times / self.of


def rates_of(families: Sequence[Paired], thresholds: Thresholds) -> tuple[DecisionRate, ...]:
    """Return how often nulls raise a false alarm, and the share found of each planted difference."""
    return tuple(_rate(families, thresholds, planted) for planted in PLANTED)


def _rate(families: Sequence[Paired], thresholds: Thresholds, planted: float) -> DecisionRate:
    found = of = 0
    alarms: set[int] = set()
    for family in families:
        shifted = np.zeros(len(family.mean))
        shifted[::4] = np.log1p(planted)
        of += TRIALS * len(shifted[::4])
        for trial, null in enumerate(_nulls(family)):
            words = verdicts(Paired(null + shifted, family.floor, thresholds.shared_level), thresholds)
            found += sum(word == "slower" for word in words[::4])
            alarms |= {trial} if "slower" in words else set()
    return DecisionRate(planted, found, of) if planted else DecisionRate(0.0, len(alarms), TRIALS)


def _nulls(family: Paired) -> Iterator[Values]:
    """Yield launches without their difference, sides swapped at random, with the same dispersion."""
    launches = family.launches
    centred = (family.differences - family.mean) * np.sqrt(launches / np.maximum(launches - 1, 1))
    chance = np.random.default_rng(TRIALS)
    for _ in range(TRIALS):
        yield centred * chance.choice((-1.0, 1.0), (len(centred), 1))


# ---- The comparison ------------------------------------------------------------------------------

MIN_BASE_SESSIONS = 3
"""Sessions from which the next one can be predicted."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A pair of cells with its decision.

    Attributes:
        decision: None if there are too few launches, or one of the two was not measured.
        trusted: Whether its verdict holds: launches were interleaved, and nothing moved that cannot.
    """

    pair: Pair
    decision: Decision | None
    trusted: bool = True

    @property
    def verdict(self) -> Verdict:
        """Return the verdict; undecided if it is not trusted."""
        if self.decision is None:
            return "undecided"
        if self.decision.verdict in DIFFERENT and not self.trusted:
            return "undecided"
        return self.decision.verdict

    @property
    def ratio(self) -> float | None:
        """Return how many times as long the other takes; None if not measured, or never in like states.

        Where nothing is decided, of imported numbers and of too few launches, it is that of the two times.
        """
        if self.decision is not None:
            return self.decision.estimate
        base, other = self.pair.time_s(0), self.pair.time_s(1)
        like = self.pair.imported or self.pair.sessions is not None or all(self.pair.times)
        return other / base if like and base and other else None

    @property
    def lost(self) -> bool:
        """Return whether the other broke where the base was measured; running out of time is no loss."""
        return self.pair.base.time is not None and self.pair.other.status in BROKEN


@dataclass(frozen=True, slots=True, eq=False)
class PooledSizes:
    """Neighbouring sizes of a curve that are slower or faster together.

    Attributes:
        cells: From the smallest size to the largest.
        decision: What is said of all of them as one number.
    """

    cells: tuple[Compared, ...]
    decision: Decision


@dataclass(frozen=True, slots=True)
class EagerLimitOfSide:
    """The eager limit of one side, if there is one.

    Attributes:
        row: The cell that probed it.
        side: Whether it is one of two results; empty within one.
    """

    row: Row
    side: Literal["base", "other", ""] = ""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """All pairs of cells of two sides, with their verdicts.

    Attributes:
        cells: In the order of the base, without controls.
        controls: Pairs that cannot differ.
        interleaved: Whether both sides are of one campaign, launch by launch; what is not may differ since
            the machine does, and is never called slower.
        rates: How this very data would decide if there were no difference, and if there were one.
        together: Runs of sizes that are slower or faster together, unless every size is so by itself.
        sessions: Number of sessions whose mean is the base; None if the base is a single result.
        odd: Odd sessions among them.
        signs: Signs of the machine that differ from those of the sessions.
        builds: Libraries of one kind that were configured differently.
        forced: Differences that normally forbid a comparison, if it was forced.
        unasked: The factor in which the sides differ, if no verdict on it was asked for and its values are no
            builds or settings: then ratios are shown, and nothing fails. Empty otherwise.
        unmatched: Cells of one side alone, of which nothing is said.
        odd_launches: Launches that were odd in several cells.
        limits: Eager limits of both sides; they are sizes, and no ratio is formed of them.
    """

    cells: tuple[Compared, ...]
    controls: tuple[Compared, ...]
    thresholds: Thresholds
    interleaved: bool
    rates: tuple[DecisionRate, ...] = ()
    together: tuple[PooledSizes, ...] = ()
    sessions: int | None = None
    odd: tuple[OddSession, ...] = ()
    signs: tuple[MachineSign, ...] = ()
    forced: tuple[str, ...] = ()
    builds: tuple[Builds, ...] = ()
    unasked: str = ""
    unmatched: tuple[Unmatched, ...] = ()
    odd_launches: tuple[OddPair, ...] = ()
    limits: tuple[EagerLimitOfSide, ...] = ()

    @property
    def judges(self) -> bool:
        """Return whether chance is known: launches were in turn, or there are sessions.

        Otherwise any difference may be the machine's.
        """
        return self.interleaved or (self.sessions or 0) >= MIN_BASE_SESSIONS

    @property
    def moved(self) -> tuple[Compared, ...]:
        """Controls that differ."""
        return tuple(
            control
            for control in self.controls
            if control.decision is not None and control.decision.verdict in DIFFERENT
        )

    @property
    def lost(self) -> tuple[Compared, ...]:
        """Cells that the other lost and the base has."""
        return tuple(cell for cell in self.cells if cell.lost)

    @property
    def deciding(self) -> tuple[Compared, ...]:
        """Return the cells on which the whole depends.

        A state of the machine that was too rare for a decision on two cells keeps nobody from passing where
        another state has one.
        """
        decided = {_cells(one) for one in self.cells if one.decision is not None}
        return tuple(
            one
            for one in self.cells
            if one.decision is not None or one.pair.of.state is None or _cells(one) not in decided
        )

    @property
    def verdict(self) -> ComparisonVerdict:
        """Return the verdict on the whole: the worst of its cells."""
        words = {one.verdict for one in self.cells} | {one.decision.verdict for one in self.together}
        if self.lost or "slower" in words:
            return "slower"
        if (self.moved or self.signs) and self.judges:
            return "machine"
        passing = [
            one.decision is not None and one.decision.passes(self.thresholds.allow) for one in self.deciding
        ]
        if not self.judges or not passing or not all(passing):
            return "undecided"
        return "faster" if "faster" in words else "same"

    def strictly(self) -> ComparisonVerdict:
        """Return the verdict on the whole; undecided if a number is undecided or of one side alone."""
        open_ = bool(self.unmatched) or any(cell.verdict == "undecided" for cell in self.deciding)
        return "undecided" if open_ and self.verdict in PASSES else self.verdict


def _cells(one: Compared) -> tuple[Cell, Cell]:
    return one.pair.base.cell, one.pair.other.cell


def compare(pairs: Iterable[Pair], thresholds: Thresholds, *, controlled: bool = True) -> Comparison:
    """Return the comparison of pairs, all of one kind judged as a family: paired by launch, or not.

    Each state of the machine has families of its own, which share the error of the verdict.

    Args:
        controlled: Whether to measure the error rates of these launches, too, which takes longer.

    Source: docs/method-comparison.md#comparison
    """
    known = list(pairs)
    interleaved = bool(known) and all(pair.interleaved for pair in known)
    builds_differ = any(not pair.same_library for pair in known if not pair.other.cell.arm)
    cannot_differ = [pair for pair in known if _cannot_differ(pair, same_library=builds_differ)]
    controls = _judged(cannot_differ, _shared(thresholds, cannot_differ), trusted=True)
    controls_only = Comparison((), controls, thresholds, interleaved)
    trusted = interleaved and not controls_only.moved
    asked = [pair for pair in known if not _cannot_differ(pair, same_library=builds_differ)]
    shared = _shared(thresholds, asked)
    # Of fewer pairs no run can be rare enough, and all of the error is that of single cells.
    rare = [
        pair
        for pair in asked
        if pair.paired and 2.0 ** -len(pair.common_launches) <= RUNS_SHARE * shared.shared_level
    ]
    curves = _curves(rare) if trusted else []
    cells = _judged(asked, shared, trusted=trusted, with_runs={curve[0].of.state for curve in curves})
    judged = [cell.pair for cell in cells if cell.decision is not None and cell.pair.paired]
    by_state = group_by(judged, lambda pair: pair.of.state).values()
    families = [paired_family(some, shared.shared_level) for some in by_state]
    rates = rates_of(families, shared) if judged and controlled else ()
    together = tuple(
        run
        for some in group_by(curves, lambda curve: curve[0].of.state).values()
        for run in _pooled_sizes(cells, some, shared)
    )
    odd = tuple(odd_pairs(judged, thresholds.margin)) if judged else ()
    return Comparison(cells, controls, shared, interleaved, rates, together, odd_launches=odd)


def _shared(thresholds: Thresholds, pairs: Iterable[Pair]) -> Thresholds:
    """Return thresholds whose error is shared by all states of the machine, known or not, of judged pairs."""
    states = {pair.of.state for pair in pairs if pair.judged}
    known = states - {None}
    families = max(thresholds.families, len(known)) + (None in states) if known else 1
    return replace(thresholds, families=families)


def _curves(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return pairs that differ in nothing but size, ordered by size; two sizes at least."""
    ordered = sorted(pairs, key=lambda pair: pair.cell.bytes)
    curves = group_by(ordered, lambda pair: (row_key(pair, SIZE), cell_key(pair.other.cell, SIZE)))
    return [curve for curve in curves.values() if len(curve) > 1]


def _pooled_sizes(
    cells: Sequence[Compared], curves: Sequence[Sequence[Pair]], thresholds: Thresholds
) -> tuple[PooledSizes, ...]:
    """Return runs of sizes, without those in which every size has the run's verdict anyway."""
    pairs = [pair for curve in curves for pair in curve]
    places = {id(pair): place for place, pair in enumerate(pairs)}
    by_pair = {id(one.pair): one for one in cells}
    pooled = pooled_runs(
        paired_family(pairs, thresholds.shared_level),
        [[places[id(pair)] for pair in curve] for curve in curves],
        thresholds,
    )
    runs = [
        PooledSizes(tuple(by_pair[id(pairs[cell])] for cell in run.cells), run.decision) for run in pooled
    ]
    return tuple(run for run in runs if any(cell.verdict != run.decision.verdict for cell in run.cells))


def _cannot_differ(pair: Pair, *, same_library: bool) -> bool:
    """Return whether a pair is a control: of no library, or of one library on both sides.

    If all pairs are of one library on both sides, that is the question, and they are no controls.

    A copy in another mode, or of other memory, is another copy.
    """
    base, other = pair.base.cell, pair.other.cell
    same_copy = (base.mode, base.buffers) == (other.mode, other.buffers)
    return (base.pattern in CONTROLS and same_copy) or bool(other.arm) or (same_library and pair.same_library)


def _judged(
    pairs: Sequence[Pair],
    thresholds: Thresholds,
    *,
    trusted: bool,
    with_runs: Collection[StateName | None] = (),
) -> tuple[Compared, ...]:
    """Return pairs with their decisions, in the order of the pairs.

    Args:
        with_runs: States of the machine in which runs of sizes have their share of the error.
    """
    decisions: dict[int, Decision] = {}
    kinds = group_by((pair for pair in pairs if pair.judged), lambda pair: (pair.paired, pair.of.state))
    for (paired, state), some in kinds.items():
        share = 1.0 - RUNS_SHARE if paired and state in with_runs else 1.0
        decided = decide(family_of(some, thresholds.shared_level), thresholds, share)
        decisions |= {id(pair): decision for pair, decision in zip(some, decided, strict=True)}
    return tuple(Compared(pair, decisions.get(id(pair)), trusted) for pair in pairs)


# ---- Settings without effect ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NoEffect:
    """A setting that changed nothing measurable.

    Attributes:
        base: Variables of the base that differ.
        other: Variables of the other that differ.
        numbers: Number of cells, all within the margin.
    """

    base: str
    other: str
    numbers: int


def without_effect(shown: Comparison) -> list[NoEffect]:
    """Return settings whose every number is within the margin of its base, and none small but real."""
    return _settings(shown, _is_same) if shown.judges and shown.verdict != "machine" else []


def perhaps_without_effect(shown: Comparison) -> list[NoEffect]:
    """Return undecided settings of two numbers or more, all of which are near those of their base."""
    certain = without_effect(shown)

    def is_near(cell: Compared) -> bool:
        return cell.verdict not in DIFFERENT and _is_near(cell, shown.thresholds.margin)

    near = _settings(shown, is_near) if shown.judges and shown.verdict != "machine" else []
    return [one for one in near if one not in certain and one.numbers > 1]


def _settings(shown: Comparison, holds: Callable[[Compared], bool]) -> list[NoEffect]:
    """Return settings of whose every number something holds."""
    by_variables = group_by(
        shown.cells,
        lambda cell: _differing_variables(cell.pair.base.cell.setting, cell.pair.other.cell.setting),
    )
    known = ((sides, cells) for sides, cells in by_variables.items() if sides is not None)
    return [NoEffect(*sides, len(cells)) for sides, cells in known if all(map(holds, cells))]


def _is_near(cell: Compared, margin: float) -> bool:
    small = cell.decision is not None and cell.decision.small
    return cell.ratio is not None and not small and 1 / (1 + margin) <= cell.ratio <= 1 + margin


def _is_same(cell: Compared) -> bool:
    return cell.decision is not None and cell.verdict == "same" and not cell.decision.small


def _differing_variables(base: str, other: str) -> tuple[str, str] | None:
    """Return the variables in which two settings differ; None if in none."""
    first, second = variables_of(base), variables_of(other)
    names = [name for name in first if first[name] != second.get(name)]
    if not names:
        return None
    base_words, other_words = ([f"{name}={side.get(name, '')}" for name in names] for side in (first, second))
    return " ".join(base_words), " ".join(other_words)


# ---- Runs of sizes -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Cells of one curve that differ alike, from the smallest to the largest.

    Attributes:
        piece: Several sizes as one piece of two curves; None of a single cell.
    """

    cells: tuple[Compared, ...]
    piece: SizePiece | None = None

    @property
    def worst(self) -> Compared:
        """Cell with the verdict of the run whose ratio is farthest from 1."""
        mine = [cell for cell in self.cells if self.piece is None or cell.verdict == self.piece.verdict]
        return max(mine, key=distance)

    @property
    def verdict(self) -> Verdict:
        """Verdict of the run; single cells of it may be undecided."""
        return self.worst.verdict

    @property
    def number(self) -> Ratio | None:
        """Ratio of its cell; of several sizes that of geometric means, launch by launch where paired."""
        return self.worst.decision if self.piece is None else self.piece.pooled

    def time_s(self, side: int) -> float | None:
        """Return the time of the base (0) or the other (1); of several sizes the geometric mean."""
        times = [cell.pair.time_s(side) for cell in self.cells]
        known = [time for time in times if time]
        return times[0] if len(times) == 1 else geometric_mean(known) if len(known) == len(times) else None

    @property
    def distance(self) -> float:
        """How many times the longer of both takes as long as the shorter."""
        return _distance(self.number.estimate if self.number else 1.0)


def distance(cell: Compared) -> float:
    """Return how many times the longer of both takes as long as the shorter."""
    return _distance(cell.decision.estimate if cell.decision else 1.0)


def _distance(ratio: float) -> float:
    return max(ratio, 1 / ratio)


def runs_of(
    cells: Iterable[Compared], along: frozenset[str], together: Collection[Verdict] = DIFFERENT
) -> list[Run]:
    """Return cells as the pieces that their two curves are cut into; cells of any other verdict stay alone.

    Args:
        along: Factors in which a curve's cells differ, and what is compared.
        together: Verdicts whose neighbours form one run.
    """

    def curve(cell: Compared) -> Key:
        return row_key(cell.pair, along), cell_key(cell.pair.other.cell, ALONG)

    curves = group_by(cells, curve)
    return [run for curve in curves.values() for run in _runs(curve, together)]


def _runs(curve: Sequence[Compared], together: Collection[Verdict]) -> list[Run]:
    ordered = sorted(curve, key=lambda cell: cell.pair.base.cell.bytes)
    places = {id(cell): place for place, cell in enumerate(ordered)}
    sides = [(cell, _size_pair(cell)) for cell in ordered]
    judged = [(cell, pair) for cell, pair in sides if pair is not None]
    found = [Run((cell,)) for cell, pair in sides if pair is None]
    for piece in size_pieces([pair for _, pair in judged]):
        mine, judged = judged[: len(piece.sizes_bytes)], judged[len(piece.sizes_bytes) :]
        parts = [mine] if piece.verdict in DIFFERENT else runs(mine, _of_one_verdict)
        found += (run for part in parts for run in _joined([*part], together))
    return sorted(found, key=lambda run: places[id(run.cells[0])])


def _size_pair(cell: Compared) -> SizePair | None:
    """Return a cell as a size of two curves; None without a decision, or a time of either row."""
    if cell.decision is None or cell.pair.base.time is None or cell.pair.other.time is None:
        return None
    ratio = ratio_from(cell.decision, paired=cell.pair.paired, verdict=cell.verdict)
    return size_pair(cell.pair.base, cell.pair.other, cell.pair.sides, ratio)


def _of_one_verdict(one: tuple[Compared, SizePair], two: tuple[Compared, SizePair]) -> bool:
    return one[0].verdict == two[0].verdict


def _joined(part: Sequence[tuple[Compared, SizePair]], together: Collection[Verdict]) -> Iterator[Run]:
    """Yield a part as one run, if it may be and has a number; else its cells."""
    cells, pairs = zip(*part, strict=True)
    verdict = next((word for cell in cells if (word := cell.verdict) in together), None)
    piece = piece_of(pairs, verdict) if verdict is not None and len(cells) > 1 else None
    if piece is not None and piece.pooled is not None:
        yield Run(cells, piece)
    else:
        yield from (Run((cell,)) for cell in cells)
