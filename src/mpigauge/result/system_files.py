"""Reading small files of the system, many of which virtual machines and containers lack."""

from pathlib import Path


def read(path: str | Path) -> str:
    """Return the text of a small system file, stripped; "" if it is not there."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
