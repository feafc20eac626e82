"""A Parquet file of the rows of CSV, with types and with where they come from; needs pyarrow or duckdb."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.errors import EnvironmentLacksError
from mpigauge.show.columnar import columns_of, length_of
from mpigauge.show.document import values_of
from mpigauge.show.formats import arrow
from mpigauge.show.tables.context import metadata_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mpigauge.show.columnar import Columns, Values
    from mpigauge.show.document import Document

COMPRESSION = "zstd"
TYPES = {"integer": "BIGINT", "number": "DOUBLE", "flag": "BOOLEAN", "text": "VARCHAR"}
IN_MEMORY: dict[str, tuple[type, Any]] = {
    "integer": (np.int64, 0),
    "number": (np.float64, 0.0),
    "flag": (np.bool_, False),
    "text": (np.object_, ""),
}
"""What arrays are of, and what stands where there is nothing."""

NAME, TEXT = '"', "'"
"""Quotes of SQL."""


def write(document: Document, path: Path) -> None:
    """Writes it piece by piece, by whichever library is installed.

    Raises:
        EnvironmentLacksError: Neither is.
        OSError: The file cannot be written.
    """
    found = _pieces(document)
    metadata = metadata_of(document.contexts)
    if find_spec("pyarrow") is not None:
        _by_pyarrow(found, metadata, path)
    elif find_spec("duckdb") is not None:
        _by_duckdb(found, metadata, path)
    else:
        raise EnvironmentLacksError("Parquet needs pyarrow or duckdb", "pip install 'mpigauge[parquet]'")


def _pieces(document: Document) -> Iterable[Columns]:
    if document.pieces is not None:
        return document.pieces()
    if document.records is not None:
        return [columns_of(document.records())]
    return [columns_of([values for table in document.tables for values in values_of(table)])]


def _by_pyarrow(found: Iterable[Columns], metadata: Mapping[str, str], path: Path) -> None:
    parquet = arrow.module_or_lacks("pyarrow.parquet", "Parquet")
    writer = None
    try:
        for columns in found:
            table = arrow.table_of(columns, metadata)
            writer = writer or parquet.ParquetWriter(path, table.schema, compression=COMPRESSION)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _by_duckdb(found: Iterable[Columns], metadata: Mapping[str, str], path: Path) -> None:
    """By a table in memory, in batches of rows as Python has them."""
    duckdb = arrow.module_or_lacks("duckdb", "Parquet")
    with duckdb.connect() as database:
        for number, columns in enumerate(found):
            if number == 0:
                names = ", ".join(f"{_quoted(name, NAME)} {TYPES[one.kind]}" for name, one in columns.items())
                database.execute(f"CREATE TABLE kept ({names})")
            if length_of(columns):
                arrays = {name: _numpy(values) for name, values in columns.items()}  # noqa: F841 - SQL names it
                database.execute("INSERT INTO kept SELECT * FROM arrays")
        said = ", ".join(f"{name}: {_quoted(text, TEXT)}" for name, text in metadata.items())
        database.execute(
            f"COPY kept TO {_quoted(str(path), TEXT)} "
            f"(FORMAT parquet, COMPRESSION {COMPRESSION}, KV_METADATA {{{said}}})"
        )


def _quoted(text: str, sign: str) -> str:
    """As SQL has it."""
    return sign + text.replace(sign, 2 * sign) + sign


def _numpy(values: Values) -> Any:
    """A value per row, masked where there is none."""
    found = [*values]
    missing = np.array([value is None for value in found], dtype=bool)
    kind, usual = IN_MEMORY[values.kind]
    filled: Any = np.array([usual if value is None else value for value in found], dtype=kind)
    return np.ma.masked_array(filled, missing) if missing.any() else filled
