"""Do many ranks at once take here what others' loops say? Beside bare loops as OSU and IMB describe theirs.

Both are launched directly after one another, in turns, and compared pair by pair.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import tools

from mpigauge import units
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
    rows = []
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        for library in libraries:
            rows += _rows(library, Path(folder), rounds)
    table = tools.markdown(["library, loop, size", *tools.RATIO_HEADINGS], rows)
    reasons = [f"- `{loop}`: {reason}." for loop, (_, reason) in LOOPS.items() if reason]
    heading = f"## Many ranks at once\n\nOne pair. {tools.RATIO_IS}"
    return "\n".join([heading, "", *reasons, "", table])


def _rows(library: Library, folder: Path, rounds: int) -> list[list[str]]:
    program = tools.build(library, SOURCE, folder)
    path = folder / f"{library.name}.jsonl"
    found = tools.turns(lambda: _loops(library, program), lambda: _ours(library, path), rounds)
    return [
        [f"{library.label}, {loop}, {units.format_size(size)}", *tools.ratio_cells(times, rounds)]
        for (loop, size), times in found.items()
    ]


def _loops(library: Library, program: Path) -> dict[tools.Timed, float]:
    words = [str(REPETITIONS), *map(str, SIZES)]
    return tools.medians_of_loops(library, program, words, len(LOOPS) * len(SIZES))


def _ours(library: Library, path: Path) -> dict[tools.Timed, float]:
    path.unlink(missing_ok=True)
    sizes = ",".join(map(str, SIZES))
    tools.mpigauge(library, [*PATTERNS, "--np", "2", "--sizes", sizes, "--launches", "1"], path)
    found = {(cell.pattern, cell.bytes): time_s for cell, time_s in tools.means_of_visits(path).items()}
    return {(loop, size): found[pattern, size] for loop, (pattern, _) in LOOPS.items() for size in SIZES}


if __name__ == "__main__":
    sys.exit(tools.ending(main))
