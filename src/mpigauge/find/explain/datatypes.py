"""Making of a datatype beside a message of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.cell_names import sized_subject
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.ratio_words import times_words
from mpigauge.find.explain.evidence import of_one_launch, ratio_of_rows
from mpigauge.find.phrases import in_times
from mpigauge.plan.patterns import patterns_with
from mpigauge.rows.group import Subject, subject_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from mpigauge.document.document import Units
    from mpigauge.find.explain.evidence import Evidence
    from mpigauge.plan.model import Cell
    from mpigauge.stats.decision import Ratio

MAKERS = patterns_with(lambda pattern: pattern.strided and not pattern.talks)
"""Patterns that make the datatypes of messages in blocks, and send nothing."""

SENDERS = patterns_with(lambda pattern: pattern.strided and pattern.talks)
"""Patterns that send them."""

OF_DATATYPE = ("mode", "bytes", "block_bytes", "stride_bytes")
"""Factors that are those of a datatype."""


@dataclass(frozen=True, slots=True)
class Making:
    """A datatype that is made, committed and freed, beside a message of it.

    Attributes:
        of: The message.
        made: The making of its datatype.
        made_s: Time of that.
        message_s: Time of the message.
        ratio: How many times as long as the message the making takes.
    """

    of: Subject
    made: Cell
    made_s: float
    message_s: float
    ratio: Ratio

    @property
    def weight(self) -> float:
        """More, the more of a message it takes."""
        return math.log1p(self.ratio.estimate)


def makings(evidence: Evidence) -> Iterator[Making]:
    """Yield each datatype that was made and sent in the same launches."""
    timed = [row for row in evidence.rows if row.time is not None]
    messages = [row for row in timed if row.cell.pattern in SENDERS]
    for made in (row for row in timed if row.cell.pattern in MAKERS):
        for message in messages:
            if not (_is_of_one_datatype(made.cell, message.cell) and of_one_launch(made, message)):
                continue
            ratio = ratio_of_rows(made, message)
            if ratio is not None and made.time is not None and message.time is not None:
                times = made.time.estimate, message.time.estimate
                yield Making(subject_of([message, made]), made.cell, *times, ratio)


def _is_of_one_datatype(one: Cell, other: Cell) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in OF_DATATYPE)


# ---- Sentences -----------------------------------------------------------------------------------

MAKING, AS_MESSAGE = "making the datatype takes", "as long as one message of it"


def headline(fact: Making, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """Return in one line how many times as long as a message of it a datatype takes to be made."""
    return in_times(f"{_about(fact, varied)}: {MAKING}", fact.ratio, AS_MESSAGE)


def sentence(fact: Making, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """Return both times and their ratio."""
    made, message = (units.format_time(each, chosen.time) for each in (fact.made_s, fact.message_s))
    takes = f"{MAKING} {times_words(fact.ratio)} {AS_MESSAGE}"
    return f"{_about(fact, varied)}: {takes}, {made} against {message}"


def _about(fact: Making, varied: Collection[str]) -> str:
    return sized_subject(fact.of, {*varied, "mode", "block_bytes"})
