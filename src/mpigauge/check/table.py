"""Expectations in sentences and as a document: what fails first, then what is open, then what holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.check.expectations import DEFAULT_STATISTIC, CheckedExpectation, check_row
from mpigauge.document.cell_names import names_of
from mpigauge.document.document import Cases, Column, Document, Line, Table, format_value
from mpigauge.document.phrases import UNSAID, phrases_of, state_phrase, state_words
from mpigauge.document.records import finite_or_none, state_record, subject_record
from mpigauge.plan.sizes import size_filter
from mpigauge.query.series import has_words
from mpigauge.rows.estimate import Printed
from mpigauge.units import interval
from mpigauge.vocabulary import EXPECTATION_VERDICTS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.check.expectation_file import Expectation
    from mpigauge.document.document import Tone, Units
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import ExpectationVerdict

NOT_MEASURED = "not measured"
IMPORTED = "imported, one number, no interval"


def headline(found: Sequence[CheckedExpectation]) -> str:
    """Return how many numbers have each verdict, the worst first."""
    counts = Counter(one.verdict for one in found)
    if len(counts) == 1 and counts["holds"]:
        return f"holds: all of {len(found)} numbers"
    said = [f"{word}: {counts[word]}" for word in EXPECTATION_VERDICTS if counts[word]]
    return f"{'; '.join(said)}, of {len(found)} numbers"


def verdict(one: CheckedExpectation) -> str:
    """Return the words of a verdict on a number."""
    if one.row is None:
        return NOT_MEASURED
    if other := _other_statistic(one):
        return f"{one.verdict}: imported, {other}, no {one.expectation.stat}"
    if one.value is None:
        return one.row.status if one.row.time is None and one.row.status != "ok" else NOT_MEASURED
    if _is_single(one):
        return f"{one.verdict}: {IMPORTED}"
    if one.low is None:
        launches = one.row.time.launches if one.row.time is not None else 0
        return f"{one.verdict}: {launches} launch{'' if launches == 1 else 'es'}, no interval"
    return f"{one.verdict}: beyond by itself, not among all" if one.verdict != one.alone else one.verdict


def _other_statistic(one: CheckedExpectation) -> str:
    """Return the statistic that another program printed instead of the expected one; empty if none."""
    time = one.row.time if one.row is not None else None
    has_other = one.value is None and isinstance(time, Printed) and one.expectation.stat != DEFAULT_STATISTIC
    return time.statistic or UNKNOWN if has_other and isinstance(time, Printed) else ""


def _is_single(one: CheckedExpectation) -> bool:
    """Return whether it is a number that another program has printed once."""
    return one.low is None and one.value is not None and one.row is not None and one.row.imported


def cell_of(one: CheckedExpectation) -> str:
    """Return the words of its cell; the expectation's text if it has none."""
    if one.row is None:
        return one.expectation.text
    phrases = [phrase for phrase in phrases_of(one.row.cell).values() if phrase not in UNSAID]
    return " ".join([*phrases, *state_words(one.row.of)])


def size_of(one: CheckedExpectation) -> str:
    """Return the message size in words."""
    return units.format_size(one.row.cell.bytes) if one.row is not None and one.row.sized else ""


def notes(found: Sequence[CheckedExpectation]) -> Iterator[str]:
    """Yield what to do about undecided numbers."""
    if nothing := sum(one.value is None and not _other_statistic(one) for one in found):
        yield f"{NOT_MEASURED}: {nothing}; what was not measured does not hold"
    if beyond := sum(one.verdict != one.alone for one in found):
        tested = sum(one.p is not None for one in found)
        yield f"beyond its bound by itself: {beyond}; among {tested} numbers chance does that in over 5 %"
    if any(one.alone == "undecided" and one.low is not None for one in found):
        yield "undecided: the bound lies in the interval; more launches narrow it: --launches, --precision"
    if single := sum(map(_is_single, found)):
        yield f"imported: {single}; texts of several runs of one command have an interval: mpigauge import"
    if any(one.value is not None and one.low is None and not _is_single(one) for one in found):
        yield "no interval: --launches 5 at least"


# ---- The document --------------------------------------------------------------------------------

USUAL_STAT = "median"

TONES: dict[ExpectationVerdict, Tone] = {"fails": "bad", "undecided": "doubt", "holds": "good"}


def check_expectation(expectation: Expectation, rows: Iterable[Row]) -> list[CheckedExpectation]:
    """Return the numbers of an expectation; if there is none, one without a value, so that none passes."""
    chosen = size_filter(expectation.sizes)
    mine = [
        check_row(expectation, row)
        for row in rows
        if row.cell.pattern == expectation.pattern
        and (chosen(row.cell.bytes) or not row.sized)
        and has_words(expectation.words, _named(row))
    ]
    return mine or [CheckedExpectation(expectation, None)]


def _named(row: Row) -> str:
    """Return the words by which an expectation may select a row."""
    return " ".join([*phrases_of(row.cell).values(), row.cell.mpi, *state_phrase(row.of).values()])


def verdict_of(found: Iterable[CheckedExpectation]) -> ExpectationVerdict:
    """Return the worst verdict."""
    return min((one.verdict for one in found), key=EXPECTATION_VERDICTS.index)


def document(found: Sequence[CheckedExpectation], chosen: Units) -> Document:
    """Return the numbers and their bounds, the worst first."""
    ordered = sorted(found, key=lambda one: EXPECTATION_VERDICTS.index(one.verdict))
    table = Table("", "", ordered, list(_columns(found)))
    return Document(
        head=[headline(found)],
        tables=[table],
        foot=[Line(text) for text in notes(found)],
        units=chosen,
        schema="check",
        data=lambda: {"verdict": verdict_of(found), "expectations": [_record(one) for one in found]},
        records=lambda: [_record(one) for one in found],
        cases=lambda: [Cases(table, [*map(_name, ordered)])],
    )


def _name(one: CheckedExpectation) -> str:
    """Return the name of a test case: the user's name, the cell, and the quantity."""
    expectation = one.expectation
    if one.row is None:
        return expectation.name
    mine = [expectation.name] if expectation.name != expectation.text else []
    stat = [expectation.stat] if expectation.stat != USUAL_STAT else []
    return " ".join([*mine, *names_of([one.row.of]), *stat, expectation.quantity])


def _columns(found: Sequence[CheckedExpectation]) -> Iterable[Column]:
    """Yield the columns; the name of an expectation only if it is not its text."""
    if any(one.expectation.name != one.expectation.text for one in found):
        yield Column("name", "", lambda one: one.expectation.name, left=True, goes=None, wraps=True)
    yield Column("cell", "", cell_of, left=True, goes=None, wraps=True, tells=True)
    yield Column("size", "size", size_of, goes=None, tells=True)
    yield Column("value", "measured", lambda one: one.value, write=_value, goes=None)
    yield Column("interval", "95 % interval", lambda one: one.low, write=_interval, goes=None)
    yield Column("bound", "expected", lambda one: one.expectation.bound, write=_bound, goes=None)
    yield Column("verdict", "", verdict, left=True, goes=None, tone=lambda one: TONES[one.verdict])


def _written(one: CheckedExpectation, value: float | None, chosen: Units) -> str:
    return format_value(value, "s" if one.expectation.of_time else "B/s", chosen)


def _value(one: CheckedExpectation, chosen: Units) -> str:
    return _written(one, one.value, chosen)


def _interval(one: CheckedExpectation, chosen: Units) -> str:
    return interval(one.low, one.high, lambda end: _written(one, end, chosen))


def _bound(one: CheckedExpectation, chosen: Units) -> str:
    return f"{'<' if one.expectation.below else '>'} {_written(one, one.expectation.bound, chosen)}"


def _record(one: CheckedExpectation) -> dict[str, Any]:
    """Return the record of docs/numbers-verbs.md#check."""
    expectation = one.expectation
    return {
        "name": expectation.name,
        "text": expectation.text,
        **(subject_record(one.row.of) if one.row is not None else state_record(None)),
        "quantity": expectation.quantity,
        "stat": expectation.stat,
        "below": expectation.below,
        "bound": expectation.bound,
        "value": finite_or_none(one.value),
        "low": finite_or_none(one.low),
        "high": finite_or_none(one.high),
        "p": finite_or_none(one.p),
        "verdict": one.verdict,
        "said": verdict(one),
    }
