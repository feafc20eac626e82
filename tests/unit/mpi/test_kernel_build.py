"""Building the kernel: once for the same things, anew for others, and with a sentence where it fails."""

from __future__ import annotations

import errno
import os
import platform
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge import cache
from mpigauge.errors import EnvironmentLacksError
from mpigauge.mpi import find, kernel, wrapper
from mpigauge.plan.patterns import KERNEL_VERSION
from tests.fakes.mpi import SHEBANG, FakeMpi, install, write_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpigauge.mpi.library import Library
    from tests.conftest import Install


@pytest.fixture
def library(openmpi: FakeMpi) -> Library:
    """A fake Open MPI 5.0.11."""
    return find.find_default()


def test_all_sources_are_shipped_and_none_else() -> None:
    names = {str(path.relative_to(kernel.SOURCES)) for path in kernel.sources()}
    assert {"main.c", "clock/clock.h", "patterns/patterns.def", "patterns/pingpong.c"} <= names
    on_disk = {str(p.relative_to(kernel.SOURCES)) for p in kernel.SOURCES.rglob("*") if p.is_file()}
    assert names == on_disk - {"describe.json"}


def test_it_is_built_once_and_only_then_waited_for(library: Library) -> None:
    waited: list[str] = []

    @contextmanager
    def for_(of: Library) -> Iterator[None]:
        waited.append(of.name)
        yield

    program = kernel.build(library, for_)
    assert os.access(program, os.X_OK)
    assert list(program.parent.iterdir()) == [program]
    before = program.stat()
    assert kernel.build(library, for_) == program
    assert waited == [library.name]
    assert program.stat().st_mtime_ns == before.st_mtime_ns
    assert kernel.rebuild(library) == program
    assert program.stat().st_ino != before.st_ino or program.stat().st_mtime_ns != before.st_mtime_ns


def test_the_cache_is_where_the_user_says(
    library: Library, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kernel.kernel_path(library).is_relative_to(machine / "kernels")
    monkeypatch.delenv("MPIGAUGE_KERNEL_DIR")
    assert kernel.kernel_path(library).is_relative_to(machine / "home" / "cache" / "mpigauge")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert kernel.kernel_path(library).is_relative_to(machine / "home" / ".cache" / "mpigauge")


def test_another_thing_to_build_is_another_kernel(
    library: Library, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [kernel.kernel_path(library)]
    paths.append(kernel.kernel_path(replace(library, version="5.0.12")))
    paths.append(kernel.kernel_path(replace(library, show="gcc -O3 -lmpi")))
    paths.append(kernel.kernel_path(replace(library, mpicc=install(machine / "copy").mpicc)))
    paths.append(kernel.kernel_path(replace(library, options=("-cc=icx",))))
    with monkeypatch.context() as patch:
        patch.setattr(platform, "machine", lambda: "another")
        paths.append(kernel.kernel_path(library))
    with monkeypatch.context() as patch:
        patch.setattr(platform, "libc_ver", lambda: ("musl", "1.2"))
        paths.append(kernel.kernel_path(library))
    with monkeypatch.context() as patch:
        patch.setattr(kernel, "_version_of", lambda *_: "gcc (another) 99.1")
        paths.append(kernel.kernel_path(library))
    os.utime(library.mpicc, (1, 1))
    paths.append(kernel.kernel_path(library))
    monkeypatch.setattr(kernel, "FLAGS", ("-O3",))
    paths.append(kernel.kernel_path(library))
    source = machine / "source.c"
    monkeypatch.setattr(kernel, "sources", lambda: [source])
    for text in ("int x;", "int y;"):
        source.write_text(text, encoding="ascii")
        paths.append(kernel.kernel_path(library))
    assert len(set(paths)) == len(paths)
    assert paths[-1] == kernel.kernel_path(library)


def test_a_library_that_cannot_compile_is_named_with_the_compilers_words(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(machine / "gcc" / "gcc", "")
    monkeypatch.setenv("PATH", str(machine / "gcc"))
    fake = install(
        machine / "opt", compile_error="In file included from x\nmain.c:7:2: error: 'MPI_Foo' undeclared"
    )
    library = find.find(str(fake.prefix))
    with pytest.raises(EnvironmentLacksError) as caught:
        kernel.build(library)
    assert str(fake.mpicc) in caught.value.sentence
    assert "'MPI_Foo' undeclared" in caught.value.sentence
    assert not kernel.kernel_path(library).exists()
    assert not list(kernel.kernel_path(library).parent.glob("tmp*"))


def test_a_cache_that_cannot_be_written_is_named_with_the_variable(
    library: Library, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "file").touch()
    monkeypatch.setenv("MPIGAUGE_KERNEL_DIR", str(machine / "file"))
    with pytest.raises(EnvironmentLacksError, match="cannot be kept") as caught:
        kernel.build(library)
    assert "MPIGAUGE_KERNEL_DIR" in caught.value.hint


def test_a_kernel_that_may_not_be_run_is_told_so(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that is mounted noexec; nobody helps by building it again."""

    def run(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    kernel.build(library)
    monkeypatch.setattr(kernel, "run", run)
    with pytest.raises(EnvironmentLacksError, match="may not be run there") as caught:
        kernel.describe(library)
    assert "MPIGAUGE_KERNEL_DIR" in caught.value.hint


def put_in_place_of(program: Path, text: str, shebang: str = SHEBANG) -> None:
    """Keep another program in the cache as if it had been built."""
    write_program(program, text, shebang)
    program.write_bytes(cache.sealed(program.read_bytes()))


@pytest.mark.parametrize("noise", ["XALT: tracking enabled\\n", "no end of line "])
def test_what_a_preloaded_library_prints_is_not_the_kernel_s(library: Library, noise: str) -> None:
    described = kernel.describe(library)
    program = kernel.kernel_path(library)
    program.rename(program.with_name("whole"))
    put_in_place_of(program, f"printf '{noise}'\n'{program.with_name('whole')}' \"$@\"", "#!/bin/sh\n")
    assert kernel.describe(library) == described


def test_a_preloaded_library_is_named_where_a_kernel_does_not_describe_itself(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", "")
    put_in_place_of(kernel.build(library), "print('hello')")
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    with pytest.raises(EnvironmentLacksError, match="does not describe itself") as caught:
        kernel.describe(library)
    assert "LD_PRELOAD" in caught.value.hint


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import sys; sys.exit('libmpi.so.40: cannot open shared object file')", "libmpi.so.40"),
        ("import os; os.abort()", "did not start: SIGABRT: Aborted"),
        ("print('hello')", "does not describe itself"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\"')", "does not describe itself"),
        (
            'print(\'{"kernel":99,"large_counts":false,"datatypes":[],"patterns":[]}\')',
            "has version 99",
        ),
    ],
)
def test_a_kernel_that_does_not_describe_itself_is_to_be_built_anew(
    library: Library, program: str, words: str
) -> None:
    put_in_place_of(kernel.build(library), program)
    with pytest.raises(EnvironmentLacksError) as caught:
        kernel.describe(library)
    assert words in caught.value.sentence
    assert "kernel build --force" in caught.value.hint
    kernel.rebuild(library)
    assert kernel.describe(library).kernel == KERNEL_VERSION


@pytest.mark.parametrize(
    ("kind", "version", "ran"),
    [
        ("openmpi", "5.0.11", "Open MPI v5.0.11, package: Open MPI, ident: 5.0.11"),
        ("openmpi", "5.1.0", "Open MPI v5.1.0rc2, package: Open MPI"),
        ("mpich", "5.0.2", "MPICH Version:      5.0.2\nMPICH Release date: today"),
        ("intelmpi", "2021.18.1", "Intel(R) MPI Library 2021.18.1 for Linux* OS\n"),
        ("intelmpi", "2021.18.1", "Intel(R) MPI Library 2021.18 for Linux* OS\n"),
    ],
)
def test_a_job_on_its_own_library_is_right(fake_mpi: Install, kind: str, version: str, ran: str) -> None:
    fake_mpi(kind, version)
    kernel.check_linked(find.find_default(), ran, 2, 2)


@pytest.mark.parametrize(
    ("ran", "words"),
    [
        ("Open MPI v4.1.4, package: Debian", "ran on Open MPI 4.1.4"),
        ("Open MPI v5.0.1, package: another", "ran on Open MPI 5.0.1"),
        ("Open MPI v5.0.111, package: another", "ran on Open MPI 5.0.111"),
        ("MPICH Version:      5.0.2\nMPICH Release", "ran on MPICH 5.0.2"),
        ("SimGrid MPI 3.35\nmore", "ran on SimGrid MPI 3.35"),
        ("", "ran on"),
    ],
)
def test_a_job_on_another_library_is_refused(library: Library, ran: str, words: str) -> None:
    with pytest.raises(EnvironmentLacksError) as caught:
        kernel.check_linked(library, ran, 2, 2)
    assert "built for Open MPI 5.0.11" in caught.value.sentence
    assert words in caught.value.sentence
    assert "LD_LIBRARY_PATH" in caught.value.hint


def test_singletons_are_told_by_the_number_of_ranks(library: Library) -> None:
    with pytest.raises(EnvironmentLacksError, match="4 programs of 1 rank each"):
        kernel.check_linked(library, "Open MPI v5.0.11, package", 4, 1)


# ---- Calls that a library lacks ------------------------------------------------------------------


def test_a_kernel_is_compiled_without_calls_that_do_not_link(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An mpi.h may declare what its library lacks; of the fake one all or nothing links."""
    given: list[list[str]] = []
    run_wrapper = wrapper.run_wrapper

    def run(words: list[str], *more: Any) -> str:
        if any(word.startswith(str(kernel.LINK_PROBES)) for word in words):
            raise wrapper.CannotCompileError("undefined reference to `MPI_Session_init'", "")
        given.append(words)
        return run_wrapper(words, *more)

    kernel.build(library)
    monkeypatch.setattr(kernel, "run_wrapper", run)
    kernel.rebuild(library)
    assert given
    assert all("-DMG_LACKS_SESSIONS" in words for words in given)


def test_a_probe_that_says_nothing_of_the_library_builds_no_kernel(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One without calls that the library has would stay in the cache."""

    def run(words: list[str], *_: Any) -> str:
        raise EnvironmentLacksError(f"{words[0]}: no space left on device", "free some space")

    monkeypatch.setattr(kernel, "run_wrapper", run)
    with pytest.raises(EnvironmentLacksError, match="no space left"):
        kernel.build(library)
    assert not kernel.kernel_path(library).exists()


def test_a_kernel_has_all_calls_that_link(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    run_wrapper = wrapper.run_wrapper

    def run(words: list[str], *more: Any) -> str:
        given.extend(words)
        return run_wrapper(words, *more)

    monkeypatch.setattr(kernel, "run_wrapper", run)
    kernel.rebuild(library)
    assert str(kernel.LINK_PROBES / "sessions.c") in given
    assert not any(word.startswith("-DMG_LACKS_") for word in given)


@pytest.mark.parametrize("probe", sorted(kernel.LINK_PROBES.glob("*.c")), ids=lambda path: path.stem)
def test_the_kernel_asks_for_what_is_probed(probe: Path) -> None:
    macro = f"defined(MG_LACKS_{probe.stem.upper()})"
    assert any(macro in path.read_text(encoding="ascii") for path in kernel.sources())
