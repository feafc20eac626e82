"""Runs the cases of goldens.py with the mpigauge of one checkout, many in one process: in a fork of it each.

Usage: golden_runner.py TREE WORK JOBS; the cases are in WORK/asked.json. A line of JSON is written per case,
to standard output, as soon as the case is done.
"""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

TIMEOUT_S = 300
FAULT = 99
"""The exit status where not mpigauge but a step of ours has failed."""

KEPT_BYTES = 64 << 20
"""What a case may leave; more than that no output of a user has."""

LAST = "said"
"""The file beside a case that has what its last step printed."""

WARM_UP = (
    ("show", "--all", "--format", "json"),
    ("explain",),
    ("model",),
    ("compare",),
    ("history",),
    ("check", "--guidelines"),
    ("map",),
    ("plot", "-o", "warm.svg"),
    ("report", "-o", "warm.html"),
)
"""What imports most of mpigauge and of its libraries before the first fork."""


class Case:
    """A case that is being run: a folder of its own, and the step that it has come to."""

    def __init__(self, case: dict[str, Any], number: int, tree: Path, work: Path) -> None:
        self.case, self.tree, self.work = case, tree, work
        self.folder = work / "cases" / f"{number:05}"
        self.home = work / "homes" / f"{number:05}"
        self.files: dict[str, str] = {}
        self.step = 0
        self.cpu_s = 0.0
        for folder in (self.folder, self.home, self.home / "tmp"):
            folder.mkdir(parents=True)
        for name in ("stdout", "stderr"):
            (self.home / name).touch()
        for name in case["inputs"]:
            _put(work / "inputs" / name, self.folder / name)

    def fork(self) -> int:
        """Start the next step; return its process."""
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            status = FAULT
            try:
                status = self._run(self.case["steps"][self.step])
            except BaseException:  # noqa: BLE001 - no fork may go on as if it were the runner
                (self.home / "stderr").write_text(traceback.format_exc(), encoding="utf-8")
            finally:
                os._exit(status)
        return pid

    def ended(self, status: int) -> bool:
        """Keep what a step said; return whether it was the last one."""
        about = f"{self.step}." if len(self.case["steps"]) > 1 else ""
        for name in ("stdout", "stderr"):
            self._keep(about + name, self.home / name)
        self.files[f"{about}status"] = _encoded(str(os.waitstatus_to_exitcode(status)).encode())
        self.step += 1
        return self.step == len(self.case["steps"])

    def result(self) -> dict[str, Any]:
        """Return everything that the case has printed and written, and remove its folders."""
        for path in sorted(self.folder.rglob("*")):
            name = str(path.relative_to(self.folder))
            if path.is_file() and not self._was_there(name):
                self._keep(name, path)
        shutil.rmtree(self.folder)
        shutil.rmtree(self.home)
        seconds = round(self.cpu_s, 2)
        return {
            "name": self.case["name"],
            "places": {str(self.folder): "<here>", str(self.home): "<home>", sys.executable: "<python>"},
            "files": self.files,
            "seconds": seconds,
        }

    def _was_there(self, name: str) -> bool:
        return any(name == there or name.startswith(f"{there}/") for there in ("opt", *self.case["inputs"]))

    def _keep(self, name: str, path: Path) -> None:
        if path.stat().st_size <= KEPT_BYTES:
            self.files[name] = _encoded(path.read_bytes())
        else:
            self.files[name] = _encoded(f"{path.stat().st_size} bytes".encode())

    def _run(self, words: list[str]) -> int:
        os.setsid()
        os.chdir(self.folder)
        _hide_real_libraries()
        signal.alarm(TIMEOUT_S)
        self._surround()
        if self.step:
            shutil.copy(self.home / "stdout", self.home / LAST)
        for number, name in ((1, "stdout"), (2, "stderr")):
            target = os.open(self.home / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(target, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
        sys.stdout, sys.stderr = (Stream(number, is_terminal=self.case["width"] > 0) for number in (1, 2))
        own = OWN_STEPS.get(words[0]) if words else None
        status = own(*words[1:]) if own is not None else _mpigauge(words)
        sys.stdout.flush()
        sys.stderr.flush()
        return status

    def _surround(self) -> None:
        """Set the environment of a user who has nothing but the fake libraries of the case."""
        environ = {
            "PATH": ":".join(_installed(self.case["mpis"], self.folder, self.tree)),
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "MPIGAUGE_KERNEL_DIR": str(self.home / "kernels"),
            "TMPDIR": str(self.home / "tmp"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(self.tree / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if self.case["width"]:
            environ |= {"COLUMNS": str(self.case["width"]), "LINES": "50", "TERM": "xterm", "NO_COLOR": "1"}
        os.environ.clear()
        os.environ.update(environ | self.case["env"])
        tempfile.tempdir = None


def _hide_real_libraries() -> None:
    """Let no MPI library be found beside this interpreter: the wheels of a developer's environment."""
    known: Callable[..., str] = vars(sysconfig)["get_path"]

    def get_path(name: str, *more: Any, **options: Any) -> str:
        return "/nowhere" if name == "scripts" else known(name, *more, **options)

    vars(sysconfig)["get_path"] = get_path


class Stream(io.TextIOWrapper):
    """Standard output or error: a terminal, where a case has a width, or a pipe."""

    def __init__(self, number: int, *, is_terminal: bool) -> None:
        super().__init__(io.FileIO(number, "w", closefd=False), encoding="utf-8")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        """Return what the case asks for."""
        return self._is_terminal


def _mpigauge(words: list[str]) -> int:
    from mpigauge.cli import main

    sys.argv = ["mpigauge", *words]
    try:
        main(words)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return 0


def _installed(mpis: list[list[Any]], folder: Path, tree: Path) -> list[str]:
    """Return the folders of PATH; fake libraries are installed by the first step that asks for them."""
    found = []
    for kind, version, latency_ns in mpis:
        prefix = folder / "opt" / f"{kind}-{version}"
        if not prefix.is_dir():
            sys.path.insert(0, str(tree))
            from tests.fakes.mpi import install

            install(prefix, kind, version, latency_ns=latency_ns)
        found.append(str(prefix / "bin"))
    return found or ["/usr/bin", "/bin"]


def _cut(name: str, lines: str) -> int:
    """Leave the first lines of a result and half of the next one, as a kill does."""
    whole = Path(name).read_bytes().splitlines(keepends=True)
    torn = whole[int(lines)]
    Path(name).write_bytes(b"".join(whole[: int(lines)]) + torn[: len(torn) // 2])
    return 0


def _parquet(source: str) -> int:
    """Print the rows of a file of columns."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(source)
    print(table.schema.remove_metadata())
    print(json.dumps(table.to_pylist(), default=str))
    return 0


def _save(name: str) -> int:
    """Put what the step before printed into a file, as a shell does."""
    shutil.copy(Path(os.environ["HOME"]) / LAST, name)
    return 0


def _kernel(plan: str) -> int:
    """Print the journal of a kernel that somebody else starts."""
    program = next(Path(os.environ["MPIGAUGE_KERNEL_DIR"]).rglob("mpigauge-kernel"))
    return subprocess.run([program, plan, "-"], check=False).returncode


def _api(name: str) -> int:
    """Print what a script gets of a result, and how it is shown."""
    import mpigauge

    result = mpigauge.load(name)
    rows, explained = result.rows(), result.explain()
    for said in (result, *result.summary, rows, *rows, result.context, explained, *explained):
        print(said)
    for shown in (result, rows, explained):
        print(shown._repr_html_())
    for asked in (result.model, result.compare):
        try:
            answer = asked()
            print(answer.text, answer.table, json.dumps(answer.as_dict(), default=str))
        except mpigauge.errors.MpigaugeError as error:
            print(type(error).__name__, error.sentence, error.hint)
    samples = result.samples()
    print(samples.columns, len(samples), samples[0], samples[-1])
    return 0


OWN_STEPS: dict[str, Callable[..., int]] = {
    "@cut": _cut,
    "@parquet": _parquet,
    "@save": _save,
    "@kernel": _kernel,
    "@api": _api,
}


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _put(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, copy_function=os.link)
    else:
        os.link(source, target)


def run(cases: list[dict[str, Any]], tree: Path, work: Path, jobs: int) -> None:
    """Run all cases, so many at a time; print each as it ends."""
    waiting = list(enumerate(cases))
    running: dict[int, Case] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            number, case = waiting.pop(0)
            begun = Case(case, number, tree, work)
            running[begun.fork()] = begun
        pid, status, used = os.wait3(0)
        if pid not in running:
            continue
        ended = running.pop(pid)
        ended.cpu_s += used.ru_utime + used.ru_stime
        if ended.ended(status):
            print(json.dumps(ended.result()), flush=True)
        else:
            running[ended.fork()] = ended


def warm_up(work: Path, name: str) -> None:
    """Import what most cases need, in a folder of its own; what it prints goes nowhere."""
    folder = work / "warm"
    folder.mkdir()
    _put(work / "inputs" / name, folder / name)
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for good  # noqa: SIM115 - for good
    out, err = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = nowhere
    for words in WARM_UP:
        _mpigauge([words[0], name, *words[1:]])
    sys.stdout, sys.stderr = out, err


def main() -> None:
    """Run what is asked for."""
    tree, work, jobs = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    asked = json.loads((work / "asked.json").read_bytes())
    sys.path.insert(0, str(tree / "src"))
    if asked["warm"]:
        warm_up(work, asked["warm"])
    run(asked["cases"], tree, work, jobs)


if __name__ == "__main__":
    main()
