"""Sentences of what is expected: what they mean, and what is refused with the word that is not understood."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.check.expectation_file import parse, read_expectations
from mpigauge.errors import UsageError
from mpigauge.vocabulary import STATS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "sizes", "words", "below", "bound"),
    [
        ("pingpong 8B latency < 2us", "8B", (), True, 2e-6),
        ("pingpong 8 B latency<=2 us", "8 B", (), True, 2e-6),
        ("pingpong 8B latency \N{LESS-THAN OR EQUAL TO} 2us", "8B", (), True, 2e-6),
        ("pingpong 4MiB openmpi shm bandwidth > 10GB/s", "4MiB", ("openmpi", "shm"), False, 1e10),
        ("pingpong 1MiB:4MiB bandwidth > 90% of 100Gbit/s", "1MiB:4MiB", (), False, 11.25e9),
        ("pingpong 8,1KiB bandwidth >= 100mbit", "8,1KiB", (), False, 12.5e6),
        ("barrier 4 ranks time < 10ms", "", ("4 ranks",), True, 1e-2),
        ("allreduce blocking 8 busbw > 1 MiB/s", "8", ("blocking",), False, 2**20),
    ],
)
def test_what_sentences_mean(
    text: str, sizes: str, words: tuple[str, ...], below: bool, bound: float
) -> None:
    found = parse(text)
    assert found.pattern == text.split(" ", maxsplit=1)[0]
    assert (found.sizes, found.words, found.below) == (sizes, words, below)
    assert found.bound == pytest.approx(bound)
    assert (found.stat, found.name) == ("median", text)


@given(stat=st.sampled_from(STATS), size=st.integers(0, 2**40), bound_us=st.integers(1, 10**9))
def test_every_statistic_size_and_bound_is_read_back(stat: str, size: int, bound_us: int) -> None:
    found = parse(f"pingpong {size} {stat} latency < {bound_us}us")
    assert (found.stat, found.sizes) == (stat, str(size))
    assert found.bound == pytest.approx(bound_us * 1e-6)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    with suppress(UsageError):
        assert parse(text).bound > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not an expectation"),
        ("pingpong 8B latency", "is not an expectation"),
        ("pingpong 8B latency < 2us < 3us", "is not an expectation"),
        ("pingpong 8B latency time < 2us", "several: time, latency"),
        ("pingpong 8B p99 p95 latency < 2us", "must name one statistic"),
        ("8B bandwidth > 2GB/s", "does not begin with the name of a pattern"),
        ("pingpnog 8B latency < 2us", "does not begin with the name of a pattern"),
        ("pingpong 8B latency < 2GB/s", "is not a span of time"),
        ("pingpong 8B bandwidth > 2us", "is not a rate"),
        ("pingpong 8B bandwidth > 120% of 1GB/s", "must lie between 0 and 100 %"),
    ],
)
def test_what_is_not_understood_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert said in refused.value.sentence
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("pingpong 8 B < 1us", "latency"),
        ("stream unidirectional 1 MiB > 1GB/s", "bandwidth"),
        ("pingpong 1MiB > 80% of 10Gbit/s", "bandwidth"),
        ("allreduce 8B < 2us", "time"),
    ],
)
def test_a_quantity_that_is_not_named_is_what_the_bound_is_of(text: str, quantity: str) -> None:
    assert parse(text).quantity == quantity


def test_a_mistyped_pattern_is_guessed() -> None:
    with pytest.raises(UsageError) as refused:
        parse("pingpnog 8B latency < 2us")
    assert "did you mean pingpong?" in refused.value.hint


def test_a_file_names_its_sentences(tmp_path: Path) -> None:
    path = tmp_path / "expect.toml"
    path.write_text(
        '[expect]\nsmall = "pingpong 8B latency < 2us"\n"large ones" = "stream 1MiB bandwidth > 1GB/s"\n'
    )
    assert [(one.name, one.pattern) for one in read_expectations(path)] == [
        ("small", "pingpong"),
        ("large ones", "stream"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must have the table [expect]"),
        ("[expect]\n", "must have the table [expect]"),
        ("[other]\na = 1\n", "must have the table [expect]"),
        ('[expect]\na = "pingpong 8B latency < 2us"\n[other]\n', "and nothing else"),
        ("[expect]\na = 1\n", "expect.a is not a text"),
        ('[expect]\na = "pingpong"\n', "expect.a: 'pingpong' is not an expectation"),
        ("[expect\n", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "expect.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_expectations(path)
    assert str(path) in refused.value.sentence
    assert said in refused.value.sentence


@pytest.mark.parametrize(
    ("text", "sizes"), [("latency < 2us", "8B"), ("8B latency < 2us", "8B"), ("1KiB latency < 2us", "1KiB")]
)
def test_a_latency_without_a_pattern_is_that_of_pingpong(text: str, sizes: str) -> None:
    found = parse(text)
    assert (found.pattern, found.words, found.sizes, found.quantity) == ("pingpong", (), sizes, "latency")
