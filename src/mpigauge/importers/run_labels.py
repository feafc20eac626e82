"""Labels of tables that occur several times: launches of one command, or runs that differ.

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

from mpigauge.importers.command_lines import differing_words
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell

MAX_LABEL = 32


@dataclass(slots=True, eq=False)
class TextTable:
    """Table in a text.

    Attributes:
        file: Its file.
        format_name: Its format, by its name in READERS.
        line: Number of its first line.
        command: Command line that is visible above it; empty if none is.
        settings: Variables and modules set above it, for all commands below.
        above: Last line of prose above it.
        cells: Its cells, with the line of each.
    """

    file: str
    line: int
    format_name: str = ""
    command: str = ""
    settings: str = ""
    above: str = ""
    cells: dict[Cell, str] = field(default_factory=dict)

    @property
    def start_command(self) -> str:
        """Settings and command line that started it; empty if no command is visible."""
        return f"{self.settings} {self.command}".strip() if self.command else ""


LabelsAndLaunches = dict[tuple[TextTable, "Cell"], tuple[str, int]]


def label_tables(tables_by_key: Mapping[Cell, Sequence[TextTable]], *, same: bool) -> LabelsAndLaunches:
    """Return the label and the number of the launch of each table that is there several times.

    Args:
        tables_by_key: Tables whose cells differ in size alone, in their order, by the cell without size.
        same: Whether all of them are launches of one run.
    """
    runs = _run_names(tables_by_key)
    found: LabelsAndLaunches = {}
    for key, tables in tables_by_key.items():
        groups = group_by(
            tables, lambda table: "" if same else (table.format_name, table.start_command or id(table))
        )
        labels = _labels([group[0] for group in groups.values()], runs) if len(groups) > 1 else [""]
        for label, group in zip(labels, groups.values(), strict=True):
            found |= {(table, key): (label, number) for number, table in enumerate(group, start=1)}
    return found


def _labels(tables: Sequence[TextTable], runs: Mapping[TextTable, str]) -> list[str]:
    """Return the labels of runs, each by its first table."""
    commands = [table.start_command for table in tables]
    if all(commands) and (words := differing_words(commands)):
        labels = [label_of(one) for one in words]
        if all(labels) and len(set(labels)) == len(labels):
            return labels
    return [runs[table] for table in tables]


def _run_names(tables_by_key: Mapping[Cell, Sequence[TextTable]]) -> dict[TextTable, str]:
    """Return the run name of each table: a run ends above the first table that repeats one of its tables."""
    if not tables_by_key:
        return {}
    keys: dict[TextTable, list[Cell]] = defaultdict(list)
    for key, tables in tables_by_key.items():
        for table in tables:
            keys[table].append(key)
    number, seen, runs = 0, set[object](), dict[TextTable, int]()
    files = {file: place for place, file in enumerate(dict.fromkeys(table.file for table in keys))}
    ordered = sorted(keys, key=lambda table: (files[table.file], table.line))
    for table in ordered:
        contents = {table.file, *keys[table]}
        if not runs or seen & {*keys[table]} or table.file not in seen:
            number, seen = number + 1, set()
        seen |= contents
        runs[table] = number
    first = {run: table for table, run in reversed(runs.items())}
    names = _names_by_first_table([first[run] for run in sorted(first)])
    return {table: names[run - 1] for table, run in runs.items()}


def _names_by_first_table(firsts: Sequence[TextTable]) -> list[str]:
    """Return the names of runs, by the first table of each."""
    files = [PurePath(table.file).name.partition(".")[0] for table in firsts]
    above = [table.above for table in firsts]
    numbered = [f"run-{number}" for number in range(1, len(firsts) + 1)]
    format_names = [table.format_name for table in firsts]
    for texts in (files, format_names, above):
        labels = [label_of(text) for text in _without_common_ends(texts)]
        if labels and all(labels) and max(Counter(labels).values()) == 1:
            return labels
    return numbered


def _without_common_ends(texts: Sequence[str]) -> list[str]:
    """Return texts without common first and last words, but keep a name before a bare version number."""
    pieces = [re.split(r"[^A-Za-z0-9.+]+", text) for text in texts]
    least = min(map(len, pieces), default=0)
    first = next(
        (at for at in range(least) if len({pieces_of_one[at] for pieces_of_one in pieces}) > 1), least
    )
    last = next(
        (at for at in range(least - first) if len({pieces_of_one[-1 - at] for pieces_of_one in pieces}) > 1),
        0,
    )
    # A number alone says nothing: it needs the name before it.
    bare = any(pieces_of_one[first][:1].isdigit() for pieces_of_one in pieces if len(pieces_of_one) > first)
    begin = max(0, first - 1) if bare else first
    return ["-".join(pieces_of_one[begin : len(pieces_of_one) - last]) for pieces_of_one in pieces]


def join_labels(pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return a unique label for each pair of column and run."""
    found: dict[tuple[str, str], str] = {}
    taken = set[str]()
    for column, run in dict.fromkeys(pairs):
        label = "-".join(filter(None, (column, run)))
        if column and run and (len(label) > MAX_LABEL or label in taken):
            number = f"-{len(found) + 1}"
            label = f"{column[: MAX_LABEL - len(number)].rstrip('-._+')}{number}"
        found[column, run] = label
        taken.add(label)
    return found


def label_of(text: str) -> str:
    """Return a text as a label of a result; empty if nothing of it can be used."""
    label = re.sub(r"[^A-Za-z0-9._+-]+", "-", text).strip("-._+")
    label = label if label[:1].isalpha() else f"run-{label}" if label else ""
    return label[:MAX_LABEL].rstrip("-._+")
