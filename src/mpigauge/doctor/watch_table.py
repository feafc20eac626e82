"""Findings of a machine that was watched for a while, as a document: one table, and a summary line."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from mpigauge.doctor.table import columns_of, lines_of
from mpigauge.doctor.watch_sentences import summary, watch_findings
from mpigauge.document.document import Document, Line, Table

if TYPE_CHECKING:
    from mpigauge.rows.machine.watch import Watched


def document(watched: Watched, *, cores: int, no_ranks: str) -> Document:
    """Return all findings of a watch as a document for people and programs.

    Args:
        cores: Number of processors that we may run on.
        no_ranks: Why no ranks could be launched; empty if they were.
    """
    findings = [*watch_findings(watched, cores=cores, no_ranks=no_ranks)]
    quiet = all(finding.state == "ok" for finding in findings)
    return Document(
        tables=[Table("this machine now", "", [*lines_of(findings)], columns_of(findings))],
        foot=[Line(summary(watched), "good" if quiet else "doubt")],
        data=lambda: {"findings": [*map(asdict, findings)], "watched": asdict(watched), "alone": no_ranks},
        records=lambda: map(asdict, findings),
    )
