"""Results whose truth is known, and what is concluded of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.document.cell_names import varied_in
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.topics import TOPICS
from mpigauge.result.reader import Result
from mpigauge.result.records import Blocked
from mpigauge.rows.rows import rows
from tests.made import campaign, visit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mpigauge.plan.model import Cell
    from mpigauge.result.records import Eager

LAUNCHES = 8


def told_of(
    one_way_ns: Mapping[Cell, float],
    *more: Eager | Blocked,
    noise: float = 0.01,
    launches: int = LAUNCHES,
    seed: int = 1,
) -> Evidence:
    """What launches show of cells that take so long.

    Args:
        more: Probes and what was blocked; their cells must be keys, too, whose time is not used.
        noise: How much launches differ, of each cell by itself: the standard deviation of the logarithm.
    """
    result = Result(Path("r.jsonl"), campaign(*one_way_ns))
    luck = np.random.default_rng(seed)
    others = {record.cell for record in more}
    for number in range(1, launches + 1):
        for place, (of, time_ns) in enumerate(one_way_ns.items()):
            if of not in others:
                took = round(2000 * time_ns * float(np.exp(luck.normal(0, noise))))
                result.visits.append(visit(number, place, of, 30 * [took], ops=2000))
    result.blocked += [record for record in more if isinstance(record, Blocked)]
    result.eager += [record for record in more if not isinstance(record, Blocked)]
    return Evidence(result, rows(result))


def facts(topic: Callable[[Evidence], Any], evidence: Evidence) -> list[Any]:
    """All facts of a topic."""
    return list(topic(evidence))


def sentence(topic: str, fact: Any, evidence: Evidence) -> str:
    """What is said of a fact."""
    return TOPICS[topic].sentence(fact, varied_in(evidence.rows), AUTOMATIC)
