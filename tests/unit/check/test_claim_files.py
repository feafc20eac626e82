"""Files of claims: what they mean, and what is refused with the file, the claim and the key."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.check.claim_file import Bound, Claim, number, parse_bound, read_claims
from mpigauge.errors import UsageError
from mpigauge.units import parse_size
from tests.claimed import REPORT, claim

TWO = 'over = { mode = "buffered" }\nunder = { mode = "standard" }\n'
TWIN = '[[claim]]\nname = "a"\nsays = "b"\nuntestable = "c"\n'
RATIO = f'kind = "ratio"\n{TWO}'


def test_a_claim_says_which_cells_what_and_a_bound(tmp_path: Path) -> None:
    text = f'{RATIO}cells = {{ pattern = "pingpong", bytes = "1:1KiB" }}\nbound = "> 2"\nquantifier = "most"'
    found = claim(tmp_path, text)
    assert (found.kind, found.quantity, found.quantifier, found.planted) == ("ratio", "time", "most", False)
    assert found.bound == Bound(2, math.inf, inclusive=False, text="> 2")
    for sides in (found.printed, found.here):
        assert sides.cells == {"pattern": "pingpong", "bytes": "1:1KiB"}
        assert (sides.over, sides.under) == ({"mode": "buffered"}, {"mode": "standard"})


def test_what_is_called_otherwise_here_is_translated_and_may_be_chosen_anew(tmp_path: Path) -> None:
    words = REPORT + '[here.placement]\n"two hosts" = "h1,h3"\n\n'
    found = claim(
        tmp_path,
        'kind = "value"\ncells = { placement = "two hosts", bytes = 8 }\nbound = "< 1us"\n'
        'here.cells = { bytes = "16" }\nprinted.cells = { file = "one" }',
        words,
    )
    assert found.printed.cells == {"placement": "two hosts", "bytes": 8, "file": "one"}
    assert found.here.cells == {"placement": "h1,h3", "bytes": "16"}


def test_a_report_has_tables_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a-claims.toml").write_text(
        f'[report]\nname = "a"\nprinted = ["one"]\n[[claim]]\nname = "it"\nsays = "So."\n{RATIO}bound = "> 1"'
    )
    tables = read_claims(tmp_path / "a-claims.toml").tables
    assert tables == [(tmp_path / "one.csv", tmp_path / "one.toml")]


@pytest.mark.parametrize(
    ("keys", "text", "value"),
    [
        (RATIO, "> 10", 10),
        (RATIO, "> 80 %", 0.8),
        ('kind = "value"', "> 2us", 2e-6),
        ('kind = "value"\nquantity = "bandwidth"', "> 1GB/s", 1e9),
        ('kind = "value"\nquantity = "spread"', "> 20 %", 0.2),
        ('kind = "value"\nquantity = "first"', "> 1.5", 1.5),
        (f'kind = "difference"\n{TWO}', "> 0", 0.0),
        (f'kind = "difference"\n{TWO}', "> 1us", 1e-6),
        (f'kind = "from"\nlimit = "< 2"\n{TWO}', "> 4KiB", 4096),
        ('kind = "peak"\nquantity = "size"', "> 4KiB", 4096),
        ('kind = "peak"\nquantity = "bandwidth"', "> 1Gbit/s", 1.25e8),
        (f'kind = "peak"\nquantity = "bandwidth"\n{TWO}', "> 1.25", 1.25),
        ('kind = "limit"', "> 4KiB", 4096),
    ],
)
def test_a_bound_has_the_unit_of_what_it_bounds(tmp_path: Path, keys: str, text: str, value: float) -> None:
    found = claim(tmp_path, f'{keys}\ncells = {{ ranks = 2 }}\nbound = "{text}"')
    assert found.bound is not None
    assert found.bound.low == pytest.approx(value)


def test_what_grows_needs_no_bound(tmp_path: Path) -> None:
    found = claim(tmp_path, 'kind = "grows"\nalong = "ranks"\ncells = { ranks = [2, 4] }')
    assert found.bound == Bound(1, math.inf, inclusive=False, text="> 1")


def test_what_cannot_be_tested_needs_nothing_else(tmp_path: Path) -> None:
    assert claim(tmp_path, 'untestable = "one machine"').kind is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{RATIO}bound = "> 1"\nboung = "> 1"', "unknown field `boung`"),
        (f'{RATIO}bound = "> 1"\n[claim.here]\nplace = {{}}', "unknown field `place`"),
        ('kind = "ration"\nbound = "> 1"', "Invalid enum value 'ration'"),
        (f'{RATIO}bound = "> 1"\nquantifier = "some"', "Invalid enum value 'some'"),
        ('bound = "> 1"', "neither kind nor untestable"),
        ('kind = "value"\nbound = "> 1us"', "no cells are chosen"),
        ('kind = "ratio"\ncells = { ranks = 2 }\nbound = "> 1"', "needs over and under"),
        ('kind = "ratio"\nover = { ranks = 2 }\nbound = "> 1"', "needs over and under"),
        (f'{RATIO}bound = "> 1"\n[claim.printed]\nover = {{ rank = 4 }}', "cells have no 'rank'"),
        (f'kind = "value"\n{TWO}bound = "> 1us"', "does not have over and under"),
        (f"{RATIO}", "needs bound"),
        ('kind = "grows"\ncells = { ranks = 2 }', "needs along"),
        (f'{RATIO}along = "bytes"\nbound = "> 1"', "does not have along"),
        (f'kind = "from"\n{TWO}bound = "> 1KiB"', "needs limit"),
        (f'{RATIO}limit = "> 1"\nbound = "> 1"', "does not have limit"),
        (f'{RATIO}quantity = "size"\nbound = "> 1"', "cannot be of the quantity size"),
        (f'kind = "difference"\nquantity = "cpu"\n{TWO}bound = "> 1us"', "cannot be of the quantity cpu"),
        (f'{RATIO}bound = "2"', "bound '2' is not a bound"),
        (f'{RATIO}bound = "3 .. 2"', "is not a bound"),
        (f'{RATIO}bound = "> many"', "bound: 'many' is not a number"),
        (f'{RATIO}bound = "> 1us"', "'1us' is not a number"),
        (
            'kind = "value"\ncells = { bytes = "8X" }\nbound = "> 1us"',
            "cells: bytes: sizes '8X': '8X': no unit of size is called 'X'",
        ),
        ('kind = "value"\ncells = { bytes = ["8"] }\nbound = "> 1us"', "bytes is one text"),
        (
            'kind = "value"\ncells = { pattern = "pingpnog" }\nbound = "> 1us"',
            "no pattern is called 'pingpnog'",
        ),
    ],
)
def test_what_is_not_understood_is_named_with_its_file_and_claim(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        claim(tmp_path, text)
    assert said in refused.value.sentence
    assert f"{tmp_path / 'a-claims.toml'}: claim it: " in refused.value.sentence
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must have [report], [[claim]]"),
        ('[report]\nname = "a"', "must have [report], [[claim]]"),
        ('[[claim]]\nname = "a"\nsays = "a"\nuntestable = "so"', "[report]"),
        (f'{REPORT}[[claim]]\nsays = "a"', "claim 1: Object missing required field `name`"),
        (f'{REPORT}[more]\n[[claim]]\nname = "a"\nsays = "a"', "nothing else"),
        (f'{REPORT}[here.place]\n"a" = "b"\n[[claim]]\nname = "a"\nsays = "a"', "cells have no 'place'"),
        (f'{REPORT}[here]\nplacement = 3\n[[claim]]\nname = "a"\nsays = "a"', "[here]"),
        (REPORT + 2 * TWIN, "two claims are called 'a'"),
    ],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a-claims.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(said)) as refused:
        read_claims(path)
    assert refused.value.sentence.startswith(str(path))


# ---- Bounds --------------------------------------------------------------------------------------


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_bounds_are_read_back(one: float, other: float) -> None:
    low, high = sorted((one, other))
    found = parse_bound("bound", f"{low!r} .. {high!r}", number)
    assert (found.low, found.high, found.inclusive) == (low, high, True)
    ends = {">": (low, math.inf), "<": (-math.inf, low), "\N{LESS-THAN OR EQUAL TO}": (-math.inf, low)}
    for sign, (left, right) in ends.items():
        half = parse_bound("bound", f"{sign} {low!r}", number)
        assert (half.low, half.high, half.inclusive) == (left, right, len(sign.encode()) > 1)


@given(st.integers(0, 2**40))
def test_sizes_are_exact(size: int) -> None:
    assert parse_bound("bound", f">= {size}", parse_size).low == size


@given(st.text(max_size=30))
def test_any_bound_is_read_or_refused_in_words(text: str) -> None:
    with suppress(UsageError):
        found = parse_bound("bound", text, number)
        assert found.low <= found.high


@given(
    st.floats(-10, 10),
    st.floats(-10, 10),
    st.floats(-10, 10),
    st.floats(-10, 10),
    st.booleans(),
)
def test_no_interval_is_allowed_and_excluded(a: float, b: float, c: float, d: float, inclusive: bool) -> None:
    (low, high), (left, right) = sorted((a, b)), sorted((c, d))
    bound = Bound(low, high, inclusive, "")
    assert not (bound.excludes(left, right) and (bound.allows(left) or bound.allows(right)))


TOML = st.recursive(
    st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.sampled_from(["", "ratio", "> 1", "8", "openmpi", "all"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["cells", "bytes", "mode"]), inner)
    ),
    max_leaves=4,
)
KEYS = st.sampled_from([*Claim.__dataclass_fields__, "over", "under", "cells", "odd"])


def toml(value: object) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


@given(st.dictionaries(KEYS, TOML, max_size=6))
def test_any_claim_is_read_or_refused_in_words(keys: dict[str, object]) -> None:
    with TemporaryDirectory() as folder, suppress(UsageError):
        text = "\n".join(f"{key} = {toml(value)}" for key, value in keys.items())
        found = claim(Path(folder), text if "name" in keys else f'name = "it"\nsays = "So."\n{text}')
        assert found.kind or found.untestable
