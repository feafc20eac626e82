"""Whether `mpigauge history` finds since when a library is slower, in sessions that were measured.

    python benchmarks/sessions.py --mpi PREFIX [--sessions 14] [--times 3] [--planted 0,0.05,0.1,0.2]

Every session is a campaign. From one of them on, drawn at random, a preloaded library delays sends of 64 KiB
by a share of their time, and not those of 8 B and 1 KiB, as an upgrade might.
"""

from __future__ import annotations

import random
import tempfile
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from comparisons import DELAYED_BYTES, PATTERN, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

LAUNCHES = 5
LEAST_BEFORE = 4
LEAST_SINCE = 3
"""Sessions on either side of what is planted: of fewer nothing can be known."""


@dataclass
class Tally:
    """Findings in a number of histories.

    Attributes:
        verdicts: Verdicts on whole histories.
        found: Histories with the change where it was planted.
        off: Errors of the position of the change, in sessions.
        ratios: Slowdown of the delayed size, as reported and as set.
        blamed: Histories with another change of a message than the planted one.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    found: int = 0
    off: list[int] = field(default_factory=list)
    ratios: list[tuple[float, float]] = field(default_factory=list)
    blamed: int = 0

    def add(self, report: dict[str, Any], files: list[str], since: int, delay_s: float) -> None:
        """Add a history."""
        self.verdicts[report["verdict"]] += 1
        messages = [cell for cell in report["cells"] if cell["pattern"] == PATTERN]
        right = [
            (cell, change)
            for cell in messages
            if delay_s and cell["bytes"] == DELAYED_BYTES
            for change in _changes(cell)
        ]
        self.found += bool(right)
        for cell, change in right[:1]:
            self.off.append(abs(files.index(change["since_file"]) - since))
            self.ratios.append((change["ratio"], 1 + delay_s / _before_s(cell, since)))
        self.blamed += sum(map(len, map(_changes, messages))) > len(right)

    def row(self, what: str, times: int) -> str:
        """Return a row of the table."""
        off = ", ".join(map(str, sorted(self.off)))
        ratios = ", ".join(
            f"{ratio:.2f} of {planted_ratio:.2f}" for ratio, planted_ratio in sorted(self.ratios)
        )
        verdict_counts = ", ".join(f"{verdict}: {count}" for verdict, count in self.verdicts.most_common())
        return f"| {what} | {times} | {self.found} | {off} | {ratios} | {self.blamed} | {verdict_counts} |"


def _changes(cell: dict[str, Any]) -> list[dict[str, Any]]:
    return [change for change in cell["changes"] if not change["machine"]]


def _before_s(cell: dict[str, Any], since: int) -> float:
    """Return the time of a cell in earlier sessions of the same state, in seconds."""
    times_s: list[float] = [time_s for time_s in cell["times_s"][:since] if time_s]
    return median(times_s)


def history(trial: Trial, sessions: int, since: int, delay_ns: int) -> tuple[dict[str, Any], list[str]]:
    """Return the findings in new sessions, delayed from one on, and their files in order."""
    shim, paths = trial.shim(), []
    for number in range(sessions):
        delay = delay_ns if number >= since else 0
        words = ("--mpi", trial.mpi)
        path = trial.campaign(f"{number:03}.jsonl", LAUNCHES, *words, SHIM_DELAY_NS=str(delay), **shim)
        paths.append(str(path))
    return trial.run_json("history", *paths), paths


def delayed_histories(
    trial: Trial, sessions: int, share: float, times: int, draw: random.Random
) -> Iterator[str]:
    """Yield the findings in histories in which a size gets slower by a share, from a random session on."""
    undelayed = trial.run_json("show", str(trial.campaign("alone.jsonl", 2, "--mpi", trial.mpi)))
    time_s = next(
        row["time_s"]["estimate"]
        for row in undelayed["rows"]
        if row["pattern"] == PATTERN and row["bytes"] == DELAYED_BYTES
    )
    tally = Tally()
    for _ in range(times):
        since = draw.randint(LEAST_BEFORE, sessions - LEAST_SINCE)
        delay_ns = round(share * time_s * 1e9)
        tally.add(*history(trial, sessions, since, delay_ns), since, delay_ns / 1e9)
    yield tally.row(f"+{100 * share:g} %" if share else "nothing", times)


def main() -> None:
    """Print a table for results.md."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--sessions", type=int, default=14)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--planted", default="0,0.05,0.1,0.2")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)  # noqa: S311 - when, not a secret
    print("| planted | histories | found | sessions off | ratio, of planted | others blamed | verdicts |")
    print("| --- | ---: | ---: | --- | --- | ---: | --- |")
    with tempfile.TemporaryDirectory(prefix="mpigauge-sessions-") as name:
        trial = Trial(arguments.mpi, Path(name))
        for share in map(float, arguments.planted.split(",")):
            for line in delayed_histories(trial, arguments.sessions, share, arguments.times, draw):
                print(line, flush=True)


if __name__ == "__main__":
    main()
