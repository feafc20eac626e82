"""Overheads as tables and records: o_s, o_r, g and L of every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.document import Column, Table
from mpigauge.document.records import number
from mpigauge.models import overhead_sentences as words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.document.document import Units
    from mpigauge.models.places import Place
    from mpigauge.models.points import WithInterval

PARAMETERS = {"one way": "way", "o_s": "send", "o_r": "receive", "g": "gap", "L": "latency"}
"""Attribute of each parameter, by its heading."""


def tables(places: Sequence[Place], chosen: Units) -> list[Table]:
    """Return one table per place."""
    return [
        Table(
            words.title(one),
            words.about(one),
            one.sizes,
            [
                Column("bytes", "size", lambda each: each.size, "B", goes=None),
                *(_column(heading, name, chosen) for heading, name in PARAMETERS.items()),
                Column("note", "", words.note, left=True, goes=1, wraps=True),
            ],
        )
        for one in places
    ]


def _column(heading: str, name: str, chosen: Units) -> Column:
    return Column(
        f"{name}_s", heading, lambda each: words.time(getattr(each, name), chosen), left=False, goes=None
    )


def records(places: Sequence[Place]) -> list[dict[str, Any]]:
    """Return the records of docs/models.md#json."""
    return [
        {
            "label": one.label,
            "clock_s": number(one.clock_s),
            "sizes": [
                {
                    "bytes": each.size,
                    **{f"{name}_s": known_record(getattr(each, name)) for name in PARAMETERS.values()},
                    "no_latency": each.why,
                }
                for each in one.sizes
            ],
        }
        for one in places
    ]


def known_record(one: WithInterval | None) -> dict[str, float | None] | None:
    """Return the record of a number with its interval."""
    if one is None:
        return None
    return {name: number(getattr(one, name)) for name in ("value", "low", "high")}
