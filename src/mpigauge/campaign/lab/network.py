"""Input for `ip`, `tc` and the relay that describes a lab's network."""

from mpigauge.plan import lab as plan
from mpigauge.plan.lab import Lab, Topology

INTERFACE = "eth0"
PREFIX_LENGTH = 24

PORT_CLASS = 0xFF
UNLIMITED_CLASS = 0
"""Classes of a host's queues; a cable's class is the number of the host at its other end. Class 0 is no
queue: packets leave at once."""

BURST_S = 1e-3
MIN_BURST_BYTES = 3100
"""Bytes that may leave at once: with less, late timers would lower the rate."""

UNSEEN_BYTES = 24
"""Bytes of framing per packet, as in relay.c."""

QUANTUM_BYTES = 15140


def port(number: int) -> str:
    """Return the name of the other end of a host's interface, which the relay reads."""
    return f"p{number}"


def hardware_address(number: int) -> str:
    """Return the hardware address of a host's interface; the relay finds the host by its last byte."""
    return f"02:00:0a:4d:00:{number:02x}"


def host_words(lab: Lab, number: int) -> str:
    """Return the input of `ip -batch` in the network namespace of a host.

    Neighbours are set in advance, so that no sample contains an ARP request.
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
    """Return the input of `tc -batch` on a host; empty if its rate has no limit.

    A network card accepts packets no faster than it sends them, and makes senders wait. The relay accepts
    all at once. Without these queues of the same rates, packets of a host would pile up in the relay, with
    answers to other hosts queued behind them.
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
    burst = max(MIN_BURST_BYTES, round(bytes_per_s * BURST_S))
    return (
        f"class add dev {INTERFACE} parent 1: classid 1:{number:x} htb rate {round(bytes_per_s)}bps "
        f"burst {burst} cburst {burst} overhead {UNSEEN_BYTES} quantum {QUANTUM_BYTES}"
    )


def switch_words(lab: Lab) -> str:
    """Return the input of `ip -batch` in the network namespace of the relay."""
    return "".join(f"link set {port(number)} up\n" for number in range(1, lab.hosts + 1))


def relay_words(lab: Lab, topology: Topology) -> str:
    """Return the input of the relay, as relay.c describes it."""
    lines = [f"hosts {lab.hosts}"]
    lines += [f"lane {rate!r}" for rate in topology.lanes]
    lines += [
        f"route {route.sender} {route.receiver} {route.up} {route.down} {round(route.delay_s * 1e9)}"
        for route in topology.routes
    ]
    return "\n".join([*lines, "end", ""])


def hosts_file(lab: Lab) -> str:
    """Return the content of /etc/hosts, the same on all hosts."""
    lines = ["127.0.0.1 localhost"]
    lines += [f"{plan.address(number)} {name}" for number, name in enumerate(plan.names(lab), 1)]
    return "\n".join([*lines, ""])
