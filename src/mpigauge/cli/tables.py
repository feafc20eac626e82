"""Tables on the screen: of a result file or of any document, checked before a campaign begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.console import console
from mpigauge.cli.options import chosen_units, words
from mpigauge.errors import UsageError, choose_from

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.analysis.rows import Row
    from mpigauge.show.document import Document, Units


def tabulate(
    path: Path, form: str, unit_names: tuple[str, ...], stat: str, columns: str
) -> tuple[str, list[Row]]:
    """The table of a result file in one of the forms, and the rows that it shows.

    Raises:
        UsageError: The file is not a result, or a column or unit does not exist.
    """
    names, chosen = check(unit_names, columns)

    from mpigauge.analysis.rows import rows
    from mpigauge.result.reader import load
    from mpigauge.show.tables.curves import document

    loaded = load(path)
    shown = rows(loaded, stat)
    return rendered(document(loaded, shown, names, chosen), form), shown


def rendered(document: Document, form: str) -> str:
    """A document in one of the formats; text is fitted to a terminal, if standard output is one."""
    if form == "text" and (screen := console()) is not None:
        from mpigauge.show.formats import terminal

        return terminal.render(document, screen)
    from mpigauge.show import formats

    return formats.render(document, form)


def check(unit_names: tuple[str, ...], columns: str) -> tuple[tuple[str, ...], Units]:
    """The columns and units asked for; called before a campaign, not to be wrong only after it.

    Raises:
        UsageError: A column or unit does not exist.
    """
    time, rate = chosen_units(unit_names)

    from mpigauge.show.columns import EXTRA_COLUMNS
    from mpigauge.show.document import Units

    names = words(columns)
    if "all" in names:
        names = tuple(EXTRA_COLUMNS)
    for name in names:
        if name not in EXTRA_COLUMNS:
            hint = choose_from([*EXTRA_COLUMNS, "all"], name)
            raise UsageError(f"--columns: no column is called {name!r}", hint)
    return names, Units(time, rate)
