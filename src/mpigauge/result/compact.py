"""Visits in little memory: their numbers in arrays of machine words, not lists of objects.

A Python integer takes 36 bytes with its entry in a list, and a result of 1 GB has 200 million of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, get_args, get_origin

from msgspec.structs import force_setattr, replace

from mpigauge.result.kernel_data import READINGS, VisitCore

if TYPE_CHECKING:
    from mpigauge.result.records import Launch, Visit


def _is_of_integers(kind: object) -> bool:
    """Return whether a field is a list of integers, by its type; lists of readings are not."""
    kind = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return get_origin(kind) is Sequence


LISTS = tuple(name for name, kind in VisitCore.__annotations__.items() if _is_of_integers(kind))
"""Names of the fields of a visit that are lists of integers."""

_lists_of = attrgetter(*LISTS)
_readings_of = attrgetter(*READINGS)


class Numbers(array):  # type: ignore[type-arg]
    """An array of 32- or 64-bit integers or floating-point numbers; equal to a list of the same numbers."""

    __slots__ = ()
    __hash__ = None

    def __eq__(self, other: object) -> bool:
        """Return whether all numbers are equal; the widths of the arrays do not matter."""
        return self.tolist() == (other.tolist() if isinstance(other, array) else other)

    def __ne__(self, other: object) -> bool:
        """Return the opposite of `==`, which the array type would define for arrays only."""
        return not self == other


EMPTY = Numbers("i")
"""The array of all empty lists, which most are; it is shared, so nothing may be added to it."""


def numbers(values: Sequence[int]) -> Numbers:
    """Return integers as an array of the narrowest words that hold all of them.

    Raises:
        OverflowError: A number needs more than 64 bits.
    """
    if not values:
        return EMPTY
    try:
        return Numbers("i", values)
    except OverflowError:
        return Numbers("q", values)


def pack(visit: Visit) -> None:
    """Replace the lists of a visit by arrays."""
    for name, values in zip(LISTS, _lists_of(visit), strict=True):
        if values is not EMPTY:
            force_setattr(visit, name, numbers(values) if values else EMPTY)
    for name, values in zip(READINGS, _readings_of(visit), strict=True):
        if values is not EMPTY:
            force_setattr(visit, name, Numbers("d", values) if values else EMPTY)


def as_list(value: object) -> list[int]:
    """Return an array as a list, for encoders.

    Raises:
        TypeError: The value is not an array.
    """
    if isinstance(value, array):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no part of a record")


# ---- What precision asks of them -------------------------------------------------------------------

_KEPT = {"samples_ns", "late", "line_ns", "path_ns", "alu_ns"}
_DROPPED = {*LISTS, *READINGS} - _KEPT


def essential_visit(visit: Visit) -> Visit:
    """Return what precision asks of a visit, in little memory: samples, and what it was made in.

    A campaign has all of them in memory, on a node that it measures.
    """
    kept = replace(visit, **dict.fromkeys(_DROPPED, EMPTY))
    pack(kept)
    return kept


def essential_launch(launch: Launch) -> Launch:
    """Return what precision asks of a launch: of its ranks the one whose clock has the longest step."""
    coarsest = max(launch.ranks_at, key=lambda rank: rank.clock_step_ns, default=None)
    return replace(
        launch, command=(), ranks_at=() if coarsest is None else (coarsest,), variables={}, reported=""
    )
