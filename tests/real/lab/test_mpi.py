"""The three libraries between emulated hosts: by the environment of the lab alone, and over its network."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.plan.kernel_plan import Limits, kernel_plan
from mpigauge.plan.model import Cell, Plan
from mpigauge.plan.visit_order import PlannedVisit
from tests.real.lab.conftest import lab_environment
from tests.real.mpi.conftest import PREFIXES
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from tests.real.lab.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

SIZES = (8, 1 << 20)
HOSTS = {"openmpi": "--host", "mpich": "-hosts", "intelmpi": "-hosts"}
MORE = {"openmpi": [], "mpich": [], "intelmpi": ["-ppn", "1"]}
MBIT = 1e6 / 8
DELAY_S = 200e-6
WAIT_S = 300


@pytest.fixture(params=list(PREFIXES))
def library(request: pytest.FixtureRequest) -> Library:
    """Each of the three libraries from PyPI."""
    return find.find(str(PREFIXES[request.param]))


def plan_text() -> str:
    """Round trips of a small and a large message between two ranks."""
    cells = [Cell("pingpong", "standard", size, 2, "any", "1") for size in SIZES]
    visits = [PlannedVisit(number, cell) for number, cell in enumerate(cells)]
    plan = Plan(measure=(), visits=1, rounds_min=5, rounds_max=30)
    return kernel_plan(visits, plan, Limits(cell_s=1.0, deadline_s=30.0), cores=2)


def journal(lab: Lab, folder: Path, library: Library) -> list[dict[str, Any]]:
    """The kernel between h1 and h2, started by the library's own mpiexec."""
    (folder / "plan").write_text(plan_text(), encoding="ascii")
    needed = [f"{name}={value}" for name, value in library.environment_for(several_hosts=True).items()]
    start = ["env", *needed, str(library.mpiexec)]
    command = [*start, HOSTS[library.name], "h1,h2", *MORE[library.name], "-n", "2"]
    options = ("--rate", "100mbit", "--delay", "200us")
    done = lab(*command, str(kernel.build(library)), "plan", "-", options=options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_messages_go_over_the_network_and_take_its_time(lab: Lab, folder: Path, library: Library) -> None:
    """No shared memory: all that was sent came in by the interface, and never faster than the link."""
    records = journal(lab, folder, library)
    (launch,) = [record["launch"] for record in records if "launch" in record]
    assert [place["host"] for place in launch["placement"]] == ["h1", "h2"]
    (group,) = launch["cards"]
    assert group["hosts"] == ["h1", "h2"], "hosts with the same cards are said together"
    assert ("eth0", "ip", True) in {(card["name"], card["kind"], card["counted"]) for card in group["cards"]}
    visits = {record["visit"]: record for record in records if "visit" in record}
    for number, size in enumerate(SIZES):
        visit = visits[number]
        assert visit["net_bytes"] > visit["net_calls"] * size
        # A round trip has a message each way: both hosts receive one, and what one sends the other receives.
        assert visit["ip_received_bytes"] > 1.9 * visit["net_calls"] * size
        assert visit["ip_sent_bytes"] == pytest.approx(visit["ip_received_bytes"], rel=0.05)
        assert (visit["rdma_received_bytes"], visit["rdma_sent_bytes"]) == (0, 0)
        check_each_host(visit, size)
        way_s = min(visit["samples_ns"]) / visit["batch"] / 2 / 1e9
        assert way_s > DELAY_S + size / (100 * MBIT)


@truth
def test_a_large_message_takes_no_longer_than_its_link(lab: Lab, folder: Path, library: Library) -> None:
    """Six percent are framing; the rest is for machines on which others work."""
    visits = {record["visit"]: record for record in journal(lab, folder, library) if "visit" in record}
    large = visits[len(SIZES) - 1]
    way_s = min(large["samples_ns"]) / large["batch"] / 2 / 1e9
    check(f"{library.name}, 1 MiB / its link", way_s / (DELAY_S + SIZES[-1] / (100 * MBIT)), below=1.5)


def check_each_host(visit: dict[str, Any], size: int) -> None:
    """What each one received and sent by its card, which together is what all did."""
    on_wire = [one for one in visit["by_card"] if one["card"] == "eth0"]
    assert sorted(one["rank"] for one in on_wire) == [0, 1]
    for one in on_wire:
        assert one["kind"] == "ip"
        assert one["received_bytes"] > 0.95 * visit["net_calls"] * size
        assert one["sent_bytes"] > 0.95 * visit["net_calls"] * size
    for way in ("received_bytes", "sent_bytes"):
        assert sum(one[way] for one in visit["by_card"]) == visit[f"ip_{way}"]


PLAN = """
title = "emulated"
launches = 2
sizes = "8"

[lab]
rate = "100mbit"
links = [{between = "h1-h2", delay = "300us"}]

[[measure]]
pattern = "pingpong"
"""


def test_a_plan_with_a_lab_runs_and_goes_on_in_it(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    result = folder / "result.jsonl"
    words = [sys.executable, "-m", "mpigauge", "run", "--plan", "plan.toml", "-o", "result.jsonl"]
    environment = lab_environment(folder, "root")
    running = subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + WAIT_S
    while not (result.exists() and len(result.read_text(encoding="utf-8").splitlines()) > 2):
        assert time.monotonic() < end
        time.sleep(0.01)
    running.terminate()
    _, said = running.communicate(timeout=WAIT_S)
    assert running.returncode == 143, said
    words = [sys.executable, "-m", "mpigauge", "resume", "result.jsonl", "-q"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, *records = [json.loads(line) for line in result.read_text(encoding="utf-8").splitlines()]
    assert first["plan"]["lab"]["links"] == [{"between": "h1-h2", "delay": "300us"}]
    assert first["environment"]["host"] == "h1"
    ends = [record["reason"] for record in records if record["type"] == "end"]
    assert ends == ["interrupted", "launches"]
