"""Two curves side by side: cut into pieces of sizes at which they differ alike, and told piece by piece.

Wherever a pair of curves is told, these are the pieces, numbers and words: on the first screen, by `explain`,
below tables, in reports and in JSON. A line has as many clauses as fit, in their order; a sentence has all.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from mpigauge import units
from mpigauge.document.phrases import mode_name
from mpigauge.document.ratio_words import VERDICTS, times_words, verdict_words
from mpigauge.document.size_words import where
from mpigauge.plan.patterns import known as known_patterns
from mpigauge.rows.ratios import ratio_of
from mpigauge.sequences import runs
from mpigauge.stats.bootstrap import MIN_LAUNCHES
from mpigauge.stats.decision import bounds
from mpigauge.stats.interval import is_known
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.compare.size_ratio import SizePair, SizeRatio
    from mpigauge.plan.model import Cell
    from mpigauge.stats.decision import Ratio
    from mpigauge.vocabulary import Verdict

    At = Callable[[Sequence[int]], str]
    """Returns at which of all sizes some are, as `size_words.where` does."""

# ---- Pieces --------------------------------------------------------------------------------------

ALIKE = 1.25
"""Ratios of two sizes that are further apart are not one number, if their intervals do not meet."""


@dataclass(frozen=True, slots=True)
class SizePiece:
    """Neighbouring sizes at which two curves differ alike, or do not differ.

    Attributes:
        verdict: The one of its sizes; of a piece without a difference, that of most of them.
        sizes_bytes: Its sizes, rising.
        apart_bytes: Those of them with another verdict: undecided, in a piece with a difference; in one
            without, whichever of undecided and no difference is rarer.
        least: The smallest ratio of its sizes.
        most: The largest.
        pooled: Ratio over all of its sizes, the geometric mean of each launch; None of a piece without a
            difference if a single launch has all of its sizes.
        needed: Launches after which all of its undecided sizes would tell; None if that is not known.
    """

    verdict: Verdict
    sizes_bytes: tuple[int, ...]
    apart_bytes: tuple[int, ...]
    least: float
    most: float
    pooled: Ratio | None
    needed: int | None


def size_pieces(pairs: Sequence[SizePair]) -> tuple[SizePiece, ...]:
    """Return the sizes of two curves in pieces, with one number for each.

    A size at which nobody can tell belongs to the difference around it, if its own ratio lies on that side:
    one weak difference would else be cut by noise into many.

    Source:
        docs/method-comparison.md#conclusions
    """
    words = _joined_words([one.ratio for one in pairs])
    found = runs(
        list(zip(pairs, words, strict=True)), lambda one, two: one[1] == two[1] or not _differ(one, two)
    )
    pieces: list[SizePiece] = []
    for run in found:
        word, mine = run[0][1], [pair for pair, _ in run]
        parts = _alike(mine) if word in DIFFERENT else [mine]
        pieces += (piece_of(part, _word_of(part, word)) for part in parts)
    return tuple(pieces)


def _word_of(part: Sequence[SizePair], word: Verdict) -> Verdict:
    """Return the verdict of a part of a difference: none of a part of which no size by itself has it."""
    return word if any(one.ratio.verdict == word for one in part) else "undecided"


def _differ(one: tuple[SizePair, Verdict], two: tuple[SizePair, Verdict]) -> bool:
    return not DIFFERENT.isdisjoint({one[1], two[1]})


def _joined_words(points: Sequence[SizeRatio]) -> list[Verdict]:
    """Return the verdict of each size; where it is undecided, perhaps that of a neighbour."""
    words = [one.verdict for one in points]
    return [_joined_word(points, words, place) for place in range(len(points))]


def _joined_word(points: Sequence[SizeRatio], words: Sequence[Verdict], place: int) -> Verdict:
    """Return the verdict of a size: undecided is what both decided neighbours are, on their side of 1.

    Where only one of them differs, its own ratio must lie beyond the margin.
    """
    if words[place] != "undecided":
        return words[place]
    least, most = bounds()
    estimate = points[place].ratio.estimate
    before = next((word for word in reversed(words[:place]) if word != "undecided"), None)
    after = next((word for word in words[place + 1 :] if word != "undecided"), None)
    sides: dict[Verdict, tuple[bool, bool]] = {
        "slower": (estimate > 1, estimate >= most),
        "faster": (estimate < 1, estimate <= least),
    }
    for word, (on_its_side, beyond) in sides.items():
        if (before == after == word and on_its_side) or (word in {before, after} and beyond):
            return word
    return "undecided"


def _alike(pairs: Sequence[SizePair]) -> list[list[SizePair]]:
    """Return neighbouring sizes whose ratios are one number: near each other, or as far as one can tell.

    From the smallest size on each part is as long as can be, so that there are as few as possible.
    """
    parts: list[list[SizePair]] = []
    for pair in pairs:
        longer = [*parts[-1], pair] if parts else []
        if longer and _are_alike([one.ratio.ratio for one in longer]) and _pooled(longer) is not None:
            parts[-1].append(pair)
        else:
            parts.append([pair])
    return parts


def _are_alike(ratios: Sequence[Ratio]) -> bool:
    estimates = [one.estimate for one in ratios]
    if max(estimates) <= ALIKE * min(estimates):
        return True
    lows, highs = [one.low or 0.0 for one in ratios], [one.high or math.inf for one in ratios]
    return max(lows) <= min(highs)


def piece_of(pairs: Sequence[SizePair], word: Verdict) -> SizePiece:
    """Return neighbouring sizes as one piece.

    Args:
        word: Their verdict; of sizes without a difference, that of most of them is taken.
    """
    points = [one.ratio for one in pairs]
    if word not in DIFFERENT:
        same = sum(one.verdict == "same" for one in points)
        word = "same" if 2 * same >= len(points) else "undecided"
    estimates = [one.ratio.estimate for one in points]
    return SizePiece(
        verdict=word,
        sizes_bytes=tuple(one.bytes for one in points),
        apart_bytes=tuple(one.bytes for one in points if one.verdict != word),
        least=min(estimates),
        most=max(estimates),
        pooled=points[0].ratio if len(points) == 1 else _pooled(pairs, MIN_LAUNCHES),
        needed=launches_needed([one for one in points if one.verdict == "undecided"]),
    )


def piece_at(point: SizeRatio) -> SizePiece:
    """Return a single size as a piece."""
    ratio, needed = point.ratio, launches_needed([point])
    return SizePiece(point.verdict, (point.bytes,), (), ratio.estimate, ratio.estimate, ratio, needed)


def launches_needed(points: Sequence[SizeRatio]) -> int | None:
    """Return after how many launches sizes would tell that are undecided; None if not known of all."""
    needed = [LAUNCHES_OF_A_VERDICT if one.ratio.awaits_launches else one.ratio.needed for one in points]
    most = max((one for one in needed if one is not None), default=0)
    launches = min((one.ratio.launches for one in points), default=0)
    return None if None in needed or most <= launches else most


def _pooled(pairs: Sequence[SizePair], least_launches: int = LAUNCHES_OF_A_VERDICT) -> Ratio | None:
    """Return the ratio of geometric means over several sizes, of the launches that have all of them.

    None if they are too few.
    """
    paired = all(one.sides.paired for one in pairs)
    over, under = (_means([getattr(one.sides, side) for one in pairs]) for side in ("over", "under"))
    if paired:
        over = {launch: over[launch] / under[launch] for launch in over.keys() & under}
        under = dict.fromkeys(over, 1.0)
    if min(len(over), len(under)) < least_launches:
        return None
    step = math.sqrt(fmean(one.step**2 for one in pairs))
    return ratio_of(over, under, paired=paired, clock_step=step)


def _means(sides: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Return the geometric mean of the times of each launch that has all of them."""
    common = sorted(set.intersection(*map(set, sides)))
    return {launch: math.exp(fmean(math.log(side[launch]) for side in sides)) for launch in common}


# ---- Names ---------------------------------------------------------------------------------------


class NamesOfTwo(NamedTuple):
    """Names of two that are held against each other, and by what: their times or their rates.

    Attributes:
        other: What is held against the base.
        base: What it is held against.
        many: Whether the other is several, such as `2 senders`.
        base_many: Whether the base is.
        by_rate: Whether that of all together is told, which is the inverse of the time of one message.
    """

    other: str
    base: str
    many: bool = False
    base_many: bool = False
    by_rate: bool = False

    @property
    def takes(self) -> str:
        """The verb."""
        verb, verbs = ("carry", "carries") if self.by_rate else ("take", "takes")
        return verb if self.many else verbs

    @property
    def as_base(self) -> str:
        """The rest after a number of times."""
        does = "do" if self.base_many else "does"
        return f"what {self.base} {does}" if self.by_rate else f"as long as {self.base}"

    def ratio(self, ratio: Ratio) -> Ratio:
        """Return a ratio of times as it is told."""
        return ratio.turned if self.by_rate else ratio


def names_of_modes(other: Cell, base: Cell, measured: Iterable[Cell]) -> tuple[str, str]:
    """Return the functions of MPI that two modes are called by; their names where that is another mode, too.

    Args:
        measured: All cells of the result.
    """
    pattern = known_patterns().get(base.pattern)
    modes = {cell.mode for cell in measured if cell.pattern == base.pattern} | {other.mode, base.mode}
    found = [pattern.mode(name) if pattern is not None else None for name in modes]
    calls = Counter(mode.call for mode in found if mode is not None and mode.call)
    names = {mode.name: mode.call for mode in found if mode is not None and calls[mode.call] == 1}
    if other.mode in names and base.mode in names:
        return names[other.mode], names[base.mode]
    return mode_name(pattern, other.mode), mode_name(pattern, base.mode)


# ---- Words ---------------------------------------------------------------------------------------

ON_AVERAGE = "on average "
"""Before one number of several sizes."""

MINUS = "\N{MINUS SIGN}"

TWICE = 2.0
"""Ratio from which on it is said as a factor instead of a percentage."""

VERDICT_NEEDS = f"a verdict needs {LAUNCHES_OF_A_VERDICT} launches"


class Clause(NamedTuple):
    """Part of a sentence about two curves.

    Attributes:
        pieces: The pieces that it tells.
    """

    text: str
    pieces: tuple[SizePiece, ...]


def clauses(
    sides: NamesOfTwo, pieces: Sequence[SizePiece], cell: Cell, alone_bytes: Iterable[int] = ()
) -> list[Clause]:
    """Return all that is said of two curves, what tells most first; only the first clause names them.

    The smallest sizes at which they differ come first, then the largest, then those at which they do not, and
    last the differences between.

    Args:
        pieces: Of all sizes, rising.
        cell: One of either, for what has no size.
        alone_bytes: Sizes that one of both alone has: nothing is said `from 64 KiB on` where these follow.
    """
    both = [size for piece in pieces for size in piece.sizes_bytes]
    at = at_sizes(both, alone_bytes, cell)
    differing = [piece for piece in pieces if piece.verdict in DIFFERENT]
    rest = _without_difference([piece for piece in pieces if piece not in differing], at)
    if not differing:
        named = rest[0]._replace(text=f"{sides.other} against {sides.base}: {rest[0].text}")
        return [_alone(sides, pieces, cell) or named, *rest[1:]]
    first, *more = differing
    ends, between = more[-1:], more[:-1]

    _, unsaid = _number_and_word(first, sides)

    def later(piece: SizePiece) -> Clause:
        number, word = _number_and_word(piece, sides)
        said = number if word == unsaid == AS_LONG else " ".join(filter(None, [number, word]))
        return Clause(f"{said}{where_of(piece, at)}", (piece,))

    begin = Clause(f"{takes(first, sides)}{where_of(first, at)}", (first,))
    return [begin, *map(later, ends), *rest, *map(later, between)]


def _alone(sides: NamesOfTwo, pieces: Sequence[SizePiece], cell: Cell) -> Clause | None:
    """Return what is said of sizes alike that lack nothing but launches for a verdict; else None."""
    piece, *others = pieces
    pooled = piece.pooled
    if others or pooled is None or not pooled.awaits_launches:
        return None
    if not is_known(pooled.low, pooled.high) or piece.most > ALIKE * piece.least:
        return None
    said = f"{takes(piece, sides)}{where_of(piece, at_sizes(piece.sizes_bytes, (), cell))}"
    return Clause(f"{said}; {VERDICT_NEEDS}", (piece,))


def _without_difference(pieces: Sequence[SizePiece], at: At) -> list[Clause]:
    """Return at which sizes there is no difference, and at which nobody can tell and why."""
    found = []
    for word in (word for word in VERDICTS if word not in DIFFERENT):
        mine = tuple(piece for piece in pieces if any(True for _ in _sizes_with(piece, word)))
        sizes = [size for piece in mine for size in _sizes_with(piece, word)]
        if sizes:
            why = _why_undecided(mine) if word == "undecided" else ""
            found.append(Clause(f"{verdict_words(word)}{at(sizes)}{why}", mine))
    return sorted(found, key=lambda one: "undecided" in one.text)


def _sizes_with(piece: SizePiece, word: Verdict) -> Iterator[int]:
    """Yield the sizes of a piece without a difference that have a verdict."""
    yield from (size for size in piece.sizes_bytes if (size in piece.apart_bytes) != (piece.verdict == word))


def _why_undecided(pieces: Sequence[SizePiece]) -> str:
    """Return what a verdict takes; nothing where that is not known."""
    needed = [piece.needed for piece in pieces]
    if None in needed:
        return ""
    most = max(one for one in needed if one is not None)
    if most <= LAUNCHES_OF_A_VERDICT:
        return f" ({VERDICT_NEEDS})"
    return f" ({would_tell(most)})"


def would_tell(launches: int) -> str:
    """Return after how many launches of one campaign nobody would have to say `undecided`."""
    return f"about {launches} launches would tell"


AS_LONG, AS_FAST = "as long", "as fast"


def as_many_as_fit(
    parts: Sequence[Clause], line: Callable[[str], str], has_room: Callable[[str], bool]
) -> tuple[str, tuple[SizePiece, ...]]:
    """Return a line with as many clauses as it has room for, and the pieces that these tell.

    Where it leaves out a difference it says so: else it reads as if there were none.

    Args:
        line: Returns the line of what is said.
    """
    for count in range(len(parts), 0, -1):
        told, left = parts[:count], parts[count:]
        unsaid = [
            piece.sizes_bytes[0] for part in left for piece in part.pieces if piece.verdict in DIFFERENT
        ]
        said = [piece.sizes_bytes[-1] for part in told for piece in part.pieces]
        also = [] if not unsaid else [ALSO_BETWEEN if max(unsaid) < max(said, default=0) else ALSO_ABOVE]
        text = line("; ".join([*(part.text for part in told), *also]))
        if has_room(text) or count == 1:
            return text, tuple(piece for part in told for piece in part.pieces)
    return "", ()


ALSO_BETWEEN, ALSO_ABOVE = "differs between", "differs above"
"""Said by a line of differences that it has no room for."""


def takes(piece: SizePiece, sides: NamesOfTwo) -> str:
    """Return how much longer a piece takes, with both names: `MPI_Isend takes 13 % longer than MPI_Send`."""
    number, word = _number_and_word(piece, sides)
    if word == AS_FAST:
        return f"{sides.other} {'are' if sides.many else 'is'} {number} {word} as {sides.base}"
    if word in {AS_LONG, ""}:
        return f"{sides.other} {sides.takes} {number} {sides.as_base}"
    return " ".join(filter(None, [sides.other, sides.takes, number, word, "than", sides.base]))


def amount_of(piece: SizePiece, sides: NamesOfTwo, *, interval: bool = True) -> str:
    """Return how much longer a piece takes: `on average 13 % (11 - 15) longer`, `2.31 times (...) as long`.

    Of rates, how many times as much they are. Where the interval leaves that open, there is the word alone.

    Args:
        interval: Whether the interval is said, and of what the number is.
    """
    return " ".join(filter(None, _number_and_word(piece, sides, interval=interval)))


def _number_and_word(piece: SizePiece, sides: NamesOfTwo, *, interval: bool = True) -> tuple[str, str]:
    assert piece.pooled is not None  # noqa: S101 - pieces with a difference have one
    ratio = sides.ratio(piece.pooled)
    more, less = ("a higher rate", "a lower rate") if sides.by_rate else ("longer", "less time")
    word = more if ratio.estimate > 1 else less
    mean = ON_AVERAGE if interval and len(piece.sizes_bytes) > 1 else ""
    if not is_known(ratio.low, ratio.high):
        return "", word
    if not interval:
        ratio = replace_fields(ratio, low=None, high=None)
    if sides.by_rate:
        return f"{mean}{_times(ratio)}", ""
    if ratio.estimate >= TWICE:
        return f"{mean}{_times(ratio)}", AS_LONG
    if ratio.estimate <= 1 / TWICE:
        return f"{mean}{_times(ratio.turned)}", AS_FAST
    longer = ratio.estimate > 1
    near, far = (ratio.low, ratio.high) if longer else (ratio.high, ratio.low)
    said = partial(_percent, longer=longer)
    return f"{mean}{_with_ends(f'{said(ratio.estimate)} %', near, far, said)}", word


def _times(ratio: Ratio) -> str:
    """Return `2.31 times (2.20 - 2.42)`; without an interval whose ends look like the number."""
    alone = times_words(replace_fields(ratio, low=None, high=None))
    return _with_ends(alone, ratio.low, ratio.high, units.format_factor)


def _percent(ratio: float, *, longer: bool) -> str:
    """Return how much longer or less something takes, in per cent; negative on the other side of 1."""
    said = units.format_percent(abs(ratio - 1)).removesuffix(" %")
    return said if (ratio > 1) == longer or ratio == 1 else f"{MINUS}{said}"


def _with_ends(text: str, low: float | None, high: float | None, write: Callable[[float], str]) -> str:
    """Return a number with its interval, if that has ends and they do not look like the number."""
    looks_exact = low is not None and high is not None and write(low) == write(high)
    return text if looks_exact else units.with_interval(text, low, high, write)


def at_sizes(both_bytes: Sequence[int], alone_bytes: Iterable[int], cell: Cell) -> At:
    """Return what says at which of the sizes that two curves both have something is so.

    Args:
        alone_bytes: Sizes that one of both alone has, which are no end of what both have.
    """
    every = sorted({*alone_bytes, *both_bytes})
    return partial(where, every_bytes=every, cell=cell, among=len(both_bytes))


def where_of(piece: SizePiece, at: At) -> str:
    """Return at which sizes a piece is so, and of which of them nobody can tell from that size alone."""
    apart = piece.apart_bytes if piece.verdict in DIFFERENT else ()
    if not apart:
        return at(piece.sizes_bytes)
    which = units.format_size(apart[0]) if len(apart) == 1 else units.counted(len(apart), "size")
    return f"{at(piece.sizes_bytes)} ({which} alone: undecided)"
