"""Programs of others: their paths, searched for only in the absolute folders of PATH, and running them.

Nothing in the current folder may run by accident: an empty entry of PATH is that folder, and so is `.`; `bin`
is one below it. A name with a slash is a path that the user has written, and is taken as it is.
"""

import contextlib
import errno
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from mpigauge.vocabulary import GAP

Item = TypeVar("Item")
Made = TypeVar("Made")

OUTPUT_MOST = 2**24
"""Bytes of the output of a program that are kept: several times what any of MPI's programs prints."""

READ_BYTES = 1 << 16
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
USUAL_HANDLERS = (signal.SIG_DFL, signal.default_int_handler)
"""What Python does on these signals: it ends, or is interrupted wherever it is."""


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
        TimeoutError: It did not end in time, or something that it started kept its output open.
        OSError: It cannot be started.
    """
    with _ended_by_signals() as ending:
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
        _RUNNING.add(running.pid)
        with running:
            try:
                ending.release()
                out, err = _outputs(running, timeout_s)
                return Ended(running.wait(), out, err)
            except BaseException:
                _end(running.pid)
                raise
            finally:
                _RUNNING.discard(running.pid)


def at_once(function: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    """Return the results of a function for all items, each in a thread of its own, in their order.

    What fails in one, an interrupt or a signal ends the programs that are run in the others.
    """
    with _ended_by_signals(), ThreadPoolExecutor() as pool:
        try:
            return list(pool.map(function, items))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for group in tuple(_RUNNING):
                _end(group)
            raise


_RUNNING: set[int] = set()
"""Groups of the programs that are run now, of all threads."""


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _outputs(running: subprocess.Popen[bytes], timeout_s: float | None) -> list[str]:
    """Read standard output and error until both are closed."""
    streams = {stream: _Kept() for stream in (running.stdout, running.stderr) if stream is not None}
    until = None if timeout_s is None else time.monotonic() + timeout_s
    with selectors.DefaultSelector() as open_ones:
        for stream in streams:
            open_ones.register(stream, selectors.EVENT_READ)
        while open_ones.get_map():
            left_s = None if until is None else until - time.monotonic()
            if left_s is not None and left_s <= 0:
                raise TimeoutError
            for ready, _ in open_ones.select(left_s):
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
        half = OUTPUT_MOST // 2
        room = half - len(self._begin)
        self._begin += piece[:room]
        self._end += piece[room:]
        if len(self._end) > OUTPUT_MOST:
            del self._end[:-half]
            self._is_cut = True

    @property
    def text(self) -> str:
        """What was kept; bytes that are not UTF-8 are replaced."""
        gap = f"\n{GAP}\n".encode() if self._is_cut else b""
        return bytes(self._begin + gap + self._end).decode(errors="replace")


class _EndedBySignalError(BaseException):
    """A signal has come that ends us."""


class _Ending:
    """What signals do that would end us at once: they raise, but not while a program is being started.

    Attributes:
        is_held: Whether a program is being started, which nobody would end yet.
    """

    def __init__(self) -> None:
        self.is_held = False
        self.pending: int | None = None

    def __call__(self, number: int, _frame: object) -> None:
        """Note a signal, or raise what ends the block."""
        self.pending = number
        if not self.is_held:
            self.release()

    def release(self) -> None:
        """Raise what a signal has called for."""
        self.is_held, number, self.pending = False, self.pending, None
        if number is not None:
            raise KeyboardInterrupt if number == signal.SIGINT else _EndedBySignalError(number)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[_Ending]:
    """Let signals that would end us at once end this block first, and us then."""
    ending = _Ending()
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    deadly = {number: usual for number, usual in before.items() if usual in USUAL_HANDLERS}
    if threading.current_thread() is not threading.main_thread():
        deadly = {}
    try:
        for number in deadly:
            signal.signal(number, ending)
        yield ending
    except _EndedBySignalError as ended:
        ending.pending = ended.args[0]
    finally:
        for number, usual in deadly.items():
            signal.signal(number, usual)
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
