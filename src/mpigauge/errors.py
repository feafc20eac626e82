"""The errors that a user can cause or must know of: one sentence, what to do, and an exit status.

Whoever first knows of the trouble raises one of these; only `cli` prints it.
"""

import difflib
from collections.abc import Iterable

EXIT_DONE = 0
EXIT_CHECK_FAILED = 1
EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_NOTHING_MEASURED = 4
EXIT_UNDECIDED = 5
EXIT_FAULT = 70
"""A fault of mpigauge itself: EX_SOFTWARE of sysexits.h, which says nothing about what was measured."""

EXIT_SIGNAL_BASE = 128


class MpigaugeError(Exception):
    """One sentence naming the file, key, rank or host, and a hint of what to do.

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
    """What was asked for cannot be: a wrong option, plan or file."""

    exit_code = EXIT_USAGE


class EnvironmentLacksError(MpigaugeError):
    """This machine cannot do it: no MPI, no compiler, a full disk."""

    exit_code = EXIT_ENVIRONMENT


class JobError(MpigaugeError):
    """The MPI job failed and nothing was measured."""

    exit_code = EXIT_NOTHING_MEASURED


LIKENESS = 0.7
"""How much of two words must be the same for one to be a mistyped other; 1 is all."""

LIST_MOST = 14
LIST_BESIDE_MOST = 6
"""How many names a hint lists, and how many where it has proposed one already."""

NEGATION = "non"


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name that a mistyped word most likely means, never its opposite; empty if none is near."""
    there = [name for name in names if not _opposite(word.lower(), name.lower())]
    return next(iter(difflib.get_close_matches(word, there, n=1, cutoff=LIKENESS)), "")


def _opposite(word: str, name: str) -> bool:
    """Return whether one of both denies: `blocking` is not a mistyped `nonblocking`."""
    if name.startswith(NEGATION):
        return not word.startswith(NEGATION[:2])
    return word.startswith(NEGATION)


def choose_from(names: Iterable[str], word: str = "", *, listed_by: str = "") -> str:
    """Return the hint that proposes what a mistyped word was meant for, and lists few names, not many.

    Args:
        listed_by: The command that shows them, for a list that is long.
    """
    there = list(names)
    near = nearest(word, there)
    proposed = f"did you mean {near}? " if near else ""
    if len(there) > (LIST_BESIDE_MOST if near else LIST_MOST) and (near or listed_by):
        return f"{proposed}{f'{listed_by} shows all' if listed_by else ''}".rstrip()
    return f"{proposed}choose from {', '.join(there)}"
