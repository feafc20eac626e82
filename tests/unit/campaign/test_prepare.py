"""What is refused before a campaign measures anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from mpigauge.campaign import jobs
from mpigauge.campaign.prepare import check_readable, prepare
from mpigauge.errors import UsageError
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.strings import LONG_MOST
from mpigauge.result import environment
from mpigauge.result.records import campaign_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Install


def test_a_campaign_whose_record_nobody_could_read_again_is_refused() -> None:
    plan = Plan((Measure("pingpong"),), title="x" * LONG_MOST)
    check_readable(campaign_of(plan, [], [], []))
    with pytest.raises(UsageError, match=r"no result can hold this campaign: .*\$\.plan\.title"):
        check_readable(campaign_of(replace(plan, title=plan.title + "x"), [], [], []))


def test_the_machine_is_asked_once_for_all_values_that_are_varied(
    fake_mpi: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of values are thousands of jobs, which differ in nothing that a check looks at."""
    fake_mpi("openmpi", "5.0.11")
    asked = {"memory": 0, "job": 0}

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            asked[name] += 1
            return function(*arguments)

        return call

    monkeypatch.setattr(
        environment, "memory_available_bytes", counted("memory", environment.memory_available_bytes)
    )
    monkeypatch.setattr(jobs, "job_of", counted("job", jobs.job_of))
    values = tuple(map(str, range(20)))
    session = prepare(Plan((Measure("pingpong", sizes="8"),), vary={"X": values}), "the test")
    assert not list(jobs.oversubscribed_jobs(session.plan, session.targets))
    assert len({cell.setting for cell in session.targets[0].cells}) == len(values)
    assert asked == {"memory": 1, "job": 2}
