"""What may be asked of a campaign, what it measures and when it stops; on fakes whose law is known."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.options.run_options import planned
from mpigauge.plan import suites
from mpigauge.plan.sizes import USUAL_SIZES, parse_sizes
from mpigauge.result.environment import cores_allowed
from mpigauge.result.reader import load
from mpigauge.rows.rows import rows as rows_in
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from tests.cli.journey import (
    EVERY_VISIT,
    MEASURE,
    estimates_ns,
    rows_of,
    states,
)

if TYPE_CHECKING:
    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi


# ---- What may be asked for -----------------------------------------------------------------------


def test_json_is_alone_on_standard_output(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "1", "--format", "json", "-o", "r.jsonl")
    assert json.loads(done.out)["stopped"] == "launches"
    assert done.err.splitlines()[-1] == "result: r.jsonl"
    assert "launch 1" in done.err


def test_a_dry_run_runs_nothing(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", *MEASURE, "--dry-run")
    assert done.status == 0
    assert f"{openmpi.bin}/mpiexec -n 2" in done.out
    assert "pingpong standard 8 B, 64 B\n" in done.out
    assert done.out.startswith("2 cells in 1 job, at most 45 s; nothing is run\n")
    assert "seed 7" in done.out
    assert not list(Path().iterdir())


def test_a_dry_run_is_short_and_names_the_ends_of_many_sizes(cli: Cli, openmpi: FakeMpi) -> None:
    told = cli("run", "--dry-run").out.splitlines()
    assert re.match(r"\d+ cells in 1 job, at most 45 s; nothing is run", told[0])
    assert "    pingpong standard 0 B to 4 MiB (24 sizes)" in told
    assert len(told) < 20


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--vary", "A=1,2"), "2 jobs, 45 s per job: at most 90 s"),
        (("--vary", "A=1,2", "--np", "2,4"), "4 jobs, 45 s per job: at most 3 min"),
        (("--quick", "--vary", "A=1,2"), "2 jobs, 12 s per job: at most 24 s"),
        (("--vary", "A=1,2,3", "--vary", "B=1,2,3"), "9 jobs, 45 s per job, of at most 8: at most 6 min"),
        (("--vary", "A=1,2", "--budget", "45s"), "2 jobs, at most 45 s"),
        (("--vary", "A=1,2", "--control", "no", "--until", "decided"), "2 jobs, at most 300 s"),
        (("--vary", "A=1,2", "--over", "1h"), "2 jobs, spread over 3600 s"),
    ],
)
def test_each_job_has_the_usual_time_and_all_what_the_user_says(
    cli: Cli, openmpi: FakeMpi, words: tuple[str, ...], told: str
) -> None:
    first = cli("run", "pingpong", "--sizes", "8", *words, "--dry-run").out.splitlines()[0]
    assert re.fullmatch(rf"\d+ cells in {told}; nothing is run", first)


def test_the_time_of_several_jobs_is_said_before_they_start(cli: Cli, openmpi: FakeMpi) -> None:
    Path("own.toml").write_text('budget = "1s"\n[[measure]]\npattern = "barrier"\n', encoding="utf-8")
    words = ("--quick", "--vary", "A=1,2", "-o", "r.jsonl")
    done = cli("run", "barrier", *words)
    assert done.err.splitlines()[0] == (
        "mpigauge: 2 jobs, 12 s per job: at most 24 s; --budget sets the time of all"
    )
    assert load(Path("r.jsonl")).campaign.plan.budget_s == 24.0
    assert "per job" not in cli("run", "--plan", "own.toml", *words[1:3], "-o", "own.jsonl").err
    assert load(Path("own.jsonl")).campaign.plan.budget_s == 1.0


def test_a_budget_that_is_too_short_for_a_verdict_is_said_before_the_start(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of launches that sleep a second in MPI_Init: what they take is known without starting one."""
    words = ("run", "pingpong", "--sizes", "8", "--vary", "A=1,2", "--budget")
    told = "10 s: about 3 launches of each of 2 jobs, and a verdict takes 5: --budget 20s"
    assert f"! {told}\n" in cli(*words, "10s", "--dry-run").out
    assert cli(*words, "10s", "-o", "r.jsonl").err.splitlines()[0] == f"mpigauge: {told}"
    assert "verdict" not in cli(*words, "20s", "--dry-run").out
    assert "verdict" not in cli(*words, "10s", "--launches", "3", "--dry-run").out
    assert "verdict" not in cli("run", "pingpong", "--sizes", "8", "--budget", "1s", "--dry-run").out
    monkeypatch.setenv("OMPI_MCA_btl", "^ofi")
    assert "verdict" not in cli(*words, "10s", "--dry-run").out


def test_as_many_launches_are_made_as_are_asked_for_each_with_all_visits(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_JITTER", "0.5")  # no cell is so precise that visits are left out
    assert cli("run", "pingpong", "--sizes", "8,4MiB", "--launches", "7", "-o", "r.jsonl").status == 0
    result = load(Path("r.jsonl"))
    assert len(result.launches) == 7
    made = Counter((visit.launch, visit.cell) for visit in result.visits)
    assert set(made.values()) == {result.campaign.plan.visits}


@pytest.mark.parametrize(("variables", "sleeps"), [({}, 1), ({"OMPI_MCA_btl": "^ofi"}, 0)])
def test_a_sleep_in_every_launch_is_said_once_with_what_avoids_it(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sleeps: int
) -> None:
    monkeypatch.setenv("FAKE_SLEEP", "1")
    given = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "3", *given, "-o", "r.jsonl")
    assert done.status == 0
    assert (
        done.err.count("each launch sleeps 1 s in MPI_Init, which --env OMPI_MCA_btl=^ofi avoids") == sleeps
    )
    assert len(load(Path("r.jsonl")).launches) == 3
    doctor = " ".join(cli("doctor").out.split())
    assert "Open MPI" in doctor
    assert "1.08 s, 1 s of it a sleep" in doctor
    assert "30.0 ms without it" in doctor


def test_a_first_look_has_as_many_launches_as_are_counted_as_precise(cli: Cli, openmpi: FakeMpi) -> None:
    for words in (("--quick",), (), ("--thorough",)):
        plan, *_ = planned(("pingpong", *words))
        assert (plan.launches_min, plan.launches_max) == (ENOUGH_LAUNCHES, 30)
    assert planned(("--quick", "--launches", "9")).plan.launches_min == 9


@pytest.mark.parametrize("verb", ["run", "map"])
def test_a_dry_run_refuses_what_the_run_would_refuse(cli: Cli, openmpi: FakeMpi, verb: str) -> None:
    for name in ("r.jsonl", "packed.jsonl.gz"):
        Path(name).write_text("taken\n", encoding="utf-8")
        done = cli(verb, "--dry-run", "-o", name)
        assert (done.status, done.out) == (2, "")
        assert f"{name}: exists already" in done.err


def test_more_ranks_than_cores_are_said_before(cli: Cli, openmpi: FakeMpi) -> None:
    cores = cores_allowed()
    words = ("ring", "--sizes", "8", "--np", f"2,{cores + 1}", "--launches", "1")
    said = f"{cores + 1} ranks share"
    assert f"! {said} " in cli("run", *words, "--dry-run").out
    done = cli("run", *words, "-o", "r.jsonl")
    assert done.status == 0
    assert done.err.count(said) == 1
    assert said not in cli("run", "ring", "--sizes", "8", "--np", "2", "--hosts", "h1:2", "--dry-run").out


def test_a_dry_run_tells_every_cell_by_its_factors(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("reduce", "--sizes", "8", "--root", "1", "--op", "max", "--in-place", "--buffers", "cold")
    told = cli("run", *words, "--dry-run").out
    assert "    reduce blocking 8 B, cold buffers, common start, max of double, root 1, in place\n" in told


def test_the_words_of_a_dry_run_can_be_given_to_a_shell(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", *MEASURE, "--env", "A=b c", "--mpi-option", "x;y", "--dry-run")
    (line,) = [line for line in done.out.splitlines() if "mpiexec" in line]
    words = shlex.split(line)
    assert "A=b c" in words
    assert "x;y" in words


def test_hosts_that_name_none_are_not_this_machine(cli: Cli, openmpi: FakeMpi) -> None:
    for verb in ("run", "map"):
        done = cli(verb, "--hosts", "", "--dry-run")
        assert (done.status, done.out) == (2, "")
        assert "--hosts: the list is empty" in done.err


def test_two_libraries_take_turns_in_an_order_of_the_seed(cli: Cli, fake_mpi: Install) -> None:
    fake_mpi("openmpi", "5.0.11", latency_ns=100)
    fake_mpi("mpich", "5.0.2", latency_ns=300)

    def orders(seed: int, launches: int, name: str) -> list[list[str]]:
        words = ("--mpi", "openmpi", "--mpi", "mpich", "--seed", seed, "--launches", launches, "-o", name)
        rows = rows_of(cli("run", "pingpong", "--sizes", "8", *words, "--format", "json"))
        assert rows["pingpong", "standard", 8, 2, "openmpi"]["time_s"]["estimate"] == pytest.approx(100e-9)
        assert rows["pingpong", "standard", 8, 2, "mpich"]["time_s"]["estimate"] == pytest.approx(300e-9)
        started = [(launch.number, launch.job.mpi) for launch in load(Path(name)).launches]
        assert [number for number, _ in started] == sorted(2 * list(range(1, launches + 1)))
        return [[mpi for number, mpi in started if number == n + 1] for n in range(launches)]

    first = orders(7, 4, "first.jsonl")
    assert first[:2] == orders(7, 2, "again.jsonl")
    assert {tuple(order) for order in first} == {("openmpi", "mpich"), ("mpich", "openmpi")}
    visits = load(Path("first.jsonl")).visits
    orders_of_cells = {
        tuple(v.cell.pattern for v in visits if (v.launch, v.cell.mpi) == (n, "mpich")) for n in (1, 2, 3)
    }
    assert len(orders_of_cells) > 1


def test_each_number_of_ranks_has_launches_of_its_own(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("--sizes", "8", "--np", "2,4", "--launches", "1", "-o", "r.jsonl", "--format", "json")
    rows = rows_of(cli("run", "ring", *words))
    assert rows["ring", "standard", 8, 2, "openmpi"]["time_s"]["estimate"] == pytest.approx(200e-9)
    assert rows["ring", "standard", 8, 4, "openmpi"]["time_s"]["estimate"] == pytest.approx(400e-9)
    result = load(Path("r.jsonl"))
    assert {launch.job.ranks: len(launch.ranks_at) for launch in result.launches} == {2: 2, 4: 4}
    assert all(visit.cell.ranks in {2, 4} for visit in result.visits)


@pytest.mark.thorough
def test_the_default_is_the_suite_and_keeps_its_budget(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not more, or copies become faster than a core can be, and are refused.
    monkeypatch.setenv("FAKE_SPREAD", "0.2")
    monkeypatch.setenv("FAKE_NAP_S", "0.001")
    rows = rows_of(cli("run", "--budget", "1s", "--format", "json"))
    (path,) = Path("results").iterdir()
    result = load(path)
    assert result.ends[-1].reason == "budget"
    assert states(rows).keys() == set(parse_sizes(USUAL_SIZES))
    point_to_point = {"pingpong", "exchange", "stream", "eager"}
    assert {key[0] for key in rows} == {"null", *point_to_point, "barrier", "bcast", "allreduce", "memcpy"}
    assert result.visits
    # A round beyond those that an interval needs is begun only if one as long as the last still fits.
    before_s = [done.elapsed_s for done in result.done[:-1]]
    like_the_last_s = before_s[-1] if len(result.done) > result.campaign.plan.launches_min else 0.0
    assert sum(before_s) + like_the_last_s <= 1.0


def test_quick_is_a_smaller_suite(cli: Cli, openmpi: FakeMpi) -> None:
    rows = rows_of(cli("run", "--quick", "--launches", "1", "--format", "json"))
    assert states(rows).keys() == set(parse_sizes(suites.QUICK_SIZES))


def test_it_stops_when_the_intervals_are_narrow_enough(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "pingpong", "--sizes", "8", "--budget", "10min", "-o", "r.jsonl")
    assert done.status == 0
    result = load(Path("r.jsonl"))
    assert result.ends[-1].reason == "converged"
    assert {launch.number for launch in result.launches} == {1, 2, 3, 4, 5, 6}


def test_the_default_keeps_its_result_small_and_what_is_chosen_does_not(cli: Cli, openmpi: FakeMpi) -> None:
    def first_line(*words: object) -> str:
        told = cli("run", *words, "--dry-run").out
        return next(line for line in told.splitlines() if line.startswith("seed"))

    assert f"to {suites.DEFAULT_MAX_LAUNCHES} launches" in first_line()
    assert "to 30 launches" in first_line("pingpong")
    assert "20 to 20 launches" in first_line("--launches", 20)


def test_no_time_for_anything_is_no_success(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.campaign.budget.Budget.deadline_s", lambda *_: 1e-9)
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert {row.status for row in rows_in(load(Path("r.jsonl")))} == {"skipped"}
    assert done.status == 4
    assert "r.jsonl: nothing was measured" in done.err
    assert "--budget" in done.err
    assert "no time left: 2 of 2 cells, e.g. pingpong" in done.out


def test_runs_of_one_moment_have_a_file_each(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.cli.sessions.session.default_path", lambda: Path("results") / "now.jsonl")
    for number in (1, 2, 3):
        assert cli("run", *MEASURE, "--seed", str(number)).status == 0
    seeds = {path.name: load(path).campaign.plan.seed for path in Path("results").iterdir()}
    assert seeds == {"now.jsonl.gz": 1, "now-2.jsonl.gz": 2, "now-3.jsonl.gz": 3}


def test_launches_that_differ_show_in_the_interval(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SPREAD", "0.2")
    rows = rows_of(cli("run", *MEASURE, "--format", "json"))
    time = rows["pingpong", "standard", 64, 2, "openmpi"]["time_s"]
    assert time["low"] < 106e-9 < time["high"]
    assert time["high"] / time["low"] > 1.05
    assert 0.8 * 106e-9 <= time["estimate"] <= 1.2 * 106e-9


def test_chatter_between_the_lines_does_no_harm(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_CHATTER", "1")
    times = estimates_ns(rows_of(cli("run", *MEASURE, "--format", "json")))
    assert times == pytest.approx({("null", 0): 20, ("pingpong", 8): 100, ("pingpong", 64): 106})


def test_a_cell_has_no_more_samples_than_asked_for(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in EVERY_VISIT.items():
        monkeypatch.setenv(name, value)
    for most in (5, 200):
        words = ("pingpong", "--sizes", "8", "--launches", "2", "--samples", most, "--precision", "0.0001%")
        rows = rows_of(cli("run", *words, "--format", "json"))
        assert rows["pingpong", "standard", 8, 2, "openmpi"]["samples"] == 2 * most


@pytest.mark.parametrize(
    "words",
    [
        ("pingpung",),
        ("pingpong", "--mode", "nonsense"),
        ("pingpong", "--sizes", "1K"),
        ("pingpong", "--np", "1"),
        ("pingpong", "--np", "2,x"),
        ("pingpong", "--np", "100000000"),
        ("pingpong", "--launches", "0"),
        ("pingpong", "--samples", "0"),
        ("pingpong", "--budget", "soon"),
        ("pingpong", "--precision", "3"),
        ("pingpong", "--seed", "-1"),
        ("pingpong", "--window", "0"),
        ("pingpong", "--sizes", "64TiB"),
        ("pingpong", "--mpi", "nonsense"),
        ("pingpong", "--mpi", "/nonsense"),
        ("pingpong", "--plan", "nonsense.toml"),
        ("bcast", "--sync", "later"),
        ("bcast", "--root", "2"),
        ("bcast", "--root", "-1"),
        ("bcast", "--root", "all"),
        ("bcast", "--mode", "persistent"),
        ("allreduce", "--datatype", "quad"),
        ("allreduce", "--op", "mean"),
        ("allreduce", "--op", "bxor"),
        ("alltoall", "--sizes", "3GiB", "--np", "2"),
        ("alltoallv", "--sizes", "1GiB", "--np", "2"),
        ("chase", "--buffers", "cold"),
        ("--quick", "--thorough"),
        ("--nonsense",),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_leaves_no_file(
    cli: Cli, openmpi: FakeMpi, words: tuple[str, ...]
) -> None:
    done = cli("run", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("mpigauge: ")
    assert "hint: " in done.err
    assert not list(Path().iterdir())
