"""Reporting failures of a campaign once each; repetitions are counted, and reported at the end."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mpigauge.units import counted


@dataclass(slots=True)
class Repetitions:
    """The repetitions of a failure: its first launch, its last launch, and how many there were."""

    first: int
    last: int
    times: int = 0


@dataclass(slots=True)
class Troubles:
    """Failures by job or cell and reason."""

    tell: Callable[[str], None]
    seen: dict[tuple[str, str], Repetitions] = field(default_factory=dict)

    def failed(self, of: str, why: str, launch: int, sentence: str) -> None:
        """Report a failure, unless the same job or cell has failed for the same reason before.

        Args:
            of: The job or cell.
            why: The reason; reasons that differ in numbers only, such as process ids, are the same.
            sentence: What to report.
        """
        key = of, re.sub("[0-9]+", "", why)
        if (repetitions := self.seen.get(key)) is None:
            self.seen[key] = Repetitions(launch, launch)
            self.tell(sentence)
            return
        repetitions.times += 1
        repetitions.last = launch

    def end(self) -> None:
        """Report how often each failure was repeated."""
        for (of, _), repetitions in self.seen.items():
            if repetitions.times:
                times = counted(repetitions.times, "more time")
                until = (
                    "" if repetitions.last == repetitions.first else f", last in launch {repetitions.last}"
                )
                self.tell(f"{of}: failed so {times}{until}")
