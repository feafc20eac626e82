"""Lists of what there is, as documents: a name and what it is, and modes below their pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.document import Column, Document, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Entry = dict[str, Any]


def document(thing: str, entries: Sequence[Entry], columns: Mapping[str, str]) -> Document:
    """Return a list of one kind of thing as a document.

    Args:
        thing: What they are called, in JSON.
        entries: One dict per line, as JSON shows them.
        columns: Keys of entries that people see, with their headings; the last one may wrap.
    """
    *names, last = columns
    shown = [Column(name, columns[name], _get(name), left=True, goes=None) for name in names]
    shown.append(Column(last, columns[last], _get(last), left=True, wraps=True, goes=None))
    return Document(
        tables=[Table("", "", entries, shown)] if entries else [],
        data=lambda: {thing: [*entries]},
        records=lambda: [
            {name: value for name, value in entry.items() if not isinstance(value, list)} for entry in entries
        ],
    )


def patterns(entries: Sequence[Entry]) -> Document:
    """Return the list of patterns, each with its modes below it."""
    columns = [
        Column("name", "pattern", _get("name"), left=True, goes=None),
        Column("mode", "mode", _get("mode"), left=True, goes=None, tells=True),
        Column("about", "what it does", _get("about"), left=True, wraps=True, goes=None),
    ]
    return Document(
        tables=[Table("", "", [*_with_modes(entries)], columns)],
        data=lambda: {"patterns": [*entries]},
        records=lambda: _with_modes(entries, repeat=True),
    )


def _with_modes(entries: Sequence[Entry], *, repeat: bool = False) -> Iterator[Entry]:
    for entry in entries:
        yield {"name": entry["name"], "mode": "", "about": entry["about"]}
        for mode in entry["mode_details"]:
            name = entry["name"] if repeat else ""
            yield {"name": name, "mode": mode["name"], "about": _about_mode(mode)}


def _about_mode(mode: Entry) -> str:
    """Return what a mode does, and what it needs that the library has not."""
    if not mode["lacks"]:
        return str(mode["about"])
    return f"{mode['about']} (needs {mode['lacks']}, which this MPI library lacks)"


def _get(name: str) -> Any:
    return lambda entry: entry[name]
