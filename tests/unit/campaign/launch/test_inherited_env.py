"""Of a launcher around us, our own launchers see what they need, and not that we are a rank."""

from __future__ import annotations

import pytest

from mpigauge.campaign.launch.inherited_env import check_not_a_rank, forwarded_variables, launcher_environment
from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.errors import UsageError

SCRIPT = {
    "SLURM_JOB_ID": "7",
    "SLURM_JOB_NODELIST": "node[0-1]",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_JOB_CPUS_PER_NODE": "4(x2)",
    "SLURM_NNODES": "2",
    "SLURM_NODELIST": "node[0-1]",
    "SLURM_NTASKS": "4",
    "SLURM_TASKS_PER_NODE": "2(x2)",
}
"""A job script of Slurm, where it is told of tasks, but none of them is us."""

AS_TASK = {"SLURM_PROCID": "0", "SLURM_NODEID": "0", "SLURM_LOCALID": "0", "SLURM_GTIDS": "0"}
STEP = {
    **SCRIPT,
    **AS_TASK,
    "SLURM_STEP_ID": "3",
    "SLURM_STEP_NUM_TASKS": "1",
    "SLURM_STEP_NODELIST": "node0",
    "SLURM_NNODES": "1",
    "SLURM_NODELIST": "node0",
    "SLURM_NTASKS": "1",
    "SLURM_TASKS_PER_NODE": "1",
    "SLURM_CPU_BIND": "quiet,mask_cpu:0x1",
    "SLURM_DISTRIBUTION": "cyclic",
}
"""What a task of srun sees in such a job."""

RANK = {
    "PMI_RANK": "0",
    "PMI_FD": "6",
    "PMIX_RANK": "0",
    "PMIX_NAMESPACE": "job-1@1",
    "PMIX_SERVER_URI41": "job-1@0;tcp4://127.0.0.1:1",
    "OMPI_COMM_WORLD_RANK": "0",
    "OMPI_MCA_ess": "env",
    "OMPI_MCA_orte_ess_vpid": "0",
    "MPI_LOCALRANKID": "0",
    "PALS_RANKID": "0",
    "FLUX_TASK_RANK": "0",
}
MEANT = {
    "PMIX_MCA_gds": "hash",
    "OMPI_MCA_btl": "^ofi",
    "OMPI_MCA_orte_keep_fqdn_hostnames": "1",
    "PMI_NO_FORK": "1",
    "I_MPI_PIN": "off",
    "FLUX_URI": "local:///run/flux/local",
    "SLURM_CPU_BIND": "cores",
    "PATH": "/bin",
}
"""What a user has set, or what leads to a scheduler."""


def test_variables_of_ranks_are_dropped_and_settings_kept() -> None:
    assert launcher_environment({**RANK, **MEANT}) == MEANT


def test_a_job_script_keeps_its_job_and_srun_writes_plain_lines() -> None:
    given = {**SCRIPT, **AS_TASK, "SLURM_LABELIO": "1", "SLURM_STDOUTMODE": "/dev/null"}
    assert launcher_environment(given) == SCRIPT


@pytest.mark.parametrize("what", ["NODE", "CORE", "SOCKET", "GPU", "TRES"])
def test_a_scripts_task_distribution_does_not_apply_to_our_ranks(what: str) -> None:
    """These are options of srun; SLURM_TASKS_PER_NODE is none, and mpiexec needs it."""
    assert launcher_environment({**SCRIPT, f"SLURM_NTASKS_PER_{what}": "1"}) == SCRIPT


def test_in_a_step_the_environment_is_that_of_the_job_script() -> None:
    found = launcher_environment(STEP)
    tasks = {"SLURM_NTASKS", "SLURM_TASKS_PER_NODE"}
    assert {name: found.get(name) for name in SCRIPT if name not in tasks} == {
        name: value for name, value in SCRIPT.items() if name not in tasks
    }
    assert found["SLURM_TASKS_PER_NODE"] == SCRIPT["SLURM_JOB_CPUS_PER_NODE"]
    assert found["SLURM_OVERLAP"] == "1"
    assert not {"SLURM_NTASKS", "SLURM_CPU_BIND", "SLURM_DISTRIBUTION", "SLURM_STEP_ID"} & set(found)


def test_a_launcher_gets_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**RANK, "OMPI_MCA_btl": "^ofi"}.items():
        monkeypatch.setenv(name, value)
    with Interruption() as interruption, RunningJob(["env"], {}, (), interruption) as running:
        names = {line.decode().partition("=")[0] for line in running.lines(lambda: 60.0)}
    assert "OMPI_MCA_btl" in names
    assert not names & RANK.keys()


def test_ranks_elsewhere_get_settings_and_nothing_of_a_scheduler() -> None:
    assert forwarded_variables([*SCRIPT, *MEANT, "UCX_TLS"]) == (
        "PMIX_MCA_gds",
        "OMPI_MCA_btl",
        "OMPI_MCA_orte_keep_fqdn_hostnames",
        "I_MPI_PIN",
        "PATH",
        "UCX_TLS",
    )


@pytest.mark.parametrize(
    "environ",
    [{}, SCRIPT, {**SCRIPT, **AS_TASK}, STEP, {"PMI_SIZE": "1"}, {"PMI_SIZE": "many"}],
    ids=["nothing", "script", "batch step", "step of one", "one rank", "nonsense"],
)
def test_a_single_process_may_measure(environ: dict[str, str]) -> None:
    check_not_a_rank(environ)


@pytest.mark.parametrize(
    "name", ["SLURM_STEP_NUM_TASKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "FLUX_JOB_SIZE"]
)
def test_one_of_several_processes_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=rf"started mpigauge 4 times \({name}\)") as caught:
        check_not_a_rank({**SCRIPT, name: "4"})
    assert caught.value.hint.endswith(f"; if none has, unset {name}")
