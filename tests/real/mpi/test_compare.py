"""Comparisons on real libraries: a planted delay is found where it is, no library is slower than itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED
from mpigauge.mpi import find
from tests.real.mpi.conftest import delays_of, prefix
from tests.truth import check, truth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from tests.real.mpi.conftest import Run

pytestmark = pytest.mark.mpi

MEASURE = ("pingpong", "memcpy", "--sizes", "8,1024", "--budget", "60s", "-q")
LAUNCHES = ("--launches", "16", "--control", "no")
"""Without a control arm, for more of them: on a machine of three states a third may be all that are alike."""
DELAY_NS = 30_000


def compared(mpigauge: Run, *words: str) -> tuple[int, dict[str, Any]]:
    done = mpigauge("compare", *words, "--format", "json")
    assert done.returncode in {EXIT_DONE, EXIT_CHECK_FAILED, EXIT_UNDECIDED}, done.stderr
    return done.returncode, json.loads(done.stdout)


@truth
def test_a_planted_delay_is_found_where_it_is(
    mpigauge: Run, shim: Callable[[Library], dict[str, str]], tmp_path: Path
) -> None:
    """A variable that makes messages of one size take dozens of times as long, varied launch by launch.

    A machine that goes from state to state may leave too few launches in each: then it is measured again.
    """
    library = find.find(prefix("mpich"))
    environment = shim(library) | delays_of(0.0)
    words = (*LAUNCHES, "--vary", f"SHIM_DELAY_NS=0,{DELAY_NS}", "--mpi", str(library.mpicc))
    (tmp_path / "r.jsonl").unlink(missing_ok=True)
    done = mpigauge("run", *MEASURE, *words, "-o", "r.jsonl", environment=environment)
    assert done.returncode == 0, done.stderr
    status, said = compared(mpigauge, "r.jsonl", "--by", "setting")
    assert (status, said["verdict"]) == (EXIT_CHECK_FAILED, "slower")
    assert [one["bytes"] for one in said["cells"] if one["verdict"] == "slower"] == [1024]
    (slow,) = (one for one in said["cells"] if one["bytes"] == 1024)
    check("1 KiB delayed by 30 us / not delayed, lower end", slow["low"], above=1.5)
    assert slow["other"] == {"setting": f"SHIM_DELAY_NS={DELAY_NS}"}


@truth
def test_a_library_is_not_slower_than_itself(mpigauge: Run, tmp_path: Path) -> None:
    """Under two labels; how much a busy machine can tell is its own affair, but nothing is blamed."""
    both = [word for label in ("main", "pr") for word in ("--mpi", f"{label}={prefix('mpich')}")]
    (tmp_path / "r.jsonl").unlink(missing_ok=True)
    done = mpigauge("run", *MEASURE, "--launches", "8", *both, "-o", "r.jsonl")
    assert done.returncode == 0, done.stderr
    status, said = compared(mpigauge, "r.jsonl", "--margin", "25%", "--allow", "50%")
    assert status in {EXIT_DONE, EXIT_UNDECIDED}, said
    assert said["sides"].startswith("pr MPICH")
    assert said["interleaved"]
