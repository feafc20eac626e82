"""Lines of `explain` of every stored result: short, one finding each, every number of them a fact of JSON."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge import units
from mpigauge.find.explain.topics import TOPICS
from mpigauge.find.phrases import MAX_WORDS, extra, signed_percent, words_of
from mpigauge.vocabulary import DIFFERENT
from tests.cli.test_agreement import FACTORS, TURNED, Said
from tests.conftest import isolate
from tests.stored import name_of, stored_results

if TYPE_CHECKING:
    from collections.abc import Iterator

Record = dict[str, Any]
CURVE = [name for name in FACTORS if name not in {"bytes", "window"}]
UNTOLD = {"spread", "first"}
WITHIN = {"first-message": "start-up"}
"""Kinds that are told in the sentence of another, where that is there."""

LAUNCHES = re.compile(r" \((\d+) launch(?:es)?\)$")
LIBRARIES = re.compile(r"(?:Open MPI|Intel MPI|MPICH) [\d.]+")
UNIT = r"(?:[nm\N{MICRO SIGN}]?s|[KMGT]?i?B|%)(?![\w/])"
NUMBER = re.compile(rf"(?<![\w.,/=-])[\N{{MINUS SIGN}}+]?\d+(?:\.\d+)?(?: {UNIT})?")
COUNTED = re.compile(r"(\d+) of (\d+) sizes")


@pytest.fixture(scope="module", params=stored_results(), ids=name_of)
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Said]:
    with pytest.MonkeyPatch.context() as patch:
        isolate(tmp_path_factory.mktemp("explained"), patch)
        patch.setenv("COLUMNS", "1000")
        yield Said(request.param)


def lines_of(said: Said, *words: str) -> list[str]:
    """The lines of the screen that are conclusions."""
    _, text = said.text("explain", *words)
    return [line for line in text.splitlines() if LAUNCHES.search(line) and not line.startswith("!")]


def told(said: Said) -> list[Record]:
    """The conclusions that the screen may have."""
    kinds = {one["kind"] for one in said.explained}
    untold = UNTOLD | {kind for kind, other in WITHIN.items() if other in kinds}
    return [one for one in said.explained if one["kind"] not in untold]


def line_of(one: Record) -> str:
    """A conclusion as the screen has it."""
    return f"{one['text']} ({units.counted(one['launches'], 'launch')})"


# ---- Short ---------------------------------------------------------------------------------------


def test_a_line_of_the_screen_has_at_most_25_words_and_is_the_text_of_a_conclusion(said: Said) -> None:
    lines = lines_of(said)
    assert lines
    asked_first = sorted(told(said), key=lambda one: TOPICS[one["kind"]].unasked)
    assert lines == [line_of(one) for one in asked_first[: len(lines)]]
    assert [line for line in lines if words_of(line) > MAX_WORDS] == []


def test_no_line_says_of_all_sizes_what_does_not_hold_at_all(said: Said) -> None:
    for one in told(said):
        assert not re.search(r"at (?:all \d+|both) sizes.* at (?:\d+ of them|the others)", one["text"])
        assert not re.search(r"\b1 (?:launches|sizes|ranks)\b", one["text"])
        assert one["text"].count("undecided") <= 1


def test_details_are_below_their_line_and_what_no_decision_follows_from_is_a_record_alone(said: Said) -> None:
    _, text = said.text("explain", "--all")
    for one in told(said):
        below = f"\n  {one['details']}" if one["details"] != one["text"] else ""
        assert f"{line_of(one)}{below}\n" in f"{text}\n"
    assert not [one for one in said.explained if one["kind"] in UNTOLD and one["text"] in text]


# ---- Without contradictions ----------------------------------------------------------------------


def test_no_two_conclusions_have_different_words_for_one_pair_at_one_size(said: Said) -> None:
    words: dict[object, set[str]] = {}
    for one in told(said):
        ends = [tuple(cell[name] for name in CURVE) for cell in one["cells"]]
        for point in one["value"].get("points", ()):
            word = (
                point["verdict"] if ends == sorted(ends) else TURNED.get(point["verdict"], point["verdict"])
            )
            key = (frozenset(ends), point["bytes"], one["value"].get("state"))
            words.setdefault(key, set()).add(word)
    assert [key for key, mine in words.items() if len(mine) > 1] == []


def test_a_piece_has_no_size_with_another_word_than_undecided(said: Said) -> None:
    for one in told(said):
        if not (pieces := one["value"].get("pieces")):
            continue
        points = {point["bytes"]: point for point in one["value"]["points"]}
        assert [size for piece in pieces for size in piece["sizes_bytes"]] == list(points)
        for piece in pieces:
            for size in piece["sizes_bytes"]:
                word = points[size]["verdict"]
                if piece["verdict"] in DIFFERENT:
                    assert word in {piece["verdict"], "undecided"}
                else:
                    assert word in {"same", "undecided"}
                assert (word != piece["verdict"]) == (size in piece["apart_bytes"])
            ratios = [points[size]["ratio"]["estimate"] for size in piece["sizes_bytes"]]
            assert (piece["least"], piece["most"]) == (min(ratios), max(ratios))


# ---- Recomputed ----------------------------------------------------------------------------------


def numbers_in(fact: Any) -> Iterator[float]:
    """All numbers of a fact."""
    if isinstance(fact, dict):
        for part in fact.values():
            yield from numbers_in(part)
    elif isinstance(fact, list):
        for part in fact:
            yield from numbers_in(part)
    elif isinstance(fact, int | float) and not isinstance(fact, bool):
        yield fact


def derived(value: Record) -> Iterator[float]:
    """What follows from two facts: errors of what was planted, and the middle of an interval."""
    if "delay_s" in value:
        planted_s = value["delay_s"] + value["lanes_s"]
        yield from (planted_s, value["measured_s"] / planted_s - 1)
    if "payload_bytes_per_s" in value:
        yield value["best"]["estimate"] / value["payload_bytes_per_s"] - 1
    if "small" in value:
        yield (value["small"]["low_s"] + value["small"]["high_s"]) / 2
    for piece in value.get("pieces", ()):
        if piece["pooled"] is not None:
            yield from (abs(piece["pooled"][end] - 1) for end in ("estimate", "low", "high"))
    for point in value.get("points", ()):
        if "other_s" in point:
            # With the sign that a difference is written with.
            yield from (one * (point["other_s"] - point["base_s"]) for one in (1, -1))


def counts_in(value: Record) -> Iterator[int]:
    """How many sizes have which word."""
    if "pieces" in value:
        points, pieces = value["points"], value["pieces"]
        words = Counter(point["verdict"] for point in points)
        yield from (len(points), words["slower"] + words["faster"], *words.values())
        for piece in pieces:
            sizes, apart = len(piece["sizes_bytes"]), len(piece["apart_bytes"])
            yield from (sizes, apart, sizes - apart)


def texts_of(one: Record) -> set[str]:
    """How the numbers of a conclusion may be written."""
    value = one["value"]
    found = {str(count) for count in counts_in(value)} | {"one", "10", "2", "3 %"}
    facts = itertools.chain(numbers_in(value), derived(value), numbers_in(one["cells"]))
    for number in facts:
        found |= {signed_percent(number), units.format_percent(number)}
        if number == int(number) and abs(number) < 2**60:
            found |= {str(int(number)), units.format_size(int(number))}
        found.add(extra(number))
        if number > 0:
            factor, turned = units.format_factor(number), units.format_factor(1 / number)
            found |= {factor, turned, f"{number:.4f}", units.format_time(number)}
            found |= {units.format_rate_in(number, unit) for unit in units.RATE_UNITS}
    # Of an interval, and of a signed number, the first end may lack its unit.
    return found | {text.split(" ")[0] for text in found}


def unknown_in(one: Record, text: str) -> list[str]:
    """Numbers of a text that are no fact of its conclusion."""
    known = texts_of(one)
    return [number for number in NUMBER.findall(LIBRARIES.sub("", text)) if number not in known]


def test_every_number_of_a_line_is_a_fact(said: Said) -> None:
    wrong = [(one["text"], unknown) for one in told(said) if (unknown := unknown_in(one, one["text"]))]
    assert wrong == []


def test_sizes_that_are_counted_are_those_of_the_facts(said: Said) -> None:
    for one in told(said):
        counts = set(counts_in(one["value"]))
        if "pieces" in one["value"]:
            for pair in COUNTED.findall(one["text"]):
                assert set(map(int, pair)) <= counts


def test_a_digit_that_is_changed_is_noticed() -> None:
    value = {"limit_bytes": 4016, "crossing": {"extra_s": 1.581e-6, "low_s": 1.53e-6, "high_s": 1.62e-6}}
    one = {"value": value, "cells": []}
    text = "the eager limit is 4016 B; crossing it costs 1.58 µs (1.53 µs \N{EN DASH} 1.62 µs)"
    assert unknown_in(one, text) == []
    assert unknown_in(one, text.replace("4016", "4017")) == ["4017 B"]
    assert unknown_in(one, text.replace("1.58", "1.57")) == ["1.57 µs"]
