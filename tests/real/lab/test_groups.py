"""Groups of ranks at once on emulated hosts: by host, through one link, through links of their own."""

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


def rows_of(lab: Lab, hosts: int, rule: str, *options: str, launches: int = 1) -> list[dict[str, Any]]:
    """The rows of a broadcast in groups of four ranks, dealt to the hosts in turn."""
    words = ["run", "bcast", "--mpi", prefix("mpich"), "--np", "4", "--groups", rule, "--sizes", "64KiB"]
    words += ["--launches", str(launches), "--samples", "8", "--budget", "4min", "-q", "--format", "json"]
    done = lab(sys.executable, "-m", "mpigauge", *words, options=("--hosts", str(hosts), *options))
    assert "Traceback" not in done.stderr
    rows: list[dict[str, Any]] = [row for row in json.loads(done.stdout)["rows"] if row["pattern"] == "bcast"]
    assert all(row["status"] == "ok" for row in rows), done.stderr
    return rows


def at_once_over_alone(rows: list[dict[str, Any]]) -> list[float]:
    """How many times as long each group takes beside the other."""
    time_s = {(row["groups"], row["group"]): row["time_s"]["estimate"] for row in rows}
    return [time / time_s["", group] for (rule, group), time in time_s.items() if rule]


def test_groups_are_those_of_the_hosts(lab: Lab) -> None:
    rows = rows_of(lab, 2, "host")
    assert {(row["groups"], row["group"]) for row in rows} == {
        ("", "0,2"),
        ("", "1,3"),
        ("host", "0,2"),
        ("host", "1,3"),
    }


@truth
def test_groups_through_one_link_share_its_rate(lab: Lab) -> None:
    rows = rows_of(lab, 2, "0,1+2,3", "--link", "h1-h2:rate=10mbit", launches=3)
    for ratio in at_once_over_alone(rows):
        check("two groups through one link / one alone", ratio, above=1.8, below=2.2)


@truth
def test_groups_through_links_of_their_own_do_not_delay_each_other(lab: Lab) -> None:
    links = ("--link", "h1-h2:rate=10mbit", "--link", "h3-h4:rate=10mbit")
    rows = rows_of(lab, 4, "0,1+2,3", *links, launches=3)
    for ratio in at_once_over_alone(rows):
        check("two groups through links of their own / one alone", ratio, above=0.9, below=1.1)
