"""A slice of `python -m tests.fuzz`: wrong inputs end in a sentence, or in numbers that they really hold."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.fuzz import foreign
from tests.fuzz.border import closed
from tests.fuzz.kinds import KINDS, judged
from tests.printed import FILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.border import Border

COUNTS = {
    "reading": 60,
    "result": 30,
    "result-bytes": 20,
    "numbers": 30,
    "names": 25,
    "files": 60,
    "plan": 20,
    "hosts": 40,
    "table": 20,
    "printed": 15,
    "text": 30,
    "handout": 15,
    "job": 5,
    "options": 40,
}
"""Inputs of each kind, which have the seeds from 1."""


@pytest.fixture(scope="module")
def border(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Border]:
    """No process, no library; an empty folder."""
    with closed(tmp_path_factory.mktemp("fuzz") / "machine") as border:
        yield border


def test_a_slice_has_inputs_of_every_kind() -> None:
    """But figures, which take long and are drawn of strangers' results elsewhere."""
    assert {*COUNTS, "figure"} == set(KINDS)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", COUNTS)
def test_no_input_is_too_wrong(border: Border, kind: str) -> None:
    ended = [KINDS[kind](Random(seed), border) for seed in range(1, COUNTS[kind] + 1)]
    assert [(trial.words, trial.wrong) for trial in ended if trial.wrong] == []
    if kind not in {
        "options",
        "files",
    }:  # of words in any order few are a command; what is no file is refused
        assert 0 in {trial.done.status for trial in ended}, "all were refused: nothing was tried"


def test_inputs_can_be_made_of_one_sample_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in FILES:
        monkeypatch.setattr(foreign, "ONLY", [path.name])
        assert {foreign.changed(Random(seed))[0] for seed in range(5)} == {path.name}
    with pytest.raises(ValueError, match="no sample is called x"):
        foreign.samples("x")


def test_a_number_that_is_not_in_the_file_would_be_seen(
    border: Border, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mpigauge.result.records.NS", 2e-9)
    wrong = {KINDS["result"](Random(seed), border).wrong.partition(" in ")[0] for seed in range(1, 41)}
    assert "an end that is no sample" in wrong


def test_a_process_that_must_not_be_would_be_seen(border: Border) -> None:
    """As a campaign starts some, to ask whether its hosts are there."""
    words = ("run", "pingpong", "--sizes", "8", "--hosts", "h1,h2", "-o", "never.jsonl")
    assert judged(words, border).wrong.startswith("started ")
