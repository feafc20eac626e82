"""What stands below a comparison says no more than was found."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from mpigauge.compare import sentences as compare_sentences
from mpigauge.compare.comparison import compare as compare_pairs
from mpigauge.compare.sides import pairs_by
from mpigauge.rows.rows import rows
from mpigauge.stats.decision import Decision, Thresholds
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
        unmatched=(),
        rates=None,
        verdict="same",
        builds=(),
        odd=(),
    )
    return "\n".join(compare_sentences.notes(shown))


def test_controls_that_nothing_was_decided_of_are_not_said_to_stand_still() -> None:
    decided = Decision(1.02, low=0.98, high=1.06)
    assert "did not move" not in below(None)
    assert "could not be compared: 1 without any MPI library" in below(None)
    assert "did not move: 2 without any MPI library, at most 1.02" in below(None, decided)


def test_controls_with_wide_intervals_are_undecided() -> None:
    said = below(Decision(1.12, low=0.888, high=1.41))
    assert "did not move" not in said
    assert "controls undecided, they may have moved: 1 without any MPI library, at most 1.12" in said


def test_controls_whose_interval_spans_orders_of_magnitude_show_no_number() -> None:
    said = below(Decision(5.5, low=4.29e-9, high=7e9))
    assert "controls undecided, they may have moved: 1 without any MPI library, how far is not known" in said


@pytest.mark.parametrize(
    ("ratio", "low", "high", "verdict", "words"),
    [
        (5.5, 4.29e-9, 7059134787, "undecided", "not known"),
        (214, 1.26, 36272, "slower", "at least 1.26"),
        (0.01, 0.0001, 0.8, "faster", "at most 0.800"),
        (2372, 738, 7623, "slower", "2372 (738 \N{EN DASH} 7623)"),
        (0.932, 0.114, 7.59, "undecided", "0.932 (0.114 \N{EN DASH} 7.59)"),
    ],
)
def test_of_an_interval_over_orders_of_magnitude_only_what_was_decided_is_said(
    ratio: float, low: float, high: float, verdict: Any, words: str
) -> None:
    decision = Decision(ratio, low=low, high=high, verdict=verdict)
    assert compare_sentences.ratio_words(decision) == words


def test_where_no_number_can_be_compared_none_is_said_to_differ() -> None:
    shown: Any = SimpleNamespace(
        cells=[],
        limits=(),
        lost=[],
        sessions=None,
        judges=False,
        thresholds=SimpleNamespace(allow=0.1),
        unasked="",
    )
    assert compare_sentences.headline(shown, "undecided").startswith(
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
    said, *others = compare_sentences.notes(shown)
    missed = f"{100 * one.decision.missed:.2g} %"
    needed = f"--launches {one.decision.needed} from 6.0 % on"
    assert said == f"undecided: 1; these launches show a difference from {missed} on, {needed}"
    assert not any("false alarms" in line for line in others)
    (rates,) = (line for line in compare_sentences.notes(shown, everything=True) if "false alarms" in line)
    assert rates.startswith("of these launches 20 comparisons of equals were made: false alarms ")


def below_ratio(times: float, spread: float, *, moves: float = 1.0) -> str:
    """Below two libraries of which one is slower, and a copy of memory that may be, too."""
    copies = [cell("memcpy", 1024, label=label) for label in ("a", "b")]
    cells = [*(cell(label=label) for label in ("a", "b")), *copies]
    luck = random.Random(8)
    each = (1.0, times, 1.0, moves)
    visits = measured(
        cells,
        LAUNCHES,
        lambda cell, *_: [round(500_000 * each[cells.index(cell)] * luck.gauss(1, spread))] * 3,
    )
    found = rows(result_of(campaign(*cells), *launches_of(cells, LAUNCHES), *visits))
    return "\n".join(compare_sentences.notes(compare_pairs(pairs_by(found, "label"), Thresholds())))


def test_no_fewer_launches_are_asked_for_than_there_are() -> None:
    said = below_ratio(1.027, 0.005)
    assert "undecided: 1; these launches show a difference from" in said
    assert "--launches" not in said


def test_where_the_machine_moved_launches_are_not_what_is_missing() -> None:
    assert "undecided:" not in below_ratio(1.2, 0.005, moves=1.2)
