"""A host whose cards are files, and the kernel's view of it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HEADINGS = (
    "Inter-|   Receive                     |  Transmit\n face |bytes    packets errs|bytes    packets\n"
)
INFINIBAND, SLINGSHOT = "sys/class/infiniband", "sys/class/cxi"
ONE_IP = "eth0 ip counted"


class Machine:
    """A host whose cards are files; it has one interface and no other card."""

    def __init__(self, root: Path, program: Path) -> None:
        self._root, self._program = root, program
        self.interfaces(eth0=(1000, 2000))
        (root / "sys" / "class").mkdir(parents=True)

    def write(self, path: str, text: object) -> None:
        """In place, so that who has opened the file reads it."""
        file = self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n", encoding="ascii")

    def raw(self, path: str, line: bytes) -> None:
        """A line as the system may write it."""
        (self._root / path).write_bytes(line + b"\n")

    def interfaces(self, **bytes_: tuple[int, int]) -> None:
        """Received and sent by each."""
        lines = "".join(
            f"{name:>6}: {received} 5 0 0 0 0 0 0 {sent} 7 0 0 0 0 0 0\n"
            for name, (received, sent) in bytes_.items()
        )
        self.write("proc/self/net/dev", (HEADINGS + lines).removesuffix("\n"))

    def port(self, name: str, **values: object) -> None:
        """Counters of a port; `__` stands for the folder's slash."""
        for file, value in values.items():
            self.write(f"{INFINIBAND}/{name}/{file.replace('__', '/')}", value)

    def start(self) -> Started:
        """The kernel's view of it, from now on."""
        words = [str(self._program), str(self._root)]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        cards = list(iter(lambda: process.stdout.readline().rstrip("\n"), ""))  # type: ignore[union-attr]
        started = Started(process, cards)
        assert started.said()[:4] == (0, 0, 0, 0)
        return started


@dataclass
class Started:
    """A program that says what was carried since its start."""

    process: subprocess.Popen[str]
    cards: list[str]
    each: dict[str, str] = field(default_factory=dict)
    """What every card has carried, received/sent; ? if it is not counted any more."""

    def said(self) -> tuple[int, ...]:
        """Received and sent by IP, received and sent by RDMA, cards that were not counted."""
        assert self.process.stdout is not None
        words = self.process.stdout.readline().split()
        self.each = dict(word.split("=") for word in words[5:])
        return tuple(map(int, words[:5]))

    def carried(self) -> tuple[int, ...]:
        """The same, until now."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.said()

    def end(self) -> int:
        """Its status."""
        self.process.communicate()
        return self.process.returncode
