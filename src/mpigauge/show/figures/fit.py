"""Words that fit: titles are wrapped, tick labels that would touch are left out, legends stay small.

All of it is measured in the figure as it will be laid out: nobody knows the width of words before.
"""

from __future__ import annotations

import re
import textwrap
from itertools import combinations
from typing import TYPE_CHECKING, Any

from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FixedLocator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

GAP_INCHES = 0.05
"""Between tick labels beside each other: less looks like one word."""

EDGE_INCHES = 0.04
LETTERS_LEAST, LONG_WORD = 6, 24
LINE_INCHES = 0.15
"""A line of a title, by which the figure grows."""

SHARE_OF_LEGENDS = 0.32
"""Of the height, at most."""

STEPS_MOST = 12
WORDS_OF_MARK = "words-of-mark"
"""Names of words over a vertical line begin with it."""

POINTS_OF_LINE, POINTS_ABOVE = 9.0, 1.0
"""Of words over vertical lines: a row of them, and how far above the axes the first stands."""

NUMBER, JOINT = re.compile(r"(?<=\d) (?=\S)"), "\N{NO-BREAK SPACE}"
"""The space behind a number, and what stands for it where it must not be broken."""

PAD = 6.0
"""Of titles of axes, in points."""


def fit(whole: Figure) -> None:
    """Make all words of a finished figure fit into it; it may grow in height."""
    _wrap_around(whole)
    _within_axes(whole)
    _grow(whole)
    _within_axes(whole)
    for axes in whole.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _thin(axis)
    _within_axes(whole)


def _lay_out(whole: Figure) -> None:
    engine = whole.get_layout_engine()
    if engine is not None:
        engine.execute(whole)


def box_of(what: Any) -> Bbox:
    """Where something stands, in pixels."""
    found: Bbox = what.get_window_extent(what.figure.canvas.get_renderer())
    return found


# ---- Titles --------------------------------------------------------------------------------------


def _wrap_around(whole: Figure) -> None:
    """Title, notes and the heads of legends; the figure grows by the lines that this adds."""
    room = whole.bbox.width - 2 * EDGE_INCHES * whole.dpi
    around = [*whole.texts, *(legend.get_title() for legend in whole.legends)]
    before = sum(map(_lines, around))
    for text in around:
        _wrap(text, room)
    whole.set_figheight(whole.get_figheight() + LINE_INCHES * (sum(map(_lines, around)) - before))


def _lines(text: Text) -> int:
    return text.get_text().count("\n") + 1


def _within_axes(whole: Figure) -> None:
    """Titles and labels of axes in as many lines as they need."""
    _lay_out(whole)
    for axes in whole.axes:
        left, right = _cell(axes)
        box = axes.get_window_extent()
        middle = (box.x0 + box.x1) / 2
        around = 2 * min(middle - left, right - middle)
        for text in (axes.title, axes.xaxis.label):
            _wrap(text, around)
        for text in _left_titles(axes):
            _wrap(text, right - box.x0)
        _wrap(axes.yaxis.label, box.height, turned=True)
        for text in axes.texts:
            if not text.get_in_layout() and text.get_horizontalalignment() == "left":
                _shift(text, left, right)
            elif not text.get_in_layout():
                _wrap(text, box.width)
        place_marks(axes)


def _shift(text: Text, left: float, right: float) -> None:
    """Move a heading, beside which nothing stands, to the left as far as it must; wrap it if it is wider."""
    _wrap(text, right - left)
    beyond = max(0.0, box_of(text).x1 - right)
    if beyond:
        x, y = text.get_transform().transform(text.get_position())
        x, y = text.get_transform().inverted().transform((x - beyond, y))
        text.set_position((float(x), float(y)))


def _left_titles(axes: Any) -> list[Text]:
    """The title at the left, for which matplotlib has no name."""
    words = axes.get_title("left")
    mine = [one for one in axes.get_children() if isinstance(one, Text) and one.get_text() == words]
    return [one for one in mine if words and one not in axes.texts and one is not axes.title]


def _cell(axes: Any) -> tuple[float, float]:
    """From where to where nothing else stands beside axes, in pixels."""
    whole = axes.figure
    edge, width = EDGE_INCHES * whole.dpi, whole.bbox.width
    spec = axes.get_subplotspec()
    if spec is None:
        return edge, width - edge
    columns = spec.get_gridspec().ncols
    one = width / columns
    return spec.colspan.start * one + edge, spec.colspan.stop * one - edge


def _wrap(text: Text, room: float, *, turned: bool = False) -> None:
    """Break lines of a text where it is wider than its room, in pixels."""
    words = text.get_text()
    if not words.strip():
        return

    def width() -> float:
        box = box_of(text)
        return box.height if turned else box.width

    letters = max(map(len, words.splitlines()))
    while width() > room and letters > LETTERS_LEAST:
        letters = min(letters - 1, max(LETTERS_LEAST, int(letters * room / width()) + 1))
        text.set_text(in_lines(words, letters))


def in_lines(words: str, letters: int) -> str:
    """Lines of so many letters at most; a number stays with its unit, and only very long words are broken."""
    joined = NUMBER.sub(JOINT, words)
    broken = max(map(len, joined.split())) > LONG_WORD
    return "\n".join(
        textwrap.fill(line, letters, break_long_words=broken, break_on_hyphens=False)
        for line in joined.splitlines()
    ).replace(JOINT, " ")


# ---- Words over vertical lines -------------------------------------------------------------------


def place_marks(axes: Any) -> None:
    """Words over vertical lines: within the axes, in rows above each other where they would touch."""
    mine = [text for text in axes.texts if str(text.get_gid()).startswith(WORDS_OF_MARK)]
    mine = [text for text in mine if text.get_text()]
    points = 72 / axes.figure.dpi
    around = axes.get_window_extent()
    rows: list[list[tuple[float, float]]] = []
    for text in mine:
        _wrap(text, around.width)
    line = POINTS_OF_LINE * max(map(_lines, mine), default=1)
    for text in sorted(mine, key=lambda one: float(one.xy[0]), reverse=True):
        middle, half = axes.transData.transform((text.xy[0], 1.0))[0], box_of(text).width / 2
        place = max(around.x0 + half, min(around.x1 - half, middle))
        ends = (place - half, place + half)
        row = next((row for row in rows if not any(_touch(ends, other) for other in row)), None)
        if row is None:
            rows.append(row := [])
        row.append(ends)
        height = POINTS_ABOVE + line * rows.index(row)
        text.xyann = ((place - middle) * points, height)
    for loc in ("left", "center"):
        if rows and (title := axes.get_title(loc)):
            axes.set_title(title, loc=loc, pad=PAD + line * len(rows))


def _touch(one: tuple[float, float], other: tuple[float, float], gap: float = 6.0) -> bool:
    return one[0] < other[1] + gap and other[0] < one[1] + gap


# ---- Tick labels ---------------------------------------------------------------------------------


def tick_labels(axis: Any) -> list[tuple[float, Text]]:
    """Places and texts of the labels of an axis that are seen."""
    low, high = sorted(axis.get_view_interval())
    beyond = 1e-9 * (high - low)
    ticks = [tick for tick in axis.get_major_ticks() if low - beyond <= tick.get_loc() <= high + beyond]
    return [
        (float(tick.get_loc()), tick.label1)
        for tick in ticks
        if tick.label1.get_visible() and tick.label1.get_text().strip()
    ]


def _thin(axis: Any) -> None:
    """Leave out tick labels that would touch others, evenly; the place of 0 B, which has no number, stays.

    Ticks that matplotlib chooses by the size of the axes stay as they are from here on.
    """
    found = tick_labels(axis)
    if not found:
        return
    gap = GAP_INCHES * axis.figure.dpi if axis.axis_name == "x" else 0.0
    boxes = [box_of(text).padded(gap / 2, 0) for _, text in found]
    kept = next((mine for mine in _choices(found, boxes) if not _collide(boxes[at] for at in mine)), [0])
    if len(kept) == len(found) and isinstance(axis.get_major_locator(), FixedLocator):
        return
    names, offset = [found[at][1].get_text() for at in kept], axis.get_major_formatter().get_offset()
    formatter = FixedFormatter(names)
    formatter.set_offset_string(offset)
    axis.set_major_locator(FixedLocator([found[at][0] for at in kept]))
    axis.set_major_formatter(formatter)


def _choices(found: Sequence[tuple[float, Text]], boxes: Sequence[Bbox]) -> Iterator[list[int]]:
    """Numbers of labels that may be kept: all, then every second and so on, the most first."""
    zero = [at for at, (_, text) in enumerate(found) if text.get_text() == "0 B"][:1]
    rest = [at for at in range(len(found)) if at not in zero]
    for step in range(1, STEPS_MOST):
        grids = [rest[phase::step] for phase in range(step)]
        free = [
            [at for at in grid if not any(boxes[at].overlaps(boxes[one]) for one in zero)] for grid in grids
        ]
        yield from ([*zero, *grid] for grid in sorted(free, key=len, reverse=True))


def _collide(boxes: Iterable[Bbox]) -> bool:
    return any(one.overlaps(other) for one, other in combinations(boxes, 2))


# ---- Legends -------------------------------------------------------------------------------------


def _grow(whole: Figure) -> None:
    """Make a figure so high that its legends are a small part of it."""
    heights = [box_of(legend).height for legend in whole.legends]
    rows: dict[int, float] = {}
    for axes in whole.axes:
        if (legend := axes.get_legend()) is not None and (spec := axes.get_subplotspec()) is not None:
            rows[spec.rowspan.stop] = max(rows.get(spec.rowspan.stop, 0.0), box_of(legend).height)
    needed = sum([*heights, *rows.values()]) / SHARE_OF_LEGENDS / whole.dpi
    whole.set_figheight(max(float(whole.get_figheight()), needed))
