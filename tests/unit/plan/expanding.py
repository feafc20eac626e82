"""The cells of plans for the fake kernel."""

from __future__ import annotations

import msgspec

from mpigauge.plan.cells import cells_of
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import KernelDescription
from tests.fakes.law import PATTERNS, describe

KERNEL = msgspec.convert(describe(), KernelDescription)
ROOTED = [name for name in PATTERNS if PATTERNS[name]["rooted"]]


def expanded(
    *measure: Measure, ranks: tuple[int, ...] = (2,), kernel: KernelDescription = KERNEL
) -> list[Cell]:
    """The cells of a plan, without the floor."""
    cells = cells_of(Plan(measure, ranks=ranks), kernel, "openmpi", "5.0.11", "the plan").cells
    return [cell for cell in cells if cell.pattern != "null"]
