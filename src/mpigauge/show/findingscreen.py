"""What the doctor has found, on a terminal: by groups, with a mark a line, and the whole in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from mpigauge.show.findings import Finding, summary
from mpigauge.show.terminal import Page, printed
from mpigauge.vocabulary import FINDING_STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from mpigauge.vocabulary import FindingState

MARKS: dict[FindingState, tuple[str, str]] = {
    "ok": ("\N{CHECK MARK}", "green"),
    "note": ("!", "yellow"),
    "lacks": ("\N{BALLOT X}", "red"),
}
"""Of a state, and its colour."""

LIBRARY = "MPI library"
INDENT = 2


def render(grouped: Sequence[tuple[str, Sequence[Finding]]], console: Console) -> str:
    """Groups of one name are joined, in the order in which they first come."""
    groups: dict[str, list[Finding]] = {}
    for name, findings in grouped:
        groups.setdefault(name, []).extend(findings)
    page = Page(console)
    everything = [one for group in groups.values() for one in group]
    width = max(len(finding.what) for finding in everything)
    lines = [line for name, group in groups.items() for line in _group(name, group, width, page)]
    return printed([*lines, *_summary(everything, page)], console)


def _group(name: str, findings: Sequence[Finding], width: int, page: Page) -> Iterator[Text]:
    yield Text(page.shown(name), "bold")
    for finding in findings:
        mark, style = MARKS[finding.state]
        lead = f"{mark} {finding.what:<{width}}  "
        words = Text(page.shown(lead + finding.value))
        words.stylize(style, 0, 1)
        yield from page.wrapped(words, indent=INDENT, hang=len(lead))
        if finding.remedy:
            yield from page.wrapped(f"-> {finding.remedy}", style, indent=INDENT + len(lead), hang=3)
    yield Text()


def _summary(findings: Sequence[Finding], page: Page) -> Iterator[Text]:
    libraries = sum(finding.what == LIBRARY and finding.state == "ok" for finding in findings)
    worst = next(state for state in reversed(FINDING_STATES) if any(one.state == state for one in findings))
    colour = MARKS["lacks" if worst == "lacks" else "ok"][1]
    yield from page.wrapped(summary(findings, libraries), f"bold {colour}")
