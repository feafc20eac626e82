"""How Sphinx builds these pages: `make docs`. Needs no network."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from mpigauge import __version__

project = "mpigauge"
author = "The mpigauge authors"
project_copyright = "The mpigauge authors"
release = version = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
root_doc = "index"

myst_heading_anchors = 3
# Sentences of results have options in them: --all must not become a dash.
smartquotes = False
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"mpigauge {__version__}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_search_scorer = str(Path(__file__).with_name("search-order.js"))
html_extra_path = ["schema.json", "schema-show.json"]

BEFORE_AN_INTERVAL = re.compile(r" (?=[(\N{PLUS-MINUS SIGN}]|in \d)")
"""Blank before an interval, where a number may break in a narrow table."""


def keep_numbers_whole(_: Sphinx, page: nodes.document) -> None:
    """Mark tables for tables.css, so that numbers break only before their intervals."""
    for entry in page.findall(nodes.entry):
        if "text-right" in entry["classes"] and not isinstance(entry.parent.parent, nodes.thead):
            for text in list(entry.findall(nodes.Text)):
                first, *rest = (
                    nodes.inline("", part, classes=["whole"]) for part in BEFORE_AN_INTERVAL.split(text)
                )
                more = [one for part in rest for one in (nodes.Text(" "), part)]
                text.parent.replace(text, [first, *more])


def setup(app: Sphinx) -> None:
    """Register the extension with Sphinx."""
    app.connect("doctree-read", keep_numbers_whole)
