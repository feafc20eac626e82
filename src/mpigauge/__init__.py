"""mpigauge: what MPI communication costs here, how sure that is, and whether it is as it should be.

    >>> import mpigauge
    >>> result = mpigauge.load("results")
    >>> result.summary

`load` reads results, `run` measures; docs/python.md has all of it. Each name is imported when it is used, so
that `import mpigauge` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as of typing, which would take half of the time of this import
if TYPE_CHECKING:
    from mpigauge.api.result import Result, load
    from mpigauge.api.running import run
    from mpigauge.api.shown import Comparison, Explanation, Model, Sentence
    from mpigauge.api.table import Table

__version__ = "0.1.0"

API_VERSION = 1
"""Of the names in `__all__`: raised when one goes or means something else; others may come."""

__all__ = [
    "API_VERSION",
    "Comparison",
    "Explanation",
    "Model",
    "Result",
    "Sentence",
    "Table",
    "__version__",
    "load",
    "run",
]

_MODULES = {
    "Comparison": "shown",
    "Explanation": "shown",
    "Model": "shown",
    "Result": "result",
    "Sentence": "shown",
    "Table": "table",
    "load": "result",
    "run": "running",
}


if not TYPE_CHECKING:  # who checks types knows all names

    def __getattr__(name: str) -> object:
        """What a name of the interface is, from its module in `mpigauge.api`."""
        if name not in _MODULES:
            raise AttributeError(f"module 'mpigauge' has no attribute {name!r}")
        import importlib  # noqa: PLC0415 - only here

        return getattr(importlib.import_module(f"mpigauge.api.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
