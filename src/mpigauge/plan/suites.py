"""The built-in plans: what `mpigauge run` measures if the user names no pattern."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from mpigauge.plan.model import Measure
from mpigauge.plan.patterns import Pattern, default_mode, known
from mpigauge.plan.plan_file import BUDGET, Asked
from mpigauge.plan.sizes import USUAL_SIZES
from mpigauge.sequences import group_by
from mpigauge.vocabulary import ALL, RMA_WINDOWS, SuiteName

DEFAULT_SAMPLES, DEFAULT_MAX_LAUNCHES = 48, 14
"""Samples per cell and launch, 6 in each visit, and launches: samples are one part in twenty-five of what a
number varies by, and the result of nine launches has 1 MB, compressed."""

QUICK_SIZES = "0,8,1KiB,64KiB,1MiB"
THOROUGH_SIZES = "auto"
COLLECTIVE_SIZES = "8:1MiB*8"
MEMORY_SIZES = "1:4MiB,16MiB"
"""Those of messages, since both are compared size by size, and one beyond them."""

GUIDELINE_SIZES = "8:1MiB*8"
"""Few sizes, since there are about a hundred modes."""

GUIDELINE_LAUNCHES = 10

OF_LATENCY, LATENCY_SIZE = "pingpong", "8B"
"""The pattern and the size whose time is called the latency, where nothing else is said."""


def _point_to_point(sizes: str) -> tuple[Measure, ...]:
    return (
        Measure("pingpong", modes=("standard", "nonblocking"), sizes=sizes),
        Measure("exchange", modes=("nonblocking",), sizes=sizes),
        Measure("stream", modes=("unidirectional",), sizes=sizes),
        Measure("eager", sizes="4MiB"),
    )


def _context_tables(collective_sizes: str, memory_sizes: str) -> tuple[Measure, ...]:
    """Return the tables that put point to point into context: collectives and memory."""
    return (
        Measure("barrier"),
        Measure("bcast", sizes=collective_sizes),
        Measure("allreduce", sizes=collective_sizes),
        Measure("memcpy", sizes=memory_sizes),
    )


DEFAULT = Asked(
    title="point to point, collectives, memory",
    measure=(*_point_to_point(USUAL_SIZES), *_context_tables(COLLECTIVE_SIZES, MEMORY_SIZES)),
    samples=DEFAULT_SAMPLES,
    budget=BUDGET,
)
QUICK = Asked(
    title="quick",
    measure=(
        Measure("pingpong", modes=("standard",)),
        Measure("exchange", modes=("nonblocking",)),
        Measure("stream", modes=("unidirectional",)),
        Measure("barrier"),
        Measure("allreduce", sizes="8,64KiB"),
    ),
    sizes=QUICK_SIZES,
    budget="12s",  # six launches of 2 s, of which a start takes more than half where MPI_Init sleeps
)
THOROUGH = Asked(
    title="thorough",
    measure=(*_point_to_point(THOROUGH_SIZES), *_context_tables("8:4MiB", "1:64MiB")),
    sizes=THOROUGH_SIZES,
    precision="1%",
    budget="10min",
)


def _of_their_sizes(pattern: Pattern, modes: Iterable[str]) -> Iterator[Measure]:
    """Yield modes of a pattern in the sizes of the plan, and those that have a largest one in that alone."""
    most = {mode.name: mode.most_bytes for mode in pattern.modes}
    for most_bytes, names in group_by(modes, most.__getitem__).items():
        yield Measure(pattern.name, modes=tuple(names), sizes=str(most_bytes) if most_bytes else None)


def guidelines() -> Asked:
    """Return the plan of all patterns with modes that should not be slower than another, in these modes."""
    guided = [pattern for pattern in known().values() if pattern.guided]
    return Asked(
        title="guidelines",
        measure=tuple(one for pattern in guided for one in _of_their_sizes(pattern, pattern.guided)),
        sizes=GUIDELINE_SIZES,
        samples=DEFAULT_SAMPLES,
        launches=GUIDELINE_LAUNCHES,
    )


PAIRS_SIZES = "8,4KiB,1MiB"
"""An eager message, one near the limit, and one whose bandwidth counts."""


def at_once() -> Asked:
    """Return the plan of all patterns of messages of many ranks at once, and of the one pair beside them."""
    several = [
        one for one in known().values() if one.family == "message" and one.starts_together and one.of_all
    ]
    alone = dict.fromkeys(pattern.one_pair for pattern in several if pattern.one_pair)
    return Asked(
        title="pairs",
        measure=tuple(Measure(name) for name in (*alone, *(pattern.name for pattern in several))),
        sizes=PAIRS_SIZES,
        samples=DEFAULT_SAMPLES,
        budget=BUDGET,
    )


ONE_SIDED_SIZES = "8,64KiB"
"""Small, and large enough to be a copy."""


def one_sided() -> Asked:
    """Return the plan of one-sided operations, with ping-pong and copies to hold them against."""
    allocate, create, dynamic, _ = RMA_WINDOWS
    both, three = (allocate, create), (allocate, create, dynamic)
    fetch, swap, contended = (known()[name] for name in ("fetch_and_op", "compare_and_swap", "contended"))
    return Asked(
        title="one-sided",
        measure=(
            Measure("pingpong"),
            Measure("put-notify", modes=("flag", "send"), rma_windows=both),
            Measure("progress", modes=(ALL,), sizes="8", rma_windows=three),
            Measure("put", modes=(ALL,)),
            Measure("put", rma_windows=(create, dynamic)),
            Measure("get", rma_windows=three),
            Measure("accumulate", rma_windows=both),
            *_of_their_sizes(fetch, (default_mode(fetch),)),
            *_of_their_sizes(swap, (default_mode(swap),)),
            *_of_their_sizes(contended, [mode.name for mode in contended.modes]),
            Measure("empty-epoch", modes=(ALL,)),
            Measure("memcpy"),
            Measure("cacheline"),
        ),
        sizes=ONE_SIDED_SIZES,
        samples=DEFAULT_SAMPLES,
    )


OVERLAP_SIZES = "8,4KiB,64KiB,1MiB"
"""Both sides of the usual eager limits, and large enough to be worth hiding."""

OVERLAP_TESTS = (0, 8)
"""None, and as many as a loop over parts of a computation makes."""


def overlap() -> Asked:
    """Return the plan of what moves while ranks compute: messages, collectives and one-sided operations."""
    moving = [one for one in known().values() if one.family == "message" and one.modes[0].overlaps]
    return Asked(
        title="overlap",
        measure=(
            *(Measure(one.name, modes=(ALL,)) for one in moving),
            *(
                Measure(name, modes=("overlap",), sizes="8,64KiB", tests=OVERLAP_TESTS)
                for name in ("allreduce", "bcast")
            ),
            Measure("progress", modes=(ALL,), sizes="8", rma_windows=RMA_WINDOWS[:2]),
        ),
        sizes=OVERLAP_SIZES,
        samples=DEFAULT_SAMPLES,
        budget=BUDGET,
    )


SUITES: Mapping[SuiteName, Callable[[], Asked]] = {
    "guidelines": guidelines,
    "pairs": at_once,
    "one-sided": one_sided,
    "overlap": overlap,
}
"""Suites by their names for `--suite`."""
