"""Measures what the pages show, by the commands that the pages print: `make reports`.

    python docs/measure.py                   what is not in docs/results yet, and what was cut short
    python docs/measure.py modes ring        these anew
    python docs/measure.py --budget 8s       quickly, to see whether it works

Takes half an hour; nothing else should run meanwhile. It may be stopped and started again.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pages

from mpigauge import errors
from mpigauge.result.home_paths import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pages import Command

MEASURED = {errors.EXIT_DONE, errors.EXIT_CHECK_FAILED, errors.EXIT_UNDECIDED}
"""A measurement may end with cells that failed, which the pages then say; a map says what it found."""


def main() -> None:
    """Measure one result after the other."""
    parser = argparse.ArgumentParser(description="Measures what the pages show.")
    parser.add_argument("names", nargs="*", help="results to measure anew; default: those that are missing")
    parser.add_argument("--budget", help="of every one, instead of its own")
    arguments = parser.parse_args()
    steps = pages.needed(pages.pages())
    unknown = [name for name in arguments.names if name not in steps]
    if unknown:
        parser.error(f"no page shows {', '.join(unknown)}; there are {', '.join(steps)}")
    pages.RESULTS.mkdir(exist_ok=True)
    for name, command in steps.items():
        if not arguments.names or name in arguments.names:
            measure(name, command, arguments.budget, anew=name in arguments.names)


def measure(name: str, command: Command, budget: str | None, *, anew: bool) -> None:
    """Begin, continue or keep one result."""
    raw = pages.RESULTS / f"{name}.jsonl"
    kept = raw.with_name(f"{raw.name}.gz")
    if kept.exists() and not anew and not raw.exists():
        print(f"{name}: is there")
        return
    if raw.exists():
        _run(["mpigauge", "resume", str(raw)])
    else:
        words = [str(raw) if word == command.makes else word for word in command.words]
        _run(words + (["--budget", budget] if budget else []))
    kept.write_bytes(gzip.compress(_without_folders(raw.read_text(encoding="utf-8")).encode(), mtime=0))
    raw.unlink()
    print(f"{name}: {kept.stat().st_size / 1000:.0f} kB")


def _without_folders(text: str) -> str:
    """Return the text of a result with paths relative to the repository, to keep our folders private."""
    return text.replace(f"{shortened(str(pages.ROOT))}/", "")


def _run(words: Sequence[str]) -> None:
    """Run a command in the folder of the examples; exit if nothing was measured."""
    print("$", " ".join(words), flush=True)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(words, cwd=pages.ROOT, env=environment, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in MEASURED:
        sys.exit(f"measure.py: status {done.returncode}: {' '.join(words)}")


if __name__ == "__main__":
    main()
