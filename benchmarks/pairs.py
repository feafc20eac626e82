"""Do many ranks at once take here what others' loops say? Beside bare loops as OSU and IMB describe theirs.

Both are launched directly after one another, in turns, and compared pair by pair.
"""

import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean, median

import tools

from mpigauge.mpi.library import Library

SIZES = (8, 65536)
ROUNDS, ROUNDS_QUICK = 10, 3
REPETITIONS = 10
SOURCE = Path(__file__).with_name("bare_pairs.c")
PATTERNS = ("multi-stream", "multi-pingpong", "neighbours")
LOOPS = {
    "mbw_mr": ("multi-stream", "two barriers before each window: its first messages find nobody there"),
    "uniband": ("multi-stream", ""),
    "multi_lat": ("multi-pingpong", "the mean over pairs; with one pair the same"),
    "exchange": ("neighbours", "MPI_Recv after MPI_Isend, where ours posts its receives first"),
}
"""Loops by their names, what they are held against, and why they may differ."""


def main() -> None:
    """Print the section."""
    parser = tools.options("many ranks at once beside the loops of OSU and IMB")
    parser.add_argument("--rounds", type=int, metavar="N", help="launches of each tool under each library")
    arguments = parser.parse_args()
    rounds = arguments.rounds or (ROUNDS_QUICK if arguments.quick else ROUNDS)
    print(section(tools.libraries(arguments.mpi), rounds))


def section(libraries: Sequence[Library], rounds: int) -> str:
    """Return the section in Markdown: a row for each library, loop and size."""
    lines = ["| library | loop | size | loop, ns | mpigauge, ns | mpigauge / loop | because |"]
    lines += ["| --- | --- | ---: | ---: | ---: | ---: | --- |"]
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        for library in libraries:
            lines += _rows(library, Path(folder), rounds)
    return "\n".join(
        ["## Many ranks at once", "", "One pair; a ratio is the median over rounds.", "", *lines]
    )


def _rows(library: Library, folder: Path, rounds: int) -> list[str]:
    program = tools.build(library, SOURCE, folder)
    found = defaultdict(list)
    for number in range(rounds):
        loops, ours = _loops(library, program), _ours(library, folder / f"{library.name}-{number}.jsonl")
        for (loop, size), loop_s in loops.items():
            found[loop, size].append((1e9 * loop_s, ours[LOOPS[loop][0], size]))
    return [_row(library, loop, size, times) for (loop, size), times in found.items()]


def _row(library: Library, loop: str, size: int, times: Sequence[tuple[float, float]]) -> str:
    loop_ns, own_ns = (geometric_mean(side) for side in zip(*times, strict=True))
    ratio = median(own / other for other, own in times)
    cells = (library.label, loop, size, f"{loop_ns:.1f}", f"{own_ns:.1f}", f"{ratio:.3f}", LOOPS[loop][1])
    return f"| {' | '.join(map(str, cells))} |"


def _loops(library: Library, program: Path) -> dict[tuple[str, int], float]:
    """Return the median over repetitions of each loop and size, in seconds."""
    words = [str(REPETITIONS), *map(str, SIZES)]
    return tools.medians_of_loops(library, program, words, len(LOOPS) * len(SIZES))


def _ours(library: Library, path: Path) -> dict[tuple[str, int], float]:
    sizes = ",".join(map(str, SIZES))
    tools.mpigauge(library, [*PATTERNS, "--np", "2", "--sizes", sizes, "--launches", "1"], path)
    return {(cell.pattern, cell.bytes): 1e9 * time_s for cell, time_s in tools.typical(path).items()}


if __name__ == "__main__":
    sys.exit(tools.ending(main))
