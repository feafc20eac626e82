"""Real jobs whose result others append to: no launch is lost, and it is said."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.real.mpi.conftest import prefix, wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.mpi

LAUNCHES = 3


@pytest.mark.parametrize("theirs", [b"junk from elsewhere", b"junk\n"])
@pytest.mark.parametrize("behind", ["campaign", "launch", "visit", "done"])
def test_what_others_append_to_a_growing_result_is_told_and_goes(
    tmp_path: Path, theirs: bytes, behind: str
) -> None:
    path = tmp_path / "r.jsonl"
    words = ["run", "pingpong", "--sizes", "8", "--launches", str(LAUNCHES), "--budget", "60s", "-q"]
    command = [sys.executable, "-m", "mpigauge", *words, "--mpi", prefix("openmpi"), "-o", "r.jsonl"]
    out = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdout=out, stderr=out) as started:
        wanted = b'{"type":"%s"' % behind.encode()
        assert wait_until(lambda: path.exists() and wanted in path.read_bytes())
        with path.open("ab") as file:
            file.write(theirs)
        _, said = started.communicate()
    assert started.returncode == 0, said
    assert said.count(b"r.jsonl: was appended to while it grew") == 1, said
    result = load(path)
    assert (result.damaged, result.incomplete) == ([], set())
    assert [launch.number for launch in result.launches] == [1, 2, 3]
    assert {visit.launch for visit in result.visits} == {1, 2, 3}
    assert theirs not in path.read_bytes()
