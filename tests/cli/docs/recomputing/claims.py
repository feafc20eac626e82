"""Tables of `mpigauge explain --claims`: the numbers of either column, from the file of the claims."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.cli.docs.recomputing.curves import MEMORY
from tests.cli.docs.recomputing.ledger import Said, size_of
from tests.cli.docs.recomputing.reading import CELL, RATES, SIZES, TIMES
from tests.cli.docs.recomputing.sentences import firsts_of, job_of_limit, limits_of
from tests.cli.docs.recomputing.statistics_of import Interval, over_launches, ratio

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tests.cli.docs.recomputing.ledger import Ledger
    from tests.cli.docs.recomputing.reading import Row

LINE = re.compile(r"^\| (?P<says>.*?) \| (?P<printed>.*?) \| (?P<here>.*?) \| (?P<verdict>.*?) \|$")
N = r"[\d.]+(?:e[+-]?\d+)?"
UNIT = r"(?: (%|B|[KMG]iB|[MG]bit/s|[MG]B/s|ns|µs|ms|s|times))?"
EACH = re.compile(rf"({N}){UNIT}(?: \(({N}){UNIT} – ({N}){UNIT}\)| \(({N} \w+) or more\))?(?: \[[^]]*\])?(?: at [\d.]+ \w+)?")
MANY = re.compile(rf"({N}) to ({N}) times, median ({N}); so at (\d+) of (\d+)(.*)$")
LAUNCHES = re.compile(r"(\d+)(?: – (\d+))? launch")
HOLDS = re.compile(r"; so at (\d+) of (\d+)(?!\d)")
HEADLINE = re.compile(r"^\*of \d+ conclusions .*\*$", re.MULTILINE)
VERDICTS = ("confirmed", "refuted", "undecided", "not testable here", "not tested here")
NOTHING = ("not in its tables", "not measured")
BOUND = re.compile(r"^(>=|<=|>|<) *([\d.]+) *(\S*)$|^([\d.]+) *(\S*) *\.\. *([\d.]+) *(\S*)$")
GOES_WITH = {"mpi": ("mpi_version", "label"), "pattern": ("mode", "window", "sync", "datatype", "op", "root", "in_place")}
SCALES = {**RATES, **TIMES, **SIZES, "%": 0.01, "": 1.0}


class Of(NamedTuple):
    """A row, and what it is chosen by besides its factors."""

    file: str
    title: str
    row: Row


class Number(NamedTuple):
    """One number of a claim."""

    own: Interval
    row: Row


def check_claims(ledger: Ledger, text: str, claims: Sequence[Mapping[str, Any]], here: Sequence[Of]) -> None:
    """All lines of the tables of an output."""
    of_claim = {one["says"]: (whole, one) for whole in claims for one in whole["claim"]}
    for line in text.splitlines():
        match = LINE.match(line)
        if match is None or match["says"] not in of_claim:
            continue
        whole, claim = of_claim[match["says"]]
        for column, found in (("printed", whole["printed_rows"]), ("here", here)):
            said = Said(ledger, match[column])
            before = len(ledger.differ)
            try:
                _check(said, claim, _numbers(whole, claim, column, found), exact=column == "printed")
            except (IndexError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
                ledger.differ.append(f"{type(error).__name__} {error}: {match[column]}")
            ledger.differ[before:] = [f"claim {claim['name']}: {one}" for one in ledger.differ[before:]]
            said.close(f"claim {claim['name']}, {column}")
        _verdict(ledger, claim, match["verdict"], _numbers(whole, claim, "here", here))
    if headline := HEADLINE.search(text):
        _headline(Said(ledger, headline[0]), text)


def _verdict(ledger: Ledger, claim: Mapping[str, Any], word: str, found: Sequence[Number]) -> None:
    """What the numbers here make of a claim."""
    if word not in ("confirmed", "refuted", "undecided") or not found:
        return
    holds = [_holds(claim, one.own, exact=False) for one in found]
    yes, no, many = holds.count("holds"), holds.count("fails"), len(holds)
    own = {
        "all": "refuted" if no else "confirmed" if yes == many else "undecided",
        "most": "confirmed" if 2 * yes > many else "refuted" if 2 * (many - no) <= many else "undecided",
        "any": "confirmed" if yes else "refuted" if no == many else "undecided",
    }[claim.get("quantifier", "all")]
    Said(ledger, f"{word} {claim['name']}").word((0, len(word)), own)


def _headline(said: Said, text: str) -> None:
    """How many conclusions have which verdict."""
    words = [match["verdict"] for line in text.splitlines() if (match := LINE.match(line))]
    said.number(re.search(r"of (\d+) conclusions", said.text).span(1), "", sum(word in VERDICTS for word in words))
    for match in re.finditer(r"(\d+) ((?:confirmed|refuted|undecided|not \w+ here))", said.text):
        said.number(match.span(1), "", words.count(match[2]))


def _check(said: Said, claim: Mapping[str, Any], found: Sequence[Number], *, exact: bool) -> None:
    if not found or said.text in NOTHING:
        return
    begin = re.match(r"(?:agrees|contradicts it|open|the lab's own number): ", said.text)
    at = begin.end() if begin else 0
    values = [one.own.estimate for one in found]
    holds = [_holds(claim, one.own, exact=exact) for one in found]
    if match := MANY.search(said.text, at):
        for group, value in zip((1, 2, 3), (min(values), max(values), median(values)), strict=True):
            said.number(match.span(group), "", value)
        said.number(match.span(4), "", holds.count("holds"))
        said.number(match.span(5), "", len(found))
        _counted(said, match, found, holds)
    elif len(found) <= 4:
        _each(said, at, claim, found)
        if match := HOLDS.search(said.text):
            said.number(match.span(1), "", holds.count("holds"))
            said.number(match.span(2), "", len(found))
    if match := LAUNCHES.search(said.text):
        counts = sorted({one.own.launches for one in found if one.own.launches})
        said.number(match.span(1), "", counts[0])
        said.number(match.span(2), "", counts[-1])


def _counted(said: Said, match: re.Match[str], found: Sequence[Number], holds: Sequence[str]) -> None:
    tail, at = match[6], match.start(6)
    if open_ := re.search(r"undecided at (\d+)", tail):
        said.number((at + open_.start(1), at + open_.end(1)), "", holds.count("undecided"))
    if fails := re.search(r"not at (\d+)(?=$|[,;])(?! \w+iB| B)", tail):
        said.number((at + fails.start(1), at + fails.end(1)), "", holds.count("fails"))
    elif fails := re.search(r"not at (.*?)(?:, undecided|;|$)", tail):
        sizes = [one.row.bytes for one, word in zip(found, holds, strict=True) if word == "fails"]
        named = [*re.finditer(r"[\d.]+ (?:B|[KMG]iB)", fails[1])]
        if len(named) == len(sizes):
            base = at + fails.start(1)
            for one, size in zip(named, sizes, strict=True):
                said.size((base + one.start(), base + one.end()), size)


def _each(said: Said, at: int, claim: Mapping[str, Any], found: Sequence[Number]) -> None:
    end = said.text.find(";", at)
    matches = [*EACH.finditer(said.text, at, end if end >= 0 else len(said.text))]
    matches = [one for one in matches if said.text[one.start() - 2 : one.start()] in (": ", ", ") or one.start() == at]
    if len(matches) != len(found):
        said.word((0, 0), f"{len(found)} numbers")
    for match, one in zip(matches, found, strict=False):
        unit = match[2] or ""
        if unit in SIZES:
            said.size((match.start(1), match.end(2)), one.own.estimate)
            if match[7]:
                said.size(match.span(7), one.own.low or -1)
            continue
        said.number(match.span(1), unit, one.own.estimate)
        said.number(match.span(3), match[4] or "", one.own.low)
        said.number(match.span(5), match[6] or "", one.own.high)
        if place := re.search(r" at ([\d.]+ \w+)$", match[0]):
            both = (match.start() + place.start(1), match.start() + place.end(1))
            said.size(both, one.row.bytes)


# ---- Bounds --------------------------------------------------------------------------------------


def _holds(claim: Mapping[str, Any], own: Interval, *, exact: bool) -> str:
    """Whether the whole interval is within the bound."""
    low, high = (own.estimate, own.estimate) if exact else (own.low, own.high)
    if low is None or high is None:
        return "undecided"
    allows = _bound(claim.get("bound", "> 1"))
    inside = [allows(low), allows(high)]
    if all(one == 0 for one in inside):
        return "holds"
    return "fails" if inside[0] == inside[1] else "undecided"


def _bound(text: str) -> Any:
    """On which side of a bound a number is: 0 within."""
    match = BOUND.match(text)
    if match is None:
        raise ValueError(text)
    if match[1]:
        limit = float(match[2]) * SCALES[match[3]]
        compare = {">": float.__gt__, ">=": float.__ge__, "<": float.__lt__, "<=": float.__le__}[match[1]]
        return lambda value: 0 if compare(float(value), limit) else 1
    low, high = float(match[4]) * SCALES[match[5]], float(match[6]) * SCALES[match[7]]
    return lambda value: -1 if value < low else 1 if value > high else 0


# ---- Numbers -------------------------------------------------------------------------------------


def _numbers(whole: Mapping[str, Any], claim: Mapping[str, Any], column: str, found: Sequence[Of]) -> list[Number]:
    if "untestable" in claim and column == "here":
        return []
    sides = {}
    for side in ("cells", "over", "under"):
        own = dict(claim.get(side, {}))
        if column == "here":
            own |= _here(own, whole.get("here", {}).get("placement", {}))
        sides[side] = own | claim.get(column, {}).get(side, {})
    quantity = claim.get("quantity", "time")
    match claim.get("kind"):
        case "ratio" if quantity in ("time", "latency", "bandwidth"):
            return [Number(one, over.row) for over, _, one in _ratios(found, sides, quantity)]
        case "from" if quantity in ("time", "bandwidth"):
            return [*_from(found, sides, claim, quantity, exact=column == "printed")]
        case "grows" if quantity == "time":
            return [*_grows(found, sides, claim.get("along", "bytes"))]
        case "value" if quantity in ("cpu", "first"):
            rows = [one.row for one in _chosen(found, sides["cells"])]
            return [Number(own, row) for row in rows if (own := _value(row, quantity)) is not None]
        case "peak" if sides["over"]:
            return [*_peaks(found, sides)]
        case "peak" if quantity == "size":
            return [*_peak_sizes(found, sides)]
        case "limit":
            return [*_limits(found, sides)]
    return []


def _here(own: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Placements of the report by their names here."""
    if "placement" not in own:
        return {}
    wanted = own["placement"]
    each = [names.get(one, one) for one in (wanted if isinstance(wanted, list) else [wanted])]
    return {"placement": each}


def _chosen(found: Iterable[Of], *selections: Mapping[str, Any]) -> list[Of]:
    return [one for one in found if all(_so(one, name, of) for each in selections for name, of in each.items())]


def _so(one: Of, name: str, wanted: Any) -> bool:
    if name == "bytes":
        unsized = one.row.pattern in ("barrier", "cacheline", "null")
        return unsized or any(_within(one.row.bytes, part) for part in str(wanted).split(","))
    value = {"file": one.file, "title": one.title}.get(name, one.row.cell.get(name))
    return value in (wanted if isinstance(wanted, list) else [wanted])


def _within(size: int, text: str) -> bool:
    low, _, high = text.strip().partition(":")
    return _size(low) <= size <= _size(high or low)


def _size(text: str) -> int:
    match = re.match(r"([\d.]+) *(\w*)$", text)
    return size_of(f"{match[1]} {match[2] or 'B'}") if match else -1


def _key(one: Of, free: Iterable[str]) -> object:
    without = {*free}
    file = None if "file" in without else one.file
    return (file, one.row.state, *(one.row.cell.get(name) for name in CELL if name not in without))


def _free(sides: Mapping[str, Mapping[str, Any]]) -> set[str]:
    named = {*sides["over"], *sides["under"]}
    return named | {other for name in named for other in GOES_WITH.get(name, ())}


def _ratios(
    found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]], quantity: str
) -> Iterator[tuple[Of, Of, Interval]]:
    others: dict[object, list[Of]] = defaultdict(list)
    free = _free(sides)
    for one in _chosen(found, sides["cells"], sides["under"]):
        others[_key(one, free)].append(one)
    for over in _chosen(found, sides["cells"], sides["over"]):
        for under in others.get(_key(over, free), ()):
            if (own := _divided(over, under, quantity)) is not None:
                yield over, under, own


def _divided(over: Of, under: Of, quantity: str) -> Interval | None:
    if not over.row.timed or not under.row.timed:
        return None
    if quantity == "bandwidth":
        if not over.row.bytes_per_time or not under.row.bytes_per_time:
            return None
        over, under = under, over
    scale = over.row.bytes_per_time / under.row.bytes_per_time if quantity == "bandwidth" else 1.0
    scale = 1 / scale if quantity == "bandwidth" else scale
    if over.row.result is None or under.row.result is None:
        return Interval(over.row.seconds / under.row.seconds * scale)
    same = all(over.row.cell[name] == under.row.cell[name] for name in ("transport", "placement", "ranks"))
    within = over.file == under.file
    own = ratio(over.row.times, under.row.times, paired=within, alike=same and within)
    ends = [None if one is None else one * scale for one in own[:3]] if own else []
    return Interval(*ends, own.launches) if own else None


def _grows(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]], along: str) -> Iterator[Number]:
    of: dict[object, list[Of]] = defaultdict(list)
    for one in _chosen(found, sides["cells"]):
        if one.row.timed:
            of[_key(one, (along,))].append(one)
    for mine in of.values():
        for one, later in pairwise(sorted(mine, key=lambda one: one.row.cell[along])):
            if (own := _divided(later, one, "time")) is not None:
                yield Number(own, later.row)


def _from(
    found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]], claim: Mapping[str, Any], quantity: str, *, exact: bool
) -> Iterator[Number]:
    """The smallest size from which on a ratio keeps a limit: by estimates, perhaps, for certain."""
    free = {*_free(sides), "bytes", "window"}
    of: dict[object, list[tuple[Row, Interval]]] = defaultdict(list)
    for over, _, own in _ratios(found, sides, quantity):
        if over.row.bytes:
            of[_key(over, free)].append((over.row, own))
    limit = {"bound": claim["limit"]}
    for mine in of.values():
        rows = sorted(mine, key=lambda one: -one[0].bytes)
        words = [_holds(limit, own, exact=exact) for _, own in rows]
        kept = [_bound(claim["limit"])(own.estimate) == 0 for _, own in rows]
        sizes = [
            _onwards([row.bytes for row, _ in rows], good)
            for good in (kept, [word != "fails" for word in words], [word == "holds" for word in words])
        ]
        yield Number(Interval(*sizes, min(own.launches for _, own in rows)), rows[-1][0])


def _onwards(sizes: Sequence[int], good: Sequence[bool]) -> float:
    """Of sizes from the largest down the last before the first that is not good."""
    count = next((n for n, one in enumerate(good) if not one), len(good))
    return sizes[count - 1] if count else math.inf


def _value(row: Row, quantity: str) -> Interval | None:
    if not row.visits:
        return None
    if quantity == "first":
        firsts = firsts_of(row)
        return over_launches([firsts[n] / row.medians[n] for n in firsts]) if firsts else None
    active = 2 if row.pattern in ("pingpong", "exchange") else 1 if row.pattern in MEMORY else row.ranks
    shares = {
        n: min(1.0, median(one.record["cpu_ns"] / (active * one.record["wall_ns"]) for one in mine))
        for n, mine in row.launches.items()
    }
    own = over_launches([*shares.values()])
    return own._replace(high=None if own.high is None else min(1.0, own.high))


def _bests(found: Sequence[Of]) -> list[Of]:
    of: dict[object, list[Of]] = defaultdict(list)
    for one in found:
        if one.row.timed and one.row.bytes_per_time:
            of[_key(one, ("bytes", "window"))].append(one)
    return [max(mine, key=lambda one: one.row.bytes_per_time / one.row.seconds) for mine in of.values()]


def _peaks(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    free = {*_free(sides), "bytes", "window"}
    over, under = (_bests(_chosen(found, sides["cells"], sides[side])) for side in ("over", "under"))
    for one in over:
        for other in under:
            if _key(one, free) == _key(other, free) and (own := _divided(one, other, "bandwidth")) is not None:
                yield Number(own, one.row)


def _peak_sizes(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    mine = [one for one in _chosen(found, sides["cells"]) if one.row.timed and one.row.bytes_per_time]
    for best in _bests(mine):
        curve = [one for one in mine if _key(one, ("bytes", "window")) == _key(best, ("bytes", "window"))]
        size = best.row.bytes
        if best.row.result is None:
            yield Number(Interval(size, size, size), best.row)
            continue
        least = best.row.bytes_per_time / (best.row.time[0].high or math.nan)
        good = [one.row.bytes for one in curve if one.row.bytes_per_time / (one.row.time[0].low or math.nan) >= least]
        last = max(one.row.bytes for one in curve)
        high = math.inf if max(good) == last else max(good)
        yield Number(Interval(size, min(good), high, len(best.row.medians)), best.row)


def _limits(found: Sequence[Of], sides: Mapping[str, Mapping[str, Any]]) -> Iterator[Number]:
    """The eager limit of each job that has probed it; of printed tables the largest size."""
    for best in {id(one): one for one in _chosen(found, sides["cells"])}.values():
        if best.row.probed and best.row.result is not None:
            size = limits_of(best.row.result)[job_of_limit(best.row.cell)]
            yield Number(Interval(size, size, size), best.row)
    of: dict[object, list[Of]] = defaultdict(list)
    for one in _chosen(found, sides["cells"]):
        if one.row.result is None:
            of[_key(one, ("bytes", "window"))].append(one)
    for mine in of.values():
        size = max(one.row.bytes for one in mine)
        yield Number(Interval(size, size, size), mine[0].row)
