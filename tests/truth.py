"""Claims about times and rates: the tests of `make truth`, which tries them again and prints their ratios."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

TRIES = 3
"""Other programs may have the cores at one moment; what a fault makes wrong is wrong at every moment."""

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Ratio:
    """What a test found beside what it must be.

    Attributes:
        test: The test, as pytest names it.
        what: What is measured over what is true.
        value: The ratio.
        above: Its lower bound, exclusive.
        below: Its upper bound, exclusive.
    """

    test: str
    what: str
    value: float
    above: float
    below: float

    @property
    def holds(self) -> bool:
        """Whether the ratio is within its bounds."""
        return self.above < self.value < self.below


RATIOS: list[Ratio] = []
"""Everything that `check` was given in this session, in order."""

TRIED: dict[str, int] = {}
"""How often each test was tried, by the name that pytest gives it."""


def truth(test: Callable[P, None]) -> Callable[P, None]:
    """Mark a test that measures, and try it again if what it measured is not so."""

    @pytest.mark.truth
    @wraps(test)
    def again(*args: P.args, **kwargs: P.kwargs) -> None:
        for number in range(1, TRIES + 1):
            TRIED[_running()] = number
            try:
                test(*args, **kwargs)
            except AssertionError as error:
                if number == TRIES:
                    raise
                print(f"not so in try {number}: {error}")
            else:
                return

    return again


def check(what: str, value: float, above: float = -math.inf, below: float = math.inf) -> None:
    """Keep a ratio for the table, and assert that it lies between its bounds."""
    ratio = Ratio(_running(), what, value, above, below)
    RATIOS.append(ratio)
    assert ratio.holds, f"{what}: {value:.4g} is not between {above:g} and {below:g}"


def table(ratios: Iterable[Ratio]) -> Iterator[str]:
    """Return the lines of the table: of each test and what it compares, the last try."""
    last = {(ratio.test, ratio.what): ratio for ratio in ratios}
    if not last:
        return
    yield f"{'ratio':>8}  {'bounds':<15}  {'tries':>5}  what"
    for ratio in last.values():
        mark = "" if ratio.holds else "  FAILED"
        tries = TRIED.get(ratio.test, 1)
        yield f"{ratio.value:8.3f}  {_bounds(ratio):<15}  {tries:5}  {_short(ratio.test)}: {ratio.what}{mark}"


def _bounds(ratio: Ratio) -> str:
    if ratio.above == -math.inf:
        return f"< {ratio.below:.3g}"
    return f"> {ratio.above:.3g}" if ratio.below == math.inf else f"{ratio.above:.3g} to {ratio.below:.3g}"


def _short(test: str) -> str:
    """Return a test's name without its folders."""
    return test.rpartition("/")[2].replace(".py::test_", ": ").removeprefix("test_")


def _running() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
