"""What fails in a campaign, told once: the same failure again is counted, and the count told in the end."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mpigauge.units import counted


@dataclass(slots=True)
class Again:
    """How often a failure came again, and in which launches: its first, and the last so far."""

    first: int
    last: int
    times: int = 0


@dataclass(slots=True)
class Troubles:
    """Failures by what they were of, and why."""

    tell: Callable[[str], None]
    seen: dict[tuple[str, str], Again] = field(default_factory=dict)

    def failed(self, of: str, why: str, launch: int, sentence: str) -> None:
        """Tell of a failure, unless the same of the same job or cell has been told.

        Args:
            of: The job or cell.
            why: The reason; numbers in it, as those of processes, make no other of it.
            sentence: Says both, and when.
        """
        key = of, re.sub("[0-9]+", "", why)
        if (again := self.seen.get(key)) is None:
            self.seen[key] = Again(launch, launch)
            self.tell(sentence)
            return
        again.times += 1
        again.last = launch

    def end(self) -> None:
        """Tell how often each failure came again."""
        for (of, _), again in self.seen.items():
            if again.times:
                times = counted(again.times, "more time")
                until = "" if again.last == again.first else f", last in launch {again.last}"
                self.tell(f"{of}: failed so {times}{until}")
