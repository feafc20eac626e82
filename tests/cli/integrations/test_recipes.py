"""Recipes of Spack, conda and EasyBuild, files of containers: they need what pyproject.toml says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import Any

import pytest
import yaml
from packaging.version import Version

from mpigauge import __version__
from tests.cli.integrations.conftest import INTEGRATIONS
from tests.places import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
BUILT_WITH = dict(one.split(">=") for one in PYPROJECT["build-system"]["requires"])
SPACK = "spack/spack_repo/mpigauge"
EASYCONFIG = f"mpigauge-{__version__}-foss-2025b.eb"
BUNDLED = {"click", "jinja2", "rich", "numpy", "scipy"}
"""What EasyBuild has in modules of another name."""

BUILD = """
import sys
from pathlib import Path
import hatchling.builders.hooks.plugin.interface, hatchling.metadata.plugin.interface
there = {*sys.modules}
import hatch_build
hatch_build._shared(Path.cwd())
print(*{name.partition(".")[0] for name in sys.modules.keys() - there})
"""
"""What a build runs, and the packages that it has imported for that."""

CONDA_NAMES = {"matplotlib": "matplotlib-base", "msgspec": "msgspec-python"}
CONTAINERS = ("container/Dockerfile", "container/mpigauge.def")


def text(name: str) -> str:
    """One of the examples."""
    return (INTEGRATIONS / name).read_text(encoding="utf-8")


def needed() -> dict[str, str]:
    """The least version of everything that mpigauge imports, and of Python, by name."""
    found = dict(one.split(">=") for one in PROJECT["dependencies"])
    return found | {"python": PROJECT["requires-python"].removeprefix(">=")}


def imported_by_build() -> set[str]:
    """Packages that the hook of the build imports beside hatchling, and what it calls of ours."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    distributions = packages_distributions()
    return {of for name in done.stdout.split() for of in distributions.get(name, ())} - {"mpigauge"}


def calls(source: str, name: str) -> list[ast.Call]:
    """Calls of a function in a recipe that is Python."""
    found = (one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call))
    return [one for one in found if isinstance(one.func, ast.Name) and one.func.id == name]


def easyconfig() -> dict[str, Any]:
    """The parameters of the easyconfig, which is Python without any import."""
    found: dict[str, Any] = {}
    exec(compile(text(f"easybuild/{EASYCONFIG}"), EASYCONFIG, "exec"), found)  # noqa: S102 - our own
    return found


def spack(name: str) -> str:
    """The recipe of a package in the repository for Spack."""
    return text(f"{SPACK}/packages/{name.replace('-', '_')}/package.py")


def spack_needs(source: str) -> set[str]:
    """What a recipe for Spack depends on."""
    return {ast.literal_eval(call.args[0]) for call in calls(source, "depends_on")}


def spack_version(source: str) -> str:
    """The one version that a recipe for Spack has."""
    (version,) = calls(source, "version")
    return str(ast.literal_eval(version.args[0]))


def test_spack_needs_what_the_project_needs() -> None:
    source = spack("py-mpigauge")
    expected = {f"{name if name == 'python' else 'py-' + name}@{least}:" for name, least in needed().items()}
    built_with = {f"py-{name}@{least}:" for name, least in BUILT_WITH.items()}
    assert spack_needs(source) == {*expected, *built_with, "mpi", "c"}
    assert spack_version(source) == __version__
    assert f"/mpigauge-{__version__}.tar.gz" in source


def test_spack_finds_each_recipe_where_its_name_says() -> None:
    """As since its version 1.0: below spack_repo, in folders that are names of Python."""
    repository = yaml.safe_load(text(f"{SPACK}/repo.yaml"))["repo"]
    assert repository["namespace"] == SPACK.rpartition("/")[2]
    assert repository["api"].startswith("v2.")
    recipes = {path.parent.name: path for path in (INTEGRATIONS / SPACK).glob("packages/*/package.py")}
    assert recipes.keys() == {"py_mpigauge", "py_msgspec"}
    for name, path in recipes.items():
        (package,) = (one for one in ast.parse(path.read_text("utf-8")).body if isinstance(one, ast.ClassDef))
        assert package.name == "".join(map(str.capitalize, name.split("_")))
    assert Version(spack_version(spack("py-msgspec"))) >= Version(needed()["msgspec"])


def test_conda_needs_what_the_project_needs() -> None:
    recipe = yaml.safe_load(text("conda/recipe.yaml"))
    assert (recipe["schema_version"], recipe["context"]["version"]) == (1, __version__)
    expected = {f"{CONDA_NAMES.get(name, name)} >={least}" for name, least in needed().items()}
    assert set(recipe["requirements"]["run"]) == {*expected, "__linux", "c-compiler"}
    assert recipe["build"]["noarch"] == "python"
    assert recipe["build"]["python"]["entry_points"] == [f"mpigauge = {PROJECT['scripts']['mpigauge']}"]
    assert (INTEGRATIONS / "conda" / recipe["source"]["path"]).resolve() == ROOT
    assert (ROOT / recipe["about"]["license_file"]).exists()
    assert recipe["about"]["summary"] == PROJECT["description"]


@pytest.mark.thorough
def test_conda_builds_with_what_the_build_imports() -> None:
    """Nothing else is there without build isolation."""
    host = yaml.safe_load(text("conda/recipe.yaml"))["requirements"]["host"]
    least = {"python": needed()["python"]} | BUILT_WITH
    assert set(host) == {f"{name} >={version}" for name, version in least.items()} | {"pip"}
    assert imported_by_build() <= set(BUILT_WITH)


def test_easybuild_needs_what_the_project_needs() -> None:
    found = easyconfig()
    assert (found["name"], found["version"]) == ("mpigauge", __version__)
    modules = {name.lower() for name, _ in found["dependencies"]} | {one[0] for one in found["exts_list"]}
    assert set(needed()) - BUNDLED <= modules
    assert {"python-bundle-pypi", "scipy-bundle"} <= modules


@pytest.mark.parametrize("name", CONTAINERS)
def test_both_containers_are_made_alike(name: str) -> None:
    """Of one system, with the same packages and the compilers that wrappers from outside call."""
    first, second = (
        set(re.findall(r"^ {4,8}(?:gcc|lib).*$", text(one).replace(" \\", ""), re.MULTILINE))
        for one in CONTAINERS
    )
    assert {line.strip() for line in first} == {line.strip() for line in second} != set()
    found = text(name)
    assert "debian:trixie-slim" in found
    assert "OMPI_CC=gcc MPICH_CC=gcc I_MPI_CC=gcc" in found
