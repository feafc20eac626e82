"""No table of a page is cut, and no page scrolls sideways: of all stored results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.result import reader
from mpigauge.show.report.render import render
from tests.reported import page
from tests.stored import stored_results

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser

WIDE, NARROW = 1200, 390

OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
CUT = """[...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.closest("section").id}: ${one.getAttribute("aria-label")}`)"""


@pytest.mark.parametrize("path", stored_results(), ids=lambda path: path.name.partition(".")[0])
def test_nothing_is_cut_on_a_desk_and_no_page_scrolls_sideways_on_a_telephone(
    browser: Any, tmp_path: Path, path: Path
) -> None:
    written = tmp_path / "page.html"
    written.write_text(render(page(reader.load(path))), encoding="utf-8")
    found = browser.new_page(viewport={"width": WIDE, "height": 900})
    found.goto(written.as_uri())
    found.wait_for_selector("html[data-ready]", state="attached")
    found.evaluate(OPEN)
    assert found.evaluate(CUT) == []
    found.set_viewport_size({"width": NARROW, "height": 900})
    assert found.evaluate("document.documentElement.scrollWidth") <= NARROW
    found.close()
