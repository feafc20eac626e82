"""The program with nothing around it: one library that is not there, jobs that a script plays, no process.

What would start a process finds no such program, and is counted. So whole commands run in milliseconds.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec
import pytest

from mpigauge.mpi.kinds import KINDS
from mpigauge.mpi.library import Library
from mpigauge.plan.patterns import KernelDescription
from tests.conftest import isolate
from tests.fakes import kernel as fake_kernel
from tests.fakes.law import describe
from tests.fakes.lines import say_launch
from tests.fakes.mpi import PRINTS
from tests.fakes.plan import PlanError, read_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LIBRARY = Library(
    kind=next(kind for kind in KINDS if kind.name == "openmpi"),
    version="5.0.11",
    standard="3.1",
    mpicc=Path("/opt/bin/mpicc"),
    mpiexec=Path("/opt/bin/mpiexec"),
    prefix=Path("/opt"),
    origin="PATH",
    show="gcc -lmpi",
    environment={},
)
DESCRIPTION = msgspec.convert(describe(), KernelDescription)
LATENCY_NS = 100
FORKS = ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.startfile", "os.system")


@dataclass
class Border:
    """What crossed it.

    Attributes:
        started: The words of every process that was to be started.
        change: What becomes of the journals of jobs; None: no job begins.
    """

    started: list[Any] = field(default_factory=list)
    change: Callable[[bytes], bytes] | None = None

    def popen(self) -> type:
        """Instead of subprocess.Popen: no program is there."""
        started = self.started

        class Missing(subprocess.Popen[bytes]):
            def __init__(self, words: Any, *_: Any, **__: Any) -> None:
                started.append(words)
                name = words if isinstance(words, str) else words[0]
                raise FileNotFoundError(2, "No such file or directory", str(name))

        return Missing

    def job(self, _command: Any, _variables: Any, parts: Sequence[str], *_: Any, **__: Any) -> PlayedJob:
        """Instead of a process."""
        return PlayedJob(b"" if self.change is None else self.change(journal_of("".join(parts))))


class PlayedJob:
    """A job whose every line is known beforehand."""

    undead: tuple[str, ...] = ()
    is_mute = False

    def __init__(self, journal: bytes) -> None:
        self._journal = journal
        self._words: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def lines(self, patience_s: Callable[[], float], *_: Any) -> Iterator[bytes]:
        """Return them as a running job does: without their ends, asked each time how long silence may be."""
        for line in self._journal.split(b"\n"):
            assert patience_s() > 0
            yield line

    def processes(self) -> list[int]:
        """Nobody looks for them while lines come."""
        return []

    def feed(self) -> bool:
        """It has its plan already."""
        return False

    def wait(self, _: float) -> int:
        """How it ended."""
        return 1

    def add_words(self, text: bytes) -> None:
        """Keeps them."""
        self._words.append(text.decode(errors="replace"))

    @property
    def last_words(self) -> str:
        """What was said, and a word more."""
        return "\n".join([*self._words, "these are my last words"])

    def drop_words(self, texts: Any) -> None:
        """Nobody asks for them."""


def journal_of(plan: str) -> bytes:
    """What the fake kernel says to a kernel plan."""
    text = plan.replace("more\n", "")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(PlanError):  # a job that dies at once
        launch, visits = read_plan(text.splitlines(keepends=True))
        said.write('{"ready":0}\n')
        say_launch(PRINTS["openmpi"].format("5.0.11"), launch["ranks"], launch["ranks"], "3.1")
        fake_kernel.Run(launch, visits, LATENCY_NS).run()
    return said.getvalue().encode()


@contextlib.contextmanager
def closed(folder: Path) -> Iterator[Border]:
    """The border of this process, closed, with empty folders behind it."""
    border = Border()
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        patch.setenv("MPLCONFIGDIR", str(folder / "home"))
        patch.setattr(subprocess, "Popen", border.popen())
        for module in ("campaign.launch.janitor", "campaign.launch.preflight", "mpi.variables"):
            patch.setattr(f"mpigauge.{module}.with_program_path", lambda words, *_: list(words))
        patch.setattr("mpigauge.campaign.job_run.RunningJob", border.job)
        patch.setattr("mpigauge.campaign.loop.Pacing.wait", lambda *_: None)
        # That of the verb first: were it imported now, it would have what stands for it for good.
        patch.setattr("mpigauge.cli.verbs.lab.enter", lambda *_: 0)
        patch.setattr("mpigauge.cli.sessions.lab_runs.enter", lambda *_: 0)
        patch.setattr("mpigauge.campaign.watch.watch_alone", _no_watch)
        for name in ("find", "find_default"):
            patch.setattr(f"mpigauge.mpi.find.{name}", lambda *_: LIBRARY)
        patch.setattr("mpigauge.mpi.find.find_each", lambda names: [LIBRARY for _ in names])
        for name in ("build", "rebuild"):
            patch.setattr(f"mpigauge.mpi.kernel.{name}", lambda *_: Path("/opt/mpigauge-kernel"))
        patch.setattr("mpigauge.mpi.kernel.describe", lambda _: DESCRIPTION)
        _armed.append(border)
        try:
            yield border
        finally:
            _armed.remove(border)


def _no_watch(*_: Any) -> Any:
    raise KeyboardInterrupt


_armed: list[Border] = []


def _hear(event: str, _: Any) -> None:
    """Also of what does not go through subprocess."""
    if _armed and event in FORKS:
        _armed[-1].started.append(event)


sys.addaudithook(_hear)


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str


def run(words: Sequence[object]) -> Done:
    """A command line in this process, with its output in memory: any exception is for the caller."""
    from mpigauge.cli import status_of  # noqa: PLC0415 - coverage is guided by what is imported later

    out, err = _stream(), _stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = status_of([str(word) for word in words])
    return Done(status, _text(out), _text(err))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode("utf-8")
