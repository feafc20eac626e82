"""A page as HTML that needs nothing beside it and asks for nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from mpigauge.document.plain_signs import printable_lines
from mpigauge.sequences import consecutive
from mpigauge.sequences import runs as in_runs
from mpigauge.show.report import words
from mpigauge.units import span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.show.report.page import Key, Page

HERE = files("mpigauge.show.report")
TEMPLATE, LOOK, SCRIPT = "page.html.j2", "page.css", "page.js"

SIGNS = {
    "o": '<circle cx="18" cy="6" r="3.4" {look}/>',
    "s": '<path d="M15 3h6v6h-6z" {look}/>',
    "^": '<path d="M18 2l4 7h-8z" {look}/>',
    "v": '<path d="M18 10l4-7h-8z" {look}/>',
    "<": '<path d="M14 6l7-4v8z" {look}/>',
    ">": '<path d="M22 6l-7-4v8z" {look}/>',
    "D": '<path d="M18 2l4 4-4 4-4-4z" {look}/>',
    "X": '<path d="M15 3l6 6M21 3l-6 6" {look}/>',
    "P": '<path d="M18 2v8M14 6h8" {look}/>',
}
"""Markers in a legend, by the names that matplotlib has for them."""


def render(page: Page) -> str:
    """The text of the file; names in it are text, whatever they contain."""
    whole = script()
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"shown": printable_lines, "runs": runs}
    template = environment.from_string(_text(TEMPLATE))
    return template.render(
        page=page,
        words=words,
        look=Markup(_text(LOOK)),  # noqa: S704 - ours
        policy=policy(whole),
        script=Markup(whole),  # noqa: S704 - ours
        svg=Markup,
        sign=sign,
    )


def script() -> str:
    """Our own, as one that leaves no name behind."""
    return "\n".join(['"use strict";', "(() => {", _text(SCRIPT), "})();"])


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


def policy(whole: str) -> str:
    """Return the rules of the page: nothing may come from outside, and of scripts this one alone may run."""
    digest = base64.b64encode(hashlib.sha256(whole.encode()).digest()).decode()
    allowed = {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
