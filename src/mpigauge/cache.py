"""The cache of programs that are built on the spot: made once for the same sources and words."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError

COMPILE_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2")


def cache_folder() -> Path:
    """Where built programs are kept: $MPIGAUGE_KERNEL_DIR, else the user's cache."""
    if chosen := os.environ.get("MPIGAUGE_KERNEL_DIR"):
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "mpigauge" / "kernels"


def fingerprint(sources: Iterable[Path], words: Iterable[str]) -> str:
    """16 hexadecimal digits that change with any of the files and words."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    for word in words:
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:16]


def made(program: Path, about: str, compile_to: Callable[[Path], None]) -> Path:
    """The program, compiled if it is not there yet: whole or not at all, also if two do it at once.

    Args:
        about: What an error calls it.
        compile_to: Writes it to the path that it is given.

    Raises:
        EnvironmentLacksError: The cache cannot be written.
    """
    if program.is_file():
        return program
    try:
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            built = Path(folder) / program.name
            compile_to(built)
            built.replace(program)
    except OSError as error:
        raise EnvironmentLacksError(
            f"{program.parent}: {about} cannot be kept there: {error.strerror}",
            "set MPIGAUGE_KERNEL_DIR to a folder that can be written",
        ) from None
    return program
