"""Units: what is printed can be read again, and what cannot be read is refused in words."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.units import (
    DASH,
    MISSING,
    RATE_CHOICES,
    RATE_UNITS,
    SIZE_UNITS,
    TIME_CHOICES,
    TIME_UNITS,
    counted,
    format_duration,
    format_factor,
    format_half_width,
    format_percent,
    format_rate,
    format_rate_in,
    format_relative,
    format_rough_size,
    format_size,
    format_time,
    format_time_in,
    interval,
    parse_duration,
    parse_fraction,
    parse_size,
    plural,
    rate_unit,
    span,
    time_unit,
    with_interval,
)

repeatable = settings(derandomize=True, deadline=None)
round_sizes = st.builds(int.__mul__, st.integers(0, 9999), st.sampled_from([*SIZE_UNITS.values()]))
sizes = st.one_of(st.integers(0, 2**50), round_sizes)
times = st.floats(min_value=1e-9, max_value=1e5)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8", 8),
        ("64B", 64),
        ("1kB", 1000),
        ("1KiB", 1024),
        ("4 MiB", 4 * 2**20),
        (" 2GiB ", 2**31),
        ("1.5KiB", 1536),
        ("0.001kB", 1),
        ("0", 0),
        ("1TB", 10**12),
    ],
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-8",
        "1.5",
        "0.3KiB",
        "1e3",
        "KiB",
        "1 2",
        "8 x",
        "0x10",
        "nan",
        "\N{ARABIC-INDIC DIGIT ONE}",
        "9" * 5000,
    ],
)
def test_rubbish_is_no_size(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_size(text)
    assert repr(text) in caught.value.sentence
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("4K", ("KiB", "kB")),
        ("4k", ("KiB", "kB")),
        ("4KB", ("KiB", "kB")),
        ("4kib", ("KiB", "kB")),
        ("4M", ("MiB", "MB")),
        ("4mb", ("MiB", "MB")),
        ("4G", ("GiB", "GB")),
    ],
)
def test_an_ambiguous_unit_is_asked_not_guessed(text: str, words: tuple[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_size(text)
    assert all(word in caught.value.hint for word in words)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1000, "1000 B"),
        (1001, "1001 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (1_024_000, "1000 KiB"),
        (2**20 + 1, "1048577 B"),
        (4 * 2**20, "4 MiB"),
        (12345 * 2**10, "12345 KiB"),
        (None, MISSING),
    ],
)
def test_a_size_is_written(size: int | None, text: str) -> None:
    assert format_size(size) == text


@repeatable
@given(sizes)
def test_a_written_size_is_read_as_the_same(size: int) -> None:
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60s", 60.0),
        ("500ms", 0.5),
        ("2min", 120.0),
        ("1h", 3600.0),
        ("90", 90.0),
        ("0.5 h", 1800.0),
        ("20us", 20e-6),
        ("20\N{MICRO SIGN}s", 20e-6),
        ("20\N{GREEK SMALL LETTER MU}s", 20e-6),
        ("7ns", 7e-9),
        ("1e-3s", 1e-3),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "0", "-1s", "2m", "s", "1e999", "inf", "nan", "1:30", "2 weeks"])
def test_rubbish_is_no_duration(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_duration(text)
    assert repr(text) in caught.value.sentence
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "fraction"), [("3%", 0.03), ("0.03", 0.03), ("0.5 %", 0.005), ("99.9%", 0.999)]
)
def test_a_fraction_is_read(text: str, fraction: float) -> None:
    assert parse_fraction(text) == pytest.approx(fraction)


@pytest.mark.parametrize("text", ["", "0", "0%", "1", "3", "100%", "-3%", "%", "3 percent", "nan"])
def test_rubbish_is_no_fraction(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_fraction(text)
    assert repr(text) in caught.value.sentence
    assert caught.value.hint


@repeatable
@given(st.text())
def test_no_text_makes_a_parser_crash(text: str) -> None:
    for parse in (parse_size, parse_duration, parse_fraction):
        # Any other exception fails the test.
        with contextlib.suppress(UsageError):
            assert parse(text) >= 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (487e-9, "487 ns"),
        (1.23e-6, "1.23 \N{MICRO SIGN}s"),
        (12.34e-3, "12.3 ms"),
        (999.7e-9, "1.00 \N{MICRO SIGN}s"),
        (9.996e-3, "10.0 ms"),
        (1234.4, "1234 s"),
        (0.0, "0 ns"),
        (-3e-6, "-3.00 \N{MICRO SIGN}s"),
        (None, MISSING),
        (math.nan, MISSING),
        (math.inf, MISSING),
    ],
)
def test_a_time_is_written(seconds: float | None, text: str) -> None:
    assert format_time(seconds) == text


@repeatable
@given(times)
def test_a_written_time_is_read_as_nearly_the_same(seconds: float) -> None:
    assert parse_duration(format_time(seconds)) == pytest.approx(seconds, rel=5.01e-3)


@repeatable
@given(times, st.sampled_from(TIME_CHOICES))
def test_a_time_is_written_in_the_unit_asked_for(seconds: float, unit: str) -> None:
    number, printed = format_time(seconds, unit).split(" ")
    assert unit in {"auto", printed} or (unit, printed) == ("us", "\N{MICRO SIGN}s")
    assert float(number) * TIME_UNITS[printed] == pytest.approx(seconds, rel=5.01e-3)


@repeatable
@given(st.lists(st.one_of(times, st.none(), st.just(math.nan), st.just(0.0))))
def test_a_column_has_one_unit_that_its_numbers_can_be_written_in(column: list[float | None]) -> None:
    unit = time_unit(column)
    for seconds in column:
        number = format_time_in(seconds, unit)
        assert (number == MISSING) == (seconds is None or math.isnan(seconds))


def test_a_columns_unit_is_that_of_its_middle() -> None:
    assert time_unit([300e-9, 500e-9]) == "ns"
    assert time_unit([487e-9, None, 12.3e-3]) == "\N{MICRO SIGN}s"
    assert [format_time_in(seconds, "us") for seconds in (487e-9, 12.3e-3)] == ["0.487", "12300"]
    assert rate_unit([1e6, 12e9]) == "MB/s"
    assert rate_unit([2e9, None]) == "GB/s"


@pytest.mark.parametrize(
    ("rate", "unit", "text"),
    [
        (12.34e9, "auto", "12.3 GB/s"),
        (8e4, "auto", "0.0800 MB/s"),
        (1e9, "Gbit/s", "8.00 Gbit/s"),
        (125e3, "Mbit/s", "1.00 Mbit/s"),
        (2.0**20, "MiB/s", "1.00 MiB/s"),
        (2.0**31, "GiB/s", "2.00 GiB/s"),
        (None, "auto", MISSING),
        (math.nan, "GB/s", MISSING),
    ],
)
def test_a_rate_is_written(rate: float | None, unit: str, text: str) -> None:
    assert format_rate(rate, unit) == text


def test_every_unit_offered_can_be_used() -> None:
    for unit in RATE_CHOICES:
        assert format_rate(1e9, unit) != MISSING
    for unit in TIME_CHOICES:
        assert format_time(1.0, unit) != MISSING
    assert set(RATE_CHOICES) - {"auto"} == set(RATE_UNITS)


def test_an_unknown_unit_is_refused_with_the_choice() -> None:
    with pytest.raises(UsageError) as caught:
        format_rate_in(1.0, "furlong/s")
    assert "GB/s" in caught.value.hint
    with pytest.raises(UsageError):
        format_time(1.0, "GB/s")


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.0123, "1.2 %"),
        (0.0999, "10 %"),
        (0.0994, "9.9 %"),
        (0.123, "12 %"),
        (1.5, "150 %"),
        (0.00042, "0.042 %"),
        (0.0, "0 %"),
        (9.99, "999 %"),
        (None, MISSING),
        (math.nan, MISSING),
        (math.inf, MISSING),
    ],
)
def test_a_fraction_is_written(fraction: float | None, text: str) -> None:
    assert format_percent(fraction) == text
    if fraction is None or not 1 <= fraction < math.inf:
        assert format_half_width(fraction) == text
        assert format_relative(fraction) == (text if text == MISSING else f"±{text}")


@pytest.mark.parametrize(
    ("fraction", "share", "either_way"),
    [
        (9.995, "× 10", "×/÷ 11"),
        (1.5, "150 %", "×/÷ 2.5"),
        (89.57, "× 90", "×/÷ 91"),
        (998.7, "× 999", "×/÷ 1000"),
        (19041.3, "× 19041", "> ×/÷ 1000"),
        (1588425.7, "× 1.6e+06", "> ×/÷ 1000"),
    ],
)
def test_many_times_one_is_a_factor(fraction: float, share: str, either_way: str) -> None:
    """A share of 8957 % is 90 times; an interval that ends 8957 % above its estimate ends at 91 times it."""
    assert format_percent(fraction) == share
    assert format_half_width(fraction) == format_relative(fraction) == either_way


@given(st.floats(0, 1e12))
def test_no_percentage_has_more_than_three_digits(fraction: float) -> None:
    text = format_percent(fraction)
    if text.endswith("%"):
        assert float(text.removesuffix("%")) < 1000
    else:
        assert math.isclose(float(text.removeprefix("×")), fraction, rel_tol=0.06)


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1.00"), (0.0312, "0.0312"), (99.96, "100"), (152.4, "152"), (12.0, "12.0")]
)
def test_a_factor_is_written(value: float, text: str) -> None:
    assert format_factor(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.42, "0.4 s"),
        (43.0, "43 s"),
        (119.0, "119 s"),
        (120.0, "2 min"),
        (5400.0, "90 min"),
        (9000.0, "2.5 h"),
        (86_400.0 * 3, "3 days"),
        (86_400.0 * 30.4, "30 days"),
    ],
)
def test_how_long_something_went_on_is_told_in_the_unit_that_fits(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 more rows"), (1, "1 more row"), (2, "2 more rows")])
def test_one_of_something_is_no_plural(count: int, text: str) -> None:
    assert counted(count, "more row") == text


@pytest.mark.parametrize(
    ("noun", "nouns"),
    [
        ("host", "hosts"),
        ("launch", "launches"),
        ("process", "processes"),
        ("library", "libraries"),
        ("relay", "relays"),
    ],
)
def test_endings_of_several(noun: str, nouns: str) -> None:
    assert plural(noun) == nouns


def test_an_interval_is_both_of_its_ends_or_nothing() -> None:
    assert interval(1.2, 1.38, format_factor) == "1.20 \N{EN DASH} 1.38"
    assert interval(None, 1.38, format_factor) == interval(1.2, None, format_factor) == ""
    assert with_interval("1.28", 1.2, 1.38, format_factor) == "1.28 (1.20 \N{EN DASH} 1.38)"
    assert with_interval("1.28", None, None, format_factor) == "1.28"


@pytest.mark.parametrize(
    ("first", "last", "dash", "text"),
    [
        ("8 B", "1 KiB", " to ", "8 B to 1 KiB"),
        ("8 B", "8 B", " to ", "8 B"),
        ("3", "7", DASH, "3\N{EN DASH}7"),
    ],
)
def test_a_span_of_one_is_one_word(first: str, last: str, dash: str, text: str) -> None:
    assert span(first, last, dash) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (2**20 - 1, "1020 KiB"),
        (2**20, "1 MiB"),
        (33_498_824_704, "31.2 GiB"),
        (2**40, "1 TiB"),
    ],
)
def test_a_rough_size_has_three_digits(size: int, text: str) -> None:
    assert format_rough_size(size) == text
