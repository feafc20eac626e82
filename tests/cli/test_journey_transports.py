"""Transports are jobs of their own, and proven; what the library says of itself is recorded."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.cli.journey import (
    MEASURE,
)

if TYPE_CHECKING:
    from tests.conftest import Cli

# ---- Transports ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("openmpi")
def test_transports_are_jobs_of_their_own_and_proven(cli: Cli) -> None:
    words = (
        "run",
        "pingpong",
        "--transport",
        "shm",
        "--transport",
        "tcp",
        "--sizes",
        "8,1KiB",
        "--launches",
        "2",
    )
    done = cli(*words, "--format", "json")
    assert done.status == 0
    rows = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert {(row["transport"], row["status"]) for row in rows} == {("shm", "ok"), ("tcp", "ok")}
    assert {row["net_share"] > 0 for row in rows if row["transport"] == "tcp"} == {True}
    assert {row["net_share"] for row in rows if row["transport"] == "shm"} == {0}


@pytest.mark.usefixtures("openmpi")
def test_a_transport_that_did_not_take_effect_fails_its_cells(cli: Cli) -> None:
    words = ("run", "pingpong", "--transport", "tcp", "--sizes", "1KiB", "--launches", "1")
    done = cli(*words, "--env", "OMPI_MCA_btl=vader,self", "--format", "json")
    assert done.status == 1
    (row,) = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert (row["status"], row["time_s"]) == ("failed", None)
    assert "transport tcp did not take effect" in row["reason"]


HERE = platform.node()
LABELLED = ("run", "pingpong", "--transport", "shm", "--sizes", "1KiB", "--launches", "1")


@pytest.mark.usefixtures("openmpi")
def test_messages_that_go_through_a_card_past_ip_are_not_called_shared_memory(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CARDS", "mlx5_0/1")
    monkeypatch.setenv("FAKE_RDMA", "1")
    done = cli(*LABELLED, "--format", "json")
    assert done.status == 1
    (row,) = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert (row["status"], row["time_s"], row["net_share"]) == ("failed", None, 0)
    assert (row["transport_proof"], row["rdma_share"] > 1) == ("refuted", True)
    assert "transport shm did not take effect" in row["reason"]
    assert "RDMA cards" in row["reason"]


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize(
    ("cards", "proof"), [("", "proven"), ("mlx5_0/1", "proven"), ("efa_0/1!", "unknown")]
)
def test_a_label_is_proven_where_every_card_was_counted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, cards: str, proof: str
) -> None:
    monkeypatch.setenv("FAKE_CARDS", cards)
    done = cli(*LABELLED, "-o", "r.jsonl", "--format", "json")
    assert done.status == 0, "what was measured is not lost for a card that nobody counts"
    (row,) = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert (row["status"], row["transport_proof"]) == ("ok", proof)
    assert row["transport_doubt"] == (f"could not count efa_0/1 of {HERE}" if proof == "unknown" else "")
    text = cli("show", "--all", "r.jsonl").out
    assert ("; proven" in text) == (proof == "proven")
    assert (f"not proven: could not count efa_0/1 of {HERE}" in text) == (proof == "unknown")
    (group,) = load(Path("r.jsonl")).launches[0].cards
    assert group.hosts == (HERE,)
    assert [card.name for card in group.cards] == ["eth0", *cards.replace("!", "").split()]


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize("cards", ["mlx5_0/1", "mlx5_0/1 mlx5_1/1"])
def test_a_card_that_stood_idle_beside_another_is_named_and_of_one_card_nothing_is_said(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, cards: str
) -> None:
    monkeypatch.setenv("FAKE_CARDS", cards)
    monkeypatch.setenv("FAKE_RDMA", "1")
    done = cli("run", "pingpong", "--sizes", "1KiB", "--launches", "1", "-o", "r.jsonl", "--format", "json")
    found = [one for one in json.loads(done.out)["findings"] if one["kind"] == "cards-used"]
    assert [one["value"]["idle"] for one in found] == ([["mlx5_1/1"]] if "mlx5_1/1" in cards else [])
    whole, answer = cli("show", "--all", "r.jsonl").out, cli("show", "r.jsonl").out
    idle = f"1 of 2 RDMA cards on {HERE} carried messages of pingpong: mlx5_0/1; idle: mlx5_1/1"
    assert (idle in " ".join(whole.split())) == bool(found)
    assert "idle" not in answer
    for visit in load(Path("r.jsonl")).visits:
        rdma = sum(one.received_bytes for one in visit.by_card if one.kind == "rdma")
        assert rdma == visit.rdma_received_bytes


REPORT = """Host 0 [node1] ranks 0 - 1

Connection summary: (pml)
  on-host:  all connections are {}
  off-host: all connections are n/a
"""


@pytest.mark.usefixtures("openmpi")
def test_what_the_library_says_of_itself_is_recorded_and_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_REPORT", REPORT.format("sm"))
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert done.status == 0
    assert "on-host sm" in done.out
    text = cli("show", "--all", "r.jsonl").out
    assert "transport, Open MPI 5.0.11, 2 ranks: shared memory (says Open MPI)\n" in text
    launches = load(Path("r.jsonl")).launches
    assert {launch.reported for launch in launches} == {"on-host sm"}
    assert {launch.variables["OMPI_MCA_ompi_display_comm"] for launch in launches} == {"mpi_init"}


@pytest.mark.usefixtures("openmpi")
def test_a_library_that_says_nothing_known_is_not_guessed_at(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_REPORT", "it may be that all connections are sm")
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert "(says Open MPI)" not in done.out + cli("show", "--all", "r.jsonl").out
    assert {launch.reported for launch in load(Path("r.jsonl")).launches} == {""}


@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize(("transport", "used"), [("shm", "tcp"), ("tcp", "sm")])
def test_a_transport_that_the_library_itself_denies_fails_its_cells(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, transport: str, used: str
) -> None:
    words = ("run", "pingpong", "--transport", transport, "--sizes", "1KiB", "--launches", "1")
    monkeypatch.setenv("FAKE_REPORT", REPORT.format(used))
    done = cli(*words, "--format", "json")
    assert done.status == 1
    (row,) = [row for row in json.loads(done.out)["rows"] if row["pattern"] == "pingpong"]
    assert (row["status"], row["time_s"]) == ("failed", None)
    assert f"transport {transport} did not take effect: the library reports on-host {used}" in row["reason"]


@pytest.mark.thorough
@pytest.mark.usefixtures("openmpi")
@pytest.mark.parametrize("known", [True, False])
def test_a_report_is_no_reason_of_a_failure(cli: Cli, monkeypatch: pytest.MonkeyPatch, known: bool) -> None:
    """What is not known as one is kept: it may say why."""
    monkeypatch.setenv("FAKE_REPORT", REPORT.format("sm") if known else "a shaky network")
    monkeypatch.setenv("FAKE_CRASH", "pingpong:64")
    assert cli("run", *MEASURE, "-o", "r.jsonl").status == 1
    failure = load(Path("r.jsonl")).failures[0]
    assert "connections" not in failure.words
    assert ("shaky" in failure.words) != known


@pytest.mark.usefixtures("openmpi")
def test_what_sets_nothing_is_refused(cli: Cli) -> None:
    for word in ("NAME", "=value"):
        done = cli("run", "pingpong", "--env", word)
        assert done.status == 2
        assert word in done.err
