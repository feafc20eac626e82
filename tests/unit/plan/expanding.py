"""The cells of plans for the fake kernel."""

from __future__ import annotations

from typing import Any

import msgspec

from mpigauge.plan.cells import cells_of
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import KernelDescription, default_mode, known
from tests.fakes.law import PATTERNS, describe

KERNEL = msgspec.convert(describe(), KernelDescription)
ROOTED = [name for name in PATTERNS if PATTERNS[name]["rooted"]]


def one_of_each(pattern: str, **values: Any) -> Measure:
    """A table with one value of each factor that has several by default."""
    usual = {"modes": (default_mode(known()[pattern]),), "depths": (0,), "blocks": (1,), "partitions": (1,)}
    return Measure(pattern, **usual | values)


def expanded(
    *measure: Measure, ranks: tuple[int, ...] = (2,), kernel: KernelDescription = KERNEL
) -> list[Cell]:
    """The cells of a plan, without the floor."""
    cells = cells_of(Plan(measure, ranks=ranks), kernel, "openmpi", "5.0.11", "the plan").cells
    return [cell for cell in cells if cell.pattern != "null"]
