"""The git commit that the program runs from, read from git's own files, without git."""

import re
from pathlib import Path

from mpigauge.result.system_files import read

ROOT = Path(__file__).parents[3]


def commit(root: Path = ROOT) -> str:
    """Return the commit of the source tree that we run from, 40 hexadecimal digits; "" if installed."""
    folder, shared = _folders(root)
    head = read(folder / "HEAD")
    if not head.startswith("ref: "):
        return head[:40]
    name = head.removeprefix("ref: ")
    return read(shared / name)[:40] or _packed(shared, name)


def _folders(root: Path) -> tuple[Path, Path]:
    """Return the folder of HEAD and the folder of branches, which differ in a git worktree."""
    link = read(root / ".git")
    if not link.startswith("gitdir: "):
        return root / ".git", root / ".git"
    folder = root / link.removeprefix("gitdir: ")
    return folder, folder / (read(folder / "commondir") or ".")


def _packed(shared: Path, name: str) -> str:
    match = re.search(rf"^([0-9a-f]{{40}}) {re.escape(name)}$", read(shared / "packed-refs"), re.MULTILINE)
    return match[1] if match else ""
