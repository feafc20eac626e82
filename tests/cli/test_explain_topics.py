"""`mpigauge explain` on a fake library of known speed: ranks, copies, giving way and the first message."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.errors import EXIT_DONE
from mpigauge.mpi.kinds import KINDS
from tests.fakes.law import operation_ns
from tests.fakes.lines import FIRST_NS, INIT_NS

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

LATENCY_NS = 400
CROWD = 64
"""More ranks than this machine lets tests have cores; a fake launcher starts none of them."""


def explained(cli: Cli, kind: str, *files: str) -> list[dict[str, Any]]:
    done = cli("explain", *files, "--all", "--format", "json")
    assert (done.status, done.err) == (EXIT_DONE, "")
    return [one for one in json.loads(done.out)["conclusions"] if one["kind"] == kind]


@pytest.fixture(autouse=True)
def _library(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_JITTER", "0.01")


@pytest.mark.thorough
def test_first_message_copies_and_ranks(cli: Cli) -> None:
    words = ("--sizes", "8:1MiB*8", "--np", f"2,{CROWD}", "--launches", "4", "--samples", "30", "-q")
    assert cli("run", "pingpong", "memcpy", "barrier", *words, "-o", "r.jsonl").status == EXIT_DONE
    for first in explained(cli, "first-message", "r.jsonl"):
        assert first["value"]["first_s"] == pytest.approx(FIRST_NS * 1e-9)
        assert first["text"].split("answer ")[1].startswith("250 µs (")
    starts = explained(cli, "start-up", "r.jsonl")
    assert len(starts) == 2
    for start in starts:
        assert start["value"]["init_s"] == pytest.approx(INIT_NS * 1e-9)
        assert start["value"]["first"]["first_s"] == pytest.approx(FIRST_NS * 1e-9)
    text = cli("explain", "r.jsonl", "--all").out
    line = "ranks: MPI_Init 40.0 ms (39.6 ms – 40.4 ms), first message and its answer 250 µs (4 launches)"  # noqa: RUF001
    assert text.count(line) == 2
    assert text.count("first message and its answer") == 4, "in lines and details of start-up alone"
    assert explained(cli, "copies", "r.jsonl")
    (growth,) = explained(cli, "ranks", "r.jsonl")
    (crowded,) = growth["value"]["at"][0]["crowded"]
    few, many = (operation_ns("barrier", "blocking", 0, ranks, LATENCY_NS) for ranks in (2, CROWD))
    assert crowded["ratio"]["estimate"] == pytest.approx(many / few, rel=0.3)
    assert "they share cores" in growth["text"]
    assert "scheduler" in growth["details"]


def test_giving_way(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = next(kind.yield_variables for kind in KINDS if kind.name == "openmpi")
    words = ("run", "barrier", "--np", str(CROWD), "--launches", "5", "--samples", "30", "-q")
    assert cli(*words, "-o", "told.jsonl").status == EXIT_DONE
    monkeypatch.setenv("FAKE_SLOWER", "50")
    assert cli(*words, "--env", f"{name}=0", "-o", "busy.jsonl").status == EXIT_DONE
    (fact,) = explained(cli, "yielding", "told.jsonl", "busy.jsonl")
    assert fact["result"] == "told / busy"
    assert fact["value"]["at"][0]["ratio"]["estimate"] == pytest.approx(50, rel=0.1)
    assert f"as long with {name}=0" in fact["text"]
    assert f"({name}=0) against told to: slower: " in fact["details"]
    assert explained(cli, "yielding", "told.jsonl") == []


@pytest.mark.thorough
def test_pairs_at_once_are_beside_one_pair_of_the_same_launches(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pairs of the fake kernel do not hinder each other, but for the slow one that is put in."""
    words = ("--np", "6", "--launches", "6", "--samples", "30", "-q", "--seed", "3", "--sizes", "8,4KiB")
    assert cli("run", "--suite", "pairs", *words, "-o", "r.jsonl").status == EXIT_DONE
    found = {one["cells"][0]["pattern"]: one["value"] for one in explained(cli, "pairs", "r.jsonl")}
    for one in found["multi-stream"]["sizes"]:
        assert one["beside"]["estimate"] == pytest.approx(3.0, rel=0.03)
        assert one["least_share"]["estimate"] == pytest.approx(1.0)
    for name in ("multi-pingpong", "incast", "outcast"):
        for one in found[name]["sizes"]:
            assert one["beside"]["estimate"] == pytest.approx(1.0, rel=0.03)
    monkeypatch.setenv("FAKE_SLOW", "1-4:1.5")
    assert cli("run", "multi-stream", *words, "-o", "slow.jsonl").status == EXIT_DONE
    (slow,) = explained(cli, "pairs", "slow.jsonl")
    assert slow["value"]["sizes"][0]["slowest"][0]["ranks"] == [1, 4]
    assert "pair 1-4 takes 1.50 times" in slow["details"]
