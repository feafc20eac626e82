"""Tables as columns of one type each, for data frames and Parquet: what does not fit stands as text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

Kind = Literal["integer", "number", "flag", "text"]
"""An int64, a float64, a truth value, and UTF-8; each may be missing."""

_KINDS: dict[type, Kind] = {bool: "flag", int: "integer", float: "number", str: "text"}


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """One column of a table: its type and a value per row.

    Attributes:
        data: A value per row, None where there is none; with codes, the values that there are.
        codes: Place in `data` of each row's value, -1 where there is none, shape ``(rows,)``; None if data
            has a value per row.
    """

    kind: Kind
    data: Sequence[Any] | NDArray[Any]
    codes: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.data if self.codes is None else self.codes)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values as Python objects, None where there is none."""
        if self.codes is not None:
            return map((*self.data, None).__getitem__, self.codes.tolist())
        return iter(self.data.tolist() if isinstance(self.data, np.ndarray) else self.data)

    def at(self, place: int) -> Any:
        """Return the value of one row as a Python object; negative rows are counted from the end."""
        if self.codes is not None:
            return (*self.data, None)[self.codes[place]]
        value = self.data[place]
        return value.item() if isinstance(value, np.generic) else value


def dictionary_encoded(
    kind: Kind, values: Iterable[Any], codes: NDArray[np.intp] | NDArray[np.int32]
) -> ColumnValues:
    """Return a column of few distinct values, each kept once.

    Args:
        values: Any of them may be there several times, or be None.
        codes: Place in `values` of each row's value, shape ``(rows,)``.
    """
    places: dict[Any, int] = {}
    known = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
    return ColumnValues(kind, [*places], np.array(known, dtype=np.int32)[codes])


def concatenated(pieces: Sequence[Columns]) -> Columns:
    """Return pieces of one table as one; all must have the same columns."""
    if len(pieces) == 1:
        return pieces[0]
    return {name: _concatenated([piece[name] for piece in pieces]) for name in (pieces[0] if pieces else ())}


def _concatenated(columns: Sequence[ColumnValues]) -> ColumnValues:
    if columns[0].codes is None:
        return ColumnValues(columns[0].kind, np.concatenate([np.asarray(column.data) for column in columns]))
    places: dict[Any, int] = {}
    codes = []
    for column in columns:
        codes_of_column = [places.setdefault(value, len(places)) for value in column.data]
        assert column.codes is not None  # noqa: S101 - all pieces have them
        codes.append(np.array([*codes_of_column, -1], dtype=np.int32)[column.codes])
    return ColumnValues(columns[0].kind, [*places], np.concatenate(codes))


Columns = dict[str, ColumnValues]
"""By name, in their order, all of one length."""


def columns_of(
    records: Iterable[Mapping[str, Any]],
    kinds: Mapping[str, Kind] | None = None,
    *,
    names: Sequence[str] = (),
) -> Columns:
    """Return records as columns; a value is missing where a record lacks the name.

    Args:
        kinds: Types of columns whose values do not show them, such as empty ones; else these are numbers.
        names: Columns to have even without records.
    """
    records = list(records)
    all_names = dict.fromkeys([*names, *(name for record in records for name in record)])
    return {
        name: _column([record.get(name) for record in records], (kinds or {}).get(name)) for name in all_names
    }


def _column(values: Sequence[Any], kind: Kind | None) -> ColumnValues:
    kind = kind or _kind_of(values)
    return ColumnValues(kind, [None if value is None else _fitting(value, kind) for value in values])


def _kind_of(values: Iterable[Any]) -> Kind:
    kinds = {_KINDS.get(type(value), "text") for value in values if value is not None}
    if kinds <= {"integer", "number"}:
        return "integer" if kinds == {"integer"} else "number"
    return kinds.pop() if len(kinds) == 1 else "text"


def _fitting(value: Any, kind: Kind) -> Any:
    if kind == "number":
        return float(value)
    if kind != "text" or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def row_count(columns: Columns) -> int:
    """Return the number of rows."""
    return len(next(iter(columns.values()), ()))


def iterate_rows(columns: Columns) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as a dict by column."""
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))
