"""Launchers are pure: a job becomes these words, and as few of them for thousands of ranks as for eight."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from mpigauge.campaign.launch.job import HOSTS, HOSTS_FILE, Job
from mpigauge.campaign.launch.launchers import FORCED, LAUNCHERS, command_of, ending_of, options_after_refusal
from mpigauge.errors import UsageError

MINIMAL = Job(Path("/opt/mpi/bin/mpiexec"), 2, ("kernel", "-", "-"), cores=2)
FULL = Job(
    Path("/opt/mpi/bin/mpiexec"),
    8,
    ("a kernel", "-", "-"),
    cores=4,
    as_root=True,
    environment={"I_MPI_ROOT": "/opt/mpi"},
)
SPREAD = Job(
    Path("/opt/mpi/bin/mpiexec"),
    4,
    ("kernel", "-", "-"),
    cores=4,
    environment={"UCX_TLS": "tcp", "OMPI_MCA_pml": "ob1"},
    inherited=("FI_PROVIDER", "PRTE_MCA_x"),
    hosts=("h1", "h1", "h2", "h2"),
    pmi="pmix",
)
NEAR = replace(SPREAD, ranks=2, hosts=("h1", "h1"))
MPIEXEC = "/opt/mpi/bin/mpiexec"
EXPORTS = "-x FI_PROVIDER -x UCX_TLS"
SRUN = "--input=0 --unbuffered --kill-on-bad-exit=1"
ARBITRARY = "--distribution=arbitrary"
FLUX = "--input=0 --unbuffered"
TASKMAP = f"--taskmap=hostfile:{HOSTS_FILE}"
JSRUN = "--tasks_per_rs 1 --cpu_per_rs 1"
RANKS, RUNS, HOST_BY_HOST = ["h1", "h1", "h2", "h2"], ["h1:2", "h2:2"], ["h1", "h2"]
COMMANDS = {
    "openmpi": (
        f"{MPIEXEC} -n 2 kernel - -",
        f"{MPIEXEC} -n 8 --allow-run-as-root --oversubscribe|a kernel|- -",
        f"{MPIEXEC} -n 2 {EXPORTS} --host h1:2 kernel - -",
        f"{MPIEXEC} -n 4 {EXPORTS} --hostfile {HOSTS_FILE} --map-by seq kernel - -",
        RANKS,
    ),
    "hydra": (
        f"{MPIEXEC} -n 2 kernel - -",
        f"{MPIEXEC} -n 8|a kernel|- -",
        f"{MPIEXEC} -hosts h1:2 -n 2 kernel - -",
        f"{MPIEXEC} -f {HOSTS_FILE} -n 4 kernel - -",
        RUNS,
    ),
    "intelmpi": (
        f"{MPIEXEC} -n 2 kernel - -",
        f"{MPIEXEC} -n 8|a kernel|- -",
        f"{MPIEXEC} -n 2 -host h1 kernel - -",
        f"{MPIEXEC} -machinefile {HOSTS_FILE} -n 4 kernel - -",
        RUNS,
    ),
    "srun": (
        f"srun --ntasks=2 {SRUN} kernel - -",
        f"srun --ntasks=8 {SRUN} --overcommit|a kernel|- -",
        f"srun --mpi=pmix --ntasks=2 {SRUN} --nodes=1 --nodelist=h1 kernel - -",
        f"srun --mpi=pmix --ntasks=4 {SRUN} --nodes=2 {ARBITRARY} --nodelist={HOSTS_FILE} kernel - -",
        RANKS,
    ),
    "flux": (
        f"flux run --ntasks=2 {FLUX} kernel - -",
        f"flux run --ntasks=8 {FLUX}|a kernel|- -",
        f"flux run --ntasks=2 {FLUX} --nodes=1 --requires=hosts:h1 kernel - -",
        f"flux run --ntasks=4 {FLUX} --nodes=2 --requires=hosts:h1,h2 {TASKMAP} kernel - -",
        RANKS,
    ),
    "pals": (
        "mpiexec -n 2 kernel - -",
        "mpiexec -n 8|a kernel|- -",
        "mpiexec -n 2 --ppn 2 --hosts h1 kernel - -",
        f"mpiexec -n 4 --ppn 2 --hostfile {HOSTS_FILE} kernel - -",
        HOST_BY_HOST,
    ),
    "jsrun": (
        f"jsrun --nrs 2 {JSRUN} kernel - -",
        f"jsrun --nrs 8 {JSRUN}|a kernel|- -",
        f"jsrun --nrs 2 {JSRUN} --rs_per_host 2 --launch_distribution packed kernel - -",
        f"jsrun --nrs 4 {JSRUN} --rs_per_host 2 --launch_distribution packed kernel - -",
        [],
    ),
}
"""For each launcher the words of MINIMAL, FULL, NEAR and SPREAD, with a bar around the one word that holds a
space; and the lines of the file that SPREAD has."""

IN_BLOCKS = {"pals", "jsrun"}
"""Launchers that cannot place ranks as they are asked to."""


def words(text: str) -> tuple[str, ...]:
    """The words of a row."""
    before, *rest = text.split("|")
    return (*before.split(), *([rest[0], *rest[1].split()] if rest else []))


def test_every_launcher_has_a_row() -> None:
    assert set(COMMANDS) == set(LAUNCHERS)
    assert all(launcher.name == name and launcher.about for name, launcher in LAUNCHERS.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_becomes_these_words(name: str) -> None:
    *rows, lines = COMMANDS[name]
    for job, row in zip((MINIMAL, FULL, NEAR, SPREAD), rows, strict=True):
        assert command_of(job, name).words == words(row)
    assert [command_of(job, name).files for job in (MINIMAL, FULL, NEAR)] == [{}, {}, {}]
    assert command_of(SPREAD, name).files.get(HOSTS, "").split() == lines


def spread(ranks: int, hosts: int) -> Job:
    """A job with as many ranks on each host."""
    names = tuple(f"node{rank * hosts // ranks:04d}" for rank in range(ranks))
    return replace(SPREAD, ranks=ranks, cores=ranks, hosts=names)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_length_of_a_command_does_not_grow_with_ranks(name: str) -> None:
    few, many = command_of(spread(8, 2), name), command_of(spread(8000, 1000), name)
    assert len(many.words) == len(few.words)
    named = 9 * 1000 if name == "flux" else 0  # it takes the set of hosts as a word
    assert sum(map(len, many.words)) <= sum(map(len, few.words)) + 20 + named
    assert max(map(len, many.words)) < 128 * 1024  # of a single word, Linux takes no more
    if name != "jsrun":  # which chooses hosts by itself
        assert {line.partition(":")[0] for line in many.files[HOSTS].split()} == set(spread(8000, 1000).hosts)


PLACES = [("h2", "h1", "h2"), ("h1", "h2", "h1", "h2", "h1"), ("h1", "h2", "h2", "h1")]


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - IN_BLOCKS))
@pytest.mark.parametrize("hosts", PLACES)
def test_ranks_are_placed_in_any_order(name: str, hosts: tuple[str, ...]) -> None:
    """A file may be shorter than the list of ranks: who reads it begins it again."""
    job = replace(SPREAD, ranks=len(hosts), hosts=hosts)
    lines = command_of(job, name).files[HOSTS].split()
    runs = [(host, int(slots or 1)) for host, _, slots in (line.partition(":") for line in lines)]
    there = [host for host, slots in runs for _ in range(slots)] * len(hosts)
    assert tuple(islice(there, len(hosts))) == hosts


def test_hydra_gets_a_host_twice_only_where_it_must() -> None:
    dealt = replace(SPREAD, hosts=("h1", "h2", "h1", "h2"))
    assert command_of(dealt, "hydra").files[HOSTS].split() == ["h1:1", "h2:1"]
    again = replace(SPREAD, hosts=("h1", "h2", "h2", "h1"))
    assert command_of(again, "hydra").files[HOSTS].split() == ["h1:1", "h2:2"]
    mixed = replace(SPREAD, ranks=5, hosts=("h1", "h2", "h2", "h1", "h1"))
    assert command_of(mixed, "hydra").files[HOSTS].split() == ["h1:1", "h2:2", "h1:2"]


@pytest.mark.parametrize("name", sorted(IN_BLOCKS))
@pytest.mark.parametrize("hosts", [("h1", "h2", "h1"), ("h1", "h2", "h2")])
def test_an_unsupported_placement_is_refused(name: str, hosts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=f"{name} cannot place ranks on {','.join(hosts)}: "):
        command_of(replace(SPREAD, ranks=3, hosts=hosts), name)
    command_of(replace(SPREAD, ranks=3, hosts=("h1", "h1", "h2")), name)


def test_ranks_below_a_daemon_are_ended_by_their_launcher() -> None:
    """It is asked, also when we are killed: nobody else could end them. Of words, we know no better."""
    names = (*LAUNCHERS, "start -n {ranks}")
    by_launcher = {name for name in names if ending_of(MINIMAL, name).orphan_signal == FORCED.orphan_signal}
    assert by_launcher == {"srun", "flux", "pals", "jsrun", "start -n {ranks}"}
    assert ending_of(spread(8000, 1000), "srun").patience_s > ending_of(MINIMAL, "srun").patience_s


THREADS = replace(MINIMAL, ranks=4, cores=4, physical_cores=2)
"""A processor for every rank, two of which are hardware threads of one core."""

SLOTS_5 = """There are not enough slots available in the system to satisfy the 2
slots that were requested by the application:

  kernel

Either request fewer procs for your application, or make more slots
available for use.
"""
BIND_4 = """A request was made to bind to that would result in binding more
processes than cpus on a resource:

   Bind to:     CORE
"""
BIND_5 = """A request was made to bind that would require binding
processes to more cpus than are available in your allocation:

   Application:     kernel
"""
EITHER_5 = """Either there are not enough slots available in the system to launch
the 45 processes that were requested by the application, or there are
not enough CPUs to bind them as requested:
"""
NO_STEP = "srun: error: Unable to create step for job 7: More processors requested than permitted\n"


def test_ranks_on_hardware_threads_are_no_more_than_there_are_processors() -> None:
    assert THREADS.on_hardware_threads
    assert not THREADS.oversubscribed
    for job in (
        replace(THREADS, ranks=2),
        replace(THREADS, ranks=5),
        replace(THREADS, physical_cores=0),
    ):
        assert not job.on_hardware_threads


def test_open_mpi_counts_hardware_threads_only_where_cores_are_too_few() -> None:
    assert command_of(THREADS, "openmpi").words == words(f"{MPIEXEC} -n 4 --use-hwthread-cpus kernel - -")
    bound = replace(THREADS, environment={"PRTE_MCA_hwloc_default_binding_policy": "core"})
    told = f"{MPIEXEC} -n 4 --use-hwthread-cpus --map-by core kernel - -"
    assert command_of(bound, "openmpi").words == words(told)
    assert "--map-by core" not in " ".join(
        command_of(replace(bound, options=("--map-by", "l3cache")), "openmpi").words
    )
    for name in set(LAUNCHERS) - {"openmpi"}:
        assert command_of(THREADS, name) == command_of(replace(THREADS, physical_cores=4), name)


@pytest.mark.parametrize("said", [SLOTS_5, BIND_4, BIND_5, EITHER_5])
def test_a_launcher_that_counts_fewer_slots_is_told_to_count_more(said: str) -> None:
    job, told = MINIMAL, list[str]()
    while answer := options_after_refusal(said, job, "openmpi"):
        told += answer
        job = replace(job, options_found=answer)
        assert command_of(job, "openmpi").words[-4] == answer[0]
    assert told == ["--use-hwthread-cpus", "--oversubscribe"]
    assert options_after_refusal(said, replace(MINIMAL, hosts=("h1", "h1")), "openmpi") == (
        "--use-hwthread-cpus",
    )


def test_slurm_is_told_to_start_more_tasks_than_processors() -> None:
    assert options_after_refusal(NO_STEP, MINIMAL, "srun") == ("--overcommit",)
    job = replace(MINIMAL, options_found=("--overcommit",))
    assert "--overcommit" in command_of(job, "srun").words
    assert options_after_refusal(NO_STEP, job, "srun") == ()


@pytest.mark.parametrize("name", [*LAUNCHERS, "mpiexec -n {ranks}"])
def test_other_output_gives_no_restart_options(name: str) -> None:
    assert options_after_refusal("Fatal error in internal_Init: Other MPI error", MINIMAL, name) == ()
    if name not in {"openmpi", "srun"}:
        assert options_after_refusal(SLOTS_5 + NO_STEP, MINIMAL, name) == ()


def test_a_job_is_oversubscribed_above_its_cores_only() -> None:
    assert not Job(Path("mpiexec"), 4, (), cores=4).oversubscribed
    assert Job(Path("mpiexec"), 5, (), cores=4).oversubscribed
