"""The page of a report in a browser: what is drawn, said and marked, and what never happens."""

from __future__ import annotations

import json
import re
import time
from statistics import median
from typing import Any

import pytest

from tests.reported import EVIL, LAUNCHES, SIZES
from tests.truth import check, truth

pytestmark = pytest.mark.browser

SERIOUS = {"serious", "critical"}


def marks(figure: Any) -> int:
    """How many points a chart has."""
    return int(figure.locator(".scatterlayer .point").count())


def timed_rows(figure: Any, has: str) -> int:
    """How many lines of its table are of cells that have a time, or bytes that were moved in it."""
    script = """(figure, has) => [...figure.querySelectorAll("details tr[data-c]")].filter((row) =>
        JSON.parse(document.getElementById("data").textContent).cells[Number(row.dataset.c)][has]).length"""
    return int(figure.evaluate(script, has))


def axis_title(figure: Any) -> str:
    return str(figure.locator(".ytitle").text_content())


def pointed(found: Any, figure: Any, number: int = 0) -> str:
    """What is said of a point."""
    figure.locator(".live").focus()
    for _ in range(number + 1):
        found.page.keyboard.press("ArrowRight")
    return str(found.page.locator(".tip").inner_text())


def test_there_is_a_mark_for_every_row_of_the_table(show: Any) -> None:
    found = show("rich")
    for name in ("latency-0", "modes-0", "collectives-0"):
        figure = found.drawn(name)
        assert marks(figure) == timed_rows(figure, "time_ns") > 0, name
    for name in ("bandwidth-0", "memory-0"):
        figure = found.drawn(name)
        assert marks(figure) == timed_rows(figure, "moved") > 0, name
    assert not found.errors


def test_a_point_says_value_interval_launches_and_doubts(show: Any) -> None:
    found = show("rich")
    figure = found.drawn("latency-0")
    text = pointed(found, figure, 1)
    table = figure.locator("details tr[data-c]").nth(1).text_content()
    assert "8 B" in text
    assert "95 % interval" in text
    assert "launches 6, 120 samples" in text
    value = text.split("latency, one way")[1].split("\n")[0].split()[0]
    assert value in table
    box = figure.locator(".point").first.bounding_box()
    found.page.keyboard.press("Escape")
    assert not found.page.locator(".tip").is_visible()
    found.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    found.page.locator(".tip").wait_for()
    assert "0 B" in found.page.locator(".tip").inner_text()


def test_a_point_that_the_keyboard_has_left_can_be_pointed_at(show: Any) -> None:
    found = show("rich")
    figure = found.drawn("latency-0")
    assert "0 B" in pointed(found, figure)
    found.page.wait_for_timeout(200)  # the chart library has taken up that it is there
    found.page.keyboard.press("Escape")
    box = figure.locator(".point").first.bounding_box()
    found.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    found.page.locator(".tip").wait_for()
    assert "0 B" in found.page.locator(".tip").inner_text()


def test_switches_act_on_all_charts_and_the_address_keeps_them(show: Any) -> None:
    found = show("rich")
    assert axis_title(found.drawn("latency-0")) == "µs"
    found.page.select_option("select[name=time]", "ms")
    found.page.select_option("select[name=rate]", "MiB/s")
    found.page.select_option("select[name=stat]", "p75")
    assert axis_title(found.drawn("latency-0")) == "ms"
    assert axis_title(found.drawn("collectives-0")) == "ms"
    assert axis_title(found.drawn("bandwidth-0")) == "MiB/s"
    assert "no interval" in pointed(found, found.drawn("latency-0"))
    fragment = found.page.evaluate("location.hash")
    assert fragment == "#time=ms&rate=MiB%2Fs&stat=p75"
    again = show("rich", fragment)
    assert axis_title(again.drawn("bandwidth-0")) == "MiB/s"
    assert again.page.locator("select[name=stat]").input_value() == "p75"


def test_a_denominator_makes_ratios(show: Any) -> None:
    found = show("rich", "#over=pingpong%2C+standard")
    figure = found.drawn("modes-0")
    assert axis_title(figure) == "times as long"
    assert marks(figure) == len(SIZES)
    number = float(pointed(found, figure).split("times as long")[1].split()[0])
    assert number == pytest.approx(1.5, rel=0.1)


def test_a_state_shows_its_curves(show: Any) -> None:
    found = show("states")
    usual = marks(found.drawn("latency-0"))
    found.page.select_option("select[name=state]", "all")
    assert marks(found.drawn("latency-0")) == 2 * usual
    found.page.select_option("select[name=state]", "far")
    assert marks(found.drawn("latency-0")) == usual
    assert not found.errors


def test_a_sentence_marks_its_cells_in_charts_and_tables(show: Any) -> None:
    found = show("rich")
    button = found.page.locator("#conclusions button.said", has_text="synchronous against standard").first
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert found.page.locator(".marked").is_visible()
    figure = found.drawn("modes-0")
    assert "lit" in figure.get_attribute("class")
    assert figure.locator("details tr.lit").count() == 2 * len(SIZES)
    assert found.page.locator("#memory-0 tr.lit").count() == 0
    again = show("rich", found.page.evaluate("location.hash"))
    assert again.page.locator("#modes-0 tr.lit").count() == 2 * len(SIZES)
    button.click()
    assert found.page.locator("tr.lit").count() == 0


def test_a_curve_can_be_hidden(show: Any) -> None:
    found = show("rich")
    figure = found.drawn("modes-0")
    before = marks(figure)
    figure.locator(".keys button").first.click()
    assert marks(figure) == before - len(SIZES)
    assert figure.locator(".keys button").first.get_attribute("aria-pressed") == "false"


def test_nothing_is_asked_for_from_outside(show: Any) -> None:
    found = show("rich")
    for name in found.page.evaluate("[...document.querySelectorAll('figure')].map((one) => one.id)"):
        found.drawn(name)
    assert found.asked == []
    assert found.errors == []


def test_names_with_markup_are_text(show: Any) -> None:
    found = show("hostile")
    for name in found.page.evaluate("[...document.querySelectorAll('figure')].map((one) => one.id)"):
        found.drawn(name)
    pointed(found, found.drawn("modes-0"))
    assert found.page.locator("img").count() == 0
    assert found.page.locator("script").count() == 3
    assert (found.dialogs, found.asked, found.errors) == ([], [], [])
    assert json.dumps(EVIL)[1:-1][:8] in json.dumps(found.page.locator("body").inner_text())
    assert EVIL in found.page.locator("body").inner_text()


def test_without_scripts_there_are_pictures_and_tables(show: Any) -> None:
    found = show("rich", java_script_enabled=False)
    charts = found.page.locator("figure.chart")
    assert charts.count() > 5
    assert found.page.locator("svg.still").count() == charts.count()
    assert found.page.locator("svg.still").first.is_visible()
    assert found.page.locator("form.switches").is_hidden()
    assert found.page.locator(".noscript").is_visible()
    charts.first.locator("summary").click()
    assert charts.first.locator("table").is_visible()


@pytest.mark.parametrize("settings", [{"color_scheme": "light"}, {"color_scheme": "dark"}])
def test_there_are_no_serious_obstacles(show: Any, settings: dict[str, Any]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = show("rich", "#marked=1", **settings)
    for name in ("latency-0", "modes-0", "models-0"):
        found.drawn(name)
    for folded in found.page.locator("summary").all():
        folded.click()
    result = axe.Axe().run(found.page)
    serious = [one for one in result.response["violations"] if one["impact"] in SERIOUS]
    assert serious == [], [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in serious]


def test_a_narrow_page_does_not_scroll_sideways(show: Any) -> None:
    found = show("rich", viewport={"width": 360, "height": 800})
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_paper_has_the_pictures(show: Any) -> None:
    found = show("rich", viewport={"width": 720, "height": 1000})
    found.drawn("latency-0")
    found.page.emulate_media(media="print")
    widths = [one.bounding_box()["width"] for one in found.page.locator("svg.still").all()]
    assert min(widths) > 0.4 * 720
    assert found.page.locator("#latency-0 svg.still").is_visible()
    assert found.page.locator("#latency-0 .live").is_hidden()
    assert found.page.locator("form.switches").is_hidden()


# ---- A link map ----------------------------------------------------------------------------------


def squares(found: Any, text: str) -> Any:
    """The map of a quantity, drawn."""
    return found.drawn("map-0").locator(f'.live > div[aria-label^="{text}"]')


def test_maps_of_two_quantities_do_not_overlap(show: Any) -> None:
    found = show("map")
    first, second = (
        squares(found, quantity).locator(".main-svg").first.bounding_box()
        for quantity in ("latency", "bandwidth")
    )
    assert first["x"] + first["width"] <= second["x"] or first["y"] + first["height"] <= second["y"]


def test_a_square_says_pair_value_and_launches(show: Any) -> None:
    found = show("map")
    box = squares(found, "latency").locator(".heatmaplayer image").bounding_box()
    # Second line, first column: of four.
    found.page.mouse.move(box["x"] + box["width"] / 8, box["y"] + box["height"] * 3 / 8)
    found.page.locator(".tip").wait_for()
    said = found.page.locator(".tip").inner_text()
    assert "latency, 8 B 24.9 µs" in said
    assert f"launches {len(LAUNCHES)}" in said
    assert not found.errors


@pytest.mark.parametrize("quantity", ["latency", "bandwidth"])
def test_a_map_is_walked_with_the_keyboard(show: Any, quantity: str) -> None:
    found = show("map")
    place = squares(found, quantity)
    assert (place.get_attribute("tabindex"), place.get_attribute("role")) == ("0", "group")
    place.focus()
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        found.page.keyboard.press(key)
        said.append(found.page.locator(".tip").inner_text().split("\n"))
    pairs = [lines[0].strip() for lines in said]
    assert pairs[0] != pairs[1] != pairs[2]
    assert pairs[2] == pairs[3], "the edge is an edge"
    assert all(lines[2] == f"launches {len(LAUNCHES)}" for lines in said)
    assert place.locator(".shapelayer path").count() == 1
    found.page.keyboard.press("Escape")
    assert not found.page.locator(".tip").is_visible()
    assert place.locator(".shapelayer path").count() == 0
    assert not found.errors


def test_a_pair_of_a_rank_with_itself_says_that_it_is_not_measured(show: Any) -> None:
    found = show("map")
    squares(found, "latency").focus()
    for key in ("ArrowRight", "ArrowLeft"):
        found.page.keyboard.press(key)
    assert "not measured" in found.page.locator(".tip").inner_text()


def test_a_map_has_no_serious_obstacles(show: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = show("map")
    squares(found, "latency").focus()
    result = axe.Axe().run(found.page)
    serious = [one for one in result.response["violations"] if one["impact"] in SERIOUS]
    assert serious == [], [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in serious]


# ---- Copies --------------------------------------------------------------------------------------

REFUSED = "navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'))"
MISSING = "Object.defineProperty(navigator, 'clipboard', {value: undefined})"
HEARD = """document.addEventListener("copy", () => { window.heard = document.activeElement.value; })"""


def _waits_for(page: Any, words: str) -> None:
    """Until the button says so; a function that is waited for is code that the page's own policy refuses."""
    page.locator("#provenance button.copy", has_text=re.compile(f"^{words}$")).wait_for()


@pytest.mark.parametrize("clipboard", [REFUSED, MISSING], ids=["refused", "missing"])
def test_provenance_is_copied_where_the_clipboard_is_refused(show: Any, clipboard: str) -> None:
    found = show("rich")
    found.page.evaluate(f"() => {{ {clipboard}; {HEARD}; }}")
    button = found.page.locator("#provenance button.copy")
    button.click()
    _waits_for(found.page, "copied")
    assert "node1" in found.page.evaluate("window.heard")
    assert found.page.locator("textarea").count() == 0
    assert button.evaluate("(one) => one === document.activeElement")
    assert not found.errors


def test_what_could_not_be_copied_is_said(show: Any) -> None:
    found = show("rich")
    found.page.evaluate(f"() => {{ {REFUSED}; document.execCommand = () => false; }}")
    button = found.page.locator("#provenance button.copy")
    button.click()
    _waits_for(found.page, "not copied.*")
    assert not found.errors


def test_provenance_is_copied_by_the_clipboard(show: Any) -> None:
    found = show("rich", permissions=["clipboard-read", "clipboard-write"])
    found.page.locator("#provenance button.copy").click()
    _waits_for(found.page, "copied")
    assert "node1" in found.page.evaluate("navigator.clipboard.readText()")


# ---- Many cells ----------------------------------------------------------------------------------


def opened_s(show: Any, name: str) -> float:
    """From the address to the first chart that is drawn; the median of three."""
    found = []
    for _ in range(3):
        begin = time.perf_counter()
        show(name).drawn("latency-0")
        found.append(time.perf_counter() - begin)
    return median(found)


@truth
def test_a_result_of_five_hundred_cells_opens_about_as_fast_as_one_of_thirty(show: Any) -> None:
    """Most of it is the chart library; only what is seen is drawn."""
    few, lots = opened_s(show, "rich"), opened_s(show, "many")
    cells = show("many").page.evaluate("JSON.parse(document.getElementById('data').textContent).cells.length")
    assert cells >= 500
    check(f"report of {cells} cells opened in / of 30 cells", lots / few, below=4)
