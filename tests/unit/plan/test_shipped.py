"""Plans, claims and printed tables by name: what a name means, and that it means it everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.check.claim_file import read_claims
from mpigauge.errors import UsageError
from mpigauge.importers.csv import read_columns
from mpigauge.plan import shipped
from mpigauge.plan.plan_file import read_file
from tests.places import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with nothing in it."""
    monkeypatch.chdir(tmp_path)


def test_every_plan_of_the_examples_has_a_name() -> None:
    assert list(shipped.plans()) == sorted(path.stem for path in EXAMPLES.glob("*.toml"))
    assert shipped.plan_path("quick") == EXAMPLES / "quick.toml"


def test_a_plan_name_is_not_shadowed_by_a_file() -> None:
    Path("quick").write_text("title = 'a stranger'", encoding="utf-8")
    assert shipped.plan_path("quick") == EXAMPLES / "quick.toml"
    assert shipped.plan_path("./quick") == Path("quick")


@pytest.mark.parametrize("word", ["./quick", "quick.toml", "here/quick", "/nowhere/quick.toml"])
def test_a_slash_or_a_suffix_makes_a_path(word: str) -> None:
    assert shipped.plan_path(word) == Path(word)


def test_a_file_without_a_suffix_is_still_a_plan() -> None:
    Path("mine").touch()
    assert shipped.plan_path("mine") == Path("mine")


@pytest.mark.parametrize(("word", "near"), [("quik", "did you mean quick? "), ("zzzzzz", "")])
def test_an_unknown_name_is_reported_with_the_nearest(word: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        shipped.plan_path(word)
    assert word in caught.value.sentence
    assert caught.value.hint == f"{near}mpigauge list plans has their names"


def test_a_path_of_the_examples_leads_to_the_plan_name() -> None:
    with pytest.raises(UsageError) as caught:
        read_file(Path("examples/modes.toml"))
    assert "examples/modes.toml" in caught.value.sentence
    assert caught.value.hint.endswith("--plan modes")


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        (shipped.CLAIMS, "exchange-agh-2020", "exchange-agh-2020-claims.toml"),
        (shipped.PRINTED, "exchange-agh-2020", "exchange-agh-2020.toml"),
    ],
)
def test_claims_and_printed_tables_have_names_too(kind: shipped.ShippedKind, name: str, file: str) -> None:
    Path(name).touch()
    assert shipped.path_of(name, kind) == EXAMPLES / "published" / file
    assert shipped.path_of(f"./{name}", kind) == Path(name)


def test_every_file_beside_the_reports_is_of_one_kind() -> None:
    claims, printed = (set(shipped.files(kind).values()) for kind in (shipped.CLAIMS, shipped.PRINTED))
    assert not claims & printed
    assert claims | printed == set((EXAMPLES / "published").glob("*.toml"))
    assert all(shipped.printed_table(columns).is_file() for columns in printed)


def test_all_claims_are_a_folder_and_all_plans_are_not() -> None:
    assert shipped.path_of("all", shipped.CLAIMS) == EXAMPLES / "published"
    with pytest.raises(UsageError):
        shipped.path_of("all", shipped.PLANS)


@pytest.mark.parametrize(
    ("read", "path", "option"),
    [
        (read_claims, "examples/published/grid-claims.toml", "--claims grid"),
        (read_columns, "examples/published/ring-pairs.toml", "--columns ring-pairs"),
    ],
)
def test_a_path_that_pages_name_leads_to_the_name_in_a_wheel(
    read: Callable[[Path], object], path: str, option: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read(Path(path))
    assert caught.value.hint.endswith(option)


def test_a_package_without_examples_has_no_plans(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "site" / "mpigauge")
    shipped.folder.cache_clear()
    shipped.files.cache_clear()
    try:
        assert [shipped.files(kind) for kind in shipped.SHIPPED] == [{}, {}, {}]
        with pytest.raises(UsageError):
            shipped.path_of("all", shipped.CLAIMS)
    finally:
        shipped.folder.cache_clear()
        shipped.files.cache_clear()
