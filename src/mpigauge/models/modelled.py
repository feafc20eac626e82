"""The models of the curves that were asked for: for tables, JSON and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.models.collectives import algorithms_of, behaviours_of
from mpigauge.models.hockney import hockney_of, textbook_of
from mpigauge.models.model import models_of as models_of_curves
from mpigauge.models.model import points_of
from mpigauge.models.overheads import PLACE_OF_MESSAGES, pattern_of, places_of
from mpigauge.models.predict import predicted
from mpigauge.plan.patterns import default_mode
from mpigauge.query.series import FILE, against_size, distinguishing_labels, grouped_except
from mpigauge.stats.segments import MIN_POINTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.models.collectives import Behaviour, Cost
    from mpigauge.models.hockney import Hockney, Textbook
    from mpigauge.models.model import Model
    from mpigauge.models.overheads import Place
    from mpigauge.models.predict import Prediction
    from mpigauge.query.query import Query
    from mpigauge.query.series import Series
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import AlgorithmName, NoBehaviour

MAX_CURVES = 1000
MODE = "mode"


@dataclass(frozen=True, slots=True, eq=False)
class CurveModel:
    """Curve with its model.

    Attributes:
        predictions: Predicted times of the requested sizes.
    """

    series: Series
    model: Model
    hockney: Hockney
    textbook: Textbook
    predictions: tuple[Prediction, ...] = ()

    @property
    def launches(self) -> int:
        """Number of launches of its times."""
        return len(self.model.points.launches)


@dataclass(frozen=True, slots=True, eq=False)
class Collective:
    """Collective over numbers of ranks and sizes.

    Attributes:
        label: Name without ranks.
        behaviours: Behaviour by segments of sizes; empty if unknown.
        why: Reason why it is unknown.
    """

    label: str
    behaviours: Sequence[Behaviour]
    why: NoBehaviour | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """Modelled curves, those with too few sizes, and the behaviour of collectives.

    Attributes:
        places: Overheads of messages, where calls were measured alone.
    """

    found: Sequence[CurveModel]
    left_out: Sequence[Series]
    collectives: Sequence[Collective] = ()
    places: Sequence[Place] = ()


def models_of(query: Query, predict: Sequence[int] = ()) -> Models:
    """Return the models of all curves of messages and collectives that a query chooses.

    Args:
        predict: Sizes to predict, in bytes.

    Raises:
        UsageError: There is no curve, or none with enough sizes.
    """
    series = against_size(query, sized=True, most=MAX_CURVES, keep=lambda row: is_of_messages(query, row))
    curves = [one for one in series if not pattern_of(one).overhead]
    pairs = list(zip(curves, modelled(curves, predict), strict=True))
    found = [model for _, model in pairs if model is not None]
    if not found:
        files = ", ".join(str(source.result.path) for source in query.sources)
        raise UsageError(
            f"{files}: no curve of messages has {MIN_POINTS} sizes",
            "measure more of them: mpigauge run --sizes 0:4MiB",
        )
    left_out = [one for one, model in pairs if model is None]
    return Models(found, left_out, _collectives(curves, found), places_of(series))


def is_of_messages(query: Query, row: Row) -> bool:
    """Return whether a row is of messages; memory copies have cache levels instead."""
    patterns = [source.patterns.get(row.cell.pattern) for source in query.sources]
    return any(pattern is not None and pattern.talks and pattern.moves_bytes for pattern in patterns)


def modelled(series: Sequence[Series], predict: Sequence[int] = ()) -> list[CurveModel | None]:
    """Return the model of each series, with common breaks for modes; None for too few sizes."""
    models: dict[int, Model | None] = {}
    for mine in grouped_except({MODE}, series):
        found = models_of_curves([points_of(one.rows, one.breaks) for one in mine])
        models |= {id(one): model for one, model in zip(mine, found, strict=True)}
    return [_modelled(one, models[id(one)], predict) for one in series]


def _modelled(series: Series, model: Model | None, predict: Sequence[int]) -> CurveModel | None:
    if model is None:
        return None
    predictions = tuple(predicted(model, size) for size in predict)
    return CurveModel(series, model, hockney_of(model), textbook_of(model), predictions)


# ---- Collectives ---------------------------------------------------------------------------------

RANKS = "ranks"


def _collectives(series: Sequence[Series], found: Sequence[CurveModel]) -> list[Collective]:
    """Return the behaviour of all collectives for which algorithms are known."""
    members = grouped_except({RANKS}, filter(_algorithms, series))
    factors = [{name: word for name, word in mine[0].factors.items() if name != RANKS} for mine in members]
    labels = [_name(mine, text) for mine, text in zip(factors, distinguishing_labels(factors), strict=True)]
    return [_collective(label, mine, found) for label, mine in zip(labels, members, strict=True)]


def _name(factors: Mapping[str, str], apart: str) -> str:
    return apart or " ".join(word for name, word in factors.items() if name in ("pattern", "mode"))


def _algorithms(one: Series) -> Mapping[AlgorithmName, Cost]:
    cell = one.rows[0].cell
    pattern = one.source.patterns[cell.pattern]
    return algorithms_of(pattern, pattern.mode(cell.mode))


def _collective(label: str, mine: Sequence[Series], found: Sequence[CurveModel]) -> Collective:
    message = _message(mine[0], found)
    if message is None:
        return Collective(label, (), "no-message")
    curves = {one.rows[0].cell.ranks: _times(one) for one in mine}
    curves = {count: times for count, times in curves.items() if times}
    largest = max(curves, default=0)
    edges = [
        segment.first
        for one in found
        for segment in one.model.segments
        if any(one.series is each and each.rows[0].cell.ranks == largest for each in mine)
    ]
    behaviours = behaviours_of(curves, edges or [0], message, _algorithms(mine[0]))
    return Collective(label, behaviours or (), None if behaviours else "few-ranks")


def _times(one: Series) -> dict[int, float]:
    """Return the times of sizes at which each rank had a core."""
    return {
        row.cell.bytes: row.time.estimate
        for row in one.rows
        if row.time is not None and row.status == "ok" and row.time.estimate > 0 and not row.crowded
    }


def _message(one: Series, found: Sequence[CurveModel]) -> Model | None:
    """Return the model of messages one way, of the same library and place, with the fewest ranks."""

    def alike(other: Series) -> bool:
        names = (*PLACE_OF_MESSAGES, FILE)
        return all(one.factors.get(name) == other.factors.get(name) for name in names)

    def usual(other: Series) -> bool:
        cell = other.rows[0].cell
        pattern = other.source.patterns[cell.pattern]
        return pattern.one_way and default_mode(pattern) == cell.mode

    fitting = [each for each in found if usual(each.series) and alike(each.series)]
    fitting.sort(key=lambda each: each.series.rows[0].cell.ranks)
    return fitting[0].model if fitting else None
