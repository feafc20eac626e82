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
