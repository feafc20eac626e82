"""Options that several verbs share, and parsers of their values."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from mpigauge import units
from mpigauge.cli.options import completers
from mpigauge.cli.screen.console import color_option
from mpigauge.document.document import Units
from mpigauge.errors import UsageError
from mpigauge.plan.factors import COMPARED_BY, VERDICT_FACTORS
from mpigauge.show.formats import FORMATS, GENERAL
from mpigauge.vocabulary import (
    ALL,
    BINDINGS,
    CHECK_HOSTS,
    RMA_WINDOWS,
    STATS,
    SYNCS,
)

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def format_option(forms: Sequence[str] = GENERAL) -> Decorator:
    """Return --format, and --color for its text; json prints nothing but JSON to standard output.

    Args:
        forms: Formats that suit what the verb prints.
    """
    form = click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="Output format.",
    )
    return lambda function: form(color_option(function))


def _not_empty(context: click.Context, option: click.Parameter, value: str) -> str:
    """Refuse an empty list: an unset variable of a script must not select this machine."""
    if not value and context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE:
        raise UsageError(f"{option.opts[0]}: the list is empty", "name hosts (h1:2,h2:2), or leave it out")
    return value


class AliasedOption(click.Option):
    """Option with further spellings that help does not list.

    Args:
        aliases: The further spellings.
    """

    def __init__(self, *args: Any, aliases: Sequence[str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.aliases = aliases

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add the option under all its names."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=self.aliases, dest=self.name)


RANKS_ALSO = ("-np", "--ranks")
"""Spellings of --np by mpiexec, besides -n."""


def ranks_option(metavar: str, about: str) -> Decorator:
    """Return -n and --np, with the other spellings of a number of ranks."""
    return click.option(
        "--np", "-n", "ranks", cls=AliasedOption, aliases=RANKS_ALSO, metavar=metavar, help=about
    )


seed_option = click.option(
    "--seed", type=int, metavar="N", help="Seed of the randomisation.  [default: a new one]"
)


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for where jobs run and how they start, which every measuring verb has."""
    for option in (
        click.option(
            "--mpi-option",
            "mpi_options",
            multiple=True,
            metavar="WORD",
            help="Extra argument for mpiexec; repeatable.",
        ),
        click.option(
            "--env",
            "variables",
            multiple=True,
            metavar="NAME=VALUE",
            help="Environment variable for every job; repeatable.",
        ),
        click.option(
            "--remote-shell",
            default="",
            metavar="PROGRAM",
            help="Program used instead of ssh.  [default: ssh, or Slurm's own]",
        ),
        click.option(
            "--launcher",
            default="",
            metavar="NAME",
            shell_complete=completers.launchers,
            help="How jobs are started: mpigauge list launchers, or words: 'flux run -n {ranks}'.  "
            "[default: the library's mpiexec]",
        ),
        click.option(
            "--skip-dead",
            is_flag=True,
            help="Leave out hosts that do not answer, unless a placement names them.",
        ),
        click.option(
            "--check-hosts",
            type=click.Choice(CHECK_HOSTS),
            help="Whether hosts are asked first: all by ssh, or none.  "
            "[default: auto, all that no scheduler has given us]",
        ),
        click.option(
            "--patience",
            metavar="TIME",
            help="How long a launcher may take to start a job: 5min.  [default: 60s, more with many ranks]",
        ),
        click.option(
            "--mpiexec",
            default="",
            metavar="PROGRAM",
            help="Program used as the library's mpiexec.  [default: the one beside its mpicc]",
        ),
        click.option(
            "--bind", "binding", type=click.Choice(BINDINGS), help="Bind ranks to cores.  [default: auto]"
        ),
        click.option(
            "--hosts",
            default="",
            callback=_not_empty,
            metavar="LIST",
            help="Hosts and their slots (h1:2,h2:2), or a machine file.  [default: this one]",
        ),
    ):
        function = option(function)
    return function


stat_option = click.option(
    "--stat",
    type=click.Choice(STATS),
    default="median",
    show_default=True,
    help="Statistic that represents a launch.",
)
unit_option = click.option(
    "--unit",
    "unit_names",
    multiple=True,
    metavar="UNIT",
    shell_complete=completers.unit_names,
    help="Unit of bandwidths (MB/s GB/s Mbit/s Gbit/s MiB/s GiB/s) or of times (ns us ms s); "
    "repeatable.  [default: automatic]",
)


def table_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format, --unit, --stat and --columns, which every verb has that prints the table."""
    return table_options_of(FORMATS)(function)


def table_options_of(forms: Sequence[str]) -> Decorator:
    """Return the same for tables that have only some formats."""
    return lambda function: column_options(format_option(forms)(function))


def column_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --unit, --stat and --columns: the contents of a table, whatever its format."""
    columns = click.option(
        "--columns",
        default="",
        metavar="NAMES",
        shell_complete=completers.columns,
        help="More columns, or all: mpigauge list columns.",
    )
    return unit_option(stat_option(columns(function)))


def results_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add RESULT... for verbs that show several; `selection.loaded` finds the default."""
    return click.argument(
        "results",
        nargs=-1,
        type=click.Path(path_type=Path),
        metavar="[RESULT...]",
        shell_complete=completers.results,
    )(function)


def threshold_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --margin and --allow, which every verb with verdicts has; `thresholds_of` parses them."""
    for option in (
        click.option(
            "--allow",
            default="10%",
            show_default=True,
            metavar="SHARE",
            help="A pass excludes that anything is slower by more.",
        ),
        click.option(
            "--margin",
            default="3%",
            show_default=True,
            metavar="SHARE",
            help="Smaller differences do not matter; 0 for none.",
        ),
    ):
        function = option(function)
    return function


def comparison_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --by, --margin, --allow and --force for a comparison and its figure."""
    force = click.option(
        "--force",
        is_flag=True,
        help="Compare results of different machines or versions all the same, and say what differs.",
    )
    by = click.option(
        "--by",
        metavar="FACTOR",
        shell_complete=completers.compared,
        help=f"Compare within one RESULT, by {', '.join(COMPARED_BY)} or a varied variable.  "
        f"[default: the first with several values; a verdict on {', '.join(VERDICT_FACTORS)} alone]",
    )
    return by(threshold_options(force(function)))


def spelling_in_run(name: str) -> str:
    """Return how an option is spelled in `mpigauge run`."""
    parameters = click.get_current_context().command.params
    return max(next(parameter.opts for parameter in parameters if parameter.name == name), key=len)


def trust_options(help_of_trust: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds --trust and --digest, for verbs that run what a result names."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        digest = click.option(
            "--digest", default="", metavar="HEX", help="Trust only what was asked about: the digest of that."
        )
        return click.option("--trust", is_flag=True, help=help_of_trust)(digest(function))

    return add


keep_option = click.option(
    "--keep-baseline",
    is_flag=True,
    help="Keep a copy of the result in your data folder, for later: as before?  [default: nothing is kept]",
)


def words(text: str | None) -> tuple[str, ...]:
    """Split a list such as `standard,buffered` into words."""
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def rank_counts(text: str | None) -> tuple[int, ...]:
    """Parse numbers of ranks such as `2,4,8`.

    Raises:
        UsageError: A word is not a whole number above 0.
    """
    for word in words(text):
        if not re.fullmatch(r"[0-9]{1,9}", word) or int(word) < 1:
            raise UsageError(f"--np: {word!r} is not a number of ranks", "use whole numbers from 1: 2,4,8")
    return tuple(dict.fromkeys(int(word) for word in words(text)))


def roots(text: str | None) -> tuple[Any, ...]:
    """Parse roots such as `0,rotating`: ranks, or the word.

    Raises:
        UsageError: A word is neither.
    """
    for word in words(text):
        if word != "rotating" and not re.fullmatch(r"[0-9]{1,9}", word):
            raise UsageError(f"--root: {word!r} is not a rank", "use ranks from 0, or rotating")
    return tuple(word if word == "rotating" else int(word) for word in words(text))


def numbers(option: str, text: str | None, most: int, least: int = 1) -> tuple[int, ...]:
    """Parse whole numbers such as `1,8,64`.

    Raises:
        UsageError: A word is not a number from `least` to `most`.
    """
    for word in words(text):
        if not re.fullmatch(r"[0-9]{1,9}", word) or not least <= int(word) <= most:
            raise UsageError(
                f"{option}: {word!r} is not a whole number from {least} to {most}", "separate them by commas"
            )
    return tuple(dict.fromkeys(int(word) for word in words(text)))


def sizes_of(option: str, text: str | None) -> tuple[int, ...]:
    """Parse sizes above 0, such as `8,1KiB`.

    Raises:
        UsageError: A word is not a size, or is 0.
    """
    sizes = tuple(dict.fromkeys(map(units.parse_size, words(text))))
    if 0 in sizes:
        raise UsageError(f"{option}: 0 B is no size of a block", "use 1 or more")
    return sizes


def sender_counts(text: str | None) -> tuple[Any, ...]:
    """Parse numbers of senders such as `1,2,all`: numbers, or the word.

    Raises:
        UsageError: A word is neither.
    """
    for word in words(text):
        if word != ALL and (not re.fullmatch(r"[0-9]{1,8}", word) or int(word) < 1):
            raise UsageError(f"--senders: {word!r} is no number of ranks", f"use numbers from 1, or {ALL}")
    return tuple(word if word == ALL else int(word) for word in words(text))


def assignments(words: tuple[str, ...]) -> dict[str, str]:
    """Parse `NAME=VALUE` words into a mapping.

    Raises:
        UsageError: A word has no name or no `=`.
    """
    pairs = [word.partition("=") for word in words]
    for name, sign, value in pairs:
        if not name or not sign:
            raise UsageError(f"--env: {name + sign + value!r} is not an assignment", "write NAME=VALUE")
    return {name: value for name, _, value in pairs}


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
VALUES = re.compile(r"[^\s,]+(,[^\s,]+)*")


def variations(words: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Parse `NAME=A,B` words into a mapping of names to values.

    Raises:
        UsageError: A word has no name, or a value that a result cannot hold.
    """
    parsed = {}
    for word in words:
        name, _, values = word.partition("=")
        if not (VARIABLE.fullmatch(name) and VALUES.fullmatch(values)):
            raise UsageError(f"--vary: {word!r} varies nothing", "write NAME=A,B without spaces")
        parsed[name] = tuple(values.split(","))
    return parsed


def syncs(text: str | None) -> tuple[Any, ...]:
    """Parse ways of starting together such as `common,barrier`.

    Raises:
        UsageError: A word is no way of starting together.
    """
    return _words_of(text, SYNCS, "--sync", "a way to start a collective")


def rma_windows(text: str | None) -> tuple[Any, ...]:
    """Parse ways of making a window such as `allocate,create`, or all.

    Raises:
        UsageError: A word is no way of making a window.
    """
    if ALL in words(text):
        return RMA_WINDOWS
    return _words_of(text, RMA_WINDOWS, "--rma-window", "a way to make a window")


def _words_of(text: str | None, known: Sequence[str], option: str, what: str) -> tuple[Any, ...]:
    for word in words(text):
        if word not in known:
            raise UsageError(f"{option}: {word!r} is not {what}", f"choose from {', '.join(known)}")
    return words(text)


def units_of(names: tuple[str, ...]) -> Units:
    """Return the unit of times and the unit of rates.

    Raises:
        UsageError: A name is neither.
    """
    time = rate = units.AUTO
    for name in names:
        if name in units.TIME_CHOICES:
            time = name
        elif name in units.RATE_CHOICES:
            rate = name
        else:
            choices = ", ".join([*units.TIME_CHOICES, *units.RATE_UNITS])
            raise UsageError(f"--unit: no unit is called {name!r}", f"choose from {choices}")
    return Units(time, rate)
