"""The pages that show results: which commands they print, and what these commands make.

A page is the list of its own figures and tables. It prints a command, and what it makes stands below:

    ```console
    $ mpigauge run --plan examples/modes.toml -o modes.jsonl
    $ mpigauge plot modes.jsonl --kind modes -o modes.png
    ```
    ![Rate of three send modes](../figures/modes.png)

`measure.py` runs what measures, `draw.py` all the rest. What the commands of a block print goes between two
comments below them, and so do plans:

    <!-- output -->            <!-- file examples/modes.toml -->
    <!-- end -->               <!-- end -->

What is said about numbers is what `mpigauge explain` prints: prose that compares would be wrong with the next
measurement.

To add a figure or a table: write its command into a page.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
RESULTS = DOCS / "results"
FIGURES = DOCS / "figures"
PAGES = (
    ROOT / "README.md",
    DOCS / "tutorial.md",
    *(DOCS / f"{user}.md" for user in ("student", "administrator", "developer", "researcher")),
    *sorted((DOCS / "reports").glob("*.md")),
    DOCS / "scoreboard.md",
    DOCS / "gallery.md",
)

CONSOLE = re.compile(r"^```console\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^<!-- (output|file)(?: (\S+))? -->\n(.*?)^<!-- end -->\n", re.DOTALL | re.MULTILINE)
IMAGE = re.compile(r"!\[[^]]*]\((?:[\w./]*/)?figures/([\w-]+\.png)\)")
MEASURING = frozenset({"run", "map"})
JUDGING = frozenset({"map", "compare", "check", "history"})
"""Verbs that end with another status than 0 where they have found something, or could not decide."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a page.

    Attributes:
        end: Position at which its console block ends in the text of the page.
    """

    text: str
    end: int

    @property
    def words(self) -> list[str]:
        """Words of the command, without what the shell does to them."""
        words = shlex.split(self.text)
        return words[: words.index(">")] if ">" in words else words

    @property
    def verb(self) -> str:
        """Verb of mpigauge, in a lab or not."""
        words = self.words
        positions = [n for n, word in enumerate(words[:-1]) if word == "mpigauge" and words[n + 1] != "lab"]
        return words[positions[-1] + 1] if words[0] == "mpigauge" and positions else ""

    @property
    def names_hosts(self) -> bool:
        """Whether it runs on hosts of the reader's; a lab's are emulated here."""
        return "--hosts" in self.words[self.words.index(self.verb) :]

    @property
    def makes(self) -> str:
        """The file that it writes; empty if none is named."""
        words = self.words
        return words[words.index("-o") + 1] if "-o" in words[:-1] else ""

    @property
    def reads(self) -> list[str]:
        """The results that it reads."""
        return [word for word in self.words if word.endswith(".jsonl") and word != self.makes]


@dataclass(frozen=True, slots=True)
class Page:
    """A page and its text as it is now."""

    path: Path
    text: str

    @property
    def commands(self) -> list[Command]:
        """Commands of the page, in their order."""
        return [
            Command(line.removeprefix("$ "), block.end())
            for block in CONSOLE.finditer(self.text)
            for line in block[1].splitlines()
        ]

    @property
    def shown(self) -> set[str]:
        """Names of the figures that it shows."""
        return set(IMAGE.findall(self.text))

    def printing(self) -> dict[int, list[Command]]:
        """Return the commands whose output is on the page, by the line at which the output begins.

        Raises:
            ValueError: There is an output without commands right above it.
        """
        blocks: dict[int, list[Command]] = {}
        for command in self.commands:
            blocks.setdefault(command.end, []).append(command)
        found = {}
        for block in BLOCK.finditer(self.text):
            above = [
                end for end in blocks if end <= block.start() and not self.text[end : block.start()].strip()
            ]
            if block[1] == "output":
                if not above:
                    raise ValueError(f"{self.path.name}: an output has no command above it")
                found[block.start()] = blocks[above[0]]
        return found

    def making(self) -> list[Command]:
        """Return the commands that draw.py runs: those of figures and outputs, and imports that they need."""
        printing = {command.text for block in self.printing().values() for command in block}
        wanted = [c for c in self.commands if c.makes in self.shown or c.text in printing]
        needed = {name for command in wanted for name in command.reads}
        return [c for c in self.commands if c in wanted or (c.verb == "import" and c.makes in needed)]


def read(path: Path) -> Page:
    """Return a page."""
    return Page(path, path.read_text(encoding="utf-8"))


def pages() -> list[Page]:
    """Return all pages that show results."""
    return [read(path) for path in PAGES]


def reports() -> list[Page]:
    """Return the pages of reports."""
    return [page for page in pages() if page.path.parent.name == "reports"]


def needed(shown: Sequence[Page]) -> dict[str, Command]:
    """Return the commands that measure what pages show, by the name of their result without ending.

    The first page that has one decides: the README's own `modes.jsonl` is nothing that is shown.
    Commands that name hosts are for a reader's cluster.
    """
    read_by = {name for page in shown for command in page.making() for name in command.reads}
    measuring: dict[str, Command] = {}
    for page in sorted(shown, key=lambda one: one.path.parent.name != "reports"):
        for command in page.commands:
            if command.verb in MEASURING and command.makes in read_by and not command.names_hosts:
                measuring.setdefault(command.makes.removesuffix(".jsonl"), command)
    return measuring


def stored() -> Iterator[Path]:
    """Return the stored results."""
    return iter(sorted(RESULTS.glob("*.jsonl.gz")))
