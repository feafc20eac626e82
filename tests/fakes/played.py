"""Jobs of the fake kernel that no process runs: what a launch says follows from its plan, so it is said here.

An interpreter takes ten times as long to start as the fake kernel to say its lines, and a launch starts two.
So the fake launcher and the fake kernel run in this process wherever what they do is all that a test asks
for. Real processes are started for whatever only they can do (PROCESSES), for all other launchers, and
where a test says `as_processes`. That both say the same is held by tests/unit/test_played.py.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from unittest import mock

from mpigauge.cache import sealed
from mpigauge.campaign.launch.inherited_env import launcher_environment
from mpigauge.campaign.launch.job import write_files
from mpigauge.campaign.launch.process import RunningJob, Watch
from mpigauge.mpi.environments import applied
from tests.fakes import kernel, mpiexec
from tests.fakes.mpi import SHEBANG, kernel_text, launcher_text
from tests.fakes.plan import asked_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PROCESSES = frozenset(
    f"FAKE_{name}" for name in ("CRASH", "CRASH_AT", "HANG", "LOG", "NAP_S", "PROCESSES", "QUIT")
)
"""With one of these a launch dies, sleeps or tells its number; PROCESSES asks for nothing else."""


CALL = re.compile(r"^mpiexec\.main\('([\w-]+)'\)$", re.MULTILINE)


def job(command: Sequence[str], environment: Mapping[str, str], *words: Any, **more: Any) -> RunningJob:
    """Instead of RunningJob: a played one, or that."""
    kind = PlayedJob if is_played(command, {**os.environ, **environment}) else RunningJob
    return kind(command, environment, *words, **more)


def is_played(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether our own mpiexec is to start our own kernel, and nothing is asked for that takes a process."""
    return (
        not PROCESSES & environment.keys()
        and os.access(command[0], os.X_OK)
        and bool(kind_of(command[0]))
        and bool(program_of(command))
    )


def kind_of(launcher: str) -> str:
    """Of which kind of library it is, if tests/fakes/mpi.py wrote all of it; else empty."""
    text = Path(launcher).read_bytes().decode(errors="replace")
    call = CALL.search(text)
    return call[1] if call and text == SHEBANG + launcher_text(call[1]) else ""


def program_of(command: Sequence[str]) -> str:
    """What the kernel of a command runs, if it is one of mpi.py; the launcher's words end with KERNEL - -."""
    with contextlib.suppress(OSError, IndexError, UnicodeDecodeError):
        program = mpiexec.program_of(command[-3])
        if program and os.access(command[-3], os.X_OK):
            text = kernel_text(Path(program)).encode()
            return program if Path(command[-3]).read_bytes() in (text, sealed(text)) else ""
    return ""


class PlayedJob(RunningJob):
    """A job whose every line is known when it begins; what is said to it has been said by then."""

    def __enter__(self) -> Self:
        environment = applied(launcher_environment(os.environ), self._environment)
        self._status, self._journal, words = played(
            self._command, environment, "".join(self._parts), self._files
        )
        for line in words.splitlines():
            self.add_words(line.encode())
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def lines(
        self,
        patience_s: Callable[[], float],  # noqa: ARG002 - nobody waits
        busy: Callable[[], bool] = lambda: False,
        counts: Callable[[bytes], bool] = lambda _line: True,  # noqa: ARG002
        watch: Watch | None = None,  # noqa: ARG002
    ) -> Iterator[bytes]:
        """All of them, until a signal asks us to stop."""
        for line in self._journal:
            if self._ends(busy):
                raise InterruptedError
            yield line

    def feed(self) -> bool:
        """It has its plan already."""
        return False

    def wait(self, seconds: float) -> int:  # noqa: ARG002
        """It has ended before it began."""
        return self._status


def played(
    command: Sequence[str], environment: Mapping[str, str], plan: str, files: Mapping[str, str]
) -> tuple[int, list[bytes], str]:
    """How a job ends, the lines that it says, and its last words."""
    out, err = io.StringIO(), io.StringIO()
    environ = dict(environment)
    with tempfile.TemporaryDirectory() if files else contextlib.nullcontext("") as folder:
        words = write_files([*command], files, Path(folder))
        try:
            words = mpiexec.started(str(kind_of(command[0])), words[1:], environ)
        except SystemExit as refused:
            return 1, [], str(refused)
    with mock.patch.object(os, "environ", environ), contextlib.redirect_stdout(out):
        try:
            kernel.follow(asked_for(plan.splitlines(keepends=True)), *library_of(words[0]))
            status = 0
        except kernel.Died as died:
            status = kernel.EXIT_USAGE
            err.write(f"mpigauge-kernel: rank 0: {died}\n")
    return status, out.getvalue().encode().splitlines(), err.getvalue()


def library_of(kernel_path: str) -> tuple[str, str, int]:
    """Its name, standard and latency, as the program of its kernel says them to kernel.main."""
    call = ast.parse(Path(mpiexec.program_of(kernel_path)).read_text(encoding="utf-8")).body[-1]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    library, standard, latency_ns = map(ast.literal_eval, call.value.args)
    return library, standard, latency_ns
