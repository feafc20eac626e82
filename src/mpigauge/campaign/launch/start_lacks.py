"""Reasons of this machine that a job dies of at its start: a full folder, or a limit of the shell."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from mpigauge import room, units
from mpigauge.campaign.failure_remedies import remedy_for
from mpigauge.result.environment import user_is_root
from mpigauge.result.system_limits import SHARED_MEMORY, limit_of, processes

OF_EACH_RANK, OF_LAUNCHER = 3, 3
"""Least number of processes and threads of each rank, and of the launcher."""


def lack(line: str, ranks: int, environ: Mapping[str, str]) -> str:
    """Return what a job lacked that died before its first line; empty if that is not known.

    Args:
        line: The line that says why it died.
        environ: Its variables.
    """
    remedy = remedy_for(line)
    if remedy is None or remedy.lacks == "room":
        folders = [room.temporary_folder(environ).path, *([] if remedy is None else [Path(SHARED_MEMORY)])]
        if full := next(filter(room.is_full, folders), None):
            left = units.format_rough_size(room.room_in(str(full))[0])
            return f"{full} is full, {left} left: {line}"
    option = "u" if remedy is None and _are_processes_few(ranks) else getattr(remedy, "lacks", "")
    limit = None if option == "u" and user_is_root() else limit_of(option)
    return f"{limit} (ulimit -{option}): {line}" if limit else ""


def _are_processes_few(ranks: int) -> bool:
    """Return whether this user may have fewer processes than a job of so many ranks needs."""
    most = processes()
    return most is not None and most - _running() < OF_EACH_RANK * ranks + OF_LAUNCHER


def _running() -> int:
    """Return how many processes and threads this user has."""
    running = 0
    for process in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if process.name.isdecimal() and process.stat().st_uid == os.getuid():
                running += len(list(Path(process.path, "task").iterdir()))
    return running
