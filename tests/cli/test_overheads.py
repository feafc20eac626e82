"""`mpigauge model` of calls that were measured alone: o_s, o_r, g and L of the fake kernel's law."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

LATENCY_S, SEND_S, RECEIVE_S = 300e-9, 40e-9, 30e-9
"""Of an empty message; the calls without the reading of the clock."""


@pytest.fixture
def result(cli: Cli, fake_mpi: Install) -> str:
    fake_mpi("mpich", "5.0.2", latency_ns=300)
    words = ("--sizes", "0,8,64,1000,8000", "--launches", "3", "-q", "-o", "r.jsonl")
    done = cli("run", "send-overhead", "recv-overhead", "pingpong", "stream", *words)
    assert done.status == EXIT_DONE, done.err
    return "r.jsonl"


def test_overheads_are_told_with_what_is_not_defined(cli: Cli, result: str) -> None:
    said = json.loads(cli("model", result, "--format", "json").out)
    (place,) = said["overheads"]
    sizes = {one["bytes"]: one for one in place["sizes"]}
    empty = sizes[0]
    assert empty["send_s"]["value"] == pytest.approx(SEND_S, abs=1e-9)
    assert empty["receive_s"]["value"] == pytest.approx(RECEIVE_S, abs=1e-9)
    assert empty["latency_s"]["value"] == pytest.approx(LATENCY_S - SEND_S - RECEIVE_S, abs=3e-9)
    assert empty["gap_s"]["value"] > 0
    assert [sizes[size]["latency_s"] for size in (1000, 8000)] == [None, None]
    assert sizes[1000]["no_latency"] == "large"
    assert sizes[8000]["receive_s"] is None
    assert sizes[8000]["send_s"]["value"] > sizes[1000]["send_s"]["value"]


def test_people_read_parameters_and_no_bandwidth_of_calls(cli: Cli, result: str) -> None:
    said = cli("model", result).out
    assert "overheads, gap and latency (PLogP, LogGP)" in said
    assert "without the 25.0 ns of reading the clock" in said
    assert "no o_r: above the eager limit" in said
    assert "send-overhead" not in said  # no line with a latency and a bandwidth goes through such times
    shown = json.loads(cli("show", result, "--all", "--format", "json").out)["rows"]
    rates = {row["rate_bytes_per_s"] for row in shown if row["pattern"].endswith("-overhead")}
    assert rates == {None}


def test_without_such_calls_nothing_is_said_of_them(cli: Cli, openmpi: object) -> None:
    words = ("pingpong", "stream", "--sizes", "8:1KiB", "--launches", "2", "-q", "-o", "p.jsonl")
    assert cli("run", *words).status == EXIT_DONE
    assert json.loads(cli("model", "p.jsonl", "--format", "json").out)["overheads"] == []
    assert "overheads" not in cli("model", "p.jsonl").out
