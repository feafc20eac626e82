"""Findings of a machine that was watched for a while, as a document: one table, and a summary line."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mpigauge.doctor.table import columns_of, lines_of
from mpigauge.doctor.watch_sentences import findings_of, summary
from mpigauge.document.document import Document, Line, Table

if TYPE_CHECKING:
    from mpigauge.rows.machine.watch import Watched


def document(seen: Watched, *, cores: int, alone: str) -> Document:
    """Return all findings of a watch as a document for people and programs.

    Args:
        cores: Number of processors that we may run on.
        alone: Why no ranks could be launched; empty if they were.
    """
    found = [*findings_of(seen, cores=cores, alone=alone)]
    quiet = all(one.state == "ok" for one in found)
    return Document(
        tables=[Table("this machine now", "", [*lines_of(found)], columns_of(found))],
        foot=[Line(summary(seen), "good" if quiet else "doubt")],
        data=lambda: {"findings": [*map(asdict, found)], "watched": asdict(seen), "alone": alone},
        records=lambda: map(asdict, found),
    )
