"""What goes wrong on real libraries: hangs, crashes, kills. It costs the cell, and nobody stays."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from mpigauge.campaign.launch import owner
from mpigauge.campaign.launch.process_tree import descendants
from mpigauge.errors import EXIT_NOTHING_MEASURED
from mpigauge.mpi import find, kernel
from mpigauge.mpi.library import Library
from mpigauge.result.reader import load
from mpigauge.rows.failure_cause import EXIT_ORPHANED, is_from_outside, line_of
from tests.real.mpi.conftest import PREFIXES, Run, kernels, prefix, wait_until
from tests.thorough import rest

pytestmark = pytest.mark.mpi

Shim = Callable[[Library], dict[str, str]]
WAIT_S = 300
SILENCE_S = 4.0
"""Of a rank, until it is given up: a hundred times what a visit takes here, and less than people wait."""

KILLS = 3
VISITS_BETWEEN = 20
"""At most; each of 27 cells has 4 visits or more in a launch, so three kills fall into two launches."""


@pytest.mark.parametrize(
    ("name", "action", "status"),
    [
        *rest(((name, "crash", "failed") for name in PREFIXES), [("openmpi", "crash", "failed")]),
        *rest(((name, "exit", "failed") for name in PREFIXES), []),
        ("openmpi", "corrupt", "corrupt"),
    ],
)
def test_a_broken_cell_costs_only_itself(
    mpigauge: Run, shim: Shim, tmp_path: Path, name: str, action: str, status: str
) -> None:
    library = find.find(prefix(name))
    environment = shim(library) | {"SHIM_ACTION": action, "SHIM_BYTES": "1024"}
    words = ("pingpong", "--sizes", "8,512,1024,2048", "--launches", "2", "--mpi", str(library.mpicc))
    done = mpigauge("run", *words, "--format", "json", "-o", "result.jsonl", environment=environment)
    assert done.returncode == 1, done.stderr
    states = {r["bytes"]: r["status"] for r in json.loads(done.stdout)["rows"] if r["pattern"] == "pingpong"}
    assert states == {8: "ok", 512: "ok", 1024: status, 2048: "ok"}
    result = load(tmp_path / "result.jsonl")
    assert {failure.cell.bytes for failure in result.failures if failure.cell} == {1024}
    if action == "crash":
        assert any("these are my last words" in failure.words for failure in result.failures)
    made = {(visit.cell.bytes, visit.launch) for visit in result.visits if visit.cell.pattern == "pingpong"}
    assert made >= set(product((8, 512, 2048), (1, 2)))


@pytest.mark.parametrize(
    "name", rest(["openmpi", "intelmpi"], ["openmpi"])
)  # MPICH's launcher is that of Intel MPI
def test_a_hang_costs_only_its_cell(
    name: str, mpigauge: Run, shim: Shim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.campaign.silence.MIN_SILENCE_S", SILENCE_S)
    library = find.find(prefix(name))
    environment = shim(library) | {"SHIM_ACTION": "hang", "SHIM_BYTES": "1024"}
    words = ("pingpong", "--sizes", "8,1024,2048", "--launches", "1", "--mpi", str(library.mpicc))
    done = mpigauge("run", *words, "--format", "json", environment=environment)
    assert done.returncode == 1, done.stderr
    states = {r["bytes"]: r["status"] for r in json.loads(done.stdout)["rows"] if r["pattern"] == "pingpong"}
    assert states == {8: "ok", 1024: "timeout", 2048: "ok"}
    assert not kernels()


def _start(tmp_path: Path, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "mpigauge", *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _ranks_below(pid: int) -> list[int]:
    """The kernel processes below one, launchers left out, and a kernel that only describes itself."""
    found = []
    for child in descendants(pid):
        with contextlib.suppress(OSError):
            describes = b"--describe" in Path(f"/proc/{child}/cmdline").read_bytes()
            if Path(f"/proc/{child}/exe").readlink().name == "mpigauge-kernel" and not describes:
                found.append(child)
    return found


def _launcher_below(pid: int) -> list[int]:
    """The launcher: the first process that is neither a rank nor the janitor."""
    others = [child for child in descendants(pid) if child not in _ranks_below(pid)]
    return [child for child in others if not _is_janitor(child)][:1]


def _caught(pid: int, victims: Callable[[int], list[int]]) -> list[int]:
    """Those that there are while ranks run; seen at one moment, for at the next they may have ended."""
    caught: list[int] = []

    def look() -> bool:
        caught[:] = victims(pid) if _ranks_below(pid) else []
        return bool(caught)

    assert wait_until(look)
    return caught


def _visits_in(result: Path) -> int:
    return result.read_bytes().count(b'"type":"visit"') if result.exists() else 0


def _is_janitor(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return b"leftovers.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return True


@pytest.mark.parametrize(
    ("name", "whom"),
    rest(list(product(PREFIXES, ("rank", "launcher"))), []),
)
def test_random_kills_of_ranks_and_launchers_lose_only_what_ran(tmp_path: Path, name: str, whom: str) -> None:
    chance = random.Random(f"{name} {whom}")
    result = tmp_path / "result.jsonl"
    sizes = ("--sizes", "0:4KiB", "--launches", "2", "--seed", "7")
    process = _start(
        tmp_path, "run", "pingpong", "exchange", *sizes, "--mpi", prefix(name), "-o", str(result)
    )
    victims = _ranks_below if whom == "rank" else _launcher_below
    for _ in range(KILLS):
        # By what was measured since, not by time: between two kills a launcher has started and ended visits.
        enough = _visits_in(result) + chance.randint(1, VISITS_BETWEEN)
        assert wait_until(lambda enough=enough: _visits_in(result) >= enough)  # type: ignore[misc]
        victim = chance.choice(_caught(process.pid, victims))
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    # 1: chance met the same cell in two launches, and it was given up.
    assert process.wait(WAIT_S) in (0, 1)
    loaded = load(result)
    assert loaded.ends[-1].reason == "launches"
    assert loaded.failures
    done = {(visit.launch, visit.id) for visit in loaded.visits}
    assert len(done) == len(loaded.visits)  # nothing finished was measured again
    struck = {failure.cell for failure in loaded.failures}
    assert {visit.cell for visit in loaded.visits} | struck >= set(loaded.campaign.cells)
    assert not kernels()


@pytest.mark.parametrize(
    ("name", "number"),
    rest(
        product(PREFIXES, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL)),
        [("mpich", signal.SIGINT)],
    ),
)
def test_a_launcher_that_is_ended_costs_no_cell(tmp_path: Path, name: str, number: signal.Signals) -> None:
    result = tmp_path / "result.jsonl"
    # 64 MiB takes seconds, so that the launcher that is caught after the first visit has others before it.
    sizes = ("--sizes", "8,64MiB", "--launches", "2", "--budget", "2min")
    process = _start(tmp_path, "run", "pingpong", *sizes, "--mpi", prefix(name), "-o", str(result))
    assert wait_until(lambda: _visits_in(result) > 0)
    (launcher,) = _caught(process.pid, _launcher_below)
    os.kill(launcher, number)
    assert process.wait(WAIT_S) == 0
    loaded = load(result)
    assert [failure.cell for failure in loaded.failures] == [None]
    assert is_from_outside(line_of(loaded.failures[0]))
    assert {visit.cell for visit in loaded.visits if visit.launch == 1} == set(loaded.campaign.cells)


AROUND_A_LAUNCHER = {
    "nobody reads its input": '{mpiexec} "$@" </dev/null',
    "it dies, and its ranks live": '{mpiexec} "$@" & sleep 1; kill -9 $$',
    "a progress bar never ends its line": """\
(yes "50%" | tr -d "\\n") & {mpiexec} "$@"; kill $!""",
    "a progress bar ends its lines by a return": """\
(yes "50%" | tr "\\n" "\\r") & {mpiexec} "$@"; kill $!""",
}


@pytest.mark.parametrize(
    ("around", "says"),
    [
        *rest(
            [
                ("it dies, and its ranks live", "its launcher was ended by SIGKILL"),
                ("a progress bar never ends its line", "is a line without end: "),
                ("nobody reads its input", "does not read its standard input"),
            ],
            [],
        ),
        ("a progress bar ends its lines by a return", ""),
    ],
)
def test_what_stands_around_a_launcher_is_told_or_overcome(
    mpigauge: Run, tmp_path: Path, around: str, says: str
) -> None:
    library = find.find(prefix("openmpi"))
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/bin/bash\n" + AROUND_A_LAUNCHER[around].format(mpiexec=library.mpiexec) + "\n")
    launcher.chmod(0o755)
    words = ("pingpong", "--sizes", "8", "--launches", "1", "--budget", "2s", "-o", "result.jsonl")
    done = mpigauge("run", *words, "--mpiexec", str(launcher))
    assert (done.returncode == 0) == (not says), done.stderr
    failures = load(tmp_path / "result.jsonl").failures
    assert [line_of(failure) for failure in failures[:1] if says not in line_of(failure)] == []
    assert bool(failures) == bool(says)
    assert "--patience" not in done.stderr


@pytest.mark.parametrize("name", rest(PREFIXES, ["intelmpi"]))
def test_random_kills_of_mpigauge_itself_lose_nothing_that_was_finished(tmp_path: Path, name: str) -> None:
    chance = random.Random(name)
    result = tmp_path / "result.jsonl"
    words = ("run", "pingpong", "--sizes", "0:64KiB", "--launches", "2", "--seed", "3", "--mpi", prefix(name))
    before: set[tuple[int, int]] = set()

    def again() -> "subprocess.Popen[bytes]":
        """The campaign goes on, or begins if it was killed before its file had a line."""
        if result.exists() and result.stat().st_size:
            return _start(tmp_path, "resume", str(result))
        result.unlink(missing_ok=True)
        return _start(tmp_path, *words, "-o", str(result))

    for _ in range(KILLS):
        process = again()
        wait_until(lambda process=process: bool(_ranks_below(process.pid)) or process.poll() is not None)  # type: ignore[misc]
        time.sleep(chance.uniform(0.0, 0.8))
        process.kill()
        process.wait()
        assert wait_until(lambda: not kernels()), "a launcher or rank outlived mpigauge"
        if result.exists() and result.stat().st_size:
            now = {(visit.launch, visit.id) for visit in load(result).visits}
            assert before <= now
            before = now
    assert again().wait(WAIT_S) == 0
    loaded = load(result)
    assert loaded.ends[-1].reason == "launches"
    assert before <= {(visit.launch, visit.id) for visit in loaded.visits}
    assert {visit.cell for visit in loaded.visits} == set(loaded.campaign.cells)


@pytest.mark.parametrize(
    ("name", "number"),
    [("openmpi", signal.SIGINT), ("mpich", signal.SIGTERM), ("intelmpi", signal.SIGINT)],
)
def test_a_signal_stops_cleanly_and_resume_completes(
    mpigauge: Run, tmp_path: Path, name: str, number: signal.Signals
) -> None:
    result = tmp_path / "result.jsonl"
    words = ("run", "pingpong", "--sizes", "0:256KiB", "--launches", "2", "--mpi", prefix(name))
    process = _start(tmp_path, *words, "-o", str(result))
    assert wait_until(lambda: result.exists() and result.read_bytes().count(b'"visit"') > 3)
    process.send_signal(number)
    assert process.wait(WAIT_S) == 128 + number
    assert not kernels()
    kept = load(result)
    assert kept.ends[-1].reason == "interrupted"
    assert not kept.torn
    done = mpigauge("resume", str(result), "-q")
    assert done.returncode == 0, done.stderr
    loaded = load(result)
    assert loaded.ends[-1].reason == "launches"
    assert {(v.launch, v.id) for v in kept.visits} <= {(v.launch, v.id) for v in loaded.visits}


def _mixed(folder: Path, compiler: str, launcher: str) -> Path:
    """A prefix with the mpicc of one library and the mpiexec of another; returns its mpicc."""
    folder.mkdir()
    # An ordinary user's Open MPI is not told about root: to the wrong launcher it would be an unknown option.
    if launcher == "openmpi":
        start = f'exec {_bin(launcher)}/mpiexec --allow-run-as-root "$@"'
    else:
        drop = 'n=$2; shift 2; [ "$1" = --allow-run-as-root ] && shift'
        start = f'{drop}; exec {_bin(launcher)}/mpiexec -n $n "$@"'
    for name, line in (("mpicc", f'exec {_bin(compiler)}/mpicc "$@"'), ("mpiexec", start)):
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    # What the compiler would build is what it builds under its own name.
    built = kernel.build(find.find(prefix(compiler)))
    shutil.copytree(built.parent, kernel.kernel_path(find.find(str(folder / "mpicc"))).parent)
    return folder / "mpicc"


def _bin(name: str) -> Path:
    path = Path(prefix(name))
    return path.parent if path.name == "mpicc" else path / "bin"


@pytest.mark.parametrize(
    ("compiler", "launcher", "status"), [("openmpi", "mpich", 3), ("mpich", "openmpi", 4)]
)
def test_another_librarys_launcher_is_refused_with_the_remedy(
    mpigauge: Run, tmp_path: Path, compiler: str, launcher: str, status: int
) -> None:
    """Singletons instead of one job, or ranks that cannot even start."""
    mpicc = _mixed(tmp_path / "mixed", compiler, launcher)
    done = mpigauge("run", "pingpong", "--sizes", "8", "--launches", "1", "--mpi", str(mpicc))
    assert done.returncode == status, done.stderr
    assert "mpiexec" in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_an_ordinary_user_can_do_it_too(mpigauge: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for path in (tmp_path, home):
        path.chmod(0o777)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    done = mpigauge(
        "run",
        "pingpong",
        "--sizes",
        "8",
        "--launches",
        "1",
        "--mpi",
        prefix("openmpi"),
        environment=environment,
        prefix=user,
    )
    assert done.returncode == 0, done.stderr


def test_a_start_whose_rank_is_dead_is_given_up_though_its_launcher_stays(
    mpigauge: Run, tmp_path: Path
) -> None:
    """A transport that Open MPI no longer has: a rank ends, and its launcher waits for ever."""
    words = ("pingpong", "--sizes", "8", "--launches", "1", "--budget", "2s", "-o", "result.jsonl")
    done = mpigauge("run", *words, environment={"OMPI_MCA_btl": "openib,self"})
    assert done.returncode == EXIT_NOTHING_MEASURED, done.stderr
    result = load(tmp_path / "result.jsonl")
    assert result.failures
    assert {failure.kind for failure in result.failures} == {"crash"}
    # Open MPI loses its sentence about openib in some starts, and then says only where it died.
    assert all(re.search("openib|MPI_Init", failure.words) for failure in result.failures)


def test_a_rank_that_dies_in_mpi_init_ends_the_launch_though_its_launcher_stays(
    mpigauge: Run, tmp_path: Path
) -> None:
    """Hydra of Intel MPI does not notice."""
    library = find.find(prefix("intelmpi"))
    launcher = tmp_path / "launcher"
    launcher.write_text(KILLS_A_RANK.format(mpiexec=library.mpiexec), encoding="utf-8")
    launcher.chmod(0o755)
    words = ("pingpong", "--sizes", "8", "--launches", "1", "--budget", "2s", "-o", "result.jsonl")
    place = ("--mpi", str(library.mpicc), "--mpiexec", str(launcher))
    done = mpigauge("run", *words, *place)
    assert done.returncode == EXIT_NOTHING_MEASURED, done.stderr
    (failure, *_) = load(tmp_path / "result.jsonl").failures
    assert failure.kind == "crash"
    assert "SIGKILL" in failure.words or "KILLED BY SIGNAL: 9" in failure.words


KILLS_A_RANK = """#!/bin/bash
# Rank 0 does not come, so that rank 1 is killed while it waits in MPI_Init.
program=${{@: -3:1}}
exec {mpiexec} "${{@:1:$#-3}}" bash -c '
    [ "$PMI_RANK" = 0 ] && exec sleep 300
    (sleep 3; kill -9 $$) &
    exec "$0" - -' "$program"
"""


@pytest.mark.thorough
def test_a_rank_whose_plan_never_comes_ends_by_itself(tmp_path: Path) -> None:
    """Whoever feeds it may be dead, and its launcher keep that to itself."""
    library = find.find(prefix("mpich"))
    program = tmp_path / "kernel"
    kernel.compile_to(program, library, "-DMG_START_MAX_S=1")
    started = subprocess.Popen(
        [program, "-", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with started:
        assert started.wait(60) == -signal.SIGALRM


def test_a_rank_ends_when_its_owner_does_whatever_its_launcher_hands_on(tmp_path: Path) -> None:
    """While it waits for its plan, and its input stays open."""
    program = kernel.build(find.find(prefix("mpich")))
    with owner.death_notice(tmp_path) as told:
        started = subprocess.Popen(
            [program, "-", "-"],
            env={**os.environ, **told},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert started.stdout is not None
        assert started.stdout.readline() == b'{"ready":0}\n'
    with started:
        assert started.wait(60) != 0


def test_a_rank_does_not_begin_for_an_owner_that_is_dead(tmp_path: Path) -> None:
    program = kernel.build(find.find(prefix("mpich")))
    os.mkfifo(tmp_path / owner.PIPE)
    for boot, status in ((owner.boot(), EXIT_ORPHANED), ("another", -signal.SIGKILL)):
        told = {owner.VARIABLE: f"{boot}:{tmp_path / owner.PIPE}"}
        with subprocess.Popen(
            [program, "-", "-"], env={**os.environ, **told}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as started:
            assert started.stdout is not None
            if status < 0:  # of another machine nobody can tell
                assert started.stdout.readline() == b'{"ready":0}\n'
                started.kill()
            assert started.wait(60) == status
