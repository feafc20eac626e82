"""Whether two results are of one machine, measured in one way, and how their libraries were built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.result.environment import split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.compare.pairs import Pair
    from mpigauge.plan.model import Cell
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.result.reader import Result
    from mpigauge.result.records import Campaign


PLACES = ("--prefix", "--exec-prefix", "--sysconfdir", "--localstatedir", "--mandir", "-ffile-prefix-map")
"""Options that name where files are: two builds never share them."""


@dataclass(frozen=True, slots=True)
class Builds:
    """Two builds of one kind of library that were configured differently.

    Attributes:
        base: The library of the comparison's base.
        only_base: Words of its configuration that the other has not, in their order.
        only_other: Words that only the other has.
    """

    base: LibraryRecord
    other: LibraryRecord
    only_base: tuple[str, ...]
    only_other: tuple[str, ...]


def builds_that_differ(
    pairs: Iterable[Pair], base: Iterable[LibraryRecord], other: Iterable[LibraryRecord]
) -> list[Builds]:
    """Return pairs of compared builds of one kind whose known configurations differ.

    Args:
        base: The libraries of the result that has the base of each pair.
        other: Those of the result that has the other.
    """
    first, second = ({(one.name, one.version, one.label): one for one in known} for known in (base, other))
    compared = dict.fromkeys((_library(pair.base.cell), _library(pair.other.cell)) for pair in pairs)
    known = ((first.get(base_key), second.get(other_key)) for base_key, other_key in compared)
    builds = (_builds(one, two) for one, two in known if one and two and one.name == two.name)
    return [one for one in builds if one.only_base or one.only_other]


def _library(cell: Cell) -> tuple[str, str, str]:
    return cell.mpi, cell.mpi_version, cell.label


def _builds(base: LibraryRecord, other: LibraryRecord) -> Builds:
    """Return the configuration words that only one of them has; none if one of them is unknown."""
    base_words, other_words = _words(base), _words(other)
    if not base_words or not other_words:
        return Builds(base, other, (), ())
    only_base = tuple(word for word in base_words if word not in other_words)
    return Builds(base, other, only_base, tuple(word for word in other_words if word not in base_words))


def _words(library: LibraryRecord) -> list[str]:
    """Return the configuration words of a library, each once, without installation paths."""
    words = (word for line in library.configuration.values() for word in split_words(line))
    return [word for word in dict.fromkeys(words) if not word.startswith(PLACES)]


def differences(base: Result, other: Result) -> list[str]:
    """Return what differs between the machines and instruments of two results.

    Versions of the system and of libraries may differ: they are what is compared. The machine of imported
    numbers is unknown, and the mpigauge that imported them did not measure them.
    """
    return differing_facts(*({**_instrument(result), **machine_of(result)} for result in (base, other)))


def _instrument(result: Result) -> dict[str, str]:
    """Return the version of mpigauge that measured a result; empty for imported results."""
    return {} if result.imported and not result.launches else {"mpigauge": result.campaign.mpigauge}


def differing_facts(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Return the facts that both know and that differ, each with both values."""
    return [f"{what} {first[what]}, {second[what]}" for what in differing_names(first, second)]


def differing_names(first: Mapping[str, str], second: Mapping[str, str]) -> list[str]:
    """Return the names of the facts that both know and that differ."""
    return [what for what in first if what in second and first[what] != second[what]]


def machine_of(result: Result) -> dict[str, str]:
    """Return what identifies a machine, and the clock it was measured by; without unknown facts."""
    clocks = ",".join(sorted({launch.clock for launch in result.launches}))
    return machine_asked(result.campaign) | ({"clock": clocks} if clocks else {})


def machine_asked(campaign: Campaign) -> dict[str, str]:
    """Return what identifies the machine of a campaign before any launch; without unknown facts."""
    environment = campaign.environment
    facts = {
        "host": ",".join(host.name for host in campaign.plan.hosts) or environment.host,
        "processor": environment.cpu,
        "cores": str(environment.cores or ""),
    }
    return {name: value for name, value in facts.items() if value}
