"""Figure of a comparison: the ratio of each number, with its interval and its verdict."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from mpigauge.compare import sentences as words
from mpigauge.compare.comparison import Run, runs_of
from mpigauge.compare.table import document
from mpigauge.document.document import DOT
from mpigauge.plan.factors import ALONG
from mpigauge.query.kinds import maker
from mpigauge.rows.group import cell_key, row_key
from mpigauge.sequences import group_by
from mpigauge.show.compared import compare_sources
from mpigauge.show.figures import MAKERS, lines, style
from mpigauge.units import format_percent
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.query.query import Query
    from mpigauge.rows.group import Key
    from mpigauge.show.compared import ComparedSources

MAX_LINES = 44
"""Most lines per page; if there are more, sizes with one verdict share a line, and the smallest differences
are left out.
"""

MAX_CONTROLS = 8
LINE_INCHES = 0.185
AROUND_INCHES = 1.75
"""Height of title, axis and legend."""

LETTERS_OF_TITLE, LETTERS_OF_BASIS, LETTERS_OF_LABEL, LETTERS_NARROW = 88, 98, 26, 14
"""Most letters of a line of the title and of what was compared, and of the label of a line."""

BEYOND_POINTS = 2.5
"""Factor of the points' range up to which an axis extends for their intervals."""

MAX_RATIO_OF_STEPS = 3.0
"""Ratio of its ends up to which an axis has even steps; beyond it has 1, 2 and 5."""

GREY, DARK = "0.6", "0.25"
CONTROL = "control"

VERDICT_STYLES: Mapping[str, Mapping[str, Any]] = {
    "slower": {"color": style.RED, "marker": ">"},
    "faster": {"color": style.BLUE, "marker": "<"},
    "longer": {"color": style.RED, "marker": ">", "markerfacecolor": "white"},
    "shorter": {"color": style.BLUE, "marker": "<", "markerfacecolor": "white"},
    "no difference": {"color": style.BLACK, "marker": "o"},
    "undecided": {"color": style.ORANGE, "marker": "D", "markerfacecolor": "white"},
}
"""Colour and shape of each verdict with a ratio; hollow marks give no verdict."""

NO_RATIO_STYLE: Mapping[str, Any] = {"color": DARK, "marker": "x"}


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Lines of one curve, below their heading.

    Attributes:
        heading: What the lines share; empty where their label says it.
        labels: Label of each line.
    """

    heading: str
    runs: Sequence[Run]
    labels: Sequence[str]
    controls: bool = False


@maker(MAKERS, "compare")
def compare_figure(query: Query) -> Figure:
    """Draw ratios with simultaneous intervals, a line each, and the controls below them."""
    compared = compare_sources(query)
    runs, controls = _lines(compared), _controls(compared)
    if not any(run.worst.decision for run in runs):
        imported = any(source.result.imported for source in query.sources)
        more = "import more texts of each side" if imported else "measure more: --launches 10"
        raise query.lacks("no number has launches enough on both sides", more)
    groups = [*_groups(compared, runs), *_groups(compared, controls, controls=True)]
    whole = style.paper(LINE_INCHES * sum(map(_height, groups)) + AROUND_INCHES)
    axes = whole.add_subplot()
    _thresholds(axes, compared.shown)
    _set_scale(axes, [*runs, *controls], compared.shown, linear=query.linear)
    _draw(axes, groups)
    _title(whole, compared, query)
    _legend(whole, compared.shown, runs, controls)
    return whole


def _height(group: Group) -> int:
    return len(group.runs) + bool(group.heading)


# ---- Which numbers, and in which order -----------------------------------------------------------


def _lines(compared: ComparedSources) -> list[Run]:
    """Return a line per number; if too many, a line per run of sizes, the least urgent left out."""
    cells = [cell for cell in compared.shown.cells if cell.decision is not None or cell.lost]
    runs = [Run((cell,)) for cell in cells]
    if len(runs) > MAX_LINES:
        runs = runs_of(cells, compared.factors | {"bytes"})
    chosen = {id(run) for run in sorted(runs, key=_urgency, reverse=True)[:MAX_LINES]}
    return [run for run in runs if id(run) in chosen]


def _controls(compared: ComparedSources) -> list[Run]:
    runs = [Run((cell,)) for cell in compared.shown.controls if cell.decision is not None]
    return sorted(runs, key=_urgency, reverse=True)[:MAX_CONTROLS]


def _urgency(run: Run) -> tuple[bool, bool, float]:
    """Return the sort key: largest differences first, then possible slowdowns, least certain first."""
    worst = run.worst
    if worst.decision is None:
        return worst.lost, False, 0.0
    differs = worst.decision.verdict in DIFFERENT
    return differs, worst.verdict == "undecided", run.distance if differs else worst.decision.bound


def _groups(compared: ComparedSources, runs: Sequence[Run], *, controls: bool = False) -> list[Group]:
    """Return lines grouped by curve, and by what is compared with the base."""

    def curve_of(run: Run) -> Key:
        pair = run.worst.pair
        return row_key(pair, compared.factors | {"bytes"}), cell_key(pair.other.cell, ALONG)

    curves = group_by(runs, curve_of)
    cells = (*compared.shown.cells, *compared.shown.controls)
    side = words.side_namer(cells, compared.factors)
    names = words.naming_of_pairs(compared.factors, cells)
    return [_group(sorted(curve, key=_bytes), names, side, controls) for curve in curves.values()]


def _bytes(run: Run) -> int:
    return run.cells[0].pair.base.cell.bytes


def _group(
    runs: Sequence[Run], names: words.CellNaming, side: Callable[[Compared], str], controls: bool
) -> Group:
    """Return the lines of a curve; a single line has everything in its label, if that is short.

    Args:
        side: Returns the label of a line's sides.
    """
    first = runs[0].worst
    heading = ", ".join(filter(None, [names.name(first.pair), side(first)]))
    labels = [words.sizes_of(run).partition(" (")[0] for run in runs]
    single_label = f"{heading} {labels[0]}".strip()
    most = LETTERS_OF_LABEL if style.width_in() > style.NARROW else LETTERS_NARROW
    if len(runs) > 1 or len(single_label) > most:
        return Group(heading, runs, labels, controls)
    return Group("", runs, [single_label], controls)


# ---- Marks ---------------------------------------------------------------------------------------


def _mark_style(cell: Compared, *, control: bool) -> Mapping[str, Any]:
    mark_style = VERDICT_STYLES.get(_verdict_word(cell), NO_RATIO_STYLE)
    if not control:
        return mark_style
    hollow = {"markerfacecolor": "white"} if "markerfacecolor" in mark_style else {}
    return {**mark_style, "color": GREY, **hollow}


def _verdict_word(cell: Compared) -> str:
    return words.verdict_of(cell).partition(",")[0]


def _draw(axes: Any, groups: Sequence[Group]) -> None:
    """Draw a line each, from the top; a gap with a rule precedes the controls."""
    line, ticks, labels = 0, [], list[str]()
    for number, group in enumerate(groups):
        if group.controls and number and not groups[number - 1].controls:
            axes.axhline(line - 0.5, color="0.75", linewidth=0.7)
        if group.heading:
            # Nothing is beside it, so the layout must not widen the axes for it.
            on_white = {"facecolor": "white", "linewidth": 0, "pad": 0.5}
            heading = {"color": DARK, "fontweight": "bold", "in_layout": False, "bbox": on_white, "zorder": 2}
            _text(axes, 0.008, line, group.heading, **heading)
            line += 1
        for run in group.runs:
            _mark(axes, line, run, control=group.controls)
            ticks.append(line)
            line += 1
        labels += group.labels
    axes.set_yticks(ticks, labels, fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(line - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _mark(axes: Any, line: int, run: Run, *, control: bool) -> None:
    """Draw a mark with its bar, and both as numbers at the right; words where there is no ratio."""
    mark_style = dict(_mark_style(run.worst, control=control))
    number = run.number
    if number is None or number.low is None or number.high is None:
        _text(axes, 1.015, line, words.verdict_of(run.worst), color=mark_style["color"])
        return
    low, high = axes.get_xlim()
    bar = axes.hlines(line, max(number.low, low), min(number.high, high), color=mark_style["color"])
    bar.set(linewidth=1.2, gid=f"bars-{line}")
    for end, beyond, sign in ((low, number.low < low, "<"), (high, number.high > high, ">")):
        if beyond:
            axes.plot([end], [line], sign, color=mark_style["color"], markersize=3, clip_on=False)
    (mark,) = axes.plot([number.estimate], [line], **mark_style, linestyle="none", markersize=4.5, zorder=3)
    mark.set_gid(f"points-{line}")
    _text(axes, 1.015, line, words.ratio_words(number), color=DARK)


def _text(axes: Any, x: float, line: int, text: str, **more: Any) -> None:
    axes.text(x, line, text, transform=axes.get_yaxis_transform(), va="center", fontsize=7.5, **more)


# ---- Axes and words around -----------------------------------------------------------------------


def _thresholds(axes: Any, shown: Comparison) -> None:
    within = 1 + shown.thresholds.margin
    axes.axvspan(1 / within, within, color="0.5", alpha=0.18, linewidth=0, zorder=0).set_gid("margin")
    axes.axvline(1, color="0.3", linewidth=0.8, zorder=1)
    axes.axvline(1 + shown.thresholds.allow, **_ALLOWED, zorder=1).set_gid("allow")


_ALLOWED: Mapping[str, Any] = {"color": "0.3", "linewidth": 0.8, "linestyle": lines.MARK_DASHES}


def _set_scale(axes: Any, runs: Iterable[Run], shown: Comparison, *, linear: bool) -> None:
    """Set the range to all points, both thresholds, and intervals that do not extend much farther."""
    known = [run.worst.decision for run in runs if run.worst.decision is not None]
    ends = [math.log1p(shown.thresholds.allow), -math.log1p(max(shown.thresholds.margin, 0.01))]
    points = [*ends, *(math.log(cell.estimate) for cell in known)]
    far = max(map(abs, points)) * BEYOND_POINTS
    reach = [*points, *(math.log(end) for cell in known for end in (cell.low, cell.high) if end > 0)]
    low, high = max(min(reach), -far), min(max(reach), far)
    edge = 0.03 * (high - low)
    low, high = math.exp(low - edge), math.exp(high + edge)
    if not linear:
        axes.set_xscale("log")
    axes.set_xlim(low, high)
    _set_up(axes, low, high)


def _set_up(axes: Any, low: float, high: float) -> None:
    steps = (
        MaxNLocator(6, steps=[1, 2, 2.5, 5, 10])
        if high / low < MAX_RATIO_OF_STEPS
        else LogLocator(subs=(1, 2, 5))
    )
    ticks = [tick for tick in steps.tick_values(low, high) if low <= tick <= high]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("times as long: right of 1 is slower")


def _title(whole: Figure, compared: ComparedSources, query: Query) -> None:
    """Write the title: the verdict, and what was compared."""
    shown = compared.shown
    verdict, *_, basis = document(shown, shown.verdict, compared.factors, query.units, compared.sides).head
    whole.suptitle(textwrap.fill(verdict, LETTERS_OF_TITLE), fontsize=9, fontweight="bold")
    whole.axes[0].set_title(_between(basis, DOT, LETTERS_OF_BASIS), **style.SMALL)


def _between(text: str, sign: str, letters: int) -> str:
    """Wrap a text into lines of at most so many characters, broken only at a separator."""
    lines_: list[str] = []
    for part in text.split(sign):
        if lines_ and len(lines_[-1]) + len(sign) + len(part) <= letters:
            lines_[-1] += sign + part
        else:
            lines_.append(part)
    return "\n".join(lines_)


def _legend(whole: Figure, shown: Comparison, runs: Sequence[Run], controls: Sequence[Run]) -> None:
    """Draw the legend: the verdicts that occur, both thresholds, and what is not drawn."""
    occurring = {_verdict_word(run.worst) for run in (*runs, *controls)}
    styles = {word: mark_style for word, mark_style in VERDICT_STYLES.items() if word in occurring}
    styles |= {CONTROL: {"color": GREY, "marker": "o"}} if controls else {}
    handles = [lines.handle({**mark_style, "linestyle": "none"}) for mark_style in styles.values()]
    handles += [lines.handle({"color": "0.85", "linewidth": 7}), lines.handle(_ALLOWED)]
    margin, allow = format_percent(shown.thresholds.margin), format_percent(shown.thresholds.allow)
    labels = [*styles, f"margin {margin}", f"allowed {allow}"]
    notes = _between("; ".join(words.figure_notes(shown, runs, controls)), "; ", LETTERS_OF_BASIS)
    # At the bottom, where it does not collide with a user's title.
    forced = textwrap.fill(words.forced_words(shown), LETTERS_OF_BASIS)
    lines.below(whole, handles, labels, "\n".join(filter(None, [forced, notes])))
    whole.legends[0].get_title().set_multialignment("center")
