"""Campaigns that Slurm ends, queues again or takes a node from: they lose a visit at most."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.reader import load
from tests.real.slurm.cluster import wait_until
from tests.real.slurm.jobs import check_whole, hosts, is_over, log, under_way

if TYPE_CHECKING:
    from tests.real.slurm.cluster import Cluster

pytestmark = pytest.mark.slurm


def test_the_warning_of_a_time_limit_closes_the_file_and_another_job_goes_on(cluster: Cluster) -> None:
    number, path = under_way(cluster)
    cluster.out("scancel", "--batch", "--signal=TERM", number)
    job = cluster.ended(number)
    assert (job["JobState"], job["ExitCode"]) == ("FAILED", "143:0")
    result = load(path)
    assert ([end.reason for end in result.ends], result.failures, result.torn) == (["interrupted"], [], False)
    assert f"mpigauge resume {path}" in log(number)
    again = cluster.submit("job.sh", str(path))
    assert cluster.ended(again)["JobState"] == "COMPLETED", log(again)
    check_whole(path)


def test_a_signal_to_every_task_is_no_failure(cluster: Cluster) -> None:
    number, path = under_way(cluster)
    cluster.out("scancel", number)
    assert cluster.ended(number)["JobState"] == "CANCELLED"
    wait_until(partial(is_over, path), f"{path} to end")
    assert ([end.reason for end in load(path).ends], load(path).failures) == (["interrupted"], [])


def test_a_job_that_is_queued_again_goes_on_with_its_result(cluster: Cluster) -> None:
    number, path = under_way(cluster)
    cluster.out("scontrol", "requeue", number)
    cluster.begin_again(number)
    assert cluster.ended(number)["JobState"] == "COMPLETED", log(number)
    assert len(check_whole(path).ends) == 2


@pytest.mark.thorough
def test_the_loss_of_a_node_costs_a_visit(cluster: Cluster) -> None:
    number, path = under_way(cluster)
    cluster.kill("node1")
    try:
        cluster.begin_again(number)
        assert cluster.ended(number)["JobState"] == "COMPLETED", log(number)
    finally:
        cluster.revive("node1")
    result = load(path)
    before, after = dict.fromkeys(hosts(result))
    assert before == ("node0", "node1")
    assert "node1" not in after
    assert result.ends[-1].reason == "launches"
    assert {done.launch for done in result.done} == {1, 2}
