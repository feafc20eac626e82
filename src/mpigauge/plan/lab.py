"""Emulated hosts: the `[lab]` table of a plan, and the network that it describes.

Every host has a port with two lanes, to the switch and from it. A packet passes through the lane up of
its sender and the lane down of its receiver, one packet after another, and then waits for the delay of
its route. A pair with a rate of its own has a cable of its own, with two lanes per direction, that
bypasses the switch.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import permutations
from typing import Annotated

from msgspec import Meta, Struct

from mpigauge import units
from mpigauge.errors import UsageError
from mpigauge.plan.strings import ShortText

MAX_HOSTS = 64
MAX_DELAY_S = 10.0
MIN_RATE = 1000 / 8
MAX_RATE = 1e12 / 8
NO_LIMIT = "none"

HEADERS_BYTES = 52 + 38
"""Headers of a packet: IP and TCP with time stamps; preamble, Ethernet header, checksum and gap."""

TCP_SHARE = 1448 / 1538
"""Share of a rate that is TCP payload, in frames of 1500 B with time stamps."""

_HOST = re.compile(r"h([1-9][0-9]?)")
_PAIR = re.compile(r"(h[1-9][0-9]?)-(h[1-9][0-9]?)")
_NO_DELAY = re.compile(r"0+(\.0+)?\s*(ns|us|ms|s)?")


class Link(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A pair of hosts with other properties than the rest, in both directions.

    Attributes:
        between: The two hosts: "h1-h3".
        rate: Rate of a cable between them; None means that they use their ports, as others do.
        delay: One-way delay; None means that of the lab.
    """

    between: ShortText
    rate: ShortText | None = None
    delay: ShortText | None = None


class Port(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A host whose port differs from the others.

    Attributes:
        rate: Rate of its port, in both directions; None means that of the lab.
        delay: Delay added to all packets that it sends or receives.
    """

    host: ShortText
    rate: ShortText | None = None
    delay: ShortText | None = None


class Lab(Struct, frozen=True, forbid_unknown_fields=True):
    """Emulated hosts h1, h2 … at 10.77.0.1, 10.77.0.2 … on one switch.

    Attributes:
        rate: Rate of every port: "100mbit", "1gbit", or "none" for no limit.
        delay: One-way delay, in addition to transmission time.
    """

    hosts: Annotated[int, Meta(ge=1, le=MAX_HOSTS)] = 2
    rate: ShortText = "1gbit"
    delay: ShortText = "20us"
    links: tuple[Link, ...] = ()
    ports: tuple[Port, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """The route of packets from one host to another.

    Attributes:
        sender: Number of the sending host, from 1.
        receiver: Number of the receiving host, from 1.
        up: Number of the first lane, from 0.
        down: Number of the second lane, from 0.
    """

    sender: int
    receiver: int
    up: int
    down: int
    delay_s: float


@dataclass(slots=True)
class Topology:
    """All lanes and routes of a lab.

    Attributes:
        lanes: Rate of each lane in bytes per second; 0 means no limit.
    """

    lanes: list[float] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)

    def add_lane(self, bytes_per_s: float) -> int:
        """Add a lane; return its number."""
        self.lanes.append(bytes_per_s)
        return len(self.lanes) - 1


def names(lab: Lab) -> tuple[str, ...]:
    """Return the names of the hosts: h1, h2 and so on."""
    return tuple(f"h{number}" for number in range(1, lab.hosts + 1))


def address(number: int) -> str:
    """Return the IP address of a host; numbers begin with 1."""
    return f"10.77.0.{number}"


def topology(lab: Lab, where: str) -> Topology:
    """Return the lanes and routes that a lab describes.

    Args:
        where: The source named in errors: the file, or "the command line".

    Raises:
        UsageError: A host does not exist, is named twice, or a word is not a rate or delay.
    """
    ports, links = _ports(lab, where), _links(lab, where)
    whole = Topology()
    rates = {number: _rate(port.rate or lab.rate, where) for number, port in ports.items()}
    extra_s = {number: _delay_s(port.delay or "0", where) for number, port in ports.items()}
    up = {number: whole.add_lane(rate) for number, rate in rates.items()}
    down = {number: whole.add_lane(rate) for number, rate in rates.items()}
    for sender, receiver in permutations(ports, 2):
        link = links.get(frozenset((sender, receiver)), Link(""))
        lanes = up[sender], down[receiver]
        if link.rate:
            rate = _rate(link.rate, where)
            lanes = whole.add_lane(rate), whole.add_lane(rate)
        delay_s = _delay_s(link.delay or lab.delay, where) + extra_s[sender] + extra_s[receiver]
        whole.routes.append(Route(sender, receiver, *lanes, delay_s))
    return whole


def least_delay_s(lab: Lab, hosts: Collection[str] = ()) -> float:
    """Return the shortest delay between two of these hosts, one way.

    Args:
        hosts: Names of hosts; anything but two hosts of the lab, such as a rule, means all hosts.

    Raises:
        UsageError: A word of the lab is invalid.
    """
    routes = topology(lab, "the lab").routes
    host_names = names(lab)
    between = [
        route
        for route in routes
        if {host_names[route.sender - 1], host_names[route.receiver - 1]} <= {*hosts}
    ]
    return min((route.delay_s for route in between or routes), default=0.0)


def _ports(lab: Lab, where: str) -> dict[int, Port]:
    """Return the ports of all hosts, by their numbers."""
    ports: dict[int, Port] = {}
    for port in lab.ports:
        number = _number(port.host, lab, where)
        if number in ports:
            raise UsageError(f"{where}: the port of {port.host} is described twice", "describe it once")
        ports[number] = port
    return {number: ports.get(number, Port("")) for number in range(1, lab.hosts + 1)}


def _links(lab: Lab, where: str) -> dict[frozenset[int], Link]:
    links: dict[frozenset[int], Link] = {}
    for link in lab.links:
        match = _PAIR.fullmatch(link.between)
        if match is None or match[1] == match[2]:
            raise UsageError(f"{where}: {link.between!r} is not a pair of hosts", "write two hosts: h1-h3")
        pair = frozenset(_number(name, lab, where) for name in match.groups())
        if pair in links:
            raise UsageError(f"{where}: the link {link.between} is described twice", "describe it once")
        links[pair] = link
    return links


def _number(name: str, lab: Lab, where: str) -> int:
    match = _HOST.fullmatch(name)
    if match is None or int(match[1]) > lab.hosts:
        last = f" to h{lab.hosts}" if lab.hosts > 1 else ""
        raise UsageError(f"{where}: the lab has no host {name!r}", f"its hosts are h1{last}")
    return int(match[1])


def _rate(text: str, where: str) -> float:
    if text.strip() == NO_LIMIT:
        return 0.0
    rate = _parsed(units.parse_link_rate, text, where)
    if not MIN_RATE <= rate <= MAX_RATE:
        raise UsageError(f"{where}: a rate of {text} is out of range", "use 1kbit to 1000gbit, or none")
    return rate


def _delay_s(text: str, where: str) -> float:
    if _NO_DELAY.fullmatch(text.strip()):
        return 0.0
    if text.strip()[-1:].isdigit():
        raise UsageError(
            f"{where}: a delay of {text} has no unit", f"write {text.strip()}us or {text.strip()}ms"
        )
    seconds = _parsed(units.parse_duration, text, where)
    if seconds > MAX_DELAY_S:
        raise UsageError(f"{where}: a delay of {text} is {seconds:g} s, too long for a lab", "use 0us to 10s")
    return seconds


def _parsed(parse: Callable[[str], float], text: str, where: str) -> float:
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error.sentence}", error.hint) from None
