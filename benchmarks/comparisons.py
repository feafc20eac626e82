"""False alarms and detection of `mpigauge compare`: equal libraries, and delays of known size.

    python benchmarks/comparisons.py --mpi PREFIX [--equals 20] [--times 3] [--launches 5,10,20]

Equals are the same library under two labels, measured launch by launch; and two results, one after the other.
A delay of 3, 5 and 10 % of the time of a message of 64 KiB is planted in its sends by a preloaded library,
and not in those of 8 B and 1 KiB. The rules of others (rules.py) judge the same samples.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rules import RULES, slower_by

from mpigauge.mpi import find
from mpigauge.result.reader import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.plan.model import Cell

SHIM = Path(__file__).parents[1] / "tests" / "real" / "mpi" / "shim.c"
PATTERN = "pingpong"
MEASURE = (PATTERN, "memcpy", "--sizes", "8,1KiB,64KiB")
DELAYED_BYTES = 65536
DELAYS = (0.03, 0.05, 0.10)
OURS = "mpigauge compare"


@dataclass
class Tally:
    """Verdicts of a number of comparisons.

    Attributes:
        verdicts: Verdicts of mpigauge on all sizes together.
        slower: Sizes that each comparison called slower, by rule.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    slower: dict[str, list[set[int]]] = field(default_factory=lambda: {name: [] for name in (OURS, *RULES)})

    def add(self, report: dict[str, Any], others: dict[str, set[int]]) -> None:
        """Add a comparison."""
        self.verdicts[report["verdict"]] += 1
        called_slower = {cell["bytes"] for cell in report["cells"] if cell["verdict"] == "slower"}
        for name, sizes in {OURS: called_slower, **others}.items():
            self.slower[name].append(sizes)

    def rows(self, what: str, delayed_bytes: int | None) -> Iterator[str]:
        """Yield the rows of the table, one for each rule."""
        for name, sizes in self.slower.items():
            found = "" if delayed_bytes is None else f"{sum(delayed_bytes in slower for slower in sizes)}"
            blamed = sum(bool(slower - {delayed_bytes}) for slower in sizes)
            verdict_counts = self.verdict_counts if name == OURS else ""
            yield f"| {what} | {len(sizes)} | {name} | {found} | {blamed} | {verdict_counts} |"

    @property
    def verdict_counts(self) -> str:
        """Counts of the verdicts: `same: 18, undecided: 2`."""
        return ", ".join(f"{verdict}: {count}" for verdict, count in self.verdicts.most_common())


@dataclass(frozen=True)
class Trial:
    """Campaigns of one library in a folder."""

    mpi: str
    folder: Path

    def campaign(self, name: str, launches: int, *words: str, **environment: str) -> Path:
        """Return the result of a new campaign."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        self._run("run", *MEASURE, "--launches", str(launches), *words, "-q", "-o", str(path), **environment)
        return path

    def compare(self, *paths: Path) -> dict[str, Any]:
        """Return the comparison of results by `mpigauge compare`."""
        return self.run_json("compare", *map(str, paths))

    def run_json(self, *words: str) -> dict[str, Any]:
        """Return the output of a verb as JSON."""
        report: dict[str, Any] = json.loads(self._run(*words, "--format", "json"))
        return report

    def _run(self, *words: str, **environment: str) -> str:
        environ = {**os.environ, **environment}
        process = subprocess.run(
            [sys.executable, "-m", "mpigauge", *words],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode not in (0, 1, 5):
            raise SystemExit(process.stderr)
        return process.stdout

    def shim(self) -> dict[str, str]:
        """Return the variables that delay sends of PLANTED_BYTES by SHIM_DELAY_NS."""
        library, output = find.find(self.mpi), self.folder / "shim.so"
        words = [str(library.mpicc), "-O2", "-fPIC", "-shared", "-Wl,-z,lazy", "-o", str(output), str(SHIM)]
        subprocess.run(words, env=library.environ, check=True)
        return {"LD_PRELOAD": str(output), "SHIM_ACTION": "delay", "SHIM_BYTES": str(DELAYED_BYTES)}


def _label(cell: Cell) -> str:
    return cell.label


def _delay(cell: Cell) -> str:
    """Return the delay of a setting as a sortable text, so that no delay comes first."""
    return f"{int(cell.setting.partition('=')[2] or 0):012}"


def compare_equals(trial: Trial, launches: int, times: int) -> Iterator[str]:
    """Compare a library with itself, launch by launch."""
    both, tally = ("--mpi", f"a={trial.mpi}", "--mpi", f"b={trial.mpi}"), Tally()
    for _ in range(times):
        path = trial.campaign("r.jsonl", launches, *both)
        tally.add(trial.compare(path), slower_by([load(path)], PATTERN, _label))
    yield from tally.rows(f"equals in turn, {launches} launches", None)


def one_after_the_other(trial: Trial, launches: int, times: int) -> Iterator[str]:
    """Compare a library with itself in two results; each result serves in two comparisons."""
    tally, before = Tally(), trial.campaign("0.jsonl", launches, "--mpi", trial.mpi)
    for number in range(1, times + 1):
        after = trial.campaign(f"{number}.jsonl", launches, "--mpi", trial.mpi)
        tally.add(trial.compare(before, after), slower_by([load(before), load(after)], PATTERN, _label))
        before = after
    yield from tally.rows(f"equals, two results, {launches} launches", None)


def compare_delayed(trial: Trial, launches: int, share: float, times: int) -> Iterator[str]:
    """Delay one size by a share of its time; yield whether it was found, and what else was blamed."""
    shim, tally = trial.shim(), Tally()
    alone = trial.compare(
        trial.campaign("r.jsonl", 2, "--vary", "SHIM_DELAY_NS=0,1", "--mpi", trial.mpi, **shim)
    )
    time_s = next(one["base_s"] for one in alone["cells"] if one["bytes"] == DELAYED_BYTES)
    vary = f"SHIM_DELAY_NS=0,{round(share * time_s * 1e9)}"
    for _ in range(times):
        path = trial.campaign("r.jsonl", launches, "--vary", vary, "--mpi", trial.mpi, **shim)
        tally.add(trial.compare(path), slower_by([load(path)], PATTERN, _delay))
    yield from tally.rows(f"+{100 * share:g} %, {launches} launches", DELAYED_BYTES)


def main() -> None:
    """Print a table for results.md."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--equals", type=int, default=20)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--launches", default="5,10,20")
    arguments = parser.parse_args()
    counts = [int(word) for word in arguments.launches.split(",")]
    print("| what | campaigns | rule | planted size found | called slower by mistake | verdicts |")
    print("| --- | ---: | --- | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory(prefix="mpigauge-comparisons-") as name:
        trial = Trial(arguments.mpi, Path(name))
        middle = counts[len(counts) // 2]
        for lines in (
            compare_equals(trial, middle, arguments.equals),
            one_after_the_other(trial, middle, arguments.equals),
        ):
            for line in lines:
                print(line, flush=True)
        for launches in counts:
            for share in DELAYS:
                for line in compare_delayed(trial, launches, share, arguments.times):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
