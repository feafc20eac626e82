"""`mpigauge list`: what there is to choose from, each list computed from its one registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import completers
from mpigauge.cli.console import console
from mpigauge.cli.options import format_option
from mpigauge.vocabulary import LIST_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

Entries = list[dict[str, Any]]

MODE_INDENT = 13


def _patterns(mpi: str | None) -> Entries:
    from msgspec import to_builtins

    from mpigauge.mpi import find, kernel

    library = find.find(mpi) if mpi else find.find_default()
    entries: Entries = []
    for pattern in kernel.describe(library).patterns:
        entry = to_builtins(pattern)
        entries.append(
            entry | {"modes": [mode.name for mode in pattern.modes], "mode_details": entry["modes"]}
        )
    return entries


def _launchers(_: str | None) -> Entries:
    from mpigauge.launch.launchers import LAUNCHERS

    return [{"name": one.name, "about": one.about} for one in LAUNCHERS.values()]


def _mpis(_: str | None) -> Entries:
    from mpigauge.mpi import find

    libraries, troubles = find.find_all()
    for trouble in troubles:
        click.echo(f"mpigauge: {trouble.sentence}", err=True)
    return [
        {
            "name": library.name,
            "about": library.kind.about,
            "version": library.version,
            "standard": library.standard,
            "mpicc": str(library.mpicc),
            "mpiexec": str(library.mpiexec),
            "prefix": str(library.prefix),
            "origin": library.origin,
        }
        for library in libraries
    ]


def _formats(_: str | None) -> Entries:
    from mpigauge.show.tables import FORMATS

    return [
        {"name": name, "about": (render.__doc__ or "").strip().splitlines()[0]}
        for name, render in FORMATS.items()
    ]


def _plots(_: str | None) -> Entries:
    from mpigauge.show.figures import KINDS

    return [{"name": kind.name, "about": kind.about, "needs": kind.needs} for kind in KINDS.values()]


def _tables(_: str | None) -> Entries:
    from mpigauge.show.pivots import KINDS

    return [{"name": kind.name, "about": kind.about, "needs": kind.needs} for kind in KINDS.values()]


THINGS: dict[str, Callable[[str | None], Entries]] = {
    "patterns": _patterns,
    "launchers": _launchers,
    "mpis": _mpis,
    "formats": _formats,
    "plots": _plots,
    "tables": _tables,
}


@click.command("list")
@click.argument("thing", type=click.Choice(list(THINGS)), default="patterns")
@click.option(
    "--mpi",
    metavar="NAME",
    shell_complete=completers.libraries,
    help="MPI library whose kernel lists the patterns.",
)
@format_option(LIST_FORMATS)
def command(thing: str, mpi: str | None, form: str) -> None:
    """List patterns, launchers, mpis, formats, plots or tables.

    \b
    mpigauge list
    mpigauge list mpis
    mpigauge list patterns --format json
    """
    entries = THINGS[thing](mpi)
    if form == "json":
        click.echo(json.dumps({thing: entries}, indent=1, ensure_ascii=False))
        return
    width = max((len(entry["name"]) for entry in entries), default=0)
    lines = [line for entry in entries for line in _in_words(thing, entry, width)]
    click.echo(_fitted(lines), nl=False)


Line = tuple[str, int]
"""Words, and how far they are indented where they are wrapped."""


def _in_words(thing: str, entry: dict[str, Any], width: int) -> list[Line]:
    if thing == "mpis":
        label = f"{entry['name']}=={entry['version']}"
        return [(f"{label:<20} MPI {entry['standard']}  {entry['mpicc']}  ({entry['origin']})", MODE_INDENT)]
    modes = [
        (f"{'':{MODE_INDENT}}{mode['name']:<14} {mode['about']}", MODE_INDENT + 15)
        for mode in entry.get("mode_details", [])
    ]
    return [(f"{entry['name']:<{width}} {entry['about']}", width + 1), *modes]


def _fitted(lines: list[Line]) -> str:
    """As they are; on a terminal, wrapped under their last column."""
    screen = console()
    if screen is None:
        return "".join(f"{words}\n" for words, _ in lines)

    from mpigauge.show.terminal import Page, printed

    page = Page(screen)
    return printed([piece for words, hang in lines for piece in page.wrapped(words, hang=hang)], screen)
