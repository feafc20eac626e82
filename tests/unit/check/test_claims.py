"""Claims held against results of known truth: what holds, fails, is open, was put in, or was not measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.check.claims import check_claim
from tests.claimed import LAUNCHES, claim, material, result
from tests.made import PATTERNS, cell, collective, eager

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.check.claims import ClaimSource
    from mpigauge.plan.model import Cell

SIZES = (8, 1024, 2**17, 2**20)
RATIO = 'kind = "ratio"\nover = { mode = "buffered" }\nunder = { mode = "standard" }\n'
JITTER = {1: 1.01, 2: 0.99, 3: 1.0, 4: 1.01, 5: 0.99, 6: 1.0}


def modes(times: dict[int, float], launches: Any = LAUNCHES, **more: Any) -> ClaimSource:
    """Two modes: of each size, how many times as long the second takes, give or take a percent."""
    cells = [cell(size=size, mode=mode, **more) for size in times for mode in ("standard", "buffered")]

    def time_ns(of: Cell, launch: int) -> float:
        return 1000.0 if of.mode == "standard" else 1000 * times[of.bytes] * JITTER[launch]

    return material(result(cells, time_ns, launches))


def one(tmp_path: Path, text: str, *found: ClaimSource, printed: tuple[ClaimSource, ...] = ()) -> Any:
    return check_claim(claim(tmp_path, text), printed, found)


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        ("> 2", "confirmed"),
        ("< 2", "refuted"),
        ("2.9 .. 3.1", "confirmed"),
        ("> 3", "undecided"),
        ("1 .. 2", "refuted"),
        ("4 .. 5", "refuted"),
    ],
)
def test_the_interval_of_paired_launches_decides(tmp_path: Path, bound: str, verdict: str) -> None:
    """Launches differ by 30 %, their ratios by 1 %."""
    found = one(tmp_path, f'{RATIO}bound = "{bound}"', modes({8: 3.0}))
    assert found.verdict == verdict
    (number,) = found.here.numbers
    assert number.low < 3 < number.high < 1.03 * number.low
    assert number.launches == len(LAUNCHES)


def test_printed_numbers_decide_by_themselves_and_measured_ones_never_without_interval(
    tmp_path: Path,
) -> None:
    single = modes({8: 3.0}, launches=[3])
    found = one(tmp_path, f'{RATIO}bound = "> 2"', single, printed=(single,))
    assert (found.printed.verdict, found.verdict) == ("holds", "undecided")
    assert one(tmp_path, f'{RATIO}bound = "> 4"', single, printed=(single,)).printed.verdict == "fails"


@pytest.mark.parametrize(
    ("times", "verdicts"),
    [
        ((3, 3, 3, 3), ("confirmed", "confirmed", "confirmed")),
        ((3, 3, 3, 1), ("refuted", "confirmed", "confirmed")),
        ((3, 3, 1, 1), ("refuted", "refuted", "confirmed")),
        ((1, 1, 1, 1), ("refuted", "refuted", "refuted")),
        ((3, 3, 3, 2), ("undecided", "confirmed", "confirmed")),
        ((3, 3, 2, 1), ("refuted", "undecided", "confirmed")),
        ((1, 1, 1, 2), ("refuted", "refuted", "undecided")),
    ],
)
def test_all_most_or_any_of_the_numbers(
    tmp_path: Path, times: tuple[float, ...], verdicts: tuple[str, ...]
) -> None:
    here = modes(dict(zip(SIZES, times, strict=True)))
    for quantifier, verdict in zip(("all", "most", "any"), verdicts, strict=True):
        text = f'{RATIO}bound = "> 2"\nquantifier = "{quantifier}"'
        assert one(tmp_path, text, here).verdict == verdict


def test_what_was_not_measured_is_not_guessed(tmp_path: Path) -> None:
    found = one(tmp_path, f'{RATIO}cells = {{ bytes = "64" }}\nbound = "> 2"', modes({8: 3.0}))
    assert (found.here.gap, found.verdict) == ("unmeasured", "untested")
    assert one(tmp_path, f'{RATIO}bound = "> 2"').verdict == "untested"


def test_what_cannot_be_tested_here_may_still_be_printed(tmp_path: Path) -> None:
    here = modes({8: 3.0})
    found = one(tmp_path, f'{RATIO}bound = "> 4"\nuntestable = "no such library"', here, printed=(here,))
    assert (found.printed.verdict, found.here.numbers, found.verdict) == ("fails", (), "untestable")


# ---- Which cells are held against which ----------------------------------------------------------


def test_cells_are_matched_in_all_that_is_left_open(tmp_path: Path) -> None:
    """Of two libraries, each against itself; one has no partner at 1 MiB."""
    cells = [
        cell(size=size, mode=mode, mpi=mpi, mpi_version=version)
        for mpi, version in (("openmpi", "5.0.11"), ("mpich", "5.0.2"))
        for size in (8, 2**20)
        for mode in ("standard", "buffered")
        if (mpi, size, mode) != ("mpich", 2**20, "buffered")
    ]
    here = material(result(cells, lambda of, _: 1000.0 + 500 * (of.mode == "buffered") + of.bytes))
    numbers = one(tmp_path, f'{RATIO}bound = "> 1"', here).here.numbers
    found = {(number.row.cell.mpi, number.row.cell.bytes) for number in numbers}
    assert found == {("openmpi", 8), ("openmpi", 2**20), ("mpich", 8)}
    for number in numbers:
        assert number.against.row.cell == replace(number.row.cell, mode="standard")


def test_libraries_may_differ_in_version_and_patterns_in_mode(tmp_path: Path) -> None:
    libraries = [cell(), cell(mpi="mpich", mpi_version="5.0.2")]
    here = material(result(libraries, lambda of, _: 3000.0 if of.mpi == "mpich" else 1000))
    text = 'kind = "ratio"\nover = { mpi = "mpich" }\nunder = { mpi = "openmpi" }\nbound = "> 2"'
    assert one(tmp_path, text, here).verdict == "confirmed"
    here = material(
        result([cell(), cell("copy", mode="O3")], lambda of, _: 3000.0 if of.mode == "standard" else 9)
    )
    text = 'kind = "ratio"\nover = { pattern = "pingpong" }\nunder = { pattern = "copy" }\nbound = "> 2"'
    assert one(tmp_path, text, here).verdict == "confirmed"


def test_cells_of_two_results_meet_only_if_files_are_named_and_are_not_paired(tmp_path: Path) -> None:
    one_file = material(result([cell()], lambda *_: 3000.0), "one")
    other = material(result([cell()], lambda *_: 1000.0), "other")
    text = 'kind = "ratio"\nover = { file = "one" }\nunder = { file = "other" }\nbound = "> 2"'
    (number,) = one(tmp_path, text, one_file, other).here.numbers
    assert number.estimate == pytest.approx(3)
    assert number.low < 2.5
    text = f'{RATIO}bound = "> 2"'
    halves = [
        material(result([cell(mode=mode)], lambda *_: 1.0e3), mode) for mode in ("standard", "buffered")
    ]
    assert one(tmp_path, text, *halves).here.gap == "unmeasured"


# ---- Kinds ---------------------------------------------------------------------------------------


def test_a_difference_is_in_seconds(tmp_path: Path) -> None:
    text = RATIO.replace("ratio", "difference")
    here = modes({8: 3.0})
    assert one(tmp_path, f'{text}bound = "> 1us"', here).verdict == "confirmed"
    assert one(tmp_path, f'{text}bound = "< 1us"', here).verdict == "refuted"


def test_what_grows_is_above_the_one_before(tmp_path: Path) -> None:
    text = 'kind = "grows"\nalong = "bytes"\ncells = { mode = "standard" }'
    cells = [cell(size=size) for size in SIZES]
    rising = material(result(cells, lambda of, _: 100.0 + of.bytes))
    assert one(tmp_path, text, rising).verdict == "confirmed"
    assert len(one(tmp_path, text, rising).here.numbers) == len(SIZES) - 1
    bent = material(result(cells, lambda of, _: 500.0 if of.bytes == SIZES[1] else 1000.0 + of.bytes))
    assert one(tmp_path, text, bent).verdict == "refuted"


def test_what_grows_along_ranks_is_marked_where_ranks_share_cores(tmp_path: Path) -> None:
    cells = [cell("ring", ranks=ranks) for ranks in (2, 4, 8)]
    here = material(result(cells, lambda of, _: 1000.0 * of.ranks))
    found = one(tmp_path, 'kind = "grows"\nalong = "ranks"\ncells = { pattern = "ring" }', here)
    assert found.verdict == "confirmed"
    assert [number.estimate for number in found.here.numbers] == pytest.approx([2, 2])
    assert all(number.oversubscribed for number in found.here.numbers)


FROM = RATIO.replace("ratio", "from") + 'limit = "< 2"\n'


@pytest.mark.parametrize(
    ("times", "bound", "verdict"),
    [
        ((9, 5, 1, 1), f"{SIZES[2]} .. {SIZES[2]}", "confirmed"),
        ((9, 5, 1, 1), f"<= {SIZES[1]}", "refuted"),
        ((9, 1, 5, 1), f"{SIZES[3]} .. {SIZES[3]}", "confirmed"),
        ((9, 5, 2, 1), f"{SIZES[2]} .. {SIZES[3]}", "confirmed"),
        ((9, 5, 2, 1), f"<= {SIZES[2]}", "undecided"),
        ((9, 5, 5, 5), "<= 1GiB", "refuted"),
    ],
)
def test_from_which_size_on(tmp_path: Path, times: tuple[float, ...], bound: str, verdict: str) -> None:
    here = modes(dict(zip(SIZES, times, strict=True)))
    assert one(tmp_path, f'{FROM}bound = "{bound}"', here).verdict == verdict


def rates(best: int, value: float = 2.0) -> ClaimSource:
    """A byte a nanosecond, and more at one size."""
    cells = [cell(size=size) for size in SIZES]
    return material(
        result(cells, lambda of, launch: of.bytes * JITTER[launch] / (value if of.bytes == best else 1))
    )


def test_the_size_of_the_best_rate(tmp_path: Path) -> None:
    text = 'kind = "peak"\nquantity = "size"\ncells = { mode = "standard" }\nbound = "{}"'
    # Launches of the made results differ by 30 %, rates of different sizes by a factor of 4.
    inner = rates(SIZES[2], 4.0)
    assert one(tmp_path, text.replace("{}", f"{SIZES[2]} .. {SIZES[2]}"), inner).verdict == "confirmed"
    assert one(tmp_path, text.replace("{}", f"<= {SIZES[1]}"), inner).verdict == "refuted"
    rising = rates(SIZES[3], 4.0)
    assert one(tmp_path, text.replace("{}", f"<= {SIZES[3]}"), rising).verdict == "undecided"
    assert one(tmp_path, text.replace("{}", f"<= {SIZES[2]}"), rising).verdict == "refuted"
    assert one(tmp_path, text.replace("{}", "<= 1GiB"), printed=(rising,)).printed.verdict == "holds"


def test_the_best_rate_and_that_of_another(tmp_path: Path) -> None:
    text = 'kind = "peak"\nquantity = "bandwidth"\ncells = { mode = "standard" }\nbound = "2GB/s .. 7GB/s"'
    assert one(tmp_path, text, rates(SIZES[2], 4.0)).verdict == "confirmed"
    text = RATIO.replace("ratio", "peak") + 'quantity = "bandwidth"\nbound = "< 0.5"'
    assert one(tmp_path, text, modes(dict.fromkeys(SIZES, 3.0))).verdict == "confirmed"


def test_the_eager_limit_is_exact(tmp_path: Path) -> None:
    of = eager(4016).cell
    made = result([], lambda *_: 0.0)
    made = type(made)(made.path, replace(made.campaign, cells=(of,), patterns=PATTERNS))
    made.eager.append(eager(4016))
    text = 'kind = "limit"\ncells = { pattern = "eager" }\nbound = "{}"'
    for bound, verdict in {"4016 .. 4016": "confirmed", "> 4016": "refuted", "< 1KiB": "refuted"}.items():
        assert one(tmp_path, text.replace("{}", bound), material(made)).verdict == verdict


def test_a_printed_limit_is_the_largest_size(tmp_path: Path) -> None:
    text = 'kind = "limit"\ncells = { mode = "buffered" }\nbound = "1MiB .. 1MiB"'
    here = modes(dict.fromkeys(SIZES, 1.0))
    found = one(tmp_path, text, here, printed=(here,))
    assert (found.printed.verdict, found.verdict) == ("holds", "undecided")


def test_scatter_first_and_cpu_are_of_every_launch(tmp_path: Path) -> None:
    made = result([cell()], lambda *_: 1000.0)
    samples, busy = [900, 1100] * 50, 0.5
    fields = {
        "ops": 2,
        "batch": 1,
        "samples_ns": samples,
        "trial_ns": [5000],
        "cpu_ns": int(busy * 2 * sum(samples)),
    }
    made.visits[:] = [replace(visit, **fields) for visit in made.visits]
    here = material(made)
    for quantity, bound in {"spread": "9 % .. 11 %", "first": "4.9 .. 5.1", "cpu": "49 % .. 51 %"}.items():
        text = f'kind = "value"\nquantity = "{quantity}"\ncells = {{ ranks = 2 }}\nbound = "{bound}"'
        found = one(tmp_path, text, here)
        assert found.verdict == "confirmed", (quantity, found.here.numbers)
        assert found.here.numbers[0].launches == len(LAUNCHES)


def test_means_of_several_operations_do_not_scatter_as_single_ones(tmp_path: Path) -> None:
    made = result([cell()], lambda *_: 1000.0, batch=1000)
    text = 'kind = "value"\nquantity = "spread"\ncells = { ranks = 2 }\nbound = "< 1 %"'
    assert one(tmp_path, text, material(made)).here.gap == "unmeasured"


def test_a_collective_without_a_size_is_of_all_sizes(tmp_path: Path) -> None:
    cells = [collective("barrier", ranks=ranks) for ranks in (2, 4)]
    here = material(result(cells, lambda of, _: 1000.0 * of.ranks))
    text = (
        'kind = "ratio"\ncells = { bytes = "8" }\nover = { ranks = 4 }\nunder = { ranks = 2 }\nbound = "> 1"'
    )
    assert one(tmp_path, text, here).verdict == "confirmed"


# ---- By chance -----------------------------------------------------------------------------------


@pytest.mark.truth
def test_a_bound_that_is_the_truth_is_seldom_decided(tmp_path: Path) -> None:
    """The interval of 95 % misses it once in twenty times; of 200, 22 or more in one of 1000."""
    generator = np.random.default_rng(7)
    relation = claim(tmp_path, f'{RATIO}bound = "> 3"')
    cells = [cell(mode=mode) for mode in ("standard", "buffered")]
    decided = 0
    for _ in range(200):
        made = result(cells, lambda of, _: 1e5 * (3 if of.mode == "buffered" else 1) * noise(generator))
        decided += check_claim(relation, (), (material(made),)).here.verdict != "undecided"
    assert 0 < decided < 22


def noise(generator: np.random.Generator) -> float:
    return math.exp(0.05 * generator.standard_normal())
