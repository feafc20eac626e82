"""What the hosts of a result differ in, and its sentences: the first thing to know of a slow one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.result.kernel_data import Card, Machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.result.reader import Result

MACHINE_FACTS = tuple(name for name in Machine.__struct_fields__ if name != "host")
CARD_FACTS = tuple(name for name in Card.__struct_fields__ if name not in {"name", "kind", "counted"})
CARDS = "cards"
"""Which cards there are: a fact of the machine."""

MEMORY = "memory_bytes"
MEMORY_ALIKE = 0.02
"""Equal memory modules leave a little more or less, by what firmware and kernel reserve."""

Value = str | int


@dataclass(frozen=True, slots=True)
class HostDifference:
    """A fact in which the hosts differ.

    Attributes:
        fact: Its name: a field of `Machine` or `Card`, or CARDS.
        card: The network card that it is of; empty if it is of the machine.
        values: Every value with its hosts, the most frequent first; empty or 0 is what a system does not say.
    """

    fact: str
    card: str
    values: tuple[tuple[Value, tuple[str, ...]], ...]

    @property
    def usual(self) -> Value | None:
        """Value of more than half of the hosts; None if there is none."""
        value, hosts = self.values[0]
        return value if 2 * len(hosts) > sum(len(its_hosts) for _, its_hosts in self.values) else None

    @property
    def outliers(self) -> tuple[str, ...]:
        """Hosts without the usual value; empty if there is no usual value."""
        return () if self.usual is None else tuple(host for _, hosts in self.values[1:] for host in hosts)


def hosts_differ(result: Result) -> tuple[HostDifference, ...]:
    """Return the facts in which hosts differ, over all launches; emulated hosts are one machine."""
    if result.campaign.plan.lab is not None:
        return ()
    machines = {machine.host: machine for launch in result.launches for machine in launch.machines}
    cards = {
        host: group.cards for launch in result.launches for group in launch.cards for host in group.hosts
    }
    facts = _of_machines(machines) | _of_cards({host: cards.get(host, ()) for host in machines})
    return tuple(difference for key, said in facts.items() for difference in _differing(key, said))


def _of_machines(machines: Mapping[str, Machine]) -> dict[tuple[str, str], dict[str, Value]]:
    """Return the value on every host of each fact that is of no card."""
    facts: dict[tuple[str, str], dict[str, Value]] = {
        (name, ""): {host: getattr(machine, name) for host, machine in machines.items()}
        for name in MACHINE_FACTS
    }
    facts[MEMORY, ""] = dict(_rounded(facts[MEMORY, ""]))
    return facts


def _rounded(memory: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """Yield sizes rounded to the smallest one that they hardly exceed."""
    least = 0
    for host, size in sorted(memory.items(), key=lambda item: int(item[1])):
        if int(size) > least * (1 + MEMORY_ALIKE):
            least = int(size)
        yield host, least


def _of_cards(cards: Mapping[str, Sequence[Card]]) -> dict[tuple[str, str], dict[str, Value]]:
    """Return the value on every host of each fact of real cards: containers have others on each host."""
    real = {host: {card.name: card for card in own if card.driver} for host, own in cards.items()}
    facts: dict[tuple[str, str], dict[str, Value]] = {
        (CARDS, ""): {host: ", ".join(sorted(own)) for host, own in real.items()}
    }
    for name in sorted({name for own in real.values() for name in own}):
        for fact in CARD_FACTS:
            facts[fact, name] = {host: getattr(own[name], fact) for host, own in real.items() if name in own}
    return facts


def _differing(key: tuple[str, str], said: Mapping[str, Value]) -> Iterable[HostDifference]:
    hosts: defaultdict[Value, list[str]] = defaultdict(list)
    for host, value in said.items():
        hosts[value].append(host)
    if len(hosts) > 1:
        values = sorted(hosts.items(), key=lambda item: (-len(item[1]), str(item[0])))
        yield HostDifference(*key, tuple((value, tuple(its_hosts)) for value, its_hosts in values))


# ---- Sentences -----------------------------------------------------------------------------------

FACTS: Mapping[str, str] = {
    "cpu": "processor",
    "kernel": "kernel release",
    "cache_bytes": "largest cache",
    "memory_bytes": "memory",
    "microcode": "microcode",
    "online": "processors online",
    "governor": "frequency governor",
    "clock_source": "clock source",
    "cards": "network cards",
    "speed": "speed",
    "mtu": "MTU",
    "driver": "driver",
    "firmware": "firmware",
}
"""What facts are called."""

NOT_SAID = "not visible"
NAMES_SHOWN = 6


def fact_words(difference: HostDifference) -> str:
    """Return what differs: "MTU of eth0"."""
    return f"{FACTS[difference.fact]} of {difference.card}" if difference.card else FACTS[difference.fact]


def value_words(difference: HostDifference, value: Value) -> str:
    """Return a value as a person reads it."""
    if not value:
        return "none" if difference.fact == "cards" else NOT_SAID
    return units.format_size(value) if isinstance(value, int) else value


def names(hosts: Sequence[str]) -> str:
    """Return names of hosts, as many as a line has room for."""
    more = len(hosts) - NAMES_SHOWN
    return ", ".join(hosts) if more <= 1 else f"{', '.join(hosts[:NAMES_SHOWN])} and {more} more"


def values_words(difference: HostDifference) -> str:
    """Return which hosts have which value: "9000 on 15 of 16, 1500 on h3"."""
    total = sum(len(hosts) for _, hosts in difference.values)
    said = []
    for place, (value, hosts) in enumerate(difference.values):
        where = f"{len(hosts)} of {total}" if place == 0 and difference.usual is not None else names(hosts)
        said.append(f"{value_words(difference, value)} on {where}")
    return ", ".join(said)


def sentence(difference: HostDifference) -> str:
    """Return "hosts differ: MTU of eth0: 9000 on 15 of 16, 1500 on h3"."""
    return f"hosts differ: {fact_words(difference)}: {values_words(difference)}"
