"""The same table several times: launches of one thing, or runs that something tells apart.

Tables that the same visible command has printed, with the same settings, are launches of it. All others are
runs, which are called by what differs in their commands, by their files, by what stands above them, or by
their place.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from mpigauge.importers.commands import what_differs
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell

LABEL_MOST = 32


@dataclass(slots=True, eq=False)
class TextTable:
    """A table of a text.

    Attributes:
        file: Name of its file.
        form: Its format.
        line: Number of the line that it begins with.
        command: The command line that is visible above it; empty if none is.
        settings: Variables and modules that were set above it, for all commands below.
        above: What else stands above it, the last line that has words.
        cells: Those that it has, with the line of each.
    """

    file: str
    line: int
    form: str = ""
    command: str = ""
    settings: str = ""
    above: str = ""
    cells: dict[Cell, str] = field(default_factory=dict)

    @property
    def start(self) -> str:
        """How it was started: by its command, below what was set for it; empty if that is not visible."""
        return f"{self.settings} {self.command}".strip() if self.command else ""


Places = dict[tuple[TextTable, "Cell"], tuple[str, int]]


def named(alike: Mapping[Cell, Sequence[TextTable]], *, same: bool) -> Places:
    """Return the label and the number of the launch of each table that is there several times.

    Args:
        alike: Tables of the same cells but for sizes, in their order, by what they are of.
        same: Whether all of them are launches of one thing.
    """
    runs = _runs(alike)
    found: Places = {}
    for key, tables in alike.items():
        classes = group_by(tables, lambda table: "" if same else (table.form, table.start or id(table)))
        labels = _labels([of[0] for of in classes.values()], runs) if len(classes) > 1 else [""]
        for label, of in zip(labels, classes.values(), strict=True):
            found |= {(table, key): (label, number) for number, table in enumerate(of, start=1)}
    return found


def _labels(tables: Sequence[TextTable], runs: Mapping[TextTable, str]) -> list[str]:
    """What tables are called, each the first of its class."""
    commands = [table.start for table in tables]
    if all(commands) and (words := what_differs(commands)):
        labels = [label_of(one) for one in words]
        if all(labels) and len(set(labels)) == len(labels):
            return labels
    return [runs[table] for table in tables]


def _runs(alike: Mapping[Cell, Sequence[TextTable]]) -> dict[TextTable, str]:
    """The name of the run of each table: all tables down to one that repeats one of them are one run."""
    if not alike:
        return {}
    keys: dict[TextTable, list[Cell]] = defaultdict(list)
    for key, tables in alike.items():
        for table in tables:
            keys[table].append(key)
    number, seen, runs = 0, set[object](), dict[TextTable, int]()
    files = {file: place for place, file in enumerate(dict.fromkeys(table.file for table in keys))}
    ordered = sorted(keys, key=lambda table: (files[table.file], table.line))
    for table in ordered:
        mine = {table.file, *keys[table]}
        if not runs or seen & {*keys[table]} or table.file not in seen:
            number, seen = number + 1, set()
        seen |= mine
        runs[table] = number
    first = {run: table for table, run in reversed(runs.items())}
    names = _names([first[run] for run in sorted(first)])
    return {table: names[run - 1] for table, run in runs.items()}


def _names(firsts: Sequence[TextTable]) -> list[str]:
    """What runs are called, by the first table of each."""
    files = [PurePath(table.file).name.partition(".")[0] for table in firsts]
    above = [table.above for table in firsts]
    numbered = [f"run-{number}" for number in range(1, len(firsts) + 1)]
    forms = [table.form for table in firsts]
    for texts in (files, forms, above):
        labels = [label_of(text) for text in _without_common_ends(texts)]
        if labels and all(labels) and max(Counter(labels).values()) == 1:
            return labels
    return numbered


def _without_common_ends(texts: Sequence[str]) -> list[str]:
    """The same without the pieces that all of them begin or end with; some may be versions of one thing."""
    pieces = [re.split(r"[^A-Za-z0-9.+]+", text) for text in texts]
    least = min(map(len, pieces), default=0)
    first = next((at for at in range(least) if len({one[at] for one in pieces}) > 1), least)
    last = next((at for at in range(least - first) if len({one[-1 - at] for one in pieces}) > 1), 0)
    # What differs is a number alone: it needs the name before it.
    bare = any(one[first][:1].isdigit() for one in pieces if len(one) > first)
    begin = max(0, first - 1) if bare else first
    return ["-".join(one[begin : len(one) - last]) for one in pieces]


def joined(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the label of each column of a table and run of the table; no two are the same."""
    found: dict[tuple[str, str], str] = {}
    for column, run in dict.fromkeys(pairs):
        label = "-".join(filter(None, (column, run)))
        if column and run and (len(label) > LABEL_MOST or label in found.values()):
            number = f"-{len(found) + 1}"
            label = f"{column[: LABEL_MOST - len(number)].rstrip('-._+')}{number}"
        found[column, run] = label
    return found


def label_of(text: str) -> str:
    """Return a text as a label of a result; empty if nothing of it can be one."""
    label = re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")
    label = label if label[:1].isalpha() else f"run-{label}" if label else ""
    return label[:LABEL_MOST].rstrip("-._+")
