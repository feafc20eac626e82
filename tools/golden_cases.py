"""The cases of goldens.py: which commands are run on which files, and how they are asked for."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NARROW, WIDE = 80, 160
QUICK = ("busy.jsonl.gz", "first.jsonl.gz", "map.jsonl.gz", "states.jsonl.gz", "wan.jsonl.gz")
WARM = "busy.jsonl.gz"
SMALL_BYTES = 600_000
"""Larger results are asked for less: one question of the largest takes seconds."""

FORMS = ("text", "markdown", "csv", "json", "junit")
FORGES = ("bencher", "github", "prometheus", "parquet")
OF_OTHERS = ("osu", "osu-validation", "imb")
TABLES = ("latency", "times", "rates", "statistics", "summary")
FIGURES = (
    *("overview", "time", "rate", "ratio", "compare", "mean", "modes", "placements", "ranks", "memory"),
    *("memory-ratio", "distribution", "samples", "states", "history", "cpu", "skew", "map"),
)
FACTORS = ("mpi", "mode", "placement", "ranks", "transport", "setting", "sync")
LISTS = ("patterns", "launchers", "formats", "plots", "tables", "columns", "plans")
VERBS = (
    *("run", "resume", "map", "sbatch", "show", "explain", "model", "plot", "report", "compare", "check"),
    *("history", "doctor", "list", "mpi", "lab", "kernel", "import", "completion"),
)
CHOICES = (*VERBS, "usage", "api")
READERS = ("show", "explain", "compare", "check", "history", "map", "model", "report", "plot", "resume")
PROGRAMS = ("osu", "imb", "nccl", "netpipe", "perftest", "fabtests", "ucx", "julia", "table")
PUBLISHED = ("exchange-agh-2020", "grid-bcast", "grid-pingpong", "modes-latency-agh", "ring-pairs")
EXPECTED = (
    "--expect 'pingpong 8B latency < 100us' --expect 'pingpong p99 latency < 1s' "
    "--expect 'stream unidirectional 1MiB bandwidth > 80% of 10Gbit/s'"
)
SAID_WRONG = (
    *(
        "",
        "nonsense",
        "pingpong",
        "shwo x",
        "--nonsense",
        "--all show",
        "show",
        "show --nonsense",
        "help show",
    ),
    *("show --table nonsense missing.jsonl", "run nonsense", "run --sizes x", "run --plan nonsense"),
    *("import nonsense", "list nonsense", "plot missing.jsonl --kind nonsense", "run --mode nonsense"),
)
ASKED_WRONG = (
    *("check {} --expect nonsense", "check {}", "compare {} --by nonsense", "compare {} --margin x"),
    *(
        "show {} --series nonsense",
        "show {} --sizes 7",
        "show {} -o out.nonsense",
        "show {} --columns nonsense",
    ),
    *("explain {} --top 0", "resume {}", "show {} --stat nonsense", "show {} --unit nonsense"),
    *("show {} --format text,csv", "show {} --rename nonsense", "report {} -o page.txt"),
)
RESULTS = "results"
"""The folder of all stored results."""

BROKEN = ("missing.jsonl", "empty.jsonl", "damaged.jsonl", "folder")
NOISE = {"FAKE_SPREAD": "0.1", "FAKE_JITTER": "0.1"}
STATES = {"FAKE_STATES": "near:40:0.3:2,far:245:1:5"}
OPENMPI, MPICH = ("openmpi", "5.0.11", 100), ("mpich", "4.3.2", 130)
OUT = "-q -o r.jsonl"
CUT_AFTER_LINES = (20, 3, 60)
SMALL = f"run pingpong --sizes 8,64 --launches 3 --seed 7 {OUT}"


@dataclass(frozen=True)
class Case:
    """Commands that run one after the other in a folder of their own.

    Attributes:
        verb: Verb, as --only selects it.
        steps: Command lines after `mpigauge`, or steps of the runner, which begin with @.
        inputs: Files that it finds there, by their names among all inputs.
        width: Columns of the terminal; 0 for a pipe.
        mpis: Fake libraries: kind, version, latency in ns.
        large: Whether its input is one of the largest, so that --small leaves it out.
    """

    verb: str
    steps: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    width: int = 0
    quick: bool = False
    mpis: tuple[tuple[str, str, int], ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    large: bool = False

    @property
    def name(self) -> str:
        """Command lines of the case, as a user would type them."""
        surroundings = [f"{key}={value}" for key, value in self.env.items()]
        surroundings += [f"COLUMNS={self.width}"] if self.width else []
        return " ".join([*surroundings, " ; ".join(self.steps)])

    def plain(self) -> dict[str, Any]:
        """Return it for the runner."""
        return {"name": self.name, **asdict(self), "steps": [shlex.split(step) for step in self.steps]}


def cases(inputs: Mapping[str, Path]) -> list[Case]:
    """Return every case that there is for these inputs."""
    results = [name for name in inputs if name.endswith((".jsonl", ".jsonl.gz"))]
    large = {RESULTS, *(name for name, path in inputs.items() if path.is_file() and not _is_small(path))}
    found = [*_usage(), *_lists(), *_campaigns()]
    for name in results:
        found += (*_shown(name), *_judged(name), *_described(name), *_drawn(name))
        found += () if name in large else _of_small(name)
        found += _of_quick(name) if name in (*QUICK, "version_5.jsonl") else ()
    found += [*_pairs(results), *_histories(), *_foreign(inputs)]
    by_name: dict[str, Case] = {}
    for case in found:
        if case.quick or case.name not in by_name:
            by_name[case.name] = replace(case, large=not large.isdisjoint(case.inputs))
    return list(by_name.values())


def _is_small(path: Path) -> bool:
    return path.stat().st_size < SMALL_BYTES


def _screens(step: str, *inputs: str) -> Iterator[Case]:
    """Yield cases for terminals of 80 and 160 columns."""
    for width in (NARROW, WIDE):
        yield Case(_verb(step), (step,), inputs, width)


def _files(step: str, *inputs: str, forms: tuple[str, ...] = FORMS) -> Case:
    """Return cases for one command in several formats."""
    outputs = " ".join(f"-o out.{form}" for form in forms)
    more = ("@parquet out.parquet",) if "parquet" in forms else ()
    return Case(_verb(step), (f"{step} --format {','.join(forms)} {outputs}", *more), inputs)


def _piped(step: str, *inputs: str, quick: bool = False) -> Case:
    """Return the case of a pipe."""
    return Case(_verb(step), (step,), inputs, quick=quick)


def _verb(step: str) -> str:
    return step.split(maxsplit=1)[0]


def _shown(name: str) -> Iterator[Case]:
    yield from _screens(f"show {name}", name)
    yield from _screens(f"show --all {name}", name)
    yield _files(f"show {name} --columns all", name, forms=(*FORMS, *FORGES))
    yield _files(f"show --table answer {name}", name)
    for table in TABLES:
        yield _files(f"show --table {table} {name}", name, forms=("text", "csv", "json"))
    for form in OF_OTHERS:
        yield _piped(f"show {name} --format {form}", name)
    yield _piped(f"show {name} --state all --only quiet", name)
    yield _piped(f"show {name} --stat mean --unit Gbit/s --unit us", name)
    yield _piped(f"show {name} --series pingpong --sizes 0:2000", name)


def _judged(name: str) -> Iterator[Case]:
    for step in (f"compare {name}", f"check --guidelines {name}", f"check {EXPECTED} {name}"):
        yield Case(_verb(step), (step,), (name,), NARROW)
        yield _files(f"{step} --all", name)
    yield _piped(f"history --format json {name}", name)
    for factor in ("mode", "placement"):
        yield _piped(f"compare --by {factor} --strict {name}", name)


def _described(name: str) -> Iterator[Case]:
    for verb in ("explain", "model", "map"):
        yield Case(verb, (f"{verb} {name}",), (name,), NARROW)
        yield _files(f"{verb} {name}", name, forms=("text", "markdown", "csv", "json"))
    yield _files(f"explain --all {name}", name, forms=("text", "markdown", "csv", "json"))
    yield _piped(f"explain --claims examples/published {name}", name, "examples")


def _drawn(name: str) -> Iterator[Case]:
    yield _piped(f"report {name} -o page.html", name)
    for kind in FIGURES:
        yield _piped(f"plot {name} --kind {kind} -o out.svg", name)


def _of_small(name: str) -> Iterator[Case]:
    """Yield the cases that are too slow for large results."""
    for table in TABLES:
        yield Case("show", (f"show --table {table} {name}",), (name,), NARROW)
    for words in ("--sizes 8,1KiB", "--columns mean,stddev,p99", "--stat p99", "--state far"):
        yield _piped(f"show {name} {words}", name)
    yield _files(f"show --table samples {name}", name, forms=("csv", "json"))
    yield Case("api", (f"@api {name}",), (name,), quick=name in QUICK)
    yield Case("show", (f"show --color always {name}",), (name,), NARROW)
    for factor in FACTORS:
        yield _piped(f"compare --by {factor} --strict {name}", name)
    for step in ("compare", "check --guidelines", f"check {EXPECTED}", "explain", "model", "map"):
        yield Case(_verb(step), (f"{step} {name}",), (name,), WIDE)
    yield from _screens(f"explain --all {name}", name)
    yield from _screens(f"history {name}", name)
    yield _piped(f"explain --state all {name}", name)
    yield _piped(f"check {name} --expect-file examples/check/expect.toml", name, "examples")
    yield _piped(f"plot {name} --kind time --model --linear -o out.svg", name)
    yield _piped(f"plot {name} --kind rate --reference memcpy,10Gbit/s --series pingpong -o out.svg", name)


def _of_quick(name: str) -> Iterator[Case]:
    """Yield the cases of --quick."""
    for step in ("show", "show --all", "explain", "explain --all", "compare", "model", "map"):
        yield Case(_verb(step), (f"{step} {name}",), (name,), NARROW, quick=True)
        yield _piped(f"{step} --format json {name}", name, quick=True)
    for step in ("check --guidelines", f"check {EXPECTED}"):
        yield Case("check", (f"{step} {name}",), (name,), NARROW, quick=True)
    yield _piped(f"history --format json {name}", name, quick=True)


def _pairs(results: list[str]) -> Iterator[Case]:
    """Yield the cases with several results."""
    for before, after in (
        ("wan.jsonl.gz", "modes-lan.jsonl.gz"),
        ("modes.jsonl.gz", "modes-lan.jsonl.gz"),
        ("first.jsonl.gz", "busy.jsonl.gz"),
        ("version_3.jsonl", "version_5.jsonl"),
    ):
        if before not in results or after not in results:
            continue
        both = f"{before} {after}"
        for step in (
            f"compare {both}",
            f"compare --force {both}",
            f"show {both}",
            f"show --table rates {both}",
        ):
            yield from _screens(step, before, after)
        for step in (f"compare --force --all {both}", f"show {both}", f"explain {both}"):
            yield _files(step, before, after)
        yield _piped(f"report {both} --force -o page.html", before, after)
        yield _piped(f"plot {both} --kind ratio --series pingpong -o out.svg", before, after)
        yield _piped(f"plot {both} --kind compare --force -o out.svg", before, after)


def _histories() -> Iterator[Case]:
    yield from _screens(f"history {RESULTS}", RESULTS)
    yield from _screens(f"history --all {RESULTS}", RESULTS)
    yield _files(f"history {RESULTS}", RESULTS)
    yield _piped(f"history --since 2026-11-22 --margin 5% {RESULTS}", RESULTS)
    for verb in ("compare", "check"):
        yield _piped(f"{verb} {RESULTS}/first.jsonl.gz --baseline {RESULTS}", RESULTS)


def _foreign(inputs: Mapping[str, Path]) -> Iterator[Case]:
    """Yield the cases of other programs' texts: as shown, and as imported."""
    names = [name for name in inputs if name.startswith(("foreign/", "printed/"))]
    for number, name in enumerate(names):
        program = next((word for word in PROGRAMS if word in name), "osu")
        yield Case("import", (f"show --all {name}",), (name,), NARROW, quick=number % 10 == 0)
        yield Case("import", (f"show --all --format json {name}",), (name,))
        yield Case("import", (f"import {program} {name} -o r.jsonl",), (name,))
    for name in PUBLISHED:
        path = f"examples/published/{name}"
        made = f"import csv {path}.csv --columns {path}.toml -o r.jsonl"
        yield Case("import", (made, "show --all r.jsonl", "explain r.jsonl"), ("examples",))


def _lists() -> Iterator[Case]:
    for what in LISTS:
        mpis = (OPENMPI,) if what == "patterns" else ()
        for width in (NARROW, WIDE):
            yield Case("list", (f"list {what}",), (), width, width == NARROW, mpis)
        for form in ("json", "csv", "markdown", "text"):
            yield Case("list", (f"list {what} --format {form}",), (), 0, form == "json", mpis)
    for shell in ("bash", "zsh", "fish"):
        yield _piped(f"completion {shell}", quick=True)
    for step in ("mpi list", "mpi list --format json", "mpi add nonsense", "mpi remove openmpi", "--version"):
        yield Case("usage" if step == "--version" else "mpi", (step,), quick=True, mpis=(OPENMPI,))
    for step in (
        "sbatch pingpong",
        "sbatch --nodes 4 --time 1h allreduce --sizes 8:1MiB",
        "sbatch --array quick",
    ):
        yield _piped(step, quick=True)


def _usage() -> Iterator[Case]:
    """Yield the cases of help and of wrong use."""
    for words in ("", *VERBS, *(f"import {program}" for program in (*PROGRAMS, "csv", "journal"))):
        for width in (NARROW, WIDE):
            quick = width == NARROW and "import " not in words
            yield Case("usage", (f"{words} --help".strip(),), (), width, quick)
    for step in SAID_WRONG:
        yield Case("usage", (step,), quick=True, mpis=(OPENMPI,))
    for step in ASKED_WRONG:
        yield Case("usage", (step.format(WARM),), (WARM,), quick=True)
    for verb in READERS:
        more = " --guidelines" if verb == "check" else ""
        for name in BROKEN:
            inputs = () if name == "missing.jsonl" else (name,)
            yield Case("usage", (f"{verb} {name}{more}",), inputs, quick=True)


def _campaigns() -> Iterator[Case]:
    """Yield the cases of campaigns on the fake kernel: journals, stops, resuming."""
    for env in ({"FAKE_JITTER": "0.5"}, NOISE, STATES):
        messages = f"run pingpong stream --sizes 8,64,1KiB --launches 3 --seed 7 {OUT}"
        yield _campaign(messages, "show --all r.jsonl", env=env, quick=True)
        together = f"run allreduce bcast --sizes 8,64 --sync common,barrier --launches 3 --seed 7 {OUT}"
        yield _campaign(together, "explain r.jsonl", env=env)
    two = f"run pingpong --sizes 8,64 --mpi openmpi --mpi mpich --seed 3 {OUT}"
    yield _campaign(f"{two} --until decided", "compare r.jsonl", env=NOISE, mpis=(OPENMPI, MPICH))
    yield _campaign(f"{two} --launches 6", "compare r.jsonl", mpis=(OPENMPI, MPICH))
    yield _campaign(f"run pingpong --sizes 8,64 --until precise --seed 5 {OUT}", env=NOISE)
    yield _campaign(f"map --np 4 --launches 2 --seed 3 {OUT}", "map r.jsonl", env={"FAKE_SLOW": "0-3:10"})
    for fault in ("FAKE_CRASH", "FAKE_QUIT", "FAKE_CORRUPT", "FAKE_REFUSE"):
        yield _campaign(SMALL, "show r.jsonl", env={fault: "pingpong:64"})
    yield _campaign(SMALL, env={"FAKE_DEAD": "no such device"})
    yield _campaign(SMALL.replace(" -q", ""))
    plan = "kernel plan pingpong --sizes 8,64 --seed 1 --budget 10s"
    journal = (plan, "@save plan.txt", "kernel path", "@kernel plan.txt", "@save journal.1")
    imported = "import journal plan.txt journal.1 -o r.jsonl"
    yield _campaign(*journal, imported, verb="kernel", env={"FAKE_RANKS": "2"}, quick=True)
    yield _campaign("kernel describe", verb="kernel")
    yield _campaign("doctor", verb="doctor")
    for words in ("pingpong", "--plan quick", "--quick", "--suite guidelines"):
        yield _campaign(f"run {words} --dry-run --seed 1", width=NARROW, quick=True)
    for lines in CUT_AFTER_LINES:
        steps = (f"@cut r.jsonl {lines}", "resume -q r.jsonl")
        yield _campaign(
            SMALL, *steps, env={"FAKE_JITTER": "0.5"}, verb="resume", quick=lines == CUT_AFTER_LINES[0]
        )
    yield Case("run", ("run -q",), env={"PATH": "/nowhere"})


def _campaign(
    *steps: str,
    verb: str = "run",
    env: Mapping[str, str] | None = None,
    mpis: tuple[tuple[str, str, int], ...] = (OPENMPI,),
    width: int = 0,
    quick: bool = False,
) -> Case:
    return Case(verb, steps, (), width, quick, mpis, env or {})
