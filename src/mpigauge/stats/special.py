"""Functions of scipy.special by their names there, imported when the first of them is called.

The import takes longer than any other: a campaign has started its first launch before it needs one.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """Return a function, which is found here from then on.

    Raises:
        AttributeError: scipy.special has none of this name.
    """
    found = globals()[name] = getattr(import_module("scipy.special"), name)
    return found
