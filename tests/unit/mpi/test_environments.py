"""Environments that modules and scripts give: what they change, and why one is refused."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path

import pytest

from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.mpi.environments import applied, loaded, shell_command
from mpigauge.mpi.find import absent, find_each, split_label

MODULE = """() {
  case "$1 $2" in
    "load openmpi/4")
      export PATH=/modules/openmpi-4/bin:$PATH UCX_TLS=tcp LOADEDMODULES=$LOADEDMODULES:openmpi/4 ;;
    "load mpich/4") echo "ERROR: Module cannot be loaded due to a conflict." >&2; return 1 ;;
    "load quiet/1") echo "quiet/1: ERROR:105: Unable to locate a modulefile" >&2 ;;
    "load lmod/1") echo "Lmod has detected the following error:" >&2; echo "unknown: lmod/1" >&2; return 1 ;;
    "unload openmpi/3") unset OLD_SETTING; LOADEDMODULES=${LOADEDMODULES/openmpi\\/3/} ;;
    *) return 1 ;;
  esac
}"""
"""A stand-in for the function that Environment Modules and Lmod define in a user's shell."""


@pytest.fixture(autouse=True)
def shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell that exports `module`, as the files of both programs do."""
    monkeypatch.setenv("BASH_FUNC_module%%", MODULE)
    monkeypatch.setenv("LOADEDMODULES", "gcc/13")


def test_a_module_changes_what_its_jobs_need_and_no_more() -> None:
    changes = loaded("module:openmpi/4").changes
    assert changes == {"PATH": f"/modules/openmpi-4/bin:{os.environ['PATH']}", "UCX_TLS": "tcp"}


def test_another_version_is_unloaded_first_and_what_it_set_is_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOADEDMODULES", "openmpi/3:gcc/13")
    monkeypatch.setenv("OLD_SETTING", "1")
    changes = loaded("module:openmpi/4").changes
    assert changes["OLD_SETTING"] is None
    assert "OLD_SETTING" not in applied(os.environ, changes)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("module:quiet/1", "quiet/1: ERROR:105: Unable to locate a modulefile"),
        ("module:lmod/1", "Lmod has detected the following error: unknown: lmod/1"),
    ],
)
def test_a_module_that_is_not_there_is_refused_with_the_cause(name: str, why: str) -> None:
    with pytest.raises(EnvironmentLacksError) as refused:
        loaded(name)
    assert refused.value.sentence == f"{name}: {why}"
    assert "module avail" in refused.value.hint


def test_a_conflict_names_what_is_loaded() -> None:
    with pytest.raises(EnvironmentLacksError, match="due to a conflict") as refused:
        loaded("module:mpich/4")
    assert refused.value.hint.startswith("unload what excludes it; loaded are gcc/13")


@pytest.mark.parametrize("name", ["module:", "source: ", "module:--help", 'module:"'])
def test_a_name_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        loaded(name)


def test_without_modules_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BASH_FUNC_module%%")
    monkeypatch.setattr("mpigauge.mpi.environments.INIT_FILES", ())
    with pytest.raises(EnvironmentLacksError, match="no module command"):
        loaded("module:openmpi/4")


def test_a_script_may_have_arguments(tmp_path: Path) -> None:
    script = tmp_path / "env.sh"
    script.write_text('export FLAVOUR=$1 SECOND_LINE="a\nb"\n')
    assert loaded(f"source:{script} release").changes == {"FLAVOUR": "release", "SECOND_LINE": "a\nb"}


def test_what_mpigauge_sets_for_itself_is_nothing_that_a_script_has_set(tmp_path: Path) -> None:
    script = tmp_path / "env.sh"
    script.write_text("export FLAVOUR=release\n")
    os.putenv("OF_MPIGAUGE", "1")  # as the command line does, for numpy alone
    try:
        assert loaded(f"source:{script}").changes == {"FLAVOUR": "release"}
    finally:
        os.unsetenv("OF_MPIGAUGE")


def test_a_script_that_fails_is_refused_with_its_words(tmp_path: Path) -> None:
    script = tmp_path / "env.sh"
    script.write_text("echo the licence is gone >&2; return 3\n")
    with pytest.raises(EnvironmentLacksError, match="the licence is gone"):
        loaded(f"source:{script}")


def test_of_a_script_that_does_not_end_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, started = tmp_path / "env.sh", tmp_path / "started"
    script.write_text(f"sleep 60 & echo $! > {started}; wait\n")
    monkeypatch.setattr("mpigauge.mpi.environments.TIMEOUT_S", 1)
    with pytest.raises(EnvironmentLacksError, match="not loaded within 1 s"):
        loaded(f"source:{script}")
    words = Path(f"/proc/{started.read_text().strip()}/cmdline")
    for _ in range(100):
        if not (words.exists() and words.read_bytes()):
            return
        time.sleep(0.05)
    pytest.fail("its child still runs")


def test_a_script_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="No such file"):
        loaded(f"source:{tmp_path}/absent.sh")


def test_the_library_of_a_script_is_the_mpicc_that_it_puts_on_path(tmp_path: Path) -> None:
    script = tmp_path / "env.sh"
    script.write_text(f"export PATH={tmp_path}:$PATH MINE=1\n")
    (tmp_path / "mpi.h").write_text("#define MPI_VERSION 4\n")
    (tmp_path / "mpicc").write_text('#!/bin/sh\n[ "$MINE" = 1 ] && exec cc -I "${0%/*}" "$@"\n')
    (tmp_path / "mpicc").chmod(0o755)
    (library,) = find_each([f"source:{script}"])
    assert (library.mpicc, library.environment["MINE"], library.loaded_by) == (
        tmp_path / "mpicc",
        "1",
        f"source:{script}",
    )
    assert library.environ["MINE"] == "1"
    assert library.origin == f"source {script}"


def test_a_label_stands_before_a_module_and_modules_are_never_added() -> None:
    assert split_label("new=module:openmpi/5.0.8") == ("new", "module:openmpi/5.0.8")
    assert absent(["module:openmpi/5.0.8"]) == []
    assert shell_command("module:gcc/13 openmpi/5") == "module load gcc/13 openmpi/5"


@pytest.mark.parametrize("name", ["source:/a;touch X", "source:/a$(touch X)", "module:a`touch X` '&' b"])
def test_what_is_to_be_typed_of_a_strangers_words_runs_nothing_else(name: str) -> None:
    typed = shlex.split(shell_command(name), posix=True)
    punctuated = shlex.shlex(shell_command(name), posix=True, punctuation_chars=";&$`()")
    assert [*punctuated] == typed
