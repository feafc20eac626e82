"""A launcher given as a command template, such as `flux run -n {ranks}`, with placeholders for the job."""

import shlex
from collections.abc import Callable, Mapping
from string import Formatter

from mpigauge.campaign.launch.job import HOSTS, HOSTS_FILE, Command, Job
from mpigauge.errors import UsageError

PLACEHOLDERS: Mapping[str, Callable[[Job], str]] = {
    "ranks": lambda job: str(job.ranks),
    "hostfile": lambda _: HOSTS_FILE,
    "hosts": lambda job: ",".join(job.ranks_on),
}
"""`hostfile` has the host of each rank, one per line; `hosts` each host once, in the order of first ranks."""

HOST_PLACEHOLDERS = {"hostfile", "hosts"}


def is_template(text: str) -> bool:
    """Return whether a launcher is a command template and not the name of a known launcher."""
    return len(text.split()) > 1 or "{" in text or "/" in text


def check_template(text: str, *, hosts: bool) -> None:
    """Refuse an invalid command template.

    Args:
        hosts: Whether jobs are placed on hosts.

    Raises:
        UsageError: The template is invalid; names it, and the placeholder that does not exist.
    """
    program, *_ = _split(text)
    if any(name is not None for _, name in _parts(text, program)):
        raise UsageError(
            f"--launcher {text!r}: begins with a placeholder", "begin with the program that starts ranks"
        )
    used = {name for word in _split(text) for _, name in _parts(text, word) if name is not None}
    if not used:
        raise UsageError(
            f"--launcher {text!r}: does not say how many ranks to start",
            'write where the number goes: --launcher "flux run -n {ranks}"',
        )
    if used & HOST_PLACEHOLDERS and not hosts:
        raise UsageError(
            f"--launcher {text!r}: asks for hosts, and there are none", "name them: --hosts h1:2,h2:2"
        )


def command_of(job: Job, text: str) -> Command:
    """Return the command of a job: the template with its placeholders filled in, then the program.

    Raises:
        UsageError: The template is invalid.
    """
    check_template(text, hosts=bool(job.hosts))
    words = [_filled(job, text, word) for word in _split(text)]
    lines = "".join(f"{host}\n" for host in job.hosts)
    files = {HOSTS: lines} if any(HOSTS_FILE in word for word in words) else {}
    return Command((*words, *job.options, *job.program), files)


def _split(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"--launcher {text!r}: cannot be split into words: {error}", "close the quotation mark"
        ) from None
    if not words:
        raise UsageError("--launcher: is empty", "name a launcher, or write its words")
    return words


def _parts(text: str, word: str) -> list[tuple[str, str | None]]:
    """Return the literal pieces of a word, each with the placeholder after it; `{{` is a literal brace."""
    try:
        parts = list(Formatter().parse(word))
    except ValueError:
        raise _unknown(text, word) from None
    for _, name, form, conversion in parts:
        if name is not None and (name not in PLACEHOLDERS or form or conversion):
            raise _unknown(text, f"{{{name}}}")
    return [(literal, name) for literal, name, _, _ in parts]


def _unknown(text: str, word: str) -> UsageError:
    names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    return UsageError(
        f"--launcher {text!r}: {word} is not a placeholder", f"use {names}; {{{{ is a brace that is meant"
    )


def _filled(job: Job, text: str, word: str) -> str:
    return "".join(
        literal + (PLACEHOLDERS[name](job) if name is not None else "")
        for literal, name in _parts(text, word)
    )
