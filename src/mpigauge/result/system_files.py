"""Small files of the system, any of which may be missing: virtual machines and containers lack many."""

from pathlib import Path


def read(path: str | Path) -> str:
    """A small system file, stripped; empty if it is not there."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
