"""What tests need that a machine may lack: a test is left out then, and the last lines of pytest say so.

A test says so by `@pytest.mark.needs("shellcheck")`: a program, or a name of `CONDITIONS`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = {
    "chromium": "chromium",
    "git": "git",
    "ip": "iproute2",
    "iperf3": "iperf3",
    "jube": "jube",
    "man": "man-db",
    "modulecmd": "environment-modules",
    "mpicc.openmpi": "libopenmpi-dev",
    "pdflatex": "texlive-latex-recommended",
    "promtool": "prometheus",
    "setpriv": "util-linux",
    "shellcheck": "shellcheck",
    "slurmctld": "slurm-wlm",
    "tmux": "tmux",
}
"""Debian's package of each program."""

USUAL_PLACES = os.pathsep.join(
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"]
)
"""Where programs of the system are, whatever PATH a test has set."""

SIUNITX = Path("/usr/share/texlive/texmf-dist/tex/latex/siunitx/siunitx.sty")

LMOD = Path("/opt/lmod/usr/share/lmod/lmod")
"""A folder of its own: Debian's package excludes that of Environment Modules."""


def program(name: str) -> str:
    """Return the path of a program of the system, for a test that has the mark for it."""
    found = shutil.which(name, path=USUAL_PLACES)
    assert found is not None, f"mark this test with needs({name!r})"
    return found


@cache
def _user_namespaces() -> str:
    words = ["unshare", "--user", "--map-root-user", "--net", "true"]
    try:
        done = subprocess.run(words, capture_output=True, check=False, text=True)
    except OSError as error:
        return f"unshare: {error.strerror}"
    return "" if done.returncode == 0 else f"user namespaces are forbidden here: {done.stderr.strip()}"


def _two_cores() -> str:
    return "" if len(os.sched_getaffinity(0)) > 1 else "two ranks need two cores"


def _root() -> str:
    return "" if os.geteuid() == 0 else "only root can do what this tests"


def _lmod() -> str:
    return "" if LMOD.exists() else f"Lmod is not at {LMOD}: .ci/run puts it there"


def _siunitx() -> str:
    return "" if SIUNITX.exists() else "siunitx is not installed: apt-get install texlive-science"


CONDITIONS: dict[str, Callable[[], str]] = {
    "lmod": _lmod,
    "root": _root,
    "siunitx": _siunitx,
    "two cores": _two_cores,
    "user namespaces": _user_namespaces,
}
"""Names of what is not a program, and functions that return why it is not there; empty if it is."""

OF_MARKS = {
    "browser": ("chromium",),
    "lab": ("ip", "user namespaces"),
    "slurm": ("root", "slurmctld", "ip", "user namespaces"),
}
"""What all tests of a mark need."""


def check(item: pytest.Item) -> None:
    """Leave a test out if this machine lacks something that it needs."""
    wanted = [str(name) for mark in item.iter_markers("needs") for name in mark.args]
    wanted += [name for mark, names in OF_MARKS.items() if item.get_closest_marker(mark) for name in names]
    for name in wanted:
        if reason := _lacking(name):
            pytest.skip(reason)


def _lacking(name: str) -> str:
    if name in CONDITIONS:
        return CONDITIONS[name]()
    if shutil.which(name, path=USUAL_PLACES) or Path(name).exists():
        return ""
    return f"{name} is not installed: apt-get install {PACKAGES[name]}"
