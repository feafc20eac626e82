"""What disturbs real libraries is found: variables, parameter files, a full /dev/shm, a tracer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.system_limits import SHARED_MEMORY

if TYPE_CHECKING:
    from mpigauge.mpi.library import Library
    from tests.real.mpi.conftest import Run

pytestmark = pytest.mark.mpi

RUN = ("run", "pingpong", "--sizes", "8,64KiB", "--launches", "1", "-o", "r.jsonl", "-q")
WENT = "! messages went over TCP"

TO_TCP = {
    "openmpi": {"OMPI_MCA_btl": "tcp,self"},
    "intelmpi": {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"},
    "mpich": {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"},
}
"""Variables that take ranks of one host to its network stack; the first is the one that is named."""

FILES = {
    "openmpi": (".openmpi/mca-params.conf", "btl = tcp,self\n"),
    "intelmpi": (".mpiexec.conf", "-genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp\n"),
    "mpich": (".mpiexec.hydra.conf", "-genv MPIR_CVAR_NOLOCAL 1 -genv UCX_TLS tcp,self\n"),
}
"""Parameter files at home that do the same."""

MIB = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$@"', "sh")
"""What gives a command a /dev/shm of 1 MiB."""


def first_doubt(text: str) -> str:
    """The first line with a mark."""
    return next((line for line in text.splitlines() if line.startswith("! ")), "")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An empty home, with the kernels of this one."""
    (tmp_path / "home").mkdir()
    kernels = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": kernels}


def test_a_variable_that_leads_to_tcp_is_the_first_doubt(library: Library, mpigauge: Run) -> None:
    variables = TO_TCP[library.name]
    done = mpigauge(*RUN, "--mpi", str(library.mpicc), environment=variables)
    assert done.returncode == 0, done.stderr
    assert first_doubt(done.stdout).startswith(WENT)
    assert next(iter(variables)) in first_doubt(done.stdout)


def test_so_is_a_parameter_file(
    library: Library,
    mpigauge: Run,
    home: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMPI_MCA_btl", raising=False)  # a variable goes before a file
    name, text = FILES[library.name]
    file = tmp_path / "home" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="ascii")
    done = mpigauge(*RUN, "--mpi", str(library.mpicc), environment=home)
    assert done.returncode == 0, done.stderr
    assert first_doubt(done.stdout).startswith(WENT)
    assert Path(name).name in first_doubt(done.stdout)


def test_a_healthy_run_has_no_such_doubt(library: Library, mpigauge: Run, home: dict[str, str]) -> None:
    """Whether other programs use the cores is the machine's affair."""
    done = mpigauge(*RUN, "--mpi", str(library.mpicc), "--format", "json", environment=home)
    kinds = {one["kind"] for one in json.loads(done.stdout)["findings"]}
    assert not kinds & {"network-on-host", "settings", "traced", "small-shared-memory", "another-mpi"}


def test_a_shared_memory_of_1_mib_is_named(mpigauge: Run, library: Library) -> None:
    """Open MPI leaves it for TCP without a word; the others die of it, all at once or in some cells."""
    if subprocess.run([*MIB, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    done = mpigauge(*RUN, "--mpi", str(library.mpicc), prefix=MIB)
    if library.name == "openmpi":
        assert first_doubt(done.stdout).startswith(WENT)
        assert "has 1 MiB" in first_doubt(done.stdout)
    else:
        assert done.returncode != 0
        assert f"{SHARED_MEMORY} has 1 MiB" in mpigauge("show", "r.jsonl").stdout


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_tracer_is_named(mpigauge: Run) -> None:
    traced = ("strace", "-f", "-qq", "-e", "trace=none", "-o", os.devnull)
    done = mpigauge(*RUN, prefix=traced)
    assert "tracer attached to 2 ranks" in first_doubt(done.stdout)
