"""Expectations as a document: what fails first, then what nobody can tell, then what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.check import sentences as words
from mpigauge.check.expectations import CheckedExpectation, judged
from mpigauge.document.cell_names import names_of
from mpigauge.document.document import Cases, Column, Document, Line, Table, written
from mpigauge.document.phrases import phrases_of
from mpigauge.document.records import cell_record, number
from mpigauge.plan.sizes import wanted
from mpigauge.query.series import has_words
from mpigauge.units import interval
from mpigauge.vocabulary import EXPECTATION_VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.check.expectation_file import Expectation
    from mpigauge.document.document import Tone, Units
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import ExpectationVerdict

USUAL_STAT = "median"

TONES: dict[ExpectationVerdict, Tone] = {"fails": "bad", "undecided": "doubt", "holds": "good"}


def held_against(expectation: Expectation, rows: Iterable[Row]) -> list[CheckedExpectation]:
    """Every number that an expectation is of; if there is none, that: nothing passes unseen."""
    chosen = wanted(expectation.sizes)
    mine = [
        judged(expectation, row)
        for row in rows
        if row.cell.pattern == expectation.pattern
        and (chosen(row.cell.bytes) or not row.sized)
        and has_words(expectation.words, _named(row))
    ]
    return mine or [CheckedExpectation(expectation, None)]


def _named(row: Row) -> str:
    """All by which an expectation may choose it; a library also as plans call it."""
    return " ".join([*phrases_of(row.cell).values(), row.cell.mpi, row.state or ""])


def verdict_of(found: Iterable[CheckedExpectation]) -> ExpectationVerdict:
    """The worst of them."""
    return min((one.verdict for one in found), key=EXPECTATION_VERDICTS.index)


def document(found: Sequence[CheckedExpectation], chosen: Units) -> Document:
    """What is held against what, the worst first."""
    ordered = sorted(found, key=lambda one: EXPECTATION_VERDICTS.index(one.verdict))
    table = Table("", "", ordered, list(_columns(found)))
    return Document(
        head=[words.headline(found)],
        tables=[table],
        foot=[Line(text) for text in words.notes(found)],
        units=chosen,
        schema="check",
        data=lambda: {"verdict": verdict_of(found), "expectations": [_record(one) for one in found]},
        records=lambda: [_record(one) for one in found],
        cases=lambda: [Cases(table, [*map(_name, ordered)])],
    )


def _name(one: CheckedExpectation) -> str:
    """Of a test case: what the user calls it, its cell, and which number of it."""
    expectation = one.expectation
    if one.row is None:
        return expectation.name
    mine = [expectation.name] if expectation.name != expectation.text else []
    stat = [expectation.stat] if expectation.stat != USUAL_STAT else []
    return " ".join([*mine, *names_of([(one.row.cell, one.row.state)]), *stat, expectation.quantity])


def _columns(found: Sequence[CheckedExpectation]) -> Iterable[Column]:
    """What the user calls an expectation is said if that is not the sentence itself."""
    if any(one.expectation.name != one.expectation.text for one in found):
        yield Column("name", "", lambda one: one.expectation.name, left=True, goes=None, wraps=True)
    yield Column("cell", "", words.cell_of, left=True, goes=None, wraps=True)
    yield Column("size", "size", words.size_of, goes=None)
    yield Column("value", "measured", lambda one: one.value, write=_value, goes=None)
    yield Column("interval", "95 % interval", lambda one: one.low, write=_interval, goes=1)
    yield Column("bound", "expected", lambda one: one.expectation.bound, write=_bound, goes=None)
    yield Column("verdict", "", words.verdict, left=True, goes=None, tone=lambda one: TONES[one.verdict])


def _written(one: CheckedExpectation, value: float | None, chosen: Units) -> str:
    return written(value, "s" if one.expectation.of_time else "B/s", chosen)


def _value(one: CheckedExpectation, chosen: Units) -> str:
    return _written(one, one.value, chosen)


def _interval(one: CheckedExpectation, chosen: Units) -> str:
    return interval(one.low, one.high, lambda end: _written(one, end, chosen))


def _bound(one: CheckedExpectation, chosen: Units) -> str:
    return f"{'<' if one.expectation.below else '>'} {_written(one, one.expectation.bound, chosen)}"


def _record(one: CheckedExpectation) -> dict[str, Any]:
    """docs/numbers.md#check."""
    expectation = one.expectation
    return {
        "name": expectation.name,
        "text": expectation.text,
        **(cell_record(one.row.cell) if one.row is not None else {}),
        "state": one.row.state if one.row is not None else None,
        "quantity": expectation.quantity,
        "stat": expectation.stat,
        "below": expectation.below,
        "bound": expectation.bound,
        "value": number(one.value),
        "low": number(one.low),
        "high": number(one.high),
        "p": number(one.p),
        "verdict": one.verdict,
        "said": words.verdict(one),
    }
