"""Programs that are built once and run often: only those that nobody else can have put there."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from mpigauge import cache
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi.install import prefixes

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "ours"


def built(program: Path) -> str:
    """What is run."""

    def write(path: Path) -> None:
        path.write_text(OURS, encoding="ascii")

    cache.build_once(program, "the program", write)
    return content_of(program)


def content_of(program: Path) -> str:
    return program.read_text(encoding="ascii").partition(cache.SEAL.decode())[0]


def test_what_is_there_is_not_built_again(tmp_path: Path) -> None:
    program = tmp_path / "built" / "program"
    assert built(program) == OURS
    before = program.stat()
    assert built(program) == OURS
    assert os.path.samestat(program.stat(), before)


def cut(program: Path) -> None:
    os.truncate(program, program.stat().st_size // 2)


def overwritten(program: Path) -> None:
    with program.open("r+b") as file:
        file.write(b"\0\0")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda program: os.truncate(program, 0),
    "cut": cut,
    "overwritten": overwritten,
    "something else": lambda program: program.write_bytes(b"\x7fELF\xff"),
    "not to be run": lambda program: program.chmod(0o644),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_what_is_damaged_is_built_again(tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str) -> None:
    program = tmp_path / "built" / "program"
    built(program)
    DAMAGE[how](program)
    assert built(program) == OURS
    assert program.stat().st_mode & 0o100
    said = [record.getMessage() for record in caplog.records]
    assert said == ([] if how == "not to be run" else [f"{program}: is damaged, and is made anew"])


def test_of_two_builders_the_first_wins(tmp_path: Path) -> None:
    """The second finds it when it is done: what may be running already keeps its place."""
    program = tmp_path / "built" / "program"

    def slowly(path: Path) -> None:
        assert built(program) == OURS
        path.write_text("later", encoding="ascii")

    cache.build_once(program, "the program", slowly)
    assert content_of(program) == OURS
    assert list(program.parent.iterdir()) == [program]


def test_without_links_a_program_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", link)
    test_of_two_builders_the_first_wins(tmp_path)


def test_a_program_that_is_made_anew_leaves_the_one_that_runs_alone(tmp_path: Path) -> None:
    program = tmp_path / "built" / "program"
    built(program)
    with program.open(encoding="ascii") as running:
        before = os.fstat(running.fileno())

        def compile_to(path: Path) -> None:
            assert content_of(program) == OURS  # whoever starts it meanwhile finds it
            path.write_text("newer", encoding="ascii")

        cache.build_anew(program, "the program", compile_to)
        assert content_of(program) == "newer"
        assert running.read().startswith(OURS)
        assert os.fstat(running.fileno()).st_nlink == 1  # no host of a network loses the file
        assert before.st_ino != program.stat().st_ino
    (old,) = program.parent.glob(f"{cache.OLD_PREFIX}*")
    assert content_of(old) == OURS


def test_of_what_was_replaced_the_last_is_kept(tmp_path: Path) -> None:
    program, texts = tmp_path / "built" / "program", iter(["second", "third"])
    built(program)

    def write(path: Path) -> None:
        path.write_text(next(texts), encoding="ascii")

    for _ in range(2):
        cache.build_anew(program, "the program", write)
    (old,) = program.parent.glob(f"{cache.OLD_PREFIX}*")
    assert (content_of(old), content_of(program)) == ("second", "third")


def test_without_a_home_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with a user that its system does not know."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for variable in ("HOME", "XDG_CACHE_HOME", "MPIGAUGE_KERNEL_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", home)
    monkeypatch.setattr(cache, "_temporary_cache", lambda: None)
    with pytest.raises(EnvironmentLacksError, match="HOME is not set") as caught:
        cache.cache_folder()
    assert "MPIGAUGE_KERNEL_DIR" in caught.value.hint
    assert prefixes.managed() == []
    with pytest.raises(EnvironmentLacksError, match="HOME is not set") as caught:
        prefixes.folder()
    assert "XDG_DATA_HOME" in caught.value.hint


@pytest.mark.parametrize("writable", ["program", "folder"])
@pytest.mark.parametrize("mode", [0o775, 0o757])
def test_what_others_may_have_changed_is_built_again(tmp_path: Path, writable: str, mode: int) -> None:
    program = tmp_path / "built" / "program"
    program.parent.mkdir()
    program.write_text("theirs", encoding="ascii")
    (program if writable == "program" else program.parent).chmod(mode)
    assert built(program) == OURS
    for path in (program, program.parent):
        assert not path.stat().st_mode & 0o022


def test_a_folder_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "built" / "program"
    program.parent.mkdir()
    program.write_text("theirs", encoding="ascii")
    monkeypatch.setattr(os, "geteuid", lambda: program.stat().st_uid + 1)
    if program.stat().st_uid == 0:
        os.chown(program, 1, 1)
        os.chown(program.parent, 1, 1)
    with pytest.raises(EnvironmentLacksError, match="belongs to another user"):
        built(program)
    assert program.read_text(encoding="ascii") == "theirs"


def test_a_folder_that_was_named_from_here_is_the_same_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPIGAUGE_KERNEL_DIR", "kernels")
    assert cache.cache_folder() == tmp_path / "kernels"


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing says where programs are kept, HOME is a folder, and temporary files have another."""
    for variable in ("XDG_CACHE_HOME", "MPIGAUGE_KERNEL_DIR"):
        monkeypatch.delenv(variable, raising=False)
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path


def kept_temporarily(folder: Path) -> Path:
    return folder / "tmp" / f"mpigauge-{os.getuid()}" / "kernels"


def test_a_home_that_can_be_written_keeps_programs(homeless: Path) -> None:
    assert cache.cache_folder() == homeless / "home" / ".cache" / "mpigauge" / "kernels"
    assert not list((homeless / "tmp").iterdir())


@pytest.mark.parametrize("why", ["read-only", "noexec", "unknown"])
def test_without_a_home_for_programs_they_are_kept_with_temporary_files(
    homeless: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    """Rights do not stop root, and a mount needs it: what the system says is told here."""
    home, access, statvfs = homeless / "home", os.access, os.statvfs
    if why == "read-only":
        monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != home and access(path, mode))
    elif why == "noexec":
        flags = SimpleNamespace(f_flag=os.ST_NOEXEC)
        monkeypatch.setattr(os, "statvfs", lambda path: flags if Path(path) == home else statvfs(path))
    else:
        monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError()))
    assert cache.cache_folder() == kept_temporarily(homeless)
    assert not kept_temporarily(homeless).parent.stat().st_mode & 0o022


def test_what_is_kept_in_a_home_is_used_although_nothing_can_be_added(
    homeless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an image that brings its kernels."""
    usual = cache.cache_folder()
    usual.mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert cache.cache_folder() == usual
    assert homeless in usual.parents


@pytest.mark.parametrize("theirs", ["folder", "link"])
def test_a_temporary_folder_of_somebody_else_is_not_believed(
    homeless: Path, monkeypatch: pytest.MonkeyPatch, theirs: str
) -> None:
    folder = kept_temporarily(homeless).parent
    if theirs == "link":
        folder.symlink_to(homeless / "home")
    else:
        folder.mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
        if folder.stat().st_uid == 0:
            os.chown(folder, 1, 1)
    monkeypatch.setenv("HOME", "/proc/nowhere")
    assert cache.cache_folder() == Path("/proc/nowhere/.cache/mpigauge/kernels")
