"""The list of campaigns that this user has begun: programs named in any other result are not run unasked.

It holds digests of the first lines of results, in the user's own state folder. Where that folder cannot be
written, no result is trusted.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from mpigauge.cache import is_safe
from mpigauge.errors import UsageError
from mpigauge.result.files import resume_command
from mpigauge.result.reader import Result
from mpigauge.result.records import Campaign
from mpigauge.result.writer import line_of
from mpigauge.vocabulary import AUTO

FOLDER = "mpigauge"
LIST = "campaigns"


def remember(campaign: Campaign) -> None:
    """Add a campaign to the list, if it can be written."""
    path = _path()
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One write with O_APPEND: several campaigns may begin at once.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, f"{_digest(campaign)}\n".encode())
        finally:
            os.close(descriptor)


def check_trusted(result: Result, retry: str = "") -> None:
    """Refuse to run programs named in a result that this user has not begun.

    Args:
        retry: The command to type if the user trusts it; empty: the one that resumes it.

    Raises:
        UsageError: This user has not begun it; lists what would be run.
    """
    if not is_trusted(result.campaign):
        named = "; ".join(_programs_named(result.campaign)) or "no program"
        raise UsageError(
            f"{result.path}: was not begun by you on this account; continued, it runs what it names: {named}",
            f"if you trust that: {retry or resume_command(result.path, '--trust')}",
        )


def _programs_named(campaign: Campaign) -> Iterator[str]:
    """Yield all that a campaign would run: programs, options, hosts and variables it names."""
    plan = campaign.plan
    for library in campaign.libraries:
        yield from filter(None, (library.mpicc, *library.mpicc_options, library.mpiexec, library.compiler))
    yield from filter(None, (plan.mpiexec,))
    if plan.launcher != AUTO:
        yield f"launcher {plan.launcher}"
    if plan.remote_shell:
        yield f"remote shell {plan.remote_shell}"
    if plan.hosts:
        yield f"on {', '.join(host.name for host in plan.hosts)}"
    yield from (f"{name}={value}" for name, value in plan.variables.items())
    yield from dict.fromkeys(cell.setting for cell in campaign.cells if cell.setting)
    if plan.mpi_options:
        yield f"options {' '.join(plan.mpi_options)}"


def is_trusted(campaign: Campaign) -> bool:
    """Return whether this user has begun it; False if others could have written the list."""
    path = _path()
    try:
        return (
            path is not None
            and is_safe(path)
            and is_safe(path.parent)
            and _digest(campaign) in path.read_text(encoding="ascii", errors="replace").split()
        )
    except OSError:
        return False


def _digest(campaign: Campaign) -> str:
    """Return the digest of the first line as written, which can be made again from the record read."""
    return hashlib.sha256(line_of(campaign).removesuffix(b"\n")).hexdigest()


def _path() -> Path | None:
    """Return the path of the list; None where the user's home is not known."""
    states = Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"))  # noqa: PTH111
    return states / FOLDER / LIST if states.is_absolute() else None
