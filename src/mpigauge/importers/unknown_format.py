"""Error for a text that is not read: what it seems to be, what is read, how to describe its columns.

MARKS is the one list of programs that are known by name alone.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

from mpigauge.errors import UsageError
from mpigauge.importers import READERS
from mpigauge.importers.text import content_of, decoded
from mpigauge.result.files import as_argument

MARKS = {
    "GPCNeT": r"^Network Tests v[0-9]|^[| ]{0,200}(?:Isolated Network Tests|Network Tests running with)\b",
    "UCC perftest": r"^[ \t]{0,40}Count {1,40}Size {1,40}Time, us\b|\bucc_perftest\b",
    "HPC Challenge": r"^[ \t]{0,40}Max Ping Pong Latency: {1,40}[0-9]|\bHPC Challenge\b",
    "iperf3": r'"version":\s*"iperf 3|^\[ *ID\] Interval +Transfer +Bitrate',
    "iperf": r"^\[ *ID\] Interval +Transfer +Bandwidth",
    "sockperf": r"^sockperf: ",
    "qperf": r"^(?:tcp|udp|sdp|rds|rc|uc|ud|xrc)_(?:rdma_)?(?:read_|write_)?(?:bi_)?(?:bw|lat):",
    "netperf": r"^(?:MIGRATED )?(?:TCP|UDP|SCTP) [A-Z/_]+ TEST from ",
    "gloo's benchmark": r"^Algorithm: +\w+$|^ +(?:size \(B\) +)?elements +min \(us\)",
    "Google Benchmark": r"^Benchmark +Time +CPU +Iterations\b|\"library_build_type\":",
    "NVSHMEM perftest": r"^mype: [0-9]+ mype_node: [0-9]+|\bshmem_(?:put|get|p|g)_(?:bw|latency)\b",
    "mpptest": r"^\S{0,200}?mpptest\b",
    "SKaMPI": r"^# SKaMPI\b|^(?:# )?begin result \"",
    "ReproMPI": r"\bReproMPI\b",
    "LinkTest": r"^(?:fzj-?)?link ?test\b",
    "mpiGraph": r"^START mpiGraph\b",
    "mpiBench": r"^START mpiBench\b",
    "STREAM, which measures memory": r"^Function +Best Rate MB/s",
    "HPL": r"^HPLinpack\b",
}
"""Marks in the output of programs that are not read. Source: their posted outputs."""

_MARKS = {name: re.compile(mark, re.MULTILINE) for name, mark in MARKS.items()}
_NAME_OF_SIZE = re.compile(r"(?i)size|bytes|length")
_NAME_OF_RATE = re.compile(r"(?i)bandwidth|throughput|rate|bw|/s")
NUL = "\0"
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
    text = decoded(content_of(path))[:SEARCHED_CHARACTERS]
    if NUL in text:
        return not_a_result
    name = guess_program(text)
    what = f"it seems to be output of {name}, which is not read" if name else "its format is not known"
    sentence = f"{not_a_result.sentence}; {what}"
    fields = _fields(text)
    size = next((name for name in fields if _NAME_OF_SIZE.search(name)), fields[0])
    value = next((name for name in fields if name != size), TIME)
    return UsageError(sentence, f"{_formats_read()}\n{columns_example(str(path), size, value)}")


def guess_program(text: str) -> str:
    """Return the program whose output a text seems to be; empty if nothing tells."""
    start = text[:SEARCHED_CHARACTERS]
    found = {name: match.start() for name, mark in _MARKS.items() if (match := mark.search(start))}
    return min(found, key=lambda name: found[name], default="")


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
