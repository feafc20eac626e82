"""The same failure is told once, and counted."""

from mpigauge.campaign.job_run import Troubles


def test_a_repeated_failure_is_counted() -> None:
    told: list[str] = []
    troubles = Troubles(told.append)
    for launch, pid in ((1, 40), (1, 52), (3, 77)):
        troubles.failed("a job", f"PID {pid} fell", launch, f"a job: launch {launch}: PID {pid} fell")
    troubles.failed("another job", "PID 9 fell", 2, "another job: launch 2: PID 9 fell")
    troubles.failed("a third", "x", 1, "a third: x")
    troubles.failed("a third", "x", 1, "a third: x")
    troubles.end()
    assert told == [
        "a job: launch 1: PID 40 fell",
        "another job: launch 2: PID 9 fell",
        "a third: x",
        "a job: failed so 2 more times, last in launch 3",
        "a third: failed so 1 more time",
    ]
