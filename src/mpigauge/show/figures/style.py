"""Style of figures, and the files that they are saved to."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from mpigauge import __version__
from mpigauge.atomic_file import open_output
from mpigauge.document.plain_signs import printable_lines
from mpigauge.inputs import check_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


WIDTH = 6.4
"""Inches: the width of the text on a page."""

BLUE, ORANGE, BLACK, RED, SKY, GREEN, PINK = COLOURS = (
    "#0072B2",
    "#E69F00",
    "#000000",
    "#D55E00",
    "#7AC5F0",
    "#009E73",
    "#CC79A7",
)
"""Colours of Okabe and Ito without the yellow, which is lost on white. The first four are far apart in grey,
too; the light blue is lighter than theirs, which has the grey of the orange.
"""

LEGEND_INCHES = 0.19
DPI = 200
"""Resolution of a figure as PNG."""


NARROW = 4.5
"""Inches below which panels are stacked: the width of a column on a two-column page."""

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
    "text.hinting": "none",
}
"""Names are data, dollar signs included. Text without hinting is as wide in the saved file as where `fit`
measures it, at another resolution. Fonts are embedded in PDF and text is text in SVG; the same result
gives the same file."""

STYLE_NARROW: Any = {"legend.fontsize": 7, "legend.handlelength": 2.4, "legend.columnspacing": 1.2}
"""Further settings for the width of a column, where legends take most room."""

SMALL: Any = {"fontsize": 7.5, "color": "0.35"}
"""Style of text below a figure."""


@contextmanager
def style(width_in: float | None = None) -> Iterator[None]:
    """Apply our style, whatever the user's settings of matplotlib are.

    Args:
        width_in: Width of the figures, in inches; None for the usual one.

    Warnings of matplotlib on extreme numbers (axes without room, equal limits) are suppressed.
    """
    with mpl.rc_context(), warnings.catch_warnings(action="ignore", category=UserWarning):
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE | (STYLE_NARROW if (width_in or WIDTH) <= NARROW else {}))
        mpl.rcParams["figure.figsize"] = (width_in or WIDTH, WIDTH)
        yield


def width_in() -> float:
    """Return the width of figures made now, in inches."""
    return float(mpl.rcParams["figure.figsize"][0])


def paper(height: float, rows: int = 0) -> Figure:
    """Return an empty figure with room for so many rows of legend."""
    whole = Figure(figsize=(width_in(), height + LEGEND_INCHES * rows), layout="constrained")
    FigureCanvasAgg(whole)
    return whole


def save(whole: Figure, path: Path, metadata_lines: Sequence[str] = ()) -> None:
    """Write a figure to a file, without a date.

    Args:
        metadata_lines: Lines for its metadata: source of its numbers, and what drew it.

    Raises:
        EnvironmentLacksError: The file cannot be written.
    """
    check_output(path)
    for text in whole.findobj(Text):
        text.set_text(printable_lines(text.get_text()))
    program, words = f"mpigauge {__version__}", printable_lines("\n".join(metadata_lines))
    metadata: dict[str, dict[str, str | None]] = {
        ".png": {"Software": program, "Description": words},
        ".svg": {"Date": None, "Creator": program, "Description": words},
        ".pdf": {"CreationDate": None, "Creator": program, "Subject": words},
    }
    form = path.suffix.lower()
    with open_output(path, overwrite=True) as file:
        whole.savefig(file, format=form.removeprefix("."), dpi=DPI, metadata=metadata[form])
