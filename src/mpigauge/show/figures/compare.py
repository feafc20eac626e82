"""A comparison as a figure: how many times as long each number takes, with its interval and its verdict."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from mpigauge.compare import sentences as words
from mpigauge.compare.comparison import Run, distance, runs_of
from mpigauge.compare.table import document
from mpigauge.document.document import DOT
from mpigauge.plan.factors import ALONG
from mpigauge.query.kinds import maker
from mpigauge.rows.group import cell_key, row_key
from mpigauge.sequences import group_by
from mpigauge.show.compared import held
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

LINES_MOST = 44
"""On one page; of more, sizes with one verdict become a line, and what differs least is left out."""

CONTROLS_MOST = 8
LINE_INCHES = 0.185
AROUND_INCHES = 1.75
"""What title, axis and legend take."""

LETTERS_OF_TITLE, LETTERS_OF_BASIS, LETTERS_OF_LABEL = 88, 98, 26
BEYOND_POINTS = 2.5
"""How many times as far as the points an axis reaches for their intervals."""

NARROW = 3.0
"""Up to this ratio of its ends an axis has round steps, beyond it 1, 2 and 5."""

GREY, DARK = "0.6", "0.25"
CONTROL = "control"

LOOKS: Mapping[str, Mapping[str, Any]] = {
    "slower": {"color": style.RED, "marker": ">"},
    "faster": {"color": style.BLUE, "marker": "<"},
    "longer": {"color": style.RED, "marker": ">", "markerfacecolor": "white"},
    "shorter": {"color": style.BLUE, "marker": "<", "markerfacecolor": "white"},
    "no difference": {"color": style.BLACK, "marker": "o"},
    "undecided": {"color": style.ORANGE, "marker": "D", "markerfacecolor": "white"},
}
"""Of each verdict with a ratio, a colour and a shape; hollow is what gives no verdict."""

OTHERWISE: Mapping[str, Any] = {"color": DARK, "marker": "x"}


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Lines of one curve, under their heading.

    Attributes:
        heading: What they are of; empty where their label says it.
        labels: Of each line.
    """

    heading: str
    runs: Sequence[Run]
    labels: Sequence[str]
    controls: bool = False


@maker(MAKERS, "compare")
def compare_figure(query: Query) -> Figure:
    """Ratios with the intervals that hold for all numbers at once, a line each; controls below them."""
    found = held(query)
    runs, controls = _lines(found), _controls(found)
    if not any(run.worst.decision for run in (*runs, *controls)):
        raise query.lacks("no number has launches enough on both sides", "measure more: --launches 10")
    groups = [*_groups(found, runs), *_groups(found, controls, controls=True)]
    whole = style.paper(LINE_INCHES * sum(map(_height, groups)) + AROUND_INCHES)
    axes = whole.add_subplot()
    _thresholds(axes, found.shown)
    _set_scale(axes, [*runs, *controls], found.shown, linear=query.linear)
    _draw(axes, groups)
    _title(whole, found, query)
    _legend(whole, found.shown, runs, controls)
    return whole


def _height(group: Group) -> int:
    return len(group.runs) + bool(group.heading)


# ---- Which numbers, and in which order -----------------------------------------------------------


def _lines(found: ComparedSources) -> list[Run]:
    """A line each; if they are too many, a line a run, and what is least urgent is left out."""
    cells = [one for one in found.shown.cells if one.decision is not None or one.lost]
    runs = [Run((one,), 1) for one in cells]
    if len(runs) > LINES_MOST:
        runs = runs_of(cells, found.factors | {"bytes"})
    chosen = {id(run) for run in sorted(runs, key=_urgency, reverse=True)[:LINES_MOST]}
    return [run for run in runs if id(run) in chosen]


def _controls(found: ComparedSources) -> list[Run]:
    runs = [Run((one,), 1) for one in found.shown.controls if one.decision is not None]
    return sorted(runs, key=_urgency, reverse=True)[:CONTROLS_MOST]


def _urgency(run: Run) -> tuple[bool, bool, float]:
    """What differs, the most first; then what may be slower, the least certain first."""
    one = run.worst
    if one.decision is None:
        return one.lost, False, 0.0
    differs = one.decision.verdict in DIFFERENT
    return differs, one.verdict == "undecided", distance(one) if differs else one.decision.bound


def _groups(found: ComparedSources, runs: Sequence[Run], *, controls: bool = False) -> list[Group]:
    """By curve, and by what is held against its base."""

    def curve(run: Run) -> Key:
        pair = run.worst.pair
        return row_key(pair.base, found.factors | {"bytes"}), cell_key(pair.other.cell, ALONG)

    curves = group_by(runs, curve)
    compared = (*found.shown.cells, *found.shown.controls)
    side = words.saying_sides(compared, found.factors)
    unsaid = frozenset({*found.factors, *words.common(one.pair.base for one in compared)})
    return [_group(sorted(curve, key=_bytes), unsaid, side, controls) for curve in curves.values()]


def _bytes(run: Run) -> int:
    return run.cells[0].pair.base.cell.bytes


def _group(
    runs: Sequence[Run], unsaid: frozenset[str], side: Callable[[Compared], str], controls: bool
) -> Group:
    """A curve; a line that is alone has all in its label, if it is short.

    Args:
        side: What is said of the sides of a line.
    """
    one = runs[0].worst
    heading = ", ".join(filter(None, [words.name_of(one.pair.base, unsaid), side(one)]))
    labels = [words.size_of(run).partition(" (")[0] for run in runs]
    alone = f"{heading} {labels[0]}".strip()
    if len(runs) > 1 or len(alone) > LETTERS_OF_LABEL:
        return Group(heading, runs, labels, controls)
    return Group("", runs, [alone], controls)


# ---- Marks ---------------------------------------------------------------------------------------


def _look(one: Compared, *, control: bool) -> Mapping[str, Any]:
    look = LOOKS.get(_word(one), OTHERWISE)
    if not control:
        return look
    hollow = {"markerfacecolor": "white"} if "markerfacecolor" in look else {}
    return {**look, "color": GREY, **hollow}


def _word(one: Compared) -> str:
    return words.verdict_of(one).partition(",")[0]


def _draw(axes: Any, groups: Sequence[Group]) -> None:
    """From the top, a line each; a gap before the controls is a rule."""
    line, ticks, labels = 0, [], list[str]()
    for number, group in enumerate(groups):
        if group.controls and number and not groups[number - 1].controls:
            axes.axhline(line - 0.5, color="0.75", linewidth=0.7)
        if group.heading:
            # Nothing stands beside it, so the axes need not be as wide as it is.
            _text(axes, 0.008, line, group.heading, color=DARK, fontweight="bold", in_layout=False)
            line += 1
        for run in group.runs:
            _mark(axes, line, run.worst, control=group.controls)
            ticks.append(line)
            line += 1
        labels += group.labels
    axes.set_yticks(ticks, labels, fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(line - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _mark(axes: Any, line: int, one: Compared, *, control: bool) -> None:
    """A mark with its bar, and both in figures at the right; words where there is no ratio."""
    look = dict(_look(one, control=control))
    decision = one.decision
    if decision is None:
        _text(axes, 1.015, line, words.verdict_of(one), color=look["color"])
        return
    low, high = axes.get_xlim()
    bar = axes.hlines(line, max(decision.low, low), min(decision.high, high), color=look["color"])
    bar.set(linewidth=1.2, gid=f"bars-{line}")
    for end, beyond, sign in ((low, decision.low < low, "<"), (high, decision.high > high, ">")):
        if beyond:
            axes.plot([end], [line], sign, color=look["color"], markersize=3, clip_on=False)
    (mark,) = axes.plot([decision.ratio], [line], **look, linestyle="none", markersize=4.5, zorder=3)
    mark.set_gid(f"points-{line}")
    _text(axes, 1.015, line, words.ratio_words(decision), color=DARK)


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
    """All points, both thresholds, and of intervals what is not much farther."""
    known = [run.worst.decision for run in runs if run.worst.decision is not None]
    ends = [math.log1p(shown.thresholds.allow), -math.log1p(max(shown.thresholds.margin, 0.01))]
    points = [*ends, *(math.log(one.ratio) for one in known)]
    far = max(map(abs, points)) * BEYOND_POINTS
    reach = [*points, *(math.log(end) for one in known for end in (one.low, one.high) if end > 0)]
    low, high = max(min(reach), -far), min(max(reach), far)
    edge = 0.03 * (high - low)
    low, high = math.exp(low - edge), math.exp(high + edge)
    if not linear:
        axes.set_xscale("log")
    axes.set_xlim(low, high)
    _dress(axes, low, high)


def _dress(axes: Any, low: float, high: float) -> None:
    steps = MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]) if high / low < NARROW else LogLocator(subs=(1, 2, 5))
    ticks = [tick for tick in steps.tick_values(low, high) if low <= tick <= high]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("times as long: right of 1 is slower")


def _title(whole: Figure, found: ComparedSources, query: Query) -> None:
    """What `mpigauge compare` says first: the verdict, and what it is of."""
    shown = found.shown
    verdict, *_, basis = document(shown, shown.verdict, found.factors, query.units, found.sides).head
    whole.suptitle(textwrap.fill(verdict, LETTERS_OF_TITLE), fontsize=9, fontweight="bold")
    whole.axes[0].set_title(_between(basis, DOT, LETTERS_OF_BASIS), **style.SMALL)


def _between(text: str, sign: str, letters: int) -> str:
    """Lines of so many letters, broken only where a sign separates them."""
    found: list[str] = []
    for part in text.split(sign):
        if found and len(found[-1]) + len(sign) + len(part) <= letters:
            found[-1] += sign + part
        else:
            found.append(part)
    return "\n".join(found)


def _legend(whole: Figure, shown: Comparison, runs: Sequence[Run], controls: Sequence[Run]) -> None:
    """The verdicts that there are, both thresholds, and what is not drawn."""
    there = {_word(run.worst) for run in (*runs, *controls)}
    looks = {word: look for word, look in LOOKS.items() if word in there}
    looks |= {CONTROL: {"color": GREY, "marker": "o"}} if controls else {}
    handles = [lines.handle({**look, "linestyle": "none"}) for look in looks.values()]
    handles += [lines.handle({"color": "0.85", "linewidth": 7}), lines.handle(_ALLOWED)]
    margin, allow = format_percent(shown.thresholds.margin), format_percent(shown.thresholds.allow)
    labels = [*looks, f"margin {margin}", f"allowed {allow}"]
    notes = _between("; ".join(words.of_figure(shown, runs, controls)), "; ", LETTERS_OF_BASIS)
    # Below, where no title of a user takes its place.
    forced = textwrap.fill(words.forced(shown), LETTERS_OF_BASIS)
    lines.below(whole, handles, labels, "\n".join(filter(None, [forced, notes])))
    whole.legends[0].get_title().set_multialignment("center")
