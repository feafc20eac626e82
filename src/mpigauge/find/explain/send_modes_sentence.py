"""What modes of sending cost, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.document import AUTOMATIC
from mpigauge.find.phrases import span, subject, time
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.document.document import Units
    from mpigauge.find.explain.send_modes import BufferCopy, Handshake


def handshake(fact: Handshake, varied: Collection[str], chosen: Units = AUTOMATIC) -> str:
    """What the wait for the receiver costs, and whether the usual mode waits above the limit."""
    small, mode, usual = fact.small, fact.cell.mode, fact.base.mode
    cost = time(small.beyond_s or small.extra_s, small.low_s, small.high_s, chosen)
    size, limit = units.format_size(small.bytes), units.format_size(fact.limit_bytes)
    about = subject(fact.base, varied, {"mode"}, fact.state)
    said = f"{about}: waiting for the receiver costs {cost} ({mode} against {usual}, {size})"
    if not fact.above:
        return f"{said}; no size above the eager limit of {limit} was measured"
    sizes = counted(fact.above, "size")
    if not fact.without:
        return f"{said}; above the eager limit of {limit} none of {sizes} tells whether {usual} waits, too"
    less = f"the difference is certainly less at {fact.without} of {sizes}"
    return f"{said}; above the eager limit of {limit} {less}: {usual} waits there, too"


def buffer_copy(fact: BufferCopy, varied: Collection[str], _: Units = AUTOMATIC) -> str:
    """What a copy into a buffer costs, in copies."""
    about = subject(fact.base, varied, {"mode"}, fact.state)
    stick = " ".join(YARDSTICKS[fact.stick])
    ends = units.interval(fact.copies_low, fact.copies_high, units.format_factor)
    return (
        f"{about}: {fact.cell.mode} takes longer than {fact.base.mode} by "
        f"{units.format_factor(fact.copies_median)} copies ({stick} of the same size; {ends} at "
        f"{span((fact.least_bytes, fact.most_bytes))})"
    )
