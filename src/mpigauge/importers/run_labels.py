"""Labels of tables that occur several times: launches of one command, or runs that differ.

Tables of a file that the same visible command has printed are launches of it, if nothing between them tells
them apart. All others are runs, which are called by what differs in their commands, their files or the text
above them, or by their place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from mpigauge.importers import READERS
from mpigauge.importers.command_lines import differing_words
from mpigauge.importers.text_between import caption_of, masked, shared_beginning, shared_end
from mpigauge.sequences import group_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpigauge.plan.model import Cell

MAX_LABEL = 32
MAX_LINES = 64
"""Most lines above a table that may name its run."""


@dataclass(slots=True, eq=False)
class TextTable:
    """Table in a text.

    Attributes:
        file: Its file.
        line: Number of its first line.
        format_name: Its format, by its name in READERS.
        title: Program and version that its title names; empty if it has none.
        command: Command line that is visible above it; empty if none is.
        prompted: Host and folder that the last prompt above it names; empty if none does.
        above: Lines between the table before and this one that may tell them apart.
        below: Those between this table and the next.
        counted: Whether a line above it numbers it as a repetition.
        counted_below: Whether a line below it numbers the next table as one.
        cells: Its cells, with the line of each.
    """

    file: str
    line: int
    format_name: str = ""
    title: str = ""
    command: str = ""
    prompted: str = ""
    above: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    counted: bool = False
    counted_below: bool = False
    cells: dict[Cell, str] = field(default_factory=dict)


_Groups = dict["Cell", list[list[TextTable]]]
"""Runs of each table that is there several times, by its cell without size; of each run its launches."""

LabelsAndLaunches = dict[tuple[TextTable, "Cell"], tuple[str, int]]


def label_tables(
    tables_by_key: Mapping[Cell, Sequence[TextTable]], repeated: Iterable[Cell], *, same: bool
) -> LabelsAndLaunches:
    """Return the label and the number of the launch of each table.

    Args:
        tables_by_key: Tables whose cells differ in size alone, in their order, by the cell without size.
        repeated: The keys of which a cell is there several times.
        same: Whether tables of one key are launches of one run.
    """
    sections = _Sections(tables_by_key)
    groups_by_key: _Groups = {
        key: list(group_by(tables_by_key[key], lambda table: "" if same else sections.run_of(table)).values())
        for key in repeated
    }
    names = _Names(groups_by_key, sections)
    found: LabelsAndLaunches = {}
    for key, groups in sorted(groups_by_key.items(), key=lambda item: len(item[1]) == 1):
        for label, group in zip(names.of_runs(groups), groups, strict=True):
            found |= {(table, key): (label, number) for number, table in enumerate(group, start=1)}
    for key in tables_by_key.keys() - groups_by_key.keys():
        found |= {(table, key): (names.of_one(table), 1) for table in tables_by_key[key]}
    return found


# ---- Sections ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Kind:
    """Tables of one kind in a file.

    Attributes:
        head: Lines that are printed below each of them.
        tail: Lines that are printed above each of them.
        last: Place of the last of them in the file; -1 if there was none.
        section: Its section.
        sections: Number of sections.
        first_lines: Lines that began the first section.
        entered: Section that was entered from another by certain lines.
    """

    head: int = 0
    tail: int = 0
    last: int = -1
    section: int = 0
    sections: int = 1
    first_lines: tuple[str, ...] = ()
    entered: dict[tuple[int, tuple[str, ...]], int] = field(default_factory=dict)

    def enter(self, lines: tuple[str, ...]) -> None:
        """Enter a section by the lines that begin it: one that was left before, or a new one."""
        move, section = (self.section, lines), self.sections
        if lines and self.first_lines[-len(lines) :] == lines:
            section = 0
        self.section = self.entered.setdefault(move, section) if lines else section
        self.sections = max(self.sections, self.section + 1)


class _Sections:
    """Sections of texts: a line that tells tables apart begins one.

    What is printed above, or below, each table of a kind tells nothing.
    """

    def __init__(self, tables_by_key: Mapping[Cell, Sequence[TextTable]]) -> None:
        self._section: dict[TextTable, int] = {}
        self._lines: dict[TextTable, tuple[str, ...]] = {}
        kinds: dict[TextTable, Cell] = {}
        for key, tables in tables_by_key.items():
            for table in tables:
                kinds.setdefault(table, key)
        for tables in group_by(kinds, lambda table: table.file).values():
            ordered = sorted(tables, key=lambda table: table.line)
            self._read_file(ordered, [kinds[table] for table in ordered])

    def run_of(self, table: TextTable) -> tuple[object, ...]:
        """Return what tables share that are launches of one run."""
        section = self._section[table]
        return table.file, table.format_name, table.title, table.command, table.prompted, section

    def lines_of(self, table: TextTable) -> tuple[str, ...]:
        """Return the lines that began the section of a table; none if it began with the text."""
        return self._lines[table]

    @property
    def tables(self) -> list[TextTable]:
        """Tables in the order of their files and lines."""
        return list(self._section)

    def _read_file(self, tables: Sequence[TextTable], keys: Sequence[Cell]) -> None:
        """Find the sections of the tables of a file, in the order of their lines."""
        kinds = {key: _kind(of_key) for key, of_key in _by(keys, tables).items()}
        began = counted = -1
        head = changes = 0
        before: list[int] = []
        own: tuple[str, ...] = ()
        text: tuple[str, ...] = ()
        for at, (table, key) in enumerate(zip(tables, keys, strict=True)):
            kind = kinds[key]
            if lines := table.above[head : max(head, len(table.above) - kind.tail)]:
                began, changes, own = at, changes + 1, tuple(lines[-MAX_LINES:])
                text = tuple(map(masked, own))
            before.append(changes)
            counted, head = at if table.counted else counted, kind.head
            if kind.last < 0:
                kind.first_lines = text
            elif began > kind.last:
                kind.enter(text if changes == before[kind.last] + 1 else ())
            elif not table.command and counted <= kind.last:
                kind.enter(())
            kind.last = at
            self._section[table], self._lines[table] = kind.section, own


def _by(keys: Sequence[Cell], tables: Sequence[TextTable]) -> dict[Cell, list[TextTable]]:
    found: dict[Cell, list[TextTable]] = defaultdict(list)
    for key, table in zip(keys, tables, strict=True):
        found[key].append(table)
    return found


def _kind(tables: Sequence[TextTable]) -> _Kind:
    """Return the state of a kind of tables before the first, with what is printed with each of them."""
    if len(tables) == 1:
        return _Kind()
    below = [[*map(masked, table.below)] for table in tables]
    above = [[*map(masked, table.above)] for table in tables]
    return _Kind(shared_beginning(below), shared_end(above))


# ---- Names -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Property:
    """Property of tables by which runs can be called.

    Attributes:
        of: Its text of each table; empty where a table has none.
        labels: Label of each text.
    """

    of: Mapping[TextTable, str]
    labels: Mapping[str, str]

    def label(self, table: TextTable) -> str:
        """Return the label of a table; empty if its text gives none."""
        return self.labels.get(self.of.get(table, ""), "")


class _Names:
    """Names of runs: by the first property that tells them apart, or by several together."""

    def __init__(self, groups_by_key: _Groups, sections: _Sections) -> None:
        tables = sections.tables
        self._numbers = _run_numbers(groups_by_key)
        files = {table: table.file for table in tables}
        captions, labels = _captions(groups_by_key, sections)
        prompts, titles = ({table: get(table) for table in tables} for get in (_prompted, _title))
        self._properties = (
            _Property(files, _labels(files.values(), differing_paths)),
            _Property({table: table.format_name for table in tables}, {name: name for name in READERS}),
            _Property(captions, labels),
            _Property(prompts, _labels(prompts.values(), _differing_pieces)),
            _Property(titles, _labels(titles.values(), _differing_pieces)),
        )
        self._used = list[_Property]()
        self._by_file = _aligned_by_file(groups_by_key)

    def of_runs(self, groups: Sequence[Sequence[TextTable]]) -> list[str]:
        """Return the names of the runs of one key, none if there is one run only."""
        firsts = [group[0] for group in groups]
        if len(groups) == 1:
            return [self.of_one(firsts[0])]
        by_command = _command_labels(firsts)
        if _are_names(by_command):
            return by_command
        if aligned := self._by_file.get(tuple(table.file for table in firsts)):
            return aligned
        ways = [[one.label(table) for table in firsts] for one in self._properties]
        for one, labels in zip(self._properties, ways, strict=True):
            filled = [label or self._number(table) for label, table in zip(labels, firsts, strict=True)]
            if any(labels) and _are_names(filled):
                self._used.append(one)
                return filled
        varied = [labels for labels in (by_command, *ways) if len(set(labels)) > 1]
        joined = [label_of(" ".join(filter(None, labels))) for labels in zip(*varied, strict=True)]
        return joined if _are_names(joined) else [self._number(table) for table in firsts]

    def of_one(self, table: TextTable) -> str:
        """Return the name of the run that a table is in, though no other run has such a table."""
        return next(filter(None, (one.label(table) for one in self._used)), "")

    def _number(self, table: TextTable) -> str:
        return f"run-{self._numbers[table]}"


def _aligned_by_file(groups_by_key: _Groups) -> dict[tuple[str, ...], list[str]]:
    """Return labels of files where those of several programs have the same: `bw_old`, `lat_old`, `bw_new`."""
    found = defaultdict[tuple[str, ...], set[tuple[str, ...]]](set)
    for groups in groups_by_key.values():
        files = tuple(group[0].file for group in groups)
        if len(set(files)) == len(files) > 1:
            pieces = [re.split(r"[\W_]+", _stem(file)) for file in files]
            first = shared_beginning(pieces)
            last = min(shared_end(pieces), min(map(len, pieces)) - first)
            labels = tuple(label_of(" ".join(one[first : len(one) - last])) for one in pieces)
            if _are_names(labels):
                found[labels].add(files)
    return {files: [*labels] for labels, sets in found.items() if len(sets) > 1 for files in sets}


def _stem(path: str) -> str:
    """Return the name of a file without folder and endings; a number behind a point is none."""
    name = PurePath(path)
    while name.suffix[1:].isalpha() or name.suffix == ".bz2":
        name = name.with_suffix("")
    return name.name


def _are_names(labels: Sequence[str]) -> bool:
    """Return whether labels tell runs apart."""
    return bool(labels) and all(labels) and len(set(labels)) == len(labels)


def _run_numbers(groups_by_key: _Groups) -> dict[TextTable, int]:
    """Return the number of the run of each table: it ends above a table that another run has, too."""
    groups = defaultdict[TextTable, dict["Cell", int]](dict)
    for key, groups_of_key in groups_by_key.items():
        for number, group in enumerate(groups_of_key):
            for table in group:
                groups[table][key] = number
    files = {file: place for place, file in enumerate(dict.fromkeys(table.file for table in groups))}
    number, seen, file = 0, dict["Cell", int](), ""
    found: dict[TextTable, int] = {}
    for table in sorted(groups, key=lambda table: (files[table.file], table.line)):
        mine = groups[table]
        if not number or table.file != file or any(seen.get(key, of) != of for key, of in mine.items()):
            number, seen, file = number + 1, {}, table.file
        seen |= mine
        found[table] = number
    return found


def _captions(groups_by_key: _Groups, sections: _Sections) -> tuple[dict[TextTable, str], dict[str, str]]:
    """Return the line that names the section of each table, empty where none does, and labels by line.

    Of the lines of a section it is one that other runs of the same table do not have, too.
    """
    found, labels = dict[object, str](), dict[str, str]()
    for groups in sorted(groups_by_key.values(), key=len, reverse=True):
        texts = [sections.lines_of(group[0]) for group in groups]
        common = set(texts[0]).intersection(*texts[1:]) if len(texts) > 1 else set()
        for text in texts:
            found.setdefault(text, caption_of([line for line in text if line not in common] or text))
        if len(groups) > 1:
            labels = _labels((found[text] for text in texts), _differing_pieces) | labels
    return {table: found.get(sections.lines_of(table), "") for table in sections.tables}, labels


def _prompted(table: TextTable) -> str:
    return table.prompted


def _title(table: TextTable) -> str:
    return table.title


def _command_labels(tables: Sequence[TextTable]) -> list[str]:
    """Return the labels of tables by what differs in their commands; none if one is unknown."""
    commands = [table.command for table in tables]
    return [label_of(one) for one in differing_words(commands) or ()] if all(commands) else []


def _labels(texts: Iterable[str], cut: Callable[[Sequence[str]], Sequence[str]]) -> dict[str, str]:
    """Return the label of each text: of what differs in it if that is enough, else of all of it."""
    distinct = [text for text in dict.fromkeys(texts) if text]
    short = [label_of(text) for text in cut(distinct)]
    return dict(zip(distinct, short if _are_names(short) else map(label_of, distinct), strict=True))


def differing_paths(paths: Sequence[str]) -> list[str]:
    """Return the shortest ends of paths that tell them apart, without the end that all share.

    `a/osu.txt` and `b/osu.txt` are `a` and `b`; `before.txt` and `after.txt` are `before` and `after`.
    """
    parts = [(*PurePath(path).parts[:-1], _stem(path)) for path in paths]
    least = min(map(len, parts), default=0)
    shared = shared_end(parts) if len(parts) > 1 else 0
    for depth in range(1, least - shared + 1):
        found = ["-".join(names[len(names) - shared - depth : len(names) - shared]) for names in parts]
        if len(set(found)) == len(found):
            return found
    return ["-".join(names) for names in parts]


def _differing_pieces(texts: Sequence[str]) -> list[str]:
    """Return texts without common first and last words, but keep a name before a bare version number."""
    pieces = [_pieces(text) for text in texts]
    first = shared_beginning(pieces) if len(pieces) > 1 else 0
    last = min(shared_end(pieces) if len(pieces) > 1 else 0, min(map(len, pieces), default=0) - first)
    # A number alone says nothing: it needs the name before it.
    bare = any(piece[first][:1].isdigit() for piece in pieces if len(piece) > first)
    begin = max(0, first - 1) if bare else first
    return [" ".join(piece[begin : len(piece) - last]) for piece in pieces]


def _pieces(text: str) -> list[str]:
    """Return the words of a text in pieces; what is set to a value is one."""
    return [
        piece
        for word in text.split()
        for piece in ([word] if "=" in word.strip("=") else re.split(r"[^\w.+]+", word))
        if piece
    ]


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
    """Return a text as a label of a result, cut at words; empty if nothing of it can be used."""
    label = re.sub(r"[^\w.+-]+", "-", text).strip("-._+")
    label = label if label[:1].isalpha() else f"run-{label}" if label else ""
    if len(label) > MAX_LABEL:
        label = label[: MAX_LABEL + 1].rpartition("-")[0] or label[:MAX_LABEL]
    return label[:MAX_LABEL].rstrip("-._+")
