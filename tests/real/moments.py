"""Tests of how times compare, on a machine of which others take a part whenever they like."""

from __future__ import annotations

from functools import wraps
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ParamSpec

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


def of_main_state(document: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per cell: of the state in which the machine was for the longest time.

    A launch or two may meet some cells in another state alone: then of that one.
    """
    main = max(document["states"], key=lambda state: state["time_share"], default={"name": None})["name"]
    found = {}
    for row in sorted(document["rows"], key=lambda row: row["state"] in {None, main}):
        found[tuple(row[name] for name in takewhile(lambda name: name != "state", row))] = row
    return [*found.values()]
