"""Labs as a user makes them, as root and as nobody where we are root; programs to try in them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.places import ROOT

HERE = Path(__file__).parent
TIMEOUT_S = 600
MARK = "MPIGAUGE_TEST_MARK"

USERS = ("root", "nobody") if os.geteuid() == 0 else ("user",)

AS_NOBODY = """
import ctypes, encodings.ascii, os, sys
import mpigauge.cli.verbs.lab, mpigauge.campaign.lab.start, mpigauge.rows.warnings, mpigauge.units
from mpigauge.cli import status_of
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
sys.exit(status_of())
"""
"""Gives up root after all is imported: nobody may not read the interpreter of every machine."""

PR_SET_CHILD_SUBREAPER = 36

Lab = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may read and write, which those of pytest are not."""
    path = Path(tempfile.mkdtemp(prefix="mpigauge-test-"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def _nobodys_heir() -> None:
    """A campaign that ran in this process has made it adopt orphans, whose namespaces would then stay."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.fixture(autouse=True)
def _mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process of a test's labs carries its mark."""
    monkeypatch.setenv(MARK, uuid.uuid4().hex)


@pytest.fixture(params=USERS)
def user(request: pytest.FixtureRequest) -> str:
    """Everybody who must be able to make a lab."""
    return str(request.param)


def lab_words(user: str, *words: str) -> list[str]:
    """The words that start a lab as a user."""
    start = ["-c", AS_NOBODY] if user == "nobody" else ["-m", "mpigauge"]
    return [sys.executable, *start, "lab", *words]


def lab_environment(folder: Path, user: str) -> dict[str, str]:
    """With a cache that the user can write."""
    # An empty path would be the current folder.
    paths = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    changes = {"PYTHONPATH": paths, "TMPDIR": str(folder)}
    if user == "nobody":
        changes["MPIGAUGE_KERNEL_DIR"] = str(folder / "cache")
    return {**os.environ, **changes}


@pytest.fixture
def lab(folder: Path) -> Lab:
    """Runs a command in a lab, in the folder."""

    def run(
        *words: str,
        options: tuple[str, ...] = (),
        user: str = USERS[0],
        timeout_s: float = TIMEOUT_S,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            lab_words(user, *options, "--", *words),
            cwd=folder,
            env={**lab_environment(folder, user), **env},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


def processes() -> list[int]:
    """All that carry the mark of this test, but for the test itself."""
    mark = f"{MARK}={os.environ[MARK]}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0") and int(entry.name) != os.getpid():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def namespaces(pids: list[int] | None = None) -> set[str]:
    """Those that processes are in; of all that we can see if none are named."""
    every = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")] if pids is None else pids
    found = set()
    for pid in every:
        # A process may end while it is looked at.
        with contextlib.suppress(OSError):
            found |= {str(entry.readlink()) for entry in Path(f"/proc/{pid}/ns").iterdir()}
    return found


@pytest.fixture(scope="session")
def tcp() -> Iterator[Path]:
    """The program tcp.c."""
    path = Path(tempfile.mkdtemp(prefix="mpigauge-tcp-"))
    path.chmod(0o755)
    words = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*words, "-o", str(path / "tcp"), str(HERE / "tcp.c")], check=True)
    yield path / "tcp"
    shutil.rmtree(path)


def client(tcp: Path, what: str, count: int, host: int = 2) -> str:
    """A script that serves on a host and measures on h1; prints numbers."""
    address = f"10.77.0.{host}"
    return (
        f"rm -f served; ssh -n {address} '{tcp} serve 7000' > served & "
        f"while ! grep -q listening served; do sleep 0.02; done; {tcp} {what} {address} 7000 {count}"
    )
