"""Environments of libraries: what `module load` or a script changes, for the jobs of one library alone.

A user names one by `module:openmpi/4.1.6`, the words of `module load`, or `source:/opt/mpi/env.sh`, the words
of `source`. Two libraries whose modules exclude each other are measured in one campaign, each in its own.
"""

import functools
import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.programs import end_of, run, search_path, which
from mpigauge.sequences import first_words
from mpigauge.vocabulary import REASON_MOST

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
export LMOD_LANG=en LMOD_COLORIZE=no MODULES_COLOR=never
for init in "${{@:1:count}}"; do
  if type module; then break; fi
  eval "init=\\"$init\\""
  if [ -r "$init" ]; then . "$init"; fi
done >/dev/null 2>&1
shift "$count"
type module >/dev/null 2>&1 || exit {NO_MODULES}
for ((number = $#; number > 0; number--)); do
  name=${{!number}}
  IFS=: read -ra all_loaded <<< "$LOADEDMODULES"
  for one in "${{all_loaded[@]}}"; do
    case "$one" in
      "${{name%/*}}" | "$name"/*) module unload "$one" ;;
      *) if [ "${{one%/*}}" = "${{name%/*}}" ]; then module unload "$one"; fi ;;
    esac
  done
done
module load "$@"
env -0 > "$file"
"""
"""Loads modules after unloading other versions of them, which would exclude each other: the last first, since
the others may be needed by it.

`module` is a function of the shell. Where the user's shell does not export it, its own file defines it. What
it says is read: in English, and without colors. Its status tells nothing: old versions fail with 0, and Lmod
gives 1 where a module that it has loaded warns of something.
"""

SCRIPT_COMMANDS = f"""
file=$1; shift
. "$@" || exit {NOT_LOADED}
env -0 > "$file"
"""

OF_SHELLS = re.compile(
    r"^(_|SHLVL|LINES|COLUMNS|PWD|OLDPWD|ENV|BASH_ENV|FPATH|MANPATH|INFOPATH|LOADEDMODULES|_LMFILES_.*|MODULEPATH|"
    r"\w+_modshare|_ModuleTable.*|_*LMOD_.*|_*MODULES?_.*|MODULES?HOME|MODULESHOME|BASH_FUNC_.*)$"
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
    quoted = shlex.join(shlex.split(words))  # as we read them, whatever a result has in them
    return f"module load {quoted}" if f"{kind}:" == MODULE else f"source {quoted}"


def with_absolute_paths(name: str) -> str:
    """Return a user's word for modules or a script that means the same files in every folder.

    Raises:
        UsageError: No module or script is named.
    """
    kind = _kind_of(name)
    return f"{kind}{shlex.join(_words(name, kind))}"


def arguments_of(name: str) -> tuple[str, ...]:
    """Return the modules of a user's word, or its script with the arguments of that."""
    return tuple(_words(name, _kind_of(name)))


def files_named(name: str) -> list[Path]:
    """Return the script of a user's word, or its module files that are named by a path.

    Raises:
        UsageError: No module or script is named.
    """
    kind = _kind_of(name)
    words = _words(name, kind)
    return list(map(Path, words[:1] if kind == SCRIPT else filter(os.path.isabs, words)))


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
    kind = _kind_of(name)
    named = _words(name, kind)
    if kind == MODULE:
        after, said = _run(name, MODULE_COMMANDS, [str(len(INIT_FILES)), *INIT_FILES, *named])
        _check_loaded(name, named, _modules_of(after), said)
    else:
        after, _ = _run(name, SCRIPT_COMMANDS, named)
    before = dict(environ)
    changes: dict[str, str | None] = {
        variable: value
        for variable, value in after.items()
        if before.get(variable) != value and not OF_SHELLS.match(variable)
    }
    gone = (variable for variable in before.keys() - after.keys() if not OF_SHELLS.match(variable))
    return LoadedEnvironment(changes | dict.fromkeys(sorted(gone)), after.get("PATH", ""))


def _kind_of(name: str) -> str:
    return MODULE if name.startswith(MODULE) else SCRIPT


def _words(name: str, kind: str) -> list[str]:
    """Return what is behind `module load` or `source`, with absolute paths."""
    try:
        words = shlex.split(name.removeprefix(kind))
    except ValueError:
        words = []
    if not words or words[0].startswith("-"):
        what = "modules" if kind == MODULE else "a script"
        raise UsageError(f"{name!r} names no {what}", "write --mpi module:NAME/VERSION or --mpi source:/PATH")
    if kind == MODULE:
        return [_absolute(word) if word.startswith(MODULE_PATHS) else word for word in words]
    return [_absolute(_found_by_source(words[0])), *words[1:]]


MODULE_PATHS = ("/", "./", "../", "~/")
"""How words of `module load` begin that are paths of module files and not names of modules."""


def _found_by_source(script: str) -> str:
    """Return where `source` finds a script: a name without a slash on PATH, before the current folder."""
    in_folders = (folder / script for folder in search_path() if "/" not in script)
    return next((str(path) for path in in_folders if path.is_file()), script)


def _absolute(word: str) -> str:
    """Return the absolute path of a file; behind a link, `..` is where the system finds it."""
    path = Path.cwd() / os.path.expanduser(word)  # noqa: PTH111 - an unknown ~user stays as it is
    return str(path.resolve() if ".." in path.parts else path)


def _modules_of(environ: Mapping[str, str]) -> list[str]:
    return [one for one in environ.get("LOADEDMODULES", "").split(":") if one]


def _check_loaded(name: str, named: Sequence[str], all_loaded: Sequence[str], said: str) -> None:
    """Refuse modules that are not loaded now.

    A name that no loaded module has may be an alias or the beginning of a version: then another version of it
    is loaded, or a module that has none of the names and was not there before.
    """
    before = _modules_of(os.environ)
    wanted = [word for word in named if not word.startswith("-")]
    others = [one for one in all_loaded if not any(_has_name(one, word) for word in wanted)]
    for word in wanted:
        if any(_has_name(one, word) for one in all_loaded):
            continue
        stands_for_it = any(
            _without_version(one) == _without_version(word) or one not in before for one in others
        )
        if re.search(rf'{FAILURE}|replacing "{re.escape(word)}["/.]', said) or not stands_for_it:
            why = _cause(said)
            _refuse(name, why if re.search(SURE_CAUSE, why) else f"{word} was not loaded{why and ': '}{why}")


def _has_name(one: str, word: str) -> bool:
    return one == word or one.startswith(f"{word}/")


def _without_version(word: str) -> str:
    return word.rpartition("/")[0] or word


def _run(name: str, commands: str, words: Sequence[str]) -> tuple[dict[str, str], str]:
    """Return the environment after a shell script, and what it said."""
    bash = which("bash")
    if bash is None:
        raise EnvironmentLacksError(f"{name}: there is no bash to load it with", "install bash")
    with tempfile.NamedTemporaryFile(prefix="mpigauge-") as file:
        command = [bash, "--norc", "--noprofile", "-c", commands, "mpigauge", file.name, *words]
        try:
            done = run(command, os.environ, TIMEOUT_S)
        except TimeoutError:
            _refuse(name, f"it was not loaded within {TIMEOUT_S} s")
        status, said = done.status, done.err + done.out
        after = file.read().decode(errors="surrogateescape")
    if status == NO_MODULES:
        raise EnvironmentLacksError(
            f"{name}: there is no module command here",
            "load its initialization file before, or name the library's prefix: --mpi /path",
        )
    if status != 0 or not after:
        _refuse(name, _cause(said) or end_of(status))
    pairs = (entry.partition("=") for entry in after.split("\0") if entry)
    return {variable: value for variable, _, value in pairs}, said


FAILURE = r"Lmod has detected|\bERROR\b"
SURE_CAUSE = rf"MODULEPATH is undefined|{FAILURE}|automatically replacing"
CAUSES = ("MODULEPATH is undefined", SURE_CAUSE, "(?i)error")
"""What says why, the surest first: a module's own message may be about errors, too."""

SAYS_NOTHING = re.compile(r"^Loading \S+$|Module evaluation aborted")
"""Lines around what a module has said before it ended."""


def _cause(output: str) -> str:
    """Return the lines that say why; the last line, if none does."""
    lines = [line for line in output.splitlines() if not SAYS_NOTHING.search(line)]
    for cause in CAUSES:
        for number, line in enumerate(lines):
            if re.search(cause, line):
                whole = " ".join(" ".join([line, *_continued(line, lines[number + 1 :])]).split())
                return first_words(whole, REASON_MOST)
    last = next((line.strip() for line in reversed(lines) if re.search("[A-Za-z]", line)), "")
    return first_words(last, REASON_MOST)


def _continued(first: str, below: Sequence[str]) -> Iterator[str]:
    """Yield the lines that belong to a first one: those that are indented more.

    Lmod's sentences are wrapped, and end at an empty line or where it lists modules.
    """
    for line in below:
        is_part = first.startswith("Lmod") or _indent(line) > _indent(first)
        if not is_part or not line.strip() or line.startswith("While processing"):
            return
        yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _refuse(name: str, why: str) -> NoReturn:
    raise EnvironmentLacksError(f"{name}: {why}", _remedy(name, why))


EXCLUDED = re.compile("(?i)conflict|because these module|can only have one|explicitly unload|replacing")
HINTS = {
    "MODULEPATH is undefined": "tell it where modules are, as your login shell does: module use FOLDER",
    "prereq|without these module|At least one of these module": (
        'name what it needs before it: --mpi "module:NEEDED NAME"'
    ),
    "unknown|as requested|locate|find|not exist": (
        "module avail lists what there is; module spider says what must be loaded before"
    ),
}
"""Words of Environment Modules and of Lmod."""


def _remedy(name: str, why: str) -> str:
    command = shell_command(name)
    if not name.startswith(MODULE):
        return f"try: {command}"
    if EXCLUDED.search(why):
        around = ", ".join(_modules_of(os.environ))
        unload = f"unload what excludes it; loaded are {around}; or " if around else ""
        return f"{unload}name only one of those that exclude each other"
    return next(
        (hint for words, hint in HINTS.items() if re.search(words, why)),
        f"see all that it says, and module list after it: {command}",
    )
