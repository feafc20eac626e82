"""A Parquet file of the rows of CSV, with types and with where they come from; needs pyarrow or duckdb."""

from __future__ import annotations

import errno
import os
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.document.columnar import columns_of, row_count
from mpigauge.document.context import metadata_of
from mpigauge.document.document import values_of
from mpigauge.errors import EnvironmentLacksError
from mpigauge.show.formats import arrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import BinaryIO

    from mpigauge.document.columnar import Columns, ColumnValues
    from mpigauge.document.document import Document

COMPRESSION = "zstd"
TYPES = {"integer": "BIGINT", "number": "DOUBLE", "flag": "BOOLEAN", "text": "VARCHAR"}
IN_MEMORY: dict[str, tuple[type, Any]] = {
    "integer": (np.int64, 0),
    "number": (np.float64, 0.0),
    "flag": (np.bool_, False),
    "text": (np.object_, ""),
}
"""Type of arrays per kind of column, and the value behind a null."""

NAME, TEXT = '"', "'"
"""Quotes of SQL, for names and texts."""


def write(document: Document, file: BinaryIO) -> None:
    """Write a document piece by piece into an open file, with whichever library is installed.

    Raises:
        EnvironmentLacksError: Neither library is installed.
        OSError: The file cannot be written.
    """
    batches = _pieces(document)
    metadata = metadata_of(document.contexts)
    if find_spec("pyarrow") is not None:
        _by_pyarrow(batches, metadata, file)
    elif find_spec("duckdb") is not None:
        _by_duckdb(batches, metadata, file)
    else:
        raise EnvironmentLacksError("Parquet needs pyarrow or duckdb", "pip install pyarrow")


def _pieces(document: Document) -> Iterable[Columns]:
    if document.pieces is not None:
        return document.pieces()
    if document.records is not None:
        return [columns_of(document.records())]
    return [columns_of([values for table in document.tables for values in values_of(table)])]


def _by_pyarrow(batches: Iterable[Columns], metadata: Mapping[str, str], file: BinaryIO) -> None:
    parquet = arrow.module_or_lacks("pyarrow.parquet", "Parquet")
    writer = None
    try:
        for columns in batches:
            table = arrow.table_of(columns, metadata)
            writer = writer or parquet.ParquetWriter(file, table.schema, compression=COMPRESSION)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _by_duckdb(batches: Iterable[Columns], metadata: Mapping[str, str], file: BinaryIO) -> None:
    """Write through a DuckDB table in memory, filled in batches of rows."""
    duckdb = arrow.module_or_lacks("duckdb", "Parquet")
    with duckdb.connect() as database:
        for number, columns in enumerate(batches):
            if number == 0:
                names = ", ".join(
                    f"{_quoted(name, NAME)} {TYPES[values_.kind]}" for name, values_ in columns.items()
                )
                database.execute(f"CREATE TABLE kept ({names})")
            if row_count(columns):
                arrays = {name: _numpy(values) for name, values in columns.items()}  # noqa: F841 - SQL names it
                database.execute("INSERT INTO kept SELECT * FROM arrays")
        comments = ", ".join(f"{name}: {_quoted(text, TEXT)}" for name, text in metadata.items())
        # DuckDB takes no open file, but every open file has a name.
        path = f"/proc/self/fd/{file.fileno()}"
        try:
            database.execute(
                f"COPY kept TO {_quoted(path, TEXT)} "
                f"(FORMAT parquet, COMPRESSION {COMPRESSION}, USE_TMP_FILE false, KV_METADATA {{{comments}}})"
            )
        except duckdb.IOException as error:
            raise _as_system_error(str(error)) from None


def _as_system_error(message: str) -> OSError:
    """Return the error of the operating system that duckdb reports only within its message."""
    number_text = re.search(r'"errno":"([0-9]+)"', message)
    number = int(number_text[1]) if number_text else errno.EIO
    return OSError(number, os.strerror(number))


def _quoted(text: str, sign: str) -> str:
    """Return text in quotes of SQL."""
    return sign + text.replace(sign, 2 * sign) + sign


def _numpy(values: ColumnValues) -> Any:
    """Return an array with a value per row, masked where it is missing."""
    entries = [*values]
    missing = np.array([value is None for value in entries], dtype=bool)
    kind, usual = IN_MEMORY[values.kind]
    filled: Any = np.array([usual if value is None else value for value in entries], dtype=kind)
    return np.ma.masked_array(filled, missing) if missing.any() else filled
