"""Build a page of results: what all sections share, the sections, and the states to choose from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import mpigauge
from mpigauge.errors import UsageError
from mpigauge.find.explain.table import said_across, said_of
from mpigauge.models.modelled import models_of
from mpigauge.show.answer import origins
from mpigauge.show.compared import MAX_RESULTS, check_alike, compare_sources
from mpigauge.show.report import words
from mpigauge.show.report.inputs import PageInputs, unnoticed
from mpigauge.show.report.page import Page
from mpigauge.show.report.sections import sections_of
from mpigauge.show.selected import selected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.find.explain.table import Said
    from mpigauge.models.modelled import Models
    from mpigauge.query.query import Query
    from mpigauge.show.compared import ComparedSources
    from mpigauge.show.report.page import Section


def page_of(
    query: Query,
    by_state: Query,
    gives_way: Mapping[str, Mapping[str, str]],
    begins: Callable[[str], None] = unnoticed,
    *,
    force: bool = False,
) -> Page:
    """Return the page of results.

    Args:
        query: Query of the results; its `by` and `thresholds` are those of the comparison.
        by_state: The query with a row per state of the machine; the same object where there is one state.
        gives_way: See `find.explain.evidence.Evidence`.
        begins: Called with the name of each part before it is made.
        force: Whether to compare results of different machines.

    Raises:
        UsageError: None of the selected cells was measured.
    """
    query = replace(query, sources=selected(query))
    by_state = query if by_state is query else replace(by_state, sources=selected(by_state))
    comparison, why = _comparison(query, force=force)
    begins("page: models and conclusions")
    inputs = PageInputs(
        query, by_state, comparison, why, _models(query), [*_conclusions(query, gives_way)], begins
    )
    sections = sections_of(inputs)
    return Page(
        title=_title(query),
        subtitle=origins(query.sources),
        sections=sections,
        variants=_variants(sections),
        cells=inputs.cells.rows,
        made=f"mpigauge {mpigauge.__version__}",
    )


def _title(query: Query) -> str:
    titles = dict.fromkeys(source.result.campaign.plan.title or source.name for source in query.sources)
    return " / ".join(titles)


def _comparison(query: Query, *, force: bool) -> tuple[ComparedSources | None, str]:
    """Return the comparison, or why two results are not compared."""
    if len(query.sources) > MAX_RESULTS:
        return None, ""
    try:
        if not force:
            check_alike(query.sources)
        return compare_sources(query), ""
    except UsageError as error:
        if query.by is not None:
            raise
        return None, error.sentence if len(query.sources) == MAX_RESULTS else ""


def _models(query: Query) -> Models | None:
    try:
        return models_of(query)
    except UsageError:
        return None


def _conclusions(query: Query, gives_way: Mapping[str, Mapping[str, str]]) -> Iterator[Said]:
    """Yield conclusions that texts have, those from several results first."""
    found = [said_across(query.sources, gives_way, query.units)]
    found += [said_of(source, query.units) for source in query.sources]
    yield from (one for mine in found for one in mine if one.is_told)


def _variants(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Return the choices of the switch of curves; empty if there would be one."""
    keys = [key for section in sections for chart in section.charts for key in chart.keys]
    variants = dict.fromkeys(key.variant for key in keys if key.variant)
    if len(variants) < 2:  # noqa: PLR2004 - one choice is none
        return []
    return [("", words.AS_SHOWN), *((name, name) for name in variants), ("all", words.EACH_STATE)]
