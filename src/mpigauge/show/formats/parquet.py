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
"""What arrays are of, and what stands where there is nothing."""

NAME, TEXT = '"', "'"
"""Quotes of SQL."""


def write(document: Document, file: BinaryIO) -> None:
    """Writes it piece by piece into an open file, by whichever library is installed.

    Raises:
        EnvironmentLacksError: Neither is.
        OSError: The file cannot be written.
    """
    found = _pieces(document)
    metadata = metadata_of(document.contexts)
    if find_spec("pyarrow") is not None:
        _by_pyarrow(found, metadata, file)
    elif find_spec("duckdb") is not None:
        _by_duckdb(found, metadata, file)
    else:
        raise EnvironmentLacksError("Parquet needs pyarrow or duckdb", "pip install 'mpigauge[parquet]'")


def _pieces(document: Document) -> Iterable[Columns]:
    if document.pieces is not None:
        return document.pieces()
    if document.records is not None:
        return [columns_of(document.records())]
    return [columns_of([values for table in document.tables for values in values_of(table)])]


def _by_pyarrow(found: Iterable[Columns], metadata: Mapping[str, str], file: BinaryIO) -> None:
    parquet = arrow.module_or_lacks("pyarrow.parquet", "Parquet")
    writer = None
    try:
        for columns in found:
            table = arrow.table_of(columns, metadata)
            writer = writer or parquet.ParquetWriter(file, table.schema, compression=COMPRESSION)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _by_duckdb(found: Iterable[Columns], metadata: Mapping[str, str], file: BinaryIO) -> None:
    """By a table in memory, in batches of rows as Python has them."""
    duckdb = arrow.module_or_lacks("duckdb", "Parquet")
    with duckdb.connect() as database:
        for number, columns in enumerate(found):
            if number == 0:
                names = ", ".join(f"{_quoted(name, NAME)} {TYPES[one.kind]}" for name, one in columns.items())
                database.execute(f"CREATE TABLE kept ({names})")
            if row_count(columns):
                arrays = {name: _numpy(values) for name, values in columns.items()}  # noqa: F841 - SQL names it
                database.execute("INSERT INTO kept SELECT * FROM arrays")
        said = ", ".join(f"{name}: {_quoted(text, TEXT)}" for name, text in metadata.items())
        # It takes no open file, but every open file has a name.
        path = f"/proc/self/fd/{file.fileno()}"
        try:
            database.execute(
                f"COPY kept TO {_quoted(path, TEXT)} "
                f"(FORMAT parquet, COMPRESSION {COMPRESSION}, USE_TMP_FILE false, KV_METADATA {{{said}}})"
            )
        except duckdb.IOException as error:
            raise _as_system_error(str(error)) from None


def _as_system_error(said: str) -> OSError:
    """Return what the system has refused, which the library tells in its words only."""
    found = re.search(r'"errno":"([0-9]+)"', said)
    number = int(found[1]) if found else errno.EIO
    return OSError(number, os.strerror(number))


def _quoted(text: str, sign: str) -> str:
    """As SQL has it."""
    return sign + text.replace(sign, 2 * sign) + sign


def _numpy(values: ColumnValues) -> Any:
    """A value per row, masked where there is none."""
    found = [*values]
    missing = np.array([value is None for value in found], dtype=bool)
    kind, usual = IN_MEMORY[values.kind]
    filled: Any = np.array([usual if value is None else value for value in found], dtype=kind)
    return np.ma.masked_array(filled, missing) if missing.any() else filled
