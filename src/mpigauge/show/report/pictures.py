"""Charts as figures draw them: SVG whose points have their words, in the colours of the page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from mpigauge.document.plain_signs import printable_lines
from mpigauge.show.figures import chart as figures
from mpigauge.show.figures import curves, fit, lines, style
from mpigauge.show.report.page import Key

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mpigauge.show.chart import Chart, ChartCurve
    from mpigauge.show.figures.ratios import Ratios

WIDTH, HEIGHT, HEIGHT_OF_TWO = 5.6, 3.2, 4.5
"""Inches, without and with ratios below; the page stretches it."""

REACH = 16.0
NAMES_OF_NARROW = 5
DASH_PIXELS = 2.0
NOTHING: Mapping[str, Sequence[int]] = {}

CLARK = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
CURVE = re.compile(r"(points|line|band|bars)-(?:ratio-)?(\d+)(?:-\d+)?")
"""Names of what is drawn of a curve, with its number: the script shows and hides it by that."""

COLOURS = {
    **{colour.lower(): f"var(--c{number})" for number, colour in enumerate(style.COLOURS)},
    "#ffffff": "var(--paper)",
    "#e6e6e6": "var(--grid)",
}
"""Colours of figures as the page names them, so that it can be dark."""

GREY = re.compile(r"#([0-9a-f]{2})\1\1\b")
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
WHOLE = re.compile(r"\.0(?!\d)")
DECIMALS = re.compile(r"(\d+\.\d)\d+")
SIZE_OF_FONT = re.compile(r"font-size: ?[\d.]+px|font: ?([\d.]+)px")
ANCHOR = re.compile(r"text-anchor: ?(\w+)")
UNTURNED = re.compile(r"rotate\(-?0(\.0)? [^)]*\)")
STEP = re.compile(r" ?([A-Za-z]) ?")
VOWELS = re.compile("[aeiou-]")
"""Names are told apart without them, and a picture has a thousand of them."""

USED = re.compile(r"url\(#([^)]+)\)")
LOOKS = {
    "fill:none;stroke:var(--grid);stroke-width:0.6;stroke-linecap:square": "g",
    "fill:none;stroke:var(--ink);stroke-width:0.8;stroke-linejoin:miter;stroke-linecap:square": "a",
}
"""What is frequent is a class of the page: lines of the grid, and axes."""

WHITE = "fill: #ffffff"

DROPPED = {"metadata", "style", "title"}

QUIET = "#555555"
LOOK: Any = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    **dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor", "axes.edgecolor"), QUIET),
}
"""Settings of matplotlib: nothing behind, nothing black."""


def drawn(name: str, title: str, chart: Chart, over: Ratios | None = None) -> str:
    """Return a chart as SVG; what it says stands in its points.

    Args:
        name: Unique on the page.
        over: What the curves below it are ratios of.
    """
    with style.style(WIDTH), mpl.rc_context(LOOK):
        whole = Figure(figsize=(WIDTH, HEIGHT if over is None else HEIGHT_OF_TWO), layout="constrained")
        FigureCanvasAgg(whole)
        if chart.quantity in ("time", "rate") and chart.across == "size":
            curves.draw(whole, chart, over)
        else:
            figures.draw(whole.add_subplot(), chart)
        fit.fit(whole)
        said = {f"points-{number}": one for number, one in enumerate(chart.curves)}
        said |= {f"points-ratio-{number}": one for number, one in enumerate(chart.below)}
        return inline(
            whole,
            name,
            title,
            {gid: one.said for gid, one in said.items()},
            {gid: one.cells for gid, one in said.items()},
            {str(number) for number, one in enumerate(chart.curves) if one.hidden},
        )


def key_of(one: ChartCurve) -> Key:
    """Return the legend's entry of a curve."""
    dash = one.look["linestyle"]
    strokes = "" if isinstance(dash, str) else ",".join(f"{DASH_PIXELS * each:g}px" for each in dash[1])
    hollow = one.look["markerfacecolor"] == "white" or dash == lines.IMPORTED_DASHES
    colour = style.COLOURS.index(one.look["color"])
    return Key(one.label, colour, one.look["marker"], strokes, hollow, one.state, one.hidden)


def inline(
    whole: Figure,
    name: str,
    label: str,
    said: Mapping[str, Sequence[str]],
    cells: Mapping[str, Sequence[int]] = NOTHING,
    hidden: Collection[str] = (),
    reach: float = REACH,
) -> str:
    """Return a figure as an element of a page.

    Args:
        name: Begins the names of its elements, since a page has one space of names.
        label: What a screen reader calls it.
        said: Per point of each series, by its name in SVG, what is shown to whoever points at it.
        cells: Per point the number of its cell.
        hidden: Curves that are not seen at first, by their number.
        reach: How near to a point is pointing at it, in points of print.
    """
    for text in whole.findobj(Text):
        text.set_text(printable_lines(text.get_text()))
    file = io.BytesIO()
    with style.style():
        whole.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(file.getvalue())  # noqa: S314 - matplotlib wrote it, and no stranger
    _strip(root)
    _share(root)
    inside = _inside(whole)
    for each in root.iter():
        gid = each.get("id", "")
        if gid in said:
            _tell(each, said[gid], cells.get(gid, ()), inside.get(gid, ()))
        if gid.startswith("matplotlib.axis_"):
            _thin(each)
        if gid.startswith(fit.WORDS_OF_MARK):
            for words in each.iter("text"):
                words.set("class", "m")
    _rename(root, name, hidden)
    width, height = root.get("viewBox", "0 0 1 1").split()[2:]
    label = printable_lines(label)
    root.attrib = {"viewBox": f"0 0 {width} {height}", "class": "still", "role": "img", "aria-label": label}
    root.set("data-reach", f"{reach:.0f}")
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _inside(whole: Figure) -> dict[str, list[bool]]:
    """Return which points of each series are drawn: matplotlib leaves out what lies outside the figure."""
    width, height = whole.bbox.width, whole.bbox.height
    found = {}
    for axes in whole.axes:
        for line in axes.lines:
            places = line.get_transform().transform(line.get_xydata())
            found[str(line.get_gid())] = [0 <= x <= width and 0 <= y <= height for x, y in places]
    return found


def _tell(series: ET.Element, said: Sequence[str], cells: Sequence[int], inside: Sequence[bool]) -> None:
    """Give the points of a series their words, which browsers show as they are where scripts are off."""
    places = [place for place, is_drawn in enumerate(inside) if is_drawn]
    points = [*series.iter("use")]
    if len(points) != len(places):
        return
    for point, place in zip(points, places, strict=True):
        if place < len(cells):
            point.set("data-c", str(cells[place]))
        if place < len(said):
            ET.SubElement(point, "title").text = printable_lines(said[place])


def _thin(axis: ET.Element) -> None:
    """Mark every second name of an axis of sizes, for which a narrow page has no room."""
    names = [tick.find(".//text") for tick in axis if tick.get("id", "").startswith("xtick")]
    there = [name for name in names if name is not None]
    for name in there[1::2] if len(there) > NAMES_OF_NARROW else []:
        name.set("class", " ".join(filter(None, [name.get("class"), "o"])))


def _strip(element: ET.Element) -> None:
    """Remove what a page does not need."""
    element.tag = element.tag.removeprefix(CLARK)
    for child in list(element):
        if child.tag.removeprefix(CLARK).rpartition("}")[2] in DROPPED:
            element.remove(child)
            continue
        _strip(child)
    if element.text is not None and not element.text.strip():
        element.text = None
    element.tail = None
    if HREF in element.attrib:
        element.set("href", element.attrib.pop(HREF))
    _shorten(element)


def _shorten(element: ET.Element) -> None:
    """Round coordinates to a tenth of a pixel, and give an element the fonts and colours of the page."""
    for key in ("d", "x", "y", "transform"):
        if key in element.attrib:
            short = WHOLE.sub("", DECIMALS.sub(r"\1", element.attrib[key]))
            element.set(key, " ".join(short.split()))
    if "d" in element.attrib:
        element.set("d", STEP.sub(r"\1", element.attrib["d"]))
    if UNTURNED.fullmatch(element.get("transform", "")):
        del element.attrib["transform"]
    words = element.attrib.pop("style", "")
    if element.get("fill", "").startswith("#"):  # of a hatched ground; a colour of the page must be a style
        words = f"fill: {element.attrib.pop('fill')}; {words}".removesuffix("; ")
    if element.tag == "text":
        _dress_text(element, words)
    elif words:
        words = _coloured(words)
        if words not in LOOKS:
            element.set("style", words)
            return
        element.set("class", LOOKS[words])
        element.attrib.pop("clip-path", None)


def _dress_text(element: ET.Element, words: str) -> None:
    """Give a text its size, and the colour of the page unless it stands in a square of a map."""
    size, anchor = SIZE_OF_FONT.search(words), ANCHOR.search(words)
    element.set("font-size", DECIMALS.sub(r"\1", re.sub(r"[^\d.]", "", size[0]) if size else "8"))
    if anchor and anchor[1] != "start":
        element.set("text-anchor", anchor[1])
    if "fill:" not in words or WHITE in words:
        element.set("class", "w" if WHITE in words else "b")


def _coloured(words: str) -> str:
    words = DECIMALS.sub(r"\1", words)
    return COLOUR.sub(_colour, words).replace("; ", ";").replace(": ", ":")


def _share(root: ET.Element) -> None:
    """Say once, with a shape, how all uses of it look."""
    looks: dict[str, set[str]] = {}
    for use in root.iter("use"):
        looks.setdefault(use.get("href", ""), set()).add(use.get("style", ""))
    alike = {href[1:]: style.pop() for href, style in looks.items() if len(style) == 1}
    for shape in root.iter():
        if shape.get("id", "") in alike:
            shape.set("style", ";".join(filter(None, [shape.get("style"), alike[shape.attrib["id"]]])))
    for use in root.iter("use"):
        if use.get("href", "")[1:] in alike:
            use.attrib.pop("style", None)


def _colour(found: re.Match[str]) -> str:
    colour = found[0].lower()
    if colour in COLOURS:
        return COLOURS[colour]
    return "var(--ink)" if GREY.fullmatch(colour) else colour


def _rename(root: ET.Element, name: str, hidden: Collection[str]) -> None:
    """Make names that are used unique on the page; remove others, or make them classes."""
    used = {_target(one) for one in root.iter()}
    used |= {one for each in root.iter() for value in each.attrib.values() for one in USED.findall(value)}
    prefix = VOWELS.sub("", name)
    short = {old: f"{prefix}{number}" for number, old in enumerate(sorted(used - {""}))}
    for each in root.iter():
        own = each.attrib.pop("id", "")
        if own in short:
            each.set("id", short[own])
        elif curve := CURVE.fullmatch(own):
            each.set("class", curve[1])
            each.set("data-k", curve[2])
            if curve[2] in hidden:
                each.set("hidden", "")
        if target := _target(each):
            each.set("href", f"#{short[target]}")
        for key, value in each.attrib.items():
            if "url(#" in value:
                each.set(key, USED.sub(lambda found: f"url(#{short[found[1]]})", value))


def _target(element: ET.Element) -> str:
    """Return the name of what an element uses; empty if that is nothing, or an image inside of it."""
    href = element.get("href", "")
    return href[1:] if href.startswith("#") else ""
