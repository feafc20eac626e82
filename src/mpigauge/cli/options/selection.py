"""What of results a verb is asked about: --series, --sizes, --state and --only."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from mpigauge.vocabulary import ONLY_CHOICES, STATE_CHOICES

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.vocabulary import OnlyChoice, StateChoice


@dataclass(frozen=True, slots=True)
class Selection:
    """Cells, and visits of them.

    Attributes:
        series: Words of their names; none for all.
        sizes: Of messages; "" for all.
        state: The state of the machine that numbers are of; None for the usual one.
        only: Which visits count; None for all.
    """

    series: tuple[str, ...] = ()
    sizes: str = ""
    state: StateChoice | None = None
    only: OnlyChoice | None = None

    def check(self) -> None:
        """Before a file is read, which may take a while.

        Raises:
            UsageError: The sizes are none.
        """
        from mpigauge.plan.sizes import size_filter

        size_filter(self.sizes)


EVERYTHING = Selection()

only_option = click.option(
    "--only",
    type=click.Choice(ONLY_CHOICES),
    help="Without visits that something else disturbed, of shared cores, or at another speed than the usual.",
)


def selection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """These options, as figures and tables have that choose among cells; the verb has them as `selection`."""

    @functools.wraps(function)
    def called(
        *args: Any,
        series: tuple[str, ...],
        sizes: str,
        state: StateChoice | None,
        only: OnlyChoice | None,
        **given: Any,
    ) -> Any:
        return function(*args, selection=Selection(series, sizes, state, only), **given)

    declared: Callable[..., Any] = called
    for option in (
        only_option,
        click.option(
            "--state",
            type=click.Choice(STATE_CHOICES),
            help="Numbers of this state of the machine, or of each.  [default: the one that had 80 % of the "
            "time, else each]",
        ),
        click.option(
            "--sizes",
            default="",
            metavar="SPEC",
            help="Show only these sizes: 8,1KiB, or a range with everything in it: 0:2000.",
        ),
        click.option(
            "--series",
            multiple=True,
            metavar="WORDS[=LABEL]",
            help="Select series by words of their name; the first is the reference; repeatable.",
        ),
    ):
        declared = option(declared)
    return declared
