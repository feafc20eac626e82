"""Two modules that exclude each other, by the system's own `module`: measured, resumed, compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.result.reader import load
from tests.real.mpi.conftest import Run, prefix

pytestmark = [pytest.mark.mpi, pytest.mark.needs("modulecmd")]

LIBRARIES = {"mpich/5.0": Path(prefix("mpich")) / "bin", "openmpi/5.0": Path(prefix("openmpi")).parent}


@pytest.fixture
def modules(tmp_path: Path) -> dict[str, str]:
    """The environment of a user with a module for each library and none loaded."""
    files = tmp_path / "modulefiles"
    for name, folder in LIBRARIES.items():
        file = files / name
        file.parent.mkdir(parents=True)
        file.write_text(
            f"#%Module\nconflict mpich openmpi\nprepend-path PATH {folder}\nsetenv MPICH_BUILD {name}\n"
        )
    (files / "mpich/.modulerc").write_text("#%Module\nmodule-version mpich/5.0 stable\n")
    return {"MODULEPATH": str(files), "LOADEDMODULES": ""}


def cut_after_first_launch(path: Path) -> None:
    """A result becomes that of a campaign which was killed early."""
    lines = path.read_text().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if line.startswith('{"type":"done"')]
    path.write_text("".join(lines[: ends[0] + 1]))


def check_campaign(mpigauge: Run, folder: Path, named: dict[str, str], environment: dict[str, str]) -> None:
    """Two modules are measured, each launch in the environment of its own, resumed and compared."""
    words = [word for label, name in named.items() for word in ("--mpi", f"{label}={name}")]
    words += ["--sizes", "8", "--launches", "2", "-q", "-o", "r.jsonl"]
    path = folder / "r.jsonl"
    ran = mpigauge("run", "pingpong", *words, environment=environment)
    assert ran.returncode == 0, ran.stderr
    first = load(path)
    assert {one.label: one.loaded_by for one in first.campaign.libraries} == named
    for launch in first.launches:
        assert named[launch.job.label].endswith(launch.variables["MPICH_BUILD"])
        assert launch.variables["MPICH_BUILD"].startswith(launch.job.mpi)

    cut_after_first_launch(path)
    resumed = mpigauge("resume", "r.jsonl", "-q", environment=environment)
    assert resumed.returncode == 0, resumed.stderr
    assert {(one.job.label, one.number) for one in load(path).launches} == {
        (label, number) for label in named for number in (1, 2)
    }
    assert "new Open MPI" in mpigauge("compare", "r.jsonl").stdout


def test_each_job_runs_in_the_environment_of_its_module(
    mpigauge: Run, tmp_path: Path, modules: dict[str, str]
) -> None:
    check_campaign(mpigauge, tmp_path, {"old": "module:mpich/5.0", "new": "module:openmpi/5.0"}, modules)


def test_a_module_that_is_not_there_ends_with_its_reason(mpigauge: Run, modules: dict[str, str]) -> None:
    done = mpigauge("run", "pingpong", "--mpi", "module:mpich/9", environment=modules)
    assert done.returncode == 3
    assert "Unable to locate a modulefile for 'mpich/9'" in done.stderr


def test_a_symbolic_version_is_a_name(mpigauge: Run, modules: dict[str, str]) -> None:
    done = mpigauge("run", "pingpong", "--dry-run", "--mpi", "module:mpich/stable", environment=modules)
    assert done.returncode == 0, done.stderr
    assert "module load mpich/stable; " in done.stdout
