"""What the relay does to packets, against what the rates and delays of its links must make true."""

from __future__ import annotations

import json
import statistics
import subprocess
from operator import itemgetter
from typing import TYPE_CHECKING

import pytest

from tests.real.lab.conftest import client
from tests.truth import check, truth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.real.lab.conftest import Lab

pytestmark = pytest.mark.lab

FRAMING_BYTES = 38
"""Preamble, Ethernet header, check sum and gap."""

IP_BYTES = 1500
PAYLOAD_BYTES = 1500 - 20 - 20 - 12
"""Behind the headers of IP and of TCP with time stamps."""

SMALL_PACKET_BYTES = 8 + 20 + 20 + 12 + FRAMING_BYTES
PINGS = 300
MBIT = 1e6 / 8


COUNTERS = 'od -An -v -w8 -tu8 $(sed \'s/.*"counters":"//; s/".*//\' $MPIGAUGE_LAB)'
"""Prints what the relay has counted: packets brought, late and dropped, and the latest."""

LATE_COSTS = 5
"""A late packet makes TCP wait: a hundredth of them costs a twentieth of the rate, at most."""

ON_TIME = 0.01
SHOWS_NOTHING = 0.05
"""Shares of late packets: below one a link is as it was asked for, above the other it can be anything."""

ATTEMPTS = 4
"""Machines stall for seconds: a link is judged by the attempt in which its relay was late least."""


def payload_rate(mbit: float) -> float:
    """Bytes per second that TCP can bring through a link."""
    return mbit * MBIT * PAYLOAD_BYTES / (IP_BYTES + FRAMING_BYTES)


def numbers(lab: Lab, script: str, *options: str, user: str | None = None) -> list[float]:
    done = lab("sh", "-c", script, options=options, **({"user": user} if user else {}))
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.splitlines()]


def on_time(measure: Callable[[], str]) -> tuple[list[str], float]:
    """The lines before the relay's counters in the best attempt, and what its late packets may have cost.

    Skips the test if the machine never let the relay keep up: then no rate says anything of the link.
    """
    found = []
    for _ in range(ATTEMPTS):
        *lines, forwarded, late, _, _ = measure().splitlines()
        found.append((lines, int(late) / int(forwarded)))
        if found[-1][1] < ON_TIME:
            break
    lines, late_share = min(found, key=itemgetter(1))
    if late_share > SHOWS_NOTHING:
        pytest.skip(f"the relay was late with {late_share:.0%} of its packets in the best of {ATTEMPTS} runs")
    return lines, LATE_COSTS * late_share


@pytest.mark.parametrize(("mbit", "tolerance"), [(10, 0.03), (100, 0.03), (1000, 0.10)])
@truth
def test_a_long_transfer_takes_what_the_link_allows(lab: Lab, tcp: Path, mbit: int, tolerance: float) -> None:
    """The best of the windows: the link is what it is, and a busy machine can only take away from it."""
    script = f"{client(tcp, 'rate', 4)}; {COUNTERS}"
    lines, lost = on_time(lambda: lab("sh", "-c", script, options=("--rate", f"{mbit}mbit")).stdout)
    rates = [float(line) for line in lines]
    allowed = payload_rate(mbit)
    check(f"best window / {mbit} Mbit/s", max(rates) / allowed, above=1 - tolerance - lost)
    check(f"all windows / {mbit} Mbit/s", statistics.mean(rates) / allowed, below=1 + tolerance)


@truth
def test_a_link_without_a_rate_is_faster_than_the_ports_of_its_hosts(lab: Lab, tcp: Path) -> None:
    options = ("--hosts", "3", "--rate", "10mbit", "--link", "h1-h2:rate=none")
    scripts = [client(tcp, "rate", 4, host).replace("served", f"served{host}") for host in (2, 3)]
    rates = numbers(lab, "; ".join(scripts), *options)
    check("link without a rate / ports of 10 Mbit/s", statistics.mean(rates[:4]) / payload_rate(10), above=5)
    check("ports / their 10 Mbit/s", statistics.mean(rates[4:]) / payload_rate(10), below=1.05)


CLEARLY = 1.2
"""Times a rate: more than windows and stalls of a machine make of it."""


def cable_and_port(lab: Lab, tcp: Path, rate: str) -> tuple[float, float]:
    """The best window of a cable without a rate, h1-h2, and of ports of a rate, h1-h3, in one lab."""
    options = ("--hosts", "3", "--rate", rate, "--link", "h1-h2:rate=none")
    scripts = [client(tcp, "rate", 4, host).replace("served", f"served{host}") for host in (2, 3)]
    rates = numbers(lab, "; ".join(scripts), *options)
    return max(rates[:4]), max(rates[4:])


@truth
def test_a_link_without_a_rate_is_not_held_to_a_port_of_a_gigabit(lab: Lab, tcp: Path) -> None:
    """As fast as can be is faster, unless this machine is not: then it is not without any rate either."""
    cable, port = cable_and_port(lab, tcp, "1gbit")
    if cable <= CLEARLY * max(port, payload_rate(1000)):
        _, most = cable_and_port(lab, tcp, "none")
        if most < 2 * CLEARLY * payload_rate(1000):
            pytest.skip(f"this machine brings no more than {most / MBIT:.0f} Mbit/s through a lab")
    check("link without a rate / gigabit", cable / max(port, payload_rate(1000)), above=CLEARLY)


@truth
def test_both_directions_at_once_have_the_rate_of_one(lab: Lab, tcp: Path) -> None:
    """Acknowledgements take their share of the lanes, 98 bytes for each or every other packet; no more."""
    script = (
        f"ssh -n h2 '{tcp} serve 7000' > served2 & {tcp} serve 7000 > served1 & "
        "while ! grep -q listening served1 || ! grep -q listening served2; do sleep 0.02; done; "
        f"ssh -n h2 '{tcp} rate 10.77.0.1 7000 4' > at2 & {tcp} rate 10.77.0.2 7000 4; wait %3; cat at2; "
    )
    lines, lost = on_time(lambda: lab("bash", "-c", script + COUNTERS, options=("--rate", "20mbit")).stdout)
    rates = [float(line) for line in lines]
    share = (IP_BYTES + FRAMING_BYTES) / (IP_BYTES + FRAMING_BYTES + SMALL_PACKET_BYTES)
    for one_way in (rates[:4], rates[4:]):
        check(
            "one way of two at once / 20 Mbit/s", max(one_way) / payload_rate(20) / share, above=0.97 - lost
        )


@pytest.mark.needs("iperf3")
@truth
def test_iperf3_agrees(lab: Lab, tcp: Path) -> None:
    """In one lab, so that both have the same machine, at a rate that leaves the relay time to spare.

    Medians of windows: a stall takes bytes from one window, and may give them to the next.
    """
    script = (
        "ssh -n h2 'iperf3 -s -D'; while iperf3 -c h2 -R -t 3 -i 0.5 -J > iperf.json; "
        "! grep -q sum_received iperf.json; do sleep 0.1; done; "
        f"{client(tcp, 'rate', 6)}; tr -d '\\n' < iperf.json; echo; {COUNTERS}"
    )
    lines, lost = on_time(lambda: lab("sh", "-c", script, options=("--rate", "20mbit")).stdout)
    *ours, theirs = lines
    received = [window["sum"]["bits_per_second"] / 8 for window in json.loads(theirs)["intervals"]]
    theirs_median, slack = statistics.median(received), 0.05 + lost
    ratio = statistics.median(map(float, ours)) / theirs_median
    check("rate / that of iperf3", ratio, above=1 - slack, below=1 + slack)
    check("iperf3 / 20 Mbit/s", theirs_median / payload_rate(20), above=1 - slack, below=1 + slack)


@truth
def test_a_small_message_takes_the_delay_and_four_lanes(lab: Lab, tcp: Path, user: str) -> None:
    """Fastest of many: never faster than the link, and what software adds is the same for all delays.

    Later than that by no more than a bare sleep of this length on this machine, in the same lab and while
    messages are under way, and what they take without any network.
    """
    lanes_s = 2 * 2 * SMALL_PACKET_BYTES / (100 * MBIT)
    fastest_s, oversleep_s = {}, {}
    for delay_us in (0, 20, 500, 5000):
        count = PINGS if delay_us < 5000 else 60
        beside = f"{tcp} sleep {delay_us * 1000} {count} > slept & {client(tcp, 'ping', count)}; wait %1"
        options = "--rate", "100mbit", "--delay", f"{delay_us}us"
        found = numbers(lab, f"{beside}; cat slept; rm slept", *options, user=user)
        fastest_s[delay_us] = min(found[:count]) / 1e9
        oversleep_s[delay_us] = statistics.median(found[count:]) / 1e9
    for delay_us, seconds in fastest_s.items():
        assert seconds > lanes_s + 2 * delay_us * 1e-6
        late_s = (seconds - fastest_s[0]) / 2 - delay_us * 1e-6
        allowed_s = 0.02 * delay_us * 1e-6 + 40e-6 + oversleep_s[delay_us]
        check(f"{user}, message late by / allowed at {delay_us} us", abs(late_s) / allowed_s, below=1)
    near_s = min(numbers(lab, client(tcp, "ping", PINGS, host=1), user=user)) / 1e9
    check(f"{user}, message of a lab / of one host", (fastest_s[0] - lanes_s) / near_s, below=30)


LOSES_THE_CORE = """
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int calls;
    const struct timespec away = {0, 300000};
    if (clock == CLOCK_REALTIME && ++calls % 5 == 0)
        nanosleep(&away, NULL);
    return (int) syscall(SYS_clock_gettime, clock, time);
}
"""


def test_no_packet_is_early_when_the_relay_loses_the_core_between_two_clocks(
    lab: Lab, tcp: Path, folder: Path
) -> None:
    words = ["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-O2", "-o", str(folder / "away.so"), "-x", "c", "-"]
    subprocess.run(words, input=LOSES_THE_CORE, text=True, check=True)
    away = {"env": {"LD_PRELOAD": str(folder / "away.so")}}
    done = lab("sh", "-c", client(tcp, "ping", PINGS), options=("--delay", "500us"), **away)
    assert min(map(float, done.stdout.split())) > 2 * 500e3


@truth
def test_links_and_ports_of_their_own(lab: Lab, tcp: Path) -> None:
    """h1-h2 is slower, h3 farther away, and h4 is as the lab says: all in one lab."""
    scripts = [client(tcp, "ping", 100, host).replace("served", f"served{host}") for host in (2, 3, 4)]
    script = "; ".join(scripts)
    options = ("--hosts", "4", "--rate", "none", "--delay", "100us")
    times = numbers(lab, script, *options, "--link", "h1-h2:rate=1mbit", "--host", "h3:delay=2ms")
    slow, far, usual = (min(times[i : i + 100]) / 1e9 for i in (0, 100, 200))
    wire_s = 4 * SMALL_PACKET_BYTES / MBIT
    # What software adds is in all three; a machine may wake up late by as much again.
    software_s = usual - 2 * 100e-6
    assert software_s > 0
    for what, found_s, planted_s in (("rate of a link", slow, wire_s), ("delay of a host", far, 2 * 2e-3)):
        slack = max(0.05, 2 * software_s / planted_s)
        ratio = (found_s - usual) / planted_s
        check(f"{what} / planted", ratio, above=1 - slack, below=1 + slack)


def test_what_finds_a_full_queue_is_dropped_and_counted(lab: Lab, tcp: Path) -> None:
    """Two fast hosts send to a slow one: more than its port carries."""
    script = (
        f"ssh -n h3 '{tcp} serve 7000' > served3 & {tcp} serve 7000 > served1 & "
        "while ! grep -q listening served1 || ! grep -q listening served3; do sleep 0.02; done; "
        f"ssh -n h2 '{tcp} rate 10.77.0.1 7000 4' > from1 & ssh -n h2 '{tcp} rate 10.77.0.3 7000 4' > from3; "
        f"wait %3; {COUNTERS}"
    )
    done = lab("bash", "-c", script, options=("--hosts", "3", "--host", "h2:rate=20mbit"))
    forwarded, _, dropped, _ = map(int, done.stdout.split())
    assert dropped > 0, done.stderr
    assert forwarded > 1000
