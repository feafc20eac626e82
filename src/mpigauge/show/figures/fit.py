"""Layout of text in figures: wrapped titles, no overlapping tick labels, small legends.

Everything is measured in the laid-out figure, since the width of text is unknown before.
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
"""Least gap between adjacent tick labels: with less they look like one word."""

EDGE_INCHES = 0.04
MIN_LETTERS, LONG_WORD = 6, 24
LINE_INCHES = 0.15
"""Height of a line of a title, by which the figure grows."""

SHARE_OF_LEGENDS = 0.32
"""Largest share of legends in the height of a figure."""

MAX_STEPS = 12
WORDS_OF_MARK = "words-of-mark"
"""Prefix of the ids of labels over vertical lines."""

NOTE = "note"
"""Id of small text within axes."""

SMALL_TEXTS = (WORDS_OF_MARK, NOTE)

POINTS_OF_LINE, POINTS_ABOVE = 9.0, 1.0
"""Height of a row of labels over vertical lines, and their distance above the axes."""

NUMBER, JOINT = re.compile(r"(?<=\d) (?=\S)"), "\N{NO-BREAK SPACE}"
"""Space after a number, and its replacement where it must not be broken."""

PAD = 6.0
"""Padding of axes titles, in points."""


def fit(whole: Figure) -> None:
    """Make all text of a finished figure fit into it; it may grow in height.

    To lay a figure out takes longest, so it is done again only after something has changed.
    """
    _wrap_titles(whole)
    changed = [_within_axes(whole), _grow(whole)]
    if any(changed):
        changed = [_within_axes(whole)]
    changed += [_thin(axis) for axes in whole.axes for axis in (axes.xaxis, axes.yaxis)]
    if any(changed):
        _within_axes(whole)


def lay_out(whole: Figure) -> None:
    """Give all parts of a figure their places."""
    engine = whole.get_layout_engine()
    if engine is not None:
        engine.execute(whole)


def box_of(what: Any) -> Bbox:
    """Return the bounding box of an element, in pixels."""
    box: Bbox = what.get_window_extent(what.figure.canvas.get_renderer())
    return box


# ---- Titles --------------------------------------------------------------------------------------


def _wrap_titles(whole: Figure) -> None:
    """Wrap title, notes and heads of legends; the figure grows by the added lines."""
    room = whole.bbox.width - 2 * EDGE_INCHES * whole.dpi
    texts = [*whole.texts, *(legend.get_title() for legend in whole.legends)]
    before = sum(map(_lines, texts))
    for text in texts:
        _wrap(text, room)
    whole.set_figheight(whole.get_figheight() + LINE_INCHES * (sum(map(_lines, texts)) - before))


def _lines(text: Text) -> int:
    return text.get_text().count("\n") + 1


def _within_axes(whole: Figure) -> bool:
    """Wrap titles and labels of axes in the laid-out figure; return whether any of them changed."""
    lay_out(whole)
    changed = False
    for axes in whole.axes:
        left, right = room_of(axes)
        box = axes.get_window_extent()
        middle = (box.x0 + box.x1) / 2
        width = 2 * min(middle - left, right - middle)
        for text in (axes.title, axes.xaxis.label):
            changed |= _wrap(text, width)
        for text in _left_titles(axes):
            changed |= _wrap(text, right - box.x0)
        changed |= _wrap(axes.yaxis.label, box.height, turned=True)
        for text in axes.texts:
            if not text.get_in_layout() and text.get_horizontalalignment() == "left":
                changed |= _shift(text, left, right)
            elif not text.get_in_layout():
                changed |= _wrap(text, box.width)
        changed |= place_marks(axes)
    return changed


def _shift(text: Text, left: float, right: float) -> bool:
    """Move a heading to the left as far as necessary; wrap it if it is wider than its room."""
    changed = _wrap(text, right - left)
    beyond = max(0.0, box_of(text).x1 - right)
    if beyond:
        x, y = text.get_transform().transform(text.get_position())
        x, y = text.get_transform().inverted().transform((x - beyond, y))
        text.set_position((float(x), float(y)))
    return changed or bool(beyond)


def _left_titles(axes: Any) -> list[Text]:
    """Return the left title, for which matplotlib has no public name."""
    words = axes.get_title("left")
    titles = [text for text in axes.get_children() if isinstance(text, Text) and text.get_text() == words]
    return [text for text in titles if words and text not in axes.texts and text is not axes.title]


def room_of(axes: Any) -> tuple[float, float]:
    """Return the horizontal range, in pixels, that axes have to themselves."""
    whole = axes.figure
    edge, width = EDGE_INCHES * whole.dpi, whole.bbox.width
    spec = axes.get_subplotspec()
    if spec is None:
        return edge, width - edge
    spec = spec.get_topmost_subplotspec()
    columns = spec.get_gridspec().ncols
    cell_width = width / columns
    return spec.colspan.start * cell_width + edge, spec.colspan.stop * cell_width - edge


def _wrap(text: Text, room: float, *, turned: bool = False) -> bool:
    """Break lines of a text that is wider than its room, in pixels; return whether it has changed."""
    words = text.get_text()
    if not words.strip():
        return False

    def width() -> float:
        box = box_of(text)
        return box.height if turned else box.width

    letters = max(map(len, words.splitlines()))
    while width() > room and letters > MIN_LETTERS:
        letters = min(letters - 1, max(MIN_LETTERS, int(letters * room / width()) + 1))
        text.set_text(in_lines(words, letters))
    return text.get_text() != words


def in_lines(words: str, letters: int) -> str:
    """Wrap words; numbers stay with their unit, and only very long words are broken."""
    joined = NUMBER.sub(JOINT, words)
    broken = max(map(len, joined.split())) > LONG_WORD
    return "\n".join(
        textwrap.fill(line, letters, break_long_words=broken, break_on_hyphens=False)
        for line in joined.splitlines()
    ).replace(JOINT, " ")


# ---- Words over vertical lines -------------------------------------------------------------------


def place_marks(axes: Any) -> bool:
    """Place labels over vertical lines: within the axes, in several rows where they would overlap.

    Returns:
        Whether the labels take more or less room than before.
    """
    labels = [text for text in axes.texts if str(text.get_gid()).startswith(WORDS_OF_MARK)]
    labels = [text for text in labels if text.get_text()]
    points = 72 / axes.figure.dpi
    extent = axes.get_window_extent()
    rows: list[list[tuple[float, float]]] = []
    before = [(text.get_text(), text.xyann[1]) for text in labels]
    for text in labels:
        _wrap(text, extent.width)
    line = POINTS_OF_LINE * max(map(_lines, labels), default=1)
    for text in sorted(labels, key=lambda label: float(label.xy[0]), reverse=True):
        middle, half = axes.transData.transform((text.xy[0], 1.0))[0], box_of(text).width / 2
        place = max(extent.x0 + half, min(extent.x1 - half, middle))
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
    return before != [(text.get_text(), text.xyann[1]) for text in labels]


def _touch(first: tuple[float, float], second: tuple[float, float], gap: float = 6.0) -> bool:
    return first[0] < second[1] + gap and second[0] < first[1] + gap


# ---- Tick labels ---------------------------------------------------------------------------------


def tick_labels(axis: Any) -> list[tuple[float, Text]]:
    """Return positions and texts of the visible labels of an axis."""
    low, high = sorted(axis.get_view_interval())
    beyond = 1e-9 * (high - low)
    ticks = [tick for tick in axis.get_major_ticks() if low - beyond <= tick.get_loc() <= high + beyond]
    return [
        (float(tick.get_loc()), tick.label1)
        for tick in ticks
        if tick.label1.get_visible() and tick.label1.get_text().strip()
    ]


def _thin(axis: Any) -> bool:
    """Remove tick labels that would overlap others, evenly; that of 0 B, which has no number, stays.

    Ticks that matplotlib chose by the size of the axes are fixed from here on.

    Returns:
        Whether any was removed.
    """
    labels = tick_labels(axis)
    if not labels:
        return False
    gap = GAP_INCHES * axis.figure.dpi if axis.axis_name == "x" else 0.0
    boxes = [box_of(text).padded(gap / 2, 0) for _, text in labels]
    kept = next(
        (choice for choice in _choices(labels, boxes) if not _collide(boxes[at] for at in choice)), [0]
    )
    if len(kept) == len(labels) and isinstance(axis.get_major_locator(), FixedLocator):
        return False
    names, offset = [labels[at][1].get_text() for at in kept], axis.get_major_formatter().get_offset()
    formatter = FixedFormatter(names)
    formatter.set_offset_string(offset)
    axis.set_major_locator(FixedLocator([labels[at][0] for at in kept]))
    axis.set_major_formatter(formatter)
    return len(kept) < len(labels)


def _choices(labels: Sequence[tuple[float, Text]], boxes: Sequence[Bbox]) -> Iterator[list[int]]:
    """Return sets of labels to keep: all, then every second and so on, the largest set first."""
    zero = [at for at, (_, text) in enumerate(labels) if text.get_text() == "0 B"][:1]
    rest = [at for at in range(len(labels)) if at not in zero]
    for step in range(1, MAX_STEPS):
        grids = [rest[phase::step] for phase in range(step)]
        free = [
            [at for at in grid if not any(boxes[at].overlaps(boxes[fixed]) for fixed in zero)]
            for grid in grids
        ]
        yield from ([*zero, *grid] for grid in sorted(free, key=len, reverse=True))


def _collide(boxes: Iterable[Bbox]) -> bool:
    return any(first.overlaps(second) for first, second in combinations(boxes, 2))


# ---- Legends -------------------------------------------------------------------------------------


def _grow(whole: Figure) -> bool:
    """Increase the height of a figure until its legends are a small part of it; return whether it has."""
    heights = [box_of(legend).height for legend in whole.legends]
    rows: dict[int, float] = {}
    for axes in whole.axes:
        if (legend := axes.get_legend()) is not None and (spec := axes.get_subplotspec()) is not None:
            rows[spec.rowspan.stop] = max(rows.get(spec.rowspan.stop, 0.0), box_of(legend).height)
    needed = sum([*heights, *rows.values()]) / SHARE_OF_LEGENDS / whole.dpi
    height = float(whole.get_figheight())
    whole.set_figheight(max(height, needed))
    return needed > height
