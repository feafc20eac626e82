"""Rows of a result whose machine changed its state while it was measured."""

from __future__ import annotations

from itertools import takewhile
from typing import Any


def of_main_state(document: dict[str, Any]) -> list[dict[str, Any]]:
    """One row per cell: of the state in which the machine was for the longest time.

    A launch or two may meet some cells in another state alone: then of that one.
    """
    main = max(document["states"], key=lambda state: state["time_share"], default={"name": None})["name"]
    found = {}
    for row in sorted(document["rows"], key=lambda row: row["state"] in {None, main}):
        found[tuple(row[name] for name in takewhile(lambda name: name != "state", row))] = row
    return [*found.values()]
