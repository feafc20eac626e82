"""The ReFrame test class under ReFrame itself, on a fake library, against results of earlier days."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli import status_of
from tests.cli.integrations.conftest import INTEGRATIONS
from tests.conftest import install_into, isolate
from tests.places import ROOT

if TYPE_CHECKING:
    from tests.cli.integrations.conftest import Programs

pytestmark = pytest.mark.programs

CLASS = INTEGRATIONS / "reframe" / "mpigauge_test.py"
INSTALLED = ROOT / ".mpi" / "integrations"
WHAT = "pingpong memcpy --sizes 8,1KiB --launches 2 --samples 40"
SESSIONS = 5
LATENCY_NS = 10_000
"""Of the library of `programs`."""


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of earlier days."""
    folder = tmp_path_factory.mktemp("baseline")
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder / "machine", patch)
        patch.setenv("FAKE_JITTER", "0.01")
        install_into(folder / "machine", patch)("openmpi", latency_ns=LATENCY_NS)
        for day in range(SESSIONS):
            path = folder / "results" / f"day{day}.jsonl"
            path.parent.mkdir(exist_ok=True)
            assert status_of(["run", *WHAT.split(), "-q", "-o", str(path)]) == 0
    return folder / "results"


def reframe(*words: str, **variables: str) -> tuple[int, str, dict[str, Any]]:
    """Runs the class; ReFrame's status, what it printed, and the one test of its report."""
    packages = [str(INSTALLED), *map(str, INSTALLED.glob("lib/python*/site-packages"))]
    # Bytecode would lie among the examples, where the test of the wheel takes it for one of them.
    ours = {"PYTHONPATH": os.pathsep.join(packages), "PYTHONDONTWRITEBYTECODE": "1"}
    around = {**os.environ, **variables, **ours}
    command = [sys.executable, str(INSTALLED / "bin" / "reframe"), "-c", str(CLASS), "-r", "--prefix=stage"]
    report = ["--report-file=report.json", "--performance-report", "-S", f"what={WHAT}", *words]
    done = subprocess.run(
        [*command, *report], env=around, capture_output=True, text=True, timeout=240, check=False
    )
    (run,) = json.loads(Path("report.json").read_text(encoding="utf-8"))["runs"]
    (case,) = run["testcases"]
    return done.returncode, done.stdout + done.stderr, case


@pytest.mark.thorough
def test_it_measures_without_a_baseline(programs: Programs) -> None:
    status, said, case = reframe()
    assert (status, case["result"]) == (0, "pass"), said
    latency = case["perfvalues"]["generic:default:pingpong_standard_8B_2ranks_openmpi"]
    assert latency[0] == pytest.approx(LATENCY_NS / 1e3, rel=0.02)
    assert "us" in latency


def test_what_is_as_fast_as_before_passes(programs: Programs, baseline: Path) -> None:
    status, said, case = reframe("-S", f"baseline={baseline}")
    assert (status, case["result"]) == (0, "pass"), said
    latency = case["perfvalues"]["generic:default:pingpong_standard_8B_2ranks_openmpi"]
    assert latency[1] == pytest.approx(LATENCY_NS / 1e3, rel=0.02)


def test_what_is_slower_fails_by_its_performance(programs: Programs, baseline: Path) -> None:
    status, said, case = reframe("-S", f"baseline={baseline}", FAKE_SLOWER="1.5")
    assert (status, case["result"], case["fail_phase"]) == (1, "fail", "performance"), said
    assert "pingpong_standard_8B_2ranks_openmpi" in case["fail_reason"]


@pytest.mark.thorough
def test_undecided_is_neither_passed_nor_failed_unless_asked(programs: Programs, baseline: Path) -> None:
    few = baseline.parent / "few"
    few.mkdir(exist_ok=True)
    for path in sorted(baseline.iterdir())[:2]:
        (few / path.name).write_bytes(path.read_bytes())
    status, said, _ = reframe("-S", f"baseline={few}")
    assert (status, "SKIP" in said, "undecided" in said) == (0, True, True), said
    status, said, case = reframe("-S", f"baseline={few}", "-S", "strict=True")
    assert (status, case["fail_phase"]) == (1, "sanity"), said


@pytest.mark.thorough
def test_what_crashes_fails_by_its_sanity(programs: Programs) -> None:
    status, said, case = reframe(FAKE_CRASH="pingpong:1024")
    assert (status, case["fail_phase"]) == (1, "sanity"), said
    assert "mpigauge run ended with 1" in case["fail_reason"]
