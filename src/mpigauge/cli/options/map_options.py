"""Options of `mpigauge map` and the plan that they make, also for the verb that passes them on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mpigauge import units
from mpigauge.cli.options import completers
from mpigauge.cli.options.common import (
    Decorator,
    assignments,
    format_option,
    keep_option,
    place_options,
    rank_counts,
    ranks_option,
    seed_option,
    unit_option,
    words,
)
from mpigauge.cli.options.selection import only_option
from mpigauge.errors import UsageError
from mpigauge.show.formats import MAP_FORMATS
from mpigauge.stats.limits import LAUNCHES_OF_A_MAP
from mpigauge.vocabulary import STATE_NAMES, TRANSPORTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mpigauge.plan.model import Plan
    from mpigauge.plan.plan_file import Asked

WHERE = "the command line"
SIZES = "8,1MiB"
MAX_LAUNCHES = 12
PRECISION = "10%"
"""Precision of the pairs; in noise more launches are made until slow links can be told from chance."""

PAIR, MAX_RANKS = 2, 32
MAX_VISITS_OF_LAUNCH = 100_000
MIN_VISITS = 2
"""Visits per cell and launch: hundreds of ranks have so many pairs that more would take too long."""

MIN_FACTOR = 1.01
ERROR_RATE = "1%"
FOUND = ""
"""Value of --before without a file: earlier maps are found."""

TYPED = ParameterSource.COMMANDLINE

MEASURING = (
    click.option(
        "--mpi",
        metavar="NAME",
        shell_complete=completers.libraries,
        help="MPI library: openmpi, mpich==4.3.2, a prefix or an mpicc.",
    ),
    click.option(
        "--transport",
        type=click.Choice(TRANSPORTS),
        help="How messages travel.  [default: the library's choice]",
    ),
    place_options,
    ranks_option("N", "Number of ranks.  [default: one per host; on one host, one per core]"),
    click.option(
        "--sizes",
        metavar="SPEC",
        help="Message sizes: the smallest for the latency, the largest for the bandwidth.  [default: 8,1MiB]",
    ),
    click.option("--serial", is_flag=True, help="One pair at a time, without contention."),
    click.option(
        "--launches",
        type=int,
        metavar="N",
        help="Number of launches (exact).  [default: 5 to 12, by the noise]",
    ),
    click.option("--budget", metavar="TIME", help="Time to spend: 60s, 5min.  [default: unlimited]"),
    seed_option,
)
"""Options that say what is measured, and how."""

SHOWING = (
    click.option(
        "--factor",
        type=float,
        default=1.25,
        show_default=True,
        metavar="X",
        help="Report links slower than X times the usual.",
    ),
    click.option(
        "--error-rate",
        default=ERROR_RATE,
        show_default=True,
        metavar="SHARE",
        help="False alarms allowed, per map.",
    ),
    click.option(
        "--pair",
        "pairs",
        multiple=True,
        metavar="A,B",
        help="Print this pair's times by size instead of the map; repeatable.",
    ),
    click.option(
        "--state",
        type=click.Choice(STATE_NAMES),
        help="Map of this state of the machine, of a RESULT that knows states of its pairs.",
    ),
    only_option,
    unit_option,
    click.option(
        "--figure", type=click.Path(path_type=Path), metavar="FILE", help="Heat map (.png, .svg, .pdf)."
    ),
    click.option(
        "--before",
        metavar="[FILE]",
        multiple=True,
        is_flag=False,
        flag_value=FOUND,
        shell_complete=completers.results,
        help="Ask whether links are as in earlier maps (results/, or kept; or FILE, repeatable), with the "
        "exit status.",
    ),
    keep_option,
)
"""Options that say what is made of it, now or later."""


def measuring_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is measured, and how."""
    return _with(MEASURING, function)


def showing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is made of a map."""
    return _with(SHOWING, function)


def _with(options: Sequence[Decorator], function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        function = option(function)
    return function


# ---- For the verb that hands the words of map on -------------------------------------------------


@click.command("map")
@click.argument("result", required=False)
@measuring_options
@click.option("--dry-run", is_flag=True)
@click.option("-q", "--quiet", is_flag=True)
@showing_options
@format_option(MAP_FORMATS)
def _map(**_: Any) -> None:
    """Carry the options of map, to parse them for a verb that passes them on."""


def asked_map(words: Sequence[str]) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan of a map that words ask for, without hosts, and those of them that show its result.

    Raises:
        UsageError: They are not arguments of map, or ask it to measure nothing.
    """
    context = _map.make_context("mpigauge map", list(words))
    values = dict(context.params)
    for name, written in (("result", f"RESULT ({values['result']})"), ("dry_run", "--dry-run")):
        if values.pop(name):
            raise UsageError(f"{written} cannot be used here", "leave it out")
    names = [str(option.name) for option in _map.params]
    shown = names[names.index("quiet") + 1 :]
    check_showing(values["factor"], values["error_rate"], values["figure"], values["pairs"])
    plan = asked_plan(**{name: value for name, value in values.items() if name not in (*shown, "quiet")})
    return plan, (*typed_options(context, shown),)


def typed_options(context: click.Context, names: Sequence[str]) -> Iterator[str]:
    """Yield the words of the options of these names that were typed."""
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name not in names or context.get_parameter_source(str(option.name)) is not TYPED:
            continue
        for entry in value if isinstance(value, tuple) else (value,):
            alone = entry is True or entry == getattr(option, "flag_value", None)
            yield from (option.opts[0],) if alone else (option.opts[0], str(entry))


def check_showing(factor: float, error_rate: str, figure: Path | None, pairs: Sequence[str]) -> None:
    """Refuse wrong options before a campaign, as far as they can be known then.

    Raises:
        UsageError: One is.
    """
    if not MIN_FACTOR <= factor < math.inf:
        raise UsageError(
            f"--factor must be a finite number from {MIN_FACTOR}, not {factor:g}",
            "the usual factor is 1.25",
        )
    units.parse_fraction(error_rate)
    if figure is not None:
        from mpigauge.show.figures.map import check

        check(figure)
    for pair in pairs:
        if len(set(words(pair))) != PAIR or len(words(pair)) != PAIR:
            raise UsageError(f"--pair: {pair!r} is not a pair", "name two different ones: --pair h1,h4")


# ---- Options become a plan -----------------------------------------------------------------------


def plan_of_map(**arguments: Any) -> Plan:
    """Return the plan for all pairs of the hosts that were named, or of those of the job."""
    from msgspec.structs import replace

    from mpigauge.campaign.prepare import with_lab_and_hosts

    asked = asked_plan(**arguments)
    plan = with_lab_and_hosts(asked)
    ranks = _usual_ranks(plan) if asked.all_ranks else asked.ranks[0]
    return replace(plan, ranks=(ranks,), visits=min(plan.visits, _visits_most(plan, ranks)))


def asked_plan(mpi: str | None, transport: str | None, **arguments: Any) -> Plan:
    """Return the plan of a map without what its hosts decide."""
    from msgspec.structs import replace

    from mpigauge.plan.plan_file import Asked, plan_of
    from mpigauge.plan.source import new_seed

    counts = _counts(arguments.pop("ranks"))
    file = _file(serial=arguments.pop("serial"))
    exactly = arguments["launches"] is not None
    variables = assignments(arguments.pop("variables"))
    transports: Any = (transport,) if transport else ()
    over = Asked(
        mpi=(mpi,) if mpi else (), transports=transports, ranks=counts, variables=variables, **arguments
    )
    plan = plan_of(file, over, new_seed(), WHERE)
    return plan if exactly else replace(plan, launches_max=MAX_LAUNCHES)


def _counts(text: str | None) -> tuple[int, ...]:
    """Return the number of ranks, if it was given."""
    counts = rank_counts(text)
    if len(counts) > 1:
        raise UsageError("--np: a map has one number of ranks", "measure a map for each")
    if counts and counts[0] < PAIR:
        raise UsageError("--np: one rank has no pairs", "use --np 3 or more")
    return counts


def _file(*, serial: bool) -> Asked:
    from mpigauge.plan.model import Measure
    from mpigauge.plan.plan_file import Asked

    return Asked(
        title="link map",
        measure=(Measure("pingpong", pairs="serial" if serial else "tournament"),),
        sizes=SIZES,
        launches=LAUNCHES_OF_A_MAP,
        precision=PRECISION,
    )


def _visits_most(plan: Plan, ranks: int) -> int:
    """Return the most visits per cell and launch that keep a launch of this many ranks short."""
    from mpigauge.plan.sizes import parse_sizes

    cells = ranks * (ranks - 1) // 2 * len(parse_sizes(plan.measure[0].sizes or SIZES, plan.seed))
    return max(MIN_VISITS, MAX_VISITS_OF_LAUNCH // cells)


def _usual_ranks(plan: Plan) -> int:
    """Return one rank per host; on a single host, one per core.

    Raises:
        UsageError: There would be one rank only.
    """
    from mpigauge.result import environment

    if len(plan.hosts) > 1:
        return len(plan.hosts)
    if plan.hosts and plan.hosts[0].slots < PAIR:
        raise UsageError(
            f"{WHERE}: {plan.hosts[0].name} alone, with one rank, has no pairs",
            "name more hosts: --hosts h1,h2,h3; or ranks of this one: --hosts h1:4",
        )
    slots = plan.hosts[0].slots if plan.hosts else environment.cores_allowed()
    return max(PAIR, min(MAX_RANKS, slots))
