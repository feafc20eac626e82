"""What stands below a comparison says no more than was found."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mpigauge.show.words import compare
from tests.made import cell


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
