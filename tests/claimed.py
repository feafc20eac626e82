"""Files of claims, and what they are held against, made for tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.check.claim_file import read_claims
from mpigauge.check.claims import Material
from mpigauge.result.reader import Result
from mpigauge.rows.rows import rows
from tests.made import PATTERNS, campaign, visit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mpigauge.check.claim_file import Claim
    from mpigauge.plan.model import Cell

LAUNCHES = {1: 1.0, 2: 1.3, 3: 0.8, 4: 1.1, 5: 0.9, 6: 1.2}
"""What every launch does to all of its times."""

REPORT = '[report]\nname = "a report"\n\n'


def claim(tmp_path: Path, text: str, before: str = REPORT) -> Claim:
    """The one claim of a file with these keys."""
    path = tmp_path / "a-claims.toml"
    named = "" if "name =" in text else 'name = "it"\nsays = "It is so."\n'
    path.write_text(f"{before}[[claim]]\n{named}{text}\n")
    (found,) = read_claims(path).claims
    return found


def result(
    cells: Iterable[Cell],
    time_ns: Callable[[Cell, int], float],
    launches: Iterable[int] = LAUNCHES,
    **more: object,
) -> Result:
    """Every cell in every launch; its samples are all the same.

    Args:
        time_ns: Of a cell in a launch, besides what the launch does to all.
        more: Fields that all visits have.
    """
    cells = list(cells)
    made = Result(Path("r.jsonl"), campaign(*cells))
    for number in launches:
        for place, of in enumerate(cells):
            samples = 30 * [round(2000 * LAUNCHES[number] * time_ns(of, number))]
            made.visits.append(visit(number, place, of, samples, **({"ops": 2000} | more)))
    return made


def material(made: Result, file: str = "r", *, in_lab: bool = False) -> Material:
    """A result as claims are held against it."""
    patterns = {pattern.name: pattern for pattern in PATTERNS}
    return Material(file, rows(made), patterns, in_lab, made.campaign.plan.title)
