"""The fake kernel says what the real one says: the same patterns, and lines of the same shape."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from mpigauge.launch.launchers import Job, command_of
from mpigauge.mpi import find, kernel
from mpigauge.plan.expand import cells_of
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.patterns import Description
from mpigauge.plan.schedule import Limits, kernel_plan, visits_of
from mpigauge.result import journal
from mpigauge.result.environment import cores_allowed, user_is_root
from tests.fake_kernel import describe

if TYPE_CHECKING:
    from mpigauge.mpi.library import Library
    from tests.fake_mpi import FakeMpi

PLAN = Plan(
    (
        Measure("pingpong", sizes="8"),
        Measure("stream", sizes="8"),
        Measure("exchange", ("blocking",), sizes="8,4MiB"),
        Measure("eager"),
    ),
    visits=4,
    rounds_max=40,
)


def lines_of(library: Library) -> list[bytes]:
    """The journal of a short launch."""
    program = kernel.build(library)
    cells = cells_of(PLAN, kernel.describe(library), library.name, library.version, "the test")
    text = kernel_plan(visits_of(cells, PLAN, kernel.describe(library), 1), PLAN, Limits(0.01, 60))
    job = Job(
        library.mpiexec,
        2,
        (str(program), "-", "-"),
        cores_allowed(),
        as_root=user_is_root(),
        environment=library.environment,
    )
    words = command_of(job, library.kind.launcher)
    done = subprocess.run(
        words,
        input=text.encode(),
        capture_output=True,
        check=True,
        timeout=120,
        env={**os.environ, **library.environment},
    )
    lines = done.stdout.splitlines()
    assert all(journal.parse(line) for line in lines)
    return lines


def shapes_of(lines: list[bytes]) -> dict[str, Any]:
    """Keys in their order and types of values, for each kind of line; optional keys left out."""

    def shape(value: Any) -> Any:
        if isinstance(value, dict):
            return [
                (key, shape(inner)) for key, inner in value.items() if key not in {"half_width", "corrupt"}
            ]
        if isinstance(value, list):
            return [shape(value[0])] if value else [int.__name__]
        return "number" if isinstance(value, float) or type(value) is int else type(value).__name__

    return {next(iter(line)): shape(line) for line in map(json.loads, lines)}


def test_the_fake_describes_itself_as_a_kernel_does(openmpi: FakeMpi) -> None:
    assert kernel.describe(find.find_default()) == msgspec.convert(describe(), Description)


def without_prose(value: Any) -> Any:
    """All that programs read of a description."""
    if isinstance(value, list):
        return [without_prose(inner) for inner in value]
    if isinstance(value, dict):
        return {key: without_prose(inner) for key, inner in value.items() if key not in {"about", "time_of"}}
    return value


@pytest.mark.mpi
def test_the_real_kernel_has_the_same_patterns() -> None:
    real = json.loads(msgspec.json.encode(kernel.describe(find.find_default())))
    assert without_prose({**real, "large_counts": False}) == without_prose(describe())


@pytest.mark.mpi
def test_the_real_journal_has_the_same_lines(request: pytest.FixtureRequest) -> None:
    real = shapes_of(lines_of(find.find_default()))
    request.getfixturevalue("openmpi")
    fake = shapes_of(lines_of(find.find_default()))
    assert {"launch", "begin", "visit", "eager", "blocked", "skip", "end"} <= fake.keys()
    assert {kind: shape for kind, shape in fake.items() if kind in real} == real
