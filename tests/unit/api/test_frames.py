"""Tables in other libraries: the same values in all of them, whichever is installed."""

from __future__ import annotations

import importlib
import math
from typing import TYPE_CHECKING, Any

import pytest

import mpigauge
from mpigauge.errors import EnvironmentLacksError, UsageError
from tests.made import RECORDS, written

if TYPE_CHECKING:
    from pathlib import Path

WHICH = ("rows", "samples", "summary")


@pytest.fixture
def tables(machine: Path) -> dict[str, mpigauge.Table]:
    """Of a result with a record of every kind."""
    result = mpigauge.load(written("r.jsonl", *RECORDS))
    return {"rows": result.rows(), "samples": result.samples(), "summary": result.summary}


def plain(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """None for what is not a number, as pandas has it."""
    return [{name: None if _missing(value) else value for name, value in one.items()} for one in records]


def _missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
    )


@pytest.mark.parametrize("which", WHICH)
def test_pandas_has_the_rows(tables: dict[str, mpigauge.Table], which: str) -> None:
    pytest.importorskip("pandas")
    frame = tables[which].to_pandas()
    assert plain(frame.to_dict("records")) == [*tables[which]]


@pytest.mark.thorough
@pytest.mark.parametrize("which", WHICH)
def test_polars_has_the_rows_by_itself_and_through_arrow(
    tables: dict[str, mpigauge.Table], which: str
) -> None:
    polars = pytest.importorskip("polars")
    rows = [*tables[which]]
    assert tables[which].to_polars().to_dicts() == rows
    pytest.importorskip("pyarrow")
    assert polars.DataFrame(tables[which]).to_dicts() == rows


@pytest.mark.parametrize("which", WHICH)
def test_arrow_has_the_rows_and_where_they_are_from(tables: dict[str, mpigauge.Table], which: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    found = tables[which].to_arrow()
    assert found.to_pylist() == [*tables[which]] == arrow.table(tables[which]).to_pylist()
    assert b"node1" in found.schema.metadata[b"mpigauge"]


def test_parquet_comes_back(tables: dict[str, mpigauge.Table], machine: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    tables["samples"].to_parquet("s.parquet")
    assert parquet.read_table("s.parquet").to_pylist() == [*tables["samples"]]


@pytest.mark.parametrize("which", ["rows", "samples"])
def test_a_row_has_a_place(tables: dict[str, mpigauge.Table], which: str) -> None:
    table = tables[which]
    rows = [*table]
    assert [table[place] for place in range(len(table))] == rows
    assert table[-1] == rows[-1]
    assert type(table[0]["bytes"]) is int
    with pytest.raises(IndexError):
        table[len(table)]


def test_columns_are_lists_and_arrays(tables: dict[str, mpigauge.Table]) -> None:
    rows = tables["rows"]
    assert rows["bytes"] == [row["bytes"] for row in rows]
    assert len(rows) == len(rows["bytes"]) == len(rows.numpy("time_low_s"))
    assert math.isnan(rows.numpy("time_low_s")[-1])
    assert rows.numpy("bytes").dtype.kind == "i"
    assert tables["samples"].numpy("time_s").tolist() == tables["samples"]["time_s"]
    with pytest.raises(UsageError, match="'byte'") as raised:
        _ = rows["byte"]
    assert "bytes" in raised.value.hint


@pytest.mark.parametrize(
    ("library", "method"),
    [
        ("pandas", "to_pandas"),
        ("polars", "to_polars"),
        ("pyarrow", "to_arrow"),
        ("pyarrow", "__arrow_c_stream__"),
    ],
)
def test_a_library_that_is_not_there_is_named(
    tables: dict[str, mpigauge.Table], library: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, *more: Any) -> Any:
        if name == library:
            raise ModuleNotFoundError(name=name)
        return real(name, *more)

    monkeypatch.setattr("mpigauge.show.formats.arrow.importlib.import_module", without)
    with pytest.raises(EnvironmentLacksError, match=library) as raised:
        getattr(tables["rows"], method)()
    assert raised.value.hint == f"pip install {library}"
