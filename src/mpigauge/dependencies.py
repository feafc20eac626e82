"""The system and the packages that mpigauge needs, and why a package cannot be imported.

Measuring needs Linux: /proc, prctl and affinity masks. Reading results needs only what macOS has, too.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.errors import EnvironmentLacksError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

NAME = re.compile(r"^[\w.-]+")
PACKAGE_FOLDER = Path(__file__).parent
SYSTEMS = {"darwin": "macOS", "win32": "Windows", "cygwin": "Cygwin"}
"""Names of systems, by what Python calls them."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
ENOUGH_ADDRESS_SPACE_BYTES = 1 << 30
"""Address space in which numpy and scipy load for sure; in a third of it they may."""

IMPORTS = "import click, msgspec, numpy, scipy.special, scipy.cluster.hierarchy"
IMPORT_TIMEOUT_S = 20.0

WITHOUT_POSIX = {"win32"}
"""Systems that lack modules of Python which mpigauge cannot do without: fcntl, pwd and resource."""


def check_system() -> None:
    """Refuse to measure on a system other than Linux.

    Raises:
        EnvironmentLacksError: This is another system; names it.
    """
    if not sys.platform.startswith("linux"):
        raise EnvironmentLacksError(
            f"measuring needs Linux, and this is {system_name()}",
            "measure on a Linux machine, and read the result here: mpigauge show RESULT",
        )


def system_name() -> str:
    """Return the name of this system as its users know it."""
    return SYSTEMS.get(sys.platform, sys.platform)


def packages() -> list[str]:
    """Return the packages that mpigauge always needs, by its own metadata."""
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - slow, and rarely asked

    try:
        wanted = requires("mpigauge") or []
    except PackageNotFoundError:  # a tree on PYTHONPATH
        return []
    return sorted(NAME.findall(one)[0] for one in wanted if "extra ==" not in one)


def check_packages() -> None:
    """Import the packages that tables are computed with: what could not be shown is not measured.

    That takes a good part of a second. Of packages that are as usual, it can be done while the first job
    starts.

    Raises:
        ImportError: It cannot be imported; `cannot_import` has the sentence.
    """
    for name in ("scipy.special", "scipy.cluster.hierarchy"):
        import_module(name)


def check_unusual_packages() -> None:
    """Check packages at once where some are missing or of others, or memory for them is limited.

    Raises:
        ImportError: One cannot be imported; `cannot_import` has the sentence.
    """
    if PathFinder.find_spec("scipy") is None or foreign_packages() or address_space_bytes() is not None:
        check_packages()


def cannot_import(error: Exception) -> EnvironmentLacksError | None:
    """Return the sentence for an error that arose while a package was imported; None for any other error."""
    if sys.platform in WITHOUT_POSIX and isinstance(error, ImportError):
        return EnvironmentLacksError(
            f"it runs on Linux, and this is {system_name()}", "use it in WSL2, which is Linux"
        )
    package = _failed_import(error)
    foreign = foreign_packages()
    if package is None:
        unfit = _unfit(error, foreign)
        return (
            None
            if unfit is None
            else _by_pythonpath(f"{unfit} is not as mpigauge needs it", foreign[unfit], error)
        )
    name, place = package
    if foreign:
        # The package that fails may be ours, and stumble over the foreign one.
        name = name if name in foreign else next(iter(foreign))
        return _by_pythonpath(f"{name} cannot be imported", foreign[name], error)
    where = f": {place}" if place else ""
    return EnvironmentLacksError(f"{name} cannot be imported{where}{_reason(error)}", _remedy(error, name))


def address_space_bytes() -> int | None:
    """Return the address space that this process may have; None if there is no limit."""
    import resource  # noqa: PLC0415 - Windows lacks it, and is to be told so

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def check_address_space() -> None:
    """Try in another process whether numpy and scipy load below a low ulimit -v.

    OpenBLAS, which both bring, ends the process whose memory it does not get, or tries for ever.

    Raises:
        EnvironmentLacksError: They do not.
    """
    from mpigauge.programs import run  # noqa: PLC0415 - likewise
    from mpigauge.units import format_rough_size  # noqa: PLC0415 - seldom needed

    limit = address_space_bytes()
    if limit is None or limit >= ENOUGH_ADDRESS_SPACE_BYTES:
        return
    try:
        loads = run([sys.executable, "-c", IMPORTS], ONE_THREAD | os.environ, IMPORT_TIMEOUT_S).status == 0
    except OSError:
        loads = False
    if not loads:
        raise EnvironmentLacksError(
            f"numpy and scipy do not load within {format_rough_size(limit)} of address space (ulimit -v)",
            "raise ulimit -v",
        )


def foreign_packages() -> dict[str, Path]:
    """Return the packages that PYTHONPATH puts before ours, each with its path."""
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    found = {}
    for name in packages():
        spec = PathFinder.find_spec(name, folders) if folders else None
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            found[name] = origin.parent if origin.stem == "__init__" else origin
    return found


def _by_pythonpath(what: str, path: Path, error: Exception) -> EnvironmentLacksError:
    return EnvironmentLacksError(
        f"{what}: {path}, by PYTHONPATH{_reason(error)}", f"unset PYTHONPATH, or take {path.parent} out of it"
    )


def _unfit(error: Exception, foreign: Mapping[str, Path]) -> str | None:
    """Return the foreign package that an error is of, such as one that is too old; None if it is another's.

    It is of one that it names or arose in, or of any where a module of ours could not be imported.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]  # click is in all of them
    arose = Path(frames[0].f_code.co_filename) if frames else Path()
    if found := next(
        (name for name, at in foreign.items() if f"'{name}" in str(error) or arose.is_relative_to(at)), None
    ):
        return found
    is_import = any(map(_is_module_level, frames)) and not isinstance(error, ImportError)
    return next(iter(foreign), None) if is_import else None


def _failed_import(error: Exception) -> tuple[str, str] | None:
    """Return name and path of the package whose import has failed; None if the error is another."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own_frames = [number for number, frame in enumerate(frames) if _is_own_file(frame.f_code.co_filename)]
    frames_after = frames[own_frames[-1] + 1 :] if own_frames else frames
    module = next(filter(_is_module_level, frames_after), None)
    if module is not None:
        return _package(str(module.f_globals["__name__"])), module.f_code.co_filename
    if isinstance(error, SyntaxError) and error.filename and not _is_own_file(error.filename):
        return Path(error.filename).parent.name, error.filename
    # An error of a module of our own is our fault, and no reason to send anybody to PYTHONPATH.
    if isinstance(error, ImportError) and error.name and _package(error.name) != "mpigauge":
        return _package(error.name), error.path or ""
    return None


def _is_own_file(file: str) -> bool:
    return PACKAGE_FOLDER in Path(file).parents


def _is_module_level(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>" and "__name__" in frame.f_globals


def _package(module: str) -> str:
    return module.partition(".")[0]


def _reason(error: Exception) -> str:
    first = _first_cause(error)
    words = next(filter(None, map(str.strip, str(first).splitlines())), type(first).__name__)
    return f": {words}"


def _first_cause(error: BaseException) -> BaseException:
    """Return the error from which the others were raised: numpy puts a page of advice before it."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _remedy(error: Exception, name: str) -> str:
    """Return a hint for a package that is broken in its own environment."""
    if isinstance(error, ModuleNotFoundError) and error.name == name:
        return f"install mpigauge anew from its wheel or checkout, which brings {name}"
    if address_space_bytes() is not None:
        return "raise ulimit -v: the memory of this shell is limited"
    if os.environ.get("LD_LIBRARY_PATH") and ".so" in str(_first_cause(error)):
        return "LD_LIBRARY_PATH may lead to an older library: unset it, or unload the module that sets it"
    return f"install {name} anew, in an environment of its own: python3 -m venv"
