"""Two curves in one line: how many times as long one takes, below and above the sizes where that changes."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.ratio_words import VERDICTS
from mpigauge.document.size_words import at_size, every_size
from mpigauge.find.phrases import MAX_WORDS, ON_AVERAGE, VERDICT_NEEDS, in_one_line, known_times, would_tell
from mpigauge.stats.interval import is_known
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.compare.size_ratio import SizePiece
    from mpigauge.find.phrases import NamesOfTwo
    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import Verdict

ALIKE = 1.25
"""Ratios of the sizes of a piece that are further apart are told as a range."""

MAX_PIECES = 3
"""More are counted."""


def pieces_line(
    about: str,
    sides: NamesOfTwo,
    pieces: Sequence[SizePiece],
    cell: Cell,
    *,
    more: Sequence[str] = (),
    most_words: int = MAX_WORDS,
) -> str:
    """Return in one line how a curve compares with another, with as much as there is room for.

    Args:
        sides: The other and the base, and by what they are held against each other.
        pieces: Of all sizes, rising.
        cell: One of either, for what has no size.
        more: What else follows, if there is room.
        most_words: Words that there is room for.
    """
    if len(pieces) == 1 and pieces[0].verdict not in DIFFERENT:
        pooled = pieces[0].pooled
        few = pooled is not None and pooled.awaits_launches and is_known(pooled.low, pooled.high)
        alone = _of_few(pieces[0], sides, cell) if few else _alone(pieces[0], sides, cell)
        return in_one_line((f"{about}: {text}" for text in alone), most_words=most_words)
    line = _Line(sides, pieces, cell)
    full, plain = (line.differing(interval=one) for one in (True, False))
    rest, brief = (line.alike(whole=one) for one in (True, False))
    candidates = [
        [*full, *rest, *more],
        [*plain, *rest, *more],
        *([[*plain, *more]] if more else []),
        [*full, *brief],
        [*plain, *brief],
    ]
    counted = line.counted()
    candidates = [*(candidates if len(pieces) <= MAX_PIECES else []), counted, counted[:1]]
    return in_one_line((f"{about}: {'; '.join(parts)}" for parts in candidates), most_words=most_words)


def _of_few(piece: SizePiece, sides: NamesOfTwo, cell: Cell) -> Iterator[str]:
    """Yield what is said of a difference that lacks nothing but launches for a verdict, the longest first."""
    for interval in (True, False):
        number = _number(piece, by_rate=sides.by_rate, interval=interval)
        said = f"{sides.other} {sides.takes} {number} {sides.as_base}{at_size(cell, piece.sizes_bytes[0])}"
        yield f"{said}; {VERDICT_NEEDS}"
    yield said


def _alone(piece: SizePiece, sides: NamesOfTwo, cell: Cell) -> Iterator[str]:
    """Yield what is said of a curve without a difference, the longest first."""
    against = f"{sides.other} against {sides.base}"
    total = len(piece.sizes_bytes)
    where = at_size(cell, piece.sizes_bytes[0]) if total == 1 else f" at {every_size(total)}"
    said = f"{VERDICTS[piece.verdict]}{where}"
    if piece.apart_bytes:
        said = _mixed(piece, "")
    if piece.needed is not None:
        yield f"{against}: {said}; {would_tell(piece.needed)}"
    yield f"{against}: {said}"


def _mixed(piece: SizePiece, where: str) -> str:
    """Return at how many sizes of a piece there is no difference, and at which nobody can tell."""
    total, apart = len(piece.sizes_bytes), piece.apart_bytes
    rest = VERDICTS["undecided" if piece.verdict == "same" else "same"]
    at = units.format_size(apart[0]) if len(apart) == 1 else "the others"
    return f"{VERDICTS[piece.verdict]} at {total - len(apart)} of {total} sizes{where}; {rest} at {at}"


class _Line:
    """Parts of a line about two curves that differ at some sizes."""

    def __init__(self, sides: NamesOfTwo, pieces: Sequence[SizePiece], cell: Cell) -> None:
        self._sides, self._pieces, self._cell = sides, pieces, cell
        self._differing = [piece for piece in pieces if piece.verdict in DIFFERENT]

    def differing(self, *, interval: bool) -> list[str]:
        """Return what is said of pieces that differ: the first names both curves."""
        sides, (first, *rest) = self._sides, self._differing
        number = partial(_number, by_rate=sides.by_rate, interval=interval)
        takes = f"{sides.other} {sides.takes} {number(first)} {sides.as_base}"
        more = [f"{number(one)}{self._where_differing(one)}" for one in rest]
        return [f"{takes}{self._where_differing(first)}", *more]

    def _where_differing(self, piece: SizePiece) -> str:
        return f"{self._where(piece)}{_open_alone(piece)}"

    def alike(self, *, whole: bool) -> list[str]:
        """Return what is said of pieces that do not differ.

        Args:
            whole: Whether it is said at which of their sizes nobody can tell.
        """
        alike = [piece for piece in self._pieces if piece not in self._differing]
        if len(alike) > 1:
            words = {piece.verdict for piece in alike} | {"mixed" for piece in alike if piece.apart_bytes}
            return [f"{'no' if words == {'same'} else 'no certain'} difference elsewhere"]
        return [self._alike(piece, whole=whole) for piece in alike]

    def counted(self) -> list[str]:
        """Return at how many sizes the other takes longer or less time, and at how many they are alike."""
        sides = self._sides
        words = Counter(word for piece in self._pieces for word in _own_words(piece))
        slower, faster, same = words["slower"], words["faster"], words["same"]
        of = f"of {words.total()} sizes"
        if slower and faster:
            more, less = (faster, slower) if sides.by_rate else (slower, faster)
            what = f"{sides.more} at {more} and {sides.less} at {less} {of} than {sides.base}"
        else:
            ends = min(one.least for one in self._differing), max(one.most for one in self._differing)
            times = _range(*ends, by_rate=sides.by_rate)
            what = f"{times} times {sides.as_base} at {slower + faster} {of}"
        return [f"{sides.other} {sides.takes} {what}", *([f"no difference at {same}"] if same else [])]

    def _alike(self, piece: SizePiece, *, whole: bool) -> str:
        where = self._where(piece)
        if not piece.apart_bytes:
            return f"{VERDICTS[piece.verdict]}{where}"
        return _mixed(piece, where) if whole else f"no certain difference{where}"

    def _where(self, piece: SizePiece) -> str:
        first, last = (units.format_size(piece.sizes_bytes[place]) for place in (0, -1))
        total = len(piece.sizes_bytes)
        if total == 1:
            return at_size(self._cell, piece.sizes_bytes[0])
        if len(self._pieces) == 1:
            return f" at {every_size(total)}"
        if piece is self._pieces[0]:
            return f" up to {last}"
        return f" from {first} on" if piece is self._pieces[-1] else f" from {first} to {last}"


def _open_alone(piece: SizePiece) -> str:
    """Return at which sizes of a piece that differs nobody can tell from that size alone."""
    apart = piece.apart_bytes
    if not apart:
        return ""
    where = units.format_size(apart[0]) if len(apart) == 1 else units.counted(len(apart), "size")
    return f" ({where} alone: undecided)"


def _own_words(piece: SizePiece) -> Iterator[Verdict]:
    """Yield the verdict of each of its sizes."""
    apart: Verdict = "same" if piece.verdict == "undecided" else "undecided"
    for size in piece.sizes_bytes:
        yield apart if size in piece.apart_bytes else piece.verdict


def _number(piece: SizePiece, *, by_rate: bool, interval: bool) -> str:
    """Return how many times as long a piece takes: one number of all its sizes, or their range."""
    if piece.pooled is None or piece.most > ALIKE * piece.least:
        return f"{_range(piece.least, piece.most, by_rate=by_rate)} times"
    mean = ON_AVERAGE if len(piece.sizes_bytes) > 1 else ""
    pooled = piece.pooled.turned if by_rate else piece.pooled
    return f"{mean}{known_times(pooled, interval=interval)}"


def _range(least: float, most: float, *, by_rate: bool) -> str:
    """Return the ends of some ratios of times, or of rates, which are their inverses."""
    if by_rate:
        least, most = 1 / most, 1 / least
    return units.span(units.format_factor(least), units.format_factor(most), f" {units.DASH} ")
