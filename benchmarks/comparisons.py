"""How often `mpigauge compare` blames a library that is not slower, and finds a delay that was planted.

    python benchmarks/comparisons.py --mpi PREFIX [--equals 20] [--times 3] [--launches 5,10,20]

Equals are the same library under two labels, measured launch by launch. A delay of 3, 5 and 10 % of the time
of a message of 64 KiB is planted in its sends by a preloaded library, and not in those of 8 B and 1 KiB.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mpigauge.mpi import find

SHIM = Path(__file__).parents[1] / "tests" / "real" / "mpi" / "shim.c"
MEASURE = ("pingpong", "memcpy", "--sizes", "8,1KiB,64KiB")
PLANTED_BYTES = 65536
PLANTED = (0.03, 0.05, 0.10)


@dataclass(frozen=True)
class Trial:
    """Campaigns of one library in a folder, each compared."""

    mpi: str
    folder: Path

    def judged(self, launches: int, *words: str, **environment: str) -> dict[str, object]:
        """What a comparison of one new campaign says."""
        path = self.folder / "r.jsonl"
        path.unlink(missing_ok=True)
        self._run("run", *MEASURE, "--launches", str(launches), *words, "-q", "-o", str(path), **environment)
        said: dict[str, object] = json.loads(self._run("compare", str(path), "--format", "json"))
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


def equals(trial: Trial, launches: int, times: int) -> str:
    """A row of the table: verdicts on a library against itself."""
    both = ("--mpi", f"a={trial.mpi}", "--mpi", f"b={trial.mpi}")
    verdicts = Counter(trial.judged(launches, *both)["verdict"] for _ in range(times))
    return f"| equals | {launches} | {times} | {said(verdicts)} | | |"


def planted(trial: Trial, launches: int, share: float, times: int) -> str:
    """A row of the table: whether what is slower was found, and what else was blamed."""
    shim = trial.shim()
    alone = trial.judged(2, "--vary", "SHIM_DELAY_NS=0,1", "--mpi", trial.mpi, **shim)
    time_s = next(one["base_s"] for one in alone["cells"] if one["bytes"] == PLANTED_BYTES)  # type: ignore[attr-defined]
    vary = f"SHIM_DELAY_NS=0,{round(share * time_s * 1e9)}"
    verdicts: Counter[object] = Counter()
    found = blamed = 0
    for _ in range(times):
        said_ = trial.judged(launches, "--vary", vary, "--mpi", trial.mpi, **shim)
        verdicts[said_["verdict"]] += 1
        slower = {one["bytes"] for one in said_["cells"] if one["verdict"] == "slower"}  # type: ignore[attr-defined]
        found += PLANTED_BYTES in slower
        blamed += bool(slower - {PLANTED_BYTES})
    return f"| +{100 * share:g} % | {launches} | {times} | {said(verdicts)} | {found} | {blamed} |"


def said(verdicts: Counter[object]) -> str:
    """`same: 18, undecided: 2`."""
    return ", ".join(f"{verdict}: {count}" for verdict, count in verdicts.most_common())


def main() -> None:
    """Prints a table for results.md."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--equals", type=int, default=20)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--launches", default="5,10,20")
    asked = parser.parse_args()
    counts = [int(word) for word in asked.launches.split(",")]
    print("| what | launches | campaigns | verdicts | planted size found | another size blamed |")
    print("| --- | ---: | ---: | --- | ---: | ---: |")
    with tempfile.TemporaryDirectory(prefix="mpigauge-comparisons-") as name:
        trial = Trial(asked.mpi, Path(name))
        print(equals(trial, counts[len(counts) // 2], asked.equals), flush=True)
        for launches in counts:
            for share in PLANTED:
                print(planted(trial, launches, share, asked.times), flush=True)


if __name__ == "__main__":
    main()
