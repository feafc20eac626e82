"""Results and published tables as they are in their files, read without anything of mpigauge."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from collections import Counter, defaultdict
from functools import cached_property
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.cli.docs.recomputing.schema import fields_of
from tests.cli.docs.recomputing.speeds import other_minutes, reach_of, response_of, seat_of, spans_of
from tests.cli.docs.recomputing.states_of import JOB, NAMES, States, handed_over, states_of
from tests.cli.docs.recomputing.statistics_of import Interval, Times, middle_of, over_launches, standardised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

NS = 1e-9
SIZES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "kB": 1000}
TIMES = {"ns": 1e-9, "us": 1e-6, "\N{MICRO SIGN}s": 1e-6, "ms": 1e-3, "s": 1.0}
RATES = {"MB/s": 1e6, "GB/s": 1e9, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8, "MiB/s": 2.0**20}
TWO_WAYS = frozenset({"exchange", "shift"})
MEMORY = frozenset(
    {"null", "memcpy", "copy", "read", "write", "chase", "reduce_local", "crosscopy", "cacheline", "eager"}
)
NO_RATE = frozenset({"null", "eager", "barrier", "chase", "cacheline"})
EACH_RANK = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
CELL = fields_of("Cell")
USUAL = {"transport": "auto", "placement": "same-host", "sync": "common", "buffers": "warm"}
Key = tuple[Any, ...]


class Visit(NamedTuple):
    """What is needed of one, times in seconds of one operation.

    Attributes:
        order: Its place in the file, which is that in time.
        late: Whether all of it began late.
    """

    launch: int
    order: int
    seconds: list[float]
    step_s: float
    late: bool
    record: dict[str, Any]


class Row:
    """A cell of a result with its visits, or a number that others have printed."""

    def __init__(self, cell: Mapping[str, Any], result: Result | None) -> None:
        self.cell = dict(cell)
        self.result = result
        self.visits: list[Visit] = []
        self.blocked: int | None = None
        self.printed_s: float | None = None
        self.printed_stddev_s: float | None = None
        self.state: str | None = None

    def __getattr__(self, name: str) -> Any:
        if name in CELL:
            return self.__dict__["cell"].get(name, "")
        raise AttributeError(name)

    @cached_property
    def launches(self) -> dict[int, list[Visit]]:
        """Its visits in order; without those in which all was late, if the launch has others."""
        found: dict[int, list[Visit]] = defaultdict(list)
        for visit in sorted(self.visits, key=lambda one: one.order):
            found[visit.launch].append(visit)
        return {launch: [one for one in visits if not one.late] or visits for launch, visits in found.items()}

    @cached_property
    def medians(self) -> dict[int, float]:
        """One number a launch."""
        return {n: middle_of((one.seconds, one.step_s) for one in mine) for n, mine in self.launches.items()}

    @cached_property
    def step(self) -> float:
        """Of the clock, over the time."""
        centre = median(self.medians.values())
        return (
            fmean(one.step_s for mine in self.launches.values() for one in mine) / centre if centre else 0.0
        )

    @property
    def timed(self) -> bool:
        """Whether there is a time."""
        return bool(self.visits) or self.printed_s is not None

    @cached_property
    def narrow(self) -> Interval:
        """The time with its interval, as launches give it."""
        if self.printed_s is not None:
            return Interval(self.printed_s)
        return over_launches([*self.medians.values()], self.step)

    @cached_property
    def time(self) -> Interval:
        """The time, its interval wide enough for other minutes."""
        if self.narrow.low is None or self.result is None:
            return self.narrow
        return over_launches(
            [*self.medians.values()],
            self.step,
            machine=self.result.reach_of(self),
            instrument=self._promised,
            factor=self.result.widening,
        )

    @property
    def _promised(self) -> float:
        """What the instrument cannot promise, as a logarithm: 1 %, and 5 ns of a one-sided operation."""
        patterns = self.result.campaign["patterns"] if self.result else []
        family = next((one["family"] for one in patterns if one["name"] == self.pattern), "")
        seconds = self.narrow.estimate
        return math.hypot(0.01, min(5e-9 / seconds, 0.1)) if family == "one-sided" and seconds > 0 else 0.01

    @property
    def seconds(self) -> float:
        """The time alone."""
        return self.narrow.estimate

    @property
    def samples(self) -> list[float]:
        """All together."""
        return [value for mine in self.launches.values() for one in mine for value in one.seconds]

    def in_state_of(self, other: Row) -> bool:
        """Whether both are of one state of the machine, and thereby equally far apart."""
        return self.state is not None and self.state == other.state

    @property
    def directions(self) -> int:
        """Messages that its rate counts."""
        return 2 if self.pattern in TWO_WAYS or self.mode == "bidirectional" else 1

    @property
    def bytes_per_time(self) -> float:
        """What is divided by the time; 0 where there is no rate."""
        if self.pattern in NO_RATE:
            return 0.0
        each = self.ranks if self.pattern.startswith(EACH_RANK) else 1
        return float(self.bytes * self.directions * each)

    @property
    def times(self) -> Times:
        """As ratios need it."""
        parts = self.result.restarted.get(self.job, frozenset()) if self.result else frozenset()
        return Times(self.medians, self.step, self.apart, parts)

    @cached_property
    def apart(self) -> dict[int, tuple[str, float]]:
        """How long the hand-over took, median over the visits of a launch."""
        found: dict[tuple[int, str], list[float]] = defaultdict(list)
        for visit in self.visits:
            if known := handed_over(visit):
                found[visit.launch, known[0]].append(math.sqrt(known[1][0] * known[1][1]))
        return {launch: (of, median(mine)) for (launch, of), mine in found.items()}

    @property
    def job(self) -> Key:
        """What it is launched with."""
        return job_of(self.cell)

    def key(self, *without: str) -> Key:
        """All its factors but these."""
        return tuple(value for name, value in self.cell.items() if name not in without)


def delay_s(lab: Mapping[str, Any], ends: Sequence[str]) -> float:
    """Return the delay of a lab from host to host, as its plan says."""
    links = [one for one in lab["links"] if set(one["between"].split("-")) == set(ends)]
    delay = (links[0].get("delay") if links else "") or lab["delay"]
    number = delay.rstrip("nums")
    return float(number) * TIMES[delay.removeprefix(number).strip()]


class Result:
    """A result file."""

    def __init__(self, path: Path) -> None:
        self.name = path.name.split(".")[0]
        self.rows: dict[Key, Row] = {}
        self.launches, self.done, self.probes = (list[dict[str, Any]]() for _ in range(3))
        self.campaign: dict[str, Any] = {}
        self._responses: dict[Key, tuple[float, float]] = {}
        visits = []
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                match record["type"]:
                    case "campaign":
                        self.campaign = record
                    case "launch":
                        self.launches.append(record)
                    case "visit" if not record["corrupt"]:
                        visits.append(record)
                    case "done":
                        self.done.append(record)
                    case "eager":
                        self.probes.append(record)
                    case "blocked":
                        self._row(record["cell"]).blocked = record["limit_bytes"]
        steps = self._steps(visits)
        for order, record in enumerate(visits):
            self._add(order, record, steps)
        self.states = states_of(visit for row in self.rows.values() for visit in row.visits)
        places = {tuple(cell.values()): place for place, cell in enumerate(self.campaign["cells"])}
        ordered = sorted(self.rows.items(), key=lambda one: places.get(one[0], len(places)))
        self.timed = [one for _, row in ordered for one in _by_state(row, self.states)]
        self.shown = [row for row in self.timed if not self._is_late(row)]
        self.restarted = {
            key: frozenset(
                one["number"] for one in self.launches if one.get("part", 1) > 1 and job_of(one["job"]) == key
            )
            for key in {job_of(one["job"]) for one in self.launches}
        }

    def _row(self, cell: Mapping[str, Any]) -> Row:
        key = tuple(cell.values())
        if key not in self.rows:
            self.rows[key] = Row(cell, self)
        return self.rows[key]

    def _add(self, order: int, record: dict[str, Any], steps: Mapping[Key, float]) -> None:
        late, samples, ops = set(record["late"]), record.pop("samples_ns"), record["ops"]
        record["wall_ns"] = sum(samples)
        record["middle_ns"] = sorted(samples)[len(samples) // 2] / ops
        wholly = len(late) >= len(samples)
        kept = samples if wholly or not late else [s for n, s in enumerate(samples) if n not in late]
        row, step_s = self._row(record["cell"]), steps[job_of(record["cell"])] * NS / ops
        seconds = [ns * NS / ops for ns in kept]
        row.visits.append(Visit(record["launch"], order, seconds, step_s, wholly, record))

    def _steps(self, visits: Sequence[dict[str, Any]]) -> dict[Key, float]:
        """Of the clock of each job in ns: 1 where samples lie between the steps that it would make."""
        steps: dict[Key, float] = {}
        for launch in self.launches:
            seen = max((one["clock_step_ns"] for one in launch["ranks_at"]), default=0)
            steps[job_of(launch["job"])] = max(steps.get(job_of(launch["job"]), 1.0), seen)
        on: dict[Key, int] = defaultdict(int)
        between: dict[Key, int] = defaultdict(int)
        for visit in visits:
            job, samples = job_of(visit["cell"]), visit["samples_ns"]
            step = steps[job]
            if step < 8 or samples[0] * 0.002 >= step:
                continue
            middle = sorted(samples)[len(samples) // 2]
            for sample in samples:
                off = abs(sample - middle)
                on[job] += abs(off - step) <= 1
                between[job] += 1 < off < step - 1
        return {job: step if step < 8 or 3 * between[job] <= on[job] else 1.0 for job, step in steps.items()}

    @cached_property
    def widening(self) -> float:
        """By what intervals grow for neighbours that agree: docs/method-comparison.md#other-minutes."""
        if self.states.names:
            return 1.0
        rows = [row for row in self.timed if row.visits and len(row.medians) >= 6]
        rows = [row for row in rows if min(row.medians.values()) > 0]
        numbers = sorted({number for row in rows for number in row.medians})
        columns = [standardised(row.medians, numbers) for row in rows]
        columns = [one for one in columns if one]
        count, squares = len(numbers), sum(v * v for one in columns for v in one)
        if count < 6 or not squares:
            return 1.0
        seen = sum(v * w for one in columns for v, w in itertools.pairwise(one))
        r = max(0.0, min(0.9, seen / squares + 1 / count))
        return math.sqrt((1 + r) / (1 - r))

    def _is_late(self, row: Row) -> bool:
        """Whether it is the emulator's: a quarter of its packets were 50 us late, over a shorter way."""
        lab = self.campaign["plan"]["lab"]
        if not (lab and row.visits) or row.cell.get("pair") or row.pattern in MEMORY:
            return False
        share = fmean(visit.record["relay_late"] for visit in row.visits)
        matters = share > 0.02 and share * 50e-6 > 0.02 * row.time.estimate
        return matters and share >= 0.25 and delay_s(lab, row.placement.split(",")) <= 50e-6

    @cached_property
    def limits(self) -> dict[Key, int]:
        """The eager limit that most launches of a job found, by job."""
        found: dict[Key, Counter[int]] = defaultdict(Counter)
        for probe in self.probes:
            if probe["found"]:
                found[job_of(probe["cell"])][probe["limit_bytes"]] += 1
        return {job: counts.most_common(1)[0][0] for job, counts in found.items()}

    @property
    def cores(self) -> int:
        """Cores of the machine."""
        return int(self.campaign["environment"]["cores"])

    @cached_property
    def spans(self) -> dict[Key, float]:
        """How far apart speeds are, by ranks."""
        return {} if other_minutes(self.launches, self.done) else spans_of(self.rows.values())

    def reach_of(self, row: Row) -> float:
        """What other speeds of the cores add to the half-width of the logarithm of a time."""
        seat = seat_of(row)
        if self.spans.get(seat, 0.0) <= 0.02:
            return 0.0
        if seat not in self._responses:
            self._responses[seat] = response_of(one for one in self.rows.values() if seat_of(one) == seat)
        return reach_of(row, self.spans[seat], self._responses[seat])

    def launch_of(self, row: Row) -> dict[str, Any]:
        """The last of its job."""
        return next(one for one in reversed(self.launches) if job_of(one["job"]) == row.job)


def job_of(cell: Mapping[str, Any]) -> Key:
    """What a cell is launched with."""
    return tuple(cell.get(name, "") for name in JOB)


def _by_state(row: Row, states: States) -> list[Row]:
    """The row in the usual state of the machine; one for each state, where none is."""
    known = [visit for visit in row.visits if visit.order in states.names]
    made = Counter(visit.launch for visit in row.visits)
    usual = states.usual.get(states.handed[known[0].order], "") if known else ""
    found = {}
    for name in NAMES[3] if known else ():
        mine = [visit for visit in row.visits if states.names.get(visit.order, usual) == name]
        counts = Counter(visit.launch for visit in mine)
        if kept := [visit for visit in mine if counts[visit.launch] >= min(2, made[visit.launch])]:
            found[name] = _with(row, kept, name)
    if not found:
        return [row]
    return [found[usual]] if usual in found else [*found.values()]


def _with(row: Row, visits: list[Visit], state: str) -> Row:
    one = Row(row.cell, row.result)
    one.visits, one.state, one.blocked = visits, state, row.blocked
    return one
