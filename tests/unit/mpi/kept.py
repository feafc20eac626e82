"""What is in the folder of the libraries that mpigauge keeps."""

from __future__ import annotations

import os

from mpigauge.mpi.install import prefixes


def there() -> list[str]:
    """All that is in the data folder, but for the lock and the digests that are known."""
    names = set(os.listdir(prefixes.folder()))  # noqa: PTH208
    return sorted(names - {".lock", "digests.json"})
