"""Sections about several cells together: link maps, states over time, comparisons and models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpigauge.compare import sentences as compare_words
from mpigauge.compare import table as compare_table
from mpigauge.document.document import DOT, Column, Document, Table
from mpigauge.document.phrases import state_name
from mpigauge.document.state_words import HANDED_OVER, states_lines
from mpigauge.linkmap import table as map_tables
from mpigauge.linkmap.linkmap import map_or_none
from mpigauge.models import table as models_table
from mpigauge.query.query import thinned
from mpigauge.query.series import Point, title_words, with_labels
from mpigauge.rows.machine.conditions import condition_of
from mpigauge.rows.machine.sessions import visits_begin_s
from mpigauge.rows.machine.split import is_split, split_of
from mpigauge.sequences import group_by
from mpigauge.show.chart import Chart, ChartCurve
from mpigauge.show.figures import lines, style
from mpigauge.show.figures.line_styles import styles_of
from mpigauge.show.figures.ratios import LOG_FROM
from mpigauge.show.figures.states import COLOURS as STATE_COLOURS
from mpigauge.show.report import maps, point_texts, words
from mpigauge.show.report.curves import parted
from mpigauge.show.report.page import Section, Sentence, grid_of
from mpigauge.show.report.points import picture, table
from mpigauge.units import format_percent, format_size, format_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.compare.comparison import Compared
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.models.modelled import CurveModel, Models
    from mpigauge.query.query import Source
    from mpigauge.result.records import Visit
    from mpigauge.show.chart import Quantity
    from mpigauge.show.compared import ComparedSources
    from mpigauge.show.report.inputs import PageInputs
    from mpigauge.show.report.page import Picture
    from mpigauge.vocabulary import Distance

MAX_VISITS = 1500
"""Most points of a chart over time; of more visits an even selection is drawn, and noted."""

MAX_CURVES = 8
PLAIN: Mapping[str, Any] = {"marker": "o", "linestyle": "-", "markersize": 2.5}


def verdicts(inputs: PageInputs) -> Iterator[Sentence]:
    """Yield verdicts for the top of the page: of maps, and of a comparison if one was asked for."""
    for _, shown in _maps(inputs):
        document = map_tables.document(shown, quiet=True, remedies=False)
        yield from (Sentence(line.text, line.tone, link="map") for line in document.foot)
    if inputs.comparison is not None and not inputs.comparison.shown.unasked:
        document = _compared(inputs, inputs.comparison)
        tone = compare_table.TONES.get(inputs.comparison.shown.verdict, "")
        *lead, _ = document.head
        yield Sentence(f"{inputs.comparison.sides}: {'; '.join(lead)}", tone, link="comparison")


# ---- Maps ----------------------------------------------------------------------------------------


def link_maps(inputs: PageInputs) -> Section:
    """Return the section of link maps."""
    shown = _maps(inputs)
    documents = [map_tables.document(link_map, remedies=False) for _, link_map in shown]
    lead = [line for document in documents for line in document.head]
    foot = [Sentence(line.text, line.tone) for document in documents for line in document.foot]
    charts = [
        maps.picture(f"map-{number}", link_map, maps.table_of(document))
        for number, ((_, link_map), document) in enumerate(zip(shown, documents, strict=True))
    ]
    return Section("map", words.TITLES["map"], lead, foot, charts=charts)


def _maps(inputs: PageInputs) -> list[tuple[Source, LinkMap]]:
    paired = [source for source in inputs.sources if any(row.cell.pair for row in source.rows)]
    maps = [(source, map_or_none(source.result)) for source in paired]
    return [(source, shown) for source, shown in maps if shown is not None]


# ---- States --------------------------------------------------------------------------------------


def states(inputs: PageInputs) -> Section:
    """Return the section of distances between ranks over time, if the machine had several states."""
    charts: list[Picture] = []
    sentences: list[Sentence] = []
    for number, source in enumerate(inputs.sources):
        if is_split(source.result):
            sentences += map(Sentence, states_lines(source.result, source.rows, remedies=False))
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
        drawn = thinned(known, MAX_VISITS)
        part = words.VISITS_DRAWN.format(drawn=len(drawn), of=len(known)) if len(drawn) < len(known) else ""
        states_of_kind = [state for state in split_of(source.result).states if state.of == of]
        title = f"{source.name}: {HANDED_OVER[of]}"
        about = "; ".join(filter(None, [words.OVER_TIME, part]))
        table = grid_of(Document(), Table(title, "", states_of_kind, _of_states()))
        chart = Chart(
            [*_by_state(source, of, drawn)],
            "time",
            HANDED_OVER[of],
            across="seconds",
            across_label=words.SINCE_START,
            levels=[state.handover_s for state in states_of_kind],
        )
        values = [value for value in chart.values if value > 0]
        linear = len(values) < len(chart.values) or max(values) <= LOG_FROM * min(values)
        yield picture(f"states-{number}-{of}", title, about, replace(chart, linear=linear), table)


def _of_states() -> list[Column]:
    return [
        Column("state", words.STATE, lambda state: state_name(state.of, state.name), left=True),
        Column("handover_s", words.APART, lambda state: state.handover_s, "s"),
        Column("visits", words.VISITS, lambda state: state.visits, "1"),
        Column("time_share", words.TIME_SHARE, lambda state: format_percent(state.time_share)),
        Column("episodes", words.EPISODES, lambda state: state.episodes, "1"),
    ]


def _by_state(source: Source, of: Distance, drawn: Sequence[tuple[Visit, Point]]) -> Iterator[ChartCurve]:
    for state, visits_ in group_by(drawn, lambda pair: split_of(source.result).of(pair[0])).items():
        points = [point for _, point in visits_]
        colour = STATE_COLOURS[state]
        colour = colour if colour in style.COLOURS else style.PINK
        label = state_name(of, state) if state else words.BETWEEN_STATES
        texts = [words.VISIT_AT.format(label, format_time(point.y), point.x) for point in points]
        curve_style = {**PLAIN, "color": colour, "markerfacecolor": colour}
        yield ChartCurve(label, curve_style, [[point] for point in points], texts)


# ---- Comparison ----------------------------------------------------------------------------------


def comparison(inputs: PageInputs) -> Section:
    """Return the section of the comparison."""
    title = words.TITLES["comparison"]
    if inputs.comparison is None:
        sentences = (
            [Sentence(f"{words.NOTHING_COMPARED}: {inputs.not_compared}")] if inputs.not_compared else []
        )
        return Section("comparison", title, sentences=sentences)
    brief, whole = (
        _compared(inputs, inputs.comparison, everything=everything) for everything in (False, True)
    )
    return Section(
        "comparison",
        title,
        brief.head,
        [Sentence(line.text, line.tone) for line in whole.foot],
        charts=[*_ratios(inputs.comparison)],
        grids=[grid_of(brief, table, label=title) for table in brief.tables],
        folded=[grid_of(whole, table, label=title) for table in whole.tables],
    )


def _compared(inputs: PageInputs, compared: ComparedSources, *, everything: bool = False) -> Document:
    shown = compared.shown
    return compare_table.document(
        shown,
        shown.verdict,
        compared.factors,
        inputs.query.units,
        compared.sides,
        first=compared.first,
        states=compared.states,
        everything=everything,
        remedies=False,
    )


def _ratios(compared: ComparedSources) -> Iterator[Picture]:
    """Yield charts of ratios against size, with a curve per comparison."""
    names = compare_words.naming_of_pairs(compared.factors, compared.shown.cells)
    side_of = compare_words.side_namer(compared.shown.cells, compared.factors)

    def name(cell: Compared) -> str:
        return DOT.join(filter(None, [names.name(cell.pair), side_of(cell)]))

    curves = group_by((cell for cell in compared.shown.cells if cell.decision is not None), name)
    drawn = [_ratio_curve(number, *named_cells) for number, named_cells in enumerate(curves.items())]
    for number, at in enumerate(range(0, len(drawn), MAX_CURVES)):
        chart = Chart(drawn[at : at + MAX_CURVES], "ratio", words.TIMES_AS_LONG, levels=[1.0])
        yield picture(
            f"comparison-{number}", compared.sides, words.RATIOS, chart, table(compared.sides, chart)
        )


def _ratio_curve(number: int, name: str, cells: Sequence[Compared]) -> ChartCurve:
    colour = style.COLOURS[number % len(style.COLOURS)]
    marker = lines.MARKERS[number % len(lines.MARKERS)]
    curve_style = {**PLAIN, "markersize": 4.0, "color": colour, "marker": marker, "markerfacecolor": colour}
    points = [
        Point(cell.pair.base.cell.bytes, cell.decision.estimate, cell.decision.low, cell.decision.high)
        for cell in sorted(cells, key=lambda cell: cell.pair.base.cell.bytes)
        if cell.decision is not None
    ]
    texts = [_point_text(name, words.TIMES_AS_LONG, point, "ratio") for point in points]
    return ChartCurve(name, curve_style, [points], texts)


def _point_text(label: str, what: str, point: Point, quantity: Quantity) -> str:
    first = f"{label}, {format_size(int(point.x))}"
    return "\n".join([first, *point_texts.of_value(what, point, quantity, none="")])


# ---- Models --------------------------------------------------------------------------------------


def models(inputs: PageInputs) -> Section:
    """Return the section of models of curves, and their residuals."""
    title = words.TITLES["models"]
    if inputs.models is None:
        return Section("models", title)
    document = models_table.document(inputs.models, inputs.query.units)
    names = {model.series.label for model in inputs.models.found}
    per_curve = [table for table in document.tables if table.title.removesuffix(": breaks") in names]
    return Section(
        "models",
        title,
        document.head,
        [Sentence(line.text, line.tone) for line in document.foot],
        charts=[*_residuals(inputs, inputs.models)],
        grids=[grid_of(document, part) for part in document.tables if part not in per_curve],
        folded=[grid_of(document, part) for part in per_curve],
    )


def _residuals(inputs: PageInputs, models: Models) -> Iterator[Picture]:
    """Yield charts of the residuals of each model."""
    by_series = {id(modelled.series): modelled for modelled in models.found}
    for number, part in enumerate(parted([modelled.series for modelled in models.found])):
        named, styles = with_labels(part), styles_of(inputs.query, part)
        curves = [
            _residual_curve(inputs, by_series[id(modelled)], new.label, curve_style)
            for modelled, new, curve_style in zip(part, named, styles, strict=True)
        ]
        chart = Chart(curves, "share", words.LEFT_BY_MODEL, levels=[0.0])
        title = title_words(part) or named[0].label
        yield picture(f"models-{number}", title, words.RESIDUALS, chart, table(title, chart))


def _residual_curve(
    inputs: PageInputs, modelled: CurveModel, label: str, curve_style: Mapping[str, Any]
) -> ChartCurve:
    rows = {row.cell.bytes: row for row in modelled.series.rows}
    points = [
        Point(int(size), float(error))
        for size, error in zip(modelled.model.points.sizes, modelled.model.relative_errors, strict=True)
    ]
    cells = [inputs.cells.number(modelled.series.source, rows[int(point.x)]) for point in points]
    texts = [_point_text(label, words.LEFT_BY_MODEL, point, "share") for point in points]
    return ChartCurve(label, curve_style, [points], texts, cells)
