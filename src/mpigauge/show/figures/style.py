"""How figures look, and the files that they become."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from mpigauge.errors import UsageError
from mpigauge.show.words.ascii import printable_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mpigauge.vocabulary import StateName

WIDTH = 6.4
"""Inches: the width of a page's text."""

BLUE, ORANGE, BLACK, RED, SKY, GREEN, PINK = COLOURS = (
    "#0072B2",
    "#E69F00",
    "#000000",
    "#D55E00",
    "#7AC5F0",
    "#009E73",
    "#CC79A7",
)
"""Of Okabe and Ito without the yellow, which is lost on white. The first four are far apart in grey, too; the
light blue is lighter than theirs, which has the grey of the orange."""

STATE_COLOURS: Mapping[StateName | None, str] = {
    "near": BLUE,
    "mid": GREEN,
    "far": RED,
    None: "0.6",
}
"""Of the states of the machine; grey is what is in none."""

LEGEND_INCHES = 0.19

STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 3.2,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "mpigauge",
    "hatch.linewidth": 0.5,
    "text.parse_math": False,
}
"""Names are data, dollar signs included. Fonts are embedded in PDF and text is text in SVG; the same result
gives the same file."""

SMALL: Any = {"fontsize": 7.5, "color": "0.35"}
"""Of what stands below a figure."""


@contextmanager
def style() -> Iterator[None]:
    """How figures look, whatever the user's settings of matplotlib are.

    What matplotlib says of absurd numbers (axes without room, equal limits) helps nobody.
    """
    with mpl.rc_context(), warnings.catch_warnings(action="ignore", category=UserWarning):
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def paper(height: float, rows: int = 0) -> Figure:
    """An empty figure with room for so many rows of legend."""
    whole = Figure(figsize=(WIDTH, height + LEGEND_INCHES * rows), layout="constrained")
    FigureCanvasAgg(whole)
    return whole


def save(whole: Figure, path: Path) -> None:
    """Writes it, without a date.

    Raises:
        UsageError: The file cannot be written.
    """
    for text in whole.findobj(Text):
        text.set_text(printable_lines(text.get_text()))
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})
    try:
        whole.savefig(path, dpi=200, metadata=undated)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written: {error.strerror}", "choose another name for the figure"
        ) from None
