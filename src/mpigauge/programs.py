"""Programs of others: their paths, searched for only in the absolute folders of PATH, and running them.

Nothing in the current folder may run by accident: an empty entry of PATH is that folder, and so is `.`; `bin`
is one below it. A name with a slash is a path that the user has written, and is taken as it is.
"""

import contextlib
import errno
import math
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TypeVar

from mpigauge.vocabulary import GAP

Item = TypeVar("Item")
Made = TypeVar("Made")

OUTPUT_MOST = 2**24
"""Bytes of the output of a program that are kept: several times what any of MPI's programs prints."""

HALF_BYTES = OUTPUT_MOST // 2
READ_BYTES = 1 << 16
WAIT_MOST_S = 1.0
"""Longest wait: Python notes a signal that comes just before a wait begins only when that ends."""

END_STEP_S = 0.05
ENDING_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
USUAL_HANDLERS = (signal.SIG_DFL, signal.default_int_handler)
"""Handlers of Python itself: it ends, or is interrupted wherever it is."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended.

    Attributes:
        status: Its exit status, or the number of the signal that ended it with a minus.
        out: Its standard output; of one that is longer than OUTPUT_MOST, its begin, GAP and its end.
        err: Its standard error, likewise.
    """

    status: int
    out: str
    err: str


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGTERM; of one without a name, its number."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def end_of(status: int) -> str:
    """Return how a program ended, by its status, or the number of its signal with a minus."""
    if 0 < -status < signal.NSIG:
        return ": ".join(filter(None, (signal_name(-status), signal.strsignal(-status))))
    return f"status {status}"


def run(
    command: Sequence[str],
    environ: Mapping[str, str],
    timeout_s: float | None = None,
    *,
    folder: Path | None = None,
    keep: Sequence[int] = (),
) -> Ended:
    """Run a program without input to its end; on a time-out or a signal it ends with all that it has started.

    Args:
        environ: All of its variables.
        folder: Where it runs; None is the current folder.
        keep: File descriptors that it has, too.

    Raises:
        TimeoutError: It did not end in time, or something that it started kept its output open; says so.
        OSError: It cannot be started.
    """
    groups = _groups()
    with _ended_by_signals(groups) as ending:
        ending.is_held = True
        running = subprocess.Popen(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            pass_fds=keep,
            start_new_session=True,
        )
        groups.add(running.pid)
        with running:
            try:
                ending.release()
                out, err = _outputs(running, deadline := _Deadline(timeout_s))
                return Ended(_status(running, deadline), out, err)
            except BaseException:
                _end(running.pid)
                raise
            finally:
                groups.discard(running.pid)


def at_once(function: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Return the results of a function for all items, in their order; they are computed in threads.

    What fails in one, an interrupt or a signal ends the programs that are run in the others.
    """
    groups: set[int] = set()
    made: list[Future[Made]] = []
    with (
        _ended_by_signals(groups) as ending,
        ThreadPoolExecutor(initializer=_set_groups, initargs=(groups,)) as pool,
    ):
        try:
            ending.is_held = True  # a thread that is just being started would not be among them
            made.extend(pool.submit(function, item) for item in items)
            ending.release()
            while any(not one.done() for one in made):
                ended, _ = wait(made, WAIT_MOST_S, return_when=FIRST_EXCEPTION)
                for one in ended:
                    one.result()
            return [one.result() for one in made]
        except BaseException:
            for one in made:
                one.cancel()
            while wait(made, END_STEP_S).not_done:  # what is just being started is not among them yet
                _end_all(groups)
            raise


_OWN = threading.local()


def _groups() -> set[int]:
    """Return where the groups of programs are noted that threads beside each other run."""
    own: set[int] | None = getattr(_OWN, "groups", None)
    return set() if own is None else own


def _set_groups(groups: set[int]) -> None:
    _OWN.groups = groups


def _end_all(groups: Iterable[int]) -> None:
    for group in tuple(groups):
        _end(group)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


class _Deadline:
    """The end of the time that a program has; None is no end."""

    def __init__(self, timeout_s: float | None) -> None:
        self._timeout_s = timeout_s
        self._until = math.inf if timeout_s is None else time.monotonic() + timeout_s

    def left_s(self) -> float:
        """Return the seconds to wait before asking again; raise TimeoutError if none are left."""
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"has not ended after {self._timeout_s:.0f} s")
        return min(left_s, WAIT_MOST_S)


def _status(running: subprocess.Popen[bytes], deadline: _Deadline) -> int:
    """Wait for the end of a program that has closed its output, which may take long, too."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return running.wait(deadline.left_s())


def _outputs(running: subprocess.Popen[bytes], deadline: _Deadline) -> list[str]:
    """Read standard output and error until both are closed."""
    streams = {stream: _Kept() for stream in (running.stdout, running.stderr) if stream is not None}
    with selectors.DefaultSelector() as open_ones:
        for stream in streams:
            open_ones.register(stream, selectors.EVENT_READ)
        while open_ones.get_map():
            for ready, _ in open_ones.select(deadline.left_s()):
                if piece := os.read(ready.fd, READ_BYTES):
                    streams[ready.fileobj].add(piece)  # type: ignore[index]
                else:
                    open_ones.unregister(ready.fileobj)
    return [kept.text for kept in streams.values()]


class _Kept:
    """The begin and the end of an output that may be longer than memory."""

    def __init__(self) -> None:
        self._begin, self._end, self._is_cut = bytearray(), bytearray(), False

    def add(self, piece: bytes) -> None:
        """Add what was read last."""
        room = HALF_BYTES - len(self._begin)
        self._begin += piece[:room]
        self._end += piece[room:]
        if len(self._end) > OUTPUT_MOST:
            del self._end[:-HALF_BYTES]
            self._is_cut = True

    @property
    def text(self) -> str:
        """Begin and end of the output; bytes that are not UTF-8 are replaced."""
        gap = f"\n{GAP}\n".encode() if self._is_cut or len(self._end) > HALF_BYTES else b""
        return bytes(self._begin + gap + self._end[-HALF_BYTES:]).decode(errors="replace")


class _EndedBySignalError(BaseException):
    """A signal has come that ends us."""


class _Ending:
    """Handler of signals that would end us, or that others take note of: it ends programs, or raises.

    While a program is being started they wait: nobody would end it yet.

    Args:
        groups: Groups of the programs.
        handlers: What is to be done on each signal.

    Attributes:
        is_held: Whether a program is being started.
        pending: The signal that has come meanwhile.
    """

    def __init__(self, groups: set[int], handlers: Mapping[signal.Signals, object]) -> None:
        self.is_held = False
        self.pending: int | None = None
        self._groups, self._handlers = groups, handlers

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note a signal, for whoever has asked to be told; or raise what ends the block."""
        if callable(told := self._handlers[signal.Signals(number)]) and told not in USUAL_HANDLERS:
            told(number, frame)
        self.pending = number
        if not self.is_held:
            self.release()

    def release(self) -> None:
        """Do what a signal has called for."""
        self.is_held, number, self.pending = False, self.pending, None
        if number is None:
            return
        if self._handlers[signal.Signals(number)] not in USUAL_HANDLERS:
            _end_all(self._groups)
            return
        raise KeyboardInterrupt if number == signal.SIGINT else _EndedBySignalError(number)


@contextlib.contextmanager
def _ended_by_signals(groups: set[int]) -> Iterator[_Ending]:
    """Let signals end programs: those that would end us end this block first, and us then."""
    in_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS if in_main}
    # Those that are ignored stay so, as under nohup; of what is not Python's nothing is known.
    heard = {number: told for number, told in before.items() if told not in (signal.SIG_IGN, None)}
    ending = _Ending(groups, heard)
    try:
        for number in heard:
            signal.signal(number, ending)
        yield ending
    except _EndedBySignalError as ended:
        ending.pending = ended.args[0]
    finally:
        for number, told in heard.items():
            signal.signal(number, told)
        if ending.pending is not None:
            signal.raise_signal(ending.pending)


def search_path(path: str | None = None) -> list[Path]:
    """Return the absolute folders of a search path, in their order.

    Args:
        path: Value like PATH's; None is PATH itself, or the system's default if it is not set.
    """
    words = os.environ.get("PATH", os.defpath) if path is None else path
    return [folder for folder in map(Path, filter(None, words.split(os.pathsep))) if folder.is_absolute()]


def which(name: str, path: str | None = None) -> str | None:
    """Return the path of a program; None if there is none of this name.

    Args:
        path: Value like PATH's; None is PATH itself.
    """
    folders = search_path(path)
    if not folders and not os.path.dirname(name):  # noqa: PTH120 - whether somebody wrote a path
        return None  # shutil would search elsewhere
    return shutil.which(name, path=os.pathsep.join(map(str, folders)))


def with_program_path(command: Sequence[str], environ: Mapping[str, str] | None = None) -> list[str]:
    """Return a command whose first word is the path of its program.

    Args:
        environ: Variables of the program; None are those of this process.

    Raises:
        FileNotFoundError: There is no such program.
    """
    name, *words = command
    path = which(name, None if environ is None else environ.get("PATH", os.defpath))
    if path is None and not os.path.dirname(name):  # noqa: PTH120 - likewise
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return [path or name, *words]
