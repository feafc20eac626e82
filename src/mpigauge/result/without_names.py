"""A result without names, to be posted: of hosts, users, folders, addresses, jobs, and values of variables.

FIELDS says of every text of a record what becomes of it. A text that it does not mention gets its default, so
that a new field tells nobody anything until somebody has thought of it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields, replace

from mpigauge.plan.hosts import NAME, Host
from mpigauge.plan.lab import Lab, Link, Port
from mpigauge.plan.lab import names as lab_names
from mpigauge.plan.left_out import LeftOut
from mpigauge.plan.model import Cell, JobKey, Measure, Plan
from mpigauge.plan.patterns import Mode, Pattern
from mpigauge.plan.patterns import known as known_patterns
from mpigauge.result.kernel_data import Card, CardTraffic, HostCards, Machine, RankPlace
from mpigauge.result.provenance import Environment, LibraryRecord
from mpigauge.result.records import (
    VERSION,
    Campaign,
    Difference,
    End,
    Failure,
    Imported,
    Launch,
    Record,
    Resumed,
    Unread,
    Visit,
)
from mpigauge.result.replacements import LEFT_OUT, LONGEST_NUMBER, Replacements
from mpigauge.vocabulary import DIFFERENT_HOSTS, SAME_HOST, UNKNOWN, WithoutChoice

Rule = Callable[[Replacements, Any], Any]
"""Function from the value of a field to its replacement."""

NAMES: WithoutChoice = "names"
"""Word in `without` of a campaign whose names were replaced."""

RULES_OF_PLACES = ("", SAME_HOST, DIFFERENT_HOSTS, UNKNOWN)

_HOST = re.compile(NAME, re.ASCII)
_BUILT = re.compile(r"[^:]*\b(configure|CC|CXX|F77|FC|[A-Z]*FLAGS|Custom Information)\b[^:]*", re.IGNORECASE)
"""Head of a line of MPI_Get_library_version with a command or the words of whoever built it."""


def _each(change: Callable[[Replacements, str], str]) -> Rule:
    """Return the rule of a text that changes it, or each of several, names in dicts included."""

    def changed(names: Replacements, value: Any) -> Any:
        match value:
            case str():
                return change(names, value)
            case tuple() | list():
                return type(value)(changed(names, one) for one in value)
            case dict():
                return {change(names, name): changed(names, one) for name, one in value.items()}
        return value

    return changed


def _as_it_is(_: Replacements, value: Any) -> Any:
    return value


@cache
def _words_of_the_kernel() -> frozenset[str]:
    """Return what the kernel says of patterns and modes, which is nobody's."""
    return frozenset(text for pattern in known_patterns().values() for text in _texts_in(pattern))


def _of_kernel(names: Replacements, text: str) -> str:
    return text if text in _words_of_the_kernel() else names.term(text)


def _place(names: Replacements, place: str) -> str:
    """Return a placement: hosts of ranks by name, or by their numbers."""
    if place in RULES_OF_PLACES:
        return place
    words = [word.strip() for word in place.split(",")]
    return ",".join(word if word.isdigit() else names.host(word) for word in words)


def _setting(names: Replacements, setting: str) -> str:
    """Return varied variables with their values."""
    assignments = (word.partition("=") for word in setting.split(" ") if word)
    return " ".join(f"{names.known(name)}={names.value(name, value)}" for name, _, value in assignments)


def _variables(names: Replacements, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables with their values, of which there may be several."""
    return {
        names.term(name): names.value(name, value)
        if isinstance(value, str)
        else tuple(names.value(name, one) for one in value)
        for name, value in values.items()
    }


def _of_modules(names: Replacements, values: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return what modules set, or removed."""
    return {
        names.variable(name): None if value is None else names.value(name, value)
        for name, value in values.items()
    }


def _parameter_files(names: Replacements, files: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    return {
        names.path(path): {
            names.term(name): names.words(value, LONGEST_NUMBER) for name, value in settings.items()
        }
        for path, settings in files.items()
    }


def _configuration(names: Replacements, texts: Mapping[str, str]) -> dict[str, str]:
    return {names.term(name): names.words(text) for name, text in texts.items()}


def _library_says(names: Replacements, text: str) -> str:
    """Return what a library says of itself, of its builder no more than options that many use."""
    return "\n".join(_line_of_library(names, line) for line in text.split("\n"))


def _line_of_library(names: Replacements, line: str) -> str:
    head, colon, rest = line.partition(":")
    if colon and _BUILT.fullmatch(head):
        return f"{names.text(head)}:{names.words(rest)}"
    return names.text(line)


def _source(names: Replacements, source: str) -> str:
    """Return a file and a line of it."""
    path, colon, line = source.partition(": line")
    return f"{names.path(path)}{colon}{names.text(line)}"


def _left_out(_: Replacements, text: str) -> str:
    return text and LEFT_OUT


KEPT = _each(Replacements.term)
"""Versions, models, units: what tells no name, but for names that are known from elsewhere in the result."""

SENTENCE = _each(Replacements.text)
COMMAND = _each(Replacements.words)
PATH = _each(Replacements.path)
HOST = _each(Replacements.host)
OF_KERNEL = _each(_of_kernel)
PLACE = _each(_place)
SETTING = _each(_setting)
CARD = _each(Replacements.card)
SOURCE = _each(_source)
UNSURE = _each(_left_out)
"""A text of other programs, in which any name may be."""


def _of(*groups: tuple[Rule, str]) -> Mapping[str, Rule]:
    """Return the rule of each field, of rules with the names of their fields."""
    return {name: rule for rule, names in groups for name in names.split()}


_OF_CELLS = (
    (OF_KERNEL, "pattern mode"),
    (KEPT, "mpi mpi_version transport label"),
    (PLACE, "placement"),
    (SETTING, "setting"),
    (_as_it_is, "datatype op root pair group groups order"),
)

FIELDS: Mapping[type[Struct], Mapping[str, Rule]] = {
    Campaign: _of((_as_it_is, "format started without"), (KEPT, "mpigauge commit")),
    Plan: _of(
        (SENTENCE, "title"),
        (COMMAND, "mpi launcher remote_shell mpi_options"),
        (PATH, "mpiexec"),
        (PLACE, "placements"),
        (HOST, "hosts_skipped"),
        (_variables, "variables vary"),
    ),
    Measure: _of((OF_KERNEL, "pattern modes"), (KEPT, "sizes datatypes ops"), (_as_it_is, "groups orders")),
    Host: _of((HOST, "name")),
    Lab: _of((KEPT, "rate delay")),
    Link: _of((KEPT, "between rate delay")),
    Port: _of((KEPT, "host rate delay")),
    LibraryRecord: _of(
        (KEPT, "name version standard built_by digest label wheel"),
        (PATH, "mpicc mpiexec kernel compiler other_mpicc"),
        (COMMAND, "mpicc_options show flags loaded_by"),
        (SENTENCE, "origin"),
        (UNSURE, "other_fault"),
        (_configuration, "configuration"),
        (_parameter_files, "parameter_files"),
        (_of_modules, "environment"),
    ),
    Pattern: _of((OF_KERNEL, "name about time_of sampling sizes_usual bus one_pair")),
    Mode: _of((OF_KERNEL, "name baseline instead_of about time_of sampling")),
    Cell: _of(*_OF_CELLS),
    JobKey: {name: rule for name, rule in _of(*_OF_CELLS).items() if name in JobKey.__struct_fields__},
    LeftOut: _of((SENTENCE, "reason hint")),
    Environment: _of(
        (HOST, "host"),
        (KEPT, "system kernel cpu cores_limit caches cpu_groups smt governor turbo huge_pages"),
        (KEPT, "clock_source hypervisor python"),
        (_variables, "variables"),
    ),
    Launch: _of(
        (_as_it_is, "started"),
        (COMMAND, "command reported options_found"),
        (_each(_library_says), "library"),
        (KEPT, "mpi_standard clock built_by"),
        (_variables, "variables"),
    ),
    RankPlace: _of((HOST, "host"), (KEPT, "cpus cores")),
    HostCards: _of((HOST, "hosts")),
    Card: _of((CARD, "name"), (SENTENCE, "speed"), (KEPT, "mtu driver firmware")),
    CardTraffic: _of((CARD, "card")),
    Machine: _of((HOST, "host"), (KEPT, "cpu kernel microcode online governor clock_source")),
    Visit: _of((SENTENCE, "corrupt")),
    Imported: _of((SENTENCE, "statistic"), (SOURCE, "source")),
    Unread: _of((SOURCE, "source"), (SENTENCE, "why"), (UNSURE, "words")),
    Failure: _of((UNSURE, "words")),
    End: _of((_as_it_is, "started")),
    Resumed: _of((_as_it_is, "started"), (KEPT, "mpigauge commit"), (HOST, "hosts")),
    Difference: _of((SENTENCE, "then now")),
}
"""Rules for the texts of records; words of a fixed list and numbers stay without one."""


def without_names(records: Sequence[Record | None]) -> Iterator[Record | None]:
    """Yield the records of a result with the same replacement for the same name everywhere in them.

    Numbers, samples and what was measured stay as they are.

    Args:
        records: The campaign first; None stands for a line that is damaged.
    """
    campaign = records[0]
    assert isinstance(campaign, Campaign)  # noqa: S101 - its reader says so
    names = _names_in(campaign, records)
    pass_ = _Pass(names)
    done = pass_.record(campaign)
    yield replace(done, version=VERSION, without=(NAMES,))
    for record in records[1:]:
        yield None if record is None else pass_.record(record)


def _names_in(campaign: Campaign, records: Iterable[Record | None]) -> Replacements:
    """Return all names that records say are some, hosts in the order of the plan."""
    lab = campaign.plan.lab
    names = Replacements(lab_names(lab) if lab else ())
    names.learn_hosts(_hosts_in(campaign, records))
    for record in records:
        if record is None or isinstance(record, Visit):
            continue
        for text in _texts_in(record):
            names.learn_users_of(text)
        match record:
            case Campaign() | Resumed():
                names.learn_values(record.environment.variables)
                for library in record.libraries:
                    names.learn_values(library.environment)
            case Launch():
                names.learn_values(record.variables)
    names.learn_values(campaign.plan.variables)
    return names


def _hosts_in(campaign: Campaign, records: Iterable[Record | None]) -> Iterator[str]:
    plan = campaign.plan
    yield from (host.name for host in plan.hosts)
    for place in (*plan.placements, *dict.fromkeys(cell.placement for cell in campaign.cells)):
        yield from _named_by(place)
    yield from plan.hosts_skipped
    yield campaign.environment.host
    for record in records:
        match record:
            case Launch():
                yield from _named_by(record.job.placement)
                yield from (place.host for place in record.ranks_at)
                yield from (machine.host for machine in record.machines)
                for group in record.cards:
                    yield from group.hosts
            case Resumed():
                yield from record.hosts
                yield record.environment.host
                for change in record.differs:
                    if change.what.startswith("host"):
                        yield from _HOST.findall(f"{change.then} {change.now}")


def _named_by(place: str) -> Iterator[str]:
    """Yield the hosts that a placement names."""
    if place not in RULES_OF_PLACES:
        words = (word.strip() for word in place.split(","))
        yield from (word for word in words if not word.isdigit())


def _texts_in(value: Any) -> Iterator[str]:
    """Yield all texts of a value but those of visits."""
    match value:
        case str():
            yield value
        case Struct():
            for field in value.__struct_fields__:
                yield from _texts_in(getattr(value, field))
        case dict():
            for name, one in value.items():
                yield from _texts_in(name)
                yield from _texts_in(one)
        case tuple() | list() if value and not isinstance(value[0], int | float):
            for one in value:
                yield from _texts_in(one)


class TextField(NamedTuple):
    """A field of a record with a text in it, itself or in a record of its own.

    Attributes:
        has_text: Whether it has one itself.
        default: Its value if it has none; None where it must have one.
    """

    name: str
    has_text: bool
    default: Any


@cache
def text_fields(kind: type[Struct]) -> tuple[TextField, ...]:
    """Return the fields of a type of record with texts other than words of a fixed list."""
    found = []
    for field in fields(kind):
        has_text = _has_text(field.type)
        if has_text or any(map(text_fields, _records_in(field.type))):
            factory = field.default_factory
            default = factory() if factory is not NODEFAULT else field.default
            found.append(TextField(field.name, has_text, default))
    return tuple(found)


def _parts_of(kind: Any) -> tuple[Any, ...]:
    return get_args(kind)[:1] if get_origin(kind) is Annotated else get_args(kind)


def _has_text(kind: Any) -> bool:
    return kind is str or (get_origin(kind) is not Literal and any(map(_has_text, _parts_of(kind))))


def _records_in(kind: Any) -> Iterator[type[Struct]]:
    """Yield the types of records that are in the value of a field."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
    elif get_origin(kind) is not Literal:
        for part in _parts_of(kind):
            yield from _records_in(part)


class _Pass:
    """The replacement of names, cell by cell and record by record.

    Args:
        names: What stands for what.
    """

    def __init__(self, names: Replacements) -> None:
        self._names = names
        self._alike: dict[Struct, Struct] = {}  # cells and places, of which there are few

    def record(self, record: Any) -> Any:
        """Return a record without names."""
        if isinstance(record, Cell | JobKey | RankPlace):
            if (known := self._alike.get(record)) is None:
                known = self._alike[record] = self._changed(record)
            return known
        return self._changed(record)

    def _changed(self, record: Struct) -> Struct:
        kind = type(record)
        rules = FIELDS.get(kind, {})
        changes = {}
        for name, has_text, default in text_fields(kind):
            value = getattr(record, name)
            if rule := rules.get(name):
                changes[name] = rule(self._names, value)
            elif has_text:
                changes[name] = "" if default is NODEFAULT else default
            else:
                changes[name] = self._inside(value)
        return replace(record, **changes) if changes else record

    def _inside(self, value: Any) -> Any:
        match value:
            case Struct():
                return self.record(value)
            case tuple() | list():
                return type(value)(map(self._inside, value))
            case dict():
                return {name: self._inside(one) for name, one in value.items()}
        return value
