"""How Sphinx builds these pages: `make docs`. Needs no network."""

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
html_extra_path = ["schema.json", "schema-show.json"]
