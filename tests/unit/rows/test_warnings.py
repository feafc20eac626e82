"""Warnings: each is given when its trouble is there, names its numbers, and depends on what was tried."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mpigauge.find.warning_sentences import WORDS, sentence, words_of
from mpigauge.rows.estimate import Estimate
from mpigauge.rows.machine.crowding import Crowd
from mpigauge.rows.machine.serial_correlation import InTime
from mpigauge.rows.warnings import _CHECKS, WARNING_KINDS, Circumstances, warnings_for
from tests.unit.rows.planted import estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

QUIET = Estimate(
    estimate=1e-6,
    low=0.98e-6,
    high=1.02e-6,
    rank_low=0.975e-6,
    rank_high=1.025e-6,
    launches_half_width=0.02,
    machine_half_width=0.0,
    launches=10,
    samples=20_000,
    mean=1.1e-6,
    stddev=0.3e-6,
    min=0.9e-6,
    p5=0.91e-6,
    p25=0.95e-6,
    median=1e-6,
    p75=1.1e-6,
    p95=1.3e-6,
    p99=1.9e-6,
    max=9e-6,
    launch_share=0.9,
    launch_variance=4e-4,
    round_variance=0.01,
    kinds=None,
    visit_share=0.05,
    round_share=0.05,
    by_launch=dict.fromkeys(range(1, 11), 1e-6),
)
ONE_LAUNCH = replace(
    QUIET,
    launches=1,
    low=None,
    high=None,
    launches_half_width=None,
    rank_low=None,
    rank_high=None,
)


def numbered(times_s: Sequence[float]) -> dict[int, float]:
    return dict(enumerate(times_s, start=1))


def texts(found: Estimate, *, ranks: int = 2, cores: int | None = 2, **others: Any) -> dict[str, str]:
    """The sentences of a cell's warnings, by kind."""
    given = warnings_for(Circumstances(estimate=found, ranks=ranks, cores=cores, **others))
    return {warning.kind: sentence(warning) for warning in given}


def share_of_time(argument: str, share: float) -> dict[str, Any]:
    """So much of the time of QUIET."""
    return {argument: share * QUIET.estimate}


def test_every_kind_has_its_check_and_its_words_in_order() -> None:
    assert tuple(_CHECKS) == tuple(WORDS) == WARNING_KINDS
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", kind) for kind in WARNING_KINDS)


@pytest.mark.parametrize("stat", ["median", "mean", "min", "p25", "p95"])
def test_all_is_well(stat: str) -> None:
    assert texts(QUIET, launches_requested=10, precision=0.03, stat=stat) == {}


def test_a_quiet_measurement_is_quiet() -> None:
    generator = np.random.default_rng(1)
    effects = np.exp(generator.normal(0, 0.005, 10))
    launches = [
        list(1e-6 * effect * np.exp(0.05 * generator.standard_normal((4, 250)))) for effect in effects
    ]
    assert texts(estimate(launches), launches_requested=10, precision=0.03) == {}


def test_one_launch_has_no_interval() -> None:
    assert "--launches 6" in texts(ONE_LAUNCH)["no-interval"]
    assert "1 launch" in texts(ONE_LAUNCH, launches_requested=1)["no-interval"]
    assert "only 1 of 5 launches" in texts(ONE_LAUNCH, launches_requested=5)["no-interval"]
    assert set(texts(ONE_LAUNCH, launches_requested=5, precision=0.01)) == {"no-interval"}


def test_a_clock_that_stands_still_has_no_interval() -> None:
    found = texts(replace(QUIET, low=None, high=None, launches_half_width=None), batch=4)
    assert "0 s" in found["no-interval"]
    assert "more than 4 operations" in found["no-interval"]


def test_few_launches_are_named() -> None:
    few = replace(QUIET, launches=3, rank_low=None, rank_high=None)
    assert set(texts(few)) == {"few-launches"}
    assert set(texts(replace(few, launches=5))) == {"few-launches"}
    assert "--launches 6" in texts(few, launches_requested=3)["few-launches"]
    assert "10 were started" in texts(few, launches_requested=10)["few-launches"]
    # Of the launches made some were in another state: as many again would be no more.
    for made in (6, 9):
        said = texts(few, launches_requested=few.launches, launches_made=made)["few-launches"]
        assert f"more than the {made} that were made (--launches {2 * made})" in said
        assert "--launches 6 " not in said


@pytest.mark.parametrize(("launches", "precise"), [(2, False), (5, False), (6, True)])
def test_narrow_intervals_of_few_launches_are_not_counted_as_precise(launches: int, precise: bool) -> None:
    assert replace(QUIET, launches=launches).is_precise(0.021) is precise
    assert not replace(QUIET, launches=launches).is_precise(0.02)


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("no-interval", ONE_LAUNCH),
        ("few-launches", replace(QUIET, launches=3, rank_low=None, rank_high=None)),
        ("launches-lost", replace(QUIET, launches=6)),
    ],
)
def test_what_the_budget_cut_short_did_not_fail(kind: str, found: Estimate) -> None:
    lost = 10 - found.launches
    by_skipped = {
        skipped: texts(found, launches_requested=10, launches_skipped=skipped)[kind]
        for skipped in (0, 1, lost)
    }
    assert "find out why the others failed" in by_skipped[0]
    assert "budget" not in by_skipped[0]
    assert f"in 1 the budget ran out before this cell; find out why {lost - 1} failed" in by_skipped[1]
    assert "raise --budget" in by_skipped[lost]
    assert "fail" not in by_skipped[lost]


def test_lost_launches_are_counted() -> None:
    assert "2 of 12" in texts(QUIET, launches_requested=12)["launches-lost"]


def test_a_tail_statistic_needs_rounds() -> None:
    found = texts(replace(QUIET, samples=1000), stat="p99")
    assert "about 100 rounds" in found["few-samples"]
    assert "few-samples" not in texts(replace(QUIET, samples=1000), stat="max")


def test_two_kinds_of_launches_show_both_centres_and_how_many_are_of_each() -> None:
    medians = (1.3e-6, 1e-6) * 4 + (1.3e-6,) * 2
    found = texts(replace(QUIET, by_launch=numbered(medians), kinds=(1e-6, 1.3e-6)))
    assert set(found) == {"two-kinds-of-launches"}
    assert "4 around 1.00 \N{MICRO SIGN}s" in found["two-kinds-of-launches"]
    assert "6 around 1.30 \N{MICRO SIGN}s" in found["two-kinds-of-launches"]


def test_kinds_that_follow_each_other_are_phases_of_the_machine() -> None:
    medians = (1e-6,) * 3 + (1.3e-6,) * 6 + (1e-6,)
    found = texts(replace(QUIET, by_launch=numbered(medians), kinds=(1e-6, 1.3e-6)))
    assert set(found) == {"phases"}
    assert "4 around 1.00 \N{MICRO SIGN}s" in found["phases"]
    assert "in 3 runs" in found["phases"]


def test_an_odd_launch_is_named_with_its_factor() -> None:
    medians = (1e-6,) * 6 + (1.8e-6,) + (1e-6,) * 3
    found = texts(replace(QUIET, by_launch=numbered(medians), outliers=(7,)))
    assert set(found) == {"outlier-launches"}
    assert "launch 7 took 1.80 times as long" in found["outlier-launches"]


def test_a_step_of_the_clock_counts_where_it_hides_half_of_the_precision() -> None:
    assert texts(replace(QUIET, step=0.014), precision=0.03) == {}
    found = texts(replace(QUIET, step=0.016), precision=0.03)
    assert set(found) == {"clock-step"}
    assert "steps of 16.0 ns, 1.6 % of the time" in found["clock-step"]
    assert "larger sizes" in found["clock-step"]
    # Of a sample of four operations, the clock's own step is four times as long.
    assert "steps of 64.0 ns" in texts(replace(QUIET, step=0.016), batch=4)["clock-step"]
    assert "--mode blocks" in texts(replace(QUIET, step=0.016), in_a_row="blocks")["clock-step"]
    assert "--mode" not in found["clock-step"]


def test_what_neighbouring_launches_share_is_told_with_the_factor() -> None:
    found = texts(QUIET, in_time=InTime(1.62, 0.002), span_s=43.0)
    assert set(found) == {"launches-in-time"}
    assert "1.62 times" in found["launches-in-time"]
    assert "43 s" in found["launches-in-time"]
    assert "--over" in found["launches-in-time"]


def test_launches_drift_only_if_most_of_them_do() -> None:
    assert texts(replace(QUIET, drifts=(0.06, 0.05, 0.07, 0.06, 0.055, 0.06))).keys() == {"drift"}
    assert "6.1 % longer" in texts(replace(QUIET, drifts=(0.06, 0.05, 0.07, 0.06, 0.055, 0.06)))["drift"]
    assert texts(replace(QUIET, drifts=(0.5, 0.0, -0.01, 0.01, 0.0, 0.0))) == {}
    assert texts(replace(QUIET, drifts=(0.006,) * 6)) == {}
    assert texts(replace(QUIET, drifts=(0.06, 0.05, 0.07))) == {}


def ends(half_width: float) -> dict[str, Any]:
    """The ends of an interval of this half-width."""
    return {"low": QUIET.estimate / (1 + half_width), "high": QUIET.estimate * (1 + half_width)}


def test_an_interval_whose_launches_agree_does_not_ask_for_more_of_them() -> None:
    """The machine's part stays however many there are."""
    for machine, remedy in ((0.06, "only another state of the machine"), (0.01, "raise --precision")):
        both = math.expm1(math.hypot(math.log(1.02), math.log1p(machine)))
        wide = replace(QUIET, **ends(both), machine_half_width=machine)
        found = texts(wide, precision=0.021)["wide"]
        assert remedy in found
        assert "--launches" not in found
        assert texts(wide, precision=both + 0.001) == {}
    mixed = replace(QUIET, **ends(0.065), machine_half_width=0.06)
    assert "the launches' part of it takes about" in texts(mixed, precision=0.01)["wide"]


def test_a_wide_interval_says_what_would_make_it_narrow() -> None:
    assert "--launches 40" not in texts(QUIET, precision=0.01)["wide"]
    assert "about 40 launches" in texts(QUIET, precision=0.01)["wide"]
    assert "--launches 18" in texts(QUIET, precision=0.015)["wide"]
    for share, remedy in (("round_share", "--budget"), ("visit_share", "visits")):
        shares = {"launch_share": 0.1, "visit_share": 0.1, "round_share": 0.1, share: 0.8}
        noisy = texts(replace(QUIET, **shares), precision=0.01)["wide"]  # type: ignore[arg-type]
        assert "80 %" in noisy
        assert remedy in noisy
        assert "±2.0 %" in noisy
        assert "±1.0 %" in noisy


def test_more_ranks_than_cores_are_flagged() -> None:
    assert "4 ranks share 2 cores" in texts(QUIET, ranks=4)["oversubscribed"]
    assert texts(QUIET, ranks=4, cores=None) == {}


@pytest.mark.parametrize(
    ("limit", "said", "remedy"),
    [
        ("mpirun", "1 of 2 cores allowed (affinity, by mpirun)", "mpirun --bind-to none"),
        ("srun", "1 of 2 cores allowed (affinity, by srun)", "srun --cpu-bind=none"),
        ("affinity", "1 of 2 cores allowed (affinity)", "taskset"),
        ("cgroup", "1 of 2 cores allowed (cpuset of the cgroup)", "--cpuset-cpus"),
        ("quota", "1 of 2 cores allowed (CPU limit of the cgroup)", "docker run --cpus"),
        ("", "1 of 2 cores allowed", "let it run on more"),
    ],
)
def test_cores_that_are_not_allowed_are_told_with_what_gives_them(limit: str, said: str, remedy: str) -> None:
    found = texts(QUIET, cores=1, cores_online=2, cores_limit=limit, fewest=True)["oversubscribed"]
    assert said in found
    assert remedy in found


def test_fewer_ranks_than_a_pattern_takes_are_not_advised() -> None:
    """A ping-pong has two."""
    crowd = Crowd("processor", "n1", (0, 1), (2, 3), bound=False)
    late = {"late_share": 0.2, **share_of_time("skew_s", 0.1)}
    for fewest in (False, True):
        for more in ({"cores": 1, "cores_online": 1}, {"cores": 4, "crowd": crowd}, late):
            found = texts(QUIET, fewest=fewest, **more)
            assert found
            assert all(("fewer ranks" in one) is not fewest for one in found.values()), found


def test_a_long_tail_points_to_another_statistic() -> None:
    tail = replace(QUIET, p99=3.5e-6)
    assert "3.5 times" in texts(tail)["tail"]
    assert "--stat p99" in texts(tail)["tail"]
    assert "--stat p99" not in texts(tail, stat="p99")["tail"]
    assert texts(replace(QUIET, p99=None)) == {}


def test_means_of_batches_are_labelled() -> None:
    assert "mean of 16 operations" in texts(QUIET, batch=16, stat="p99")["batched"]
    assert "batched" not in texts(QUIET, batch=16)


@pytest.mark.parametrize(
    ("kind", "argument", "most", "numbers"),
    [
        ("skewed", "skew_s", 0.05, "60.0 ns, 6.0 %"),
        ("clock-error", "clock_error_s", 0.1, "110 ns, 11 %"),
        ("clock-share", "clock_cost_s", 0.05, "60.0 ns, 6.0 %"),
    ],
)
def test_what_disturbs_a_start_is_told_where_it_is_a_share_of_the_time(
    kind: str, argument: str, most: float, numbers: str
) -> None:
    assert texts(QUIET, **share_of_time(argument, 0.99 * most)) == {}
    found = texts(QUIET, **share_of_time(argument, most + 0.01))
    assert set(found) == {kind}
    assert all(number in found[kind] for number in numbers.split(", "))


def test_late_rounds_are_told_above_one_in_twenty() -> None:
    assert texts(QUIET, late_share=0.04) == {}
    found = texts(QUIET, late_share=0.2)
    assert set(found) == {"late-starts"}
    assert "20 % of the rounds" in found["late-starts"]
    assert "do not count" in found["late-starts"]
    # If all are late, they do count.
    all_late = texts(QUIET, late_share=1.0)["late-starts"]
    assert "100 % of the rounds" in all_late
    assert "do not count" not in all_late


def test_a_relay_that_is_late_is_felt_by_short_operations() -> None:
    late = texts(QUIET, relay_late_share=0.5)
    assert set(late) == {"relay-late"}
    assert "50 % of the packets" in late["relay-late"]
    assert "do not use such numbers;" in late["relay-late"]
    assert "do not use p95 and p99 of such numbers;" in texts(QUIET, relay_late_share=0.2)["relay-late"]
    far = texts(QUIET, relay_late_share=0.5, relay_planted_s=5e-3)["relay-late"]
    assert "50.0 µs or more too much in such numbers;" in far
    assert texts(QUIET, relay_late_share=0.01) == {}
    assert "relay-late" not in texts(replace(QUIET, estimate=1.0), relay_late_share=0.5)


@pytest.mark.parametrize(
    ("found", "others", "expected"),
    [
        (replace(QUIET, launches=4), {}, "intervals are rough: --launches 6"),
        (
            replace(QUIET, launches=8),
            {"launches_requested": 10, "launches_skipped": 2},
            "intervals are wider: raise --budget",
        ),
        (QUIET, {"in_time": InTime(2.0, 0.002), "span_s": 43.0}, "intervals are wider: --over 1h"),
    ],
)
def test_what_follows_for_intervals_cannot_be_read_as_a_wish(
    found: Estimate, others: dict[str, Any], expected: str
) -> None:
    """As `wider intervals: raise --budget` was."""
    given = warnings_for(Circumstances(estimate=found, ranks=2, cores=2, **others))
    assert [f"{words.so}: {words.do}" for words in map(words_of, given)] == [expected]


def test_every_text_is_one_line_with_a_number() -> None:
    worst = replace(
        QUIET,
        kinds=(1e-6, 2e-6),
        outliers=(3,),
        drifts=(0.3, 0.31, 0.3, 0.32),
        step=0.1,
        p99=9e-6,
        samples=100,
    )
    badly: dict[str, Any] = {
        "clock_cost_s": 1e-6,
        "skew_s": 1e-6,
        "late_share": 0.5,
        "clock_error_s": 1e-6,
        "relay_late_share": 0.5,
        "in_time": InTime(2.0, 0.002),
        "span_s": 43.0,
        "differs": "host",
    }
    found = texts(worst, ranks=9, launches_requested=11, precision=0.001, batch=2, stat="p95", **badly)
    found |= texts(ONE_LAUNCH) | texts(replace(QUIET, launches=2))
    found |= texts(replace(QUIET, by_launch=numbered((2e-6, 1e-6) * 5), kinds=(1e-6, 2e-6)))
    for lacks in ("processor", "core"):
        crowd = Crowd(lacks, "n1", (0, 1), (3,), bound=True)
        found |= texts(QUIET, crowd=crowd)
        assert not texts(QUIET, ranks=9, crowd=crowd).keys() & {"shared-core", "hardware-threads"}
    assert set(found) == set(WARNING_KINDS)
    assert all(re.search(r"\d", text) and "\n" not in text for text in found.values())
