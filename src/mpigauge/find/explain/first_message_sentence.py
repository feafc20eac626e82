"""The very first message of a program, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times
from mpigauge.find.phrases import time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.first_message import FirstMessage


def sentence(fact: FirstMessage, _varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """What it takes, and how many times as long as those that follow."""
    first = f"first message and its answer {time(fact.first_s, fact.low_s, fact.high_s, chosen)}"
    return f"{fact.cell.job.name}: {'; '.join([first, *_beside(fact, chosen)])}"


def _beside(fact: FirstMessage, chosen: Units) -> Iterator[str]:
    if fact.ratio is None or fact.usual_s is None:
        return
    size = units.format_size(fact.cell.bytes)
    usual = units.format_time(fact.usual_s, chosen.time)
    yield f"{times(fact.ratio)} as long as a round trip of {size} later on, {usual}"
    if fact.ratio.low is not None and fact.ratio.low > 1:
        yield "what MPI_Init leaves to be set up is in it"
