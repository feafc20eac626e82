"""Programs that are built once and run often: only those that nobody else can have put there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from mpigauge import cache
from mpigauge.errors import EnvironmentLacksError

if TYPE_CHECKING:
    from pathlib import Path

OURS = "ours"


def built(program: Path) -> str:
    """What is run."""

    def write(path: Path) -> None:
        path.write_text(OURS, encoding="ascii")

    cache.made(program, "the program", write)
    return program.read_text(encoding="ascii")


def test_what_is_there_is_not_built_again(tmp_path: Path) -> None:
    program = tmp_path / "built" / "program"
    assert built(program) == OURS
    program.write_text("as it was", encoding="ascii")
    assert built(program) == "as it was"


@pytest.mark.parametrize("writable", ["program", "folder"])
@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_what_others_may_have_changed_is_built_again(tmp_path: Path, writable: str, mode: int) -> None:
    program = tmp_path / "built" / "program"
    program.parent.mkdir()
    program.write_text("theirs", encoding="ascii")
    (program if writable == "program" else program.parent).chmod(mode)
    assert built(program) == OURS
    for path in (program, program.parent):
        assert not path.stat().st_mode & 0o022


def test_a_folder_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "built" / "program"
    program.parent.mkdir()
    program.write_text("theirs", encoding="ascii")
    monkeypatch.setattr(os, "geteuid", lambda: program.stat().st_uid + 1)
    if program.stat().st_uid == 0:
        os.chown(program, 1, 1)
        os.chown(program.parent, 1, 1)
    with pytest.raises(EnvironmentLacksError, match="belongs to another user"):
        built(program)
    assert program.read_text(encoding="ascii") == "theirs"
