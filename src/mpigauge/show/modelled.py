"""The models of the curves that were asked for: for tables, JSON and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.analysis.models.hockney import hockney_of, textbook_of
from mpigauge.analysis.models.model import model_of
from mpigauge.analysis.models.points import points_of
from mpigauge.analysis.models.predict import predicted
from mpigauge.show.series import against_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.analysis.models.hockney import Hockney, Textbook
    from mpigauge.analysis.models.model import Model
    from mpigauge.analysis.models.predict import Prediction
    from mpigauge.analysis.rows import Row
    from mpigauge.show.query import Query
    from mpigauge.show.series import Series

CURVES_MOST = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Modelled:
    """A curve with its model.

    Attributes:
        predictions: Times of the sizes that were asked for.
    """

    series: Series
    model: Model
    hockney: Hockney
    textbook: Textbook
    predictions: tuple[Prediction, ...] = ()

    @property
    def launches(self) -> int:
        """How many launches its times are of."""
        return len(self.model.points.launches)


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """Curves with models, and those that have too few sizes for one."""

    found: Sequence[Modelled]
    left_out: Sequence[Series]


def models_of(query: Query, predict: Sequence[int] = ()) -> Models:
    """The models of all curves of messages and collectives that a query chooses.

    Args:
        predict: Sizes in bytes.

    Raises:
        UsageError: There is no curve, or none with enough sizes.
    """
    series = against_size(query, sized=True, most=CURVES_MOST, keep=lambda row: talks(query, row))
    pairs = [(one, modelled(one, predict)) for one in series]
    found = [model for _, model in pairs if model is not None]
    if not found:
        raise query.lacks("no curve has four sizes", "measure more of them: mpigauge run --sizes 0:4MiB")
    return Models(found, [one for one, model in pairs if model is None])


def talks(query: Query, row: Row) -> bool:
    """Whether a row is of messages; copies in memory have cache levels instead."""
    patterns = [source.patterns.get(row.cell.pattern) for source in query.sources]
    return any(pattern is not None and pattern.talks and pattern.moves_bytes for pattern in patterns)


def modelled(series: Series, predict: Sequence[int] = ()) -> Modelled | None:
    """A series with its model; None if it has too few sizes."""
    model = model_of(points_of(series.rows, series.breaks))
    if model is None:
        return None
    predictions = tuple(predicted(model, size) for size in predict)
    return Modelled(series, model, hockney_of(model), textbook_of(model), predictions)
