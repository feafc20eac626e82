"""The words in which `ip` and the relay are told of a lab's network."""

from mpigauge.plan import lab as plan
from mpigauge.plan.lab import Lab, Topology

INTERFACE = "eth0"
PREFIX_LENGTH = 24


def port(number: int) -> str:
    """The other end of a host's interface, which the relay reads."""
    return f"p{number}"


def hardware_address(number: int) -> str:
    """Of a host's interface; the relay finds the host by the last byte."""
    return f"02:00:0a:4d:00:{number:02x}"


def host_words(lab: Lab, number: int) -> str:
    """What `ip -batch` reads in the network namespace of a host.

    Neighbours are known from the beginning, so that no sample contains a question for an address.
    """
    lines = [
        "link set lo up",
        f"link add {INTERFACE} address {hardware_address(number)} type veth peer name {port(number)} netns 1",
        f"address add {plan.address(number)}/{PREFIX_LENGTH} dev {INTERFACE}",
        f"link set {INTERFACE} up",
    ]
    known = f"dev {INTERFACE} nud permanent"
    lines += [
        f"neighbour replace {plan.address(other)} lladdr {hardware_address(other)} {known}"
        for other in range(1, lab.hosts + 1)
        if other != number
    ]
    return "\n".join([*lines, ""])


def switch_words(lab: Lab) -> str:
    """What `ip -batch` reads in the network namespace of the relay."""
    return "".join(f"link set {port(number)} up\n" for number in range(1, lab.hosts + 1))


def relay_words(lab: Lab, topology: Topology) -> str:
    """What the relay reads; relay.c says what it means."""
    lines = [f"hosts {lab.hosts}"]
    lines += [f"lane {rate!r}" for rate in topology.lanes]
    lines += [
        f"route {route.sender} {route.receiver} {route.up} {route.down} {round(route.delay_s * 1e9)}"
        for route in topology.routes
    ]
    return "\n".join([*lines, "end", ""])


def hosts_file(lab: Lab) -> str:
    """/etc/hosts, the same on all hosts."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{plan.address(number)} {name}" for number, name in enumerate(plan.names(lab), 1)]
    return "\n".join([*lines, ""])
