"""Many ranks at once on two emulated hosts: content, transport, and whether any pair crosses between them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.plan.patterns import known
from tests.real.lab.conftest import lab_environment
from tests.real.mpi.conftest import PREFIXES
from tests.truth import check, truth

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.lab, pytest.mark.mpi]

AT_ONCE = [one.name for one in known().values() if one.family == "message" and one.starts_together]
HEAD = """
launches = 2
samples = 4
window = 4
sizes = "8,64KiB"
ranks = [4]
budget = "20min"
placements = ["1,1,2,2", "1,2,1,2"]
[lab]
hosts = 2
rate = "1gbit"
"""


def said(folder: Path, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "mpigauge", *words, "--format", "json"],
        cwd=folder,
        env=lab_environment(folder, "root"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.thorough
@pytest.mark.parametrize("library", PREFIXES)
def test_blocks_of_ranks_cross_hosts_and_ranks_in_turn_do_not(folder: Path, library: str) -> None:
    """Messages that need not cross are no message past the network of the lab."""
    tables = "".join(f'[[measure]]\npattern = "{name}"\n' for name in AT_ONCE)
    (folder / "plan.toml").write_text(HEAD + tables, encoding="utf-8")
    words = ("run", "--plan", "plan.toml", "--mpi", str(PREFIXES[library]), "-q", "-o", "r.jsonl")
    found = [row for row in said(folder, *words)["rows"] if row["pattern"] in AT_ONCE]
    assert {row["status"] for row in found} == {"ok"}
    assert {row["pattern"] for row in found} == {*AT_ONCE}
    facts = [
        one for one in said(folder, "explain", "r.jsonl", "--all")["conclusions"] if one["kind"] == "pairs"
    ]
    assert any("no pair crosses" in one["details"] for one in facts)
    for one in facts:
        in_turn = one["cells"][0]["placement"] == "h1,h2,h1,h2"
        if known()[one["cells"][0]["pattern"]].in_halves:
            assert (one["value"]["hosts"], one["value"]["crossing"]) == (2, 0 if in_turn else 2)
            assert ("no pair crosses the 2 hosts" in one["details"]) == in_turn


# ---- One link, or one for each pair --------------------------------------------------------------

RATE_BYTES_PER_S = 40e6 / 8
HEAD_OF_A_FRAME = 1538 / 1448
"""Bytes on the wire for each byte of a long TCP stream over Ethernet with timestamps."""

PLAN = """
launches = 3
window = 8
sizes = "64KiB"
budget = "4min"
senders = [1, 2]
[lab]
hosts = {hosts}
rate = "40mbit"
[[measure]]
pattern = "multi-stream"
"""


def shares_of_the_rate(folder: Path, hosts: int, placement: str) -> dict[int, float]:
    """By number of pairs what they send together, over what one link carries."""
    text = PLAN.format(hosts=hosts)
    (folder / "plan.toml").write_text(f'placements = ["{placement}"]\nranks = [4]\n{text}', encoding="utf-8")
    words = ("run", "--plan", "plan.toml", "--mpi", str(PREFIXES["mpich"]), "-q", "-o", "r.jsonl")
    found = [row for row in said(folder, *words)["rows"] if row["pattern"] == "multi-stream"]
    return {
        row["senders"] or 2: row["rate_bytes_per_s"] * HEAD_OF_A_FRAME / RATE_BYTES_PER_S for row in found
    }


@truth
def test_pairs_through_one_link_carry_its_rate_together(folder: Path) -> None:
    for pairs, share in shares_of_the_rate(folder, 2, "1,1,2,2").items():
        check(f"rate of {pairs} pairs through one link / that of the link", share, above=0.95, below=1.03)


@truth
def test_pairs_with_links_of_their_own_carry_as_many_rates(folder: Path) -> None:
    for pairs, share in shares_of_the_rate(folder, 4, "1,2,3,4").items():
        check(f"rate of {pairs} pairs / of so many links", share / pairs, above=0.95, below=1.03)
