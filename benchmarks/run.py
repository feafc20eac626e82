"""All benchmarks in one go; writes results.md beside this file.

To add one: a module with a function `section` that gives Markdown, and a line in `_sections`.
"""

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import clocks
import collectives
import condition
import fidelity
import invocations
import memory
import one_sided
import places
import tools

import mpigauge
from mpigauge.mpi.library import Library
from mpigauge.result import environment, source_tree

OUTPUT = Path(__file__).with_name("results.md")


def main() -> None:
    """Write the results anew."""
    arguments = tools.options("all benchmarks").parse_args()
    libraries = tools.libraries(arguments.mpi)
    head = _head(libraries, arguments.seed, quick=arguments.quick)
    written = [
        tools.attempt(section) for section in _sections(libraries, arguments.seed, quick=arguments.quick)
    ]
    OUTPUT.write_text("\n\n".join([*head, *filter(None, written)]) + "\n", encoding="utf-8")
    tools.say(f"result: {OUTPUT}")


def _sections(libraries: Sequence[Library], seed: int, *, quick: bool) -> list[Callable[[], str]]:
    return [
        partial(
            collectives.section, libraries, collectives.ROUNDS_QUICK if quick else collectives.ROUNDS, seed
        ),
        partial(clocks.section, libraries, clocks.LAUNCHES_QUICK if quick else clocks.LAUNCHES),
        partial(condition.section, libraries, condition.ROUNDS_QUICK if quick else condition.ROUNDS, seed),
        partial(memory.section, libraries, memory.ROUNDS_QUICK if quick else memory.ROUNDS, seed),
        partial(one_sided.section, libraries, one_sided.ROUNDS_QUICK if quick else one_sided.ROUNDS, seed),
        partial(places.section, libraries, places.LAUNCHES_QUICK if quick else places.LAUNCHES, seed),
        partial(fidelity.section, libraries, fidelity.ROUNDS_QUICK if quick else fidelity.ROUNDS, seed),
        partial(
            invocations.section,
            libraries,
            invocations.INVOCATIONS_QUICK if quick else invocations.INVOCATIONS,
        ),
    ]


def _head(libraries: Sequence[Library], seed: int, *, quick: bool) -> list[str]:
    machine = environment.environment()
    facts = {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "run": f"python benchmarks/run.py{' --quick' if quick else ''} --seed {seed}",
        "mpigauge": f"{mpigauge.__version__}, commit {source_tree.commit()[:12] or 'unknown'}",
        "machine": f"{machine.cpu}, {machine.cores} cores{', virtual' if machine.hypervisor else ''}",
        "system": f"Linux {machine.kernel}, clock source {machine.clock_source or 'unknown'}",
        "load before": f"{environment.load_average():.2f}",
        "libraries": ", ".join(library.label for library in libraries),
    }
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    return [
        "# Results of the benchmarks",
        "Written by `make bench`; README.md says how to read it.",
        "\n".join(lines),
    ]


if __name__ == "__main__":
    sys.exit(tools.ending(main))
