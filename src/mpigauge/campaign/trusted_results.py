"""Which campaigns this user has begun: what the result of any other names is not run unasked.

A list of digests of first lines, in the user's own folder of states; the lines themselves stay in the
results. Where that folder cannot be written, every result is a stranger's.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from mpigauge.cache import is_safe
from mpigauge.errors import UsageError
from mpigauge.result.files import resume_words
from mpigauge.result.reader import Result
from mpigauge.result.records import Campaign
from mpigauge.result.writer import line_of
from mpigauge.vocabulary import AUTO

FOLDER = "mpigauge"
LIST = "campaigns"


def remember(campaign: Campaign) -> None:
    """Notes that a campaign is ours; goes on where it cannot be noted."""
    path = _path()
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In one piece, at the end: several campaigns may begin at once.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, f"{_digest(campaign)}\n".encode())
        finally:
            os.close(descriptor)


def check_trusted(result: Result, retry: str = "") -> None:
    """Refuses to run what a stranger's result names.

    Args:
        retry: What to type if one trusts it; empty: to resume it.

    Raises:
        UsageError: This user has not begun it; says all that would be run, and how.
    """
    if not is_ours(result.campaign):
        named = "; ".join(_named(result.campaign)) or "no program"
        raise UsageError(
            f"{result.path}: was not begun by you on this account; continued, it runs what it names: {named}",
            f"if you trust that: {retry or resume_words(result.path, '--trust')}",
        )


def _named(campaign: Campaign) -> Iterator[str]:
    """What a campaign runs, and with what: every word that its plan or its libraries have of it."""
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


def is_ours(campaign: Campaign) -> bool:
    """Whether this user has begun it, on this account: not if others could have written the list."""
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
    """Of the first line as it is written, which can be made again of what was read."""
    return hashlib.sha256(line_of(campaign).removesuffix(b"\n")).hexdigest()


def _path() -> Path | None:
    """None where nobody says where the user's home is."""
    states = Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"))  # noqa: PTH111
    return states / FOLDER / LIST if states.is_absolute() else None
