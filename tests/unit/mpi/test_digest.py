"""What an added library was installed from, told by one number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi.install.digest import digest
from mpigauge.mpi.install.prefixes import folder
from mpigauge.result.reader import load
from tests.fakes.index import distribution

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


def test_it_is_in_the_list_and_in_the_result(cli: Cli, machine: Path, index: Path) -> None:
    cli("mpi", "add", "mpich==5.0.2")
    put(folder() / "mpich-5.0.2", "uv", {"share/note": b""})
    (entry,) = json.loads(cli("mpi", "list", "--format", "json").out)["mpis"]
    assert entry["digest"] == digest(folder() / "mpich-5.0.2") != ""
    assert entry["digest"] in cli("mpi", "list").out
    cli("run", "pingpong", "--sizes", "8", "--launches", "1", "-q", "-o", "r.jsonl")
    assert load(machine / "work" / "r.jsonl").campaign.libraries[0].digest == entry["digest"]
