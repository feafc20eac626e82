"""Whether two results are of one machine, measured in one way, and how their libraries were built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.result.environment import split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mpigauge.compare.pairs import Pair
    from mpigauge.plan.model import Cell
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.result.reader import Result


PLACES = ("--prefix", "--exec-prefix", "--sysconfdir", "--localstatedir", "--mandir", "-ffile-prefix-map")
"""Words that say where files are: two builds never have the same."""


@dataclass(frozen=True, slots=True)
class Builds:
    """Two builds of one kind of library that were configured otherwise.

    Attributes:
        base: The library that the other is held against.
        only_base: Words of its configuration that the other has not, in their order.
        only_other: Words that only the other has.
    """

    base: LibraryRecord
    other: LibraryRecord
    only_base: tuple[str, ...]
    only_other: tuple[str, ...]


def unlike_builds(
    pairs: Iterable[Pair], base: Iterable[LibraryRecord], other: Iterable[LibraryRecord]
) -> list[Builds]:
    """Libraries of one kind that are held against each other, and of which both say how they were configured.

    Args:
        base: The libraries of the result that has the base of each pair.
        other: Those of the result that has the other.
    """
    first, second = ({(one.name, one.version, one.label): one for one in known} for known in (base, other))
    found = dict.fromkeys((_library(pair.base.cell), _library(pair.other.cell)) for pair in pairs)
    known = ((first.get(mine), second.get(others)) for mine, others in found)
    builds = (_builds(one, two) for one, two in known if one and two and one.name == two.name)
    return [one for one in builds if one.only_base or one.only_other]


def _library(cell: Cell) -> tuple[str, str, str]:
    return cell.mpi, cell.mpi_version, cell.label


def _builds(base: LibraryRecord, other: LibraryRecord) -> Builds:
    """What each has alone; nothing if one of them does not say."""
    mine, others = _words(base), _words(other)
    if not mine or not others:
        return Builds(base, other, (), ())
    only_base = tuple(word for word in mine if word not in others)
    return Builds(base, other, only_base, tuple(word for word in others if word not in mine))


def _words(library: LibraryRecord) -> list[str]:
    """Of all lines, each once, without those that say where it was installed."""
    words = (word for line in library.configuration.values() for word in split_words(line))
    return [word for word in dict.fromkeys(words) if not word.startswith(PLACES)]


def differences(base: Result, other: Result) -> list[str]:
    """In what they differ; versions of the system and of libraries may, and are what is compared.

    Of imported numbers no machine is known, and whoever imported them has not measured them.
    """
    return apart(*({**_instrument(one), **machine_of(one)} for one in (base, other)))


def _instrument(result: Result) -> dict[str, str]:
    """The version that measured it, if one did."""
    return {} if result.imported and not result.launches else {"mpigauge": result.campaign.mpigauge}


def apart(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """What both know and is not the same, with both values."""
    return [f"{what} {first[what]}, {second[what]}" for what in changed(first, second)]


def changed(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """The names of what both know and is not the same."""
    return [what for what in first if what in second and first[what] != second[what]]


def machine_of(result: Result) -> dict[str, str]:
    """What a machine is, and the clock that it was measured by; without what is not known."""
    return {name: value for name, value in _named(result) if value}


def _named(result: Result) -> Iterator[tuple[str, str]]:
    campaign = result.campaign
    here = campaign.environment
    yield "host", ",".join(host.name for host in campaign.plan.hosts) or here.host
    yield "processor", here.cpu
    yield "cores", str(here.cores or "")
    yield "clock", ",".join(sorted({launch.clock for launch in result.launches}))
