"""Why a job died: which of its last words most likely say so."""

import re
from collections.abc import Sequence
from itertools import pairwise

OURS = "mpigauge:"
"""How lines begin that we add."""

KERNELS = re.compile(r"mpigauge-kernel: rank")
"""How lines begin that our kernel has said."""

CAUSE = re.compile("error(?! checking)|fatal|signal|has failed because", re.IGNORECASE)
"""MPICH's report of itself has a line about its error checking. Open MPI says why before it says where."""

OF_LAUNCHER = re.compile(r"\[(proxy|mpiexec|prterun)\b")
"""How lines of a launcher about itself begin; what they say follows from the death of a rank."""

DEATH = re.compile(r"process rank \d+ .*on node|RUNNING AT|^Remote host:")
"""Open MPI and Hydra on a rank that died, Open MPI on a host; the line after it says of what."""


def telling_line(words: str) -> str:
    """The line of a job's last words that most likely says why, and on which host a rank died.

    That is what our kernel or we say, else the first error and the death, else the last line with letters.

    Returns:
        Empty if the job said nothing.
    """
    lines = [line.strip(" =\0") for line in words.splitlines() if re.search("[A-Za-z]{3}", line)]
    if ours := next((line for line in lines if KERNELS.search(line) or line.startswith(OURS)), ""):
        return ours.removeprefix(OURS).strip()
    causes = [line for line in lines if CAUSE.search(line)]
    cause = next((line for line in causes if not OF_LAUNCHER.match(line)), "")
    death = _death(lines)
    if death and cause not in death:
        return f"{cause}; {death}"
    return death or cause or next(iter(causes or lines[-1:]), "")


def _death(lines: Sequence[str]) -> str:
    """The line that says which rank or host died, and the one after it; empty if none does."""
    for line, after in pairwise([*lines, ""]):
        if DEATH.search(line):
            return " ".join(f"{line} {after}".split())
    return ""
