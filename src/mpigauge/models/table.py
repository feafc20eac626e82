"""Models as a document: segments and breaks of every curve, two parameters, one line, and predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.document.document import AUTOMATIC, DOT, Column, Document, Line, Table
from mpigauge.document.records import finite_or_none, subject_record
from mpigauge.models import numbers, overheads
from mpigauge.models import sentences as words
from mpigauge.query.series import common_words
from mpigauge.units import counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.document.document import Tone, Units
    from mpigauge.models.modelled import Collective, CurveModel, Models

TONES: Mapping[str, Tone] = {"found": "good", "possible": "doubt"}


def document(shown: Models, chosen: Units) -> Document:
    """Return the models of all curves as a document; predictions first, if some were requested."""
    found = shown.found
    alike = common_words([one.series for one in found])
    launches = sorted({one.launches for one in found})
    count = counted(launches[-1], "launch") if launches[-1] else "published by others"
    asked = any(one.predictions for one in found)
    return Document(
        head=[words.headline(found, chosen), DOT.join(filter(None, [alike, count, "95 % intervals"]))],
        tables=[
            *([_predictions(found, chosen)] if asked else []),
            *_tables(found, chosen),
            *overheads.tables(shown.places, chosen),
            *_collectives(shown),
        ],
        foot=[Line(text) for text in [*words.notes(shown), *overheads.notes(shown.places)]],
        units=chosen,
        schema="model",
        data=lambda: {
            "curves": [_record(one) for one in found],
            "collectives": [_collective_record(one) for one in shown.collectives],
            "overheads": overheads.records(shown.places),
            "left_out": _names(shown),
        },
        records=lambda: [record for one in found for record in _flat(one, asked=asked)],
    )


def _tables(found: Sequence[CurveModel], chosen: Units) -> list[Table]:
    per_curve = [table for one in found for table in (_segments(one, chosen), *_breaks(one))]
    return [*per_curve, _pairs(found, chosen), _lines(found, chosen)]


def _segments(one: CurveModel, chosen: Units) -> Table:
    moved = one.model.points.moved
    return Table(
        one.series.label,
        words.summary(one, chosen),
        one.model.segments,
        [
            Column("first", "from", lambda each: each.first, "B", goes=None, tells=True),
            Column("last", "to", lambda each: each.last, "B", goes=None),
            Column("points", "sizes", lambda each: each.points, "1", goes=1),
            _column("alpha_s", "alpha", lambda each: words.alpha(each, chosen)),
            _column("bandwidth", "bandwidth", lambda each: words.bandwidth(each, moved, chosen)),
            Column(
                "misfit",
                "misfit",
                lambda each: each.misfit,
                write=lambda each, _: format_percent(each.misfit),
            ),
        ],
    )


def _breaks(one: CurveModel) -> list[Table]:
    if not one.model.breaks:
        return []
    columns = [
        _column("break", "break", words.where, left=True),
        _column("jump", "time", lambda each: numbers.factor(each.jump)),
        Column("kind", "", words.kind, left=True, goes=None, tone=lambda each: TONES.get(each.kind, "")),
    ]
    return [Table(f"{one.series.label}: breaks", "", one.model.breaks, columns)]


def _column(name: str, heading: str, text: Any, *, left: bool = False, wraps: bool = False) -> Column:
    return Column(name, heading, text, left=left, wraps=wraps, goes=None)


def _curve() -> Column:
    return _column("curve", "", lambda one: one.series.label, left=True)


def _pairs(found: Sequence[CurveModel], chosen: Units) -> Table:
    """Return the table of Hockney's parameters, or the apparent ones."""
    return Table(
        "alpha, highest bandwidth, and the size with half of it",
        "",
        found,
        [
            _curve(),
            _column("latency_s", "alpha", lambda one: numbers.time(one.hockney.latency_s, chosen)),
            _column("r_inf", "r_inf", lambda one: numbers.rate(one.hockney.rate, chosen)),
            _column("n_half", "n_half", lambda one: numbers.size(one.hockney.n_half)),
            Column("kind", "", words.pair, left=True, goes=1, wraps=True),
        ],
    )


def _lines(found: Sequence[CurveModel], chosen: Units) -> Table:
    """Return the table of least squares lines."""
    return Table(
        "the textbook's line: least squares in seconds through all sizes",
        "",
        found,
        [
            _curve(),
            _column("latency_s", "alpha", lambda one: numbers.time(one.textbook.latency_s, chosen)),
            _column("bandwidth", "bandwidth", lambda one: numbers.rate(one.textbook.rate, chosen)),
            _column(
                "wrong", "what is wrong", lambda one: words.wrong(one.textbook, chosen), left=True, wraps=True
            ),
        ],
    )


def _collectives(shown: Models) -> list[Table]:
    rows = [(one, each) for one in shown.collectives for each in one.behaviours]
    columns = [
        _column("collective", "", lambda row: row[0].label, left=True),
        Column("first", "from", lambda row: row[1].first, "B", goes=None, tells=True),
        Column("last", "to", lambda row: row[1].last, "B", goes=None),
        _column("ranks", "ranks", lambda row: words.ranks(row[1])),
        _column("factor", "time", lambda row: numbers.factor(row[1].likes[0].factor) if row[1].known else ""),
        _column("like", "behaves like", lambda row: words.behaves(row[1]), left=True, wraps=True),
    ]
    about = "time: over that of the algorithm, made of messages of the ping-pong's model"
    return [Table("collectives", about, rows, columns)] if rows else []


def _predictions(found: Sequence[CurveModel], chosen: Units) -> Table:
    rows = [(one, each) for one in found for each in one.predictions]
    several = [Column("curve", "", lambda row: row[0].series.label, left=True, goes=None)]
    return Table(
        "predicted",
        "",
        rows,
        [
            *(several if len(found) > 1 else []),
            Column("bytes", "size", lambda row: row[1].size, "B", goes=None, tells=True),
            Column("time_s", "time", lambda row: row[1].launch and row[1].launch.estimate, "s", goes=None),
            _column(
                "launch",
                "95 % of launches",
                lambda row: words.ends(row[1].launch, chosen),
            ),
            Column(
                "mean",
                "many launches",
                lambda row: words.ends(row[1].mean, chosen),
                goes=1,
            ),
            _column("basis", "", lambda row: words.basis(row[0], row[1]), left=True, wraps=True),
        ],
    )


# ---- For programs --------------------------------------------------------------------------------


def _names(shown: Models) -> list[str]:
    return [one.label for one in shown.left_out]


def _of(one: CurveModel) -> dict[str, Any]:
    """Return the factors of a curve: a cell without its size."""
    row = one.series.rows[0]
    cell = {name: value for name, value in subject_record(row.of).items() if name != "bytes"}
    return {**cell, "source": one.series.source.name}


def _record(one: CurveModel) -> dict[str, Any]:
    """Return the record of docs/models.md#json."""
    model = one.model
    return {
        **_of(one),
        "launches": one.launches,
        "sizes": [int(size) for size in model.points.sizes],
        "misfit": finite_or_none(model.misfit),
        "segments": [_segment_record(one, place) for place in range(len(model.segments))],
        "breaks": [
            {
                "above_bytes": each.above,
                "upto_bytes": each.upto,
                "kind": each.kind,
                "stability": finite_or_none(each.stability),
                "jump": numbers.record(each.jump),
            }
            for each in model.breaks
        ],
        "hockney": _hockney_record(one),
        "textbook": _textbook_record(one),
        "predictions": [_prediction_record(one, place) for place in range(len(one.predictions))],
    }


def _segment_record(one: CurveModel, place: int) -> dict[str, Any]:
    each = one.model.segments[place]
    rate = each.beta.inverse(one.model.points.moved) if each.sloped else None
    return {
        "first_bytes": each.first,
        "last_bytes": each.last,
        "points": each.points,
        "alpha_s": numbers.record(each.alpha),
        "beta_s_per_byte": numbers.record(each.beta),
        "bandwidth_bytes_per_s": numbers.record(rate),
        "level_s": numbers.record(each.level),
        "constant": not each.sloped,
        "misfit": finite_or_none(each.misfit),
    }


def _hockney_record(one: CurveModel) -> dict[str, Any]:
    two = one.hockney
    return {
        "apparent": two.apparent,
        "latency_s": numbers.record(two.latency_s),
        "smallest_bytes": two.smallest,
        "r_inf_bytes_per_s": numbers.record(two.rate),
        "fastest_bytes": two.fastest,
        "n_half_bytes": numbers.record(two.n_half),
        "extrapolated": two.extrapolated,
    }


def _textbook_record(one: CurveModel) -> dict[str, Any]:
    line = one.textbook
    return {
        "latency_s": numbers.record(line.latency_s),
        "bandwidth_bytes_per_s": numbers.record(line.rate),
        "measured_latency_s": line.measured_s,
        "highest_bytes_per_s": line.highest,
        "worst_ratio": line.worst,
        "worst_at_bytes": line.worst_at,
        "rms": line.rms,
        "wrong": words.wrong(line, AUTOMATIC),
    }


def _prediction_record(one: CurveModel, place: int) -> dict[str, Any]:
    each = one.predictions[place]
    nothing = (None, None, None)
    time_s, *ends = each.launch.ends if each.launch else nothing
    _, *ends_of_mean = each.mean.ends if each.mean else nothing
    names = ("time_s", "low_s", "high_s", "mean_low_s", "mean_high_s")
    times = dict(zip(names, map(finite_or_none, (time_s, *ends, *ends_of_mean)), strict=True))
    return {"bytes": each.size, **times, "basis": each.basis, "no_interval": each.why}


def _collective_record(one: Collective) -> dict[str, Any]:
    return {
        "label": one.label,
        "why": one.why,
        "segments": [
            {
                "first_bytes": each.first,
                "last_bytes": each.last,
                "ranks": [*each.ranks],
                "known": each.known,
                "algorithms": [
                    {
                        "name": like.algorithm,
                        "factor": numbers.record(like.factor),
                        "error": like.error,
                        "largest_error": like.largest_error,
                        "extrapolated": like.extrapolated,
                    }
                    for like in each.likes
                ],
            }
            for each in one.behaviours
        ],
    }


def _flat(one: CurveModel, *, asked: bool) -> list[dict[str, Any]]:
    """Return flat records for CSV: predictions if some were requested, else segments."""
    if asked:
        return [{**_of(one), **_prediction_record(one, place)} for place in range(len(one.predictions))]
    records = []
    for place in range(len(one.model.segments)):
        record = _segment_record(one, place)
        nested = {name: value for name, value in record.items() if isinstance(value, dict)}
        parts = {f"{name}_{end}": each for name, value in nested.items() for end, each in value.items()}
        plain = {name: value for name, value in record.items() if name not in nested}
        records.append({**_of(one), **plain, **parts})
    return records
