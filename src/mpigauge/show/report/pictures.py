"""Charts as SVG in the colours of the page, with the text of each point."""

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
    from mpigauge.show.figures.widths import Widths

WIDTH, HEIGHT, HEIGHT_OF_TWO = 5.6, 3.2, 4.5
"""Size in inches, without and with ratios below; the page scales it."""

REACH = 16.0
NAMES_OF_NARROW = 5
DASH_PIXELS = 2.0
NOTHING: Mapping[str, Sequence[int]] = {}

CLARK = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
CURVE = re.compile(r"(points|line|band|bars)-(?:ratio-|width-)?(\d+)(?:-\d+)?")
"""Ids of the elements of a curve, with its number, by which the script shows and hides it."""

COLOURS = {
    **{colour.lower(): f"var(--c{number})" for number, colour in enumerate(style.COLOURS)},
    "#ffffff": "var(--paper)",
    "#e6e6e6": "var(--grid)",
}
"""Names of the page's colours by those of figures, so that the page can be dark."""

GREY = re.compile(r"#([0-9a-f]{2})\1\1\b")
COLOUR = re.compile(r"#[0-9a-f]{6}\b")
WHOLE = re.compile(r"\.0(?!\d)")
DECIMALS = re.compile(r"(\d+\.\d)\d+")
SIZE_OF_FONT = re.compile(r"font-size: ?[\d.]+px|font: ?([\d.]+)px")
ANCHOR = re.compile(r"text-anchor: ?(\w+)")
UNTURNED = re.compile(r"rotate\(-?0(\.0)? [^)]*\)")
STEP = re.compile(r" ?([A-Za-z]) ?")
VOWELS = re.compile("[aeiou-]")
"""Names are distinct without these letters, and a picture has a thousand names."""

USED = re.compile(r"url\(#([^)]+)\)")
STYLE_CLASSES = {
    "fill:none;stroke:var(--grid);stroke-width:0.6;stroke-linecap:square": "g",
    "fill:none;stroke:var(--ink);stroke-width:0.8;stroke-linejoin:miter;stroke-linecap:square": "a",
}
"""Classes of the page for frequent styles: grid lines and axes."""

WHITE = "fill: #ffffff"

DROPPED = {"metadata", "style", "title"}

QUIET = "#555555"
SETTINGS: Any = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    **dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor", "axes.edgecolor"), QUIET),
}
"""Settings of matplotlib: transparent background, no black."""


def drawn(name: str, title: str, chart: Chart, over: Ratios | Widths | None = None) -> tuple[str, list[str]]:
    """Return a chart as SVG with the texts of its points, and the notes that are written in it.

    Args:
        name: Unique on the page.
        over: What stands below the curves; None if nothing does.
    """
    with style.style(WIDTH), mpl.rc_context(SETTINGS):
        whole = Figure(figsize=(WIDTH, HEIGHT if over is None else HEIGHT_OF_TWO), layout="constrained")
        FigureCanvasAgg(whole)
        if chart.quantity in ("time", "rate") and chart.across == "size":
            curves.draw(whole, chart, over)
        else:
            figures.draw(whole.add_subplot(), chart)
        fit.fit(whole)
        by_id = {f"points-{number}": curve for number, curve in enumerate(chart.curves)}
        prefix = over.prefix if over is not None else ""
        by_id |= {f"points-{prefix}{number}": curve for number, curve in enumerate(chart.below)}
        svg = inline(
            whole,
            name,
            title,
            {gid: curve.texts for gid, curve in by_id.items()},
            {gid: curve.cells for gid, curve in by_id.items()},
            {str(number) for number, curve in enumerate(chart.curves) if curve.hidden},
        )
        return svg, _notes(whole)


def _notes(whole: Figure) -> list[str]:
    """Return the small text in a figure, which a narrow page prints below it."""
    texts = [text for text in whole.findobj(Text) if str(text.get_gid()).startswith(fit.SMALL_TEXTS)]
    return list(dict.fromkeys(filter(None, (" ".join(text.get_text().split()) for text in texts))))


def key_of(curve: ChartCurve) -> Key:
    """Return the legend entry of a curve."""
    dash = curve.style["linestyle"]
    strokes = "" if isinstance(dash, str) else ",".join(f"{DASH_PIXELS * length:g}px" for length in dash[1])
    hollow = curve.style["markerfacecolor"] == "white" or dash == lines.IMPORTED_DASHES
    colour = style.COLOURS.index(curve.style["color"])
    return Key(curve.label, colour, curve.style["marker"], strokes, hollow, curve.variant, curve.hidden)


def inline(
    whole: Figure,
    name: str,
    label: str,
    texts: Mapping[str, Sequence[str]],
    cells: Mapping[str, Sequence[int]] = NOTHING,
    hidden: Collection[str] = (),
    reach: float = REACH,
) -> str:
    """Return a figure as an SVG element for a page.

    Args:
        name: Prefix of the ids of its elements, since a page has a single namespace.
        label: Label for screen readers.
        texts: Text of each point, by the SVG id of its series.
        cells: Cell number of each point, by the SVG id of its series.
        hidden: Numbers of the curves that are hidden at first.
        reach: Distance in points within which the pointer selects a point.
    """
    for text in whole.findobj(Text):
        text.set_text(printable_lines(text.get_text()))
    file = io.BytesIO()
    with style.style():
        whole.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(file.getvalue())  # noqa: S314 - written by matplotlib
    _strip(root)
    _share(root)
    inside = _inside(whole)
    for element in root.iter():
        gid = element.get("id", "")
        if gid in texts:
            _add_texts(element, texts[gid], cells.get(gid, ()), inside.get(gid, ()))
        if gid.startswith("matplotlib.axis_"):
            _thin(element)
        if gid.startswith(fit.SMALL_TEXTS):
            for words in element.iter("text"):
                words.set("class", "m")
    _rename(root, name, hidden)
    width, height = root.get("viewBox", "0 0 1 1").split()[2:]
    label = printable_lines(label)
    root.attrib = {"viewBox": f"0 0 {width} {height}", "class": "still", "role": "img", "aria-label": label}
    root.set("data-reach", f"{reach:.0f}")
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _inside(whole: Figure) -> dict[str, list[bool]]:
    """Return which points of each series are drawn: matplotlib leaves out those outside the figure."""
    width, height = whole.bbox.width, whole.bbox.height
    drawn_points = {}
    for axes in whole.axes:
        for line in axes.lines:
            places = line.get_transform().transform(line.get_xydata())
            drawn_points[str(line.get_gid())] = [0 <= x <= width and 0 <= y <= height for x, y in places]
    return drawn_points


def _add_texts(
    series: ET.Element, texts: Sequence[str], cells: Sequence[int], inside: Sequence[bool]
) -> None:
    """Add their texts to the points of a series, which browsers show as tooltips without scripts."""
    places = [place for place, is_drawn in enumerate(inside) if is_drawn]
    points = [*series.iter("use")]
    if len(points) != len(places):
        return
    for point, place in zip(points, places, strict=True):
        if place < len(cells):
            point.set("data-c", str(cells[place]))
        if place < len(texts):
            ET.SubElement(point, "title").text = printable_lines(texts[place])


def _thin(axis: ET.Element) -> None:
    """Mark every second label of an axis of sizes, which a narrow page hides."""
    names = [tick.find(".//text") for tick in axis if tick.get("id", "").startswith("xtick")]
    present = [name for name in names if name is not None]
    for name in present[1::2] if len(present) > NAMES_OF_NARROW else []:
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
    """Round coordinates to a tenth of a pixel, and use fonts and colours of the page."""
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
        _style_text(element, words)
    elif words:
        words = _coloured(words)
        if words not in STYLE_CLASSES:
            element.set("style", words)
            return
        element.set("class", STYLE_CLASSES[words])
        element.attrib.pop("clip-path", None)


def _style_text(element: ET.Element, words: str) -> None:
    """Set the size of a text, and the colour of the page unless it is in a square of a map."""
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
    """Move the style that all uses of a shape share to the shape."""
    styles: dict[str, set[str]] = {}
    for use in root.iter("use"):
        styles.setdefault(use.get("href", ""), set()).add(use.get("style", ""))
    alike = {href[1:]: style.pop() for href, style in styles.items() if len(style) == 1}
    for shape in root.iter():
        if shape.get("id", "") in alike:
            shape.set("style", ";".join(filter(None, [shape.get("style"), alike[shape.attrib["id"]]])))
    for use in root.iter("use"):
        if use.get("href", "")[1:] in alike:
            use.attrib.pop("style", None)


def _colour(match: re.Match[str]) -> str:
    colour = match[0].lower()
    if colour in COLOURS:
        return COLOURS[colour]
    return "var(--ink)" if GREY.fullmatch(colour) else colour


def _rename(root: ET.Element, name: str, hidden: Collection[str]) -> None:
    """Make ids that are used unique on the page; remove others, or make them classes."""
    used = {_target(target) for target in root.iter()}
    used |= {
        target
        for element in root.iter()
        for value in element.attrib.values()
        for target in USED.findall(value)
    }
    prefix = VOWELS.sub("", name)
    short = {old: f"{prefix}{number}" for number, old in enumerate(sorted(used - {""}))}
    for element in root.iter():
        own = element.attrib.pop("id", "")
        if own in short:
            element.set("id", short[own])
        elif curve := CURVE.fullmatch(own):
            element.set("class", curve[1])
            element.set("data-k", curve[2])
            if curve[2] in hidden:
                element.set("hidden", "")
        if target := _target(element):
            element.set("href", f"#{short[target]}")
        for key, value in element.attrib.items():
            if "url(#" in value:
                element.set(key, USED.sub(lambda match: f"url(#{short[match[1]]})", value))


def _target(element: ET.Element) -> str:
    """Return the id that an element references; empty if none, or an image within it."""
    href = element.get("href", "")
    return href[1:] if href.startswith("#") else ""
