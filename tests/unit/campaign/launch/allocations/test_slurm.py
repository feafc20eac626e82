"""What an environment tells of an allocation; real ones are in tests/slurm."""

from __future__ import annotations

import platform
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.campaign.allocations import allocation
from mpigauge.campaign.allocations.allocation import Node
from mpigauge.errors import EnvironmentLacksError
from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOB = {
    "SLURM_JOB_ID": "17",
    "SLURM_JOB_NODELIST": "node[0-2]",
    "SLURM_TASKS_PER_NODE": "2(x2),1",
    "SLURM_JOB_CPUS_PER_NODE": "4(x3)",
}


@pytest.fixture(autouse=True, scope="module")
def _first_node() -> Iterator[None]:
    """We are on the first node of the job."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platform, "node", lambda: "node0")
        yield


def test_nodes_with_their_tasks_and_processors() -> None:
    found = allocation(JOB)
    assert found is not None
    assert found.nodes == (Node("node0", 2, 4), Node("node1", 2, 4), Node("node2", 1, 4))
    assert (found.job, found.tasks, found.restarts, found.ends) == ("17", 5, 0, None)


def test_restarts_end_and_array() -> None:
    more = {"SLURM_RESTART_COUNT": "2", "SLURM_JOB_END_TIME": "1700000000"}
    found = allocation({**JOB, **more, "SLURM_ARRAY_JOB_ID": "16", "SLURM_ARRAY_TASK_ID": "3"})
    assert found is not None
    assert (found.job, found.restarts, found.ends) == ("16_3", 2, 1_700_000_000)


@pytest.mark.parametrize("missing", ["SLURM_JOB_ID", "SLURM_JOB_NODELIST"])
def test_outside_of_a_job_there_is_none(missing: str) -> None:
    assert allocation({name: value for name, value in JOB.items() if name != missing}) is None


def test_without_a_number_of_tasks_every_processor_is_one() -> None:
    found = allocation({name: value for name, value in JOB.items() if "TASKS" not in name})
    assert found is not None
    assert [node.tasks for node in found.nodes] == [4, 4, 4]


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("SLURM_JOB_NODELIST", "node[0-"),
        ("SLURM_JOB_NODELIST", "node0,-oProxyCommand=x,node1"),
        ("SLURM_TASKS_PER_NODE", "2(x2)"),
        ("SLURM_TASKS_PER_NODE", "two"),
        ("SLURM_TASKS_PER_NODE", ""),
        ("SLURM_JOB_CPUS_PER_NODE", "4(x2),"),
        ("SLURM_JOB_CPUS_PER_NODE", "4(x999999)"),
    ],
)
def test_what_contradicts_itself_is_named(variable: str, text: str) -> None:
    with pytest.raises(EnvironmentLacksError, match=f"^{variable}: "):
        allocation({**JOB, variable: text})


@given(st.lists(st.integers(1, 128), min_size=1, max_size=50))
def test_compressed_counts_are_expanded(counts: list[int]) -> None:
    groups = [(number, len(list(same))) for number, same in groupby(counts)]
    text = ",".join(f"{number}(x{many})" if many > 1 else str(number) for number, many in groups)
    found = allocation(
        {**JOB, "SLURM_JOB_NODELIST": f"node[0-{len(counts) - 1}]", "SLURM_TASKS_PER_NODE": text}
        | {"SLURM_JOB_CPUS_PER_NODE": "1"}
    )
    assert found is not None
    assert [node.tasks for node in found.nodes] == counts


STEP = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_TASKS_PER_NODE": "1"}
"""What srun adds for a task of its own, besides making what is told of tasks and nodes that of the step."""


def test_in_a_step_the_nodes_are_those_of_the_job() -> None:
    found = allocation({**JOB, **STEP, "SLURM_TASKS_PER_NODE": "1"})
    assert found is not None
    assert found.nodes == (Node("node0", 4, 4), Node("node1", 4, 4), Node("node2", 4, 4))


def test_in_an_interactive_step_the_tasks_are_those_of_the_job() -> None:
    assert allocation({**JOB, **STEP}) == allocation(JOB)


def test_variables_of_a_job_elsewhere_are_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a container was built in a job: no srun, and other hosts than this."""
    monkeypatch.setattr(platform, "node", lambda: "vm")
    environ = {**JOB, "PATH": str(tmp_path)}
    with pytest.raises(EnvironmentLacksError, match="there is no srun") as caught:
        allocation(environ)
    assert "unset what begins with SLURM_" in caught.value.hint
    write_program(tmp_path / "srun", "")
    assert allocation(environ) is not None


def test_a_heterogeneous_job_is_refused() -> None:
    """Also one of salloc, which has no list of nodes."""
    for job in (JOB, {}):
        with pytest.raises(EnvironmentLacksError, match="heterogeneous job of 2 components"):
            allocation({**job, "SLURM_HET_SIZE": "2"})
    assert allocation({**JOB, "SLURM_HET_SIZE": "1"}) == allocation(JOB)
