"""What a model says: its numbers with their intervals, what it does not describe, and what textbooks miss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.models import numbers
from mpigauge.models.collectives import MAX_ERROR, MIN_RANK_COUNTS
from mpigauge.models.model import MAX_MISFIT
from mpigauge.units import MISSING, format_factor, format_percent, format_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.document.document import Units
    from mpigauge.models.collectives import AlgorithmFit, Behaviour
    from mpigauge.models.hockney import Textbook
    from mpigauge.models.model import Break, Segment
    from mpigauge.models.modelled import Collective, CurveModel, Models
    from mpigauge.models.predict import Prediction
    from mpigauge.query.series import Series
    from mpigauge.stats.interval import Number
    from mpigauge.vocabulary import AlgorithmName, BreakKind, NoBehaviour, PredictionBasis

KINDS: Mapping[BreakKind, str] = {
    "eager-limit": "eager limit, probed",
    "found": "found",
    "possible": "possible",
}
ALGORITHMS: Mapping[AlgorithmName, str] = {
    "linear": "linear",
    "binomial": "binomial tree",
    "recursive-doubling": "recursive doubling",
    "recursive-halving": "recursive halving",
    "ring-of-blocks": "ring of blocks",
    "rabenseifner": "Rabenseifner",
    "van-de-geijn": "van de Geijn",
    "pairwise": "pairwise",
    "bruck": "Bruck",
}
REFUSALS: Mapping[NoBehaviour, str] = {
    "few-ranks": f"fewer than {MIN_RANK_COUNTS} numbers of ranks with a core for each, "
    "so no algorithm is named",
    "no-message": "no model of messages of the same library and place, so no algorithm is named",
}
BASES: Mapping[PredictionBasis, str] = {
    "measured": "measured size",
    "interpolated": "",
    "at-break": "between two segments: either may be right",
    "extrapolated": "extrapolated",
    "no-slope": "beyond all sizes, and the last segment has no slope",
}

MAX_NAMES = 3
"""Names in a sentence."""

MAX_LINE_ERROR = 0.05
"""Largest relative error of a line that counts as right."""

LAUNCHES_FEW = 5


def headline(found: Sequence[CurveModel], chosen: Units) -> str:
    """Return the answer: the numbers of one curve, or the numbers of segments of several."""
    if len(found) > 1:
        counts = sorted({len(one.model.segments) for one in found})
        of = units.span(str(counts[0]), str(counts[-1]))
        segments = "segment" if counts[-1] == 1 else units.plural("segment")
        return f"models of {len(found)} curves: {of} {segments} each"
    (one,) = found
    return f"{one.series.label}: {summary(one, chosen)}"


def summary(one: CurveModel, chosen: Units) -> str:
    """Return segments, least time, bandwidth and misfit of a curve."""
    model, two = one.model, one.hockney
    count = len(model.segments)
    least = units.format_time(two.latency_s.estimate, chosen.time)
    best = f" at {format_size(two.fastest)}" if two.fastest is not None else ""
    return ", ".join(
        [
            units.counted(count, "segment"),
            f"{least} at {format_size(two.smallest)}" if two.apparent else f"alpha {least}",
            f"{units.format_rate(two.rate.estimate, chosen.rate)}{best}",
            f"misfit {format_percent(model.misfit)}",
        ]
    )


# ---- Segments and breaks -------------------------------------------------------------------------


def alpha(segment: Segment, chosen: Units) -> str:
    """Return the time of size 0; for a segment without slope its level."""
    return numbers.time(segment.alpha if segment.sloped else segment.level, chosen)


def bandwidth(segment: Segment, moved: float, chosen: Units) -> str:
    """Return the inverse of beta, or "constant" for a segment without slope."""
    return numbers.rate(segment.beta.inverse(moved), chosen) if segment.sloped else "constant"


def where(one: Break) -> str:
    """Return the range in which a break lies."""
    if one.above == one.upto:
        return f"above {format_size(one.above)}"
    return f"{format_size(one.above)} to {format_size(one.upto)}"


def kind(one: Break) -> str:
    """Return what shows a break."""
    share = "" if one.stability is None else f", in {format_percent(one.stability)} of replicates"
    return f"{KINDS[one.kind]}{share}"


# ---- Two parameters ------------------------------------------------------------------------------


def pair(one: CurveModel) -> str:
    """Return whether the two numbers are parameters."""
    if one.hockney.apparent:
        return "apparent: of the times, not of a line"
    far = f", extrapolated: n_half is {_beyond(one)}" if one.hockney.extrapolated else ""
    return f"parameters of one line{far}"


def _beyond(one: CurveModel) -> str:
    """Return the range beyond which a line promises nothing, in words."""
    return f"beyond twice {format_size(int(one.model.points.sizes[-1]))}, the largest size"


def wrong(found: Textbook, chosen: Units) -> str:
    """Return what is wrong about a line of least squares, the worst first."""
    said = [_alpha(found, chosen), _bandwidth(found), _worst(found)]
    return "; ".join(filter(None, said)) or f"nothing: at most {format_percent(MAX_LINE_ERROR)} off"


def _alpha(found: Textbook, chosen: Units) -> str:
    measured, at = units.format_time(found.measured_s, chosen.time), format_size(found.smallest)
    if found.latency_s.estimate <= 0:
        return f"alpha is negative, measured {measured} at {at}"
    ratio = found.latency_s.estimate / found.measured_s
    if abs(math.log(ratio)) <= math.log1p(MAX_LINE_ERROR):
        return ""
    return f"alpha is {numbers.TIMES} {format_factor(ratio)} the {measured} measured at {at}"


def _bandwidth(found: Textbook) -> str:
    share = found.rate.estimate / found.highest - 1
    if abs(share) <= MAX_LINE_ERROR or not math.isfinite(share):
        return ""
    word = "below" if share < 0 else "above"
    return f"bandwidth {format_percent(abs(share))} {word} the highest measured"


def _worst(found: Textbook) -> str:
    at = f"at {format_size(found.worst_at)}"
    if found.worst <= 0:
        return f"no time at all {at}"
    if abs(math.log(found.worst)) <= math.log1p(MAX_LINE_ERROR):
        return ""
    return f"{numbers.TIMES} {format_factor(found.worst)} the time {at}"


# ---- Collectives ---------------------------------------------------------------------------------


def behaves(one: Behaviour) -> str:
    """Return the algorithms of a behaviour: `binomial tree (error 8.0 %), next ring (31 %)`."""
    if not one.known:
        nearest = f": nearest {_like(one.likes[0])}" if one.likes else ""
        return f"none within {format_percent(MAX_ERROR)}{nearest}"
    same = [f"or {ALGORITHMS[each.algorithm]}" for each in one.same]
    best = " ".join([ALGORITHMS[one.likes[0].algorithm], *same])
    others = one.likes[1 + len(same) :]
    next_ = f", next {_like(others[0])}" if others else ""
    return f"{best} (error {format_percent(one.likes[0].error)}){next_}"


def _like(one: AlgorithmFit) -> str:
    return f"{ALGORITHMS[one.algorithm]} ({format_percent(one.error)})"


def ranks(one: Behaviour) -> str:
    """Return the range of ranks: `2 to 16`."""
    return units.span(str(one.ranks[0]), str(one.ranks[-1]))


# ---- Predictions ---------------------------------------------------------------------------------


def ends(time: Number | None, chosen: Units) -> str:
    """Return the interval of a predicted time."""
    low, high = (time.low, time.high) if time else (None, None)
    return units.interval(low, high, lambda end: units.format_time(end, chosen.time)) or MISSING


def basis(curve: CurveModel, one: Prediction) -> str:
    """Return the basis of a prediction unless it is interpolated, and why it has no interval."""
    if one.why != "far":
        return BASES[one.basis]
    smallest = int(curve.model.points.sizes[0])
    below = f"below half of {format_size(smallest)}, the smallest size"
    return f"{BASES[one.basis]}, no interval: {below if one.size < smallest else _beyond(curve)}"


# ---- What must be known --------------------------------------------------------------------------


def notes(shown: Models) -> list[str]:
    """Return doubts about models, in sentences."""
    found = shown.found
    said = [_misfits(found), _few(found), _none(found), _possible(found), _left_out(shown.left_out)]
    return [*filter(None, [*said, _far(shown.collectives)]), *_refused(shown.collectives)]


def _far(collectives: Sequence[Collective]) -> str:
    """Return a sentence about collectives whose factor has no interval."""
    far = [
        one.label
        for one in collectives
        if any(each.known and each.likes[0].extrapolated for each in one.behaviours)
    ]
    beyond = "made of messages beyond twice the largest that was measured, so the factor has no interval"
    return f"{beyond}: {_named(far)}" if far else ""


def _refused(collectives: Sequence[Collective]) -> Iterator[str]:
    for why, text in REFUSALS.items():
        if names := [one.label for one in collectives if one.why == why]:
            yield f"{text}: {_named(names)}"


def _misfits(found: Sequence[CurveModel]) -> str:
    bad = [one.series.label for one in found if (one.model.misfit or 0) > MAX_MISFIT]
    if not bad:
        return ""
    most = format_percent(MAX_MISFIT)
    return f"lines describe these no better than {most}; more sizes show more breaks: {_named(bad)}"


def _few(found: Sequence[CurveModel]) -> str:
    few = [one.series.label for one in found if one.model.replicates and one.launches < LAUNCHES_FEW]
    return f"fewer than {LAUNCHES_FEW} launches, so intervals are wide: {_named(few)}" if few else ""


def _none(found: Sequence[CurveModel]) -> str:
    bare = [one.series.label for one in found if one.model.replicates is None]
    return f"no intervals, for want of two launches: {_named(bare)}" if bare else ""


def _possible(found: Sequence[CurveModel]) -> str:
    unsure = [one.series.label for one in found if any(b.kind == "possible" for b in one.model.breaks)]
    return f"breaks that are only possible may be none: {_named(unsure)}" if unsure else ""


def _left_out(left_out: Sequence[Series]) -> str:
    names = [one.label for one in left_out]
    return f"fewer than four sizes, so no model: {_named(names)}" if names else ""


def _named(names: Sequence[str]) -> str:
    kept = [*names[:MAX_NAMES], *([f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else [])]
    return "; ".join(kept)
