"""The canonical form of what mpigauge prints and writes: without the order of keys, places and moments."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import html.parser
import io
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MASKED = frozenset(
    {
        *("at_s", "elapsed_s", "startup_s", "started", "steal_s", "load_average", "throttled"),
        *("shared_memory_free_bytes", "mpigauge", "digest", "commit"),
    }
)
"""Fields of a result file that say when, how long, beside what and by which build something was measured."""

TRACE = re.compile(r'^  File ".*?, line \d+, in .*\n(?:    .*\n)*', re.MULTILINE)
SVG_ID = re.compile(r"\b[a-z][0-9a-f]{10}\b")
DIGEST = re.compile(r"(?<=[-/])[0-9a-f]{16}(?=/)")
"""Digest of a kernel's sources, in the name of the folder that it is built in."""

LOAD = re.compile(r"^ +\w+ +load .*\n(?: +->.*\n)*", re.MULTILINE)
DATE = re.compile(r"\b20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d\+00:00)?")
LASTED = re.compile(r" (in|over) [\d.]+ (ms|s|min)\b")
LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d{9,}(?:e[+-]\d+)?(?![\w.])")
"""What is rounded to 12 digits: sums of numpy differ in the last one by where in memory their terms are."""

SPACE = re.compile(r"\s+")
SKIPPED = frozenset({"script", "style"})
SAID_BY = ("alt", "aria-label", "title")
"""Attributes that are read to somebody."""


def canonical(name: str, data: bytes, places: Mapping[str, str]) -> str:
    """Return what one file or stream says, as text that two commits can be compared by.

    Args:
        name: Name, whose ending gives the format.
        places: Paths that differ from run to run, and what stands for them.
    """
    if name.endswith(".gz"):
        name, data = name.removesuffix(".gz"), gzip.decompress(data)
    text = data.decode(errors="replace")
    for path, word in places.items():
        text = text.replace(path, word)
    return LONG_NUMBER.sub(_rounded, FORMS.get(name.rpartition(".")[2], of_text)(text))


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.12g}"


def without_times(text: str) -> str:
    """Return what is said of this machine just now, without when it was, how long it took and the load."""
    return LASTED.sub("", DATE.sub("<date>", LOAD.sub("", text)))


def of_text(text: str) -> str:
    """Return text as it stands, and JSON with its keys sorted."""
    if text[:1] in {"{", "["}:
        with contextlib.suppress(ValueError):
            return "\n".join(leaves(json.loads(text)))
    text = TRACE.sub("", text)
    return DIGEST.sub("<digest>", text)


def of_records(text: str) -> str:
    """Return the records of a result file, without when and how long."""
    lines: list[str] = []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            lines.append(line)
        else:
            kind = record.get("type", "campaign") if isinstance(record, dict) else "?"
            lines += [f"-- {kind}", *leaves(record, masked=MASKED)]
    return DIGEST.sub("<digest>", "\n".join(lines))


def leaves(value: Any, path: str = "", masked: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield a line per value of a JSON document, keys sorted, so that a difference says where it is.

    What stands in a list has no number, since one more would change all those after it.
    """
    if isinstance(value, dict) and value:
        for key in sorted(value):
            inner = "<masked>" if key in masked else value[key]
            yield from leaves(inner, f"{path}.{key}" if path else key, masked)
    elif isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        for one in value:
            yield f"{path}[]"
            yield from leaves(one, f"{path}[]", masked)
    else:
        yield f"{path}: {json.dumps(value, ensure_ascii=False)}"


def of_html(text: str) -> str:
    """Return the text of a page, one node per line, and after it the data of its charts."""
    page = _Page()
    page.feed(text)
    page.close()
    return "\n".join([*page.lines, *page.data])


def of_svg(text: str) -> str:
    """Return the text of a drawing, one node per line, and a digest of its shapes in whatever order."""
    page = _Page()
    page.feed(text)
    page.close()
    drawn = re.sub(r"<metadata>.*?</metadata>", "", SVG_ID.sub("id", text), flags=re.DOTALL)
    shapes = "\n".join(sorted(drawn.splitlines()))
    return "\n".join([*page.lines, f"shapes {hashlib.sha256(shapes.encode()).hexdigest()[:16]}"])


def of_csv(text: str) -> str:
    """Return a table with its columns in alphabetical order."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or len({len(row) for row in rows}) != 1 or len(set(rows[0])) != len(rows[0]):
        return text
    order = sorted(range(len(rows[0])), key=rows[0].__getitem__)
    return "\n".join(",".join(row[place] for place in order) for row in rows)


class _Page(html.parser.HTMLParser):
    """Collects what a reader sees, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.data: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where no text is, and what is said by attributes alone."""
        given = dict(attrs)
        if tag in SKIPPED:
            self._inside = "json" if given.get("type") == "application/json" else tag
        self.lines += [f"[{name}] {given[name]}" for name in SAID_BY if given.get(name)]

    def handle_endtag(self, tag: str) -> None:
        """Note where text goes on."""
        if tag in SKIPPED:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        """Keep text without its breaks."""
        if self._inside == "json":
            self.data.append(of_text(data))
        elif not self._inside and (words := SPACE.sub(" ", data).strip()):
            self.lines.append(words)


def of_parquet(_: str) -> str:
    """Return nothing: the runner prints its rows, beside it."""
    return ""


FORMS: dict[str, Callable[[str], str]] = {
    "jsonl": of_records,
    "html": of_html,
    "svg": of_svg,
    "csv": of_csv,
    "parquet": of_parquet,
}
"""Ways to read a file, by its ending; all others are text or JSON."""
