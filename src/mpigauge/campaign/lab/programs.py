"""The two C programs of a lab, built by this machine's compiler when they are first needed."""

import os
from collections.abc import Sequence
from pathlib import Path

from mpigauge.cache import COMPILE_FLAGS, build_once, cache_folder, fingerprint
from mpigauge.errors import EnvironmentLacksError
from mpigauge.programs import end_of, run, which

SOURCES = Path(__file__).parent
SHELL = "shell.c"
BUILD_TIMEOUT_S = 100


def relay() -> Path:
    """Return the path of the relay, which delays packets as the emulated network does."""
    sources = sorted(SOURCES.glob("*.[ch]"))
    return _built("relay", *(source for source in sources if source.name != SHELL))


def shell() -> Path:
    """Return the path of the program that replaces ssh."""
    return _built("shell", SOURCES / SHELL)


def compiler() -> str:
    """Return the path of this machine's C compiler.

    Raises:
        EnvironmentLacksError: There is none.
    """
    path = which("cc") or which("gcc") or which("clang")
    if path is None:
        raise EnvironmentLacksError(
            "a lab needs a C compiler for its relay", "install gcc, or: module load gcc"
        )
    return path


def _built(name: str, *sources: Path) -> Path:
    flags = (*COMPILE_FLAGS, name)
    program = cache_folder() / f"lab-{fingerprint(sources, flags)}" / f"mpigauge-lab-{name}"
    return build_once(program, f"the {name} of the lab", lambda output: _compile(sources, output))


def _compile(sources: Sequence[Path], output: Path) -> None:
    c_files = [str(source) for source in sources if source.suffix == ".c"]
    command = [compiler(), *COMPILE_FLAGS, "-o", str(output), *c_files, "-lm"]
    try:
        done = run(command, os.environ, BUILD_TIMEOUT_S)
    except TimeoutError as late:
        raise EnvironmentLacksError(f"{command[0]}: {late}", "check the compiler") from None
    if done.status != 0:
        lines = [line for line in done.err.splitlines() if "error" in line.lower()] or [end_of(done.status)]
        raise EnvironmentLacksError(
            f"{command[0]}: cannot compile {sources[0].name}: {lines[0].strip()}",
            "install the C library's headers: libc6-dev, glibc-devel",
        )
