"""A machine of our own: nothing of the real one is found, nothing of it is written."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

# Workers share the cores: threads of small products of matrices would spin for each other, which doubles the
# processor time of the simulations. Read when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# With --import-mode=importlib nobody else puts the folder above tests/ on the path.
sys.path.insert(0, str(Path(__file__).parents[1]))

from mpigauge.cli import status_of
from mpigauge.result.environment import VARIABLES
from tests import needs, thorough, truth
from tests.fakes import played
from tests.fakes.mpi import FakeMpi, install
from tests.stored import StoredResults

# Open MPI's wheel sleeps for a second in MPI_Init if it may look for a network of this kind: a third of the
# time of all tests that start it.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _pytest.terminal import TerminalReporter

OURS = re.compile(r"^(FAKE_|MPICC$|MPIGAUGE_|XDG_)")

# What whoever starts the tests ignores (nohup, a script with &) would stay ignored in all that they start.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

# What tests allocate is soon free again; to look for circles as often as usual takes a tenth of their time.
gc.set_threshold(100_000, 50, 50)

# Examples are the same each time. `make test` tries few of them (--hypothesis-profile), CI all.
settings.register_profile("whole", derandomize=True, deadline=None, max_examples=20)
settings.register_profile("everyday", settings.get_profile("whole"), max_examples=8)
settings.load_profile("whole")

Install = Callable[..., FakeMpi]
MANY_MODULES = 50
LIBRARIES = ("openmpi", "mpich", "intelmpi")
_frozen = [0]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what .ci/run asks for."""
    parser.addoption("--complete", action="store_true", help="fail if a test is left out")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to CI what is asked of the libraries with other numbers of ranks."""
    thorough.rotate(items, LIBRARIES)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what this machine lacks the tools for."""
    needs.check(item)


def pytest_terminal_summary(
    terminalreporter: TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Print the ratios that were measured, and which tests were left out and why."""
    for line in truth.table(truth.RATIOS):
        terminalreporter.write_line(line)
    reasons = Counter(map(_reason, terminalreporter.stats.get("skipped", ())))
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"left out: {count} tests: {reason}", yellow=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With --complete, a test that is left out is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.option.complete and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _reason(report: pytest.TestReport) -> str:
    return str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr).removeprefix(
        "Skipped: "
    )


def pytest_collection_finish() -> None:
    """What there is by now stays for good: no search for circles needs to look at it again."""
    _freeze()


def pytest_runtest_logfinish() -> None:
    """So does what a test has imported, which a campaign would look through before every launch."""
    if len(sys.modules) > _frozen[0] + MANY_MODULES:
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()
    _frozen[0] = len(sys.modules)


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended.

    Attributes:
        status: What the process would have ended with.
        out: Its standard output.
        err: Its standard error.
    """

    status: int
    out: str
    err: str


Cli = Callable[..., Done]


def leave_memory(patch: pytest.MonkeyPatch) -> None:
    """Campaigns do not look through all that the tests have imported: that takes as long as ten launches."""
    patch.setattr("mpigauge.campaign.loop._freeze_garbage_collector", lambda: None)
    patch.setattr("gc.unfreeze", lambda: None)


def isolate(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Leaves of this machine only its processors: no MPI library, no compiler, no home."""
    for name in os.environ:
        if VARIABLES.match(name) or OURS.match(name):
            patch.delenv(name)
    for name in ("home", "work", "tmp", "empty"):
        (folder / name).mkdir(parents=True)
    patch.setenv("HOME", str(folder / "home"))
    patch.setenv("XDG_CACHE_HOME", str(folder / "home" / "cache"))
    patch.setenv("XDG_CONFIG_HOME", str(folder / "home" / "config"))
    patch.setenv("MPIGAUGE_KERNEL_DIR", str(folder / "kernels"))
    patch.setenv("TMPDIR", str(folder / "tmp"))
    patch.setenv("PATH", str(folder / "empty"))
    patch.setattr(tempfile, "tempdir", None)
    patch.setattr("mpigauge.campaign.job_run.RunningJob", played.job)
    leave_memory(patch)
    patch.setattr("os.fsync", lambda _: None)  # no result of a test must survive a power failure
    patch.setattr("mpigauge.mpi.find.OTHER_FOLDERS", ())
    patch.setattr("mpigauge.mpi.find.sysconfig.get_path", lambda _: str(folder / "empty"))
    patch.chdir(folder / "work")


def install_into(folder: Path, patch: pytest.MonkeyPatch) -> Install:
    """A function that puts a fake MPI library behind the others on PATH."""

    def put(kind: str = "openmpi", version: str = "5.0.11", **options: object) -> FakeMpi:
        fake = install(folder / "opt" / f"{kind}-{version}", kind, version, **options)  # type: ignore[arg-type]
        patch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{fake.bin}")
        return fake

    return put


@pytest.fixture(scope="session", autouse=True)
def stored_results() -> Iterator[StoredResults]:
    """Each result of the repository is read once."""
    with pytest.MonkeyPatch.context() as patch:
        stored = StoredResults()
        stored.apply(patch)
        yield stored


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty machine; its folders are work (where we are), home, tmp, kernels and opt."""
    isolate(tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture
def fake_mpi(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a fake MPI library and puts it on PATH."""
    return install_into(machine, monkeypatch)


@pytest.fixture
def as_processes(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of fake libraries are processes, and not played."""
    monkeypatch.setenv("FAKE_PROCESSES", "1")


@pytest.fixture
def openmpi(fake_mpi: Install) -> FakeMpi:
    """A machine with one MPI library."""
    return fake_mpi()


@pytest.fixture
def cli(machine: Path, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Runs a command line in this process."""

    def run(*words: object) -> Done:
        capfd.readouterr()
        status = status_of([str(word) for word in words])
        return Done(status, *capfd.readouterr())

    return run
