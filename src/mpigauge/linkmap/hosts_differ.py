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
"""The same modules leave a little more or less, by what the firmware and the kernel keep for themselves."""

Value = str | int


@dataclass(frozen=True, slots=True)
class HostDifference:
    """A fact that not all hosts have alike.

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
        """The value of more than half of the hosts; None if there is none."""
        value, hosts = self.values[0]
        return value if 2 * len(hosts) > sum(len(mine) for _, mine in self.values) else None

    @property
    def outliers(self) -> tuple[str, ...]:
        """Hosts that have another value than most; none if no value is that of most."""
        return () if self.usual is None else tuple(host for _, hosts in self.values[1:] for host in hosts)


def hosts_differ(result: Result) -> tuple[HostDifference, ...]:
    """Holds the hosts of all launches against each other; emulated hosts are one machine, and alike."""
    if result.campaign.plan.lab is not None:
        return ()
    machines = {machine.host: machine for launch in result.launches for machine in launch.machines}
    cards = {
        host: group.cards for launch in result.launches for group in launch.cards for host in group.hosts
    }
    facts = _of_machines(machines) | _of_cards({host: cards.get(host, ()) for host in machines})
    return tuple(one for key, said in facts.items() for one in _differing(key, said))


def _of_machines(machines: Mapping[str, Machine]) -> dict[tuple[str, str], dict[str, Value]]:
    """By fact, and by nothing as these are of no card, its value on every host."""
    facts: dict[tuple[str, str], dict[str, Value]] = {
        (name, ""): {host: getattr(machine, name) for host, machine in machines.items()}
        for name in MACHINE_FACTS
    }
    facts[MEMORY, ""] = dict(_rounded(facts[MEMORY, ""]))
    return facts


def _rounded(memory: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """Every size as the smallest one that it is hardly larger than."""
    least = 0
    for host, size in sorted(memory.items(), key=lambda item: int(item[1])):
        if int(size) > least * (1 + MEMORY_ALIKE):
            least = int(size)
        yield host, least


def _of_cards(cards: Mapping[str, Sequence[Card]]) -> dict[tuple[str, str], dict[str, Value]]:
    """The same of all cards that are real: containers have interfaces of their own on each host."""
    real = {host: {card.name: card for card in mine if card.driver} for host, mine in cards.items()}
    facts: dict[tuple[str, str], dict[str, Value]] = {
        (CARDS, ""): {host: ", ".join(sorted(mine)) for host, mine in real.items()}
    }
    for name in sorted({name for mine in real.values() for name in mine}):
        for fact in CARD_FACTS:
            facts[fact, name] = {
                host: getattr(mine[name], fact) for host, mine in real.items() if name in mine
            }
    return facts


def _differing(key: tuple[str, str], said: Mapping[str, Value]) -> Iterable[HostDifference]:
    hosts: defaultdict[Value, list[str]] = defaultdict(list)
    for host, value in said.items():
        hosts[value].append(host)
    if len(hosts) > 1:
        values = sorted(hosts.items(), key=lambda item: (-len(item[1]), str(item[0])))
        yield HostDifference(*key, tuple((value, tuple(mine)) for value, mine in values))


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


def fact_words(one: HostDifference) -> str:
    """What differs: "MTU of eth0"."""
    return f"{FACTS[one.fact]} of {one.card}" if one.card else FACTS[one.fact]


def value_words(one: HostDifference, value: Value) -> str:
    """A value, as a person reads it."""
    if not value:
        return "none" if one.fact == "cards" else NOT_SAID
    return units.format_size(value) if isinstance(value, int) else value


def names(hosts: Sequence[str]) -> str:
    """Names of hosts, as far as a line has room for them."""
    more = len(hosts) - NAMES_SHOWN
    return ", ".join(hosts) if more <= 1 else f"{', '.join(hosts[:NAMES_SHOWN])} and {more} more"


def values_words(one: HostDifference) -> str:
    """Who has which value: "9000 on 15 of 16, 1500 on h3"."""
    total = sum(len(hosts) for _, hosts in one.values)
    said = []
    for place, (value, hosts) in enumerate(one.values):
        where = f"{len(hosts)} of {total}" if place == 0 and one.usual is not None else names(hosts)
        said.append(f"{value_words(one, value)} on {where}")
    return ", ".join(said)


def sentence(one: HostDifference) -> str:
    """A difference, with who has which value: "hosts differ: MTU of eth0: 9000 on 15 of 16, 1500 on h3"."""
    return f"hosts differ: {fact_words(one)}: {values_words(one)}"
