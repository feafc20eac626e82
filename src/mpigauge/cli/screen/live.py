"""Live display of the answer during a campaign: numbers, intervals, progress, and the time left.

Numbers are computed between launches, when no rank runs, and every few seconds in the first launch, which
would show none otherwise. Within a launch only two lines change, drawn in the pauses between visits.
"""

from __future__ import annotations

import contextlib
import time
from itertools import takewhile
from typing import TYPE_CHECKING, TextIO

from mpigauge import units
from mpigauge.cli.screen.console import console
from mpigauge.cli.screen.progress import REFRESH_S, NoProgress, has_terminal, words_of
from mpigauge.cli.screen.region import Region
from mpigauge.document.plain_signs import printable_lines
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.text import Text

    from mpigauge.cli.screen.progress import CampaignProgress
    from mpigauge.document.document import Document
    from mpigauge.find.so_far import SoFar
    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Record

    Shown = Callable[[SoFar], Document]

FIRST_S = 2.0
"""Seconds between computations of the numbers in the first launch."""

MAX_COMPUTING = 0.05
"""Largest share of time for computing: large campaigns compute less often, so as not to delay launches."""

MIN_ANSWER = 3
"""Least height of a terminal beside the progress for which the answer is shown, too."""

BAR = 24

CUT = "\N{HORIZONTAL ELLIPSIS}"
"""Line in place of those that a terminal has no room for."""


def answer_so_far(so_far: SoFar) -> Document:
    """Return what is drawn unless a verb says otherwise: the answer, of a map its links."""
    from mpigauge.document.document import Units
    from mpigauge.find import maps
    from mpigauge.linkmap.linkmap import is_map
    from mpigauge.query.query import Source
    from mpigauge.show import answer

    if is_map(so_far.result):
        with contextlib.suppress(UsageError):  # it has several
            return maps.progress(so_far)
    source = Source("", so_far.result, so_far.rows(), dict(so_far.patterns), {}, {})
    return answer.progress(source, Units())


class LiveAnswer(NoProgress):
    """The answer so far, with the progress below it, drawn at the cursor and erased at the end.

    Args:
        path: The result file, which may have numbers of earlier sessions.
        shown: Returns what is drawn of the numbers so far; None for the progress alone.
    """

    def __init__(self, stream: TextIO, campaign: CampaignProgress, path: Path, shown: Shown | None) -> None:
        super().__init__(stream)
        screen = console(stream)
        assert screen is not None  # noqa: S101 - a terminal has one
        self._console = screen
        self._region = Region(screen)
        self._path, self._shown = path, shown
        self._so_far: SoFar | None = None  # until the first job starts: what computes takes long to import
        self._campaign = campaign
        self._drawn = self._computed = time.monotonic()
        self._took_s = 0.0
        self._answer: Document | None = None
        self._lines: list[Text] = []
        self._laid_out_for: object = None
        self._launch = self._doing = ""
        self._in_visit = False

    def stop(self) -> None:
        """Erase the display."""
        self._region.erase()

    def rests(self) -> None:
        """Leave the answer so far where it is while the process is suspended."""
        self._region.erase()
        self.leave()

    def leave(self) -> None:
        """Print the answer so far for good, where nothing follows that says more."""
        if self._answer is not None:
            self._console.print(*self._lines_of_answer(), sep="\n")

    def goes_on(self, seconds: float) -> None:
        """Draw again, below where the cursor is now."""
        self._region.erase()
        self._draw(at_once=True)

    def resizes(self) -> None:
        """Draw for the new size; during a visit, which drawing would disturb, at its end."""
        if not self._in_visit:
            self._draw(at_once=True)

    def launch_begins(self, number: int, part: int, job: str, visits: int) -> None:
        """Show the launch."""
        self._campaign.launch_begins(number, part, visits)
        part_text = f", part {part}" if part > 1 else ""
        self._launch, self._doing = f"launch {number}{part_text}", f"starting {job}"
        self._draw(at_once=True)

    def job_starts(self) -> None:
        """Begin with the numbers, which earlier sessions may have left."""
        from mpigauge.find.so_far import SoFar
        from mpigauge.result.reader import load

        if self._so_far is None and self._shown is not None:
            self._so_far = SoFar(load(self._path))
            self._compute()
            self._draw(at_once=True)

    def waits(self, number: int, seconds: float) -> None:
        """Show the pause."""
        self._launch, self._doing = f"launch {number}", f"begins in {units.format_duration(seconds)}"
        self._draw(at_once=True)

    def visit_begins(self, cell: Cell) -> None:
        """Show the cell that is measured."""
        self._campaign.visit_begins()
        self._doing = words_of(cell)
        if self._first and self._due(FIRST_S):
            self._compute()
        self._draw()
        self._in_visit = True

    def recorded(self, record: Record) -> None:
        """Keep the record for the next computation."""
        if self._so_far is not None:
            self._so_far.take(record)

    def visit_ends(self) -> None:
        """Count one more visit."""
        self._in_visit = False
        self._campaign.visit_ends()

    def launch_ends(self, number: int, job: str, seconds: float, samples: int) -> None:
        """Compute the numbers, while no rank runs."""
        self._in_visit = False
        self._campaign.launch_ends()
        if self._due(0.0):
            self._compute()
        self._draw(at_once=True)

    def trouble(self, sentence: str) -> None:
        """Print a warning above the display, where it stays."""
        self._region.erase()
        words = printable_lines(f"mpigauge: {sentence}")
        self._console.print(words, markup=False, highlight=False, soft_wrap=True)
        self._draw(at_once=True)

    @property
    def _first(self) -> bool:
        return self._so_far is None or len({launch.number for launch in self._so_far.result.launches}) <= 1

    def _due(self, least_s: float) -> bool:
        """Return whether computing again would keep to its share of the time."""
        return time.monotonic() - self._computed > max(least_s, self._took_s / MAX_COMPUTING)

    def _compute(self) -> None:
        if self._so_far is None or self._shown is None:
            return
        begun = time.monotonic()
        self._answer, self._laid_out_for = self._shown(self._so_far), None
        self._computed = time.monotonic()
        self._took_s = self._computed - begun

    def _draw(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not (at_once or self._region.is_of_another_size) and now - self._drawn < REFRESH_S:
            return
        self._drawn = now
        if not has_terminal(self._stream):
            self._region.erase()
            return
        status = self._status()
        room = self._console.height - len(status) - 1
        self._region.draw([*self._fitted(self._lines_of_answer(), room), *status])

    def _lines_of_answer(self) -> list[Text]:
        """Return the answer as this width breaks it; laid out once, as that takes time from the ranks."""
        from mpigauge.show.formats.terminal import lines_of

        if self._answer is not None and self._laid_out_for != self._console.width:
            self._laid_out_for = self._console.width
            self._lines = [*lines_of(self._answer, self._console)]
        return self._lines

    def _fitted(self, lines: list[Text], room: int) -> list[Text]:
        """Return as many lines as there is room for: the first ones, and the finding, which is the last."""
        from rich.text import Text

        if len(lines) <= room:
            return lines
        if room < MIN_ANSWER:
            return []
        finding = [*takewhile(lambda line: line.plain.strip(), reversed(lines))][::-1]
        last = finding if len(finding) < room - 1 else []
        return [*lines[: room - 1 - len(last)], Text(CUT), *last]

    def _status(self) -> list[Text]:
        """Return a bar with the launch and the time left, and a line with the cell that is measured."""
        from rich.text import Text

        share = self._campaign.share()
        before, after = f"{self._launch}  ", f"  {share:.0%}  {self._campaign.left()}"
        width = max(0, min(BAR, self._console.width - 1 - len(before) - len(after)))
        full = round(share * width)
        bar = Text("\N{BOX DRAWINGS HEAVY HORIZONTAL}" * full, "cyan")
        bar.append("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (width - full), "dim")
        lines = [Text(before) + bar + Text(after), Text(self._doing, "dim")]
        for line in lines:
            line.truncate(self._console.width - 1, overflow="ellipsis")
        return lines
