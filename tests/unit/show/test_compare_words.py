"""What stands below a comparison says no more than was found."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from mpigauge.analysis.compare.comparison import compare as compare_pairs
from mpigauge.analysis.compare.decision import Thresholds
from mpigauge.analysis.compare.sides import pairs_by
from mpigauge.analysis.rows import rows
from mpigauge.show.words import compare
from tests.made import campaign, cell, launches_of, measured, result_of

LAUNCHES = range(1, 11)


def below(*decisions: object) -> str:
    """The lines below a comparison with such controls and nothing else."""
    pair = SimpleNamespace(base=SimpleNamespace(cell=cell("memcpy", 8)))
    controls = [SimpleNamespace(pair=pair, decision=decision) for decision in decisions]
    shown: Any = SimpleNamespace(
        cells=[],
        controls=controls,
        judges=True,
        moved=(),
        signs=(),
        together=(),
        odd_launches=(),
        rates=None,
        verdict="same",
        builds=(),
        odd=(),
    )
    return "\n".join(compare.notes(shown))


def test_controls_that_nothing_was_decided_of_are_not_said_to_stand_still() -> None:
    decided = SimpleNamespace(ratio=1.02, low=0.98, high=1.06)
    assert "did not move" not in below(None)
    assert "could not be compared: 1 without any MPI library" in below(None)
    assert "did not move: 2 without any MPI library, at most 1.02" in below(None, decided)


def test_where_no_number_can_be_compared_none_is_said_to_differ() -> None:
    shown: Any = SimpleNamespace(
        cells=[], lost=[], sessions=None, judges=False, thresholds=SimpleNamespace(allow=0.1), unasked=""
    )
    assert compare.headline(shown, "undecided").startswith(
        "undecided: no number of a library is on both sides"
    )


def test_what_these_launches_could_show_is_said_with_what_to_do() -> None:
    """Once, with the launches to ask for; how often they would be wrong is for who asks for everything."""
    cells = [cell(), cell(mpi="mpich", mpi_version="5.0.2")]
    luck = random.Random(8)
    visits = measured(cells, LAUNCHES, lambda *_: [round(50_000 * luck.gauss(1, 0.08))] * 3)
    found = rows(result_of(campaign(*cells), *launches_of(cells, LAUNCHES), *visits))
    shown = compare_pairs(pairs_by(found, "mpi"), Thresholds())
    (one,) = shown.cells
    assert one.decision is not None
    said, *others = compare.notes(shown)
    missed = f"{100 * one.decision.missed:.2g} %"
    needed = f"--launches {one.decision.needed} from 6.0 % on"
    assert said == f"undecided: 1; these launches show a difference from {missed} on, {needed}"
    assert not any("false alarms" in line for line in others)
    (rates,) = (line for line in compare.notes(shown, everything=True) if "false alarms" in line)
    assert rates.startswith("of these launches 20 comparisons of equals were made: false alarms ")
