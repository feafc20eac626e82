"""The facts of every conclusion of `mpigauge explain`: a function for each kind, a row in KINDS."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import pairwise, takewhile
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.ledger import Either
from tests.cli.docs.recomputing.planted import PAYLOAD, planted, way_of
from tests.cli.docs.recomputing.points import MIN_PAIRS, Point, firsts_of, of_family, points_of, ratio_fact
from tests.cli.docs.recomputing.reading import NS, job_of
from tests.cli.docs.recomputing.shown import COPIES, copy_of, rate_of, with_ends
from tests.cli.docs.recomputing.statistics_of import (
    MARGIN,
    Interval,
    Times,
    difference,
    middle_of,
    over_launches,
    quantile,
    ratio,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tests.cli.docs.recomputing.cells import Book
    from tests.cli.docs.recomputing.reading import Result, Row, Visit


BEYOND = {"slower": 1, "faster": -1}
"""Verdicts of a difference, with the sign of its logarithm."""


class Conclusion:
    """A conclusion and the rows that it is about.

    Attributes:
        value: Its facts.
        cells: Of each side the cell that it names.
        files: The results that it is about.
    """

    def __init__(self, one: Mapping[str, Any], book: Book) -> None:
        self.value, self.cells = one["value"], one["cells"]
        self.files = one["result"].split(" / ")
        self._book = book

    def curve(self, side: int = 0, file: int = 0, **other: Any) -> list[Row]:
        """Return the curve of a side, or that with other factors."""
        cell = {**self.cells[side], **other}
        return self._book.curve(self.files[file], cell, self.value.get("state"))

    def row(self, side: int = 0, **other: Any) -> Row:
        """Return the row of a side."""
        cell = {**self.cells[side], **other}
        return self._book.row(self.files[0], cell, self.value.get("state"))

    def all_rows(self) -> list[Row]:
        """Return all rows of its result."""
        return self._book.rows(self.files[0])

    @property
    def result(self) -> Result:
        """Its result."""
        return self._book.result(self.files[0])

    @property
    def limit(self) -> int:
        """The eager limit of its first cell."""
        return self._book.limit(self.files[0], self.cells[0])


def facts_of(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a conclusion; of a point that stands among `points` as well, the size alone."""
    points = one["value"].get("points", [])

    def size(point: Mapping[str, Any]) -> Any:
        return point["bytes"] if point in points else point

    fact = {**one["value"], "rests_on": one["launches"]}
    if "runs" in fact:
        fact["runs"] = [{**run, "at": [size(point) for point in run["at"]]} for run in fact["runs"]]
    if "longer" in fact:
        fact["longer"] = [size(point) for point in fact["longer"]]
    return fact


def of_conclusion(one: Mapping[str, Any], book: Book) -> dict[str, Any]:
    """Recompute the facts of a conclusion; empty of a kind that is not known."""
    recomputed = KINDS.get(one["kind"])
    own = recomputed(Conclusion(one, book)) if recomputed else {}
    return own | {"rests_on": own.get("launches", min(_launches(own), default=1))}


def _launches(own: Any) -> Iterator[int]:
    """All numbers of launches in facts; of sizes told together no number is told without a difference."""
    if isinstance(own, dict):
        if "apart_bytes" in own and own["verdict"] not in BEYOND:
            return
        for name, part in own.items():
            yield from [part] if name == "launches" else _launches(part)
    elif isinstance(own, list):
        for part in own:
            yield from _launches(part)


# ---- Curves that differ in one thing -------------------------------------------------------------


def contrast(of: Conclusion) -> dict[str, Any]:
    """Recompute two curves size by size."""
    points = points_of(of.curve(0), of.curve(1))
    facts = {one["bytes"]: one for one in of.value["points"]}
    own = [_point(one, facts.get(one.bytes)) for one in points]
    sizes = iter(one.bytes for one in points)
    runs = [
        {"verdict": run["verdict"], "at": [next(sizes, -1) for _ in run["at"]]} for run in of.value["runs"]
    ]
    rest: dict[str, Any] = {"twice_from": _twice_from(of.value["points"]), "by_limit": _by_limit(of, points)}
    rest["pieces"] = _pieces(points, [facts[one.bytes] for one in points if one.bytes in facts])
    return {"points": own, "runs": runs, **rest}


def _point(one: Point, fact: Mapping[str, Any] | None) -> dict[str, Any]:
    own: dict[str, Any] = {"bytes": one.bytes, "base_s": one.base.seconds, "other_s": one.other.seconds}
    if fact is None:
        return own
    fits = {"slower": one.ratio.estimate >= 1 + MARGIN, "faster": one.ratio.estimate <= 1 / (1 + MARGIN)}
    own["verdict"] = fact["verdict"] if fits.get(fact["verdict"], True) else f"not {fact['verdict']}"
    own["ratio"] = of_family(fact["ratio"], one.ratio)
    if one.beyond.low is not None:
        own |= {"low_s": one.beyond.low, "high_s": one.beyond.high}
    return own


ALIKE = 1.25
"""Ratios further apart are one number only if their intervals meet."""


def _pieces(points: Sequence[Point], facts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Recompute the sizes that are told together, by the verdicts and the intervals that they have."""
    words = [fact["verdict"] for fact in facts]
    told = [_told_word(points, words, place) for place in range(len(words))]
    cuts = [n for n in range(1, len(told)) if told[n] != told[n - 1] and {told[n], told[n - 1]} & {*BEYOND}]
    found: list[dict[str, Any]] = []
    for begin, end in pairwise([0, *cuts, len(told)]):
        parts = [[begin]]
        for place in range(begin + 1, end):
            longer = [*parts[-1], place]
            is_one = _is_one([points[n] for n in longer], [facts[n] for n in longer])
            parts = [*parts[:-1], longer] if told[begin] not in BEYOND or is_one else [*parts, [place]]
        found += [_piece([points[n] for n in of], [words[n] for n in of], told[begin]) for of in parts]
    return found


def _is_one(points: Sequence[Point], facts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the ratios of some sizes are one number, which enough launches have."""
    estimates = [one.ratio.estimate for one in points]
    lows, highs = ([fact["ratio"][end] for fact in facts] for end in ("low", "high"))
    near = max(estimates) <= ALIKE * min(estimates) or max(lows) <= min(highs)
    return near and _pooled(points) is not None


def _told_word(points: Sequence[Point], words: Sequence[str], place: int) -> str:
    """A size's verdict; of an undecided one that of the decided ones around it, if it is on their side."""
    if words[place] != "undecided":
        return words[place]
    decided = [[word for word in side if word != "undecided"] for side in (words[:place], words[place:])]
    around = [decided[0][-1] if decided[0] else "", decided[1][0] if decided[1] else ""]
    for word, sign in BEYOND.items():
        distance = sign * math.log(points[place].ratio.estimate)
        if around == [word, word] and distance > 0:
            return word
        if word in around and distance >= math.log(1 + MARGIN):
            return word
    return "undecided"


def _piece(points: Sequence[Point], words: Sequence[str], word: str) -> dict[str, Any]:
    if word not in BEYOND:
        word = "same" if 2 * words.count("same") >= len(words) else "undecided"
    estimates = [one.ratio.estimate for one in points]
    own: dict[str, Any] = {
        "verdict": word,
        "sizes_bytes": [one.bytes for one in points],
        "apart_bytes": [one.bytes for one, mine in zip(points, words, strict=True) if mine != word],
        "least": min(estimates),
        "most": max(estimates),
    }
    return own | ({"pooled": _pooled(points, 2)} if len(points) > 1 else {})


def _pooled(points: Sequence[Point], least: int = MIN_PAIRS) -> dict[str, Any] | None:
    """The geometric mean over sizes, of launches that have all; each side by itself if not all are pairs."""
    if all(one.pairs for one in points):
        over = _means([one.pairs for one in points])
        under = dict.fromkeys(over, 1.0)
    else:
        over, under = _means([one.over for one in points]), _means([one.under for one in points])
    if min(len(over), len(under)) < least:
        return None
    steps = [math.hypot(one.base.times.step, one.other.times.step) for one in points]
    step = math.sqrt(fmean(one**2 for one in steps))
    paired = all(one.pairs for one in points)
    return ratio_fact(ratio(Times(over, step), Times(under), paired=paired, least=least))


def _means(sides: Sequence[Mapping[int, float]]) -> dict[int, float]:
    common = sorted(set.intersection(*(set(side) for side in sides)))
    return {n: math.exp(fmean(math.log(side[n]) for side in sides)) for n in common}


def _twice_from(facts: Sequence[Mapping[str, Any]]) -> int | None:
    """From which size on, but not from the first, the same one is twice as slow by the whole interval."""
    for slower in (True, False):
        far = [one["ratio"]["low"] >= 2 if slower else one["ratio"]["high"] <= 1 / 2 for one in facts]
        begin = next((place + 1 for place in range(len(far) - 1, -1, -1) if not far[place]), 0)
        if 0 < begin < len(facts):
            return int(facts[begin]["bytes"])
    return None


def _by_limit(of: Conclusion, points: Sequence[Point]) -> dict[str, Any]:
    limits = [of.result.limits.get(curve[0].job) for curve in (of.curve(0), of.curve(1))]
    words = {one["bytes"]: one["verdict"] for one in of.value["points"]}
    beyond = min((limit for limit in limits if limit), default=math.inf)
    differing = [one for one in points if words.get(one.bytes) in ("slower", "faster") and one.bytes > beyond]
    trips = [abs(one.extra_s) / (2 * of.curve(0)[0].seconds) for one in differing]
    if not trips:
        return {}
    return {"base": limits[0], "other": limits[1], "least_trips": min(trips), "most_trips": max(trips)}


def handshake(of: Conclusion) -> dict[str, Any]:
    """Recompute what waiting for the receiver costs, and above the eager limit."""
    points = points_of(of.curve(1), of.curve(0))
    small, limit = points[0], of.limit
    above = [one.beyond for one in points if one.bytes > limit]
    less = sum((one.high or math.inf) < (small.beyond.low or 0) for one in above)
    own = _point(small, of.value["small"])
    return {"limit_bytes": limit, "small": own, "above": len(above), "without": less}


# ---- Bandwidth, copies, what a lab planted -------------------------------------------------------


def plateau(of: Conclusion) -> dict[str, Any]:
    """Recompute where the best bandwidth is, how far it holds, and what it could be."""
    rated = [row for row in of.curve() if row.bytes_per_time and row.narrow.low is not None]
    rates = [row.bytes_per_time / row.seconds for row in rated]
    place = rates.index(max(rates))
    best, largest = rated[place], rated[-1]
    near = [rate * (1 + MARGIN) >= rates[place] for rate in rates]
    begin = next((n + 1 for n in range(place, -1, -1) if not near[n]), 0)
    end = next((n - 1 for n in range(place, len(near)) if not near[n]), len(near) - 1)
    sized, way = [row for row in rated if row.bytes > 0], way_of(best)
    return {
        "best": {"bytes": best.bytes, **with_ends(rate_of(best))},
        "directions": best.directions,
        "level": [rated[begin].bytes, rated[end].bytes],
        "largest": {"bytes": largest.bytes, **with_ends(rate_of(largest))},
        "change": _a_byte(largest, best),
        "rises": _a_byte(*sized[-2:]),
        "copies": _as_copy(of, [best, *reversed(rated)]),
        "link_bytes_per_s": way.link * PAYLOAD if way and way.link else None,
        "launches": min(len(best.medians), len(largest.medians)),
    }


def _a_byte(over: Row, under: Row) -> dict[str, Any]:
    """How many times as long a byte takes, launch by launch."""
    sides = [Times({n: value / row.bytes for n, value in row.medians.items()}) for row in (over, under)]
    return ratio_fact(ratio(*sides))


def _as_copy(of: Conclusion, rows: Iterable[Row]) -> dict[str, Any]:
    if not of.value["copies"]:
        return {}
    names = COPIES[of.value["copies"]["name"]]
    row, stick = next((row, stick) for row in rows if (stick := copy_of(row, *names)))
    return {
        "bytes": row.bytes,
        "ratio": ratio_fact(ratio(row.times, stick.times, alike=not row.in_state_of(stick))),
    }


def copies(of: Conclusion) -> dict[str, Any]:
    """Recompute a message in copies of its size."""
    names = COPIES[of.value["name"]]
    pairs = [(row, stick) for row in of.curve() if row.bytes > 0 and (stick := copy_of(row, *names))]
    known = [
        (row, stick, ratio(row.times, stick.times, alike=not row.in_state_of(stick))) for row, stick in pairs
    ]
    told = [(row, stick, one) for row, stick, one in known if one is not None and _informative(one)]
    least = min(range(len(told)), key=lambda place: told[place][2].estimate)
    return {
        "first": _in_copies(*told[0]),
        "least": _in_copies(*told[least]),
        "below": [_below(one["copies"], told, least) for one in of.value["below"]],
        "never": Either((None, max((n for n in (10, 2) if told[least][2].low > n), default=None))),
        "largest_bytes": told[-1][0].bytes,
    }


def _informative(one: Interval) -> bool:
    return bool(one.low and one.high and one.estimate / one.low < 10 and one.high / one.estimate < 10)


def _in_copies(row: Row, stick: Row, one: Interval) -> dict[str, Any]:
    times = {"message_s": row.seconds, "copy_s": stick.seconds}
    return {"bytes": row.bytes, "ratio": ratio_fact(one), **times}


def _below(limit: float, told: Sequence[tuple[Row, Row, Interval]], least: int) -> dict[str, Any]:
    """The sizes around the least that are below, and those that are for certain."""

    def last(side: Sequence[tuple[Row, Row, Interval]], part: str) -> int | None:
        kept = [row.bytes for row, _, _ in takewhile(lambda one: getattr(one[2], part) < limit, side)]
        return kept[-1] if kept else None

    left, right = told[least::-1], told[least:]
    own = {"copies": limit, "from_bytes": last(left, "estimate"), "upto_bytes": last(right, "estimate")}
    sizes = [row.bytes for row, _, _ in told]
    own["above_bytes"] = max((size for size in sizes if size < (own["from_bytes"] or 0)), default=None)
    own["rises_bytes"] = min((size for size in sizes if size > (own["upto_bytes"] or math.inf)), default=None)
    return own | {"certain_bytes": last(left, "high"), "certain_upto_bytes": last(right, "high")}


# ---- How far samples lie apart -------------------------------------------------------------------


def spread(of: Conclusion) -> dict[str, Any]:
    """Recompute quartiles and deviation of the samples of a curve, or of two beside each other."""
    if len(of.cells) > 1:
        return _spread_beside(of)
    curve = of.curve()
    known = [(row, found) for row in curve if (found := _quartiles(row))]
    single = [one for one in known if _batch_of(one[0]) == 1]
    counted = single or known
    rows = [row for row, _ in counted]
    halves = [half for row in rows if (half := row.time.half_width) is not None]
    return {
        "quartiles": ratio_fact(over_launches([*_middles([one for _, one in counted], share=True).values()])),
        "sizes": len(rows),
        "batch": max(map(_batch_of, rows)),
        "batched": [row.bytes for row in curve if _batch_of(row) > 1 and row not in rows] if single else [],
        "half_width": median(halves),
        "deviation": _deviation(rows),
    }


def _quartiles(row: Row) -> dict[int, tuple[float, float]] | None:
    """Distance and middle of the samples of each launch; None if one has under 20, or there is but one."""
    found = {}
    for number, mine in row.launches.items():
        ordered = sorted(value for visit in mine for value in visit.seconds)
        if len(ordered) < 20:
            return None
        low, middle, high = (quantile(ordered, share) for share in (0.25, 0.5, 0.75))
        found[number] = high - low, middle
    return found if len(found) > 1 else None


def _batch_of(row: Row) -> int:
    """Calls in a sample, the most of any visit."""
    return max((visit.record["batch"] for visit in row.visits), default=0)


def _middles(known: Sequence[Mapping[int, tuple[float, float]]], *, share: bool) -> dict[int, float]:
    """Of every launch that has all of these sizes, the median over them."""
    common = set.intersection(*(set(one) for one in known))
    return {n: median(one[n][0] / one[n][1] if share else one[n][0] for one in known) for n in sorted(common)}


def _deviation(rows: Sequence[Row]) -> dict[str, Any]:
    over_mean, row = max(
        ((stdev(row.samples) / fmean(row.samples), row) for row in rows), key=lambda one: one[0]
    )
    ordered = sorted(row.samples)
    slowest = math.ceil(0.01 * len(ordered))
    rest = ordered[:-slowest]
    counts = {"slowest": slowest, "samples": len(ordered)}
    return {"bytes": row.bytes, "over_mean": over_mean, "rest": stdev(rest) / fmean(rest), **counts}


def _spread_beside(of: Conclusion) -> dict[str, Any]:
    both = [
        {row.bytes: found for row in of.curve(side) if _batch_of(row) == 1 and (found := _quartiles(row))}
        for side in (0, 1)
    ]
    sizes = sorted(both[0].keys() & both[1].keys())
    base, other = (_middles([one[size] for size in sizes], share=False) for one in both)
    shares = [median(_middles([one[size] for size in sizes], share=True).values()) for one in both]
    return {
        "ratio": ratio_fact(ratio(Times(other), Times(base))),
        "sizes": len(sizes),
        "base_s": median(base.values()),
        "other_s": median(other.values()),
        "base_share": shares[0],
        "other_share": shares[1],
    }


# ---- What comes first ----------------------------------------------------------------------------


def first(of: Conclusion) -> dict[str, Any]:
    """Recompute the first round of each size against a typical one."""
    facts, own = {one["bytes"]: one for one in of.value["points"]}, {}
    for row in of.curve():
        firsts = firsts_of(row)
        one = ratio(Times(firsts, row.step), Times(row.medians)) if firsts else None
        if one is not None and one.low is not None:
            first_s = over_launches([*firsts.values()]).estimate
            known = of_family(facts[row.bytes]["ratio"], one) if row.bytes in facts else {}
            own[row.bytes] = {
                "bytes": row.bytes,
                "ratio": known,
                "first_s": first_s,
                "typical_s": row.seconds,
            }
    return {"points": [*own.values()], "longer": [one["bytes"] for one in of.value["longer"]]}


def start_up(of: Conclusion) -> dict[str, Any]:
    """Recompute MPI_Init of a job, and the first message after it."""
    row = of.row()
    inits: dict[str, dict[int, float]] = {"init_ns": {}, "init_median_ns": {}}
    for one in sorted(of.result.launches, key=lambda one: -one["part"]):
        for name, mine in inits.items():
            if row.job == job_of(one["job"]) and one[name] > 0:
                mine[one["number"]] = one[name] * NS
    longest, middle = (over_launches([*mine.values()], machine=0.01) for mine in inits.values())
    facts = {"init_s": longest.estimate, "low_s": longest.low, "high_s": longest.high}
    first = first_message(of) if of.value["first"] is not None else None
    return {**facts, "middle_s": middle.estimate, "first": first, "launches": len(inits["init_ns"])}


def first_message(of: Conclusion) -> dict[str, Any]:
    """Recompute the very first message of a job."""
    row = of.row()
    firsts: dict[int, float] = {}
    for one in sorted(of.result.launches, key=lambda one: -one["part"]):
        if row.job == job_of(one["job"]) and one["first_round_trip_ns"] > 0:
            firsts[one["number"]] = one["first_round_trip_ns"] * NS
    own = over_launches([*firsts.values()], machine=0.01)
    facts = {"first_s": own.estimate, "low_s": own.low, "high_s": own.high, "launches": len(firsts)}
    if row.pattern != "pingpong":
        return facts
    trips = {n: 2 * value for n, value in row.medians.items()}
    later = ratio_fact(ratio(Times(firsts, row.step), Times(trips)))
    return {**facts, "usual_s": 2 * row.seconds, "ratio": later}


def eager(of: Conclusion) -> dict[str, Any]:
    """Recompute how large an eager limit is, and what was not started."""
    job, limit = job_of(of.cells[0]), of.limit
    needs = {
        (pattern["name"], mode["name"])
        for pattern in of.result.campaign["patterns"]
        for mode in pattern["modes"]
        if mode["needs_eager"]
    }
    rows = [row for row in of.result.rows.values() if row.job == job and (row.pattern, row.mode) in needs]
    blocked = sum(row.blocked is not None and not row.visits for row in rows)
    return {"limit_bytes": limit, "blocked": blocked, "of": len(rows), "crossing": _crossing(of, limit)}


def _crossing(of: Conclusion, limit: int) -> dict[str, Any] | None:
    """Recompute the time of one byte above a limit beyond that at the limit, less an odd byte's below it."""
    timed = {
        probe["launch"]: {name: median(trips) / 2e9 for name, trips in probe["crossing"].items()}
        for probe in of.result.probes
        if probe["cell"].items() <= of.cells[0].items()
        and probe.get("crossing")
        and probe["limit_bytes"] == limit
    }
    if not timed:
        return None
    over = {n: times["above_ns"] + times["below_ns"] for n, times in timed.items()}
    under = {n: times["at_limit_ns"] + times["below_odd_ns"] for n, times in timed.items()}
    at_limit, above = (
        over_launches([times[name] for times in timed.values()]).estimate
        for name in ("at_limit_ns", "above_ns")
    )
    extra = difference(Times(over), Times(under), (above, at_limit), promised=0.01)
    sizes = {"below_bytes": limit, "above_bytes": limit + 1, "below_s": at_limit, "above_s": above}
    ends = {"extra_s": extra.estimate, "low_s": extra.low, "high_s": extra.high}
    return sizes | ends | {"launches": extra.launches}


# ---- Ranks and cores -----------------------------------------------------------------------------


def growth(of: Conclusion) -> dict[str, Any]:
    """Recompute what the number of ranks does."""
    return {"at": [_growth(of, one) for one in of.value["at"]]}


def _growth(of: Conclusion, at: Mapping[str, Any]) -> dict[str, Any]:
    base = of.row(bytes=at["bytes"], ranks=at["fewest"]["ranks"])

    def count(fact: Mapping[str, Any]) -> dict[str, Any]:
        row = of.row(bytes=at["bytes"], ranks=fact["ranks"])
        cores = of.result.cores if row.ranks > of.result.cores else None
        own = {"ranks": row.ranks, "time_s": row.seconds, "cores": cores}
        own["message_s"] = row.seconds / row.ranks if of.value["lap"] else None
        own["skew_share"] = Either((None, _skew(row) / row.seconds))
        plain = ratio(row.times, base.times)
        return own | {"ratio": of_family(fact["ratio"], plain) if fact["ratio"] and plain else None}

    crowded = [count(one) for one in at["crowded"]]
    return {"bytes": at["bytes"], "fewest": count(at["fewest"]), "crowded": crowded}


def _skew(row: Row) -> float:
    """The median of how far apart the ranks started, of all rounds in time; 0 if nobody has looked."""
    found = []
    for visit in (one for mine in row.launches.values() for one in mine):
        late = set(visit.record["late"]) if not visit.late else set()
        values = [ns * NS for n, ns in enumerate(visit.record["skew_ns"]) if n not in late]
        found.append((values, visit.step_s * visit.record["ops"]))
    return middle_of(found) if any(values for values, _ in found) else 0.0


def yielding(of: Conclusion) -> dict[str, Any]:
    """Recompute what it is worth that ranks give way: those of the second result are not told to."""
    told, untold = ({row.bytes: row for row in of.curve(file=file)} for file in (0, 1))
    sizes = sorted(told.keys() & untold.keys())
    own: list[dict[str, Any]] = []
    for size in dict.fromkeys((sizes[0], sizes[-1])):
        known = ratio_fact(ratio(untold[size].times, told[size].times, paired=False))
        times = {"told_s": told[size].seconds, "untold_s": untold[size].seconds}
        own.append({"bytes": size, **times, "ratio": known, "verdict": known["verdict"]})
    return {"cores": of.result.cores, "at": own}


def waiting(of: Conclusion) -> dict[str, Any]:
    """Recompute how busy waiting ranks keep their cores, of each library."""
    known = [_core_time(of, cell) for cell in of.cells]
    own: list[dict[str, Any]] = []
    for shares, cells in known:
        one = over_launches([*shares.values()])
        share = {"estimate": one.estimate, "low": one.low, "high": one.high and min(1.0, one.high)}
        against = ratio_fact(ratio(Times(shares), Times(known[0][0]))) if own else {}
        own.append({"share": share | {"launches": one.launches}, "cells": cells, "ratio": against})
    return {"times": own, "ranks": of.cells[0]["ranks"], "cores": of.result.cores}


def _core_time(of: Conclusion, cell: Mapping[str, Any]) -> tuple[dict[int, float], int]:
    """The share of each launch, median over cells, and how many cells."""
    patterns = {one["name"]: one for one in of.result.campaign["patterns"]}
    found: dict[int, list[float]] = defaultdict(list)
    cells = 0
    for row in of.all_rows():
        if row.job != job_of(cell) or patterns[row.pattern]["family"] != of.value["family"]:
            continue
        if not row.visits or row.state != of.value["state"]:
            continue
        active = int(patterns[row.pattern]["active_ranks"] or row.ranks)
        shares = {n: _share(mine, active) for n, mine in row.launches.items()}
        room = _room(of.result, row, active)
        for number, share in shares.items():
            if share is not None:
                found[number].append(min(1.0, share / room))
        cells += any(share is not None for share in shares.values())
    return {number: median(mine) for number, mine in found.items()}, cells


def _room(result: Result, row: Row, active: int) -> float:
    """The cores that there are for each rank that is active, at most one."""
    together = max(Counter(one["host"] for one in result.launch_of(row)["ranks_at"]).values())
    together = row.ranks if result.campaign["plan"]["lab"] else together
    return min(1.0, result.cores / min(active, together))


def _share(visits: Sequence[Visit], active: int) -> float | None:
    known = [(one.record["cpu_ns"], one.record["wall_ns"]) for one in visits]
    shares = [cpu / (active * wall) for cpu, wall in known if cpu is not None and wall > 0]
    return min(1.0, median(shares)) if shares else None


KINDS: Mapping[str, Callable[[Conclusion], dict[str, Any]]] = {
    "library": contrast,
    "mode": contrast,
    "place": contrast,
    "handshake": handshake,
    "plateau": plateau,
    "copies": copies,
    "planted": lambda of: planted(of.value, [of.row(side) for side in range(len(of.cells))], of.curve()),
    "spread": spread,
    "first": first,
    "start-up": start_up,
    "first-message": first_message,
    "eager-limit": eager,
    "ranks": growth,
    "yielding": yielding,
    "waiting": waiting,
}
