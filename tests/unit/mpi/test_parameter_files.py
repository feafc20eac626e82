"""Parameter files: where each library looks for them, and that nothing strange is read for ever."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi.kinds import kind_named
from mpigauge.mpi.library import Library
from mpigauge.mpi.parameter_files import READ_MOST_BYTES, parameter_files

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = Path("opt")


def library(kind: str) -> Library:
    """A library in a prefix of its own, below the folder that we are in."""
    found = kind_named(kind)
    assert found is not None
    prefix = PREFIX.absolute()
    return Library(
        found, "1", "4.0", prefix / "bin" / "mpicc", prefix / "bin" / "mpiexec", prefix, "", "", {}
    )


def put(path: str, text: str) -> Path:
    """A file; ~ is the home of the test."""
    file = Path(path).expanduser()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("kind", "path", "text", "settings"),
    [
        ("openmpi", "~/.openmpi/mca-params.conf", "# a note\n\nbtl = tcp,self # why\n", {"btl": "tcp,self"}),
        ("openmpi", "opt/etc/openmpi-mca-params.conf", "pml=ucx", {"pml": "ucx"}),
        ("openmpi", "opt/etc/openmpi-mca-params-override.conf", "pml=ob1", {"pml": "ob1"}),
        ("openmpi", "~/.prte/mca-params.conf", "hwloc_default_binding_policy = none", None),
        ("openmpi", "~/.pmix/mca-params.conf", "gds = hash", {"gds": "hash"}),
        ("openmpi", "opt/etc/prte-mca-params.conf", "a=b", {"a": "b"}),
        ("openmpi", "opt/etc/pmix-mca-params.conf", "a=b", {"a": "b"}),
        ("spectrum", "~/.openmpi/mca-params.conf", "btl = self,tcp", {"btl": "self,tcp"}),
        ("mpich", "~/.mpiexec.hydra.conf", "-genv MPIR_CVAR_NOLOCAL 1 -bind-to none", None),
        ("mpich", "opt/etc/mpiexec.hydra.conf", "-iface eth0", {"-iface": "eth0"}),
        ("intelmpi", "~/.mpiexec.conf", "-genv I_MPI_FABRICS ofi", {"I_MPI_FABRICS": "ofi"}),
        ("intelmpi", "mpiexec.conf", "-genv I_MPI_FABRICS ofi", {"I_MPI_FABRICS": "ofi"}),
        ("intelmpi", "opt/intel64/etc/mpiexec.conf", "-genv I_MPI_FABRICS ofi", {"I_MPI_FABRICS": "ofi"}),
        ("mpich", "~/ucx.conf", "[Graviton]\nUCX_TLS=tcp,self\n", {"UCX_TLS": "tcp,self"}),
        ("openmpi", "ucx.conf", "UCX_TLS=tcp", {"UCX_TLS": "tcp"}),
        ("mpich", "opt/etc/ucx/ucx.conf", "UCX_TLS=tcp", {"UCX_TLS": "tcp"}),
        ("generic", "~/ucx.conf", "UCX_TLS=tcp", {"UCX_TLS": "tcp"}),
    ],
)
def test_each_library_has_its_files(
    kind: str, path: str, text: str, settings: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = library("mpich" if kind == "generic" else kind)
    file = put(path, text)
    found = parameter_files(here)
    (name,) = found
    assert Path(name) == file.absolute()
    assert settings is None or found[name] == settings
    if "bind" in text:
        assert "none" in found[name].values()


@pytest.mark.usefixtures("machine")
def test_files_of_other_libraries_and_those_without_settings_are_none() -> None:
    put("~/.openmpi/mca-params.conf", "btl = tcp,self")
    put("~/.mpiexec.hydra.conf", "# nothing\n\n")
    assert parameter_files(library("mpich")) == {}
    assert parameter_files(library("intelmpi")) == {}


@pytest.mark.usefixtures("machine")
def test_variables_name_files_in_place_of_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    put("~/.openmpi/mca-params.conf", "btl = tcp,self")
    for name in ("one", "two"):
        put(name, f"mtl = {name}")
    monkeypatch.setenv("OMPI_MCA_mca_base_param_files", f"{Path('one').absolute()}:{Path('two').absolute()}")
    found = parameter_files(library("openmpi"))
    assert [*found.values()] == [{"mtl": "one"}, {"mtl": "two"}]

    lo = put("~/.mpiexec.hydra.conf", "-iface lo")
    put("hydra", "-iface eth0")
    assert parameter_files(library("mpich")) == {str(lo): {"-iface": "lo"}}
    monkeypatch.setenv("HYDRA_CONFIG_FILE", str(Path("hydra").absolute()))
    assert [*parameter_files(library("mpich")).values()] == [{"-iface": "eth0"}]

    put("ucx/ucx.conf", "UCX_TLS=tcp")
    monkeypatch.setenv("UCX_CONFIG_DIR", str(Path("ucx").absolute()))
    assert {"UCX_TLS": "tcp"} in parameter_files(library("mpich")).values()


@pytest.mark.usefixtures("machine")
def test_of_two_files_of_hydra_the_first_alone_is_read() -> None:
    lo = put("~/.mpiexec.hydra.conf", "-iface lo")
    put("opt/etc/mpiexec.hydra.conf", "-iface eth0")
    assert parameter_files(library("mpich")) == {str(lo): {"-iface": "lo"}}


@pytest.mark.usefixtures("machine")
def test_files_of_the_system_are_those_of_its_own_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Debian's Open MPI reads /etc/openmpi, one in another prefix does not."""
    looked_at: list[str] = []
    monkeypatch.setattr("mpigauge.mpi.parameter_files._text", lambda path: looked_at.append(str(path)))
    file = "/etc/openmpi/openmpi-mca-params.conf"
    for prefix, read in (("/usr", True), ("/usr/local", False), (str(tmp_path), False)):
        looked_at.clear()
        parameter_files(replace(library("openmpi"), prefix=Path(prefix)))
        assert (file in looked_at) is read


def _folder(path: Path) -> None:
    path.mkdir(parents=True)


def _pipe(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(path)


def _device(path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to("/dev/zero")


def _binary(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\x7fELF\0\0btl = tcp\xff")


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("make", [_folder, _pipe, _loop, _device, _binary])
def test_what_is_no_text_is_not_read(make: Callable[[Path], None]) -> None:
    make(Path("~/.openmpi/mca-params.conf").expanduser())
    assert parameter_files(library("openmpi")) == {}


@pytest.mark.usefixtures("machine")
def test_reading_is_bounded() -> None:
    lines = ["btl = tcp,self", *["# " + "x" * 78] * 2000]
    put("~/.openmpi/mca-params.conf", "\n".join([*lines, "mtl = late"]))
    assert READ_MOST_BYTES < 2000 * 80
    (settings,) = parameter_files(library("openmpi")).values()
    assert settings == {"btl": "tcp,self"}
    put("~/.openmpi/mca-params.conf", "\n".join(f"a{n} = {n}" for n in range(5000)))
    (settings,) = parameter_files(library("openmpi")).values()
    assert len(settings) < 5000


@pytest.mark.usefixtures("machine")
def test_words_that_do_not_end_are_read_as_they_stand() -> None:
    put("~/.mpiexec.conf", "-genv\n-genv A\n-genv I_MPI_FABRICS 'ofi\n-bind-to\n--map-by=core\nstray\n")
    (settings,) = parameter_files(library("intelmpi")).values()
    assert settings["I_MPI_FABRICS"] == "'ofi"
    assert settings["--map-by"] == "core"


@pytest.mark.usefixtures("machine")
def test_who_has_no_home_has_no_files_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for home in ("/nonexistent", "relative", ""):
        monkeypatch.setenv("HOME", home)
        assert not parameter_files(library("mpich"))
