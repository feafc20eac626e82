"""Simulated histories: whether one odd session hides a change, whether a drift is told from a step.

    python benchmarks/histories.py [--times 60] [--before DIR]
    python benchmarks/histories.py --alarms [--times 400]

Sessions of six numbers differ by 1 %, half of it common to all numbers; an odd one takes 1.4 times as long,
at a random place. ``--before`` names the `src` of another version, which is asked the same. ``--alarms``
prints how often equal sessions are outside of what those before let expect.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from mpigauge.compare.history.curves import HistoryCurve
from mpigauge.compare.history.history import judged_history
from mpigauge.compare.history.session import SessionResult
from mpigauge.stats.decision import Thresholds
from mpigauge.stats.prediction import SessionFamily, predict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Logs = NDArray[np.float64]

CELLS = 6
ODD = 1.4
ALARM_CELLS = (1, 6, 20, 60)
ALARM_SESSIONS = (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20)


class Case(NamedTuple):
    """Histories of one kind.

    Attributes:
        since: The first session that is slower; 0 for none.
        by: Slowdown, as a fraction.
        odd: Number of odd sessions.
        drift: Slowdown from each session to the next.
        own: Distribution of sessions: `normal`, `t3`, or `AR(1) .6`.
        spread: Standard deviation of sessions, of normal ones.
        again: The session that is slower by as much again; 0 for none.
        baseline: Whether the last session is held against the others, without a search for changes in it.
    """

    name: str
    sessions: int
    since: int = 0
    by: float = 0.0
    odd: int = 0
    drift: float = 0.0
    own: str = "normal"
    spread: float = 0.01
    again: int = 0
    baseline: bool = False


CASES = (
    Case("+10 % since the 10th", 16, 9, 0.10),
    Case("+10 % since the 10th, one odd", 16, 9, 0.10, 1),
    Case("+10 % since the 10th, two odd", 16, 9, 0.10, 2),
    Case("+10 % since the 9th, one odd", 12, 8, 0.10, 1),
    Case("+10 % since the 14th, one odd", 16, 13, 0.10, 1),
    Case("+10 % since the 16th, two odd", 24, 15, 0.10, 2),
    Case("+5 % since the 9th", 12, 8, 0.05),
    Case("+5 % since the 9th, of 3 %", 16, 8, 0.05, spread=0.03),
    Case("+10 % since the 5th", 8, 4, 0.10),
    Case("+10 % since the 11th, and the 21st", 30, 10, 0.10, again=20),
    Case("baseline: +10 %", 12, 11, 0.10, baseline=True),
    Case("baseline: +10 %, one odd", 12, 11, 0.10, 1, baseline=True),
    Case("+0.5 % a session", 20, drift=0.005),
    Case("+0.5 % a session, one odd", 20, odd=1, drift=0.005),
    Case("nothing", 14),
    Case("nothing, one odd", 16, odd=1),
    Case("nothing, two odd", 16, odd=2),
    Case("nothing, t of 3", 14, own="t3"),
    Case("nothing, AR(1) 0.6, 1.5 %", 14, own="AR(1) .6", spread=0.015),
    Case("baseline: nothing", 12, baseline=True),
    Case("baseline: nothing, one odd", 12, odd=1, baseline=True),
)


def sessions_like(chance: np.random.Generator, case: Case) -> Logs:
    """Return logarithms of the times of a random history, shape ``(sessions, cells)``."""
    shape = case.sessions, CELLS
    if case.own == "t3":
        logs = case.spread * chance.standard_t(3, shape)
    elif case.own == "normal":
        common = chance.normal(size=(case.sessions, 1))
        logs = case.spread * (chance.normal(size=shape) + common) / np.sqrt(2)
    else:
        logs = case.spread * chance.normal(size=shape)
        for at in range(1, case.sessions):
            logs[at] = 0.6 * logs[at - 1] + 0.8 * logs[at]
    for since in filter(None, (case.since, case.again)):
        logs[since:] += np.log1p(case.by)
    odd = chance.choice(np.arange(1, case.sessions - 1), case.odd, replace=False)
    logs[odd] += np.log(ODD)
    return np.asarray(logs + case.drift * np.arange(case.sessions)[:, None])


@dataclass
class Tally:
    """Findings in a number of histories.

    Attributes:
        slower: Histories in which something is slower than it was.
        placed: Histories whose first change is placed right, give or take one session.
        drifts: Histories with a drift.
        undecided: Histories without a finding, since sessions differ too much, or only the last one differs.
        changed: Histories with any change, or with a different last session.
        ratios: Ratios of the slowest cells.
    """

    slower: int = 0
    placed: int = 0
    drifts: int = 0
    undecided: int = 0
    changed: int = 0
    ratios: list[float] | None = None
    seconds: float = 0.0

    def add(self, case: Case, shown: Any) -> None:
        """Add a history."""
        (track,) = shown.tracks
        changes = [] if case.baseline else list(track.changes)
        outside = list(track.outside.values()) if case.baseline else []
        ratios = [cell_change.ratio for change in changes for cell_change in change.cells.values()]
        ratios += [cell_change.ratio for cell_change in outside]
        self.changed += bool(ratios)
        self.slower += any(ratio > 1 for ratio in ratios)
        self.placed += bool(changes) and abs(changes[0].place - case.since) <= 1
        self.drifts += any(getattr(change, "drifts", False) for change in changes)
        self.undecided += not ratios and (shown.blind > 0 or bool(track.outside))
        if ratios:
            self.ratios = [*(self.ratios or []), max(ratios)]


def empty_session(at: int) -> SessionResult:
    """Return a session without content."""
    campaign: Any = None
    return SessionResult(Path(f"{at}.jsonl"), campaign, at + 1.0, True, {}, {}, (), {}, 0)


def evaluate(case: Case, times: int) -> Tally:
    """Return the findings of this version in so many histories of one kind."""
    tally = Tally()
    for number in range(times):
        logs = sessions_like(np.random.default_rng((number, case.sessions, case.odd)), case)
        sessions = [empty_session(at) for at in range(len(logs))]
        curve = HistoryCurve(logs, np.zeros(CELLS), control=False)
        started_s = time.process_time()
        settled = len(logs) - 1 if case.baseline else None
        tally.add(case, judged_history(sessions, [curve], Thresholds(), settled))
        tally.seconds += time.process_time() - started_s
    return tally


def row(case: Case, times: int) -> str:
    """Return a row of the table."""
    found = evaluate(case, times)
    ratio = f"{np.median(found.ratios):.3f}" if found.ratios else ""
    placed = f"{found.placed}" if case.since and not case.baseline else ""
    counts = f"{found.changed} | {found.slower} | {placed} | {found.drifts} | {found.undecided}"
    each_ms = 1e3 * found.seconds / times
    return f"| {case.name} | {case.sessions} | {counts} | {ratio} | {each_ms:.0f} |"


def alarms(cells: int, shared: float, times: int) -> Iterator[str]:
    """Yield how often any of some numbers is outside, in percent, for sessions that are equal."""
    # Other versions have no such module.
    from mpigauge.stats.prediction import odd_values  # noqa: PLC0415

    for count in ALARM_SESSIONS:
        chance = np.random.default_rng((count, cells, round(10 * shared)))
        outside = 0
        for _ in range(times):
            own, common = chance.normal(size=(count + 1, cells)), chance.normal(size=(count + 1, 1))
            *known, now = np.sqrt(1 - shared) * own + np.sqrt(shared) * common
            odd = odd_values(np.array(known), 0.0)[1]
            new = SessionFamily([predict(np.array(known), np.zeros(cells), odd)], now)
            p = 2 * special.stdtr(new.freedom, -np.abs(new.mean / new.error))
            outside += p.min() * cells <= 0.05
        yield f"{100 * outside / times:.1f}"


def main() -> None:
    """Print a table for results.md."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--before", metavar="DIR")
    parser.add_argument("--alarms", action="store_true")
    arguments = parser.parse_args()
    if arguments.before:
        words = [sys.executable, __file__, "--times", str(arguments.times)]
        subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": arguments.before})
        return
    if arguments.alarms:
        print("| numbers | shared |", " | ".join(map(str, ALARM_SESSIONS)), "|")
        print("| ---: | ---: |", " | ".join("---:" for _ in ALARM_SESSIONS), "|")
        for cells in ALARM_CELLS:
            for shared in (0.0, 0.5):
                found = alarms(cells, shared, arguments.times)
                print(f"| {cells} | {shared} |", " | ".join(found), "|", flush=True)
        return
    names = ("sessions", "changed", "slower", "place ±1", "drift", "undecided", "ratio", "ms")
    print(f"| of {arguments.times} histories |", " | ".join(names), "|")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for case in CASES:
        print(row(case, arguments.times), flush=True)


if __name__ == "__main__":
    main()
