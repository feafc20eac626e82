"""Whether a library knows a variable: looked up where it lists them, or in its files; else not said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi.kinds import KINDS
from mpigauge.mpi.library import Library
from mpigauge.mpi.variables import unknown_variables

if TYPE_CHECKING:
    from pathlib import Path

OMPI_INFO = """#!/bin/sh
echo 'mca:btl:sm:param:btl_sm_eager_limit:value:4096'
echo 'mca:btl:base:param:btl:value:'
"""
LDD = """#!/bin/sh
echo "	libmpi.so.12 => {libmpi} (0x00007f8936200000)"
"""
NAMES = ("OMPI_MCA_btl_sm_eager_limit", "OMPI_MCA_btl", "OMPI_MCA_nope", "MPIR_CVAR_KNOWN", "MPIR_CVAR_KNO")


def library(folder: Path, kind: str) -> Library:
    folder.mkdir(exist_ok=True)
    mpicc = folder / "mpicc"
    mpicc.touch()
    found = next(one for one in KINDS if one.name == kind)
    path = {"PATH": f"{folder}:/usr/bin:/bin"}
    return Library(found, "1", "4.1", mpicc, folder / "mpiexec", folder, "test", "", path)


def script(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def test_what_is_listed_is_known(tmp_path: Path) -> None:
    one = library(tmp_path, "openmpi")
    script(tmp_path / "ompi_info", OMPI_INFO)
    assert unknown_variables(one, tmp_path / "kernel", NAMES) == ["OMPI_MCA_nope"]


def test_what_stands_in_its_files_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = library(tmp_path, "mpich")
    (tmp_path / "libmpi.so.12").write_bytes(b"\0MPIR_CVAR_KNOWN\0MPIR_CVAR_OTHER\0")
    script(tmp_path / "ldd", LDD.format(libmpi=tmp_path / "libmpi.so.12"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert unknown_variables(one, tmp_path / "kernel", NAMES) == ["MPIR_CVAR_KNO"]


@pytest.mark.parametrize("kind", ["openmpi", "mpich", "intelmpi", "mvapich"])
def test_where_nothing_can_be_looked_up_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert unknown_variables(library(tmp_path, kind), tmp_path / "kernel", NAMES) == []


def test_variables_of_others_are_not_looked_up(tmp_path: Path) -> None:
    one = library(tmp_path, "openmpi")
    script(tmp_path / "ompi_info", OMPI_INFO)
    assert unknown_variables(one, tmp_path / "kernel", ["UCX_TLS", "FI_PROVIDER", "MY_OWN"]) == []
