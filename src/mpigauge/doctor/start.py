"""Time that a start of a job sleeps away, found by one start with the sleep and one without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.doctor.table import DoctorFinding
from mpigauge.errors import MpigaugeError
from mpigauge.units import format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.campaign.job_run import Observer
    from mpigauge.mpi.library import Library

WHERE = "mpigauge doctor"


def start_findings(libraries: Sequence[Library], observer: Observer) -> Iterator[DoctorFinding]:
    """Yield what MPI_Init takes as it is and without its sleep, of libraries whose kernel is there.

    Nothing is compiled for it, and nothing said of a library that does not sleep or start.

    Args:
        observer: Follows the launches.
    """
    import os

    from mpigauge.mpi.init_sleep import REMEDY, VARIABLE, WITHOUT, lasts_as_long, may_sleep
    from mpigauge.mpi.kernel import kernel_path

    for library in libraries:
        if not may_sleep(library.name, library.version, os.environ, ()) or not kernel_path(library).exists():
            continue
        usual_s = _init_s(library, {}, observer)
        without_s = (
            _init_s(library, {VARIABLE: WITHOUT}, observer) if usual_s and lasts_as_long(usual_s) else None
        )
        if usual_s and without_s and not lasts_as_long(without_s):
            yield DoctorFinding(
                "info",
                "MPI_Init",
                f"{library.label}: {format_time(usual_s)}, 1 s of it a sleep, as btl/ofi is closed unused; "
                f"{format_time(without_s)} without it",
                f"mpigauge run {REMEDY} makes more launches in the same time",
            )


def _init_s(library: Library, variables: Mapping[str, str], observer: Observer) -> float | None:
    """Return the median over two ranks of what MPI_Init takes in one launch; None if it does not start."""
    from mpigauge.campaign.launch.interruption import Interruption
    from mpigauge.campaign.probe_run import run_probe
    from mpigauge.plan.model import Measure, Plan

    plan = Plan(
        measure=(Measure("barrier"),),
        title=WHERE,
        mpi=(str(library.mpicc),),
        variables=dict(variables),
        launches_min=1,
        launches_max=1,
        budget_s=None,
        visits=1,
        rounds_min=1,
        rounds_max=1,
    )
    try:
        with Interruption() as interruption:
            result = run_probe(plan, WHERE, observer, interruption)
    except MpigaugeError:
        return None
    return next((one.init_median_ns * 1e-9 for one in result.launches if one.init_median_ns > 0), None)
