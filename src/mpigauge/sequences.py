"""Lists of things as lists of lists: by a key, and as runs of neighbours; the first words of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mpigauge.vocabulary import CUT

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    K = TypeVar("K", bound=Hashable)

T = TypeVar("T")


def group_by(things: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return things by their key: keys as each is first seen, the things of one in the order given."""
    found: dict[K, list[T]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return found


def runs(things: Iterable[T], together: Callable[[T, T], bool]) -> list[list[T]]:
    """Return things in runs, in the order given: each joins the one before if both belong together."""
    found: list[list[T]] = []
    for thing in things:
        if found and together(found[-1][-1], thing):
            found[-1].append(thing)
        else:
            found.append([thing])
    return found


def consecutive(one: int, two: int) -> bool:
    """Whether a whole number follows another: what makes a run of `3-7`."""
    return two == one + 1


def first_words(text: str, most: int) -> str:
    """Return a text; of one that is longer than `most`, the first words with CUT behind them."""
    if len(text) <= most:
        return text
    room = most - len(CUT)
    return (text[: room + 1].rpartition(" ")[0].rstrip() or text[:room]) + CUT
