"""Lines that are drawn again in place: whatever changes, the terminal shows them and nothing else."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from mpigauge.cli.screen.region import Region
from tests.terminal import Terminal

repeatable = settings(derandomize=True, deadline=None)

WORDS = st.text("ab m\N{GREEK SMALL LETTER MU}7", max_size=30).map(str.rstrip)
STYLES = st.sampled_from(["", "dim", "bold"])
FRAME = st.lists(st.builds(Text, WORDS, STYLES), min_size=1, max_size=6)
ABOVE = "$ mpigauge run"


class Drawn:
    """A region below a prompt, on a terminal of a width."""

    def __init__(self, width: int = 40, **environment: str) -> None:
        self.stream = io.StringIO()
        self.console = Console(
            file=self.stream, width=width, height=30, force_terminal=True, color_system="standard"
        )
        self.region = Region(self.console, environment)
        self.terminal = Terminal(width)
        self.terminal.feed(f"{ABOVE}\r\n")

    def written(self) -> str:
        """What has come since the last time."""
        text = self.stream.getvalue()
        self.stream.seek(0)
        self.stream.truncate()
        self.terminal.feed(text)
        return text

    def resize(self, width: int) -> None:
        """Somebody drags the window."""
        self.console.width = width
        self.terminal.resize(width)

    def below(self) -> list[str]:
        """What stands below the prompt."""
        above, *rows = self.terminal.text.rstrip("\n").split("\n")
        assert above == ABOVE
        return rows or [""]


def plain(lines: list[Text]) -> list[str]:
    """As they are read; nobody sees whether there are empty rows at the end."""
    return "\n".join(line.plain.rstrip() for line in lines).rstrip("\n").split("\n")


@given(st.lists(FRAME, min_size=1, max_size=6))
@repeatable
def test_each_frame_is_all_that_there_is(frames: list[list[Text]]) -> None:
    drawn = Drawn()
    for lines in frames:
        drawn.region.draw(lines)
        drawn.written()
        assert drawn.below() == plain(lines)
    drawn.region.erase()
    drawn.written()
    assert drawn.below() == [""]


@given(FRAME, st.integers(31, 60), FRAME, st.integers(31, 60))
@repeatable
def test_a_terminal_of_another_width_shows_no_torn_copy(
    before: list[Text], width: int, after: list[Text], second: int
) -> None:
    drawn = Drawn(width=80)
    long = [*before, Text("m" * 70)]
    drawn.region.draw(long)
    drawn.written()
    drawn.resize(width)
    assert drawn.region.is_of_another_size
    drawn.region.draw(after)
    drawn.written()
    assert drawn.below() == plain(after)
    drawn.resize(second)
    drawn.region.draw(before)
    drawn.written()
    assert drawn.below() == plain(before)


def test_a_terminal_that_cuts_lines_keeps_what_stands_above() -> None:
    drawn = Drawn(width=80, XTERM_VERSION="XTerm(400)")
    drawn.region.draw([Text("m" * 70), Text("a")])
    drawn.written()
    drawn.console.width = 40
    drawn.terminal.rows[1] = drawn.terminal.rows[1][:40]
    drawn.terminal.width = 40
    drawn.region.draw([Text("b")])
    drawn.written()
    assert drawn.below() == ["b"]


def test_only_what_has_changed_is_written() -> None:
    drawn = Drawn()
    bar = [Text(f"latency, 8 B  {number} ns") for number in range(100, 103)]
    drawn.region.draw([*bar, Text("59 %  at most 12 s left")])
    drawn.written()
    drawn.region.draw([*bar, Text("59 %  at most 11 s left")])
    assert drawn.written().count("1") < 12
    assert "latency" not in drawn.written()
    drawn.region.draw([*bar, Text("59 %  at most 11 s left")])
    assert drawn.written() == ""
    drawn.region.draw([bar[0], Text("latency, 8 B  9 ns"), bar[2], Text("59 %  at most 11 s left", "dim")])
    changed = drawn.written()
    assert "latency" not in changed
    assert "59 %  at most 11 s left" in changed, "the style has changed"
    assert drawn.below()[1] == "latency, 8 B  9 ns"


def test_a_frame_is_shown_at_once() -> None:
    """Where the terminal can: nothing of it before its end."""
    drawn = Drawn()
    drawn.region.draw([Text("a"), Text("b")])
    text = drawn.written()
    assert text.startswith("\x1b[?2026h")
    assert text.endswith("\x1b[?2026l")
    assert drawn.terminal.frames == [f"{ABOVE}\na\nb"]
