"""The link map of emulated hosts: it names the link or host that was made slow, and nothing else."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.real.mpi.conftest import prefix
from tests.truth import check, truth

if TYPE_CHECKING:
    from tests.real.lab.conftest import Lab

pytestmark = [pytest.mark.lab, pytest.mark.mpi]


def map_of(lab: Lab, hosts: int, size: str, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of a map between all hosts of a lab."""
    words = ["map", "--mpi", prefix("mpich"), "--sizes", size, "-q", "--format", "json"]
    words += ["--launches", "5"]
    done = lab(sys.executable, "-m", "mpigauge", *words, options=("--hosts", str(hosts), *options))
    assert "Traceback" not in done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert len(said["pairs"]) == hosts * (hosts - 1) // 2
    assert all(pair["status"] == "ok" for pair in said["pairs"]), done.stderr
    return done.returncode, said


@truth
def test_a_link_of_a_low_rate_is_named_and_only_it(lab: Lab) -> None:
    """So low that five launches show it, whatever six ranks and a relay on two cores do to each other."""
    status, said = map_of(lab, 6, "16KiB", "--link", "h2-h5:rate=5mbit")
    assert status == 1
    assert [link["hosts"] for link in said["slow_links"]] == [["h2", "h5"]]
    check("slow link / usual", said["slow_links"][0]["factor"], above=10)
    assert said["slow_hosts"] == []


@truth
def test_a_host_that_is_slow_as_a_whole_is_named_and_only_it(lab: Lab) -> None:
    status, said = map_of(lab, 6, "8", "--host", "h4:delay=5ms")
    assert status == 1
    assert [host["host"] for host in said["slow_hosts"]] == ["h4"]
    assert said["slow_links"] == []


@truth
def test_a_uniform_lab_has_nothing_slow(lab: Lab) -> None:
    """On a machine that is too busy it may say that it cannot tell; it never blames anybody."""
    status, said = map_of(lab, 6, "8", "--delay", "200us")
    assert status in {0, 5}
    assert said["slow_links"] == said["slow_hosts"] == []


def test_a_planted_delay_is_looked_for_in_the_earlier_maps_of_the_lab(lab: Lab) -> None:
    """Where an administrator rehearses it: a lab with another delay was another plan, with no earlier map."""
    map_of(lab, 2, "8", "--delay", "50us")
    _, said = map_of(lab, 2, "8", "--delay", "50us", "--link", "h1-h2:delay=2ms")
    (file,) = said["before"]["files"]
    assert file.startswith("results/")
    assert [link["hosts"] for link in said["before"]["links"]] == [["h1", "h2"]]
