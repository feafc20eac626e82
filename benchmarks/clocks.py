"""How well do clocks of several hosts agree? Collectives between emulated hosts, which truly have one clock.

So all that their learned clocks lie apart is error, and the time of a collective, from the first start to the
last end, is off by that much at most.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import tools

from mpigauge import units
from mpigauge.errors import JobError
from mpigauge.mpi.library import Library
from mpigauge.result.reader import Result, load
from mpigauge.result.records import Clock, Visit
from mpigauge.rows.rows import rows

HOSTS = (3, 4, 8)
LAUNCHES = 3
LAUNCHES_QUICK = 1
BYTES = 8
SOURCES = Path(__file__).parents[1] / "src"
HEADINGS = (
    "hosts",
    "learned after",
    "bound of the slope, best to worst edge",
    "clocks apart, median",
    "worst",
    "allreduce of 8 B",
    "clocks apart, of that",
)
APART_IS = (
    "All hosts of a lab read one clock: true slopes and offsets are 0. *Apart* is the largest difference "
    "between the clocks that the ranks go by, at the beginning of each visit; a time from the first start to "
    "the last end is off by no more. *Learned after* is that of the quickest launch. 8 ranks share two "
    "cores, which makes their messages slow, and so what they can tell of clocks inexact."
)


def main() -> None:
    """Print the section."""
    parser = tools.options("clocks of several emulated hosts")
    parser.add_argument("--before", type=Path, metavar="DIR", help="src of another version, as a second")
    arguments = parser.parse_args()
    launches = LAUNCHES_QUICK if arguments.quick else LAUNCHES
    print(section(tools.libraries(arguments.mpi), launches, arguments.before))


def section(libraries: Sequence[Library], launches: int, before: Path | None = None) -> str:
    """Measure, and return the section in Markdown.

    Raises:
        JobError: A lab or a launch failed.
    """
    library = next((one for one in libraries if one.name == "openmpi"), libraries[0])
    versions = {"": SOURCES, **({", before": before} if before else {})}
    body = []
    for hosts in HOSTS:
        for name, sources in versions.items():
            tools.say(f"clocks of {hosts} hosts{name}: {library.label}")
            with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
                result = _measured(library, hosts, launches, sources, Path(folder) / "result.jsonl")
                body.append([f"{hosts}{name}", *_row(result)])
    head = (
        f"{library.label}; {launches} launches of `allreduce` of 8 B, `mpigauge lab --hosts N --delay 60us`."
    )
    return "\n\n".join(["## Clocks of several hosts", head, tools.markdown(HEADINGS, body), APART_IS])


def _measured(library: Library, hosts: int, launches: int, sources: Path, path: Path) -> Result:
    mpigauge = [sys.executable, "-m", "mpigauge"]
    placement = ",".join(f"h{number}" for number in range(1, hosts + 1))
    words = [*mpigauge, "lab", "--hosts", str(hosts), "--delay", "60us", "--", *mpigauge, "run", "allreduce"]
    words += ["--mpi", str(library.mpicc), "--placement", placement, "--sizes", str(BYTES)]
    words += ["--launches", str(launches), "-q", "-o", str(path)]
    done = tools.run(words, {**os.environ, "PYTHONPATH": str(sources)})
    if done.returncode not in (0, 1):
        raise JobError(f"lab: {done.stderr.strip()}")
    return load(path)


# ---- What it says --------------------------------------------------------------------------------


def _row(result: Result) -> list[str]:
    first = min(clock.at_s for clock in result.clocks if clock.models)
    slopes = [model.bound_slope for clock in result.clocks for model in clock.models if model.bound_slope > 0]
    clock_spread_s = list(_clock_spread_s(result))
    (time,) = (row.time for row in rows(result) if row.cell.bytes == BYTES and row.time is not None)
    return [
        f"{first:.1f} s",
        f"{min(slopes):.1e} to {max(slopes):.1e}" if slopes else units.MISSING,
        units.format_time(median(clock_spread_s)),
        units.format_time(max(clock_spread_s)),
        units.format_time(time.estimate),
        units.format_percent(median(clock_spread_s) / time.estimate),
    ]


def _clock_spread_s(result: Result) -> Iterator[float]:
    """Yield the spread of the clocks of all ranks at each visit, in seconds."""
    by_launch: Mapping[int, list[Clock]] = {visit.launch: [] for visit in result.visits}
    for clock in result.clocks:
        if clock.models:
            by_launch[clock.launch].append(clock)
    for visit in result.visits:
        if visit.cell.bytes == BYTES and (known := _models_at(visit, by_launch[visit.launch])):
            newest_ns = max(model.base_ns for model in known.models)
            now_ns = newest_ns + (visit.at_s - known.at_s) * 1e9
            ahead_ns = [one.offset_ns + one.slope * (now_ns - one.base_ns) for one in known.models]
            yield (max(ahead_ns) - min(ahead_ns)) * 1e-9


def _models_at(visit: Visit, clocks: Sequence[Clock]) -> Clock | None:
    """Return the clock models of the ranks at a visit: the latest before it."""
    return max(
        (clock for clock in clocks if clock.at_s <= visit.at_s), key=lambda one: one.at_s, default=None
    )


if __name__ == "__main__":
    sys.exit(tools.ending(main))
