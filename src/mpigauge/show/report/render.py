"""A page as HTML that needs nothing beside it and asks for nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from mpigauge.document.plain_signs import printable_lines
from mpigauge.sequences import consecutive
from mpigauge.sequences import runs as in_runs
from mpigauge.show.report import library, words
from mpigauge.units import span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.show.report.page import Key, Page

HERE = files("mpigauge.show.report")
TEMPLATE, LOOK, SCRIPTS = "page.html.j2", "page.css", ("charts.js", "page.js")

SIGNS = {
    "circle": '<circle cx="18" cy="6" r="3.4" {look}/>',
    "square": '<path d="M15 3h6v6h-6z" {look}/>',
    "triangle-up": '<path d="M18 2l4 7h-8z" {look}/>',
    "triangle-down": '<path d="M18 10l4-7h-8z" {look}/>',
    "triangle-left": '<path d="M14 6l7-4v8z" {look}/>',
    "triangle-right": '<path d="M22 6l-7-4v8z" {look}/>',
    "diamond": '<path d="M18 2l4 4-4 4-4-4z" {look}/>',
    "x": '<path d="M15 3l6 6M21 3l-6 6" {look}/>',
    "cross": '<path d="M18 2v8M14 6h8" {look}/>',
}
"""Markers in a legend, by the names that the chart library has for them."""

ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What could end a script element or begin a comment in it."""


def render(page: Page) -> str:
    """The text of the file; names in it are text, whatever they contain."""
    scripts = [library.source(), script()] if page.switches else []
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"shown": printable_lines, "runs": runs}
    template = environment.from_string(_text(TEMPLATE))
    return template.render(
        page=page,
        words=words,
        look=Markup(_text(LOOK)),  # noqa: S704 - ours
        policy=policy(scripts),
        scripts=[Markup(one) for one in scripts],  # noqa: S704 - ours, and the library
        data=data_of(page),
        svg=Markup,
        sign=sign,
    )


def script() -> str:
    """Our own, as one that leaves no name behind."""
    return "\n".join(['"use strict";', "(() => {", *map(_text, SCRIPTS), "})();"])


def sign(key: Key) -> Markup:
    """A marker of a legend."""
    colour = f"var(--c{key.colour})"
    fill = "var(--paper)" if key.hollow else colour
    look = f'stroke="{colour}" stroke-width="1.5" fill="{fill}"'
    return Markup(SIGNS[key.marker].format(look=look))  # noqa: S704 - ours


def runs(numbers: Iterable[int]) -> str:
    """Numbers with neighbours as one: `3 7-9`."""
    found = in_runs(sorted({*numbers}), consecutive)
    return " ".join(span(str(run[0]), str(run[-1]), "-") for run in found)


def policy(scripts: Sequence[str]) -> str:
    """Nothing may come from outside, and of scripts these alone may run."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in scripts
    )
    allowed = {
        "default-src": "'none'",
        "script-src": hashes or "'none'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def data_of(page: Page) -> Markup:
    """What the script is told, as JSON that cannot end its element."""
    told: dict[str, Any] = {
        **page.words,
        "cells": page.cells,
        "charts": {
            chart.name: {
                **chart.data,
                "keys": [
                    {
                        "label": printable_lines(key.label),
                        "colour": key.colour,
                        "marker": key.marker,
                        "dash": key.dash,
                        "hollow": key.hollow,
                        "state": key.state,
                        "hidden": key.hidden,
                    }
                    for key in chart.keys
                ],
            }
            for section in page.sections
            for chart in section.charts
        },
    }
    text = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, code in ESCAPED.items():
        text = text.replace(letter, code)
    return Markup(text)  # noqa: S704 - JSON without a sign that HTML knows


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
