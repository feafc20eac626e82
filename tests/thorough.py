"""Questions that many cases answer alike: `make test` and `make truth` ask some, with `COMPLETE=1` all.

Another number of ranks, another stored result or another page seldom finds what the first ones do not, and
all of them together take as long as everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from _pytest.mark import ParameterSet

T = TypeVar("T")


def rest(values: Iterable[T], usual: Collection[T]) -> list[T | ParameterSet]:
    """Return the values for `parametrize`, of which `make test` has the usual ones alone."""
    return [one if one in usual else pytest.param(*_each(one), marks=pytest.mark.thorough) for one in values]


def _each(value: object) -> tuple[object, ...]:
    """Return the values of the parameters of a case, of which there may be several."""
    return value if isinstance(value, tuple) else (value,)


def rotate(items: Iterable[pytest.Item], libraries: Sequence[str]) -> None:
    """Leave to `make test` one number of ranks of each library, of tests of all libraries and some numbers.

    It then has all libraries and all numbers, and not all combinations.
    """
    by_test: dict[str, list[tuple[pytest.Item, Any, Any]]] = {}
    for item in items:
        params = getattr(getattr(item, "callspec", None), "params", {})
        if params.get("library") in libraries and "ranks" in params:
            name = item.nodeid.partition("[")[0]
            by_test.setdefault(name, []).append((item, params["library"], params["ranks"]))
    for found in by_test.values():
        ranks = sorted({number for _, _, number in found}, key=int)
        for item, library, number in found:
            if number != ranks[-1 - libraries.index(library) % len(ranks)]:
                item.add_marker(pytest.mark.thorough)
