"""Text as the OSU Micro-Benchmarks 7.4 print it with -c: Pass where the payload was right.

For programs that look for it in each row, such as ReFrame's hpctestlib. Others, such as Ramble, know no row
with this column, so both texts are formats of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.show.formats import osu

if TYPE_CHECKING:
    from mpigauge.document.document import Document


def render(document: Document) -> str:
    """Return a table per measurement that OSU has, too.

    Raises:
        UsageError: The document has no times that OSU has a name for.
    """
    return osu.tables(document, "osu-validation", validated=True)
