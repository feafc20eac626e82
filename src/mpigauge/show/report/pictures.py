"""Charts as pictures: what is seen without scripts and on paper. SVG that takes its colours from the page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from mpigauge.document.plain_signs import printable_lines
from mpigauge.show.figures import fit, style

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTH, HEIGHT = 5.6, 3.0
"""Inches; the page stretches it."""

CLARK = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
KEPT = ("points-", "line-", "band-")
"""Beginnings of names that tests look for; they become classes."""

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

DROPPED = {"metadata", "style", "title"}

QUIET = "#555555"
LOOK: Any = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    **dict.fromkeys(("text.color", "xtick.color", "ytick.color", "axes.labelcolor", "axes.edgecolor"), QUIET),
}
"""Settings of matplotlib: nothing behind, nothing black."""


class Axis(NamedTuple):
    """The axis of sizes as it was drawn, so that a script draws the same.

    Attributes:
        log: Whether it is logarithmic.
        low: Its left end, in bytes.
        high: Its right end.
        ticks: Where it has names.
        names: These.
    """

    log: bool
    low: float
    high: float
    ticks: list[float]
    names: list[str]


def axis_of(axes: Any) -> Axis:
    """That of axes that are drawn and dressed."""
    low, high = (float(end) for end in axes.get_xlim())
    names = [text.get_text() for text in axes.get_xticklabels()]
    return Axis(axes.get_xscale() == "log", low, high, [float(tick) for tick in axes.get_xticks()], names)


def drawn(name: str, draw: Callable[[Any], None], height: float = HEIGHT) -> str:
    """SVG of one pair of axes.

    Args:
        name: Unique on the page.
        draw: What draws into them.
    """
    with style.style(), mpl.rc_context(LOOK):
        whole = Figure(figsize=(WIDTH, height), layout="constrained")
        FigureCanvasAgg(whole)
        draw(whole.add_subplot())
        fit.fit(whole)
        return inline(whole, name)


def inline(whole: Figure, name: str) -> str:
    """A figure as an element of a page.

    Args:
        name: Begins the names of its elements, since a page has one space of names.
    """
    for text in whole.findobj(Text):
        text.set_text(printable_lines(text.get_text()))
    file = io.BytesIO()
    with style.style():
        whole.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    root = ET.fromstring(file.getvalue())  # noqa: S314 - matplotlib wrote it, and no stranger
    _strip(root)
    _share(root)
    _rename(root, name)
    width, height = root.get("viewBox", "0 0 1 1").split()[2:]
    root.attrib = {"viewBox": f"0 0 {width} {height}", "class": "still", "aria-hidden": "true"}
    return ET.tostring(root, encoding="unicode").replace(" />", "/>")


def _strip(element: ET.Element) -> None:
    """Without what a page does not need."""
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
    """Coordinates of a tenth of a pixel, words without families of fonts, and the colours of the page."""
    for key in ("d", "x", "y", "transform"):
        if key in element.attrib:
            short = WHOLE.sub("", DECIMALS.sub(r"\1", element.attrib[key]))
            element.set(key, " ".join(short.split()))
    if "d" in element.attrib:
        element.set("d", STEP.sub(r"\1", element.attrib["d"]))
    if UNTURNED.fullmatch(element.get("transform", "")):
        del element.attrib["transform"]
    words = element.attrib.pop("style", "")
    if element.tag == "text":
        size, anchor = SIZE_OF_FONT.search(words), ANCHOR.search(words)
        element.set("font-size", DECIMALS.sub(r"\1", re.sub(r"[^\d.]", "", size[0]) if size else "8"))
        if anchor and anchor[1] != "start":
            element.set("text-anchor", anchor[1])
    elif words:
        words = _coloured(words)
        if words not in LOOKS:
            element.set("style", words)
            return
        element.set("class", LOOKS[words])
        element.attrib.pop("clip-path", None)


def _coloured(words: str) -> str:
    words = DECIMALS.sub(r"\1", words)
    return COLOUR.sub(_colour, words).replace("; ", ";").replace(": ", ":")


def _share(root: ET.Element) -> None:
    """How all uses of a shape look is said once, with the shape."""
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


def _rename(root: ET.Element, name: str) -> None:
    """Names that are used become unique on the page; others go, or become classes."""
    used = {_target(one) for one in root.iter()}
    used |= {one for each in root.iter() for value in each.attrib.values() for one in USED.findall(value)}
    prefix = VOWELS.sub("", name)
    short = {old: f"{prefix}{number}" for number, old in enumerate(sorted(used - {""}))}
    for each in root.iter():
        own = each.attrib.pop("id", "")
        if own in short:
            each.set("id", short[own])
        elif own.startswith(KEPT):
            each.set("class", own.partition("-")[0])
        if target := _target(each):
            each.set("href", f"#{short[target]}")
        for key, value in each.attrib.items():
            if "url(#" in value:
                each.set(key, USED.sub(lambda found: f"url(#{short[found[1]]})", value))


def _target(element: ET.Element) -> str:
    """The name of what an element uses; empty if it uses nothing, or an image that it has in itself."""
    href = element.get("href", "")
    return href[1:] if href.startswith("#") else ""
