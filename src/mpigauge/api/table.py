"""Table for programs: rows as dicts, columns as lists, and data frames of whichever library is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mpigauge import units
from mpigauge.api import html
from mpigauge.atomic_file import open_output
from mpigauge.document.columnar import Columns, length_of, rows_of
from mpigauge.document.document import Document
from mpigauge.errors import UsageError, choose_from
from mpigauge.inputs import check_output
from mpigauge.show.formats import arrow, write

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from mpigauge.document.columnar import Values

ROWS_SHOWN = 20


class Table(Iterable[dict[str, Any]]):
    """Rows with the same columns, in SI units; None where there is no value.

    Iterating gives each row as a dict, `table[0]` is a row, `table["bytes"]` a column as a list. Data frame
    libraries take it as it is, through the Arrow PyCapsule interface: `polars.DataFrame(table)`.
    """

    __slots__ = ("_columns", "_contexts")

    def __init__(self, columns: Columns, contexts: Iterable[Mapping[str, Any]] = ()) -> None:
        self._columns = columns
        self._contexts = tuple(contexts)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return length_of(self._columns)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return rows_of(self._columns)

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...

    def __getitem__(self, key: str | int) -> list[Any] | dict[str, Any]:
        """Return a column by its name, or a row by its number.

        Raises:
            UsageError: There is no column of this name; suggests the nearest one.
            IndexError: There is no row of this number.
        """
        if isinstance(key, str):
            return [*self._values(key)]
        if not -len(self) <= key < len(self):
            raise IndexError(f"there is no row {key}: the table has {len(self)}")
        return {name: values.at(key) for name, values in self._columns.items()}

    def numpy(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column as an array: NaN for a missing number, objects for texts.

        Raises:
            UsageError: There is no column of this name.
        """
        values = self._values(name)
        if values.codes is None and isinstance(values.data, np.ndarray):
            return values.data
        numbers = values.kind == "number" or (values.kind == "integer" and None in values)
        return np.array([*values], dtype=np.float64 if numbers else None)

    def _values(self, name: str) -> Values:
        if name not in self._columns:
            raise UsageError(f"no column is called {name!r}", choose_from(self._columns, name))
        return self._columns[name]

    # ---- Data frames ----

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame; integers and booleans that may be missing have pandas' nullable types.

        Raises:
            EnvironmentLacksError: pandas is not installed.
        """
        pandas = arrow.module_or_lacks("pandas", "to_pandas()")
        frame: pd.DataFrame = pandas.DataFrame(
            {name: _series_of_pandas(pandas, values) for name, values in self._columns.items()}
        )
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame.

        Raises:
            EnvironmentLacksError: polars is not installed.
        """
        polars = arrow.module_or_lacks("polars", "to_polars()")
        frame: pl.DataFrame = polars.DataFrame(
            [_series_of_polars(polars, name, values) for name, values in self._columns.items()]
        )
        return frame

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table; its metadata has the provenance as JSON under `mpigauge`.

        Raises:
            EnvironmentLacksError: pyarrow is not installed.
        """
        table: pa.Table = arrow.table_of(self._columns, self._metadata())
        return table

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file, as `mpigauge show -o table.parquet`, replacing a file of this name.

        Raises:
            EnvironmentLacksError: Neither pyarrow nor duckdb is installed, or the file cannot be written.
        """
        check_output(Path(path))
        document = Document(contexts=self._contexts, pieces=lambda: [self._columns])
        with open_output(Path(path), overwrite=True, other_place="choose another place") as file:
            write(document, "parquet", file)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Implement the Arrow PyCapsule interface.

        Raises:
            EnvironmentLacksError: pyarrow is not installed.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _metadata(self) -> dict[str, str]:
        from mpigauge.document.context import metadata_of  # noqa: PLC0415 - analysis, for this alone

        return metadata_of(self._contexts)

    # ---- For people ----

    def __repr__(self) -> str:
        return f"<mpigauge.Table: {len(self)} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, without columns that are empty in all rows."""
        names = [name for name, values in self._columns.items() if any(v not in (None, "") for v in values)]
        rows = ([row[name] for name in names] for row in islice(self, ROWS_SHOWN))
        left = [self._columns[name].kind == "text" for name in names]
        more = len(self) - ROWS_SHOWN
        below = [units.counted(more, "more row")] if more > 0 else []
        return html.table(names, rows, left) + html.lines(below)


def _series_of_pandas(pandas: Any, values: Values) -> Any:
    if values.kind == "text" and values.codes is not None:
        return pandas.Categorical.from_codes(values.codes, categories=[*values.data])
    if isinstance(values.data, np.ndarray) and values.codes is None:
        return values.data
    kinds = {"integer": "Int64", "number": "float64", "flag": "boolean", "text": "object"}
    entries = [*values]
    kind = kinds[values.kind] if None in entries or values.kind in {"number", "text"} else None
    return pandas.Series(entries, dtype=kind)


def _series_of_polars(polars: Any, name: str, values: Values) -> Any:
    kinds = {
        "integer": polars.Int64,
        "number": polars.Float64,
        "flag": polars.Boolean,
        "text": polars.String,
    }
    data = polars.Series(name, values.data, dtype=kinds[values.kind])
    if values.codes is None:
        return data
    codes = polars.Series(values.codes)
    return data.gather(polars.select(polars.when(codes >= 0).then(codes)).to_series())
