"""Tables of large results: kept as long as nothing that they are of has changed, and by nobody else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge import cache
from mpigauge.cli.screen import table_cache
from mpigauge.cli.screen.table_cache import MAX_KEPT, TableCache
from tests.made import campaign, cell, launches_of, measured, written

if TYPE_CHECKING:
    from tests.conftest import Cli

CELLS = [cell(size=8), cell(size=64)]
HERE = Path("r.jsonl")


@pytest.fixture(autouse=True)
def result(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A result that counts as large."""
    monkeypatch.setattr(table_cache, "LARGE_BYTES", 1)
    return save(100)


def save(time_ns: int) -> Path:
    visits = measured(CELLS, [1, 2], lambda _, number: [time_ns + number, time_ns - number, time_ns])
    return written(str(HERE), campaign(*CELLS), *launches_of(CELLS, [1, 2]), *visits)


def kept() -> list[Path]:
    return [*(cache.user_cache("") / "tables").iterdir()]


def test_the_same_is_shown_again_and_computed_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    first = cli("show", HERE, "--all")
    monkeypatch.delattr("mpigauge.result.reader.load")
    assert cli("show", HERE, "--all") == first
    assert first.status == 0


def test_a_result_is_read_for_its_contents_before_and_after_and_no_third_time(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    contents = table_cache._contents

    def counted(path: Path) -> str:
        read.append(path)
        return contents(path)

    monkeypatch.setattr(table_cache, "_contents", counted)
    assert cli("show", HERE, "--all").status == 0
    assert read == [HERE, HERE]


def test_what_a_campaign_ends_with_is_shown_again_at_once(
    cli: Cli, openmpi: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own answer is what is asked for first."""
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "2", "--seed", "1", "-q")
    assert done.status == 0
    monkeypatch.delattr("mpigauge.result.reader.load")
    shown = cli("show")
    assert shown.status == 0
    assert shown.out in done.out


@pytest.mark.parametrize(
    "words", [("--sizes", "8"), ("--format", "json"), ("--unit", "us"), ("--stat", "min")]
)
def test_another_question_is_computed(cli: Cli, words: tuple[str, ...]) -> None:
    plain = cli("show", HERE, "--all").out
    assert cli("show", HERE, "--all", *words).out != plain
    assert len(kept()) == 2


def test_another_content_is_computed(cli: Cli) -> None:
    before = cli("show", HERE, "--all").out
    save(900)
    assert cli("show", HERE, "--all").out != before


def test_another_program_computes_again(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cli("show", HERE)
    monkeypatch.setattr(table_cache, "OUR_FOLDER", tmp_path)
    (tmp_path / "new.py").write_text("", encoding="ascii")
    cli("show", HERE)
    assert len(kept()) == 2


def test_a_file_that_grows_meanwhile_is_not_kept() -> None:
    known = TableCache([HERE], "what")
    save(900)
    known.keep("of both")
    assert TableCache([HERE], "what").find() is None


@pytest.mark.parametrize("text", ["", "half a ta", "\xff\xfe"])
def test_a_damaged_table_is_computed_again_and_said_once(cli: Cli, text: str) -> None:
    first = cli("show", HERE)
    (path,) = kept()
    path.write_text(text, encoding="latin-1")
    again = cli("show", HERE)
    assert (again.status, again.out) == (first.status, first.out)
    assert again.err.splitlines() == [
        *first.err.splitlines(),
        f"mpigauge: {path}: is damaged, and is made anew",
    ]
    assert cli("show", HERE) == first


def test_a_folder_in_the_place_of_a_table_does_no_harm(cli: Cli) -> None:
    first = cli("show", HERE)
    (path,) = kept()
    path.unlink()
    path.mkdir()
    assert cli("show", HERE) == first


def test_what_somebody_else_may_have_put_there_is_not_shown(cli: Cli) -> None:
    first = cli("show", HERE)
    (path,) = kept()
    path.write_text("faster than light", encoding="ascii")
    path.chmod(0o666)
    assert cli("show", HERE) == first
    path.parent.chmod(0o777)
    path.write_text("faster than light", encoding="ascii")
    path.chmod(0o644)
    assert cli("show", HERE) == first


def test_a_cache_that_cannot_be_written_stops_nobody(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    assert cli("show", HERE).status == 0


def test_small_results_and_what_comes_by_a_pipe_are_not_kept(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_cache, "LARGE_BYTES", 1 << 30)
    cli("show", HERE)
    TableCache([Path("-")], "what").keep("text")
    assert not (cache.user_cache("") / "tables").exists()


@pytest.mark.thorough
def test_only_the_last_are_kept() -> None:
    for number in range(MAX_KEPT + 3):
        TableCache([HERE], str(number)).keep("text")
    assert len(kept()) == MAX_KEPT
    assert TableCache([HERE], str(MAX_KEPT + 2)).find() == "text"
