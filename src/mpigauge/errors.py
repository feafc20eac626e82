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


def nearest(word: str, names: Iterable[str]) -> str:
    """The name that somebody who typed a word most likely meant; empty if none is near."""
    return next(iter(difflib.get_close_matches(word, list(names), n=1)), "")


def choose_from(names: Iterable[str], word: str = "") -> str:
    """The hint that lists what there is, and begins with what a mistyped word was most likely meant for."""
    there = list(names)
    near = nearest(word, there)
    return f"{f'did you mean {near}? ' if near else ''}choose from {', '.join(there)}"
