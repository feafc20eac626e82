"""A session at a real terminal: typed, made narrower and wider, stopped, continued and interrupted."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.needs import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.fakes.mpi import FakeMpi

pytestmark = [pytest.mark.thorough, pytest.mark.needs("tmux")]

WAIT_S = 60.0
WIDTHS = (50, 100, 41, 80)
NOTES = 60
"""Narrower terminals show how sure numbers are, but not how they were measured."""

RUN = "run pingpong stream --sizes 8:256 --launches 40 --budget 300s -o r.jsonl"


class Session:
    """A shell in a terminal of tmux, on a server of its own."""

    def __init__(self, folder: Path, width: int = 80, height: int = 50) -> None:
        self._server = str(folder / "tmux.sock")
        size = ["-x", str(width), "-y", str(height)]
        shell = f"{program('bash')} --norc --noprofile -i"
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, shell)
        self.type("unset COLUMNS LINES; PS1='$ '")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            [program("tmux"), "-S", self._server, *words], check=True, capture_output=True, text=True
        )
        return done.stdout

    def type(self, text: str) -> None:
        """A line is typed."""
        self._tmux("send-keys", text, "Enter")

    def press(self, key: str) -> None:
        """A key with Ctrl is pressed."""
        self._tmux("send-keys", f"C-{key}")

    def resize(self, width: int, height: int = 50) -> None:
        """The window is dragged."""
        self._tmux("resize-window", "-x", str(width), "-y", str(height))

    def screen(self) -> str:
        """What is seen."""
        return self._tmux("capture-pane", "-p")

    def everything(self) -> str:
        """What is seen, and what one can scroll back to."""
        return self._tmux("capture-pane", "-p", "-S", "-")

    def shows(self, holds: Callable[[str], bool]) -> str:
        """The screen, once it is as expected."""
        deadline = time.monotonic() + WAIT_S
        while not holds(screen := self.screen()):
            assert time.monotonic() < deadline, self.everything()
            time.sleep(0.05)
        return screen

    def end(self) -> None:
        """The terminal is closed."""
        self._tmux("kill-server")


def fits(width: int, screen: str) -> bool:
    """The answer is there once, drawn for this width."""
    widest = max(map(len, screen.splitlines()))
    has_notes = "one way" in screen
    return screen.count("latency, 8 B") == 1 and widest <= width and has_notes == (width >= NOTES)


@pytest.fixture
def session(machine: Path, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """One in the folder of the test, whose visits take some time."""
    assert machine.exists()
    monkeypatch.setenv("FAKE_NAP_S", "0.02")
    monkeypatch.setenv("FAKE_SPREAD", "0.1")
    monkeypatch.setenv("MEASURE", f"{sys.executable} -m mpigauge {RUN} --mpi {openmpi.mpicc}")
    one = Session(machine)
    yield one
    one.end()


def test_one_answer_is_seen_whatever_is_done_with_the_terminal(session: Session) -> None:
    session.type("$MEASURE")
    session.shows(lambda screen: "\N{PLUS-MINUS SIGN}" in screen and "a message of 8 B takes" in screen)
    for width in WIDTHS:
        session.resize(width)
        screen = session.shows(partial(fits, width))
        assert screen.count("message rate") == 1
        assert len(re.findall("^launch [0-9]+ ", screen, re.MULTILINE)) == 1
        assert "\N{PLUS-MINUS SIGN}" in screen
    session.press("z")
    stopped = session.shows(lambda screen: "Stopped" in screen)
    assert "latency, 8 B" in stopped
    session.type("fg")
    session.shows(lambda screen: screen.count("latency, 8 B") == 2)
    session.press("c")
    session.shows(lambda screen: "mpigauge resume r.jsonl" in screen)
    assert session.screen().count("latency, 8 B") == 2, "before Ctrl-Z, and at the end"
    session.type(f"{sys.executable} -m mpigauge resume r.jsonl")
    session.shows(lambda screen: screen.count("latency, 8 B") == 2 and " s left" in screen)
    session.press("c")
    session.shows(lambda screen: screen.count("continue with") == 2)
