"""The page of a report in a browser: what is drawn, said and marked, and what never happens."""

from __future__ import annotations

import io
import json
import re
import time
from statistics import median
from typing import Any

import pytest
from PIL import Image

from tests.reported import EVIL, LAUNCHES, SIZES
from tests.truth import check, truth

pytestmark = pytest.mark.browser

SERIOUS = {"serious", "critical"}


def marks(figure: Any) -> int:
    """How many points of its curves are seen, without those of ratios."""
    return int(
        figure.locator('.points use[aria-label]:not([aria-label*="times as long"])')
        .locator("visible=true")
        .count()
    )


def focus(figure: Any) -> None:
    """Go to the chart as the tabulator does: to the one point of each drawing that it stops at."""
    figure.locator('use[tabindex="0"]').first.focus()


def tip(found: Any) -> str:
    """What is said of a point."""
    return str(found.page.locator(".tip").inner_text())


def hover(found: Any, point: Any, aside: int = 0) -> None:
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    found.page.mouse.move(box["x"] + box["width"] / 2 + aside, box["y"] + box["height"] / 2)
    found.page.locator(".tip").wait_for()


def test_there_is_a_mark_for_every_number(show: Any) -> None:
    found = show("rich")
    # Below the latter two stand the widths of their intervals.
    known = {"modes-0": 2 * len(SIZES), **dict.fromkeys(("collectives-0", "memory-0"), 2 * (len(SIZES) - 1))}
    assert {name: marks(found.drawn(name)) for name in known} == known
    assert not found.errors


def test_the_keyboard_walks_through_points_which_screen_readers_name(show: Any) -> None:
    found = show("rich")
    figure = found.drawn("modes-0")
    focus(figure)
    assert tip(found).startswith("standard, 0 B\n")
    found.page.keyboard.press("ArrowRight")
    said = tip(found)
    assert said.startswith("standard, 8 B\n")
    assert "95 % interval" in said
    assert "launches: 6, 120 samples" in said
    value = said.split("latency, one way: ")[1].split("\n")[0].split()[0]
    assert value in figure.locator("details tr[data-c]").nth(1).text_content()
    found.page.keyboard.press("ArrowDown")
    assert tip(found).startswith("synchronous, 8 B\n")
    focused = "document.activeElement"
    assert found.page.evaluate(f"{focused}.getAttribute('aria-label')") == tip(found)
    assert found.page.evaluate(f"{focused}.getAttribute('role')") == "img"
    assert figure.locator("use[tabindex='0']").count() == 1, "one stop for the tabulator"
    found.page.keyboard.press("Escape")
    assert not found.page.locator(".tip").is_visible()
    assert not found.errors


def test_a_point_says_its_number_to_who_points_near_it(show: Any) -> None:
    found = show("rich")
    figure = found.drawn("latency-0")
    hover(found, figure.locator(".points use").first, aside=6)
    assert "0 B" in tip(found)
    found.page.mouse.move(2, 2)
    assert not found.page.locator(".tip").is_visible()


def test_a_ratio_says_of_what_it_is(show: Any) -> None:
    found = show("rich")
    figure = found.drawn("modes-0")
    focus(figure)
    for _ in range(2):
        found.page.keyboard.press("ArrowDown")
    assert "times as long as standard: " in tip(found)
    assert float(tip(found).split("standard: ")[1].split()[0]) == pytest.approx(1.5, rel=0.1)


def test_a_state_shows_its_curves(show: Any) -> None:
    found = show("states")
    usual = marks(found.drawn("latency-0"))  # of which half are widths of intervals, below
    choice = "select[name=state]"
    found.page.select_option(choice, "all")
    assert marks(found.drawn("latency-0")) == usual + usual // 2
    found.page.select_option(choice, "cores far")
    assert marks(found.drawn("latency-0")) == usual // 2
    focus(found.drawn("latency-0"))
    assert ", cores far, " in tip(found)
    again = show("states", found.page.evaluate("location.hash"))
    assert again.page.locator(choice).input_value() == "cores far"
    assert not found.errors


def test_a_sentence_marks_its_cells_in_charts_and_tables(show: Any) -> None:
    found = show("rich")
    button = found.page.locator("#conclusions button.said", has_text="MPI_Ssend").first
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
    focus(figure)
    assert tip(found).startswith("synchronous")
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
    focus(found.drawn("modes-0"))
    assert found.page.locator("img").count() == 0
    assert found.page.locator("script").count() == 1
    assert (found.dialogs, found.asked, found.errors) == ([], [], [])
    assert json.dumps(EVIL)[1:-1][:8] in json.dumps(found.page.locator("body").inner_text())
    assert EVIL in found.page.locator("body").inner_text()


def test_without_scripts_there_are_pictures_and_tables(show: Any) -> None:
    found = show("rich", java_script_enabled=False)
    charts = found.page.locator("figure.chart")
    assert charts.count() > 5
    assert found.page.locator("svg.still").count() == charts.count()
    assert found.page.locator("svg.still").first.is_visible()
    assert found.page.locator(".noscript").is_visible()
    title = found.page.locator("#latency-0 use title").nth(1).text_content()
    assert title.startswith("pingpong, standard, 8 B\nlatency, one way: ")
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


def test_a_narrow_page_does_not_scroll_sideways_and_its_charts_can_be_read(show: Any) -> None:
    found = show("rich", viewport={"width": 360, "height": 800})
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 360
    figure = found.drawn("latency-0")
    boxes = [one.bounding_box() for one in figure.locator("svg.still text").locator("visible=true").all()]
    assert all(box["x"] >= 0 for box in boxes)
    assert all(box["x"] + box["width"] <= 360 for box in boxes)
    assert "eager limit" in figure.locator(".notes").inner_text()
    assert min(box["height"] for box in boxes) >= 8
    ticks = figure.locator('svg.still text[font-size="8"]').locator("visible=true").all()
    assert min(one.bounding_box()["height"] for one in ticks) >= 9
    focus(figure)
    box = found.page.locator(".tip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_a_table_that_scrolls_sideways_has_a_shadow_where_it_goes_on(show: Any) -> None:
    found = show("rich", viewport={"width": 360, "height": 800}, color_scheme="light")
    table = found.page.locator("#models .wide .scroll").first
    assert table.evaluate("(one) => one.scrollWidth > one.clientWidth")
    assert edge_of(table) < WHITE
    table.evaluate("(one) => { one.scrollLeft = one.scrollWidth; }")
    assert edge_of(table) == WHITE


WHITE = 255


def edge_of(table: Any) -> int:
    """How light the middle of its right edge is."""
    with Image.open(io.BytesIO(table.screenshot())) as image:
        grey = image.convert("L")
        return max(int(grey.getpixel((grey.width - 2, y))) for y in range(grey.height // 3, grey.height // 2))  # type: ignore[arg-type]


def test_the_first_picture_is_seen_without_scrolling_and_no_half_of_a_row_is_empty(show: Any) -> None:
    for name in ("rich", "states"):
        found = show(name, viewport={"width": 1280, "height": 900})
        assert found.page.locator("figure").first.bounding_box()["y"] < 900
        for charts in found.page.locator(".charts").all():
            last, row = charts.locator("> *").last.bounding_box(), charts.bounding_box()
            assert last["x"] + last["width"] == pytest.approx(row["x"] + row["width"], abs=2)
        tops = [one.bounding_box()["y"] for one in found.page.locator("section.half").all()]
        assert tops[::2] == tops[1::2]


def test_dark_charts_have_colours_of_the_page(show: Any) -> None:
    found = show("rich", color_scheme="dark")
    figure = found.drawn("latency-0")
    text, line, mark = (
        figure.locator(what).first.evaluate("(one, name) => getComputedStyle(one)[name]", name)
        for what, name in (
            ("svg.still text", "fill"),
            (".line path", "stroke"),
            (".points defs path", "fill"),
        )
    )
    assert (text, line, mark) == ("rgb(165, 173, 180)", "rgb(74, 166, 224)", "rgb(74, 166, 224)")


def test_paper_has_the_pictures_and_no_controls(show: Any) -> None:
    found = show("states", viewport={"width": 720, "height": 1000})
    found.page.emulate_media(media="print")
    widths = [one.bounding_box()["width"] for one in found.page.locator("svg.still").all()]
    assert min(widths) > 0.4 * 720
    assert found.page.locator("#latency-0 svg.still").is_visible()
    assert found.page.locator("form.switches").is_hidden()


def test_nothing_is_folded_on_paper_and_what_is_there_to_be_searched_is_left_out(show: Any) -> None:
    found = show("rich")
    folded = [found.page.locator(name).first for name in ("#provenance table", "#conclusions details li")]
    assert [one.is_visible() for one in folded] == [False, False]
    found.page.emulate_media(media="print")
    assert [one.is_visible() for one in folded] == [True, True]
    assert found.page.locator("#latency .table, .numbers").first.is_visible()
    assert found.page.locator("summary").locator("visible=true").count() == 0
    assert found.page.locator(".chart details table").locator("visible=true").count() == 0


def test_what_was_found_is_larger_than_all_but_titles_and_in_full_contrast(show: Any) -> None:
    found = show("map")
    verdict, body = found.page.locator("#answer li:has(> a)").first, found.page.locator("body")
    sizes = [one.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)") for one in (verdict, body)]
    assert sizes[0] > sizes[1]
    lead = show("rich").page.locator("#answer .lead").first
    look = lead.evaluate("(one) => [getComputedStyle(one).color, getComputedStyle(document.body).color]")
    assert look[0] == look[1]


def test_paper_has_a_curve_that_was_hidden(show: Any) -> None:
    found = show("rich")
    figure = found.drawn("modes-0")
    before = marks(figure)
    figure.locator(".keys button").first.click()
    found.page.emulate_media(media="print")
    assert marks(figure) == before


# ---- A link map ----------------------------------------------------------------------------------


def squares(found: Any, text: str) -> Any:
    """The map of a quantity."""
    return found.drawn("map-0").locator(f'svg[aria-label*="{text}"]')


def test_maps_of_two_quantities_do_not_overlap(show: Any) -> None:
    found = show("map")
    first, second = (squares(found, quantity).bounding_box() for quantity in ("latency", "bandwidth"))
    assert first["x"] + first["width"] <= second["x"] or first["y"] + first["height"] <= second["y"]


def test_a_square_says_pair_value_and_launches(show: Any) -> None:
    found = show("map")
    # Second line, first column: of four.
    hover(found, squares(found, "latency").locator(".points use").nth(3), aside=20)
    assert "latency of 8 B: 24.9 µs" in tip(found)
    assert f"launches: {len(LAUNCHES)}" in tip(found)
    assert not found.errors


@pytest.mark.parametrize("quantity", ["latency", "bandwidth"])
def test_a_map_is_walked_with_the_keyboard(show: Any, quantity: str) -> None:
    found = show("map")
    place = squares(found, quantity)
    focus(place)
    said = [tip(found).split("\n")]
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"):
        found.page.keyboard.press(key)
        said.append(tip(found).split("\n"))
    pairs = [lines[0].strip() for lines in said]
    assert pairs[0] != pairs[1] != pairs[2]
    assert pairs[2] == pairs[3], "the edge is an edge"
    assert pairs[3] != pairs[4]
    assert all(lines[2] == f"launches: {len(LAUNCHES)}" for lines in said)
    assert place.locator("use:focus").count() == 1
    found.page.keyboard.press("Escape")
    assert not found.page.locator(".tip").is_visible()
    assert not found.errors


def test_a_map_has_no_serious_obstacles(show: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = show("map")
    focus(squares(found, "latency"))
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
    """From the address to the first chart; the median of three."""
    found = []
    for _ in range(3):
        begin = time.perf_counter()
        show(name).drawn("latency-0")
        found.append(time.perf_counter() - begin)
    return median(found)


@truth
def test_a_result_of_five_hundred_cells_opens_about_as_fast_as_one_of_thirty(show: Any) -> None:
    few, lots = opened_s(show, "rich"), opened_s(show, "many")
    cells = show("many").page.locator(".chart .points use[data-c]").count()
    assert cells >= 500
    check(f"report of {cells} cells opened in / of 30 cells", lots / few, below=4)
