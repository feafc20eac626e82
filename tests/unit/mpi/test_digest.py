"""What an added library was installed from, told by one number."""

from __future__ import annotations

import json
import shutil
from types import MappingProxyType
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_ENVIRONMENT, EXIT_USAGE
from mpigauge.mpi.install.digest import digest
from mpigauge.mpi.install.prefixes import folder
from mpigauge.result.reader import load
from tests.fakes.index import distribution, wheel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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


MARKER = "ran"


def put_wheel(
    index: Path,
    files: Mapping[str, bytes] = MappingProxyType({}),
    *,
    runs: bool = False,
    listed: Mapping[str, bytes] = MappingProxyType({}),
    unlisted: Sequence[str] = (),
) -> None:
    """The wheel of an index, anew; where `runs`, its compiler leaves a mark when it is run."""
    shutil.rmtree(index / "mpich-5.0.2", ignore_errors=True)
    mpicc = f"#!/bin/sh\n: > {index / MARKER}\nexit 1\n".encode()
    files = {**files, **({"bin/mpicc": mpicc} if runs else {})}
    wheel(index, "mpich", "5.0.2", files=files, listed=listed, unlisted=unlisted)


def test_a_version_is_added_again_from_the_same_wheels_alone(cli: Cli, index: Path) -> None:
    put_wheel(index)
    assert cli("mpi", "add", NAME).status == 0
    first = digest(folder() / "mpich-5.0.2")
    cli("mpi", "remove", NAME)
    assert cli("mpi", "add", NAME).status == 0
    cli("mpi", "remove", NAME)
    put_wheel(index, {"note": b"changed"})
    refused = cli("mpi", "add", NAME)
    assert refused.status == EXIT_ENVIRONMENT
    assert f"but they had {first} when it was last added" in refused.err
    assert not (folder() / "mpich-5.0.2").exists()
    new = refused.err.rpartition("--digest ")[2].split()[0]
    assert cli("mpi", "add", NAME, "--digest", new).status == 0
    assert digest(folder() / "mpich-5.0.2") == new != first


def test_a_digest_can_be_asked_for(cli: Cli, index: Path) -> None:
    put_wheel(index)
    for _ in range(2):  # not there yet, and there
        assert (
            "--digest asks for 0123456789abcdef"
            in cli("mpi", "add", NAME, "--digest", "0123456789abcdef").err
        )
        assert cli("mpi", "add", NAME).status == 0
    assert cli("mpi", "add", NAME, "--digest", digest(folder() / "mpich-5.0.2")).status == 0


OTHER = b"as it was"
FAULTS: dict[str, tuple[str, dict[str, bytes], tuple[str, ...]]] = {
    "note is not the file that its wheel lists": ("note", {"note": OTHER}, ()),
    "bin/mpicc is not the file that its wheel lists": ("note", {"bin/mpicc": OTHER}, ()),
    "bin/mpicc is a file that no wheel lists": ("note", {}, ("bin/mpicc",)),
    "bin/RECORD is a file that no wheel lists": ("bin/RECORD", {}, ("bin/RECORD",)),
    "bin/a.pyc is a file that no wheel lists": ("bin/a.pyc", {}, ("bin/a.pyc",)),
}


@pytest.mark.parametrize("says", FAULTS)
def test_a_file_that_is_not_what_its_wheel_lists_is_neither_run_nor_installed(
    cli: Cli, index: Path, says: str
) -> None:
    """No installer looks, and the digest is of the list."""
    more, listed, unlisted = FAULTS[says]
    put_wheel(index, {more: b"changed"}, runs=True, listed=listed, unlisted=unlisted)
    refused = cli("mpi", "add", "mpich")
    assert refused.status == EXIT_ENVIRONMENT
    assert says in refused.err
    assert not (index / MARKER).exists()
    assert not (folder() / "mpich-5.0.2").exists()


def test_what_installers_add_need_not_be_listed(cli: Cli, index: Path) -> None:
    info = "mpich-5.0.2.dist-info"
    added = ("bin/__pycache__/a.pyc", f"{info}/INSTALLER", f"{info}/REQUESTED", ".lock")
    put_wheel(index, dict.fromkeys(added, b""), unlisted=added)
    assert cli("mpi", "add", NAME).status == 0


@pytest.mark.parametrize("name", [NAME, "mpich"])
@pytest.mark.parametrize("asked", [False, True])
def test_nothing_is_run_of_wheels_that_are_others_than_before(
    cli: Cli, index: Path, name: str, asked: bool
) -> None:
    put_wheel(index)
    assert cli("mpi", "add", NAME).status == 0
    first = digest(folder() / "mpich-5.0.2")
    cli("mpi", "remove", NAME)
    if asked:
        (folder() / "digests.json").unlink()
    put_wheel(index, runs=True)
    refused = cli("mpi", "add", name, *(("--digest", first) if asked else ()))
    assert refused.status == EXIT_ENVIRONMENT
    assert first in refused.err
    assert not (index / MARKER).exists()


def test_what_is_there_stays_what_is_known_though_others_are_asked_for(cli: Cli, index: Path) -> None:
    put_wheel(index)
    assert cli("mpi", "add", NAME).status == 0
    first = digest(folder() / "mpich-5.0.2")
    put_wheel(index, {"note": b"changed"})
    assert cli("mpi", "add", "mpich", "--digest", first).status == 0
    known = (folder() / "digests.json").read_bytes()
    refused = cli("mpi", "add", "mpich", "--digest", "0123456789abcdef")
    assert refused.status == EXIT_ENVIRONMENT
    assert f"have the digest {first}, but --digest asks for 0123456789abcdef" in refused.err
    assert (folder() / "digests.json").read_bytes() == known


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
    (entry,) = json.loads(cli("mpi", "list", "--format", "json").out)["mpis"]
    assert entry["digest"] == digest(folder() / "mpich-5.0.2") != ""
    assert entry["digest"] in cli("mpi", "list").out
    cli("run", "pingpong", "--sizes", "8", "--launches", "1", "-q", "-o", "r.jsonl")
    assert load(machine / "work" / "r.jsonl").campaign.libraries[0].digest == entry["digest"]
