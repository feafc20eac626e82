"""JUnit XML, for CI: a test case per row, failed where the row is bad and skipped where it is doubtful."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from mpigauge.document.cell_names import duplicates_numbered
from mpigauge.document.document import Cases, Units

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from mpigauge.document.document import Document, Table, Tone

NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow, even escaped."""


def render(document: Document) -> str:
    """Return the rows of all tables as test cases; the lines above the tables become the suite's output."""
    suite = ET.Element("testsuite", name="mpigauge")
    _describe(suite, document.properties)
    for case in document.cases() if document.cases is not None else map(_unnamed, document.tables):
        for name, row in zip(duplicates_numbered(case.names), case.table.rows, strict=True):
            _case(suite, case.table, name, row, document.units)
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(suite.findall("*/failure"))))
    suite.set("skipped", str(len(suite.findall("*/skipped"))))
    ET.SubElement(suite, "system-out").text = _clean(
        "\n".join([*document.head, *(line.text for line in document.below)])
    )
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _describe(suite: ET.Element, properties: Mapping[str, str]) -> None:
    """Add properties of the suite before all cases, as the schema of CI systems requires."""
    known = {name: value for name, value in properties.items() if value}
    if not known:
        return
    listed = ET.SubElement(suite, "properties")
    for name, value in known.items():
        ET.SubElement(listed, "property", name=name, value=_clean(value))


def _unnamed(table: Table) -> Cases:
    """Return the cases of a table without names, named by its left columns except those with a verdict."""
    return Cases(table, [" ".join(filter(None, _left(table, row))) for row in table.rows])


def _left(table: Table, row: Any) -> Iterator[str]:
    return (column.text(row, Units()) for column in table.columns if column.left and not column.tone(row))


def _case(suite: ET.Element, table: Table, name: str, row: Any, chosen: Units) -> None:
    case = ET.SubElement(suite, "testcase", classname=_clean(table.title or "mpigauge"), name=_clean(name))
    entries = [(column, text) for column in table.columns if (text := column.text(row, chosen))]
    tones = {column.tone(row) for column, _ in entries}
    text_of_row = " ".join(f"{column.heading} {text}".strip() for column, text in entries)
    if kind := _kind(tones):
        ET.SubElement(case, kind, message=_clean(text_of_row))
    else:
        ET.SubElement(case, "system-out").text = _clean(text_of_row)


def _kind(tones: Collection[Tone]) -> str:
    """Return the kind of outcome of a row of these tones; empty if it passes."""
    return next((kind for tone, kind in (("bad", "failure"), ("doubt", "skipped")) if tone in tones), "")


def _clean(text: str) -> str:
    return NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)
