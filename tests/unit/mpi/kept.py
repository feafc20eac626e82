"""What is in the folder of the libraries that mpigauge keeps."""

from __future__ import annotations

import os

from mpigauge.mpi.install import prefixes


def there() -> list[str]:
    """All that is in the data folder, but for the lock."""
    return sorted(name for name in os.listdir(prefixes.folder()) if name != ".lock")  # noqa: PTH208
