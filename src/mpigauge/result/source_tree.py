"""The git commit that the program is run from, read from git's own files: git need not be there."""

import re
from pathlib import Path

from mpigauge.result.system_files import read

ROOT = Path(__file__).parents[3]


def commit(root: Path = ROOT) -> str:
    """Of the source tree that this package is run from, 40 hexadecimal digits; empty if it is installed."""
    folder, shared = _folders(root)
    head = read(folder / "HEAD")
    if not head.startswith("ref: "):
        return head[:40]
    name = head.removeprefix("ref: ")
    return read(shared / name)[:40] or _packed(shared, name)


def _folders(root: Path) -> tuple[Path, Path]:
    """Where HEAD is and where branches are; a worktree has its own of the first."""
    link = read(root / ".git")
    if not link.startswith("gitdir: "):
        return root / ".git", root / ".git"
    folder = root / link.removeprefix("gitdir: ")
    return folder, folder / (read(folder / "commondir") or ".")


def _packed(shared: Path, name: str) -> str:
    found = re.search(rf"^([0-9a-f]{{40}}) {re.escape(name)}$", read(shared / "packed-refs"), re.MULTILINE)
    return found[1] if found else ""
