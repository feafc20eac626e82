"""Visits in little memory: their numbers as an array of machine words, not as objects one by one.

An integer of Python takes 36 bytes with its place in a list, and a result of 1 GB has 200 million of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, get_args, get_origin

from msgspec.structs import force_setattr

from mpigauge.result.kernel_data import READINGS, VisitCore

if TYPE_CHECKING:
    from mpigauge.result.records import Visit


def _is_of_integers(kind: object) -> bool:
    """Whether a field is a list of integers, by its type: that of readings is another."""
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return get_origin(kind) is Sequence


LISTS = tuple(name for name, kind in VisitCore.__annotations__.items() if _is_of_integers(kind))
"""Fields of a visit that are lists of integers."""

_lists_of = attrgetter(*LISTS)
_readings_of = attrgetter(*READINGS)


class Numbers(array):  # type: ignore[type-arg]
    """Integers of 32 or 64 bits, or floating-point numbers; equal to every list of the same ones."""

    __slots__ = ()
    __hash__ = None

    def __eq__(self, other: object) -> bool:
        """Also to an array of other words: which they are follows from the largest alone."""
        return self.tolist() == (other.tolist() if isinstance(other, array) else other)

    def __ne__(self, other: object) -> bool:
        """Not left to the array, which would compare itself with other arrays only."""
        return not self == other


NONE = Numbers("i")
"""Of a list that is empty, as most are; one for all, so nobody may add to it."""


def numbers(values: Sequence[int]) -> Numbers:
    """The same integers in the narrowest words that hold all of them.

    Raises:
        OverflowError: One needs more than 64 bits.
    """
    if not values:
        return NONE
    try:
        return Numbers("i", values)
    except OverflowError:
        return Numbers("q", values)


def pack(visit: Visit) -> None:
    """Gives a visit that was just read arrays in place of its lists."""
    for name, values in zip(LISTS, _lists_of(visit), strict=True):
        if values is not NONE:
            force_setattr(visit, name, numbers(values) if values else NONE)
    for name, values in zip(READINGS, _readings_of(visit), strict=True):
        if values is not NONE:
            force_setattr(visit, name, Numbers("d", values) if values else NONE)


def plain(value: object) -> list[int]:
    """For encoders: arrays as the lists that they stand for.

    Raises:
        TypeError: It is none.
    """
    if isinstance(value, array):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no part of a record")
