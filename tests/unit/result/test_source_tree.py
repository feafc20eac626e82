"""The commit of a source tree, as git itself says it, in every form that git keeps it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.source_tree import commit

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.needs("git")


def git(folder: Path, *words: str) -> str:
    """What git prints of a repository that nobody's settings change."""
    own = ["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
    command = ["git", "-C", str(folder), *own, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def test_a_branch_loose_and_packed_and_no_branch(tree: Path) -> None:
    now = git(tree, "rev-parse", "HEAD")
    assert len(now) == 40
    assert commit(tree) == now
    git(tree, "pack-refs", "--all")
    assert commit(tree) == now
    git(tree, "checkout", "-q", "--detach")
    assert commit(tree) == now


def test_a_worktree(tree: Path, tmp_path: Path) -> None:
    git(tree, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    git(tmp_path / "other", "commit", "-q", "--allow-empty", "-m", "two")
    assert commit(tmp_path / "other") == git(tmp_path / "other", "rev-parse", "HEAD") != commit(tree)


def test_no_repository(tmp_path: Path) -> None:
    assert commit(tmp_path) == ""
