"""Files that appear whole: no half is ever seen, no other is lost, and nothing of what failed is left."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

import pytest

from mpigauge.atomic_file import open_output, write_atomically
from mpigauge.errors import EnvironmentLacksError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def names_in(folder: Path) -> list[str]:
    """All files of a folder, hidden ones too."""
    return sorted(one.name for one in folder.iterdir())


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with write_atomically(path) as file:
        file.write(b"all of it")
        assert not path.exists()
        (part,) = tmp_path.iterdir()
        assert part.name.startswith(".")
    assert path.read_bytes() == b"all of it"
    assert names_in(tmp_path) == ["a"]


def test_what_is_overwritten_is_there_until_then(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with write_atomically(path, overwrite=True) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["a"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_what_fails_leaves_nothing_and_no_other(tmp_path: Path, overwrite: bool) -> None:
    path = tmp_path / "a"
    if overwrite:
        path.write_bytes(b"old")
    before = names_in(tmp_path)
    with contextlib.suppress(KeyboardInterrupt), write_atomically(path, overwrite=overwrite) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert names_in(tmp_path) == before
    assert not overwrite or path.read_bytes() == b"old"


@pytest.mark.parametrize("no_links", [False, True])
def test_a_file_that_comes_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_links: bool
) -> None:
    def none_there(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    if no_links:
        monkeypatch.setattr(os, "link", none_there)
    path = tmp_path / "a"
    with pytest.raises(FileExistsError), write_atomically(path):
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert names_in(tmp_path) == ["a"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_no_link_leads_to_another_file(tmp_path: Path, overwrite: bool) -> None:
    """As another user of a shared folder may have put it there."""
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    path = tmp_path / "a"
    path.symlink_to(victim)
    if overwrite:
        with write_atomically(path, overwrite=True) as file:
            file.write(b"new")
        assert path.read_bytes() == b"new"
        assert not path.is_symlink()
    else:
        with pytest.raises(FileExistsError), write_atomically(path):
            pass
    assert victim.read_bytes() == b"precious"


def test_a_file_that_somebody_puts_in_its_place_on_the_way_is_not_taken_for_it(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")

    def replace() -> None:
        (part,) = (one for one in tmp_path.iterdir() if one != victim)
        part.unlink()
        part.symlink_to(victim)

    with pytest.raises(OSError, match="replaced"), write_atomically(tmp_path / "a"):
        replace()
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize(("mode", "expected"), [(0o666, 0o640), (0o777, 0o750)])
def test_who_may_read_it_is_what_the_umask_says(tmp_path: Path, mode: int, expected: int) -> None:
    mask = os.umask(0o027)
    try:
        with write_atomically(tmp_path / "a", mode=mode) as file:
            file.write(b"")
    finally:
        os.umask(mask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == expected


def test_devices_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(UsageError, match="is not a file"), write_atomically(path, overwrite=True):
            pass
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "free some space"),
        (errno.EDQUOT, "free some space"),
        (errno.EFBIG, "raise ulimit -f"),
        (errno.EMFILE, "raise ulimit -n"),
        (errno.EROFS, "choose another place"),
        (errno.EIO, "choose another place"),
    ],
)
def test_why_a_file_cannot_be_written_is_a_sentence_with_what_helps(
    tmp_path: Path, number: int, hint: str
) -> None:
    path = tmp_path / "a"
    with pytest.raises(EnvironmentLacksError, match=os.strerror(number)) as caught, open_output(path):
        raise OSError(number, os.strerror(number))
    assert caught.value.sentence.startswith(f"{path}: cannot be written: ")
    assert caught.value.hint.startswith(hint)
    assert names_in(tmp_path) == []


def test_a_name_that_is_taken_is_a_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"mine")
    with pytest.raises(UsageError, match="is there already"), open_output(tmp_path / "a"):
        pass
