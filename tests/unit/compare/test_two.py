"""Two curves side by side: pieces of sizes at which they differ alike, and the clauses that tell them."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mpigauge.compare.size_ratio import SizePair, SizeRatio
from mpigauge.compare.two import (
    NamesOfTwo,
    amount_of,
    as_many_as_fit,
    clauses,
    names_of_modes,
    size_pieces,
)
from mpigauge.rows.ratios import TimePair
from mpigauge.stats.decision import Ratio
from mpigauge.units import DASH, format_size
from tests.made import cell, collective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.compare.two import SizePiece
    from mpigauge.vocabulary import Verdict

LAUNCHES = range(1, 9)
SIDES = NamesOfTwo("MPI_Isend", "MPI_Send")
WORDS: dict[str, Verdict] = {"s": "slower", "f": "faster", "=": "same", "?": "undecided"}
SAME = "no difference (within 3 %)"


def pair(size: int, word: Verdict, estimate: float, width: float = 0.01) -> SizePair:
    """A size at which all launches have one ratio."""
    over = dict.fromkeys(LAUNCHES, 1e-6 * estimate)
    ends = estimate * (1 - width), estimate * (1 + width)
    ratio = Ratio(estimate, *ends, len(LAUNCHES), verdict=word, needed=20)
    point = SizeRatio(size, 1e-6, 1e-6 * estimate, ratio, None, None, word, False)
    return SizePair(point, TimePair(over, dict.fromkeys(LAUNCHES, 1e-6), paired=True), 0.0)


def pieces(words: str, estimates: Sequence[float], width: float = 0.01) -> tuple[SizePiece, ...]:
    """Of sizes from 8 B on, doubled, with these words."""
    verdicts = [WORDS[letter] for letter in words]
    sizes = [8 << place for place in range(len(words))]
    return size_pieces([pair(*one, width) for one in zip(sizes, verdicts, estimates, strict=True)])


def sentence(found: Sequence[SizePiece], sides: NamesOfTwo = SIDES) -> str:
    """All that is said, without intervals."""
    return re.sub(
        rf" \([\d.]+ {DASH} [\d.]+\)", "", "; ".join(one.text for one in clauses(sides, found, cell()))
    )


# ---- Pieces --------------------------------------------------------------------------------------


def test_a_weak_difference_that_noise_cuts_is_one_piece_with_one_number() -> None:
    estimates = [0.94, 0.93, 0.95, 0.94, 0.96, 0.94, 0.95, 1.0, 1.0]
    found = pieces("?ff?f?f==", estimates)
    assert [(one.verdict, len(one.sizes_bytes)) for one in found] == [("faster", 7), ("same", 2)]
    assert found[0].apart_bytes == (8, 64, 256)
    assert found[0].pooled is not None
    assert found[0].pooled.estimate == pytest.approx(0.944, abs=0.001)
    assert sentence(found) == (
        "MPI_Isend takes on average 5.6 % less time than MPI_Send up to 512 B (3 sizes alone: undecided); "
        f"{SAME} from 1 KiB on"
    )


def test_undecided_on_the_other_side_is_no_part_of_a_difference() -> None:
    assert [one.verdict for one in pieces("s?s", [1.2, 0.98, 1.2])] == ["slower", "undecided", "slower"]
    assert [one.verdict for one in pieces("?s", [1.01, 1.2])] == ["undecided", "slower"]


def test_decided_sizes_are_never_joined_to_another_word() -> None:
    found = pieces("s=fs", [1.2, 1.01, 0.8, 1.2])
    assert [one.verdict for one in found] == ["slower", "same", "faster", "slower"]


def test_ratios_far_apart_are_pieces_of_their_own() -> None:
    found = pieces("ssss", [25.3, 24.0, 12.0, 8.68])
    assert [one.sizes_bytes for one in found] == [(8, 16), (32,), (64,)]
    assert sentence(found) == (
        "MPI_Isend takes on average 24.6 times as long as MPI_Send up to 16 B; "
        "8.68 times at 64 B; 12.0 times at 32 B"
    )


def test_ratios_of_which_nobody_can_tell_that_they_are_apart_are_one_piece() -> None:
    assert len(pieces("sss", [2.0, 3.0, 2.0], width=0.3)) == 1
    assert len(pieces("sss", [2.0, 3.0, 2.0], width=0.1)) == 3


def test_launches_that_lack_a_size_are_not_in_the_number_of_all() -> None:
    first, second = pair(8, "slower", 1.2), pair(16, "slower", 1.2)
    few = TimePair(dict.fromkeys((1, 2, 3), 1.2e-6), dict.fromkeys((1, 2, 3), 1e-6), paired=True)
    assert len(size_pieces([first, second._replace(sides=few)])) == 2
    five = replace(
        second.sides, over=dict.fromkeys(range(4, 9), 1.3e-6), under=dict.fromkeys(range(4, 9), 1e-6)
    )
    (piece,) = size_pieces([first, second._replace(sides=five)])
    assert piece.pooled is not None
    assert piece.pooled.launches == 5
    assert piece.pooled.estimate == pytest.approx((1.2 * 1.3) ** 0.5)


def test_of_launches_that_are_no_pairs_the_means_are_compared() -> None:
    both = [pair(size, "slower", 1.2) for size in (8, 16)]
    (piece,) = size_pieces([one._replace(sides=replace(one.sides, paired=False)) for one in both])
    assert piece.pooled is not None
    assert not piece.pooled.paired
    assert piece.pooled.estimate == pytest.approx(1.2)


# ---- Words ---------------------------------------------------------------------------------------


def test_a_difference_of_few_launches_is_told_with_what_a_verdict_needs() -> None:
    of = pair(8, "undecided", 59.0)
    few = of._replace(ratio=replace(of.ratio, ratio=replace(of.ratio.ratio, launches=3)))
    said = "MPI_Isend takes 59.0 times as long as MPI_Send at 8 B; a verdict needs 5 launches"
    assert sentence(size_pieces([few])) == said


@pytest.mark.parametrize(
    ("estimate", "said"),
    [
        (2.31, f"MPI_Isend takes 2.31 times (2.29 {DASH} 2.33) as long as MPI_Send at 8 B"),
        (1.13, f"MPI_Isend takes 13 % (12 {DASH} 14) longer than MPI_Send at 8 B"),
        (0.87, f"MPI_Isend takes 13 % (12 {DASH} 14) less time than MPI_Send at 8 B"),
        (0.01, f"MPI_Isend is 100 times (99.0 {DASH} 101) as fast as MPI_Send at 8 B"),
    ],
)
def test_a_ratio_is_a_factor_from_two_on_and_a_percentage_below(estimate: float, said: str) -> None:
    word: Verdict = "slower" if estimate > 1 else "faster"
    (one,) = clauses(SIDES, size_pieces([pair(8, word, estimate)]), cell())
    assert one.text == said


def test_rates_are_told_the_other_way_round() -> None:
    sides = NamesOfTwo("2 senders", "1 sender", many=True, by_rate=True)
    assert sentence(pieces("f", [0.4]), sides) == "2 senders carry 2.50 times what 1 sender does at 8 B"
    assert sentence(pieces("f", [0.8]), sides) == "2 senders carry 1.25 times what 1 sender does at 8 B"
    assert sentence(pieces("s", [5.0]), sides) == "2 senders carry 0.200 times what 1 sender does at 8 B"
    (wide,) = pieces("f", [0.4], width=0.01)
    assert wide.pooled is not None
    unknown = replace(wide, pooled=replace(wide.pooled, low=0.4 / 100, high=0.4 * 100))
    assert sentence([unknown], sides) == "2 senders carry a higher rate than 1 sender at 8 B"


def test_no_difference_at_most_sizes_names_the_one_that_nobody_can_tell() -> None:
    found = pieces("==?=", [1.0, 1.0, 1.01, 1.0])
    assert sentence(found) == (
        f"MPI_Isend against MPI_Send: {SAME} up to 16 B and at 64 B; "
        "undecided at 32 B (about 20 launches would tell)"
    )
    assert sentence(pieces("====", [1.0] * 4)) == f"MPI_Isend against MPI_Send: {SAME} at all 4 sizes"
    assert sentence(pieces("?=?=?=", [1.0] * 6)).startswith(
        f"MPI_Isend against MPI_Send: {SAME} at 3 of 6 sizes;"
    )


def test_where_they_do_not_differ_follows_both_ends_of_where_they_do() -> None:
    found = pieces("s=s=s", [1.1, 1.0, 1.6, 1.0, 1.1])
    assert sentence(found) == (
        "MPI_Isend takes 10 % longer than MPI_Send at 8 B; 10 % longer at 128 B; "
        f"{SAME} at 16 B and at 64 B; 60 % longer at 32 B"
    )


@pytest.mark.parametrize("words", ["".join(one) for one in itertools.product("s?=f", repeat=4)])
def test_every_size_is_told_once(words: str) -> None:
    estimates = {"s": 33.3, "?": 33.3, "=": 1.0, "f": 0.5}
    found = pieces(words, [estimates[letter] for letter in words])
    told = [
        size for one in clauses(SIDES, found, cell()) for piece in one.pieces for size in piece.sizes_bytes
    ]
    assert {*told} == {8, 16, 32, 64}
    text = sentence(found)
    apart = [len(one.apart_bytes) for one in found if one.verdict in {"slower", "faster"}]
    said = re.findall(r"\((\d+) (B|sizes?) alone: undecided\)", text)
    counts = sorted(1 if unit == "B" else int(count) for count, unit in said)
    assert counts == sorted(one for one in apart if one)


def test_a_number_with_a_factor_of_three_open_is_not_told() -> None:
    wide = Ratio(2.0, 1.0, 3.0, 8, verdict="slower")
    one = pair(8, "slower", 2.0)
    found = size_pieces([one._replace(ratio=replace(one.ratio, ratio=wide))])
    assert sentence(found) == "MPI_Isend takes longer than MPI_Send at 8 B"


def test_what_has_no_size_is_told_without() -> None:
    (one,) = clauses(SIDES, pieces("s", [1.2]), collective("barrier", 0))
    assert one.text.endswith("longer than MPI_Send")


def test_modes_are_called_by_their_functions_where_these_differ() -> None:
    assert names_of_modes(cell(mode="nonblocking"), cell(), ()) == ("MPI_Isend", "MPI_Send")
    also = [cell(mode="posted"), cell("exchange", mode="halves")]
    assert names_of_modes(cell(mode="nonblocking"), cell(), also) == ("nonblocking", "standard")
    assert names_of_modes(cell(mode="nonblocking"), cell(), also[1:]) == ("MPI_Isend", "MPI_Send")
    any_tag, posted = (cell("matching", mode=mode) for mode in ("any-tag", "posted"))
    assert names_of_modes(any_tag, posted, ()) == ("any-tag", "posted")
    one, other = (cell("strange", mode=mode) for mode in ("b", "a"))
    assert names_of_modes(one, other, ()) == ("b", "a")


def test_intervals_have_a_dash() -> None:
    (one,) = clauses(SIDES, pieces("s", [1.5]), cell())
    assert f"(48 {DASH} 52)" in one.text


def test_a_difference_whose_interval_holds_none_has_its_sign() -> None:
    """`3.1 % (17 - 28) longer` was an interval from 17 % less to 28 % more."""
    (piece,) = pieces("s", [1.03], width=0.15)
    assert amount_of(piece, SIDES) == f"3.0 % (\N{MINUS SIGN}12 {DASH} 18) longer"
    (less,) = pieces("f", [0.97], width=0.15)
    assert amount_of(less, SIDES) == f"3.0 % (\N{MINUS SIGN}12 {DASH} 18) less time"


def test_a_part_of_which_no_size_has_the_verdict_is_undecided() -> None:
    """A size joined to the differences around it is a part of its own where its ratio is far from theirs."""
    found = pieces("s?s", [1.10, 1.60, 1.10])
    assert [piece.verdict for piece in found] == ["slower", "undecided", "slower"]


def test_a_line_says_of_differences_that_it_has_no_room_for_where_they_are() -> None:
    parts = clauses(SIDES, pieces("sss", [1.1, 1.5, 2.2]), cell())

    def line(most: int) -> str:
        return as_many_as_fit(parts, str, lambda text: len(text) <= most)[0]

    assert line(1000) == "; ".join(part.text for part in parts)
    assert line(120).endswith("; differs between")
    assert line(1).endswith("; differs above")


def test_sizes_that_one_alone_has_are_no_end_of_a_curve() -> None:
    found = pieces("s=", [1.1, 1.0])
    (*_, largest) = found[-1].sizes_bytes
    more = [part.text for part in clauses(SIDES, found, cell(), [8 * largest])]
    assert more[-1].endswith(f" at {format_size(largest)}")
    with_larger = clauses(SIDES, pieces("s==", [1.1, 1.0, 1.0]), cell(), [2**20])
    assert " on" not in with_larger[-1].text


def test_an_undecided_size_goes_with_its_decided_neighbours_alone() -> None:
    """Undecided ones between it and them do not count."""
    assert [piece.verdict for piece in pieces("s??s", [1.1] * 4)] == ["slower"]
    assert [piece.verdict for piece in pieces("s??=", [1.1, 1.1, 1.1, 1.0])] == ["slower", "same"]


def test_sizes_without_a_difference_are_told_by_the_word_of_most() -> None:
    (half,) = pieces("=?", [1.0, 1.0])
    assert (half.verdict, half.apart_bytes) == ("same", (16,))
    (fewer,) = pieces("=??", [1.0, 1.0, 1.0])
    assert (fewer.verdict, fewer.apart_bytes) == ("undecided", (8,))


def test_ratios_are_alike_up_to_a_quarter_apart() -> None:
    assert len(pieces("ss", [1.2, 1.5], width=0.001)) == 1
    assert len(pieces("ss", [1.2, 1.501], width=0.001)) == 2


def test_a_number_that_its_interval_cannot_be_told_from_has_none() -> None:
    (piece,) = pieces("s", [1.5], width=0.0)
    assert amount_of(piece, SIDES) == "50 % longer"
