"""The command line in a process of its own, which need not import it first: a fork of the tests' own."""

from __future__ import annotations

import importlib
import os
import pkgutil
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from typing import IO, TYPE_CHECKING

import mpigauge
from mpigauge.cli import main

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import NoReturn


def import_all() -> None:
    """Every module of mpigauge, and so all that they import: half of the time that a short command takes."""
    for module in pkgutil.walk_packages(mpigauge.__path__, "mpigauge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def run(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run of `python -m mpigauge` does, with all that it says captured.

    Raises:
        subprocess.TimeoutExpired: It was killed for taking too long.
    """
    import_all()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _become(words, folder, environment, out, err)
        status = _ended(child, words, timeout_s)
        return subprocess.CompletedProcess([*words], status, _text(out), _text(err))


def _become(
    words: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> NoReturn:
    """The child, which never returns to the tests."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for stream, number in ((os.open(os.devnull, os.O_RDONLY), 0), (out.fileno(), 1), (err.fileno(), 2)):
            os.dup2(stream, number)
        sys.stdin, sys.stdout, sys.stderr = (_opened(0, "r"), _opened(1, "w"), _opened(2, "w"))
        main([*words])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else status
    except BaseException:  # noqa: BLE001 - nothing may get out of here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _opened(number: int, mode: str) -> IO[str]:
    return open(number, mode, encoding="utf-8", errors="backslashreplace")


def _ended(child: int, words: Sequence[str], timeout_s: float) -> int:
    """Sleeping meanwhile: what is measured has the cores for itself."""
    end = os.pidfd_open(child)
    try:
        in_time, _, _ = select.select([end], [], [], timeout_s)
        if not in_time:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(end)
    if not in_time:
        raise subprocess.TimeoutExpired([*words], timeout_s)
    return os.waitstatus_to_exitcode(status)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
