"""Environments of libraries: what `module load` or a script changes, for the jobs of one library alone.

A user names one by `module:openmpi/4.1.6`, the words of `module load`, or `source:/opt/mpi/env.sh`, the words
of `source`. Two libraries whose modules exclude each other are measured in one campaign, each in its own.
"""

import functools
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.programs import which

Changes = Mapping[str, str | None]
"""Variables that differ from our own environment: their values, None for those that are removed."""

TIMEOUT_S = 60
MODULE, SCRIPT = "module:", "source:"

NO_MODULES, NOT_LOADED = 97, 98
"""Statuses of our shell scripts."""

INIT_FILES = (
    "$LMOD_PKG/init/bash",
    "$MODULESHOME/init/bash",
    "/etc/profile.d/z00_lmod.sh",
    "/etc/profile.d/lmod.sh",
    "/etc/profile.d/modules.sh",
    "/usr/share/lmod/lmod/init/bash",
    "/usr/share/modules/init/bash",
    "/usr/share/Modules/init/bash",
)
"""Files that define `module` in a shell, of Lmod and of Environment Modules."""

MODULE_COMMANDS = f"""
file=$1 count=$2; shift 2
for init in "${{@:1:count}}"; do
  if type module; then break; fi
  eval init=$init
  if [ -r "$init" ]; then . "$init"; fi
done >/dev/null 2>&1
shift "$count"
type module >/dev/null 2>&1 || exit {NO_MODULES}
for name in "$@"; do
  case ":$LOADEDMODULES:" in
    *":${{name%%/*}}/"* | *":${{name%%/*}}:"*) module unload "${{name%%/*}}" ;;
  esac
done
module load "$@" || exit {NOT_LOADED}
env -0 > "$file"
"""
"""Loads modules after unloading other versions of them, which would exclude each other.

`module` is a function of the shell. Where the user's shell does not export it, its own file defines it.
"""

SCRIPT_COMMANDS = f"""
file=$1; shift
. "$@" || exit {NOT_LOADED}
env -0 > "$file"
"""

OF_SHELLS = re.compile(
    r"^(_|SHLVL|LINES|COLUMNS|PWD|OLDPWD|ENV|BASH_ENV|FPATH|MANPATH|INFOPATH|LOADEDMODULES|_LMFILES_.*|_ModuleTable.*|"
    r"_*LMOD_.*|_*MODULES?_.*|MODULES?HOME|MODULESHOME|BASH_FUNC_.*)$"
)
"""Variables that shells and `module` itself keep: no job needs them."""


@dataclass(frozen=True, slots=True)
class LoadedEnvironment:
    """What modules or a script change in our environment.

    Attributes:
        changes: Variables that differ, by name; None for those that are removed.
        path: Value of PATH with them.
    """

    changes: Changes
    path: str


def names_environment(name: str) -> bool:
    """Return whether a user's word for a library names modules or a script."""
    return name.startswith((MODULE, SCRIPT))


def origin_of(name: str) -> str:
    """Return where a library of modules or of a script is from, in words."""
    kind, _, words = name.partition(":")
    return f"{kind} {words}"


def shell_command(name: str) -> str:
    """Return what a user would type: `module load openmpi/4.1.6`, `source /opt/mpi/env.sh`."""
    kind, _, words = name.partition(":")
    return f"module load {words}" if f"{kind}:" == MODULE else f"source {words}"


def applied(environ: Mapping[str, str], changes: Changes) -> dict[str, str]:
    """Return an environment with changes."""
    return {name: value for name, value in {**environ, **changes}.items() if value is not None}


def loaded(name: str) -> LoadedEnvironment:
    """Return the environment that a user names: `module:gcc/13 openmpi/5.0.8` or `source:/opt/mpi/env.sh`.

    Raises:
        UsageError: No module or script is named.
        EnvironmentLacksError: There is no bash or no `module` here, or what is named cannot be loaded.
    """
    return _loaded(name, tuple(sorted(os.environ.items())))


@functools.cache
def _loaded(name: str, environ: tuple[tuple[str, str], ...]) -> LoadedEnvironment:
    kind = MODULE if name.startswith(MODULE) else SCRIPT
    named = _words(name, kind)
    if kind == MODULE:
        after = _run(name, MODULE_COMMANDS, [str(len(INIT_FILES)), *INIT_FILES, *named])
    else:
        after = _run(name, SCRIPT_COMMANDS, named)
    if kind == MODULE and (missing := [one for one in named if not _is_loaded(one, after)]):
        _refuse(name, f"{', '.join(missing)} was not loaded")
    before = dict(environ)
    changes: dict[str, str | None] = {
        variable: value
        for variable, value in after.items()
        if before.get(variable) != value and not OF_SHELLS.match(variable)
    }
    gone = (variable for variable in before.keys() - after.keys() if not OF_SHELLS.match(variable))
    return LoadedEnvironment(changes | dict.fromkeys(sorted(gone)), after.get("PATH", ""))


def _words(name: str, kind: str) -> list[str]:
    try:
        words = shlex.split(name.removeprefix(kind))
    except ValueError:
        words = []
    if not words or words[0].startswith("-"):
        what = "modules" if kind == MODULE else "a script"
        raise UsageError(f"{name!r} names no {what}", "write --mpi module:NAME/VERSION or --mpi source:/PATH")
    return words


def _is_loaded(name: str, environ: Mapping[str, str]) -> bool:
    """Return whether a module is loaded: old versions of `module` fail with status 0."""
    all_loaded = environ.get("LOADEDMODULES", "").split(":")
    return any(one == name or one.startswith(f"{name}/") for one in all_loaded)


def _run(name: str, commands: str, words: Sequence[str]) -> dict[str, str]:
    """Return the environment after a shell script."""
    bash = which("bash")
    if bash is None:
        raise EnvironmentLacksError(f"{name}: there is no bash to load it with", "install bash")
    with tempfile.NamedTemporaryFile(prefix="mpigauge-") as file:
        try:
            done = subprocess.run(
                [bash, "--norc", "--noprofile", "-c", commands, "mpigauge", file.name, *words],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
                env=dict(os.environ),
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            _refuse(name, f"it was not loaded within {TIMEOUT_S} s")
        after = file.read().decode(errors="surrogateescape")
    if done.returncode == NO_MODULES:
        raise EnvironmentLacksError(
            f"{name}: there is no module command here",
            "load its initialization file before, or name the library's prefix: --mpi /path",
        )
    if done.returncode != 0 or not after:
        _refuse(name, _cause(done.stderr + done.stdout) or f"status {done.returncode}")
    pairs = (entry.partition("=") for entry in after.split("\0") if entry)
    return {variable: value for variable, _, value in pairs}


def _cause(output: str) -> str:
    """Return the line that says why, or the one below a bare announcement of an error."""
    lines = [line.strip() for line in output.splitlines() if re.search("[A-Za-z]", line)]
    for number, line in enumerate(lines):
        if "error" in line.lower():
            words = [line, *lines[number + 1 : number + 2]] if line.endswith(":") else [line]
            return " ".join(words)
    return lines[-1] if lines else ""


def _refuse(name: str, why: str) -> NoReturn:
    raise EnvironmentLacksError(f"{name}: {why}", _remedy(name, why))


def _remedy(name: str, why: str) -> str:
    if not name.startswith(MODULE):
        return f"try: {shell_command(name)}"
    if "conflict" in why:
        return f"unload what excludes it; loaded are {os.environ.get('LOADEDMODULES', '').replace(':', ', ')}"
    return "module avail lists what there is; module spider says what must be loaded before"
