"""The words of a lab, and the lanes and routes that they mean."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan.lab import MAX_HOSTS, Lab, Link, Port, Topology, names, topology
from mpigauge.plan.model import Measure
from mpigauge.plan.plan_file import Asked, plan_of

MBIT = 1e6 / 8
RATES = {
    "10mbit": 10 * MBIT,
    "1 Gbit/s": 1000 * MBIT,
    "none": 0.0,
    "64kbit": 0.064 * MBIT,
}
DELAYS = {"0": 0.0, "0us": 0.0, "20us": 20e-6, "1.5ms": 1.5e-3, "2s": 2.0}

rates = st.sampled_from(sorted(RATES))
delays = st.sampled_from(sorted(DELAYS))


@st.composite
def labs(draw: st.DrawFn) -> Lab:
    """Any lab that can be."""
    hosts = draw(st.integers(1, 8))
    some = [f"h{one}-h{other}" for one, other in permutations(range(1, hosts + 1), 2) if one < other]
    pairs = draw(st.lists(st.sampled_from(some), unique=True)) if some else []
    ports = draw(st.lists(st.sampled_from([f"h{n}" for n in range(1, hosts + 1)]), unique=True))
    return Lab(
        hosts=hosts,
        rate=draw(rates),
        delay=draw(delays),
        links=tuple(Link(pair, draw(st.none() | rates), draw(st.none() | delays)) for pair in pairs),
        ports=tuple(Port(name, draw(st.none() | rates), draw(st.none() | delays)) for name in ports),
    )


def ways(whole: Topology) -> dict[tuple[int, int], tuple[float, float, float]]:
    """Rate up, rate down and delay of every pair."""
    return {(r.sender, r.receiver): (whole.lanes[r.up], whole.lanes[r.down], r.delay_s) for r in whole.routes}


@given(labs())
def test_every_pair_has_one_route_with_the_words_of_its_link_its_ports_or_the_lab(lab: Lab) -> None:
    found = ways(topology(lab, "here"))
    assert set(found) == set(permutations(range(1, lab.hosts + 1), 2))
    ports = {port.host: port for port in lab.ports}
    links = {frozenset(link.between.split("-")): link for link in lab.links}
    for (one, other), (up, down, delay_s) in found.items():
        ends = [ports.get(f"h{number}", Port("")) for number in (one, other)]
        link = links.get(frozenset((f"h{one}", f"h{other}")), Link(""))
        assert up == RATES[link.rate or ends[0].rate or lab.rate]
        assert down == RATES[link.rate or ends[1].rate or lab.rate]
        extra_s = sum(DELAYS[end.delay or "0"] for end in ends)
        assert delay_s == pytest.approx(DELAYS[link.delay or lab.delay] + extra_s)


@given(labs())
def test_lanes_are_shared_at_ports_and_owned_by_cables(lab: Lab) -> None:
    whole = topology(lab, "here")
    cables = {frozenset(link.between.split("-")) for link in lab.links if link.rate}
    used: dict[int, set[tuple[str, int]]] = {}
    for route in whole.routes:
        cable = frozenset((f"h{route.sender}", f"h{route.receiver}")) in cables
        for lane, end in ((route.up, ("up", route.sender)), (route.down, ("down", route.receiver))):
            used.setdefault(lane, set()).add((f"cable {route}", 0) if cable else end)
    assert all(len(users) == 1 for users in used.values())


@pytest.mark.parametrize(
    ("lab", "word"),
    [
        (Lab(rate="fast"), "fast"),
        (Lab(rate="100"), "100"),
        (Lab(rate="0mbit"), "0mbit"),
        (Lab(rate="9999gbit"), "9999gbit"),
        (Lab(delay="20"), "20 has no unit"),
        (Lab(delay="20s"), "20 s"),
        (Lab(delay="-1us"), "-1us"),
        (Lab(delay="soon"), "soon"),
        (Lab(links=(Link("h1-h3"),)), "h3"),
        (Lab(links=(Link("h1-h1"),)), "h1-h1"),
        (Lab(links=(Link("h1"),)), "h1"),
        (Lab(links=(Link("$(touch x)-h2"),)), "touch"),
        (Lab(links=(Link("h1-h2"), Link("h2-h1"))), "twice"),
        (Lab(links=(Link("h1-h2", rate="x"),)), "'x'"),
        (Lab(ports=(Port("h9"),)), "h9"),
        (Lab(ports=(Port("h1"), Port("h1"))), "twice"),
        (Lab(ports=(Port("h1", delay="x"),)), "'x'"),
    ],
)
def test_an_invalid_lab_is_named_with_its_source(lab: Lab, word: str) -> None:
    with pytest.raises(UsageError) as caught:
        topology(lab, "plan.toml")
    assert "plan.toml: " in caught.value.sentence
    assert word in caught.value.sentence
    assert caught.value.hint


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_word_of_a_lab_makes_it_crash(rate: str, delay: str, between: str) -> None:
    try:
        whole = topology(Lab(rate=rate, delay=delay, links=(Link(between),)), "here")
    except UsageError:
        return
    assert len(whole.routes) == 2


def test_hosts_are_numbered_from_one() -> None:
    assert names(Lab(hosts=MAX_HOSTS))[0] == "h1"
    assert names(Lab(hosts=MAX_HOSTS))[-1] == f"h{MAX_HOSTS}"


def test_hosts_of_the_user_take_the_place_of_the_lab() -> None:
    file = Asked((Measure("pingpong"),), lab=Lab(hosts=3))
    assert plan_of(file, Asked(), 1, "the test").lab == Lab(hosts=3)
    plan = plan_of(file, Asked(hosts="n1,n2"), 1, "the test")
    assert plan.lab is None
    assert [host.name for host in plan.hosts] == ["n1", "n2"]
