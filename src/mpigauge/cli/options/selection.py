"""Results and cells that a verb is asked about: RESULT..., --series, --sizes, --state, --only, --rename."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from mpigauge.ask import Selection
from mpigauge.cli.screen.streams import note
from mpigauge.result.files import named
from mpigauge.vocabulary import ONLY_CHOICES, STATE_CHOICES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import OnlyChoice, StateChoice


def load(path: Path) -> Result:
    """Read a result, ours or of another benchmark; note whether a compressed one is damaged.

    Raises:
        UsageError: The file is no result.
    """
    from mpigauge.ask import damage_note
    from mpigauge.importers import loading

    result = loading.load(path)
    if damage := damage_note(result):
        note(f"mpigauge: {damage}")
    return result


def loaded(results: Sequence[Path]) -> Iterator[Result]:
    """Return the results that the command line names, each read when its turn comes.

    Raises:
        UsageError: There is no result.
    """
    return map(load, named(results))


rename_option = click.option(
    "--rename",
    "renames",
    multiple=True,
    metavar="OLD=NEW",
    help="Call a placement otherwise, so that results align; repeatable.",
)
only_option = click.option(
    "--only",
    type=click.Choice(ONLY_CHOICES),
    help="Without visits that something else disturbed, of shared cores, or at another speed than the usual.",
)


def selection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --series, --sizes, --state and --only, which the verb gets as one parameter, `selection`."""

    @functools.wraps(function)
    def called(
        *args: Any,
        series: tuple[str, ...],
        sizes: str,
        state: StateChoice | None,
        only: OnlyChoice | None,
        **arguments: Any,
    ) -> Any:
        return function(*args, selection=Selection(series, sizes, state, only), **arguments)

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
