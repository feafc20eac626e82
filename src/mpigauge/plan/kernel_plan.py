"""The kernel's plan, the text that it reads: writing it and reading it again. Only plan.c knows it, too.

A line of limits, lines of groups, a line per visit, and `end`, where the kernel stops reading. A plan for a
launch by the user has one more line, for the import of its journals: JSON with the plan that the visits are
from, and the kernel's description of their patterns.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from mpigauge.errors import UsageError
from mpigauge.inputs import text_of
from mpigauge.plan.factors import KERNEL_FACTORS, Factor, Value, whole_number
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.patterns import KERNEL_VERSION, Pattern
from mpigauge.plan.rank_lists import members_of
from mpigauge.plan.visit_order import PlannedVisit
from mpigauge.vocabulary import Pairing

POOL_CACHES = 4
"""Multiple of the largest cache that cold visits walk through (docs/method-memory.md#buffers)."""

PART_BYTES = 32_768
"""Half of a pipe's capacity, so that writing a part never waits for the reader of the previous one."""

MORE = "more\n"
END = "end"
HINT = "mpigauge kernel plan writes one; give that file, then the journals"

_PAIR = re.compile(r"([0-9]{1,9})-([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a launch in time and memory.

    Attributes:
        cell_s: Time that a cell should take in this launch.
        deadline_s: Time after the start at which the last visit may begin.
        warmup_s: Time of the warm-up per group of ranks and size, before the first visit.
        warmup_bytes: Largest message of the warm-up; 0 means as large as in the visits.
        pool_bytes: Memory that cold visits walk through on each side.
        pool_caches: Multiple of the largest cache of the ranks' hosts that cold visits walk through at
            least; 0 for pool_bytes alone, which follow from this machine's caches.
        hang_s: Shortest silence after which the kernel aborts its job; 0 if mpigauge watches it.
        watched: Whether mpigauge watches it and keeps rank 0's input open, at whose end the job ends.
    """

    cell_s: float
    deadline_s: float
    warmup_s: float = 0.05
    warmup_bytes: int = 0
    pool_bytes: int = 0
    pool_caches: int = 0
    hang_s: float = 0.0
    watched: bool = False


class ChosenRanks(NamedTuple):
    """A choice of ranks, as the factors of a cell have it."""

    groups: str
    group: str
    order: str
    senders: int


ALL_RANKS = ChosenRanks("", "", "", 0)


class KernelPlanSource(Struct, frozen=True, forbid_unknown_fields=True):
    """The source of a kernel plan, for reading it again.

    Attributes:
        mpigauge: The version of mpigauge that made it.
        chosen: How the ranks of a cell were chosen, by its number in the lines of its visits, where they are
            not all ranks as they are: several choices can have the same ranks.
    """

    mpigauge: str
    plan: Plan
    patterns: tuple[Pattern, ...]
    chosen: dict[int, ChosenRanks] = {}


@dataclass(frozen=True, slots=True)
class ExternalPlan:
    """A kernel plan for a launch by the user, as read from its file.

    Attributes:
        cells: Cells by visit id, without a library.
    """

    path: Path
    source: KernelPlanSource
    ranks: int
    cells: Mapping[int, Cell]


# ---- Written -------------------------------------------------------------------------------------


def kernel_plan(visits: Sequence[PlannedVisit], plan: Plan, limits: Limits, cores: int) -> str:
    """Return the text that the kernel reads; all visits must have the same number of ranks.

    Args:
        cores: Cores that the ranks share; with more ranks than cores, waiting ranks yield.
    """
    numbers = _cell_numbers(visits)
    words_of_cell = {cell: _cell_words(cell, number, limits.pool_bytes) for cell, number in numbers.items()}
    groups = _group_numbers(visits)
    lines = [_launch_line(visits[0].cell.ranks, cores, plan, limits)]
    lines += [_keys("group", id=number, ranks=group) for group, number in groups.items()]
    lines += [_visit_line(visit, words_of_cell[visit.cell], groups) for visit in visits]
    return "\n".join([*lines, END, ""])


def chosen_ranks(visits: Iterable[PlannedVisit]) -> dict[int, ChosenRanks]:
    """Return how the ranks of cells were chosen, as the source of their kernel plan has it."""
    chosen = {
        number: ChosenRanks(cell.groups, cell.group, cell.order, cell.senders)
        for cell, number in _cell_numbers(visits).items()
    }
    return {number: one for number, one in chosen.items() if one != ALL_RANKS}


def with_source(text: str, source: KernelPlanSource) -> str:
    """Return a kernel plan with its source, so that it can be read again."""
    return f"{text}{msgspec.json.encode(source).decode()}\n"


def parts_of(text: str, most_bytes: int = PART_BYTES) -> list[str]:
    """Split a kernel plan into parts; all but the last end with `more`, where the kernel asks for the next.

    Args:
        most_bytes: Largest size of a part, unless a single line is longer.
    """
    parts = [""]
    for line in text.splitlines(keepends=True):
        if parts[-1] and len(parts[-1]) + len(line) + len(MORE) > most_bytes:
            parts[-1] += MORE
            parts.append("")
        parts[-1] += line
    return parts


def _launch_line(ranks: int, cores: int, plan: Plan, limits: Limits) -> str:
    return _keys(
        "launch",
        version=KERNEL_VERSION,
        ranks=ranks,
        cores=cores,
        visits_per_cell=plan.visits,
        rounds_min=plan.rounds_min,
        rounds_max=plan.rounds_max,
        precision_ppm=max(1, round(plan.precision / 3 * 1e6)),
        cell_ns=_ns(limits.cell_s),
        deadline_ns=_ns(limits.deadline_s),
        warmup_ns=_ns(limits.warmup_s),
        **({"warmup_bytes": limits.warmup_bytes} if limits.warmup_bytes else {}),
        **({"hang_ns": _ns(limits.hang_s)} if limits.hang_s else {}),
        **({"watched": 1} if limits.watched else {}),
        **({"pool_caches": limits.pool_caches} if limits.pool_caches else {}),
    )


def _cell_words(cell: Cell, number: int, pool_bytes: int) -> str:
    """Return what the lines of all visits of a cell have in common."""
    values = {
        factor.key: text for factor in KERNEL_FACTORS if (text := factor.written(getattr(cell, factor.name)))
    }
    return _keys(
        f"cell={number}",
        **values,
        window=max(1, cell.window),
        pool_bytes=pool_bytes if cell.buffers == "cold" else 0,
    )


def _cell_numbers(visits: Iterable[PlannedVisit]) -> dict[Cell, int]:
    """Return a number for each cell."""
    return {cell: number for number, cell in enumerate(dict.fromkeys(visit.cell for visit in visits))}


def _group_numbers(visits: Sequence[PlannedVisit]) -> dict[str, int]:
    """Return a number for each group of ranks."""
    groups = dict.fromkeys(visit.cell.group for visit in visits if visit.cell.group)
    return {group: number for number, group in enumerate(groups)}


def _visit_line(visit: PlannedVisit, cell_words: str, groups: Mapping[str, int]) -> str:
    if visit.step is None:
        return f"visit id={visit.id} {cell_words}"
    cell = visit.cell
    who = f"group={groups[cell.group]}" if cell.group else f"pair={cell.pair}"
    return f"visit id={visit.id} {cell_words} {who} step={visit.step}"


def _ns(seconds: float) -> int:
    return max(1, round(seconds * 1e9))


def _keys(first: str, **values: object) -> str:
    return " ".join([first, *(f"{key}={value}" for key, value in values.items())])


# ---- Read again ----------------------------------------------------------------------------------


def read_external_plan(path: Path) -> ExternalPlan:
    """Read a kernel plan with its source from a file.

    Raises:
        UsageError: It cannot be read or is not such a plan; names the file and the line.
    """
    try:
        lines = text_of(path, HINT).splitlines()
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not a plan of the kernel", HINT) from None
    if END not in lines or not lines[0].startswith("launch "):
        raise UsageError(f"{path}: is not a plan of the kernel", HINT)
    last = lines.index(END)
    source = _source(path, lines[last + 1 :])
    launch = _Line(path, 1, lines[0])
    if launch.number("version") != KERNEL_VERSION:
        raise UsageError(
            f"{path}: has version {launch.number('version')}, this mpigauge needs {KERNEL_VERSION}",
            "import it with the mpigauge that made it",
        )
    ranks = launch.number("ranks")
    cells = {}
    groups: dict[int, str] = {}
    for number, text in enumerate(lines[1:last], start=2):
        line = _Line(path, number, text)
        if text.startswith("group "):
            groups[line.number("id")] = line.group(ranks)
        else:
            cells[line.number("id")] = _cell(line, ranks, source, groups)
    return ExternalPlan(path, source, ranks, cells)


def _source(path: Path, rest: Sequence[str]) -> KernelPlanSource:
    try:
        return msgspec.json.decode(rest[0] if rest else "", type=KernelPlanSource)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(
            f"{path}: the line of its source, after `{END}`, is damaged: {error}", HINT
        ) from None


class _Line:
    """The keys of a line and their values."""

    def __init__(self, path: Path, number: int, text: str) -> None:
        self._where = f"{path}: line {number}"
        self._values = dict(word.partition("=")[::2] for word in text.split()[1:])

    def number(self, name: str) -> int:
        return int(self._read(name, self._values.get(name, ""), whole_number))

    def value(self, factor: Factor) -> Value:
        """Return the value of a factor; that of a missing key if the line lacks it."""
        return self._read(factor.key, self._values.get(factor.key, ""), factor.read)

    def _read(self, name: str, text: str, read: Callable[[str], Value]) -> Value:
        try:
            return read(text)
        except ValueError as error:
            value = f"{text!r} is {error}" if text else "is missing"
            raise UsageError(f"{self._where}: {name} {value}", HINT) from None

    def pair(self, ranks: int) -> str:
        text = self._values.get("pair", "")
        match = _PAIR.fullmatch(text)
        if text and (match is None or not int(match[1]) < int(match[2]) < ranks):
            raise UsageError(f"{self._where}: {text!r} is not a pair of {ranks} ranks", HINT)
        return text

    def group(self, ranks: int) -> str:
        """Return the ranks of the line of a group."""
        text = self._values.get("ranks", "")
        try:
            members = members_of(text)
        except ValueError as error:
            raise UsageError(f"{self._where}: {error}", HINT) from None
        if max(members) >= ranks:
            raise UsageError(f"{self._where}: {text!r} is not a group of {ranks} ranks", HINT)
        return text

    def selection(self, groups: Mapping[int, str], chosen: Mapping[int, ChosenRanks]) -> ChosenRanks:
        """Return how the ranks of a visit were chosen."""
        group = ""
        if self._values.get("group"):
            number = self.number("group")
            if number not in groups:
                raise UsageError(f"{self._where}: no line before it has a group {number}", HINT)
            group = groups[number]
        found = chosen.get(self.number("cell"), ALL_RANKS)
        if found.group != group:
            raise UsageError(f"{self._where}: its plan does not ask for these ranks", HINT)
        return found

    def pattern(self, patterns: Sequence[Pattern]) -> Pattern:
        """Return the line's pattern as the source describes it, after checking its mode."""
        name, mode = (self._values.get(key, "") for key in ("pattern", "mode"))
        pattern_named = next((pattern for pattern in patterns if pattern.name == name), None)
        if pattern_named is None:
            raise UsageError(f"{self._where}: the pattern {name!r} is not described", HINT)
        if pattern_named.mode(mode) is None:
            raise UsageError(f"{self._where}: the mode {mode!r} of {name} is not described", HINT)
        return pattern_named


def _cell(line: _Line, ranks: int, source: KernelPlanSource, groups: Mapping[int, str]) -> Cell:
    pattern = line.pattern(source.patterns)
    pair = line.pair(ranks)
    chosen = line.selection(groups, source.chosen)
    values = {factor.name: line.value(factor) for factor in KERNEL_FACTORS}
    return msgspec.convert(
        {
            **values,
            **chosen._asdict(),
            "ranks": ranks,
            "mpi": "",
            "mpi_version": "",
            "buffers": "cold" if line.number("pool_bytes") else "warm",
            "window": line.number("window") if pattern.windowed else 0,
            "pair": pair,
            "pairing": pairing_of(source.plan) if pair else "",
        },
        Cell,
    )


def pairing_of(plan: Plan) -> Pairing | Literal[""]:
    """Return how the pairs of a plan for a single launch are measured: the same way for all."""
    return next((measure.pairs for measure in plan.measure if measure.pairs), "")
