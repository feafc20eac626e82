"""A running job: its lines as they come, the output to keep, and an end that leaves no process behind.

Three things guard against orphans. A process that outlives us (`janitor`) ends the launcher if we die, and
the kernel dies with its launcher, with us (`owner`), or with its input where the launcher may stay. We adopt
descendants that lose their parent (as a child subreaper), so that ranks in sessions of their own can still
be found and killed; an environment variable marks them. And a launcher's exit status is not believed: we
look at the processes. What a job leaves in the temporary folder and in shared memory the janitor removes,
and if that was killed, too, the next mpigauge (`orphans`).
"""

import contextlib
import ctypes
import fcntl
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
import uuid
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

from mpigauge.cache import with_home
from mpigauge.campaign.launch.awake import CLOCK, awake_s
from mpigauge.campaign.launch.inherited_env import launcher_environment
from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.janitor import DismissedJanitor, first_message, janitor
from mpigauge.campaign.launch.job import temporary_folder, write_files
from mpigauge.campaign.launch.launchers import Ending
from mpigauge.campaign.launch.leftovers import KILLED, MARK, marked_processes
from mpigauge.campaign.launch.orphans import note_job
from mpigauge.campaign.launch.owner import death_notice
from mpigauge.campaign.launch.process_tree import descendants_of, describe, is_marked, is_zombie, reap_adopted
from mpigauge.errors import EnvironmentLacksError, remedy
from mpigauge.mpi.environments import Changes, applied
from mpigauge.programs import with_program_path
from mpigauge.vocabulary import GAP

WORDS_KEPT = 40
"""Number of first lines kept, which say why a job failed, and of last lines, which say how it ended."""

KILL_WAIT_S = 5.0
LAST_WORDS_S = 1.5
"""How long to read standard error after the end of standard output."""

READ_BYTES = 1 << 20

_PR_SET_CHILD_SUBREAPER = 36


MAX_LINE_BYTES = 1 << 28
"""Length to which a line that may be the kernel's is cut; no journal has a longer one."""

MAX_OTHER_LINE_BYTES = 4096
"""Length to which any other line is cut, such as a progress bar that never ends its line."""

OBJECT = b'{"'
"""Beginning of a kernel's line, after at most MAX_OTHER_LINE_BYTES of an unfinished line of a library."""


class LineSplitter:
    """Splitter for the lines of one stream, which end with a newline or, as in a progress bar, a return.

    A line that is too long is cut. Pieces of a line are joined once, when it ends: joining them as they
    come would take time quadratic in its length.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._kept_bytes = 0
        self._most_bytes = MAX_LINE_BYTES

    def take(self, data: bytes) -> list[bytes]:
        """Take the next bytes and return the lines that they complete, without newlines."""
        first, *others = data.replace(b"\r", b"\n").split(b"\n")
        self._keep(first)
        if not others:
            return []
        *whole, last = others
        lines = [self.rest(), *(line[: _most_bytes_of(line)] for line in whole)]
        self._keep(last)
        return lines

    @property
    def endless(self) -> bytes:
        """The beginning of an unfinished line that is too long already; empty if there is none."""
        is_cut = self._kept_bytes == self._most_bytes
        return self._pieces[0] if is_cut else b""

    def rest(self) -> bytes:
        """Return the unfinished line, and forget it."""
        line = b"".join(self._pieces)
        self._pieces, self._kept_bytes, self._most_bytes = [], 0, MAX_LINE_BYTES
        return line

    def _keep(self, piece: bytes) -> None:
        room_bytes = self._most_bytes - self._kept_bytes
        if not piece or room_bytes <= 0:
            return
        self._pieces.append(piece[:room_bytes])
        before_bytes = self._kept_bytes
        self._kept_bytes += len(self._pieces[-1])
        if before_bytes <= MAX_OTHER_LINE_BYTES + len(OBJECT):  # until here it is not known what line it is
            self._decide()

    def _decide(self) -> None:
        """Lower the limit of the line once it is seen not to be the kernel's."""
        self._pieces = [b"".join(self._pieces)]
        self._most_bytes = _most_bytes_of(self._pieces[0])
        self._pieces[0] = self._pieces[0][: self._most_bytes]
        self._kept_bytes = len(self._pieces[0])


def _most_bytes_of(beginning: bytes) -> int:
    """Return the limit for a line that begins so: the higher one as long as it may be the kernel's."""
    is_known = len(beginning) >= MAX_OTHER_LINE_BYTES + len(OBJECT)
    if is_known and beginning.find(OBJECT, 0, MAX_OTHER_LINE_BYTES + len(OBJECT)) < 0:
        return MAX_OTHER_LINE_BYTES
    return MAX_LINE_BYTES


def _prctl() -> Callable[[int, int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    call = ctypes.CDLL(None, use_errno=True).prctl
    return lambda option, value: int(call(option, value, 0, 0, 0))


_PRCTL = _prctl()


@contextlib.contextmanager
def _signal_not_ignored(number: signal.Signals) -> Iterator[None]:
    """Let programs started in the context react to a signal that we ignore, as in a background job.

    A new program has the default action for a signal that we handle, so nothing has to be set between fork
    and exec, where a lock of another thread would never be released. Only the main thread can set handlers;
    from other threads, a launcher that ignores the signal is killed.
    """
    ignored = signal.getsignal(number) is signal.SIG_IGN
    if not ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_IGN)


class Watch(Protocol):
    """An observer of a job while it is silent."""

    @property
    def every_s(self) -> float:
        """Interval of looks while the job is silent, in seconds."""

    def look(self) -> float:
        """Look at the job; return the seconds to wait on at most."""


class _Wait:
    """A wait for the next line that counts, with looks at the job; stops of this process are excluded."""

    def __init__(self, patience_s: Callable[[], float], watch: Watch | None) -> None:
        self._patience_s = patience_s
        self._watch = watch
        self.renew()

    def renew(self) -> None:
        """Restart the wait after a line."""
        self._deadline = awake_s() + self._patience_s()
        self._look_again()

    def last(self, seconds: float) -> None:
        """Wait for so much longer at most, without looks."""
        self._watch = None
        self._shorten(seconds)
        self._look_again()

    @property
    def next(self) -> float:
        """Time of the next look or of the end, by the awake clock."""
        return min(self._deadline, self._look)

    def is_over(self) -> bool:
        """Look at the job if it is time to; return whether the wait is over."""
        if self._watch is not None and awake_s() >= self._look:
            self._shorten(self._watch.look())
            self._look_again()
        return awake_s() >= self._deadline

    def _shorten(self, seconds: float) -> None:
        self._deadline = min(self._deadline, awake_s() + seconds)

    def _look_again(self) -> None:
        self._look = math.inf if self._watch is None else awake_s() + self._watch.every_s


class RunningJob:
    """A started launcher; a context manager whose exit ends all processes of the job.

    Args:
        command: Program and arguments.
        environment: Variables that differ from our own environment; None for those that are removed.
        parts: Input of rank 0, of which `feed` sends one part each time it is asked for: a launcher that
            buffers more than rank 0 reads at once may abort the job, as Hydra does.
        interruption: Wakes up `lines`.
        ending: How to end its launcher.
        files: Contents by name of files in the job's temporary folder that the command names.
        all_here: Whether all ranks see this machine's files, so that they can use the temporary folder.
        elsewhere: Command of a remote shell on each other host of its ranks.
        dismissed: Takes the janitor of a job that has ended by itself, so that the next one need not wait.

    Attributes:
        undead: Processes of the job that survive SIGKILL, in words; known after `stop`.
        is_mute: Whether standard output has ended while a process of the job went on.

    Raises:
        EnvironmentLacksError: The launcher cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Changes,
        parts: Sequence[str] = (),
        interruption: Interruption | None = None,
        ending: Ending | None = None,
        files: Mapping[str, str] = MappingProxyType({}),
        *,
        all_here: bool = True,
        elsewhere: Sequence[Sequence[str]] = (),
        dismissed: list[DismissedJanitor] | None = None,
    ) -> None:
        self._elsewhere = elsewhere
        self._dismissed = dismissed
        self.undead: tuple[str, ...] = ()
        self.is_mute = False
        self._seen: set[int] = set()
        self._command = list(command)
        self._ending = ending or Ending()
        self._mark = uuid.uuid4().hex
        self._environment = {**environment, MARK: self._mark}
        self._files = files
        self._all_here = all_here
        self._parts = iter(parts)
        self._interruption = interruption
        self._first_words: list[str] = []
        self._words: deque[str] = deque(maxlen=WORDS_KEPT)
        self._gap = False
        self._splitters: defaultdict[int, LineSplitter] = defaultdict(LineSplitter)

    def __enter__(self) -> Self:
        if _PRCTL is not None:
            _PRCTL(_PR_SET_CHILD_SUBREAPER, 1)
        # Session folders that a killed launcher leaves behind would break the next launch.
        self._folder = temporary_folder("a job")
        message = first_message(self._elsewhere)
        note_job(self._folder, self._mark, message)
        self._janitor = janitor(str(self._folder), message, self._dismissed)
        self._running_janitor = self._janitor.__enter__()
        self._death_notice = death_notice(self._folder)
        owned = self._death_notice.__enter__()
        try:
            environ = applied(
                with_home(launcher_environment(os.environ)), {**self._temporary(owned), **self._environment}
            )
            words = with_program_path(write_files(self._command, self._files, self._folder), environ)
            self._running_janitor.expect(self._ending.orphan_signal, self._mark)
            with _signal_not_ignored(self._ending.end_signal):
                self._process = subprocess.Popen(
                    words,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=environ,
                    start_new_session=True,  # Ctrl-C is ours to handle, not the launcher's
                )
            self._running_janitor.watch(self._process.pid)
        except EnvironmentLacksError:
            self._tidy()
            raise
        except OSError as error:
            self._tidy()
            raise EnvironmentLacksError(
                f"{self._command[0]}: cannot be started: {error.strerror}",
                remedy(error, "check the MPI installation"),
            ) from None
        return self

    def _temporary(self, owned: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of our folder, which is not for other hosts: nobody would remove it there."""
        return {"TMPDIR": str(self._folder), **owned} if self._all_here else {}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._tidy()

    def _tidy(self) -> None:
        """Remove what the job leaves behind, after all its processes are dead."""
        self._death_notice.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._janitor.__exit__(None, None, None)

    # ---- What it says ----------------------------------------------------------------------------

    def lines(
        self,
        patience_s: Callable[[], float],
        busy: Callable[[], bool] = lambda: False,
        counts: Callable[[bytes], bool] = lambda _line: True,
        watch: Watch | None = None,
    ) -> Iterator[bytes]:
        """Yield the lines of standard output as they come; lines of standard error go to `add_words`.

        The iterator ends with the output, or soon after it where a process keeps standard error open.

        Args:
            patience_s: Returns how long to wait for the next line that counts; called after each one.
            busy: Returns whether a visit is running that SIGTERM should let end.
            counts: Returns whether a line is a sign of life: a library that hangs may go on printing.
            watch: Looks at the job while no such line comes, and may shorten the wait.

        Raises:
            TimeoutError: No line came for so long.
            InterruptedError: A signal asks us to stop, and all lines that had come are yielded.
        """
        with selectors.DefaultSelector() as selector:
            streams = self._register(selector)
            wait = _Wait(patience_s, watch)
            stop = False  # once no visit runs after the signal, it stops, even if the next line begins one
            while streams:
                if stop or self._ends(busy):
                    raise InterruptedError
                ready = selector.select(room_s := self._room_s(wait.next))
                CLOCK.waited(room_s)
                self._obey_signals()
                for key, _ in ready:
                    if key.data == "wake":
                        self._clear_wakeup()
                        continue
                    ended, lines = self._read(key.fd, key.data)
                    for line in lines:
                        yield line
                        if counts(line):
                            wait.renew()
                        stop = stop or self._ends(busy)
                    if ended:
                        selector.unregister(key.fd)
                        streams -= 1
                        self._ended(key.data, wait)
                if streams and wait.is_over():
                    if self.is_mute:
                        return
                    raise TimeoutError
            self.is_mute = False

    def _ended(self, name: str, wait: "_Wait") -> None:
        """Note the end of a stream; after that of the output, wait only briefly for the other one."""
        if name == "output":
            self.is_mute = True
            wait.last(LAST_WORDS_S)

    def _ends(self, busy: Callable[[], bool]) -> bool:
        return self._interruption is not None and self._interruption.should_end(busy=busy())

    def _room_s(self, moment: float) -> float:
        """Return the seconds until a moment, or until the grace time of a signal ends."""
        left_s = moment - awake_s()
        if self._interruption is not None:
            left_s = min(left_s, self._interruption.deadline - time.monotonic())
        return max(0.0, left_s)

    def _obey_signals(self) -> None:
        if self._interruption is not None:
            self._interruption.obey(self._all_processes)

    def _all_processes(self) -> set[int]:
        """Return all living processes of the job on this machine, whoever started them."""
        return {*self._living(), *marked_processes(self._mark)}

    def _clear_wakeup(self) -> None:
        if self._interruption is not None:
            self._interruption.clear_wakeup()

    def _register(self, selector: selectors.BaseSelector) -> int:
        if self._interruption is not None:
            selector.register(self._interruption.wake_fd, selectors.EVENT_READ, "wake")
        for stream, name in ((self._process.stdout, "output"), (self._process.stderr, "words")):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                selector.register(stream.fileno(), selectors.EVENT_READ, name)
        return 2

    def _read(self, fd: int, name: str) -> tuple[bool, list[bytes]]:
        """Return whether the stream has ended, and its complete lines if it is the output."""
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return False, []
        splitter = self._splitters[fd]
        whole = splitter.take(data)
        if not data and (rest := splitter.rest()):
            whole.append(rest)
        if name == "output":
            return not data, whole
        for line in whole:
            self.add_words(line)
        return not data, []

    @property
    def endless_line(self) -> str:
        """The beginning of a line of its output that is too long already; empty if there is none."""
        return (
            ""
            if self._process.stdout is None
            else _text(self._splitters[self._process.stdout.fileno()].endless)
        )

    def feed(self) -> bool:
        """Send the next part of the input; it must fit the pipe, since the write does not wait.

        Errors of a job that has ended are ignored: its output says why it did.

        Returns:
            Whether there was one left.
        """
        part = next(self._parts, "")
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError, BlockingIOError):
                os.write(self._process.stdin.fileno(), part.encode("ascii"))
        return bool(part)

    @property
    def is_input_unread(self) -> bool:
        """Whether the launcher has left input in its pipe; False where the system does not tell."""
        unread = array("i", [0])
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._process.stdin.fileno(), termios.FIONREAD, unread)
        return unread[0] > 0

    def add_words(self, line: bytes) -> None:
        """Keep a line to show if the job fails."""
        if not (text := _text(line)):
            return
        if len(self._first_words) < WORDS_KEPT:
            self._first_words.append(text)
            return
        self._gap = self._gap or len(self._words) == WORDS_KEPT
        self._words.append(text)

    def drop_words(self, lines: Iterable[bytes]) -> None:
        """Forget lines that have turned out to be harmless."""
        harmless = {_text(line) for line in lines}
        kept = [text for text in (*self._first_words, *self._words) if text not in harmless]
        self._first_words = kept[:WORDS_KEPT]
        self._words = deque(kept[WORDS_KEPT:], maxlen=WORDS_KEPT)
        self._gap = False

    @property
    def last_words(self) -> str:
        """The first and the last lines of the job's output outside its journal."""
        return "\n".join([*self._first_words, *([GAP] if self._gap else ()), *self._words])

    # ---- How it ends -----------------------------------------------------------------------------

    def wait(self, seconds: float) -> int | None:
        """Return the launcher's exit status, or None if it still runs; for the record only.

        Its output is read while waiting, as a full pipe would keep it alive.
        """
        self._drain(seconds)
        return self._process.poll()

    def stop(self) -> None:
        """End the launcher and its descendants: signal it twice, then kill all."""
        if self._process.poll() != 0:
            self._running_janitor.last_message = KILLED
        self._living()  # remembers processes that die from the launcher's signal, to reap them
        for _ in range(2):
            if self._process.poll() is not None:
                break
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(self._ending.end_signal)
            self._drain(self._ending.patience_s)
        deadline = time.monotonic() + KILL_WAIT_S
        while (living := self._living()) and time.monotonic() < deadline:
            for pid in living:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            self._process.poll()
            reap_adopted(self._process.pid, self._seen)
            time.sleep(0.01)
        reap_adopted(self._process.pid, self._seen)
        self.undead = tuple(map(describe, self._living() if living else ()))
        self._drain(0)

    def _living(self) -> list[int]:
        """Return the living processes of the job: the launcher, its descendants, and orphans with its mark.

        Other descendants of ours are not to be killed: what a script had started before it ran us by exec, or
        the master of an ssh connection with other sessions in it.
        """
        living = [pid for pid in self.processes() if not is_zombie(pid)]
        self._seen.update(living)
        return living

    def processes(self) -> list[int]:
        """Return all processes of the job; zombies only if they are descendants of its launcher."""
        below_launcher, below = descendants_of(self._process.pid, os.getpid())
        launcher = {self._process.pid, *below_launcher}
        return [pid for pid in below if pid in launcher or is_marked(pid, MARK, self._mark)]

    @property
    def launcher_status(self) -> int | None:
        """The launcher's exit status; None while it runs."""
        return self._process.poll()

    @property
    def is_alone(self) -> bool:
        """Whether no process of the job is left but its launcher."""
        return all(pid == self._process.pid or is_zombie(pid) for pid in self.processes())

    def _drain(self, seconds: float) -> None:
        """Wait for the launcher to end while reading its output, since a full pipe would keep it alive."""
        deadline = time.monotonic() + seconds
        while True:
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None and not stream.closed:
                    os.set_blocking(stream.fileno(), False)
                    _, lines = self._read(stream.fileno(), "words")
                    for line in lines:
                        self.add_words(line)
            if self._process.poll() is not None or time.monotonic() >= deadline:
                return
            time.sleep(0.01)


def _text(line: bytes) -> str:
    return line[:MAX_OTHER_LINE_BYTES].decode("utf-8", "replace").strip()
