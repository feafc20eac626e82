"""How often `mpigauge compare` blames a library that is not slower, and finds a delay that was planted.

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
PLANTED_BYTES = 65536
PLANTED = (0.03, 0.05, 0.10)
OURS = "mpigauge compare"


@dataclass
class Tally:
    """What some comparisons have said.

    Attributes:
        verdicts: Of ours, on all sizes together.
        slower: By rule, the sizes that each comparison called slower.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    slower: dict[str, list[set[int]]] = field(default_factory=lambda: {name: [] for name in (OURS, *RULES)})

    def add(self, said: dict[str, Any], others: dict[str, set[int]]) -> None:
        """One comparison more."""
        self.verdicts[said["verdict"]] += 1
        mine = {one["bytes"] for one in said["cells"] if one["verdict"] == "slower"}
        for name, sizes in {OURS: mine, **others}.items():
            self.slower[name].append(sizes)

    def rows(self, what: str, planted: int | None) -> Iterator[str]:
        """Of the table: a line for each rule."""
        for name, sizes in self.slower.items():
            found = "" if planted is None else f"{sum(planted in slower for slower in sizes)}"
            blamed = sum(bool(slower - {planted}) for slower in sizes)
            said = self.said if name == OURS else ""
            yield f"| {what} | {len(sizes)} | {name} | {found} | {blamed} | {said} |"

    @property
    def said(self) -> str:
        """`same: 18, undecided: 2`."""
        return ", ".join(f"{verdict}: {count}" for verdict, count in self.verdicts.most_common())


@dataclass(frozen=True)
class Trial:
    """Campaigns of one library in a folder."""

    mpi: str
    folder: Path

    def campaign(self, name: str, launches: int, *words: str, **environment: str) -> Path:
        """The result of a new one."""
        path = self.folder / name
        path.unlink(missing_ok=True)
        self._run("run", *MEASURE, "--launches", str(launches), *words, "-q", "-o", str(path), **environment)
        return path

    def compared(self, *paths: Path) -> dict[str, Any]:
        """What our comparison says of them."""
        return self.asked("compare", *map(str, paths))

    def asked(self, *words: str) -> dict[str, Any]:
        """What a verb says, as JSON."""
        said: dict[str, Any] = json.loads(self._run(*words, "--format", "json"))
        return said

    def _run(self, *words: str, **environment: str) -> str:
        around = {**os.environ, **environment}
        done = subprocess.run(
            [sys.executable, "-m", "mpigauge", *words],
            env=around,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1, 5):
            raise SystemExit(done.stderr)
        return done.stdout

    def shim(self) -> dict[str, str]:
        """The variables that delay sends of PLANTED_BYTES by SHIM_DELAY_NS."""
        library, output = find.find(self.mpi), self.folder / "shim.so"
        words = [str(library.mpicc), "-O2", "-fPIC", "-shared", "-Wl,-z,lazy", "-o", str(output), str(SHIM)]
        subprocess.run(words, env={**os.environ, **library.environment}, check=True)
        return {"LD_PRELOAD": str(output), "SHIM_ACTION": "delay", "SHIM_BYTES": str(PLANTED_BYTES)}


def _label(cell: Cell) -> str:
    return cell.label


def _delay(cell: Cell) -> str:
    """The setting, so that no delay comes first."""
    return f"{int(cell.setting.partition('=')[2] or 0):012}"


def equals(trial: Trial, launches: int, times: int) -> Iterator[str]:
    """A library against itself, launch by launch."""
    both, tally = ("--mpi", f"a={trial.mpi}", "--mpi", f"b={trial.mpi}"), Tally()
    for _ in range(times):
        path = trial.campaign("r.jsonl", launches, *both)
        tally.add(trial.compared(path), slower_by([load(path)], PATTERN, _label))
    yield from tally.rows(f"equals in turn, {launches} launches", None)


def one_after_the_other(trial: Trial, launches: int, times: int) -> Iterator[str]:
    """A library against itself in two results; each is the second of one pair and the first of the next."""
    tally, before = Tally(), trial.campaign("0.jsonl", launches, "--mpi", trial.mpi)
    for number in range(1, times + 1):
        after = trial.campaign(f"{number}.jsonl", launches, "--mpi", trial.mpi)
        tally.add(trial.compared(before, after), slower_by([load(before), load(after)], PATTERN, _label))
        before = after
    yield from tally.rows(f"equals, two results, {launches} launches", None)


def planted(trial: Trial, launches: int, share: float, times: int) -> Iterator[str]:
    """A delay of a share of the time of one size, and whether it was found, and what else was blamed."""
    shim, tally = trial.shim(), Tally()
    alone = trial.compared(
        trial.campaign("r.jsonl", 2, "--vary", "SHIM_DELAY_NS=0,1", "--mpi", trial.mpi, **shim)
    )
    time_s = next(one["base_s"] for one in alone["cells"] if one["bytes"] == PLANTED_BYTES)
    vary = f"SHIM_DELAY_NS=0,{round(share * time_s * 1e9)}"
    for _ in range(times):
        path = trial.campaign("r.jsonl", launches, "--vary", vary, "--mpi", trial.mpi, **shim)
        tally.add(trial.compared(path), slower_by([load(path)], PATTERN, _delay))
    yield from tally.rows(f"+{100 * share:g} %, {launches} launches", PLANTED_BYTES)


def main() -> None:
    """Prints a table for results.md."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--equals", type=int, default=20)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--launches", default="5,10,20")
    asked = parser.parse_args()
    counts = [int(word) for word in asked.launches.split(",")]
    print("| what | campaigns | rule | planted size found | called slower by mistake | verdicts |")
    print("| --- | ---: | --- | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory(prefix="mpigauge-comparisons-") as name:
        trial = Trial(asked.mpi, Path(name))
        middle = counts[len(counts) // 2]
        for lines in (equals(trial, middle, asked.equals), one_after_the_other(trial, middle, asked.equals)):
            for line in lines:
                print(line, flush=True)
        for launches in counts:
            for share in PLANTED:
                for line in planted(trial, launches, share, asked.times):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
