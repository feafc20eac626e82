"""The built-in plans: what `mpigauge run` measures when nobody names a pattern."""

from mpigauge.plan.model import Measure
from mpigauge.plan.sources import PlanFile

SIZES = "0:4MiB"
QUICK_SIZES = "0,8,1KiB,64KiB,1MiB"
THOROUGH_SIZES = "auto"


def _point_to_point(sizes: str) -> tuple[Measure, ...]:
    return (
        Measure("pingpong", modes=("standard", "nonblocking"), sizes=sizes),
        Measure("exchange", modes=("nonblocking",), sizes=sizes),
        Measure("stream", modes=("unidirectional",), sizes=sizes),
        Measure("eager", sizes="4MiB"),
    )


DEFAULT = PlanFile(title="point to point", measure=_point_to_point(SIZES), sizes=SIZES, budget="45s")
QUICK = PlanFile(
    title="point to point, quick",
    measure=(
        Measure("pingpong", modes=("standard",)),
        Measure("exchange", modes=("nonblocking",)),
        Measure("stream", modes=("unidirectional",)),
    ),
    sizes=QUICK_SIZES,
    budget="10s",
)
THOROUGH = PlanFile(
    title="point to point, thorough",
    measure=_point_to_point(THOROUGH_SIZES),
    sizes=THOROUGH_SIZES,
    precision="1%",
    budget="10min",
)
