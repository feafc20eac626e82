"""Error for a text that is not read: what it seems to be, what is read, how to describe its columns.

MARKS is the one list of programs that are known by name alone.
"""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.importers import READERS
from mpigauge.importers.text import cleaned, content_of, decoded
from mpigauge.result.files import as_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MARKS = {
    "GPCNeT": r"^Network(?:Load)? Tests v[0-9]|^Name \|[ \t]{0,80}Congestion Impact Factor\b"
    r"|^(?:Isolated Network Tests|Network Tests running with)\b",
    "UCC perftest": r"^Count {1,40}Size {1,40}Time, us\b|\bucc_perftest\b",
    "HPC Challenge": r"^Max Ping Pong Latency: {1,40}[0-9]|\bHPC Challenge\b"
    r"|^(?:(?:Max|Avg|Min)PingPong|(?:Naturally|Randomly)OrderedRing)(?:Latency|Bandwidth)_\w+=",
    "iperf3": r'"version":\s*"iperf 3|^\[ *ID\] Interval +Transfer +Bitrate',
    "iperf": r"^\[ *ID\] Interval +Transfer +Bandwidth",
    "sockperf": r"^sockperf: ",
    "qperf": r"^(?:tcp|udp|sdp|rds|rc|uc|ud|xrc)_(?:rdma_)?(?:read_|write_)?(?:bi_)?(?:bw|lat):",
    "netperf": r"^(?:MIGRATED )?(?:TCP|UDP|SCTP) [A-Z/_]+ TEST from ",
    "gloo's benchmark": r"^Algorithm: +\w+$|^(?:size \(B\) +)?elements +min \(us\)",
    "Google Benchmark": r"^Benchmark +Time +CPU +Iterations\b|\"library_build_type\":",
    "NVSHMEM perftest": r"^mype: [0-9]+ mype_node: [0-9]+|\bshmem_(?:put|get|p|g)_(?:bw|latency)\b",
    "mpptest": r"^\S{0,200}?mpptest\b",
    "SKaMPI": r"^# SKaMPI\b|^(?:# )?begin result \"",
    "ReproMPI": r"\bReproMPI\b",
    "LinkTest": r"^(?:fzj-?)?link ?test\b",
    "mpiGraph": r"^START mpiGraph\b|^MsgSize[ \t]+[0-9]+\s{1,9}Times[ \t]+[0-9]",
    "mpiBench": r"^START mpiBench\b",
    "STREAM, which measures memory": r"^Function +Best Rate MB/s",
    "HPL": r"^HPLinpack\b",
}
"""Marks in the output of programs that are not read. Source: their posted outputs."""

_BEGINNING = r"^[ \t|>]{0,240}+(?:[^\n\]>:|Z]{0,80}+[\]>:|Z][ \t|>]{0,240}+){0,6}?"
"""Beginning of a line, behind the indentation, quotes, tags or times that others have put before it."""

_MARKS = {name: re.compile(mark.replace("^", _BEGINNING), re.MULTILINE) for name, mark in MARKS.items()}
_NAME_OF_SIZE = re.compile(r"(?i)size|bytes|length")
_NAME_OF_VALUE = re.compile(
    r"(?i)latency|bandwidth|throughput|(?<![a-z])(?:time|rate|bw|lat|[num]?s|usec|[kmg]i?b)(?![a-z])|/s"
)
_NAME_OF_RATE = re.compile(r"(?i)bandwidth|throughput|rate|bw|/s")
_CUT_RESULT = re.compile(r'\s*\{\s*"type"\s*:\s*"campaign"')
NUL = "\0"
MEASURE_ANEW = "copy it again where there is a whole one, or measure anew"
SEARCHED_CHARACTERS = 2**20
"""Characters that are searched."""

WIDTH, INDENT = 80, " " * len("  hint: ")
SIZE = "size"
TIME = "latency"


def refusal(path: Path, not_a_result: UsageError) -> UsageError:
    """Return the error for a file that is neither a result nor a text that is read.

    Args:
        not_a_result: Error to return if it is no text, either.
    """
    content = content_of(path)
    text = decoded(content)[:SEARCHED_CHARACTERS]
    if NUL in text:
        return not_a_result
    if _CUT_RESULT.match(text):
        return UsageError(
            f"{path}: the first line of this result is cut: nothing can be read of it", MEASURE_ANEW
        )
    name = guess_program(text)
    what = f"it seems to be output of {name}, which is not read" if name else "its format is not known"
    sentence = f"{not_a_result.sentence}; {what}"
    fields = _fields(text)
    size = next((name for name in fields if _NAME_OF_SIZE.search(name)), fields[0])
    others = [name for name in fields if name != size]
    value = next(filter(_NAME_OF_VALUE.search, others), others[-1] if others else TIME)
    return UsageError(sentence, f"{_formats_read()}\n{columns_example(str(path), size, value)}")


def guess_program(text: str) -> str:
    """Return the program whose output a text seems to be; empty if nothing tells."""
    start = "\n".join(map(cleaned, text[:SEARCHED_CHARACTERS].split("\n")))
    found = {name: match.start() for name, mark in _MARKS.items() if (match := mark.search(start))}
    return min(found, key=lambda name: found[name], default="")


def in_json(path: Path, content: bytes, is_output: Callable[[bytes], bool]) -> UsageError | None:
    """Return the error for JSON of another program that has the text of an output in it; None if it has none.

    Args:
        is_output: Returns whether a text is the output of a program whose output is read.
    """
    text = decoded(content)
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    values = [("", one) for one in _documents(text)][::-1]
    while values:
        place, value = values.pop()
        if isinstance(value, str) and "\n" in value and is_output(value.encode()):
            command = f"jq -r {shlex.quote(place)} {as_argument(path)} | mpigauge show -"
            return UsageError(f"{path}: is JSON, in which {place} is the output of a program", command)
        if isinstance(value, dict):
            values += [(f"{place}{_key(name)}", below) for name, below in reversed(value.items())]
        elif isinstance(value, list):
            values += [(f"{place or '.'}[{at}]", below) for at, below in reversed([*enumerate(value)])]
    return None


def _documents(text: str) -> Iterator[object]:
    """Yield the JSON documents in a text: it is one, or its lines are."""
    try:
        yield json.loads(text)
    except (ValueError, RecursionError):
        for line in text.splitlines():
            with suppress(ValueError, RecursionError):
                yield json.loads(line)


def _key(name: str) -> str:
    """Return how jq names a value of an object."""
    return f".{name}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f".{_quoted(name)}"


def columns_example(file: str, size: str, value: str) -> str:
    """Return an example of how to describe the columns of a table: a command, and the file it needs."""
    rated = _NAME_OF_RATE.search(value) is not None
    kind, unit, pattern = ("rate", "MB/s", "stream") if rated else ("time", "us", "pingpong")
    lines = [
        f"mpigauge import csv {as_argument(Path(file))} --columns table.toml",
        "reads any table with a heading, with such a table.toml:",
        '  title = "what was measured, and by whom"',
        f"  bytes = {{ column = {_quoted(size)} }}",
        f'  {kind} = {{ column = {_quoted(value)}, unit = "{unit}" }}',
        f'  pattern = "{pattern}"',
    ]
    return "\n".join(f"{INDENT}{line}" for line in lines)


def _quoted(name: str) -> str:
    """Return a name as a TOML string."""
    return json.dumps(name, ensure_ascii=False)


def _formats_read() -> str:
    """Return the list of formats that are read, wrapped to the width of a terminal."""
    programs = [reader.program for reader in READERS.values() if reader.program]
    whole = f"mpigauge run writes one; output that is read: {', '.join(programs)}"
    lines = textwrap.wrap(whole, WIDTH - len(INDENT), break_long_words=False, break_on_hyphens=False)
    return f"\n{INDENT}".join(lines)


def _fields(text: str) -> tuple[str, ...]:
    """Return the headings of the first line that seems to have some, else those used in examples."""
    for line in text.splitlines()[:100]:
        for sign in (",", ";", "\t"):
            names = [name.strip().strip('"') for name in line.removeprefix("#").split(sign)]
            if len(names) > 1 and all(
                re.fullmatch(r"[A-Za-z#][\w ()/\[\]#%.-]{0,30}", name) for name in names
            ):
                return tuple(names)
    return (SIZE, TIME)
