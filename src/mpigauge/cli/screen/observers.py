"""Who watches a campaign: the answer or a bar on a terminal, a line per launch on a pipe, or nobody."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from mpigauge.cli.screen.live import LiveAnswer
from mpigauge.cli.screen.progress import NoProgress, ProgressBar, ProgressLines
from mpigauge.cli.screen.streams import Forgiving, forgiving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mpigauge.campaign.job_run import Observer
    from mpigauge.plan.model import Plan


@contextmanager
def observer_for(plan: Plan, stream: TextIO, *, quiet: bool, answers: Path | None) -> Iterator[Observer]:
    """The observer that fits the stream.

    Args:
        answers: The result file, if what it says so far is to be seen while it grows.
    """
    if quiet or not stream.isatty():
        yield cast("Observer", Forgiving(NoProgress(stream) if quiet else ProgressLines(stream), stream))
        return
    seen = _on_terminal(plan, stream, answers)
    with forgiving(stream):
        seen.start()
    try:
        yield cast("Observer", Forgiving(seen, stream))
    finally:
        with forgiving(stream):
            seen.stop()


def _on_terminal(plan: Plan, stream: TextIO, answers: Path | None) -> ProgressBar | LiveAnswer:
    if answers is None:
        return ProgressBar(stream, plan)
    return LiveAnswer(stream, plan, answers)
