"""The words in which `ip` and the relay are told of a lab's network."""

from mpigauge.plan import lab as plan
from mpigauge.plan.lab import Lab, Topology

INTERFACE = "eth0"
PREFIX_LENGTH = 24

PORT_CLASS = 0xFF
UNLIMITED_CLASS = 0
"""Of the queues of a host; cables have the number of the host at their other end. Class 0 is none: packets
leave at once."""

BURST_S = 1e-3
BURST_LEAST_BYTES = 3100
"""What may leave at once: less, and timers that are late would lower the rate."""

UNSEEN_BYTES = 24
"""Of framing, as in relay.c."""

QUANTUM_BYTES = 15140


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


def queue_words(topology: Topology, number: int) -> str:
    """What `tc -batch` reads on a host; empty if it sends as fast as can be.

    A network card takes packets no faster than it sends them, and makes those who send wait. The relay
    takes all at once. Without these queues of the same rates, what a host sends would pile up there, and
    answers to others behind it.
    """
    rates = {PORT_CLASS: topology.lanes[number - 1]}
    cables = {r.receiver: r.up for r in topology.routes if r.sender == number and r.up != number - 1}
    rates |= {receiver: topology.lanes[up] for receiver, up in cables.items()}
    if not any(rates.values()):
        return ""
    default = PORT_CLASS if rates[PORT_CLASS] else UNLIMITED_CLASS
    lines = [f"qdisc add dev {INTERFACE} root handle 1: htb default {default:x}"]
    lines += [_class(number, rate) for number, rate in rates.items() if rate]
    lines += [
        f"filter add dev {INTERFACE} parent 1: protocol ip u32 "
        f"match ip dst {plan.address(receiver)}/32 flowid 1:{queue:x}"
        for receiver in cables
        for queue in [receiver if rates[receiver] else UNLIMITED_CLASS]
    ]
    return "\n".join([*lines, ""])


def _class(number: int, bytes_per_s: float) -> str:
    burst = max(BURST_LEAST_BYTES, round(bytes_per_s * BURST_S))
    return (
        f"class add dev {INTERFACE} parent 1: classid 1:{number:x} htb rate {round(bytes_per_s)}bps "
        f"burst {burst} cburst {burst} overhead {UNSEEN_BYTES} quantum {QUANTUM_BYTES}"
    )


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
