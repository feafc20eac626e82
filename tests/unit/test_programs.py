"""Programs are searched for in the absolute folders of PATH, never in the folder that we are in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.process import RunningJob
from mpigauge.errors import EnvironmentLacksError
from mpigauge.programs import OUTPUT_MOST, which, with_program_path, within_bounds
from mpigauge.vocabulary import GAP
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from pathlib import Path

RELATIVE = ("", ".", "./", "bin", "bin/..", "~/bin")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program in it and below it, which is where we are."""
    folder = tmp_path / "here"
    (folder / "bin").mkdir(parents=True)
    for place in (folder, folder / "bin"):
        write_program(place / "tool", "exit 0\n", "#!/bin/sh\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("word", RELATIVE)
def test_a_word_of_path_that_is_not_absolute_does_not_count(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("PATH", word)
    assert which("tool") is None
    assert which("tool", f"{word}{os.pathsep}/nonsense") is None
    with pytest.raises(FileNotFoundError, match="tool"):
        with_program_path(["tool", "--version"], {"PATH": word})


def test_an_absolute_folder_counts_also_behind_others(here: Path) -> None:
    path = os.pathsep.join((*RELATIVE, str(here / "bin")))
    assert which("tool", path) == str(here / "bin" / "tool")
    assert with_program_path(["tool", "-v"], {"PATH": path}) == [str(here / "bin" / "tool"), "-v"]


def test_a_path_that_somebody_has_written_is_taken_as_it_is() -> None:
    assert which("./tool", "/nonsense") == "./tool"
    assert with_program_path(["bin/tool", "-v"], {}) == ["bin/tool", "-v"]
    assert with_program_path(["./absent"], {}) == ["./absent"]


def test_a_launcher_is_not_taken_from_the_folder_that_we_are_in() -> None:
    with (
        pytest.raises(EnvironmentLacksError, match="tool: cannot be started"),
        RunningJob(["tool"], {"PATH": "."}),
    ):
        pass


def test_of_endless_output_the_begin_and_the_end_are_kept() -> None:
    assert within_bounds("why") == "why"
    said = f"begin{'.' * OUTPUT_MOST}end"
    kept = within_bounds(said)
    assert len(kept) <= OUTPUT_MOST + len(GAP) + 2
    assert (kept[:5], kept[-3:]) == ("begin", "end")
    assert f"\n{GAP}\n" in kept
