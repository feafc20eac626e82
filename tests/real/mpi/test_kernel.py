"""The kernel by itself: what it refuses, what it says, and that sanitizers have nothing to say."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.mpi import find, kernel
from mpigauge.mpi.kinds import identify
from mpigauge.mpi.library import Library
from mpigauge.plan.names import DESCRIPTION
from mpigauge.result import environment
from mpigauge.result.environment import cores_allowed
from mpigauge.result.reader import load
from tests.real.mpi.conftest import Run, prefix

pytestmark = pytest.mark.mpi

LAUNCH = (
    f"launch version=2 ranks=2 cores={cores_allowed()} visits_per_cell=1 rounds_min=30 rounds_max=100 "
    "precision_ppm=10000 cell_ns=5000000 deadline_ns=60000000000 warmup_ns=1000000"
)
DEBIANS = Path("/usr/bin/mpicc.openmpi")
VISIT = "visit id=0 cell=0 pattern=pingpong bytes=8"
WINDOWS_OF_MANY = f"visit id=0 cell=0 pattern=incast mode=stream bytes=8 window={2**20}"


def _start(
    library: Library, program: Path, plan: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    job = Job(
        library.mpiexec,
        2,
        (str(program), "-", "-"),
        cores=cores_allowed(),
        as_root=os.geteuid() == 0,
    )
    return subprocess.run(
        command_of(job, library.kind.launcher).words,
        input=plan,
        env={**library.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def openmpi() -> Library:
    return find.find(prefix("openmpi"))


@pytest.fixture(scope="module")
def mpich() -> Library:
    return find.find(prefix("mpich"))


def test_what_is_kept_of_the_kernel_is_what_it_says(mpich: Library) -> None:
    assert DESCRIPTION.read_text(encoding="ascii") == kernel.stored_description(mpich)


def test_open_mpi_5_has_persistent_collectives_although_it_says_mpi_3(
    openmpi: Library, mpich: Library
) -> None:
    assert kernel.describe(openmpi).patterns == kernel.describe(mpich).patterns


@pytest.mark.needs("mpicc.openmpi")
def test_an_older_library_only_lacks_modes(mpich: Library) -> None:
    newer = {pattern.name: pattern for pattern in kernel.describe(mpich).patterns}
    for pattern in kernel.describe(find.find(str(DEBIANS))).patterns:
        modes = tuple(mode for mode in newer[pattern.name].modes if mode.needs_mpi < 4)
        assert pattern == replace(newer[pattern.name], modes=modes)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("end\n", "before the plan's line 'end'"),
        (f"{LAUNCH}\n{VISIT}\n", "before the plan's line 'end'"),
        (f"{VISIT}\nend\n", "expected 'launch' first"),
        (f"{LAUNCH} frobs=1\nend\n", "a launch has no key 'frobs'"),
        (f"{LAUNCH.replace('rounds_max=100', 'rounds_max=-1')}\nend\n", "rounds_max is '-1'"),
        (f"{LAUNCH.replace('cell_ns=5000000 ', '')}\nend\n", "lacks 'cell_ns'"),
        (f"{LAUNCH.replace('cell_ns=5000000', f'cell_ns={2**63 - 1}')}\nend\n", f"cell_ns is '{2**63 - 1}'"),
        (f"{LAUNCH}\nvisit id=0 cell=0 pattern=pingpung bytes=8\nend\n", "a pattern of --describe"),
        (f"{LAUNCH}\nvisit id=0 cell=0 pattern=pingpong mode=psychic bytes=8\nend\n", "no mode 'psychic'"),
        (f"{LAUNCH}\nvisit id=0 cell=0 pattern=pingpong bytes=1e9\nend\n", "bytes is '1e9'"),
        (
            f"{LAUNCH}\nvisit id=0 cell=0 pattern=pingpong mode=persistent bytes=8 pool_bytes=65536\nend\n",
            "cold",
        ),
        (f"{LAUNCH}\n{VISIT} partitions=2\nend\n", "pingpong standard has no partitions"),
        (f"{LAUNCH}\n{VISIT} stride_bytes=2\nend\n", "pingpong standard has no blocks"),
        (f"{LAUNCH}\n{VISIT} depth=2\nend\n", "pingpong standard has no queue"),
        (f"{LAUNCH}\nvisit\tid\nend\n", "expected 'launch' first, then only 'group' and 'visit'"),
        (f"{LAUNCH}\n{LAUNCH}\nend\n", "expected 'launch' first, then only 'group' and 'visit'"),
        (
            f"{LAUNCH.replace('ranks=2', 'ranks=3000')}\n{WINDOWS_OF_MANY}\nend\n",
            f"windows of {2**20} messages of each of 2999 ranks are more than an int can count",
        ),
        (
            f"{LAUNCH}\nvisit id=0 cell=0 pattern=stream mode=unidirectional bytes={2**46} window=2\nend\n",
            "more than any memory",
        ),
        (
            f"{LAUNCH.replace('ranks=2', 'ranks=3')}\n{VISIT}\nend\n",
            "the plan is for 3 ranks, this job has 2",
        ),
    ],
)
def test_a_plan_that_cannot_be_followed_gets_one_sentence_and_never_an_end(
    mpich: Library, plan: str, words: str
) -> None:
    done = _start(mpich, kernel.build(mpich), plan)
    assert done.returncode != 0
    assert words in done.stderr
    assert '"end":' not in done.stdout


def test_a_launch_ends_with_its_end_and_begins_with_its_facts(mpich: Library) -> None:
    done = _start(mpich, kernel.build(mpich), f"{LAUNCH}\n{VISIT}\nend\n")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [next(iter(line)) for line in lines] == ["ready", "launch", "begin", "visit", "end"]


def test_files_instead_of_pipes(mpich: Library, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text(f"{LAUNCH}\n{VISIT}\nend\n")
    words = [
        str(mpich.mpiexec),
        "-n",
        "2",
        str(kernel.build(mpich)),
        str(tmp_path / "plan"),
        str(tmp_path / "journal"),
    ]
    subprocess.run(words, check=True, timeout=300)
    kept = (tmp_path / "journal").read_text()
    assert json.loads(kept.splitlines()[-1]).keys() == {"end"}
    again = subprocess.run(words, check=False, timeout=300, capture_output=True, text=True)
    assert again.returncode != 0
    assert f"the journal {tmp_path / 'journal'} is not empty" in again.stderr
    assert (tmp_path / "journal").read_text() == kept


def test_the_kernel_dies_with_its_launcher(openmpi: Library) -> None:
    """Open MPI's launcher leaves its ranks behind when it is killed; the kernel does not stay."""
    visits = "\n".join(f"visit id={i} cell={i} pattern=pingpong bytes=4194304" for i in range(2000))
    job = Job(
        openmpi.mpiexec,
        2,
        (str(kernel.build(openmpi)), "-", "-"),
        cores=cores_allowed(),
        as_root=os.geteuid() == 0,
    )
    process = subprocess.Popen(
        command_of(job, "openmpi").words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{LAUNCH}\n{visits}\nend\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith('{"ready"')
    assert process.stdout.readline().startswith('{"launch"')
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()  # the fixture of conftest.py sees to it that nobody is left


@pytest.mark.parametrize("name", ["mpich", "intelmpi"])  # Open MPI's mpiexec never closes a rank's input
@pytest.mark.parametrize("hangs", [False, True])
def test_a_watched_job_ends_with_its_input_though_its_launcher_lives(
    name: str, hangs: bool, shim: Callable[[Library], dict[str, str]]
) -> None:
    """A launcher may outlive who started it, as one that a scheduler runs for us does."""
    library = find.find(prefix(name))
    orders = shim(library) | {"SHIM_ACTION": "hang", "SHIM_BYTES": "1024"} if hangs else {}
    job = Job(library.mpiexec, 2, (str(kernel.build(library)), "-", "-"), cores_allowed(), os.geteuid() == 0)
    launch = (
        LAUNCH.replace("cell_ns=5000000", "cell_ns=50000000000")
        .replace("=10000", "=1")
        .replace("rounds_max=100", "rounds_max=9999999")
    )
    with subprocess.Popen(
        command_of(job, library.kind.launcher).words,
        env={**library.environ, **orders},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        visit = VISIT.replace("bytes=8", "bytes=1024")
        process.stdin.write(f"{launch} watched=1\n{visit}\nend\n")
        process.stdin.flush()
        while not process.stdout.readline().startswith('{"begin"'):
            assert process.poll() is None
        process.stdin.close()
        process.stdin = None
        killer = threading.Timer(ENDS_WITHIN_S, process.kill)
        killer.start()
        _, words = process.communicate()
        killer.cancel()
    assert process.returncode not in (0, -signal.SIGKILL)
    # A launcher that ends at once may not have passed them on.
    assert not words or "whoever started this job is gone" in words


ENDS_WITHIN_S = 120.0
ALONE = LAUNCH.replace("ranks=2", "ranks=1")


def test_a_thread_of_the_launcher_may_end_before_its_ranks(mpich: Library, tmp_path: Path) -> None:
    """The system tells of the end of whoever started a process: of one thread, although its process lives."""
    words = [str(kernel.build(mpich)), "-", str(tmp_path / "journal")]
    started: list[subprocess.Popen[str]] = []

    def start() -> None:
        environment = mpich.environ
        started.append(
            subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        assert started[0].stdout is not None
        started[0].stdout.readline()  # `ready`: the kernel has asked to be told by now

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    (process,) = started
    process.communicate(f"{ALONE}\nvisit id=0 cell=0 pattern=memcpy bytes=8\nend\n", timeout=300)
    assert process.returncode == 0
    assert json.loads((tmp_path / "journal").read_text().splitlines()[-1]).keys() == {"end"}


def test_a_disk_that_is_full_is_said_and_ends_the_job(mpich: Library, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text(f"{ALONE}\nvisit id=0 cell=0 pattern=memcpy bytes=8\nend\n")
    words = [str(mpich.mpiexec), "-n", "1", str(kernel.build(mpich)), str(tmp_path / "plan"), "/dev/full"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0
    assert "the journal cannot be written any more: is the disk full" in done.stderr


@pytest.mark.parametrize(
    ("call", "hang_ns", "words", "kinds"),
    [
        (
            "MPI_Send",
            1_000_000_000,
            "visit 1 (pingpong, 1024 B) has hung for 1 s",
            ["begin", "visit", "begin"],
        ),
        ("MPI_Sendrecv", 20_000_000, "the warm-up has hung for 1.28 s", []),
    ],
)
def test_a_launch_that_nobody_watches_ends_itself_when_it_hangs(
    mpich: Library,
    shim: Callable[[Library], dict[str, str]],
    call: str,
    hang_ns: int,
    words: str,
    kinds: list[str],
) -> None:
    """Every rank does, also those that rest: not all launchers end the others."""
    hangs = {"SHIM_ACTION": "hang", "SHIM_BYTES": "1024", "SHIM_CALL": call}
    visits = f"{VISIT}\nvisit id=1 cell=1 pattern=pingpong bytes=1024"
    launch = LAUNCH.replace("cell_ns=5000000", "cell_ns=500000")
    plan = f"{launch} hang_ns={hang_ns}\n{visits}\nend\n"
    done = _start(mpich, kernel.build(mpich), plan, **shim(mpich), **hangs)
    assert done.returncode != 0
    assert f"mpigauge-kernel: {words}: gave it up" in done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"')]
    assert [next(iter(line)) for line in lines] == ["ready", "launch", *kinds]


def test_visits_that_come_on_are_no_hang(mpich: Library, shim: Callable[[Library], dict[str, str]]) -> None:
    """Together they take longer than a hang may, and each of them much less."""
    slow = {"SHIM_ACTION": "delay", "SHIM_BYTES": "1024", "SHIM_DELAY_NS": "5000000"}
    launch = LAUNCH.replace("cell_ns=5000000", "cell_ns=500000")
    visits = "\n".join(f"visit id={i} cell={i} pattern=pingpong bytes=1024" for i in range(40))
    done = _start(
        mpich, kernel.build(mpich), f"{launch} hang_ns=1000000000\n{visits}\nend\n", **shim(mpich), **slow
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["end"] > 1_300_000_000


# ---- The machine that measures -------------------------------------------------------------------


def _lines(library: Library, plan: str) -> list[dict[str, Any]]:
    done = _start(library, kernel.build(library), plan)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_says_which_machine_it_is_on(mpich: Library) -> None:
    (launch,) = (line["launch"] for line in _lines(mpich, f"{LAUNCH}\nend\n") if "launch" in line)
    here = environment.environment()
    (machine,) = launch["machines"]
    assert machine["host"] == launch["placement"][0]["host"]
    assert (machine["cpu"], machine["kernel"]) == (here.cpu, here.kernel)
    assert machine["cache_bytes"] == max(here.caches.values(), default=0)


@pytest.mark.parametrize("pool_bytes", [2**20, 2**28])
def test_what_is_cold_is_larger_than_the_caches_here(mpich: Library, pool_bytes: int) -> None:
    """Whatever the machine that wrote the plan has; a pool that is large enough stays as it is."""
    visit = f"{VISIT} window=1 mode=standard pool_bytes={pool_bytes}"
    pools = {}
    for caches in (0, 1):
        lines = _lines(mpich, f"{LAUNCH} pool_caches={caches}\n{visit}\nend\n")
        (pools[caches],) = (line["pool_bytes"] for line in lines if "visit" in line)
    assert pools[0] == pool_bytes
    assert pools[1] == max(pool_bytes, *environment.caches().values())


def test_it_says_before_it_starts_which_library_it_is(mpich: Library) -> None:
    assert identify(kernel.describe(mpich).library) == (mpich.kind, mpich.version)


def test_the_first_message_of_a_launch_is_timed(mpigauge: Run, library: Library, tmp_path: Path) -> None:
    """Before any other, so that it is of every launch, and of none with one rank."""
    words = ("--mpi", str(library.mpicc), "--launches", "1", "--samples", "30", "-q")
    for pattern, ranks in (("pingpong", "2"), ("allreduce", "3"), ("memcpy", "1")):
        done = mpigauge("run", pattern, "--np", ranks, "--sizes", "8", *words, "-o", f"{pattern}.jsonl")
        assert done.returncode == 0, done.stderr
        (launch,) = load(tmp_path / f"{pattern}.jsonl").launches
        assert (launch.first_round_trip_ns > 0) is (ranks != "1")
        assert launch.init_ns >= launch.init_median_ns > 0
