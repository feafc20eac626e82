"""Tests of how times compare, on a machine of which others take a part whenever they like."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec

if TYPE_CHECKING:
    from collections.abc import Callable

MOMENTS = 3

P = ParamSpec("P")


def at_a_quiet_moment(test: Callable[P, None]) -> Callable[P, None]:
    """Lets a test try again if what it measured is not so: others may have had the cores just then.

    For tests of times and of verdicts on them: what a fault of ours makes wrong is wrong at every moment.
    What was not so is printed, which pytest shows if it is not so at the last moment either.
    """

    @wraps(test)
    def again(*args: P.args, **kwargs: P.kwargs) -> None:
        for _ in range(MOMENTS - 1):
            try:
                test(*args, **kwargs)
            except AssertionError as error:
                print(f"not so at this moment: {error}")
            else:
                return
        test(*args, **kwargs)

    return again
