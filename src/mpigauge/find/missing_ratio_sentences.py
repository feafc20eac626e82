"""Why a ratio is missing: the ranks of the two were at different distances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.finding import finding
from mpigauge.document.state_words import HANDED_OVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.document.finding import Finding
    from mpigauge.find.missing_ratios import RanksApart
    from mpigauge.plan.model import Cell
    from mpigauge.rows.same_distance import DistanceMismatch


def ranks_apart_finding(fact: RanksApart) -> Finding:
    """What a fact about ratios that are missing says."""
    return finding("ranks-apart", fact, ranks_apart_line(fact))


def ranks_apart_line(fact: RanksApart) -> str:
    """`no ratio of MPICH 4.2.3 and Open MPI 5.0.11: their ranks were 40.0 ns and 245 ns apart ...`."""
    some = f" at {fact.missing} of {fact.sizes} sizes" if fact.missing < fact.sizes else ""
    return (
        f"no ratio of {_pair(fact)}{some}: {_distances(fact.other_s, fact.first_s)} ({HANDED_OVER[fact.of]})"
    )


def missing_ratios(found: Sequence[DistanceMismatch]) -> str:
    """The same for a figure; empty if none is missing."""
    if not found:
        return ""
    sizes = "1 size" if len(found) == 1 else f"{len(found)} sizes"
    return f"no ratio at {sizes}: {_distances(found[0].over_s, found[0].under_s)}"


def _pair(fact: RanksApart) -> str:
    match fact.between:
        case "library":
            return f"{_library(fact.other)} and {_library(fact.first)}"
        case "mode":
            of = f"{fact.first.pattern} {fact.other.mode} and {fact.first.mode}"
        case "baseline":
            of = f"{_operation(fact.other)} and {_operation(fact.first)}"
    return f"{of} ({fact.first.job.name})"


def _distances(one_s: float, other_s: float) -> str:
    return f"their ranks were {units.format_time(one_s)} and {units.format_time(other_s)} apart"


def _library(cell: Cell) -> str:
    return cell.library


def _operation(cell: Cell) -> str:
    return f"{cell.pattern} {cell.mode}"
