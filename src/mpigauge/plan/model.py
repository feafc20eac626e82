"""The plan: everything that is known before the first launch, frozen."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Buffers = Literal["warm", "cold"]
Positive = Annotated[int, Meta(ge=1)]
WINDOW_MOST = 65_536


class Measure(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Some curves of a plan: one pattern over modes, sizes and numbers of ranks.

    Attributes:
        modes: Empty means the pattern's first.
        sizes: Message sizes in the grammar of `plan.sizes`; None means what suits the pattern.
        ranks: Empty means the plan's.
        window: Messages under way at once, for patterns that have a window.
        buffers: None means the plan file's, which is warm unless it says otherwise.
    """

    pattern: str
    modes: tuple[str, ...] = ()
    sizes: str | None = None
    ranks: tuple[Positive, ...] = ()
    window: Annotated[int, Meta(ge=1, le=WINDOW_MOST)] = 64
    buffers: Buffers | None = None


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """What to measure and how long to go on.

    Attributes:
        mpi: Libraries as the user named them; empty means the default one.
        ranks: Numbers of ranks; each is a launch of its own.
        launches_min: Launches before the campaign may stop (method 1.11).
        launches_max: Launches after which it does.
        precision: Relative half-width of the interval to stop at.
        budget_s: Wall time; None means as long as the launches take.
        visits: Visits of a cell in one launch.
        rounds_min: Samples of a cell in one launch before its stop rule may end it.
        rounds_max: Samples of a cell in one launch after which it ends.
        seed: All random choices come from it.
    """

    measure: tuple[Measure, ...]
    title: str = ""
    mpi: tuple[str, ...] = ()
    ranks: tuple[Positive, ...] = (2,)
    launches_min: Positive = 5
    launches_max: Positive = 30
    precision: Annotated[float, Meta(gt=0, lt=1)] = 0.03
    budget_s: Annotated[float, Meta(gt=0)] | None = 45.0
    visits: Positive = 8
    rounds_min: Positive = 30
    rounds_max: Positive = 1000
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0


class Cell(Struct, frozen=True, order=True):
    """What one estimate is of. Two samples belong together if and only if their cells are equal."""

    pattern: str
    mode: str
    bytes: int
    ranks: int
    mpi: str
    mpi_version: str
    transport: str = "auto"
    placement: str = "same-host"
    buffers: str = "warm"
    window: int = 0
