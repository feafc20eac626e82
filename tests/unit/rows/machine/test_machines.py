"""The machine of a result is the one that was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.plan.lab import Lab
from mpigauge.result.kernel_data import Machine
from mpigauge.rows.machine.machines import is_elsewhere, measured_machine
from mpigauge.show.head import head_of
from tests.made import campaign, cell, launch, result_of

if TYPE_CHECKING:
    from mpigauge.result.reader import Result

NODE = Machine("node1.cluster", "Fast CPU", "6.1", 2**28)


def result_on(*machines: Machine, host: str = "login", lab: Lab | None = None) -> Result:
    """A result that was started on one machine and measured on others."""
    of = campaign(cell())
    environment = replace(of.environment, host=host, cpu="Slow CPU", caches={"L3 Unified": 2**20})
    started = replace(of, environment=environment, plan=replace(of.plan, lab=lab))
    return result_of(started, replace(launch(1), machines=machines))


def test_ranks_of_other_hosts_make_it_theirs() -> None:
    result = result_on(NODE, replace(NODE, host="node2"))
    machine = measured_machine(result)
    assert (machine.host, machine.cpu, machine.kernel) == ("node1.cluster", "Fast CPU", "6.1")
    assert not machine.caches  # of which nothing is known but the largest
    assert not machine.cpu_groups
    head = head_of(result)
    assert "Fast CPU" in head[0]
    assert "Slow CPU" not in " ".join(head)
    assert "started from login, where no rank ran" in head


@pytest.mark.parametrize(
    "result",
    [
        result_on(),  # an older result, which does not say
        result_on(NODE, host="node1"),
        result_on(NODE, host="NODE1.other.domain"),
        result_on(replace(NODE, host="node7"), NODE, host="node1"),
        result_on(NODE, host=""),
        result_on(NODE, lab=Lab(hosts=2)),
    ],
)
def test_else_it_is_the_machine_that_it_was_started_on(result: Result) -> None:
    assert measured_machine(result) == result.campaign.environment
    assert not is_elsewhere(result)
    assert not any("started from" in line for line in head_of(result))
