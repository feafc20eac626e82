"""Commands that are printed with a file in them do what they say when they are pasted into bash."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_USAGE
from mpigauge.result.files import as_argument, resume_command

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

BASH = shutil.which("bash") or "/bin/bash"
"""Tests may have a PATH without it."""

NAMES = (
    "-x.jsonl",
    "--all.jsonl",
    "a b.jsonl",
    " .jsonl",
    "a\nb.jsonl",
    "a\r\tb\n.jsonl",
    "it's.jsonl",
    "it's\n\\n\".jsonl",
    '"quoted".jsonl',
    "$(touch X)`touch Y`.jsonl",
    "a;b&c|d>e.jsonl",
    "back\\slash.jsonl",
    "*?[a].jsonl",
    "~.jsonl",
    "!!.jsonl",
    "\x1b[31mred\x7f.jsonl",
    "\N{NO-BREAK SPACE}\N{RIGHT-TO-LEFT OVERRIDE}é.jsonl",
    os.fsdecode(b"\xff\xfe.jsonl"),
)


def typed(command: str) -> list[str]:
    """The words that a program has of a command that is pasted into bash."""
    program = [BASH, "--norc", "--noprofile", "-c", f"mpigauge() {{ printf '%s\\0' \"$@\"; }}\n{command}"]
    out = subprocess.run(program, stdout=subprocess.PIPE, check=True).stdout
    return [os.fsdecode(word) for word in out.split(b"\0")[:-1]]


def commands(printed: str) -> list[str]:
    """The commands of lines that have one, behind what it is for."""
    return [
        line[line.index("mpigauge ") :]
        for line in printed.splitlines()
        if ": " in line and "mpigauge " in line
    ]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_bash_reads_a_file_as_it_is_called(name: str) -> None:
    command = resume_command(Path(name), "--trust")
    assert command.isprintable()
    verb, option, word = typed(command)
    assert (verb, option, Path(word)) == ("resume", "--trust", Path(name))
    assert not word.startswith("-")


def test_an_ordinary_name_stands_as_it_is() -> None:
    assert as_argument(Path("results/node1.jsonl")) == "results/node1.jsonl"


@pytest.fixture
def measured(cli: Cli, fake_mpi: Install) -> Path:
    """A result."""
    fake_mpi("openmpi")
    words = ("--sizes", "8", "--launches", "2", "--samples", "30", "-q", "-o", "r.jsonl")
    assert cli("run", "pingpong", *words).status == EXIT_DONE
    return Path("r.jsonl")


def test_next_steps_find_the_file(cli: Cli, measured: Path) -> None:
    for name in NAMES:
        shutil.copy(measured, name)
        found = commands(cli("show", f"./{name}").out)
        assert len(found) >= 3, name
        for command in found:
            assert any(Path(word) == Path(name) for word in typed(command)), (name, command)
        Path(name).unlink()


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_hints_find_the_file(cli: Cli, measured: Path, name: str) -> None:
    """That it is there already, and that it is no pattern."""
    shutil.copy(measured, name)
    for words in (("run", "pingpong", "-o", f"./{name}"), ("run", f"./{name}")):
        done = cli(*words)
        assert done.status == EXIT_USAGE
        (command,) = commands(done.err)
        assert any(Path(word) == Path(name) for word in typed(command)), command


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("-")], ids=ascii)
def test_a_hint_repeats_words_as_they_were_typed(cli: Cli, machine: Path, name: str) -> None:
    (command,) = commands(cli("--launches", "3", name).err)
    assert command.isprintable()
    assert typed(command)[-1] == name


@pytest.mark.parametrize("name", ["-x.jsonl", "--x$(touch X)", "--a;b c"])
def test_a_file_that_is_taken_for_an_option_is_named_for_a_shell(cli: Cli, machine: Path, name: str) -> None:
    """A pattern of the shell gives whatever a folder has."""
    Path(name).touch()
    said = cli("show", name).err
    (word,) = typed(f"mpigauge {said.partition('write ')[2].partition(' for the file')[0]}")
    assert word == f"./{name}"
