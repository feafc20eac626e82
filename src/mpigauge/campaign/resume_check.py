"""Whether a campaign goes on as it was begun: machine, kernel and program, held against those of its file."""

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
    from mpigauge.result.reader import Result
    from mpigauge.result.surroundings import Environment, LibraryRecord
    from mpigauge.vocabulary import DifferenceKind

SAME: tuple[tuple[DifferenceKind, str], ...] = (
    ("processor", "cpu"),
    ("cores", "cores"),
    ("system", "kernel"),
    ("caches", "caches"),
)
"""What must be the same of a machine, and its field."""

HINT = (
    "continue it as it was begun, or start a new result; mpigauge resume --anyway goes on and marks the rows"
)


def resumed(before: Result, plan: Plan, targets: Sequence[Target], *, anyway: bool) -> Resumed | None:
    """What a file is told of a session that goes on otherwise than the last one; None if it does not.

    Raises:
        EnvironmentLacksError: Its numbers would be of two machines, kernels or programs; says what differs.
    """
    here = environment.environment()
    libraries = tuple(map(prepared.library_record, targets))
    differs = tuple(_differences(before, plan, here, libraries))
    hosts = tuple(host.name for host in plan.hosts)
    if differs and not anyway:
        words = "; ".join(f"{one.what} {one.then}, now {one.now}" for one in differs)
        raise EnvironmentLacksError(f"{before.path}: was begun with {words}", HINT)
    if not differs and hosts == _hosts(before):
        return None
    return Resumed(
        started=prepared.now(),
        mpigauge=mpigauge.__version__,
        commit=source_tree.commit(),
        differs=differs,
        libraries=libraries,
        environment=here,
        hosts=hosts,
    )


def _differences(
    before: Result, plan: Plan, here: Environment, libraries: Sequence[LibraryRecord]
) -> Iterator[Difference]:
    """What is not as it was.

    On hosts of a list the name of the one that starts the ranks says nothing of where they are.
    """
    last = before.resumed[-1] if before.resumed else before.campaign
    pairs: list[tuple[DifferenceKind, object, object]] = [
        (what, getattr(last.environment, field), getattr(here, field)) for what, field in SAME
    ]
    if not plan.hosts:
        pairs.insert(0, ("host", last.environment.host, here.host))
    pairs.append(("mpigauge", last.mpigauge, mpigauge.__version__))
    pairs += [
        ("build", _build(then), _build(now)) for then, now in zip(last.libraries, libraries, strict=True)
    ]
    return (Difference(what, _text(then), _text(now)) for what, then, now in pairs if then != now)


def _hosts(before: Result) -> tuple[str, ...]:
    last = before.resumed[-1] if before.resumed else None
    return last.hosts if last else tuple(host.name for host in before.campaign.plan.hosts)


def _build(library: LibraryRecord) -> str:
    """The name of the folder of a kernel: it changes with its sources, flags, compiler and library."""
    return Path(library.kernel).parent.name


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {size}" for name, size in value.items()) or "unknown"
    return str(value) or "unknown"
