"""Errors that a user can cause or must know of: one sentence, a hint, and an exit status.

The code that finds the problem raises one of these; only `cli` prints it.
"""

import difflib
import errno
from collections.abc import Iterable

EXIT_DONE = 0
EXIT_CHECK_FAILED = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_NOTHING_MEASURED = 4
EXIT_UNDECIDED = 5
EXIT_FAULT = 70
"""Exit status of a fault of mpigauge itself: EX_SOFTWARE of sysexits.h, which says nothing about what was
measured."""

EXIT_SIGNAL_BASE = 128

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
AGAINST_LIMITS = {
    errno.EFBIG: "raise ulimit -f",
    errno.EAGAIN: "this user may start no more processes: raise ulimit -u",
    errno.EMFILE: "raise ulimit -n",
    errno.ENOMEM: "raise ulimit -v, or ask for more memory",
}
"""Remedies where the system refuses something, by the number of the error."""


class MpigaugeError(Exception):
    """Error that a user sees: a sentence naming the file, key, rank or host, and a hint of what to do.

    Attributes:
        sentence: What happened.
        hint: What to do about it; may be empty.
    """

    exit_code = EXIT_CHECK_FAILED

    def __init__(self, sentence: str, hint: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint


class UsageError(MpigaugeError):
    """Impossible request: a wrong option, plan or file."""

    exit_code = EXIT_USAGE


class EnvironmentLacksError(MpigaugeError):
    """Shortcoming of this machine: no MPI, no compiler, a full disk."""

    exit_code = EXIT_ENVIRONMENT


class JobError(MpigaugeError):
    """Failed MPI job: nothing was measured."""

    exit_code = EXIT_NOTHING_MEASURED


SIMILARITY = 0.7
"""Share of two words that must agree for one to be a misspelling of the other; 1 is all."""

MAX_LIST = 14
LIST_MOST_BESIDE_PROPOSAL = 6
"""Names that a hint lists, and those it lists beside a proposal."""

NEGATION = "non"


def remedy(error: OSError, instead: str) -> str:
    """Return what helps where the system refuses to write a file or to start a program.

    Args:
        instead: What to do where neither room nor a limit is lacking.
    """
    if error.errno in NO_ROOM:
        return f"free some space, or {instead}"
    limit = AGAINST_LIMITS.get(error.errno or 0, "")
    return f"{limit}, or {instead}" if error.errno == errno.EFBIG else limit or instead


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name that a misspelt word most likely means, never its opposite; empty if none is near."""
    known = [name for name in names if not _differs_by_negation(word.lower(), name.lower())]
    return next(iter(difflib.get_close_matches(word, known, n=1, cutoff=SIMILARITY)), "")


def _differs_by_negation(word: str, name: str) -> bool:
    """Return whether one of the two is negated: `blocking` is not a misspelt `nonblocking`."""
    if name.startswith(NEGATION):
        return not word.startswith(NEGATION[:2])
    return word.startswith(NEGATION)


def choose_from(names: Iterable[str], word: str = "", *, listed_by: str = "") -> str:
    """Return a hint with the name that a misspelt word most likely means, and with all names if few.

    Args:
        listed_by: Command that lists all names, where they are many.
    """
    known = list(names)
    near = nearest(word, known)
    proposed = f"did you mean {near}? " if near else ""
    if len(known) > (LIST_MOST_BESIDE_PROPOSAL if near else MAX_LIST) and (near or listed_by):
        return f"{proposed}{f'{listed_by} shows all' if listed_by else ''}".rstrip()
    return f"{proposed}choose from {', '.join(known)}"
