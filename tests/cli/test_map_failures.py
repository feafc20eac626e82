"""What goes wrong while a link map is measured: crashes, hangs, a file cut short, hosts that are gone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.cli.maps import HOSTS, mapped, whole

if TYPE_CHECKING:
    from tests.conftest import Cli

GONE = """#!/bin/sh
if [ "$1" = h2 ] && [ -e {folder}/asked ]; then echo no route >&2; exit 255; fi
[ "$1" != h2 ] || : > {folder}/asked
"""
"""A remote shell to which h2 answers only once."""

pytestmark = pytest.mark.usefixtures("little_noise")


@pytest.mark.thorough
def test_a_crash_in_a_step_costs_only_the_pair_that_crashed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of pairs measured at the same time nobody knows which it was: they are measured one by one."""
    monkeypatch.setenv("FAKE_CRASH", "pingpong:8:1-3")
    done = mapped(cli, "--np", 6, "--format", "json", "-o", "map.jsonl")
    assert done.status == 1, done.err
    said = whole(done)
    assert said["verdict"] == "failed"
    (failed,) = said["failed_links"]
    assert failed["hosts"] == ["h2", "h4"]
    for pair in said["pairs"]:
        assert (pair["latency_s"] is None) == (pair["hosts"] == ["h2", "h4"])
        assert pair["rate_bytes_per_s"] is not None
    blamed = {failure.cell.pair for failure in load(Path("map.jsonl")).failures if failure.cell}
    assert blamed == {"1-3"}


@pytest.mark.thorough
def test_a_hang_in_a_step_costs_only_the_pair_that_hangs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.campaign.silence.MIN_SILENCE_S", 1.5)
    monkeypatch.setenv("FAKE_HANG", "pingpong:8:0-1")
    said = whole(mapped(cli, "--np", 4, "--launches", 3, "--format", "json"))
    assert [link["hosts"] for link in said["failed_links"]] == [["h1", "h2"]]
    assert said["failed_links"][0]["reason"].startswith("timeout")
    assert said["failed_links"][0]["reason"].endswith(" s while ranks on h1, h2 were measured")
    assert sum(pair["latency_s"] is not None for pair in said["pairs"]) == 5


@pytest.mark.thorough
def test_a_map_that_was_cut_short_is_resumed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_ = mapped(cli, "--np", 6, "--seed", 4, "-o", "whole.jsonl", "--format", "json")
    lines = Path("whole.jsonl").read_bytes().splitlines(keepends=True)
    Path("cut.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    assert cli("map", "cut.jsonl").status in {0, 5}
    assert cli("resume", "cut.jsonl").status == 0
    again = cli("map", "cut.jsonl", "--format", "json")
    assert again.status == whole_.status == 0
    measured = [{(v.launch, v.cell) for v in load(Path(f)).visits} for f in ("whole.jsonl", "cut.jsonl")]
    assert measured[0] == measured[1]


def test_hosts_are_asked_again_before_a_map_goes_on(cli: Cli, tmp_path: Path) -> None:
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\nexit 0\n", encoding="ascii")
    shell.chmod(0o755)
    cli("map", "--hosts", HOSTS, "--remote-shell", shell, "--launches", 1, "-o", "map.jsonl")
    lines = Path("map.jsonl").read_bytes().splitlines(keepends=True)
    Path("cut.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    before = Path("cut.jsonl").read_bytes()
    shell.write_text("#!/bin/sh\necho no route >&2\nexit 255\n", encoding="ascii")
    done = cli("resume", "cut.jsonl")
    assert done.status == 3
    assert "host h1: cannot be reached: no route" in done.err
    assert Path("cut.jsonl").read_bytes() == before


def test_a_host_that_is_gone_is_named_in_the_failure(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell = tmp_path / "shell"
    shell.write_text(GONE.format(folder=tmp_path), encoding="ascii")
    shell.chmod(0o755)
    monkeypatch.setenv("FAKE_CRASH", "pingpong:8")
    words = ("pingpong", "--sizes", "8", "--launches", 1, "--hosts", "h1,h2", "--remote-shell", shell)
    done = cli("run", *words, "-o", "r.jsonl")
    assert "crash in launch 1: host h2: cannot be reached: no route" in done.err
    assert "no route" in load(Path("r.jsonl")).failures[0].words
