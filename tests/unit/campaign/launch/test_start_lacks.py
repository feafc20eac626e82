"""Why a job died at its start: a folder that is full, or a limit of the shell, told before what followed."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from mpigauge import room
from mpigauge.campaign.launch import start_lacks
from mpigauge.campaign.launch.start_lacks import lack
from mpigauge.result import system_limits

UNKNOWN = "The PMIx server's listener thread failed to start."
NO_ROOM = "SIGBUS: Bus error"


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, int]]:
    """Room in each folder that is asked for, and no limits."""
    left: dict[str, tuple[int, int]] = {}
    monkeypatch.setattr(room, "room_in", lambda folder: left.get(folder, (2**40, 2**31)))
    monkeypatch.setattr(start_lacks, "user_is_root", lambda: False)
    limited(monkeypatch)
    return left


def limited(monkeypatch: pytest.MonkeyPatch, **limits: int) -> None:
    """Set limits by the option of ulimit, which are what a process of this user has."""
    numbers = {option: number for _, option, number, _ in system_limits.LIMITS}
    numbers["n"] = resource.RLIMIT_NOFILE
    by_number = {numbers[option]: most for option, most in limits.items()}
    infinity = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda number: (by_number.get(number, infinity), infinity))


@pytest.mark.parametrize("line", [UNKNOWN, NO_ROOM])
def test_a_full_folder_of_temporary_files_is_named(
    tmp_path: Path, roomy: dict[str, tuple[int, int]], line: str
) -> None:
    assert lack(line, 2, {"TMPDIR": str(tmp_path)}) == ""
    roomy[str(tmp_path)] = (8192, 1000)
    assert lack(line, 2, {"TMPDIR": str(tmp_path)}) == f"{tmp_path} is full, 8 KiB left: {line}"


def test_full_shared_memory_is_named_where_room_was_lacking(roomy: dict[str, tuple[int, int]]) -> None:
    roomy[system_limits.SHARED_MEMORY] = (0, 1000)
    assert lack(NO_ROOM, 2, {}) == f"{system_limits.SHARED_MEMORY} is full, 0 B left: {NO_ROOM}"
    assert lack(UNKNOWN, 2, {}) == ""  # some libraries do without


def test_a_full_folder_is_no_cause_of_what_has_another(
    tmp_path: Path, roomy: dict[str, tuple[int, int]]
) -> None:
    roomy[str(tmp_path)] = (0, 0)
    assert lack("There are not enough slots available", 2, {"TMPDIR": str(tmp_path)}) == ""


@pytest.mark.parametrize(
    ("option", "most", "line", "said"),
    [
        ("n", 24, "PMIX ERROR: PMIX_ERR_SYS_LIMITS_PIPES", "open files: 24 at most per process (ulimit -n)"),
        ("u", 8, "fork: Resource temporarily unavailable", "processes: 8 at most (ulimit -u)"),
        ("f", 8192, "SIGXFSZ: File size limit exceeded", "size of a file: 8 KiB at most (ulimit -f)"),
        ("v", 2**28, "mmap: Cannot allocate memory", "address space: 256 MiB at most (ulimit -v)"),
    ],
)
def test_a_limit_that_a_line_is_about_is_said_first(
    monkeypatch: pytest.MonkeyPatch, option: str, most: int, line: str, said: str
) -> None:
    assert lack(line, 2, {}) == ""
    limited(monkeypatch, **{option: most})
    assert lack(line, 2, {}) == f"{said}: {line}"
    assert lack("There are not enough slots available", 2, {}) == ""


def test_a_job_that_cannot_have_its_processes_died_of_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_lacks, "_running", lambda: 2)
    limited(monkeypatch, u=8)
    assert lack(UNKNOWN, 2, {}) == f"processes: 8 at most (ulimit -u): {UNKNOWN}"
    limited(monkeypatch, u=100)
    assert lack(UNKNOWN, 2, {}) == ""
    assert lack(UNKNOWN, 64, {}) == f"processes: 100 at most (ulimit -u): {UNKNOWN}"
    monkeypatch.setattr(start_lacks, "user_is_root", lambda: True)
    assert lack(UNKNOWN, 64, {}) == ""


def test_all_tasks_of_this_user_are_counted() -> None:
    assert start_lacks._running() >= len(list(Path("/proc/self/task").iterdir()))
