"""The script of a Slurm job: what it says to Slurm, to bash and to mpigauge; without Slurm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import needs
from tests.cli.journey import catches_sigterm

if TYPE_CHECKING:
    from tests.conftest import Cli

PLAN = '[[measure]]\npattern = "pingpong"\n'
BASH = "/bin/bash"
PROGRAM = f"{sys.executable} -P -m mpigauge"

RECORDER = """#!/bin/bash
trap 'echo told >> signals.txt; ended=1' TERM
[ -z "$EAGER" ] || kill -TERM "$PPID"
printf '%s\\n' "$@" > words.txt
echo "$*" >> calls.txt
while [ -n "$WAITS" ] && [ -z "$ended" ]; do sleep 0.05; done
[ -z "$WAITS" ] || sleep 0.2
exit "${STATUS:-0}"
"""


def script(cli: Cli, *words: str) -> str:
    """What sbatch writes."""
    done = cli("sbatch", *words)
    assert done.status == 0, done.err
    return done.out


def directives(text: str) -> list[str]:
    """What Slurm reads."""
    return [line.removeprefix("#SBATCH ") for line in text.splitlines() if line.startswith("#SBATCH ")]


def ready(text: str, folder: Path) -> Path:
    """The script with a program in place of mpigauge that notes its words."""
    recorder, job = folder / "recorder", folder / "job.sh"
    recorder.write_text(RECORDER, encoding="utf-8")
    recorder.chmod(0o755)
    assert PROGRAM in text
    job.write_text(text.replace(PROGRAM, str(recorder)), encoding="utf-8")
    return job


def begin(job: Path, *words: str, **variables: str) -> subprocess.Popen[str]:
    """Starts a script as Slurm does."""
    environment = {"PATH": os.defpath, "SLURM_JOB_ID": "17", **variables}
    return subprocess.Popen([BASH, str(job), *words], cwd=job.parent, env=environment, text=True)


def words_of(job: Path, *words: str, **variables: str) -> list[str]:
    """What mpigauge is told by a script that runs to its end."""
    with begin(job, *words, **variables) as process:
        assert process.wait() == 0
    return (job.parent / "words.txt").read_text(encoding="utf-8").splitlines()


def test_slurm_is_told_everything(cli: Cli) -> None:
    text = script(
        cli, "--nodes", "4", "--tasks-per-node", "2", "--time", "25h", "--partition", "p", "pingpong"
    )
    assert directives(text) == [
        "--job-name=mpigauge",
        "--nodes=4",
        "--ntasks-per-node=2",
        "--exclusive",
        "--time=25:00:00",
        "--partition=p",
        "--output=mpigauge-%j.log",
        "--requeue",
        "--open-mode=append",
        "--signal=B:TERM@90",
    ]


def test_it_measures_and_once_there_is_a_result_goes_on_with_it(cli: Cli, tmp_path: Path) -> None:
    job = ready(script(cli, "pingpong", "--sizes", "8,1KiB"), tmp_path)
    run = ["run", "pingpong", "--sizes", "8,1KiB", "--np", "2", "-q", "-o"]
    assert words_of(job) == [*run, "mpigauge-17.jsonl"]
    assert words_of(job, "my own.jsonl") == [*run, "my own.jsonl"]
    # Killed over its first line, nothing was measured: a second start of the job begins it again.
    (tmp_path / "my own.jsonl").write_text("something", encoding="utf-8")
    assert words_of(job, "my own.jsonl") == [*run, "my own.jsonl"]
    (tmp_path / "my own.jsonl").write_text("something\n", encoding="utf-8")
    assert words_of(job, "my own.jsonl") == ["resume", "my own.jsonl", "-q"]


@pytest.mark.parametrize("given", [("--np", "3"), ("--np=3",)])
def test_ranks_that_are_given_are_kept(cli: Cli, tmp_path: Path, given: tuple[str, ...]) -> None:
    assert words_of(ready(script(cli, "ring", *given), tmp_path))[: 2 + len(given)] == ["run", "ring", *given]
    assert "--np" not in script(cli, "ring", *given).replace(" ".join(given), "")


def test_every_task_of_an_array_has_its_plan(cli: Cli, tmp_path: Path) -> None:
    plans = ["a.toml", "it's $HOME.toml"]
    for name in plans:
        Path(name).write_text(PLAN, encoding="utf-8")
    text = script(cli, *(word for plan in plans for word in ("--array", plan)), "--budget", "1min")
    assert "--array=0-1%1" in directives(text)
    assert "--output=mpigauge-%A_%a.log" in directives(text)
    job = ready(text, tmp_path)
    for number, plan in enumerate(plans):
        words = words_of(job, SLURM_ARRAY_JOB_ID="16", SLURM_ARRAY_TASK_ID=str(number))
        result = f"mpigauge-16_{number}.jsonl"
        assert words == ["run", "--plan", plan, "--budget", "1min", "-q", "-o", result]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20))
def test_no_word_of_the_user_is_the_shells(cli: Cli, tmp_path: Path, value: str) -> None:
    done = cli("sbatch", "pingpong", "--env", f"A={value}")
    if not value.isprintable():
        assert done.status == 2
        return
    assert f"A={value}" in words_of(ready(done.out, tmp_path))


def test_a_map_of_all_nodes_is_measured_with_a_rank_on_each(cli: Cli, tmp_path: Path) -> None:
    text = script(cli, "--nodes", "200", "map", "--sizes", "8,1MiB")
    assert "--nodes=200" in directives(text)
    assert "#   mpigauge sbatch --nodes 200 map --sizes 8,1MiB --np 200\n" in text
    words = words_of(ready(text, tmp_path))
    assert words == ["map", "--sizes", "8,1MiB", "--np", "200", "-q", "-o", "mpigauge-17.jsonl"]


@pytest.mark.parametrize(
    ("status", "calls"),
    [
        ("0", ["resume r.jsonl -q", "map r.jsonl -q --factor 1.5 --before --before a.jsonl"]),
        ("1", ["resume r.jsonl -q", "map r.jsonl -q --factor 1.5 --before --before a.jsonl"]),
        ("3", ["resume r.jsonl -q"]),
        ("143", ["resume r.jsonl -q"]),
    ],
)
def test_a_map_that_goes_on_ends_with_its_verdict(
    cli: Cli, tmp_path: Path, status: str, calls: list[str]
) -> None:
    shown = ("--factor", "1.5", "--before", "--before", "a.jsonl")
    job = ready(script(cli, "map", "--launches", "7", *shown), tmp_path)
    (tmp_path / "r.jsonl").write_text("something\n", encoding="utf-8")
    with begin(job, "r.jsonl", STATUS=status) as process:
        assert process.wait() == int(status)
    assert (tmp_path / "calls.txt").read_text(encoding="utf-8").splitlines() == calls


def test_run_may_be_named_as_the_verb_it_is(cli: Cli, tmp_path: Path) -> None:
    assert words_of(ready(script(cli, "run", "pingpong"), tmp_path))[:2] == ["run", "pingpong"]


@pytest.mark.parametrize(
    ("words", "idle"),
    [
        (("--nodes", "200", "pingpong"), "198 of 200 nodes are idle, since no more than 2 ranks are at work"),
        (("--nodes", "5", "pingpong", "stream"), "3 of 5 nodes are idle"),
        (("--nodes", "200", "allreduce", "--np", "8"), "192 of 200 nodes are idle"),
        (("--nodes", "200", "--array", "a.toml", "--array", "a.toml"), "a.toml: 198 of 200 nodes are idle"),
        (("--nodes", "4", "pingpong"), ""),
        (("--nodes", "200", "pingpong", "allreduce"), ""),
        (("--nodes", "200"), ""),
        (("--nodes", "200", "map"), ""),
    ],
)
def test_a_job_that_would_leave_most_nodes_idle_says_so(cli: Cli, words: tuple[str, ...], idle: str) -> None:
    Path("a.toml").write_text(PLAN, encoding="utf-8")
    done = cli("sbatch", *words, "-o", "job.sh")
    assert done.status == 0
    assert (idle in done.err) if idle else ("are idle" not in done.err)


@pytest.mark.parametrize("status", ["0", "1", "127", "143"])
def test_the_status_is_passed_on(cli: Cli, tmp_path: Path, status: str) -> None:
    job = ready(script(cli, "pingpong"), tmp_path)
    with begin(job, STATUS=status) as process:
        assert process.wait() == int(status)


def test_sigterm_is_handed_on_and_the_end_waited_for(cli: Cli, tmp_path: Path) -> None:
    job = ready(script(cli, "pingpong"), tmp_path)
    with begin(job, WAITS="1", STATUS="42") as process:
        while not ((tmp_path / "words.txt").exists() and catches_sigterm(process.pid)):
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 42
    assert (tmp_path / "signals.txt").read_text(encoding="utf-8") == "told\n"


def test_sigterm_is_handed_on_from_the_first_moment(cli: Cli, tmp_path: Path) -> None:
    text = script(cli, "pingpong")
    assert text.index("\ntrap ") < text.index(PROGRAM)
    with begin(ready(text, tmp_path), WAITS="1", EAGER="1", STATUS="42") as process:
        assert process.wait(timeout=60) == 42


@pytest.mark.needs("shellcheck")
@pytest.mark.parametrize(
    "words",
    [
        ("pingpong", "--sizes", "8,64"),
        ("--array", "a.toml", "--array", "a,b.toml"),
        ("map", "--factor", "1.5", "--figure", "a b.png"),
    ],
)
def test_bash_and_shellcheck_find_no_fault(cli: Cli, tmp_path: Path, words: tuple[str, ...]) -> None:
    for name in ("a.toml", "a,b.toml"):
        Path(name).write_text(PLAN, encoding="utf-8")
    job = tmp_path / "job.sh"
    job.write_text(script(cli, *words), encoding="utf-8")
    subprocess.run([BASH, "-n", str(job)], check=True)
    assert subprocess.run([needs.program("shellcheck"), str(job)], check=False).returncode == 0


def test_a_dash_is_standard_output(cli: Cli) -> None:
    done = cli("sbatch", "pingpong", "-o", "-")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("#!/bin/bash\n")
    assert not list(Path().iterdir())


def test_a_script_is_written_once_and_can_be_run(cli: Cli) -> None:
    done = cli("sbatch", "pingpong", "-o", "job.sh")
    assert (done.status, done.out) == (0, "")
    assert "sbatch job.sh" in done.err
    assert os.access("job.sh", os.X_OK)
    again = cli("sbatch", "pingpong", "-o", "job.sh")
    assert again.status == 2
    assert "job.sh: is there already" in again.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pingpong", "--budget", "28min"], "does not fit a job of 1800 s"),
        (["pingpong", "--over", "1h"], "spread over 3600 s do not fit a job of 1800 s"),
        (["pingpong", "--time", "1min"], "--time: 1min is too short"),
        (["pingpong", "--time", "soon"], "'soon' is not a span of time"),
        (["pingpong", "--time", "30min\n"], "contains a control character"),
        (["pingpong", "--time", "1000000h"], "--time: 1000000h is more than a year"),
        (["pingpong", "--partition", "a b"], "'a b' is not the name of a partition"),
        (["pingpong", "--env", "A=b\nrm"], "contains a control character"),
        (["pingpong", "-o", "a\nb"], "contains a control character"),
        (["pingpong", "--nonsense"], "there is no option --nonsense"),
        (["pingpong", "--dry-run"], "--dry-run cannot be used here"),
        (["--array", "none.toml"], "none.toml: cannot be read"),
        (["--plan", "none.toml"], "none.toml: cannot be read"),
        (["--array", "a.toml", "--plan", "a.toml"], "--array and --plan exclude each other"),
        (["--nodes", "0", "pingpong"], "--nodes"),
        (["--nodes", "1", "map"], "--np: one rank has no pairs"),
        (["map", "--budget", "28min"], "does not fit a job of 1800 s"),
        (["map", "r.jsonl"], "RESULT (r.jsonl) cannot be used here"),
        (["map", "--dry-run"], "--dry-run cannot be used here"),
        (["map", "--factor", "1"], "--factor must be"),
        (["map", "--pair", "h1"], "--pair: 'h1' is not a pair"),
        (["map", "--nonsense"], "there is no option --nonsense"),
        (["--array", "a.toml", "map"], "--array: a map has no plan file"),
        (["--mpi", "mpich", "map"], "mpigauge sbatch map, followed by its options"),
    ],
)
def test_what_would_fail_in_the_job_is_refused_before(cli: Cli, words: list[str], sentence: str) -> None:
    Path("a.toml").write_text(PLAN, encoding="utf-8")
    done = cli("sbatch", *words)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err
    assert "Traceback" not in done.err
