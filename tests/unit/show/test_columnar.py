"""Columns: what goes in comes out, by type; and every sample of a result is there once."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.columnar import columns_of, concatenated, dictionary_encoded, iterate_rows, row_count
from mpigauge.errors import EnvironmentLacksError
from mpigauge.rows.rows import rows
from mpigauge.rows.samples import by_cell, by_launch
from mpigauge.show import samples
from mpigauge.show.formats import parquet, render, write
from mpigauge.show.records import flat_record
from mpigauge.show.schema import Show, kinds_of_rows
from tests.made import SMALL, campaign, launch, result_of, visit
from tests.unit.show.tabled import ALLREDUCE, EVERYTHING, SMALL_RESULT, document_of, known

if TYPE_CHECKING:
    from mpigauge.document.columnar import Columns
    from mpigauge.result.reader import Result

ONE_TYPE = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False),
    "flag": st.booleans(),
    "text": st.text(max_size=4),
}
records = st.lists(
    st.fixed_dictionaries({}, optional={kind: st.none() | values for kind, values in ONE_TYPE.items()}),
    max_size=5,
)
RESULTS = (SMALL_RESULT, EVERYTHING, known(ALLREDUCE))


@given(records)
def test_records_come_back_as_they_were(found: list[dict[str, Any]]) -> None:
    columns = columns_of(found)
    names = list(columns)
    assert [*iterate_rows(columns)] == [{name: one.get(name) for name in names} for one in found if names]
    for name, values in columns.items():
        assert values.kind == name or set(values) <= {None}


def test_what_is_no_scalar_is_text_and_numbers_mix() -> None:
    columns = columns_of([{"a": 1, "b": {"x": 1}, "c": None}, {"a": 0.5, "b": [1]}])
    assert [columns[name].kind for name in "abc"] == ["number", "text", "number"]
    assert [*columns["b"]] == ['{"x": 1}', "[1]"]
    assert row_count(columns_of([], names=["a"])) == 0


@given(st.lists(st.lists(st.none() | st.text(max_size=2), min_size=1, max_size=4), min_size=1, max_size=4))
def test_pieces_are_joined_in_their_order(parts: list[list[str | None]]) -> None:
    pieces = [{"a": dictionary_encoded("text", part, np.arange(len(part)))} for part in parts]
    assert [*concatenated(pieces)["a"]] == [value for part in parts for value in part]


# ---- Rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("result", RESULTS)
def test_json_is_what_its_schema_says(result: Result) -> None:
    text = render(document_of(result), "json")
    whole: Any = msgspec.json.decode(text.encode(), type=Show)
    assert (whole.format, whole.version) == ("mpigauge-show", 1)
    assert whole.context.host == "node1"


def test_a_field_that_no_type_knows_is_found() -> None:
    whole = json.loads(render(document_of(SMALL_RESULT), "json"))
    whole["rows"][0]["surprise"] = 1
    with pytest.raises(msgspec.ValidationError, match="surprise"):
        msgspec.convert(whole, Show)


@pytest.mark.parametrize("result", RESULTS)
def test_rows_have_the_columns_that_the_schema_says_in_its_types(result: Result) -> None:
    kinds = kinds_of_rows()
    found = [flat_record(row) for row in rows(result)]
    assert all(set(record) == set(kinds) for record in found)
    for name, values in columns_of(found).items():
        assert values.kind == kinds[name] or set(values) <= {None} or kinds[name] == "number", name


def test_a_line_of_csv_says_where_it_is_from_and_has_no_empty_column() -> None:
    lines = [*csv.DictReader(io.StringIO(render(document_of(SMALL_RESULT), "csv")))]
    for line in lines:
        assert (line["host"], line["cpu"], line["seed"]) == ("node1", "Some CPU", "7")
        assert line["libraries"] == "openmpi 5.0.11"
        assert line["started"].startswith("2026-01-01")
    assert all(any(line[name] for line in lines) for name in lines[0])


def test_a_pair_is_no_date() -> None:
    of = msgspec.structs.replace(SMALL, pair="1-3", ranks=4)
    result = result_of(campaign(of), launch(1), visit(1, 0, of, [200] * 20))
    (line,) = csv.DictReader(io.StringIO(render(document_of(result), "csv")))
    assert "pair" not in line
    assert (line["pair_first"], line["pair_second"]) == ("1", "3")


# ---- Samples -------------------------------------------------------------------------------------


def samples_of(result: Result, **chosen: Any) -> Columns:
    return concatenated([*samples.pieces([samples.choose_samples(result, **chosen)], most=7)])


@pytest.mark.parametrize("result", RESULTS)
def test_every_sample_is_there_once_with_its_cell_and_time(result: Result) -> None:
    found = [*iterate_rows(samples_of(result))]
    assert len(found) == sum(len(one.samples_ns) for one in result.visits)
    expected = [(one, number) for one in result.visits for number in range(len(one.samples_ns))]
    for row, (of, number) in zip(found, expected, strict=True):
        assert (row["launch"], row["visit"], row["sample"]) == (of.launch, of.id, number)
        assert row["time_s"] == pytest.approx(of.samples_ns[number] * 1e-9 / of.ops)
        assert {name: row[name] for name in samples.NAMES} == msgspec.structs.asdict(of.cell)


def test_a_sample_says_where_it_is_from() -> None:
    lines = [
        *csv.DictReader(io.StringIO(render(samples.document([samples.choose_samples(SMALL_RESULT)]), "csv")))
    ]
    for line in lines:
        assert (line["host"], line["mpigauge"]) == ("node1", SMALL_RESULT.campaign.mpigauge)
        assert line["started"].startswith("2026-01-01")
        assert (line["mpi"], line["mpi_version"]) == ("openmpi", "5.0.11")


def test_what_is_in_an_estimate_is_what_estimates_are_made_of() -> None:
    """Late rounds and wrong payloads are there, and say that they do not count."""
    late = visit(1, 1, SMALL, [900, 200], late=[0])
    wrong = visit(2, 0, SMALL, [1, 2], corrupt="rank 1 received 0xa5")
    result = result_of(campaign(SMALL), launch(1), visit(1, 0, SMALL, [210]), late, launch(2), wrong)
    columns = samples_of(result)
    counted = [row["time_s"] for row in iterate_rows(columns) if row["in_estimate"]]
    used = [value for mine in by_cell(result.visits).values() for one in by_launch(mine) for value in one]
    assert counted == [pytest.approx(value) for part in used for value in part.tolist()]
    assert row_count(columns) == 5


def test_samples_are_chosen_by_cell_and_a_result_without_any_has_the_columns() -> None:
    some = samples_of(SMALL_RESULT, keep=lambda cell: cell.bytes == 8)
    assert set(some["bytes"]) == {8}
    none = samples_of(SMALL_RESULT, keep=lambda _: False)
    assert row_count(none) == 0
    assert set(none) == set(some)


def test_samples_as_csv_are_the_same_in_every_size_of_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    document = samples.document([samples.choose_samples(SMALL_RESULT)])
    whole = render(document, "csv")
    monkeypatch.setattr("mpigauge.show.formats.csv.ROWS_AT_ONCE", 3)
    assert render(document, "csv") == whole
    assert len(whole.splitlines()) == 1 + sum(len(one.samples_ns) for one in SMALL_RESULT.visits)


# ---- Parquet -------------------------------------------------------------------------------------


@pytest.fixture(params=["pyarrow", "duckdb"])
def writer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A library that writes Parquet, as if no other were installed; one reads it."""
    name: str = request.param
    pytest.importorskip(name)
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(parquet, "find_spec", lambda other: object() if other == name else None)
    return name


@pytest.mark.thorough
@pytest.mark.parametrize("which", ["rows", "samples"])
def test_parquet_has_the_values_of_the_table_and_says_where_they_are_from(
    tmp_path: Path, writer: str, which: str
) -> None:
    """A column of which nothing is known is the same to both libraries."""
    read = pytest.importorskip("pyarrow.parquet").read_table
    document = {
        "rows": document_of(EVERYTHING),
        "samples": samples.document([samples.choose_samples(EVERYTHING)]),
    }
    with (tmp_path / "t.parquet").open("wb") as file:
        write(document[which], "parquet", file)
    found = read(tmp_path / "t.parquet")
    pieces = document[which].pieces
    assert pieces is not None
    assert found.to_pylist() == [*iterate_rows(concatenated([*pieces()]))]
    said = json.loads(found.schema.metadata[b"mpigauge"])
    assert said["context"][0]["host"] == "node1"


@pytest.mark.usefixtures("writer")
def test_no_room_for_parquet_is_what_the_system_says() -> None:
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(OSError, match="No space left"):
        write(document_of(EVERYTHING), "parquet", full)


def test_parquet_without_a_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentLacksError, match="pyarrow or duckdb") as raised:
        write(document_of(SMALL_RESULT), "parquet", io.BytesIO())
    assert raised.value.hint == "pip install pyarrow"
