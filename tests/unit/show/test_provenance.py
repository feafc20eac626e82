"""How a result came about: whoever repeats one of its jobs by it does what that job did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from mpigauge.show.head import head_of
from mpigauge.show.provenance import provenance_of
from tests.made import campaign, cell, launch, result_of

if TYPE_CHECKING:
    from mpigauge.result.records import Launch

SHARED = cell(transport="shm")
NETWORK = cell(transport="tcp")
BY_TRANSPORT = {SHARED: {"BTL": "vader"}, NETWORK: {"BTL": "tcp"}}


def launches_said(*launches: Launch) -> dict[str, str]:
    """What is said of the launches of these two jobs, by name."""
    return dict(provenance_of(result_of(campaign(SHARED, NETWORK), *launches))["launches"])


def test_variables_are_told_by_job_where_jobs_differ() -> None:
    said = launches_said(
        *(
            replace(launch(number, job=of.job), variables=variables)
            for number in (1, 2)
            for of, variables in reversed(BY_TRANSPORT.items())
        )
    )
    assert "variables set" not in said
    for of, variables in BY_TRANSPORT.items():
        assert said[f"variables set, {of.job.name}"] == f"BTL={variables['BTL']}"


def test_what_jobs_have_in_common_is_told_once() -> None:
    said = launches_said(launch(1, job=SHARED.job), launch(1, job=NETWORK.job))
    assert said["variables set"] == "I_MPI_ROOT=/opt"
    assert said["clock"] == "CLOCK_MONOTONIC_RAW"
    assert said["command"].startswith("/opt/bin/mpiexec -n 2")
    assert not [name for name in said if SHARED.job.name in name]


def test_a_job_without_variables_beside_one_that_has_some_says_so() -> None:
    said = launches_said(replace(launch(1, job=SHARED.job), variables={}), launch(1, job=NETWORK.job))
    assert said[f"variables set, {SHARED.job.name}"] == "none"


def test_clocks_that_differ_are_all_named() -> None:
    other = replace(launch(2, job=NETWORK.job), clock="CLOCK_MONOTONIC")
    result = result_of(campaign(SHARED, NETWORK), launch(1, job=SHARED.job), other)
    said = dict(provenance_of(result)["launches"])
    assert said[f"clock, {SHARED.job.name}"] == "CLOCK_MONOTONIC_RAW"
    assert said[f"clock, {NETWORK.job.name}"] == "CLOCK_MONOTONIC"
    assert "CLOCK_MONOTONIC_RAW and CLOCK_MONOTONIC" in "\n".join(head_of(result))


def test_a_job_that_was_continued_otherwise_says_both() -> None:
    again = replace(launch(2, job=SHARED.job), variables={"I_MPI_ROOT": "/new"})
    assert launches_said(launch(1, job=SHARED.job), again)["variables set"] == (
        "I_MPI_ROOT=/opt; later: I_MPI_ROOT=/new"
    )
