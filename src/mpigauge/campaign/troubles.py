"""What fails in a campaign, told once: the same failure again is counted, and the count told in the end."""

from collections.abc import Callable
from dataclasses import dataclass, field

from mpigauge.units import counted


@dataclass(slots=True)
class Again:
    """How often a failure came again, and the last launch in which it did."""

    times: int = 0
    launch: int = 0


@dataclass(slots=True)
class Troubles:
    """Failures by what they were of, and why."""

    tell: Callable[[str], None]
    seen: dict[tuple[str, str], Again] = field(default_factory=dict)

    def failed(self, of: str, why: str, launch: int, sentence: str) -> None:
        """Tell of a failure, unless the same of the same job or cell has been told.

        Args:
            of: The job or cell.
            sentence: Says both, and when.
        """
        again = self.seen.get((of, why))
        if again is None:
            self.seen[of, why] = Again()
            self.tell(sentence)
            return
        again.times += 1
        again.launch = launch

    def end(self) -> None:
        """Tell how often each failure came again."""
        for (of, _), again in self.seen.items():
            if again.times:
                times = counted(again.times, "more time")
                self.tell(f"{of}: failed so {times}, last in launch {again.launch}")
