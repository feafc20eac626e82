"""Plans that are had by their names: what a name means, and that it means it everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.errors import UsageError
from mpigauge.plan import shipped
from mpigauge.plan.plan_file import read_file
from tests.places import EXAMPLES


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


def test_a_package_without_examples_has_no_plans(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", tmp_path / "site" / "mpigauge")
    shipped.folder.cache_clear()
    shipped.plans.cache_clear()
    try:
        assert shipped.plans() == {}
    finally:
        shipped.folder.cache_clear()
        shipped.plans.cache_clear()
