"""Comparing machine, kernel and program with those of the result file that a campaign resumes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge
from mpigauge.campaign import targets as prepared
from mpigauge.errors import EnvironmentLacksError
from mpigauge.result import environment, source_tree
from mpigauge.result.records import Difference, Resumed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.campaign.targets import Target
    from mpigauge.plan.model import Plan
    from mpigauge.result.provenance import Environment, LibraryRecord
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import DifferenceKind

FIXED_PROPERTIES: tuple[tuple[DifferenceKind, str], ...] = (
    ("processor", "cpu"),
    ("cores", "cores"),
    ("system", "kernel"),
    ("caches", "caches"),
)
"""Properties of a machine that must be the same, each with its field of Environment."""

HINT = (
    "continue it as it was begun, or start a new result; mpigauge resume --anyway goes on and marks the rows"
)


def resume_record(before: Result, plan: Plan, targets: Sequence[Target], *, anyway: bool) -> Resumed | None:
    """Return the record of what differs from the last session; None if nothing does.

    Raises:
        EnvironmentLacksError: The numbers would be from two machines, kernels or programs; says what differs.
    """
    current = environment.environment()
    libraries = tuple(map(prepared.library_record, targets))
    differs = tuple(_differences(before, plan, current, libraries))
    hosts = tuple(host.name for host in plan.hosts)
    if differs and not anyway:
        words = "; ".join(
            f"{difference.what} {difference.then}, now {difference.now}" for difference in differs
        )
        raise EnvironmentLacksError(f"{before.path}: was begun with {words}", HINT)
    if not differs and hosts == _hosts(before):
        return None
    return Resumed(
        started=prepared.utc_now(),
        mpigauge=mpigauge.__version__,
        commit=source_tree.commit(),
        differs=differs,
        libraries=libraries,
        environment=current,
        hosts=hosts,
    )


def _differences(
    before: Result, plan: Plan, current: Environment, libraries: Sequence[LibraryRecord]
) -> Iterator[Difference]:
    """Yield what differs from the last session.

    With a list of hosts, the name of the host that starts the ranks does not count.
    """
    last = before.resumed[-1] if before.resumed else before.campaign
    pairs: list[tuple[DifferenceKind, object, object]] = [
        (what, getattr(last.environment, field), getattr(current, field)) for what, field in FIXED_PROPERTIES
    ]
    if not plan.hosts:
        pairs.insert(0, ("host", last.environment.host, current.host))
    pairs.append(("mpigauge", last.mpigauge, mpigauge.__version__))
    pairs += [
        ("build", _build(then), _build(now)) for then, now in zip(last.libraries, libraries, strict=True)
    ]
    return (Difference(what, _text(then), _text(now)) for what, then, now in pairs if then != now)


def _hosts(before: Result) -> tuple[str, ...]:
    last = before.resumed[-1] if before.resumed else None
    return last.hosts if last else tuple(host.name for host in before.campaign.plan.hosts)


def _build(library: LibraryRecord) -> str:
    """Return the folder name of a kernel, which changes with its sources, flags, compiler and library."""
    return Path(library.kernel).parent.name


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {size}" for name, size in value.items()) or "unknown"
    return str(value) or "unknown"
