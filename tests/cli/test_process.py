"""The process of the command line: streams that are closed, packages that are broken, faults of our own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli import main
from mpigauge.errors import EXIT_DONE, EXIT_ENVIRONMENT, EXIT_FAULT, EXIT_USAGE
from mpigauge.result.reader import load
from tests.fakes.mpi import write_program
from tests.thorough import rest

if TYPE_CHECKING:
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

MEASURE = ("run", "pingpong", "--sizes", "8", "--launches", "1")
DEADLINE_S = 100


def started(
    *words: str, streams: str = "", umask: int = -1, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A process of the command line, with redirections of a shell."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-m", "mpigauge", *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
        umask=umask,
    )


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_costs_what_would_be_said_there_and_nothing_else(
    openmpi: FakeMpi, machine: Path, streams: str
) -> None:
    done = started(*MEASURE, "--mpi", str(openmpi.mpicc), "-o", "r.jsonl", streams=streams)
    assert done.returncode == EXIT_DONE, done.stderr
    assert load(machine / "work" / "r.jsonl").visits
    assert ("latency" in done.stdout) == (">&-" not in streams.replace("2>&-", ""))
    assert ("result: r.jsonl" in done.stderr) == ("2>&-" not in streams)


def test_a_mistake_has_its_status_where_nobody_can_be_told(machine: Path) -> None:
    assert machine.exists()
    assert started("show", "nowhere.jsonl", streams="2>&-").returncode == EXIT_USAGE


@pytest.mark.parametrize(
    ("package", "words"),
    [("click", ("--version",)), ("msgspec", ("doctor",)), ("numpy", ("show", "r.jsonl"))],
)
def test_a_broken_package_of_others_is_one_sentence(
    measured: Path, machine: Path, package: str, words: tuple[str, ...]
) -> None:
    (machine / "work" / "r.jsonl").symlink_to(measured)
    (machine / "modules" / package).mkdir(parents=True)
    (machine / "modules" / package / "__init__.py").write_text("raise ImportError('no')", encoding="utf-8")
    done = started(*words, PYTHONPATH=str(machine / "modules"))
    assert (done.returncode, done.stdout) == (EXIT_ENVIRONMENT, "")
    first, hint = done.stderr.splitlines()
    assert first.startswith(f"mpigauge: {package} cannot be imported: {machine}/modules/{package}")
    assert hint.startswith("  hint: ")


def test_a_fault_of_ours_has_a_status_that_means_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mpigauge.cli.status_of", lambda _: 1 // 0)
    with pytest.raises(SystemExit) as ended:
        main(["show"])
    said = capsys.readouterr().err
    assert ended.value.code == EXIT_FAULT
    assert "ZeroDivisionError" in said
    assert "mpigauge: this is a fault of mpigauge\n" in said


def test_too_little_memory_is_no_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def greedy(_: object) -> int:
        raise MemoryError

    monkeypatch.setattr("mpigauge.cli.status_of", greedy)
    with pytest.raises(SystemExit) as ended:
        main(["show"])
    assert ended.value.code == EXIT_ENVIRONMENT
    assert capsys.readouterr().err.startswith("mpigauge: there is not enough memory\n")


@pytest.mark.parametrize("where", ["campaign.measuring.CampaignLoop.run", "cli.screen.tables.tabulate"])
def test_what_was_measured_until_memory_ends_is_named(
    where: str, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def greedy(*_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(f"mpigauge.{where}", greedy)
    with pytest.raises(SystemExit) as ended:
        main([*MEASURE, "-o", "r.jsonl"])
    assert ended.value.code == EXIT_ENVIRONMENT
    said = capsys.readouterr().err
    assert "  here: all finished visits are in r.jsonl; mpigauge resume r.jsonl continues it\n" in said
    assert Path("r.jsonl").exists()


def test_linear_algebra_gets_one_thread_and_what_we_start_is_not_told() -> None:
    text = (
        "import ctypes, os\nfrom mpigauge.cli import main\n"
        "try:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        "libc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\n"
        "print(libc.getenv(b'OPENBLAS_NUM_THREADS'), 'OPENBLAS_NUM_THREADS' in os.environ)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "b'1' False"


def test_where_no_temporary_file_can_be_written_nothing_is_begun(
    cli: Cli, openmpi: FakeMpi, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert openmpi.mpicc.exists()
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", None)
        patch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(machine / "gone")])
        done = cli(*MEASURE, "-o", "r.jsonl")
    assert done.status == EXIT_ENVIRONMENT
    assert "a job needs a temporary folder: No usable temporary directory found" in done.err
    assert "TMPDIR" in done.err
    assert not (machine / "work" / "r.jsonl").exists()


@pytest.mark.parametrize(("umask", "mode"), [(0o777, 0o600), (0o277, 0o600), (0o022, 0o644)])
def test_no_umask_takes_the_rights_of_the_user(
    openmpi: FakeMpi, machine: Path, umask: int, mode: int
) -> None:
    """Of a job, which works in folders of ours, or of its result."""
    done = started(*MEASURE, "--mpi", str(openmpi.mpicc), "-o", "r.jsonl", umask=umask)
    assert done.returncode == EXIT_DONE, done.stderr
    assert (machine / "work" / "r.jsonl").stat().st_mode & 0o777 == mode


def test_what_we_start_knows_a_home(openmpi: FakeMpi, machine: Path) -> None:
    """Open MPI's mpicc and mpiexec do not start without one."""
    program = machine / "opt" / "asked"
    program.write_text(f'#!/bin/sh\n[ -n "$HOME" ] || exit 1\nexec {openmpi.mpicc} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    done = started(*MEASURE, "--mpi", str(program), "--mpiexec", str(openmpi.bin / "mpiexec"), HOME="")
    assert done.returncode == EXIT_DONE, done.stderr


@cache
def usual(*draw: str) -> bytes:
    """A figure without settings of anybody."""
    assert started(*draw, "-o", "usual.svg").returncode == EXIT_DONE
    return Path("usual.svg").read_bytes()


PLACES = ("matplotlibrc", "../elsewhere", "../home/config/matplotlib/matplotlibrc")


@pytest.mark.parametrize("place", rest(PLACES, PLACES[:1]))
def test_figures_have_no_settings_of_the_folder_the_environment_or_the_home(
    measured: Path, machine: Path, place: str
) -> None:
    draw = ("plot", str(measured), "--series", "ring", "--kind", "time")
    whole = usual(*draw)
    for name, settings in (("broken", b"font.size: \xff"), ("odd", b"font.size: 40\nno.such.key: 1\n")):
        path = machine / "work" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(settings)
        done = started(*draw, "-o", f"{name}.svg", MATPLOTLIBRC="../elsewhere")
        assert (done.returncode, done.stderr) == (EXIT_DONE, f"figure: {name}.svg\n")
        assert (machine / "work" / f"{name}.svg").read_bytes() == whole


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_compiler_that_hangs_does_not_outlive_us(
    openmpi: FakeMpi, tmp_path: Path, number: signal.Signals
) -> None:
    """As one that waits for its licence, behind a wrapper that is a script."""
    pid = tmp_path / "pid"
    write_program(openmpi.mpicc, f"/bin/sleep 5000 & echo $! > {pid}; wait\n", "#!/bin/sh\n")
    words = [sys.executable, "-m", "mpigauge", *MEASURE, "--mpi", str(openmpi.mpicc)]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as ours:
        while not (pid.exists() and pid.read_text().strip()):
            assert ours.poll() is None
            time.sleep(0.01)
        ours.send_signal(number)
        assert ours.wait(DEADLINE_S) in {-number, 128 + number}
    assert ends(int(pid.read_text()))


def test_where_a_handler_takes_notes_a_compiler_that_hangs_ends_all_the_same(
    openmpi: FakeMpi, tmp_path: Path
) -> None:
    """As while `doctor` asks hosts."""
    pid = tmp_path / "pid"
    write_program(openmpi.mpicc, f"echo $$ > {pid}; exec /bin/sleep 5000\n", "#!/bin/sh\n")
    words = [
        sys.executable,
        "-m",
        "mpigauge",
        "doctor",
        "--hosts",
        "localhost:2",
        "--mpi",
        str(openmpi.mpicc),
    ]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as ours:
        while not (pid.exists() and pid.read_text().strip()):
            assert ours.poll() is None
            time.sleep(0.01)
        ours.send_signal(signal.SIGINT)
        assert ends(int(pid.read_text()))
        assert ours.wait(DEADLINE_S)


def ends(pid: int) -> bool:
    """Whether a process ends soon."""
    words = Path(f"/proc/{pid}/cmdline")
    deadline = time.monotonic() + DEADLINE_S / 10
    while words.exists() and words.read_bytes():
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.01)
    return True


def test_a_compiler_that_hangs_is_named_with_its_time_and_its_words(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.mpi.wrapper.run_wrapper.__defaults__", (1.0, None))
    write_program(openmpi.mpicc, "exec /bin/sleep 5000\n", "#!/bin/sh\n")
    done = cli(*MEASURE, "--mpi", str(openmpi.mpicc))
    assert done.status == EXIT_ENVIRONMENT
    sentence, hint = done.err.splitlines()
    assert sentence == f"mpigauge: {openmpi.mpicc}: has not ended after 1 s"
    assert hint.startswith(f"  hint: see what it or its compiler waits for: {openmpi.mpicc} -E -dM")
