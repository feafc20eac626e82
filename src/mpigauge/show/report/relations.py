"""Sections about several cells together: link maps, states over time, comparisons and models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpigauge.compare import sentences as compare_words
from mpigauge.compare import table as compare_table
from mpigauge.document.document import DOT, Column, Document, Table
from mpigauge.document.state_words import HANDED_OVER, states_lines
from mpigauge.linkmap import table as map_tables
from mpigauge.linkmap.linkmap import map_or_none
from mpigauge.models import table as models_table
from mpigauge.query.query import spread
from mpigauge.query.series import Point, labelled, title_words
from mpigauge.rows.machine.conditions import condition_of
from mpigauge.rows.machine.sessions import visits_begin_s
from mpigauge.rows.machine.split import is_split, split_of
from mpigauge.sequences import group_by
from mpigauge.show.chart import Chart, ChartCurve
from mpigauge.show.figures import lines, style
from mpigauge.show.figures.line_styles import looks_of
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.show.figures.style import STATE_COLOURS
from mpigauge.show.report import maps, said, words
from mpigauge.show.report.curves import parted
from mpigauge.show.report.page import Section, Sentence, grid_of
from mpigauge.show.report.points import picture, table
from mpigauge.units import format_percent, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.compare.comparison import Compared
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.models.modelled import Modelled, Models
    from mpigauge.query.query import Source
    from mpigauge.result.records import Visit
    from mpigauge.show.chart import Quantity
    from mpigauge.show.compared import ComparedSources
    from mpigauge.show.report.given import Given
    from mpigauge.show.report.page import Picture

VISITS_MOST = 1500
"""Points of a chart over time; of more visits so many are drawn, evenly, and the words say so."""

CURVES_MOST = 8
PLAIN: Mapping[str, Any] = {"marker": "o", "linestyle": "-", "markersize": 2.5}


def verdicts(given: Given) -> Iterator[Sentence]:
    """Yield verdicts for the top of the page: of maps, and of a comparison asked for or of builds."""
    for _, shown in _maps(given):
        document = map_tables.document(shown, quiet=True)
        yield from (Sentence(line.text, line.tone, link="map") for line in document.foot)
    if given.comparison is not None and not given.comparison.shown.unasked:
        document = _compared(given, given.comparison)
        tone = compare_table.TONES.get(given.comparison.shown.verdict, "")
        *lead, _ = document.head
        yield Sentence(f"{given.comparison.sides}: {'; '.join(lead)}", tone, link="comparison")


# ---- Maps ----------------------------------------------------------------------------------------


def link_maps(given: Given) -> Section:
    """Return the maps of all pairs."""
    shown = _maps(given)
    documents = [map_tables.document(one) for _, one in shown]
    lead = [line for document in documents for line in document.head]
    foot = [Sentence(line.text, line.tone) for document in documents for line in document.foot]
    charts = [
        maps.picture(f"map-{number}", one, maps.table_of(document))
        for number, ((_, one), document) in enumerate(zip(shown, documents, strict=True))
    ]
    return Section("map", words.TITLES["map"], lead, foot, charts=charts)


def _maps(given: Given) -> list[tuple[Source, LinkMap]]:
    paired = [source for source in given.sources if any(row.cell.pair for row in source.rows)]
    found = [(source, map_or_none(source.result)) for source in paired]
    return [(source, shown) for source, shown in found if shown is not None]


# ---- States --------------------------------------------------------------------------------------


def states(given: Given) -> Section:
    """Return how far apart the ranks were, against time, where the machine had several states."""
    charts: list[Picture] = []
    sentences: list[Sentence] = []
    for number, source in enumerate(given.sources):
        if is_split(source.result):
            sentences += map(Sentence, states_lines(source.result, source.rows))
            charts += _over_time(number, source)
    return Section("states", words.TITLES["states"], sentences=sentences, charts=charts)


def _over_time(number: int, source: Source) -> Iterator[Picture]:
    begins = zip(visits_begin_s(source.result), source.result.visits, strict=True)
    placed = [(begin, visit, condition_of(visit)) for begin, visit in begins]
    for of in dict.fromkeys(state.of for state in split_of(source.result).states):
        known = [
            (visit, Point(begin, condition.middle_s))
            for begin, visit, condition in placed
            if condition is not None and condition.of == of
        ]
        drawn = spread(known, VISITS_MOST)
        part = words.VISITS_DRAWN.format(drawn=len(drawn), of=len(known)) if len(drawn) < len(known) else ""
        mine = [state for state in split_of(source.result).states if state.of == of]
        title = f"{source.name}: {HANDED_OVER[of]}"
        about = "; ".join(filter(None, [words.OVER_TIME, part]))
        table = grid_of(Document(), Table(title, "", mine, _of_states()))
        chart = Chart(
            [*_by_state(source, drawn)],
            "time",
            HANDED_OVER[of],
            across="seconds",
            across_label=words.SINCE_START,
            levels=[state.handover_s for state in mine],
        )
        values = [value for value in chart.values if value > 0]
        linear = len(values) < len(chart.values) or max(values) <= LOG_FROM * min(values)
        yield picture(f"states-{number}-{of}", title, about, replace(chart, linear=linear), table)


def _of_states() -> list[Column]:
    return [
        Column("state", words.STATE, lambda state: state.name, left=True),
        Column("handover_s", words.APART, lambda state: state.handover_s, "s"),
        Column("visits", words.VISITS, lambda state: state.visits, "1"),
        Column("time_share", words.TIME_SHARE, lambda state: format_percent(state.time_share)),
        Column("episodes", words.EPISODES, lambda state: state.episodes, "1"),
    ]


def _by_state(source: Source, drawn: Sequence[tuple[Visit, Point]]) -> Iterator[ChartCurve]:
    for state, mine in group_by(drawn, lambda pair: split_of(source.result).of(pair[0])).items():
        points = [point for _, point in mine]
        colour = STATE_COLOURS[state]
        colour = colour if colour in style.COLOURS else style.PINK
        label = state or words.BETWEEN_STATES
        told = [words.VISIT_AT.format(label, format_time(point.y), point.x) for point in points]
        look = {**PLAIN, "color": colour, "markerfacecolor": colour}
        yield ChartCurve(label, look, [[point] for point in points], told)


# ---- Comparison ----------------------------------------------------------------------------------


def comparison(given: Given) -> Section:
    """Return the section of two that are held against each other."""
    title = words.TITLES["comparison"]
    if given.comparison is None:
        said = [Sentence(f"{words.NOTHING_COMPARED}: {given.not_compared}")] if given.not_compared else []
        return Section("comparison", title, sentences=said)
    brief, whole = (_compared(given, given.comparison, everything=everything) for everything in (False, True))
    return Section(
        "comparison",
        title,
        brief.head,
        [Sentence(line.text, line.tone) for line in whole.foot],
        charts=[*_ratios(given.comparison)],
        grids=[grid_of(brief, table, label=title) for table in brief.tables],
        folded=[grid_of(whole, table, label=title) for table in whole.tables],
    )


def _compared(given: Given, found: ComparedSources, *, everything: bool = False) -> Document:
    shown = found.shown
    return compare_table.document(
        shown,
        shown.verdict,
        found.factors,
        given.query.units,
        found.sides,
        first=found.first,
        everything=everything,
    )


def _ratios(found: ComparedSources) -> Iterator[Picture]:
    """Yield charts of ratios against size, with a curve for all that is compared."""
    unsaid = (
        found.factors | {"bytes"} | compare_words.common(one.pair.base for one in found.shown.cells).keys()
    )
    side_of = compare_words.saying_sides(found.shown.cells, found.factors)

    def name(one: Compared) -> str:
        return DOT.join(filter(None, [compare_words.name_of(one.pair.base, unsaid), side_of(one)]))

    curves = group_by((one for one in found.shown.cells if one.decision is not None), name)
    drawn = [_ratio_curve(number, *each) for number, each in enumerate(curves.items())]
    for number, at in enumerate(range(0, len(drawn), CURVES_MOST)):
        chart = Chart(drawn[at : at + CURVES_MOST], "ratio", words.TIMES_AS_LONG, levels=[1.0])
        yield picture(f"comparison-{number}", found.sides, words.RATIOS, chart, table(found.sides, chart))


def _ratio_curve(number: int, name: str, found: Sequence[Compared]) -> ChartCurve:
    colour = style.COLOURS[number % len(style.COLOURS)]
    marker = lines.MARKERS[number % len(lines.MARKERS)]
    look = {**PLAIN, "markersize": 4.0, "color": colour, "marker": marker, "markerfacecolor": colour}
    points = [
        Point(one.pair.base.cell.bytes, one.decision.ratio, one.decision.low, one.decision.high)
        for one in sorted(found, key=lambda each: each.pair.base.cell.bytes)
        if one.decision is not None
    ]
    told = [_told(name, words.TIMES_AS_LONG, point, "ratio") for point in points]
    return ChartCurve(name, look, [points], told)


def _told(label: str, what: str, point: Point, quantity: Quantity) -> str:
    first = f"{label}, {format_size(int(point.x))}"
    return "\n".join([first, *said.of_value(what, point, quantity, none="")])


# ---- Models --------------------------------------------------------------------------------------


def models(given: Given) -> Section:
    """Return the models of curves, and what they leave."""
    title = words.TITLES["models"]
    if given.models is None:
        return Section("models", title)
    document = models_table.document(given.models, given.query.units)
    names = {one.series.label for one in given.models.found}
    per_curve = [table for table in document.tables if table.title.removesuffix(": breaks") in names]
    return Section(
        "models",
        title,
        document.head,
        [Sentence(line.text, line.tone) for line in document.foot],
        charts=[*_residuals(given, given.models)],
        grids=[grid_of(document, one) for one in document.tables if one not in per_curve],
        folded=[grid_of(document, one) for one in per_curve],
    )


def _residuals(given: Given, models: Models) -> Iterator[Picture]:
    """Yield charts of what the lines of each model leave of its times."""
    by_series = {id(one.series): one for one in models.found}
    for number, part in enumerate(parted([one.series for one in models.found])):
        named, looks = labelled(part), looks_of(given.query, part)
        curves = [
            _left(given, by_series[id(one)], new.label, look)
            for one, new, look in zip(part, named, looks, strict=True)
        ]
        chart = Chart(curves, "share", words.LEFT_BY_MODEL, levels=[0.0])
        title = title_words(part) or named[0].label
        yield picture(f"models-{number}", title, words.RESIDUALS, chart, table(title, chart))


def _left(given: Given, one: Modelled, label: str, look: Mapping[str, Any]) -> ChartCurve:
    rows = {row.cell.bytes: row for row in one.series.rows}
    points = [
        Point(int(size), float(error))
        for size, error in zip(one.model.points.sizes, one.model.left, strict=True)
    ]
    cells = [given.cells.number(one.series.source, rows[int(point.x)]) for point in points]
    told = [_told(label, words.LEFT_BY_MODEL, point, "share") for point in points]
    return ChartCurve(label, look, [points], told, cells)
