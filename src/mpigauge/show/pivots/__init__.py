"""Tables as papers have them. KINDS is the one list: `list tables`, help, docs and tests derive from it.

A kind takes some cells of one or several results and lays them out: some factors down, some across, the rest
in tables of their own. To add one: a function from `Query` to grids in kinds.py, and a line in KINDS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.query.kinds import DisplayKind

if TYPE_CHECKING:
    from mpigauge.document.document import Document
    from mpigauge.query.query import Query

ANSWER, CURVES, SAMPLES = "answer", "curves", "samples"


def _kind(name: str, about: str, needs: str) -> DisplayKind:
    return DisplayKind(name, about, needs, "kinds", "table", "tables")


KINDS = {
    kind.name: kind
    for kind in (
        _kind(ANSWER, "the few numbers that sum a result up, its doubts, and what to do next", "any result"),
        _kind(CURVES, "every curve on its own, with all that is known of each size", "one result"),
        _kind(SAMPLES, "every sample on a line of its own, for --format csv and parquet", "samples"),
        _kind(
            "latency",
            "time of 8 B, or of the nearest size that most have; rows: places; columns: modes, libraries",
            "messages or collectives",
        ),
        _kind("times", "time; rows: sizes; columns: everything else", "messages or collectives"),
        _kind(
            "rates",
            "bandwidth; rows: sizes; columns: everything else",
            "messages or collectives that move bytes",
        ),
        _kind(
            "statistics",
            "mean, standard deviation, number of samples; rows: sizes",
            "means: samples, or printed ones",
        ),
        _kind(
            "summary",
            "latency, bandwidth, collectives at 512 B and 64 KiB; columns: libraries, places",
            "messages or collectives",
        ),
    )
}
"""Kinds of tables; `answer`, `curves` and `samples` are made in modules of `show`, the others here."""


def document(query: Query) -> Document:
    """Return the tables of a kind as a document.

    Raises:
        UsageError: The results lack what the kind needs.
    """
    from mpigauge.show.pivots import layout  # noqa: PLC0415 - numpy, which --help does not wait for

    return layout.document(query)
