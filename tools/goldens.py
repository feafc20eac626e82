"""What two commits print and write, compared: every verb over stored results, foreign texts, a fake kernel.

    python tools/goldens.py A B [--only VERB]... [--grep WORDS] [--small | --quick]

A and B are commits; WORK or . is the working tree as it is now. Both run with this interpreter, on the
inputs of this checkout. Compared are standard output and error, the exit status, and every file that a
command writes, in their canonical form (golden_canonical.py); the cases are in golden_cases.py. What a
program has said is kept in ~/.cache/mpigauge-goldens under the contents of its sources: it runs once.

Exit status: 0 if nothing differs, 1 if something does, 2 if they cannot be compared.
"""

from __future__ import annotations

import argparse
import base64
import difflib
import gzip
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import golden_canonical
import golden_cases

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mpigauge-goldens"
WORKING_TREE = ("WORK", ".")
PARTS = ("src", "examples", "tests/fakes")
"""What a commit runs with: its program, the plans that it brings, its fake kernel."""

RUNNER = Path(__file__).with_name("golden_runner.py")
MANY_CASES = 20
"""From so many on it pays to import everything before the first one."""

STORES_KEPT = 24
STORED_EACH = 500
"""Cases after which what is known is kept, so that a run that is cut short was not in vain."""

NOT_RUN = "99"
"""The exit status of a step of golden_runner.py that fails."""

INPUT_TIME_S = 1_790_000_000
LINES_SHOWN = 12
LONGEST_LINE, BEFORE_PLACE = 200, 80
DIFFERENCES_SHOWN = 30

Said = dict[str, str]
"""The canonical text of each stream and file of a case, by its name."""


class CannotCompare(Exception):  # noqa: N818 - what follows from it
    """A commit is unknown, or does not run."""


@dataclass(frozen=True)
class Question:
    """What is asked of each commit.

    Attributes:
        inputs: Files and folders that commands read, by the names under which they find them.
        jobs: Commands at a time.
        fresh: Whether what is known of B does not count.
    """

    cases: Sequence[golden_cases.Case]
    inputs: Mapping[str, Path]
    jobs: int = 2
    fresh: bool = False

    def digest(self) -> str:
        """Return what changes with the inputs, and with how cases are run and read."""
        digest = hashlib.sha256(RUNNER.read_bytes() + Path(golden_canonical.__file__).read_bytes())
        for name, path in self.inputs.items():
            for file in filter(Path.is_file, [path, *sorted(path.rglob("*"))]):
                digest.update(f"{name} {file.name} ".encode() + file.read_bytes())
        models = {
            line for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines() if "model name" in line
        }
        digest.update(f"{sys.version} {platform.uname()} {os.cpu_count()} {sorted(models)}".encode())
        return digest.hexdigest()


def main(words: Sequence[str] | None = None) -> int:
    """Compare two commits; return the exit status."""
    asked = _parser().parse_args(words)
    started_s = time.monotonic()
    inputs = found_inputs(ROOT)
    chosen = [case for case in golden_cases.cases(inputs) if _is_asked(case, asked)]
    try:
        a, b = said_by_both(asked.a, asked.b, Question(chosen, inputs, max(1, asked.jobs), asked.fresh))
    except CannotCompare as error:
        print(f"goldens: {error}", file=sys.stderr)
        return 2
    count = report(a, b, lines=asked.lines, shown=asked.shown)
    for name in (name for name in a if is_not_run(a[name]) or is_not_run(b[name])):
        print(f"!! not run, for a fault of the tool or want of a library: {name}")
    print(f"{len(chosen)} cases, {count} differ; {time.monotonic() - started_s:.0f} s")
    return int(count > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("a", metavar="A", help="a commit; WORK or . for the working tree")
    parser.add_argument("b", metavar="B", help="another")
    parser.add_argument("--only", action="append", default=[], choices=golden_cases.CHOICES, metavar="VERB")
    parser.add_argument(
        "--grep", default="", metavar="WORDS", help="only cases whose command has these words"
    )
    parser.add_argument("--quick", action="store_true", help="JSON and 80 columns, over few results")
    parser.add_argument("--small", action="store_true", help="without the largest results")
    parser.add_argument("--fresh", action="store_true", help="run B anew, whatever is known of it")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="commands at a time (default: 2)")
    parser.add_argument("--lines", type=int, default=LINES_SHOWN, metavar="N", help="lines per difference")
    parser.add_argument("--shown", type=int, default=DIFFERENCES_SHOWN, metavar="N", help="differences shown")
    return parser


def _is_asked(case: golden_cases.Case, asked: argparse.Namespace) -> bool:
    by_verb = not asked.only or case.verb in asked.only
    by_size = (case.quick or not asked.quick) and not (case.large and asked.small)
    return by_verb and by_size and asked.grep in case.name


def found_inputs(root: Path) -> dict[str, Path]:
    """Return what commands read: stored results, one per older version of the format, texts of others."""
    found = {path.name: path for path in sorted((root / "docs" / "results").glob("*.jsonl.gz"))}
    found |= {path.name: path for path in sorted((root / "tests").rglob("version_[0-9]*.jsonl"))}
    for folder in ("foreign", "printed"):
        files = sorted((root / "tests" / "data" / folder).iterdir())
        texts = [path for path in files if path.name not in {"README.md", "expected.tsv"}]
        found |= {f"{folder}/{path.name}": path for path in texts}
    return found | {"examples": root / "examples"}


# ---- What is run ---------------------------------------------------------------------------------


def said_by_both(a: str, b: str, question: Question) -> tuple[dict[str, Said], dict[str, Said]]:
    """Return what two commits say; one that has the sources of the other is not run for its own sake.

    Raises:
        CannotCompare: One of them is unknown, or does not run.
    """
    if not question.cases:
        raise CannotCompare("there is no such case")
    trees = [tree_of(commit) for commit in (a, b)]
    keys = [_contents(tree) for tree in trees]
    if keys[0] == keys[1] and not question.fresh:
        said = said_by(trees[0], question)
        return said, said
    known = replace(question, jobs=max(1, question.jobs // 2), fresh=False)
    asked = (known, replace(known, fresh=question.fresh))
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(said_by, trees, asked)
    return first, second


def _contents(tree: str) -> list[str]:
    return _git("rev-parse", *(f"{tree}:{part}" for part in PARTS)).split()


def tree_of(commit: str) -> str:
    """Return git's name of the contents of a commit, or of the working tree as it is now.

    Raises:
        CannotCompare: There is no such commit.
    """
    if commit not in WORKING_TREE:
        return _git("rev-parse", "--verify", f"{commit}^{{tree}}").strip()
    with tempfile.TemporaryDirectory() as folder:
        environ = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _git("read-tree", "HEAD", environ=environ)
        _git("add", "--all", "--", *PARTS, environ=environ)
        return _git("write-tree", environ=environ).strip()


def _git(*words: str, environ: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(environ or {})},
    )
    if done.returncode:
        raise CannotCompare(done.stderr.strip() or f"git {words[0]} failed")
    return done.stdout


def said_by(tree: str, question: Question) -> dict[str, Said]:
    """Return what the cases say with the program of a tree: from the cache, else by running them.

    Raises:
        CannotCompare: The program does not run.
    """
    key = hashlib.sha256(" ".join([*_contents(tree), question.digest()]).encode()).hexdigest()
    store = Store(CACHE / f"{key[:20]}.json.gz")
    known = {} if question.fresh else store.read()
    wanted = [case.name for case in question.cases]
    missing = [case for case in question.cases if case.name not in known]
    try:
        for number, (name, said) in enumerate(_run(tree, missing, question) if missing else (), start=1):
            known[name] = said
            if number % STORED_EACH == 0:
                store.add(known)
    finally:
        if missing:
            store.add(known)
    if lacking := [name for name in wanted if name not in known]:
        raise CannotCompare(f"{tree[:8]}: its runner ended before {len(lacking)} cases, as {lacking[0]}")
    return {name: known[name] for name in wanted}


def _run(tree: str, missing: Sequence[golden_cases.Case], question: Question) -> Iterator[tuple[str, Said]]:
    """Yield what each case says, by its name."""
    work = Path(tempfile.mkdtemp(prefix="goldens-"))
    try:
        _check_out(tree, work / "tree")
        lay_out(question.inputs, work / "inputs")
        measured = {case.name for case in missing if case.mpis}
        for number, left in enumerate(_answers(work, missing, question.jobs), start=1):
            places = {**left["places"], str(work / "tree"): "<tree>", str(work): "<work>"}
            said = {
                name: golden_canonical.canonical(name, base64.b64decode(data), places)
                for name, data in left["files"].items()
            }
            if left["name"] in measured:
                said = {name: golden_canonical.without_times(text) for name, text in said.items()}
            _tell(f"{tree[:8]}: {number} of {len(missing)} cases", left)
            yield left["name"], said
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _answers(work: Path, missing: Sequence[golden_cases.Case], jobs: int) -> Iterator[dict[str, Any]]:
    """Yield what each case has left, as soon as it is done."""
    asked = {
        "warm": golden_cases.WARM if len(missing) >= MANY_CASES else "",
        "cases": [case.plain() for case in missing],
    }
    (work / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    words = [sys.executable, str(RUNNER), str(work / "tree"), str(work), str(jobs)]
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environ = {**os.environ, **threads, "PYTHONPATH": str(work / "tree" / "src")}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environ) as runner:
        if runner.stdout is not None:
            yield from map(json.loads, runner.stdout)


def _check_out(tree: str, folder: Path) -> None:
    """Write what a tree runs with into a folder; no other work tree of git is begun for it."""
    folder.mkdir(parents=True)
    archive = folder.with_name("tree.tar")
    _git("archive", "--output", str(archive), tree, *PARTS)
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    archive.unlink()


def lay_out(inputs: Mapping[str, Path], folder: Path) -> None:
    """Copy the inputs, with times that follow their order; add those that no stored file is an example of."""
    results = folder / golden_cases.RESULTS
    results.mkdir(parents=True)
    for number, (name, path) in enumerate(inputs.items()):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, target)
        os.utime(target, (INPUT_TIME_S + number, INPUT_TIME_S + number))
        if name.endswith(".jsonl.gz") and "/" not in name:
            os.link(target, results / name)
    (folder / "folder").mkdir()
    (folder / "empty.jsonl").touch()
    whole = gzip.decompress((folder / golden_cases.WARM).read_bytes()).splitlines(keepends=True)
    (folder / "damaged.jsonl").write_bytes(b"".join([*whole[:9], b'{"type":"visit",\n', whole[9][:40]]))


def _tell(words: str, left: Mapping[str, Any]) -> None:
    """Show how far it is; with GOLDENS_TIMES what each case costs."""
    if os.environ.get("GOLDENS_TIMES"):
        print(f"{left['seconds']:7.2f} {left['name']}", file=sys.stderr)
    elif sys.stderr.isatty():
        print(f"\r{words}", end="\x1b[K", file=sys.stderr, flush=True)


# ---- What is kept --------------------------------------------------------------------------------


class Store:
    """What one program has said, by case, in a file of the cache."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, Said]:
        """Return what is known; nothing where the file is missing or broken."""
        try:
            known: dict[str, Said] = json.loads(gzip.decompress(self._path.read_bytes()))
        except (OSError, EOFError, ValueError):
            return {}
        return known

    def add(self, known: Mapping[str, Said]) -> None:
        """Keep more; what nobody has added to in a long time goes."""
        folder = self._path.parent
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(gzip.compress(json.dumps({**self.read(), **known}).encode(), 3))
        Path(file.name).replace(self._path)
        kept = sorted(folder.glob("*.json.gz"), key=lambda path: path.stat().st_mtime)
        for old in kept[:-STORES_KEPT]:
            old.unlink(missing_ok=True)


# ---- What differs --------------------------------------------------------------------------------


def report(a: Mapping[str, Said], b: Mapping[str, Said], *, lines: int, shown: int) -> int:
    """Print every difference, shortened; return in how many cases there is one."""
    differing = [name for name in a if a[name] != b[name]]
    for number, name in enumerate(differing):
        print(f"== mpigauge {name}")
        for line in difference(a[name], b[name], lines) if number < shown else ():
            print(f"   {line}")
    return len(differing)


def is_not_run(said: Said) -> bool:
    """Return whether not the program but a step of the runner has failed."""
    return any(text == NOT_RUN for name, text in said.items() if name.endswith("status"))


def difference(a: Said, b: Said, most: int) -> Iterator[str]:
    """Yield the lines of a unified diff of each stream and file that differs, so many of each at most."""
    for name in sorted({*a, *b}):
        old, new = a.get(name), b.get(name)
        if old == new:
            continue
        if old is None or new is None:
            yield f"{name}: only in {'A' if new is None else 'B'}"
            continue
        found = list(difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, "A", "B", 2, ""))
        yield from shortened(found[:most])
        if len(found) > most:
            yield f"… {len(found) - most} lines more"


def _shared(line: str, other: str) -> int:
    """Return how many characters are the same in both, after the first, until one differs."""
    pairs = enumerate(zip(line[1:], other[1:], strict=False))
    return next((place for place, (one, two) in pairs if one != two), 0)


def shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a diff; of a long one, what is about the place where the other commit's differs."""
    for place, line in enumerate(lines):
        start = 0
        if len(line) > LONGEST_LINE and line[0] in "+-":
            others = [other for other in lines[max(0, place - 1) : place + 2] if other[0] in "+-"]
            shared = max(_shared(line, other) for other in others if other is not line) if others[1:] else 0
            start = max(0, shared - BEFORE_PLACE)
        yield f"{line[0]}…{line[start + 1 :][:LONGEST_LINE]}" if start else line[:LONGEST_LINE]


if __name__ == "__main__":
    sys.exit(main())
