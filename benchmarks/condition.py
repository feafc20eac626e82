"""What it costs to look at the machine before and after every visit, and whether the two readings agree.

Kernels with and without it make the same visits, in turns; another tree of sources may join them.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tools

from mpigauge import units
from mpigauge.mpi import kernel
from mpigauge.plan.cells import cells_of
from mpigauge.plan.kernel_plan import Limits, kernel_plan
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.visit_order import visits_of
from mpigauge.result import environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.mpi.library import Library

ROUNDS, ROUNDS_QUICK = 10, 3
WITH, WITHOUT, OTHER = "with", "without", "before"
SIZES = "8,1KiB,64KiB,1MiB"
CELL_S = 0.5
HEADINGS = ("library", "size", "turn with", "turn without", "readings cost", "line, ns", "readings agree")
NUMBERS_ARE = (
    "A turn is from the first line of a visit to that of the next: the pause, the readings, the warm-up, up "
    "to 125 samples and the check; first visits, which hold a trial, are left out. Times are medians over "
    "all visits of all launches. *Readings agree* counts the visits whose two hand-overs of a cache line "
    "differ by less than 15 %, *line* goes from the 5th to the 95th percentile."
)

Turns = dict[int, list[float]]


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan, and kernels that follow it in turns.

    Attributes:
        size_of: The size of every visit of the plan that sends messages.
        programs: Programs by the name of the kernel.
    """

    library: Library
    plan: Path
    size_of: Mapping[int, int]
    programs: Mapping[str, Path]


def main() -> None:
    """Print the section."""
    parser = tools.options("the cost of a visit's condition")
    parser.add_argument("--rounds", type=int, metavar="N", help="launches of each kernel")
    parser.add_argument("--sources", type=Path, metavar="DIR", help="the kernel's sources of another version")
    arguments = parser.parse_args()
    rounds = arguments.rounds or (ROUNDS_QUICK if arguments.quick else ROUNDS)
    print(section(tools.libraries(arguments.mpi), rounds, arguments.seed, arguments.sources))


def section(libraries: Sequence[Library], rounds: int, seed: int, sources: Path | None = None) -> str:
    """Measure, and return the section in Markdown."""
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        trials = [_trial(library, Path(folder), sources) for library in libraries]
        body = [row for trial in trials for row in _rows(trial, _measured(trial, rounds, seed))]
    headings = [*HEADINGS, "turn before"] if sources else HEADINGS
    words = [f"{rounds} launches of each kernel, in turns.", tools.markdown(headings, body), NUMBERS_ARE]
    return "\n\n".join(["## The condition of a visit: what it costs", *words])


# ---- Measuring -----------------------------------------------------------------------------------


def _trial(library: Library, folder: Path, sources: Path | None) -> Trial:
    """Return a trial whose plan leaves out no visit: no precision suffices, and there is always time."""
    plan = Plan((Measure("pingpong", sizes=SIZES),), precision=1e-6)
    description = kernel.describe(library)
    cells = cells_of(plan, description, library.name, library.version, "benchmark").cells
    visits = visits_of(cells, plan, description, 1)
    path = folder / f"{library.name}.plan"
    path.write_text(kernel_plan(visits, plan, Limits(CELL_S, 1e4), environment.cores_allowed()))
    size_of = {visit.id: visit.cell.bytes for visit in visits if visit.cell.pattern == "pingpong"}
    return Trial(library, path, size_of, _programs(library, folder, sources))


def _programs(library: Library, folder: Path, sources: Path | None) -> dict[str, Path]:
    """Return a kernel of each kind; those of other sources are compiled with the same words."""
    names = [WITH, WITHOUT, *([OTHER] if sources else [])]
    programs = {name: folder / f"{library.name}-{name}" for name in names}
    kernel.compile_to(programs[WITH], library)
    kernel.compile_to(programs[WITHOUT], library, "-DMG_WITHOUT_CONDITION")
    if sources is not None:
        kernel.compile_to(programs[OTHER], library, folder=sources)
    return programs


def _measured(trial: Trial, rounds: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Return the journal lines of every kernel, all launches in a row."""
    chance = random.Random(seed)  # noqa: S311 - an order, not a secret
    journals: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number in range(1, rounds + 1):
        tools.say(f"condition {number}/{rounds}: {trial.library.label}")
        for name in chance.sample(sorted(trial.programs), len(trial.programs)):
            words = [str(trial.programs[name]), str(trial.plan), "-"]
            lines = tools.attempt(partial(tools.launch, trial.library, words, {})) or []
            journals[name] += [json.loads(line) for line in lines if line.startswith("{")]
    return journals


# ---- Saying it -----------------------------------------------------------------------------------


def _turns(trial: Trial, lines: Sequence[dict[str, Any]]) -> Turns:
    """Return the seconds of the visits of each size, without first visits."""
    turns: Turns = defaultdict(list)
    of_interest = [line for line in lines if "begin" in line or "visit" in line or "launch" in line]
    for begin, visit, following in zip(of_interest, of_interest[1:], of_interest[2:], strict=False):
        if "begin" in begin and visit.get("visit") == begin["begin"] and "begin" in following:
            seconds = (following["at_ns"] - begin["at_ns"]) * units.NS
            if not visit["trial_ns"] and begin["begin"] in trial.size_of:
                turns[trial.size_of[begin["begin"]]].append(seconds)
    return turns


def _readings(trial: Trial, lines: Sequence[dict[str, Any]], size: int) -> np.ndarray:
    found = [
        line["line_ns"] for line in lines if line.get("line_ns") and trial.size_of.get(line["visit"]) == size
    ]
    return np.array(found).reshape(-1, 2)


def _rows(trial: Trial, journals: Mapping[str, list[dict[str, Any]]]) -> list[list[str]]:
    turns = {name: _turns(trial, lines) for name, lines in journals.items()}
    return [
        [trial.library.label, units.format_size(size), *_row(trial, journals[WITH], turns, size)]
        for size in sorted(turns[WITH])
    ]


def _row(trial: Trial, lines: Sequence[dict[str, Any]], turns: Mapping[str, Turns], size: int) -> list[str]:
    took = {name: float(np.median(of[size])) for name, of in turns.items()}
    readings = _readings(trial, lines, size)
    low, high = np.percentile(readings, [5, 95]) if readings.size else (np.nan, np.nan)
    agree = float(np.mean(np.abs(np.diff(np.log(readings)).ravel()) < np.log(1.15)))
    words = [units.format_time(took[WITH]), units.format_time(took[WITHOUT])]
    words += [f"{took[WITH] / took[WITHOUT] - 1:+.1%}", f"{low:.0f} \N{EN DASH} {high:.0f}", f"{agree:.0%}"]
    return [*words, units.format_time(took[OTHER])] if OTHER in took else words


if __name__ == "__main__":
    sys.exit(tools.ending(main))
