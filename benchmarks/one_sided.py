"""Does mpigauge report what a put costs? Beside bare loops as OSU's are described, and IMB-RMA.

IMB-RMA makes its window with MPI_Win_create.
"""

import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

import tools

from mpigauge import units
from mpigauge.mpi.library import Library

SIZES = (8, 65536, 1 << 20)
KINDS = ("allocate", "create")
IMB = "IMB-RMA"
WAYS = {
    "flush": "flush",
    "flush_recv": "flush",
    "unaligned": "flush",
    "each": "flush",
    "lock": "lock",
    "lock_recv": "lock",
    "fence": "fence",
    IMB: "flush",
}
"""Loops of bare_put.c and of IMB, and the mode of ours beside them."""

REASONS = (
    "`each` reads the clock twice in every iteration, and has that in its time.",
    (
        "While one rank works, the other waits in MPI_Barrier in `flush`, `each` and `lock`, and in MPI_Recv "
        "in `flush_recv` and `lock_recv`, as ours does: a library may answer sooner from one of them."
    ),
    (
        "`unaligned` and IMB-RMA put from memory that does not begin with a page: a system that copies from "
        "one process to the other touches 17 pages for 64 KiB there, 16 in ours."
    ),
    "Ours calls the operation through a pointer and looks up its place, 1 to 3 ns: a tenth of 20 ns.",
)

SOURCE = Path(__file__).with_name("bare_put.c")
ROUNDS, ROUNDS_QUICK = 10, 2
REPETITIONS = 5
IMB_ROUNDS = 20_000
"""By itself IMB flushes each of 100 puts, the first of which take most of the time of 8 B."""

IMB_ROW = re.compile(r"\s+(\d+)\s+\d+\s+([\d.]+)(?:\s+[\d.]+)+\s*$")

Times = Mapping[tools.Timed, float]
"""Seconds of one operation by way and size."""


def main() -> None:
    """Print the section."""
    arguments = tools.options("puts beside bare loops").parse_args()
    rounds = ROUNDS_QUICK if arguments.quick else ROUNDS
    print(section(tools.libraries(arguments.mpi), rounds, arguments.seed))


def section(libraries: Sequence[Library], rounds: int, seed: int) -> str:
    """Measure, and return the section in Markdown.

    Raises:
        EnvironmentLacksError: There is no compiler.
        JobError: A launch failed.
    """
    body = []
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        for library in libraries:
            program = tools.build(library, SOURCE, Path(folder))
            for kind in KINDS:
                body += _compared(library, program, kind, rounds, seed, Path(folder))
    table = tools.markdown(["library, window, loop, size", *tools.RATIO_HEADINGS], body)
    reasons = "\n".join(f"- {reason}" for reason in REASONS)
    return f"## One-sided\n\n{tools.RATIO_IS}\n\n{reasons}\n\n{table}"


def _compared(
    library: Library, program: Path, kind: str, rounds: int, seed: int, folder: Path
) -> list[list[str]]:
    """Return a row for each way and size; launches of all programs take turns."""
    path, seeds = folder / "put.jsonl", count(seed)
    found = tools.turns(
        lambda: {**_bare(library, program, kind), **_imb(library, kind)},
        lambda: _ours(library, kind, next(seeds), path),
        rounds,
    )
    return [
        [f"{library.label}, {kind}, {way}, {units.format_size(size)}", *tools.ratio_cells(times, rounds)]
        for (way, size), times in sorted(found.items())
    ]


def _bare(library: Library, program: Path, kind: str) -> Times:
    loops = [f"{size}:{tools.rounds_of(size)}" for size in SIZES]
    words = [kind, str(REPETITIONS), *loops]
    return tools.medians_of_loops(library, program, words, (len(WAYS) - 1) * len(SIZES))


def _imb(library: Library, kind: str) -> Times:
    """Return the times of Unidir_put, one flush for each; none where IMB cannot be run."""
    program = library.prefix / "bin" / "IMB-RMA"
    if kind != "create" or not program.is_file():
        return {}
    options = f"-npmin 2 -msglog 3:20 -iter {IMB_ROUNDS} -iter_policy off Unidir_put"
    words = [str(program), *options.split()]
    lines = tools.launch(library, words, {"LD_LIBRARY_PATH": str(library.prefix / "lib")})
    found, one_by_one = {}, False
    for line in lines:
        if "AGGREGATE" in line:
            one_by_one = "NON-AGGREGATE" in line
        match = IMB_ROW.fullmatch(line.rstrip())
        if match and one_by_one and int(match[1]) in SIZES:
            found[IMB, int(match[1])] = float(match[2]) * 1e-6
    return found


def _ours(library: Library, kind: str, seed: int, path: Path) -> Times:
    """Return the times of the modes that are held against each loop."""
    tools.say(f"{library.label}, window {kind}")
    path.unlink(missing_ok=True)
    words = ["put", "--mode", "flush,lock,fence", "--rma-window", kind]
    words += ["--sizes", ",".join(map(str, SIZES)), "--launches", "1", "--seed", str(seed)]
    tools.mpigauge(library, words, path)
    found = {
        (cell.mode, cell.bytes): time_s
        for cell, time_s in tools.means_of_visits(path).items()
        if cell.rma_window
    }
    return {(way, size): found[mode, size] for way, mode in WAYS.items() for size in SIZES}


if __name__ == "__main__":
    sys.exit(tools.ending(main))
