"""Command lines that are visible in a text, and how many ranks they start."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LAUNCHERS = (
    *("mpirun", "mpirun.mpich", "mpirun.openmpi", "mpirun_rsh"),
    *("mpiexec", "mpiexec.mpich", "mpiexec.openmpi"),
    *("mpiexec.hydra", "mpiexec_mpt", "orterun", "prterun", "prun"),
    *("srun", "aprun", "jsrun", "ibrun", "lrun", "flux", "ccc_mprun", "poe", "oshrun", "shmemrun"),
)
_PROGRAM = r"(?:osu_\w+|IMB-[A-Z]\w+|\w+_perf|ucx_perftest|fi_\w+|ib_\w+|raw_ethernet_\w+|NP\w+)"
_LAUNCHER = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, LAUNCHERS))})\s")
_STARTS = re.compile(rf"\s-{{1,2}}[A-Za-z]|/|\b{_PROGRAM}\b")
"""An option, a path or a program: without one behind it, the name of a launcher is a word of prose."""

_VARIABLES = r"(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*"
_PROMPT = re.compile(r"(?:[^\s$%#>]{0,80}(?: [^\s$%#>]{1,40}\]?)?[$%#>]|(?<!\+)\++) +")
_PROMPTED = re.compile(
    rf"(?:[^\s$%#>]{{0,80}}(?: [^\s$%#>]{{1,40}}\]?)?[$%>]|[^\s$%#>]{{1,80}}(?: [^\s$%#>]{{1,40}}\]?)?#|\++)"
    rf" .*\b{_PROGRAM}\b|(?:# *(?=\.?/))?{_VARIABLES}(?:\S*/)?{_PROGRAM}(?:\s+-.*)?\Z"
    # After variables, numactl and the like, but not in prose, which has no options.
    r"|(?>.*?\bucx_perftest\s)(?:.*\s)?-[A-Za-z]\s"
)
_QUOTED = re.compile(rf"`((?:[A-Za-z_][A-Za-z0-9_]*=[^\s`]*\s+)*(?:[^\s`]*/)?{_PROGRAM}\s+-[^`]*)`")
"""A command in a sentence of Markdown."""

_RANKS = re.compile(
    r"\s(?:-np?|--np?|-c|--ntasks|--nranks|-ntasks|-nrs|--nproc|-proc)"
    r"(?:[ =]+|(?=[0-9]))([0-9]{1,7})(?=\s|\Z)"
)
_NODES = re.compile(r"\s(?:-N|--nodes)(?:[ =]+|(?=[0-9]))([0-9]{1,6})(?=\s|\Z)")
_PER_NODE = re.compile(
    r"\s(?:--ntasks-per-node|--tasks-per-node|-ppn|-perhost|--ppn)(?:[ =]+|(?=[0-9]))([0-9]{1,6})(?=\s|\Z)"
)
_PER_NODE_OF_LRUN = re.compile(r"\s-T(?:[ =]*)([0-9]{1,6})(?=\s|\Z)")
_NOUN = r"(?:mpi[ -])?(?:process(?:es)?|ranks|tasks|n?procs|np|ntasks)"
_STATED = re.compile(
    rf"\W*+(?<!#)(?:(?:total )?(?:number|no\.?|num) of )?{_NOUN}\s*+[:=]\s*+(?P<behind>[0-9]{{1,7}})\W*+"
    rf"|\W*+(?P<before>[0-9]{{1,7}}) {_NOUN}\W*+",
    re.IGNORECASE,
)
"""A line that says nothing but how many ranks there are; `#processes = 2` of IMB is of one table alone."""

_PROCESSORS = frozenset({"srun", "flux"})
"""Launchers whose `-c` is the number of processors per rank, not the number of ranks."""

_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\b")
MAX_CHARACTERS = 400
"""Longest line of a command: what is longer is the output of a program."""

CUT_PROGRAM = "IMB-"
"""Beginning of a program's name, at the end of a line that is wrapped at its hyphen."""

MAX_WRAPPED, LEAST_WRAPPED = 3, 50
"""Lines of a command that a mail has wrapped, and characters of one that is followed by another."""

MAX_CONTINUATIONS = 32
"""Most continuation lines of a command."""


def command_in(lines: Sequence[str], at: int) -> str:
    """Return the command line that a line shows, with its continuation lines; empty if it shows none."""
    text = lines[at].strip()
    if len(text) > MAX_CHARACTERS or (text.startswith(("# OSU", "#  ")) and _PROMPTED.match(text) is None):
        return ""
    parts = [text]
    for below in lines[at + 1 : at + 1 + MAX_CONTINUATIONS]:
        if not parts[-1].endswith("\\") or len(below) > MAX_CHARACTERS:
            break
        parts[-1] = parts[-1][:-1].rstrip()
        parts.append(below.strip())
    text = " ".join(parts)
    if _launched(text) is not None and (ranks_of(text) == 0 or text.endswith(CUT_PROGRAM)):
        text = _with_wrapped_lines(text, parts[-1], lines[at + len(parts) : at + len(parts) + MAX_WRAPPED])
    if _launched(text) is None and _PROMPTED.match(text) is None:
        quoted = _QUOTED.search(text)
        return " ".join(quoted[1].split()) if quoted else ""
    return " ".join(_PROMPT.sub("", text, count=1).split()).removeprefix("time ")


def continues_line(lines: Sequence[str], at: int) -> bool:
    """Return whether a line goes on with the command of the line above it."""
    return at > 0 and lines[at - 1].rstrip().endswith("\\")


def _with_wrapped_lines(text: str, last: str, below: Sequence[str]) -> str:
    """Return a command with the lines that a mail has broken it into, if they say its number of ranks.

    Args:
        last: Its last line.
        below: Lines below it.
    """
    whole = text
    for line in below:
        words = line.strip()
        cut = whole.endswith(CUT_PROGRAM)
        if (
            (len(last) < LEAST_WRAPPED and not cut)
            or not words
            or words[0] in "#$>|"
            or _LAUNCHER.search(words)
        ):
            break
        whole, last = f"{whole}{'' if cut else ' '}{words}", words
        if len(whole) > MAX_CHARACTERS:
            break
        if ranks_of(whole) and not whole.endswith(CUT_PROGRAM):
            return whole
    return text


def _launched(text: str) -> re.Match[str] | None:
    """Return the first launcher of a line if there is something to start behind it, else None."""
    launcher = _LAUNCHER.search(text)
    return launcher if launcher and _STARTS.search(text, launcher.end() - 1) else None


def without_prompt(text: str) -> tuple[str, str]:
    """Return the prompt of a shell that a line begins with, empty if it has none, and the rest of it."""
    match = _PROMPT.match(text)
    return (match[0].strip(), text[match.end() :]) if match else ("", text)


def ranks_of(command: str) -> int:
    """Return how many ranks a command line starts; 0 if it does not say."""
    launched = _launched(command)
    if launched is None or " : " in command:
        return 0
    launcher = launched[0].strip()
    options = re.sub(r"\s-c[ =]*[0-9]+", "", command) if launcher in _PROCESSORS else command
    if match := _RANKS.search(options, launched.end() - 1):
        return int(match[1])
    per_node = _PER_NODE_OF_LRUN if launcher == "lrun" else _PER_NODE
    # Of most launchers -N is the number of ranks per node, unless another option says that.
    nodes, each = (one.search(command, launched.end() - 1) for one in (_NODES, per_node))
    return int(nodes[1]) * int(each[1]) if nodes and each else 0


def ranks_stated(text: str) -> int:
    """Return how many ranks a line between tables says there are; 0 if it does not say that alone."""
    stated = _STATED.fullmatch(text.strip()) if len(text) <= MAX_CHARACTERS else None
    return int(stated["behind"] or stated["before"]) if stated else 0


def is_repeating_loop(command: str) -> bool:
    """Return whether a command line is a loop that runs the same command each time."""
    loop = _LOOP.search(command)
    if loop is None:
        return False
    body = command[loop.end() :].partition("do")[2]
    return re.search(rf"\$\{{?{loop[1]}\b", body) is None


def differing_words(commands: Sequence[str]) -> list[str] | None:
    """Return for each command the words that not all share; None if these do not distinguish them.

    One that has no word more than the others is called by its first: `mpirun` beside `perf-report mpirun`.
    """
    words = [command.split() for command in commands]
    common = set(words[0]).intersection(*words[1:])
    own = [[word for word in words_of_one if word not in common] for words_of_one in words]
    found = [
        " ".join(one) or all_of_it[0].rpartition("/")[2] for one, all_of_it in zip(own, words, strict=True)
    ]
    return found if all(found) and len(set(found)) == len(found) else None
