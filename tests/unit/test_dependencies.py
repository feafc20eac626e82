"""Packages that cannot be imported: the sentence names the one that is to blame, and where it lies."""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from mpigauge import programs
from mpigauge.dependencies import cannot_import, check_address_space, packages
from mpigauge.errors import EXIT_ENVIRONMENT, EnvironmentLacksError

BROKEN = {
    "fails": "raise RuntimeError('for another Python')",
    "imports what is not there": "import nowhere_to_be_found",
    "was written for Python 2": "print 'hello'",
    "is of another kind of Python": "from . import _not_built_for_this_one",
}


def imported(name: str) -> EnvironmentLacksError | None:
    """What is said of the error of an import."""
    try:
        importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - whatever a package raises
        return cannot_import(error)
    return None


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a package named jinja2 before ours; it has nothing in it yet."""
    folder = tmp_path / "jinja2"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [one for one in sys.modules if one.partition(".")[0] == "jinja2"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_package_on_pythonpath_is_named(
    package: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "__init__.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    said = imported("jinja2")
    assert said is not None
    assert said.sentence.startswith(f"jinja2 cannot be imported: {package}, by PYTHONPATH: ")
    assert str(package.parent) in said.hint


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_one_that_is_broken_where_it_belongs_is_named_with_its_file(package: Path, text: str) -> None:
    (package / "__init__.py").write_text(text, encoding="utf-8")
    said = imported("jinja2")
    assert said is not None
    assert said.sentence.startswith(f"jinja2 cannot be imported: {package}/__init__.py: ")
    assert "PYTHONPATH" not in said.sentence + said.hint


def test_one_that_is_not_there_is_to_be_installed() -> None:
    said = imported("nowhere_to_be_found")
    assert said is not None
    assert said.sentence == "nowhere_to_be_found cannot be imported: No module named 'nowhere_to_be_found'"
    assert "install" in said.hint


def test_a_package_of_ours_that_stumbles_over_a_foreign_one_is_not_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours is sound, and needs of the other what that does not have."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    for folder, text in (("modules/numpy", ""), ("ours/stands_on_numpy", "raise AttributeError('float64')")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "ours"))
    said = imported("stands_on_numpy")
    assert said is not None
    assert said.sentence.startswith(f"numpy cannot be imported: {tmp_path}/modules/numpy, by PYTHONPATH: ")


@pytest.mark.parametrize(
    "use",
    ["jinja2.option", "jinja2.before()", "from jinja2 import nothing_of_that_name"],
    ids=lambda use: use.split(".")[-1],
)
def test_a_foreign_package_that_is_too_old_is_named(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str
) -> None:
    """It is imported well, and lacks what is asked of it."""
    (package / "__init__.py").write_text("def before():\n    raise TypeError('argument')\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    try:
        exec(f"import jinja2\n{use}", {"__name__": "mpigauge.cli"})  # noqa: S102 - as a module of ours
    except Exception as error:  # noqa: BLE001 - whatever it raises
        said = cannot_import(error)
    assert said is not None
    assert said.sentence.startswith("jinja2 ")
    assert f": {package}, by PYTHONPATH: " in said.sentence
    assert str(package.parent) in said.hint


@pytest.mark.parametrize("name", ["click", "msgspec"])
def test_the_command_line_says_which_foreign_package_is_in_its_way(tmp_path: Path, name: str) -> None:
    """Modules of clusters set PYTHONPATH, and not for us."""
    (tmp_path / f"{name}.py").write_text("x = 1\n", encoding="utf-8")
    words = (sys.executable, "-m", "mpigauge", "list", "plans")
    folders = filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == EXIT_ENVIRONMENT
    assert done.stderr.startswith(f"mpigauge: {name} ")
    assert f": {tmp_path}/{name}.py, by PYTHONPATH: " in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_an_older_library_of_the_system_is_told_from_a_broken_package(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of advice, as numpy gives it, is not the cause."""
    text = """
try:
    raise ImportError("libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by x.so)")
except ImportError as error:
    raise ImportError("IMPORTANT: PLEASE READ THIS") from error
"""
    (package / "__init__.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/old/lib64")
    said = imported("jinja2")
    assert said is not None
    assert said.sentence.endswith(": libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by x.so)")
    assert "LD_LIBRARY_PATH" in said.hint


@pytest.mark.parametrize("error", [ValueError("x"), ImportError("no name"), OSError(2, "no such file")])
def test_other_errors_are_none_of_an_import(error: Exception) -> None:
    assert cannot_import(error) is None


def test_an_import_of_ours_that_fails_is_our_fault() -> None:
    assert imported("mpigauge.there_is_no_such_module") is None


def limited(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))


def test_below_a_low_limit_of_memory_numpy_is_tried_elsewhere_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenBLAS ends the process whose memory it does not get, or tries for ever."""

    def hangs(*_: object) -> programs.Ended:
        raise TimeoutError("has not ended")

    limited(monkeypatch, 2**28)
    for run in (lambda *_: programs.Ended(1, "", "OpenBLAS error"), hangs):
        monkeypatch.setattr(programs, "run", run)
        with pytest.raises(EnvironmentLacksError, match=r"256 MiB .*ulimit -v") as caught:
            check_address_space()
        assert caught.value.hint == "raise ulimit -v"
    monkeypatch.setattr(programs, "run", lambda *_: programs.Ended(0, "", ""))
    check_address_space()


@pytest.mark.parametrize("limit", [resource.RLIM_INFINITY, 2**32])
def test_with_memory_enough_numpy_is_not_tried(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    limited(monkeypatch, limit)
    monkeypatch.setattr(programs, "run", None)
    check_address_space()


def test_a_limit_of_memory_is_named_before_a_library_ends_us() -> None:
    code = (
        "import resource, sys; from mpigauge import cli, dependencies; "
        "dependencies.IMPORTS = 'raise SystemExit(1)'; "
        "resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29)); cli.main(['show', sys.argv[1]])"
    )
    result = Path(__file__).parents[2] / "docs" / "results" / "busy.jsonl.gz"
    done = subprocess.run(
        [sys.executable, "-c", code, str(result)], capture_output=True, text=True, check=False
    )
    assert done.returncode == EXIT_ENVIRONMENT, done.stderr
    assert "512 MiB of address space (ulimit -v)" in done.stderr


def test_what_is_needed_is_what_the_metadata_say() -> None:
    assert {"click", "numpy", "msgspec"} <= set(packages())
    assert "pyarrow" not in packages()
