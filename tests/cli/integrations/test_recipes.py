"""Recipes of Spack, conda and EasyBuild, files of containers: they need what pyproject.toml says."""

from __future__ import annotations

import ast
import re
import tomllib
from typing import Any

import pytest
import yaml

from mpigauge import __version__
from tests.cli.integrations.conftest import INTEGRATIONS
from tests.places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EASYCONFIG = f"mpigauge-{__version__}-foss-2025b.eb"
BUNDLED = {"click", "jinja2", "rich", "numpy", "scipy"}
"""What EasyBuild has in modules of another name."""

CONDA_NAMES = {"matplotlib": "matplotlib-base", "msgspec": "msgspec-python"}
CONTAINERS = ("container/Dockerfile", "container/mpigauge.def")


def text(name: str) -> str:
    """One of the examples."""
    return (INTEGRATIONS / name).read_text(encoding="utf-8")


def needed() -> dict[str, str]:
    """The least version of everything that mpigauge imports, and of Python, by name."""
    found = dict(one.split(">=") for one in PROJECT["dependencies"])
    return found | {"python": PROJECT["requires-python"].removeprefix(">=")}


def calls(source: str, name: str) -> list[ast.Call]:
    """Calls of a function in a recipe that is Python."""
    found = (one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call))
    return [one for one in found if isinstance(one.func, ast.Name) and one.func.id == name]


def easyconfig() -> dict[str, Any]:
    """The parameters of the easyconfig, which is Python without any import."""
    found: dict[str, Any] = {}
    exec(compile(text(f"easybuild/{EASYCONFIG}"), EASYCONFIG, "exec"), found)  # noqa: S102 - our own
    return found


def test_spack_needs_what_the_project_needs() -> None:
    source = text("spack/package.py")
    specs = [ast.literal_eval(call.args[0]) for call in calls(source, "depends_on")]
    expected = {f"{name if name == 'python' else 'py-' + name}@{least}:" for name, least in needed().items()}
    assert expected <= set(specs)
    assert {spec for spec in specs if "@" not in spec} == {"mpi", "c"}
    (version,) = calls(source, "version")
    assert ast.literal_eval(version.args[0]) == __version__
    assert f"/mpigauge-{__version__}.tar.gz" in source


def test_conda_needs_what_the_project_needs() -> None:
    recipe = yaml.safe_load(text("conda/recipe.yaml"))
    assert (recipe["schema_version"], recipe["context"]["version"]) == (1, __version__)
    expected = {f"{CONDA_NAMES.get(name, name)} >={least}" for name, least in needed().items()}
    assert set(recipe["requirements"]["run"]) == {*expected, "c-compiler"}
    assert recipe["build"]["noarch"] == "python"
    assert recipe["build"]["python"]["entry_points"] == [f"mpigauge = {PROJECT['scripts']['mpigauge']}"]
    assert (INTEGRATIONS / "conda" / recipe["source"]["path"]).resolve() == ROOT
    assert (ROOT / recipe["about"]["license_file"]).exists()
    assert recipe["about"]["summary"] == PROJECT["description"]


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
