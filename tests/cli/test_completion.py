"""Completion as bash does it: with the printed script, and what a tab would offer."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.launchers import LAUNCHERS
from mpigauge.cli import COMMANDS
from mpigauge.mpi.kinds import KINDS
from mpigauge.plan import names, shipped
from mpigauge.show import figures
from mpigauge.show.columns import EXTRA_COLUMNS
from tests.unit.test_house import loaded_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Cli

    Tab = Callable[..., list[str]]

TAB = """
eval "$(mpigauge completion bash)"
[ "$(complete -p mpigauge)" = "complete -o nosort -F _mpigauge_completion mpigauge" ] || exit 9
compopt() { echo "the shell's own files"; }
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_mpigauge_completion mpigauge
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""A tab after the words of the script; outside of a real completion there is no compopt."""


@pytest.fixture
def tab(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Tab:
    """What bash offers after some words, the last of which is not finished."""
    program = machine / "bin" / "mpigauge"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m mpigauge "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:/usr/bin:/bin"}

    def offered(*words: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-c", TAB, "bash", "mpigauge", *words],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        assert done.stderr == ""
        return list(filter(None, done.stdout.split("\n")))

    return offered


@pytest.mark.thorough
def test_verbs_options_and_choices(tab: Tab) -> None:
    assert tab("") == list(COMMANDS)
    assert tab("re") == ["resume", "report"]
    assert tab("mpi", "") == ["add", "list", "remove"]
    assert tab("run", "--bu") == ["--buffers", "--budget"]
    assert tab("show", "r.jsonl", "--color", "") == ["auto", "always", "never"]
    assert tab("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.thorough
def test_names_of_the_registries(tab: Tab) -> None:
    assert tab("run", "") == names.patterns()
    assert tab("run", "pingpong", "ping") == []
    assert tab("plot", "r.jsonl", "--kind", "") == list(figures.KINDS)
    assert tab("run", "--mpi", "") == [kind.name for kind in KINDS]
    assert tab("run", "--launcher", "") == list(LAUNCHERS)
    assert tab("show", "r.jsonl", "--columns", "") == [*EXTRA_COLUMNS, "all"]
    assert tab("run", "--mode", "non") == ["nonblocking"]
    assert tab("run", "--plan", "") == list(shipped.plans())
    assert tab("mpi", "add", "--plan", "ver") == ["versions"]
    assert tab("explain", "--claims", "") == [*shipped.files(shipped.CLAIMS), "all"]
    assert tab("import", "csv", "--columns", "ring") == ["ring-pairs"]


@pytest.mark.thorough
def test_names_of_reductions_roots_and_placements(tab: Tab) -> None:
    assert tab("run", "--op", "sum,l") == ["sum,land", "sum,lor", "sum,lxor"]
    assert set(tab("run", "--datatype", "")) >= {"double", "uint8", "all"}
    assert tab("run", "--root", "") == ["rotating"]
    assert tab("run", "--placement", "") == ["same-host", "different-hosts"]


@pytest.mark.thorough
def test_words_between_commas_are_completed_one_by_one(tab: Tab) -> None:
    assert tab("show", "r.jsonl", "--columns", "mean,std") == ["mean,stddev"]
    assert tab("show", "r.jsonl", "--columns", "stddev,std") == []
    assert tab("run", "--sync", "common,") == ["common,barrier", "common,mpi_barrier"]


@pytest.mark.thorough
def test_libraries_that_were_added(tab: Tab, machine: Path) -> None:
    (machine / "home" / ".local" / "share" / "mpigauge" / "mpi" / "mpich-4.3.2").mkdir(parents=True)
    assert tab("run", "--mpi", "mpich") == ["mpich", "mpich==4.3.2"]
    assert tab("mpi", "remove", "") == ["mpich==4.3.2"]


@pytest.mark.thorough
def test_files_of_the_kind_that_is_wanted(tab: Tab, machine: Path) -> None:
    folder = machine / "work" / "here"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl.gz", "plan.toml", "notes.txt"):
        (folder / name).touch()
    assert tab("show", "here/") == ["here/a.jsonl", "here/b.jsonl.gz"]
    assert tab("run", "--plan", "here/p") == ["here/plan.toml"]
    assert tab("sbatch", "--array", "here/") == ["here/plan.toml"]
    assert tab("show", "he") == ["the shell's own files"]
    assert tab("show", "nowhere/") == ["the shell's own files"]
    (folder / "a file.jsonl").touch()
    assert tab("show", "here/") == ["the shell's own files"]


@pytest.mark.thorough
def test_verbs_that_take_words_of_run_offer_them(tab: Tab) -> None:
    assert set(tab("sbatch", "--n")) == {"--nodes", "--np"}
    assert tab("kernel", "plan", "ping") == ["pingpong"]
    assert "--sizes" in tab("kernel", "plan", "--")


@pytest.mark.thorough
def test_a_tab_after_what_is_no_verb_says_nothing_of_it(tab: Tab) -> None:
    assert tab("nonsense", "--") == tab("--")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(cli: Cli, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = cli("completion", shell)
    assert (done.status, done.err) == (0, "")
    assert "_MPIGAUGE_COMPLETE" in done.out
    assert "mpigauge" in done.out


@pytest.mark.parametrize("words", ["mpigauge run ", "mpigauge show r --columns m", "mpigauge plot r --kind "])
def test_a_tab_does_not_wait_for_what_computes(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes a program slow to start is not loaded, so it answers about as quickly as --help."""
    monkeypatch.setenv("_MPIGAUGE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words.replace(" ", "\n"))
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert not {"numpy", "scipy", "matplotlib", "rich"} & loaded_by()
