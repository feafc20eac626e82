"""First sentences about stored results, whose numbers stand wherever else the same is told."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from mpigauge.compare.cells import compared_by, factors_varied
from mpigauge.compare.comparison import compare, runs_of
from mpigauge.compare.interim_looks import thresholds_of_result
from mpigauge.compare.sides import pairs_by
from mpigauge.compare.two import ALSO_ABOVE, ALSO_BETWEEN
from mpigauge.document.document import Units
from mpigauge.find.explain.contrasts import libraries, modes, places, settings
from mpigauge.find.explain.evidence import Evidence
from mpigauge.find.explain.table import document, said_of
from mpigauge.find.findings import findings_of, told
from mpigauge.find.headline import headline_record, headlines_of
from mpigauge.plan.factors import SIZE
from mpigauge.query.query import source_of
from mpigauge.result.reader import load
from mpigauge.rows.group import cell_key, row_key
from mpigauge.stats.decision import Thresholds
from mpigauge.units import format_factor, format_percent
from tests.places import DOCS
from tests.thorough import rest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from mpigauge.compare.comparison import Run
    from mpigauge.find.headline import Headline
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject

RESULTS = sorted((DOCS / "results").glob("*.jsonl.gz"))
SMALL = [
    path
    for path in RESULTS
    if path.name.partition(".")[0] in {"exchange", "modes", "pairs", "ring", "uplink"}
]
NUMBER = re.compile(r"\d[\d.]*(?:\N{NO-BREAK SPACE}| )?(?:%|times|[kKMG]?i?B(?:/s)?|[nµm]?s\b)?")
DEADLOCK = re.compile(r"; above (\d+ \w+) \w+ would deadlock$")


@pytest.fixture(params=rest(RESULTS, SMALL), ids=lambda path: path.name.partition(".")[0], scope="module")
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def explained(path: Path) -> list[str]:
    said = document([source_of(load(path), "median")], Units(), most=None)
    return [line.text.strip() for line in said.foot]


def first_sentences(path: Path) -> list[Headline]:
    source = source_of(load(path), "median")
    return [one for one in headlines_of(source.result, source.rows) if one.is_finding]


def without_unknown(numbers: Iterable[str], text: str) -> Iterator[str]:
    yield from (number for number in numbers if number not in text)


def test_all_numbers_of_the_first_sentences_are_in_explain(path: Path) -> None:
    every = explained(path)
    for one in first_sentences(path):
        text = DEADLOCK.sub("", one.text)
        assert any(line.startswith(text) for line in every) or not [
            *without_unknown(NUMBER.findall(text), "\n".join(every))
        ]
        limit = DEADLOCK.search(one.text)
        assert limit is None or any(f"the eager limit is {limit[1]}" in line for line in every)


def without_rest(text: str) -> str:
    """A line without what it says of the differences that it has no room for."""
    return text.removesuffix(f"; {ALSO_BETWEEN}").removesuffix(f"; {ALSO_ABOVE}")


def test_a_sentence_about_two_curves_is_the_beginning_of_its_details(path: Path) -> None:
    source = source_of(load(path), "median")
    topics = {"place", "library", "setting", "mode", "order", "senders", "copies"}
    for one in said_of(source):
        if one.conclusion.topic in topics:
            assert one.details.startswith(without_rest(one.text))


def test_programs_get_the_numbers_of_the_first_sentences(path: Path) -> None:
    for one in first_sentences(path):
        record = headline_record(one)
        for ratio in record["ratios"]:
            assert any(written in one.text for written in ways_of(ratio)) or not_known(ratio)


def ways_of(ratio: Mapping[str, Any]) -> list[str]:
    """How a ratio may be written: as a factor of times or of rates, or as a percentage."""
    estimate = ratio["estimate"]
    turned = [format_percent(abs(each - 1)) for each in (estimate, 1 / estimate)]
    return [f"{format_factor(each)} times" for each in (estimate, 1 / estimate)] + turned


def not_known(ratio: Mapping[str, Any]) -> bool:
    return bool(ratio["high"] >= 3 * ratio["low"])


def test_tables_say_of_two_curves_what_explain_says(path: Path) -> None:
    source = source_of(load(path), "median")
    every = "\n".join(explained(path))
    for one in told(findings_of(source.result, source.rows, source.controls)):
        if one.kind in {"contrast", "cost-in-copies"} and f"{one.text}" not in every:
            assert not [*without_unknown(NUMBER.findall(one.text.partition(": ")[2]), every)], one.text


def test_a_comparison_tells_the_pieces_that_explain_tells(path: Path) -> None:
    """A line of several sizes gave the number of the one that differs most, and `explain` that of all."""
    source = source_of(load(path), "median")
    evidence = Evidence(source.result, source.rows, controls=source.controls)
    facts = {
        (fact.base, fact.other): fact
        for find in (places, libraries, settings, modes)
        for fact in find(evidence)
    }
    thresholds = thresholds_of_result(source.result, Thresholds())
    for factor in factors_varied(row.cell for row in source.rows):
        pairs = pairs_by(source.rows, factor, source.result.campaign.libraries)
        shown = compare(pairs, thresholds, controlled=False)
        runs = runs_of(shown.cells, compared_by(factor) | {"bytes"})
        assert Counter(id(cell) for run in runs for cell in run.cells) == Counter(map(id, shown.cells))
        for run in runs:
            curve = [one for one in facts if is_of(run, *one)]
            if run.piece is not None and curve:
                assert run.piece in facts[curve[0]].pieces


def is_of(run: Run, base: Subject, other: Cell) -> bool:
    """Whether a run is of two curves."""
    pair = run.cells[0].pair
    key = cell_key(other, SIZE)
    return row_key(pair, SIZE) == row_key(base, SIZE) and cell_key(pair.other.cell, SIZE) == key
