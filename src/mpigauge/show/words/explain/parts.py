"""Parts of sentences that several topics share: what is spoken of, intervals, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.show.words.factors import UNSAID, WORDS, phrases_of
from mpigauge.show.words.states import in_state

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from mpigauge.plan.model import Cell
    from mpigauge.vocabulary import StateName

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"

ALWAYS = ("pattern",)
"""Said of every cell, whether others differ in it or not."""


def subject(
    cell: Cell, varied: Collection[str], without: Collection[str] = (), state: StateName | None = None
) -> str:
    """What a sentence is about: of a cell what tells it from the others of its result.

    Args:
        varied: Factors in which cells of the result differ.
        without: Factors that the sentence speaks of itself.
    """
    names = [name for name in WORDS if name in {*ALWAYS, *varied} and name not in without]
    phrases = {name: phrase for name, phrase in phrases_of(cell, names).items() if _to_say(name, phrase)}
    what = " ".join(phrases.pop(name) for name in ("pattern", "mode") if name in phrases)
    return f"{', '.join([what, *phrases.values()] if what else phrases.values())}{in_state(state)}"


def headed(about: str, text: str) -> str:
    """A sentence after what it is about, if that need be said."""
    return f"{about}: {text}" if about else text


def _to_say(name: str, phrase: str) -> bool:
    return name in ALWAYS or phrase not in UNSAID


def time(seconds: float, low_s: float | None = None, high_s: float | None = None) -> str:
    """A time with its interval in brackets; the number alone without one."""
    said = units.format_time(seconds)
    if low_s is None or high_s is None:
        return said
    return f"{said} ({units.format_time(low_s)} {DASH} {units.format_time(high_s)})"


def extra(seconds: float) -> str:
    """A difference, with its sign."""
    return f"{MINUS if seconds < 0 else '+'}{units.format_time(abs(seconds))}"


def span(sizes_bytes: Iterable[int]) -> str:
    """The smallest and the largest of some sizes, or one size."""
    ordered = sorted(sizes_bytes)
    ends = dict.fromkeys((ordered[0], ordered[-1]))
    return f" {DASH} ".join(units.format_size(size) for size in ends)


def count(number: int, word: str, words: str = "") -> str:
    """`1 size`, `3 sizes`; a plural of its own for other endings."""
    return f"{number} {word if number == 1 else words or f'{word}s'}"
