"""`mpigauge list`: all choices of an option, each list computed from its one registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import format_option
from mpigauge.cli.screen.streams import note

if TYPE_CHECKING:
    from collections.abc import Callable

Entries = list[dict[str, Any]]


def _patterns(mpi: str | None) -> Entries:
    from msgspec import to_builtins

    from mpigauge.mpi import find, kernel

    library = find.find(mpi) if mpi else find.find_default()
    described = kernel.describe(library)
    entries: Entries = []
    for pattern in described.patterns:
        entry = to_builtins(pattern)
        details = [mode | {"lacks": described.lacks(pattern.name, mode["name"])} for mode in entry["modes"]]
        entries.append(entry | {"modes": [mode.name for mode in pattern.modes], "mode_details": details})
    return entries


def _launchers(_: str | None) -> Entries:
    from mpigauge.campaign.launch.launchers import LAUNCHERS

    return [{"name": launcher.name, "about": launcher.about} for launcher in LAUNCHERS.values()]


def _mpis(_: str | None) -> Entries:
    from mpigauge.mpi import find

    libraries, troubles = find.find_all()
    for trouble in troubles:
        note(f"mpigauge: {trouble.sentence}")
    return [
        {
            "name": library.name,
            "label": library.label,
            "about": library.kind.about,
            "version": library.version,
            "standard": library.standard,
            "mpicc": str(library.mpicc),
            "mpiexec": str(library.mpiexec) if library.has_mpiexec else "",
            "prefix": str(library.prefix),
            "origin": library.origin,
        }
        for library in libraries
    ]


def _formats(_: str | None) -> Entries:
    from mpigauge.show import formats

    return [{"name": name, "about": formats.about(name)} for name in formats.EVERY]


def _plots(_: str | None) -> Entries:
    from mpigauge.show.figures import KINDS

    return [{"name": kind.name, "about": kind.about, "needs": kind.needs} for kind in KINDS.values()]


def _tables(_: str | None) -> Entries:
    from mpigauge.show.pivots import KINDS

    return [{"name": kind.name, "about": kind.about, "needs": kind.needs} for kind in KINDS.values()]


def _plans(_: str | None) -> Entries:
    from mpigauge.plan import shipped
    from mpigauge.plan.plan_file import BUDGET, read_file

    files = {name: (path, read_file(path)) for name, path in shipped.plans().items()}
    return [
        {
            "name": name,
            "title": file.title,
            "about": " ".join(file.about.split()),
            "budget": file.budget or BUDGET,
            "patterns": [*dict.fromkeys(measure.pattern for measure in file.measure)],
            "path": str(path),
        }
        for name, (path, file) in files.items()
    ]


def _claims(_: str | None) -> Entries:
    from mpigauge.check.claim_file import read_claims
    from mpigauge.plan import shipped

    files = {name: read_claims(path) for name, path in shipped.files(shipped.CLAIMS).items()}
    return [
        {
            "name": name,
            "report": file.report.name,
            "about": file.report.question,
            "source": file.report.source,
            "claims": len(file.claims),
            "printed": [*file.report.printed],
            "path": str(file.path),
        }
        for name, file in files.items()
    ]


def _printed(_: str | None) -> Entries:
    from mpigauge.importers.csv import read_columns
    from mpigauge.plan import shipped

    files = {name: (path, read_columns(path)) for name, path in shipped.files(shipped.PRINTED).items()}
    return [
        {
            "name": name,
            "about": columns.title,
            "pattern": columns.pattern,
            "path": str(path),
            "table": str(shipped.printed_table(path)),
        }
        for name, (path, columns) in files.items()
    ]


def _columns(_: str | None) -> Entries:
    from mpigauge.show.columns import EXTRA_COLUMNS

    return [
        {"name": column.name, "heading": column.heading, "unit": column.unit, "about": column.about}
        for column in EXTRA_COLUMNS.values()
    ]


def _unmeasured(_: str | None) -> Entries:
    from mpigauge.cli.options.unmeasured import UNMEASURED

    return [{"name": one.name, "why": one.why} for one in UNMEASURED]


THINGS: dict[str, Callable[[str | None], Entries]] = {
    "patterns": _patterns,
    "launchers": _launchers,
    "mpis": _mpis,
    "formats": _formats,
    "plots": _plots,
    "tables": _tables,
    "columns": _columns,
    "plans": _plans,
    "claims": _claims,
    "printed": _printed,
    "unmeasured": _unmeasured,
}


ALSO = {"libraries": "mpis", "library": "mpis", "suites": "plans", "figures": "plots"}
"""Other names of these, which users type."""

USUAL = {"name": "name", "about": "what it is"}
SHOWN = {
    "mpis": {"label": "library", "standard": "MPI", "mpicc": "compiler", "origin": "from"},
    "plans": {"name": "name", "title": "title", "budget": "takes", "about": "what it measures"},
    "claims": {"name": "name", "report": "report", "about": "what it asks"},
    "printed": {"name": "name", "pattern": "pattern", "about": "the table"},
    "unmeasured": {"name": "what", "why": "why it is not measured, or not yet"},
}
"""Columns that people see per kind of list; programs get all."""


@click.command("list")
@click.argument("thing", type=click.Choice([*THINGS, *ALSO]), default="patterns", metavar="[THING]")
@click.option(
    "--mpi",
    metavar="NAME",
    shell_complete=completers.libraries,
    help="MPI library whose kernel lists the patterns.",
)
@format_option()
def command(thing: str, mpi: str | None, form: str) -> None:
    """List patterns, launchers, mpis, formats, plots, tables, columns, plans, claims, printed or unmeasured.

    claims and printed are what reports conclude, and their tables; unmeasured is what others measure.

    \b
    mpigauge list
    mpigauge list mpis
    mpigauge list plans
    mpigauge list claims
    mpigauge list patterns --format json
    """
    thing = ALSO.get(thing, thing)
    entries = THINGS[thing](mpi)

    from mpigauge.cli.screen.tables import rendered
    from mpigauge.document import lists

    if thing == "patterns":
        document = lists.patterns(entries)
    else:
        document = lists.document(thing, entries, SHOWN.get(thing, USUAL))
    click.echo(rendered(document, form), nl=False)
