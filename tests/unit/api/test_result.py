"""`import mpigauge`: what the command line says, as objects, with the sentences of its errors."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import mpigauge
from mpigauge.errors import UsageError
from tests.made import campaign, cell, launches_of, lines_of, measured, written
from tests.unit.test_house import SLOW

if TYPE_CHECKING:
    from tests.conftest import Cli

SIZES = (8, 1024, 65536, 1048576)
BUILDS = ("main", "pr")
STRANGE = "<script>alert(1)</script>\x1b[31m&\"'"
"""What no page may take for markup, and no terminal for a code."""


def cells() -> list[Any]:
    return [cell(size=size, mpi=mpi) for mpi in ("openmpi", "mpich") for size in SIZES]


def records_of(title: str = "a test", factor: float = 1.0) -> list[Any]:
    """Two libraries in six launches; one takes twice as long."""
    found = cells()

    def law(of: Any, number: int) -> list[int]:
        slow = 2 if of.mpi == "mpich" else 1
        return [int((1000 + of.bytes) * slow * factor) + number + turn for turn in range(20)]

    numbers = range(1, 7)
    return [campaign(*found, title=title), *launches_of(found, numbers), *measured(found, numbers, law)]


@pytest.fixture
def result(machine: Path) -> mpigauge.Result:
    """One that is a file where we are."""
    return mpigauge.load(written("r.jsonl", *records_of()))


# ---- Names ---------------------------------------------------------------------------------------


def test_every_name_of_the_interface_is_there_and_listed() -> None:
    assert set(mpigauge.__all__) <= set(dir(mpigauge))
    assert all(getattr(mpigauge, name) is not None for name in mpigauge.__all__)
    assert mpigauge.API_VERSION == 1
    with pytest.raises(AttributeError, match="surprise"):
        _ = mpigauge.surprise  # type: ignore[attr-defined]


def test_to_import_it_imports_nothing() -> None:
    text = "import sys, mpigauge; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert not (SLOW | {"click", "typing", "asyncio"}) & set(done.stdout.split())


# ---- Loading -------------------------------------------------------------------------------------


def test_a_file_a_compressed_one_and_the_newest_of_a_folder_are_the_same(result: mpigauge.Result) -> None:
    folder = Path("folder")
    folder.mkdir()
    (folder / "r.jsonl.gz").write_bytes(gzip.compress(Path("r.jsonl").read_bytes()))
    assert mpigauge.load("folder").rows()["time_estimate_s"] == result.rows()["time_estimate_s"]
    assert mpigauge.load("folder").paths == (folder / "r.jsonl.gz",)


def test_what_is_no_result_is_a_sentence(machine: Path) -> None:
    Path("other.txt").write_text("hello\n", encoding="utf-8")
    for path in ("other.txt", "nothing.jsonl"):
        with pytest.raises(UsageError, match=path):
            mpigauge.load(path)


def test_several_files_are_asked_together(result: mpigauge.Result) -> None:
    written("again.jsonl", *records_of(factor=1.5))
    both = mpigauge.load("r.jsonl", Path("again.jsonl"))
    assert len(both.rows()) == 2 * len(result.rows())
    assert set(both.rows()["file"]) == {"r.jsonl", "again.jsonl"} == set(both.samples()["file"])
    assert [one["file"] for one in both.contexts] == ["r.jsonl", "again.jsonl"]


# ---- Asking --------------------------------------------------------------------------------------


def test_rows_are_those_of_json_on_one_level(result: mpigauge.Result, cli: Cli) -> None:
    deep = json.loads(cli("show", "r.jsonl", "--format", "json").out)
    assert deep == result.as_dict()
    for row, record in zip(result.rows(), deep["rows"], strict=True):
        assert row["time_low_s"] == record["time_s"]["low"]
        assert row["bytes"] == record["bytes"]
        assert row["warnings"].split() == record["warnings"]
        assert row["kappa_low"] == (record["kappa"] or {}).get("low")


def test_the_context_and_the_summary_are_those_of_json(result: mpigauge.Result) -> None:
    whole = result.as_dict()
    assert result.context == whole["context"]
    assert [one["quantity"] for one in result.summary] == [one["quantity"] for one in whole["answer"]]
    for one in result.summary:
        assert one["low"] <= one["value"] <= one["high"]


def test_cells_are_chosen_by_pattern_size_and_series(result: mpigauge.Result) -> None:
    assert set(result.rows(sizes="8,1KiB")["bytes"]) == {8, 1024}
    assert result.rows(sizes=[8, 1024])["bytes"] == result.rows(sizes="8,1KiB")["bytes"]
    assert set(result.rows(series="mpich")["mpi"]) == {"mpich"}
    assert len(result.rows(pattern="pingpong")) == 8
    assert set(result.samples(sizes=8)["bytes"]) == {8}
    assert set(result.samples(series=["mpich"], sizes=8)["mpi"]) == {"mpich"}
    assert len(result.samples()) == 8 * 6 * 20
    for table in (result.rows, result.samples):
        with pytest.raises(UsageError, match="'barrier'"):
            table(pattern="barrier")
    with pytest.raises(UsageError, match="no series has"):
        result.rows(series="intelmpi")
    with pytest.raises(UsageError, match="does not know the state"):
        result.samples(state="near")


def test_a_comparison_is_that_of_the_command_line(result: mpigauge.Result, cli: Cli) -> None:
    found = result.compare(by="mpi")
    said = json.loads(cli("compare", "r.jsonl", "--by", "mpi", "--format", "json").out)
    assert (found.verdict, len(found.cells)) == (said["verdict"], len(said["cells"]))
    assert found.verdict in {"slower", "faster"}
    assert found.text == cli("compare", "r.jsonl", "--by", "mpi").out == str(found)
    assert found.as_dict() == {**said, "contexts": found.as_dict()["contexts"]}
    assert found.cells["other_mpi"][0] != found.cells["mpi"][0]


def test_another_result_is_compared_with_it(result: mpigauge.Result) -> None:
    path = written("after.jsonl", *records_of(factor=2))
    assert result.compare(path).verdict == result.compare(mpigauge.load(path)).verdict != "same"
    with pytest.raises(UsageError, match="two are named"):
        result.compare(path, by="mpi")


def test_a_model_predicts(result: mpigauge.Result) -> None:
    model = result.model(predict="3KiB", series="openmpi")
    assert len(model.curves) == 1
    assert {"first_bytes", "alpha_s_value", "mpi"} <= set(model.segments.columns)
    (one,) = model.predictions
    assert one["bytes"] == 3072
    assert one["low_s"] < one["time_s"] < one["high_s"]
    assert model.as_dict()["format"] == "mpigauge-model"


def test_sentences_have_their_facts(result: mpigauge.Result, cli: Cli) -> None:
    found = result.explain()
    said = json.loads(cli("explain", "r.jsonl", "--format", "json").out)["conclusions"]
    assert [str(one) for one in found] == [one["text"] for one in said]
    assert len(found) == len(said) > 0
    first = found.sentences[0]
    assert (first.kind, first.launches, first.value) == (said[0]["kind"], 6, said[0]["value"])


# ---- In a page -----------------------------------------------------------------------------------


class Tags(HTMLParser):
    """What tags a page has, and what it says."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.said = ""
        self.feed(text)

    def handle_starttag(self, tag: str, _: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.said += data


def test_names_of_users_are_no_markup(machine: Path) -> None:
    first, *others = records_of(title=STRANGE)
    host = replace(first.environment, host=STRANGE, cpu=STRANGE)
    Path("r.jsonl").write_bytes(lines_of(replace(first, environment=host), *others))
    result = mpigauge.load("r.jsonl")
    shown: list[Any] = [
        result,
        result.rows(),
        result.summary,
        result.compare(by="mpi"),
        result.model(),
        result.explain(),
    ]
    for one in shown:
        page = Tags(one._repr_html_())
        assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "div"}
        assert "\x1b" not in page.said
    assert "<script>" in Tags(result._repr_html_()).said


def test_a_long_table_is_cut_in_a_page(result: mpigauge.Result) -> None:
    page = Tags(result.samples()._repr_html_()).said
    assert f"{8 * 6 * 20 - 20} more rows" in page
    assert repr(result.rows()).startswith("<mpigauge.Table: 8 rows")


def test_without_a_name_and_a_result_it_says_what_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="results: no result is there"):
        mpigauge.load()
