"""Arrow tables, where pyarrow is installed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mpigauge.errors import EnvironmentLacksError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.document.columnar import Columns, Values


def module_or_lacks(name: str, what: str) -> Any:
    """Import an optional library.

    Raises:
        EnvironmentLacksError: It is not installed; says what it is needed for.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise EnvironmentLacksError(f"{what} needs {name}", f"pip install {name.partition('.')[0]}") from None


def table_of(columns: Columns, metadata: Mapping[str, str] | None = None) -> Any:
    """Return a pyarrow.Table of columns.

    Raises:
        EnvironmentLacksError: pyarrow is not installed.
    """
    pa = module_or_lacks("pyarrow", "a table of Arrow")
    table = pa.table({name: _array(pa, values) for name, values in columns.items()})
    return table.replace_schema_metadata(dict(metadata)) if metadata else table


def _array(pa: Any, values: Values) -> Any:
    kinds = {"integer": pa.int64(), "number": pa.float64(), "flag": pa.bool_(), "text": pa.string()}
    data = pa.array(values.data, kinds[values.kind])
    if values.codes is None:
        return data
    codes = pa.array(values.codes, pa.int32(), mask=values.codes < 0)
    return pa.DictionaryArray.from_arrays(codes, data) if values.kind == "text" else data.take(codes)
