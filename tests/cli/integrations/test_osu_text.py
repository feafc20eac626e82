"""OSU's benchmarks as ReFrame brings them, under ReFrame itself: what they look for is in our text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.integrations.test_reframe import INSTALLED

if TYPE_CHECKING:
    from tests.cli.integrations.conftest import Programs
    from tests.conftest import Cli

Rows = dict[tuple[str, int], dict[str, Any]]

pytestmark = pytest.mark.programs

PATTERNS = {
    "osu_latency": "pingpong",
    "osu_bw": "stream",
    "osu_alltoall": "alltoall",
    "osu_allreduce": "allreduce",
}
"""What ReFrame's benchmarks start, and what measures the same here."""

UNITS = {"latency": "us", "bandwidth": "MB/s"}
CHECK = """
import reframe as rfm
from hpctestlib.microbenchmarks.mpi.osu import osu_benchmark


@rfm.simple_test
class printed_by_mpigauge(osu_benchmark):
    \"\"\"Sanity and performance are as they are inherited; only the program is another.\"\"\"

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    num_tasks = 1

    @run_before("run")
    def replace(self):
        self.executable, self.executable_opts = "cat", [f"FOLDER/{self.executable}.txt"]
"""
"""A class of a user who derives from ReFrame's."""


@pytest.fixture
def rows(programs: Programs, cli: Cli) -> Rows:
    """What was measured, by pattern and size; in `r.jsonl`."""
    what = [*PATTERNS.values(), "--sizes", "8,4MiB", "--launches", "2", "--samples", "20"]
    assert cli("run", *what, "-q", "-o", "r.jsonl").status == 0
    found = json.loads(cli("show", "r.jsonl", "--format", "json").out)["rows"]
    return {(row["pattern"], row["bytes"]): row for row in found}


def test_reframe_finds_that_it_passed_and_how_fast_it_was(rows: Rows, cli: Cli) -> None:
    status, said, cases = reframe(cli, "osu-validation")
    assert (status, set(cases)) == (0, set(PATTERNS)), said
    for program, numbers in cases.items():
        ((name, (value, *_, unit)),) = numbers.items()
        if name.endswith(":bandwidth"):
            expected = rows[PATTERNS[program], 4 * 2**20]["rate_bytes_per_s"] / 1e6
        else:
            expected = rows[PATTERNS[program], 8]["time_s"]["estimate"] * 1e6
        assert (value, unit) == (pytest.approx(expected, abs=1e-4), UNITS[name.rpartition(":")[2]])


def test_without_a_validation_reframe_takes_none_for_passed(rows: Rows, cli: Cli) -> None:
    """As of OSU's own text without -c: why there are two formats."""
    status, said, _ = reframe(cli, "osu")
    assert (status, f"{len(PATTERNS)} failure(s)" in said) == (1, True), said


def reframe(cli: Cli, form: str) -> tuple[int, str, dict[str, dict[str, list[Any]]]]:
    """Runs the check on a format: ReFrame's status, what it printed, and the numbers by program."""
    for program, pattern in PATTERNS.items():
        done = cli("show", "r.jsonl", "--series", pattern, "--format", form, "-o", f"{program}.txt")
        assert done.status == 0, done.err
    Path("check.py").write_text(CHECK.replace("FOLDER", str(Path.cwd())), encoding="utf-8")
    packages = [str(INSTALLED), *map(str, INSTALLED.glob("lib/python*/site-packages"))]
    around = {**os.environ, "PYTHONPATH": os.pathsep.join(packages)}
    command = [sys.executable, str(INSTALLED / "bin" / "reframe"), "-c", "check.py", "-r", "--prefix=stage"]
    words = [*command, "--report-file=report.json"]
    ran = subprocess.run(words, env=around, capture_output=True, text=True, timeout=240, check=False)
    (run,) = json.loads(Path("report.json").read_text(encoding="utf-8"))["runs"]
    found = {case["display_name"].rpartition(".")[2]: case["perfvalues"] for case in run["testcases"]}
    return ran.returncode, ran.stdout + ran.stderr, found
