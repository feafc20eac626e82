"""Pages as PDF: which browser prints, what it is asked for, and what is said where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge import pdf
from mpigauge.errors import EnvironmentLacksError, UsageError
from tests.fakes.browser import install_browser

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no browser, and an empty folder where we are."""
    for name in ("bin", "work", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.mark.parametrize("name", ["chromium", "google-chrome"])
def test_any_of_the_browsers_prints_the_page_and_leaves_nothing(here: Path, name: str) -> None:
    install_browser(here / "bin", name=name)
    path = here / "work" / "a.pdf"
    pdf.write("<p>4 µs</p>\n", path)
    assert path.read_text(encoding="utf-8").startswith("%PDF\n<p>4 µs</p>\n")
    assert [*(here / "work").iterdir()] == [path]
    assert not [*(here / "tmp").iterdir()]


def test_a_file_that_is_there_stays_unless_it_is_told(here: Path) -> None:
    install_browser(here / "bin")
    path = here / "work" / "a.pdf"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError):
        pdf.write("<p>\n", path)
    assert path.read_text(encoding="utf-8") == "mine"
    pdf.write("<p>\n", path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("%PDF\n<p>\n")


@pytest.mark.parametrize(
    ("locale", "paper"),
    [
        ({}, "A4"),
        ({"LANG": "de_AT.UTF-8"}, "A4"),
        ({"LANG": "C.UTF-8"}, "A4"),
        ({"LANG": "en_US.UTF-8"}, "letter"),
        ({"LANG": "es_MX"}, "letter"),
        ({"LANG": "en_US.UTF-8", "LC_PAPER": "en_GB.UTF-8"}, "A4"),
        ({"LANG": "de_DE", "LC_ALL": "", "LC_PAPER": "en_CA@x"}, "letter"),
        ({"LANG": "en_US", "LC_PAPER": "en_US", "LC_ALL": "fr_FR"}, "A4"),
    ],
)
def test_the_paper_is_that_of_the_locale(
    here: Path, monkeypatch: pytest.MonkeyPatch, locale: dict[str, str], paper: str
) -> None:
    for name in pdf.LOCALE:
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    install_browser(here / "bin")
    path = here / "work" / "a.pdf"
    pdf.write("<p>\n", path)
    assert f"@page {{ size: {paper} }}" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("for said in 'dbus: no' 'no display' 'dbus'; do echo \"$said\" >&2; done\n", "PDF: no display"),
        ("exit 0\n", "printed no PDF"),
        ("while :; do :; done\n", "has not printed the page within"),
    ],
)
def test_a_browser_that_does_not_print_is_a_sentence_with_another_way(
    here: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    if "while" in text:
        monkeypatch.setattr(pdf, "MAX_PRINTING_S", 0.1)
    install_browser(here / "bin", text)
    with pytest.raises(EnvironmentLacksError) as caught:
        pdf.write("<p>", here / "work" / "a.pdf")
    assert said in caught.value.sentence
    assert "-o page.html" in caught.value.hint
    assert not [*(here / "work").iterdir()]


def test_without_a_browser_it_is_said_which_ones_can(here: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="Chromium or Chrome"):
        pdf.write("<p>", here / "work" / "a.pdf")
