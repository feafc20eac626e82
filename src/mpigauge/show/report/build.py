"""A page of results: what is computed once for all sections, the sections, and the states to choose from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import mpigauge
from mpigauge.errors import UsageError
from mpigauge.find.explain.table import said_across, said_of
from mpigauge.models.modelled import models_of
from mpigauge.show.compared import MOST, check_alike, held
from mpigauge.show.report import words
from mpigauge.show.report.given import Given
from mpigauge.show.report.page import Page
from mpigauge.show.report.sections import machines_of, sections_of
from mpigauge.show.selected import selected

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.find.explain.table import Said
    from mpigauge.models.modelled import Models
    from mpigauge.query.query import Query
    from mpigauge.show.compared import ComparedSources
    from mpigauge.show.report.page import Section


def page_of(
    query: Query, each: Query, gives_way: Mapping[str, Mapping[str, str]], *, force: bool = False
) -> Page:
    """Return the page of results.

    Args:
        query: What is shown; its `by` and `thresholds` are those of the comparison.
        each: The same with a row for every state of the machine; the same query where there is one.
        gives_way: As of `find.explain.evidence.Evidence`.
        force: Whether results of different machines are compared all the same.

    Raises:
        UsageError: Nothing of what was asked for was measured.
    """
    query = replace(query, sources=selected(query))
    each = query if each is query else replace(each, sources=selected(each))
    comparison, why = _comparison(query, each, force=force)
    given = Given(query, each, comparison, why, _models(query), [*_said(query, gives_way)])
    sections = sections_of(given)
    return Page(
        title=_title(query),
        subtitle=machines_of(query),
        sections=sections,
        states=_states(sections),
        cells=given.cells.rows,
        made=f"mpigauge {mpigauge.__version__}",
    )


def _title(query: Query) -> str:
    titles = dict.fromkeys(source.result.campaign.plan.title or source.name for source in query.sources)
    return " / ".join(titles)


def _comparison(query: Query, each: Query, *, force: bool) -> tuple[ComparedSources | None, str]:
    """Return the comparison; if two results are not compared, why not."""
    if len(query.sources) > MOST:
        return None, ""
    try:
        if not force:
            check_alike(query.sources)
        return held(replace(each, by=query.by)), ""
    except UsageError as error:
        if query.by is not None:
            raise
        return None, error.sentence if len(query.sources) == MOST else ""


def _models(query: Query) -> Models | None:
    try:
        return models_of(query)
    except UsageError:
        return None


def _said(query: Query, gives_way: Mapping[str, Mapping[str, str]]) -> Iterator[Said]:
    yield from said_across(query.sources, gives_way, query.units)
    for source in query.sources:
        yield from said_of(source, query.units)


def _states(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """Return what can be chosen of the states that curves are of: one choice is none."""
    keys = [key for section in sections for chart in section.charts for key in chart.keys]
    states = dict.fromkeys(key.state for key in keys if key.state)
    if len(states) < 2:  # noqa: PLR2004 - one is none
        return []
    return [("", words.AS_SHOWN), *((state, state) for state in states), ("all", words.EACH_STATE)]
