"""Two curves in one line: pieces of sizes, one number of each, and as much as there is room for."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.compare.size_ratio import SizePair, SizeRatio, size_pieces
from mpigauge.find.phrases import MAX_WORDS, NamesOfTwo, known_time, words_of
from mpigauge.find.pieces import pieces_line
from mpigauge.rows.ratios import TimePair
from mpigauge.stats.decision import Ratio
from mpigauge.stats.interval import is_known
from mpigauge.units import DASH
from tests.made import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.compare.size_ratio import SizePiece
    from mpigauge.vocabulary import Verdict

LAUNCHES = range(1, 9)
SIDES = NamesOfTwo("nonblocking", "standard")
WORDS: dict[str, Verdict] = {"s": "slower", "f": "faster", "=": "same", "?": "undecided"}


def pair(size: int, word: Verdict, estimate: float) -> SizePair:
    """A size at which all launches have one ratio."""
    over = dict.fromkeys(LAUNCHES, 1e-6 * estimate)
    ratio = Ratio(estimate, estimate * 0.99, estimate * 1.01, len(LAUNCHES), verdict=word, needed=20)
    point = SizeRatio(size, 1e-6, 1e-6 * estimate, ratio, None, None, word, False)
    return SizePair(point, TimePair(over, dict.fromkeys(LAUNCHES, 1e-6), paired=True), 0.0)


def pieces(words: str, estimates: Sequence[float]) -> tuple[SizePiece, ...]:
    """Of sizes from 8 B on, doubled, with these words."""
    verdicts = [WORDS[letter] for letter in words]
    sizes = [8 << place for place in range(len(words))]
    return size_pieces([pair(*one) for one in zip(sizes, verdicts, estimates, strict=True)])


def line(found: Sequence[SizePiece]) -> str:
    return pieces_line("pingpong", SIDES, found, cell())


def test_a_weak_difference_that_noise_cuts_is_one_piece_with_one_number() -> None:
    estimates = [0.94, 0.93, 0.95, 0.94, 0.96, 0.94, 0.95, 1.0, 1.0]
    found = pieces("?ff?f?f==", estimates)
    assert [(one.verdict, len(one.sizes_bytes)) for one in found] == [("faster", 7), ("same", 2)]
    assert found[0].apart_bytes == (8, 64, 256)
    assert found[0].pooled is not None
    assert found[0].pooled.estimate == pytest.approx(0.944, abs=0.001)
    assert line(found) == (
        "pingpong: nonblocking takes on average 0.944 times as long as standard up to 512 B "
        "(3 sizes alone: undecided); no difference from 1 KiB on"
    )


def test_a_difference_of_few_launches_is_told_with_what_a_verdict_needs() -> None:
    of = pair(8, "undecided", 59.0)
    few = of._replace(ratio=replace(of.ratio, ratio=replace(of.ratio.ratio, launches=3)))
    assert line(size_pieces([few])) == (
        "pingpong: nonblocking takes 59.0 times (58.4 \N{EN DASH} 59.6) as long as standard at 8 B; "
        "a verdict needs 5 launches"
    )


def test_undecided_on_the_other_side_is_no_part_of_a_difference() -> None:
    assert [one.verdict for one in pieces("s?s", [1.2, 0.98, 1.2])] == ["slower", "undecided", "slower"]
    assert [one.verdict for one in pieces("?s", [1.01, 1.2])] == ["undecided", "slower"]


def test_decided_sizes_are_never_joined_to_another_word() -> None:
    found = pieces("s=fs", [1.2, 1.01, 0.8, 1.2])
    assert [one.verdict for one in found] == ["slower", "same", "faster", "slower"]


def test_no_difference_at_most_sizes_names_the_one_that_nobody_can_tell() -> None:
    found = pieces("==?=", [1.0, 1.0, 1.01, 1.0])
    assert line(found) == (
        "pingpong: nonblocking against standard: no difference at 3 of 4 sizes; undecided at 32 B; "
        "about 20 launches would tell"
    )
    assert line(pieces("====", [1.0] * 4)).endswith(": no difference at all 4 sizes")
    assert "undecided at 3 of 4 sizes; no difference at 64 B" in line(pieces("???=", [1.0] * 4))


def test_ratios_far_apart_are_a_range() -> None:
    takes = f"nonblocking takes 8.68 {DASH} 25.3 times as long as standard at all 3 sizes"
    assert line(pieces("sss", [25.3, 12.0, 8.68])) == f"pingpong: {takes}"


@pytest.mark.parametrize("words", ["".join(one) for one in itertools.product("s?=f", repeat=4)])
def test_no_line_is_silent_about_a_size_that_cannot_tell_within_a_difference(words: str) -> None:
    """`at all 3 sizes` beside `undecided at 64 KiB` in the details contradicted each other."""
    estimates = {"s": 33.3, "?": 33.3, "=": 1.0, "f": 0.5}
    found = pieces(words, [estimates[letter] for letter in words])
    apart = [len(one.apart_bytes) for one in found if one.verdict in {"slower", "faster"}]
    said = re.findall(r"\((\d+) (B|sizes?) alone: undecided\)", line(found))
    counted = re.search(r" at \d of 4 sizes", line(found))
    assert counted or [1 if unit == "B" else int(count) for count, unit in said] == [
        one for one in apart if one
    ]


def test_one_size_that_cannot_tell_is_named() -> None:
    said = line(pieces("ss?", [738.0, 2372.0, 33.3]))
    takes = f"nonblocking takes 33.3 {DASH} 2372 times as long as standard"
    assert said == f"pingpong: {takes} at all 3 sizes (32 B alone: undecided)"


def test_a_difference_in_the_middle_is_one_elsewhere_there_is_none() -> None:
    takes = "nonblocking takes on average 1.20 times as long as standard from 16 B to 32 B"
    assert line(pieces("=ss=", [1.0, 1.2, 1.2, 1.0])) == f"pingpong: {takes}; no difference elsewhere"
    undecided = line(pieces("=ss?", [1.0, 1.2, 1.2, 1.0]))
    assert undecided == f"pingpong: {takes}; no certain difference elsewhere"


def test_many_pieces_are_counted() -> None:
    takes = f"nonblocking takes 1.10 {DASH} 1.20 times as long as standard at 3 of 5 sizes"
    assert line(pieces("s=s=s", [1.1, 1.0, 1.2, 1.0, 1.1])) == f"pingpong: {takes}; no difference at 2"
    both = line(pieces("s=f=s", [1.1, 1.0, 0.8, 1.0, 1.1]))
    assert "takes longer at 2 and less time at 1 of 5 sizes than standard" in both


def test_launches_that_lack_a_size_are_not_in_the_number_of_all() -> None:
    first, second = pair(8, "slower", 1.2), pair(16, "slower", 1.2)
    few = TimePair({1: 1.2e-6}, {1: 1e-6}, paired=True)
    (piece,) = size_pieces([first, second._replace(sides=few)])
    assert piece.pooled is None
    (piece,) = size_pieces([first, second._replace(sides=replace(second.sides, paired=False))])
    assert piece.pooled is None


def test_a_number_with_a_factor_of_three_open_is_not_known() -> None:
    wide = Ratio(2.0, 1.0, 3.0, 8, verdict="slower")
    one = pair(8, "slower", 2.0)
    found = size_pieces([one._replace(ratio=replace(one.ratio, ratio=wide))])
    assert "takes an unknown number of times as long as standard at 8 B" in line(found)
    assert is_known(1.0, 2.99)
    assert not is_known(1.0, 3.0)
    assert not is_known(0.0, 1.0)
    assert known_time(2e-6, 1e-6, 4e-6) == "a time not known"
    assert known_time(2e-6, 2e-6, 2e-6) == "2.00 µs"


def test_a_line_leaves_out_what_there_is_no_room_for() -> None:
    found = pieces("ss??", [1.1, 1.1, 1.0, 1.0])
    full = line(found)
    about = "pingpong, Open MPI 5.0.11, 2 ranks while near"
    short = pieces_line(about, NamesOfTwo("synchronous", "standard"), found, cell(), most_words=MAX_WORDS - 4)
    assert "; undecided from 32 B on" in full
    assert "undecided" not in short
    assert words_of(full) <= MAX_WORDS
    assert words_of(short) <= MAX_WORDS - 4


def test_a_number_and_its_unit_are_one_word_and_dashes_are_none() -> None:
    assert words_of(f"best 12.4 GB/s (12.0 {DASH} 12.8) at 2 KiB in 3.2 µs, 50 %") == 9


def test_the_number_of_several_sizes_is_said_to_be_their_mean() -> None:
    """The first screen has single sizes: one number without this would contradict them."""
    assert "takes on average 1.09 times as long" in line(pieces("sss", [1.05, 1.12, 1.10]))
    assert "average" not in line(pieces("s==", [1.1, 1.0, 1.0]))
