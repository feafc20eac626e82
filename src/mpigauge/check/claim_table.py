"""Claims of reports as a document: what each says, the report's own numbers, numbers here, a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.check import claim_sentences as words
from mpigauge.check.claim_cells import ClaimSource
from mpigauge.document.document import Column, Document, Line, Table, Units
from mpigauge.document.records import cell_record, number
from mpigauge.vocabulary import CLAIM_VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.check.claim_kinds import Report
    from mpigauge.check.claim_numbers import ClaimNumber
    from mpigauge.check.claims import CheckedClaim, ClaimResult
    from mpigauge.document.document import Tone
    from mpigauge.query.query import Source
    from mpigauge.vocabulary import ClaimVerdict, ExpectationVerdict

TONES: Mapping[ClaimVerdict, Tone] = {"confirmed": "good", "refuted": "bad", "undecided": "doubt"}
PRINTED_TONES: Mapping[ExpectationVerdict, Tone] = {"fails": "bad"}

Scores = list[tuple["Report", list["CheckedClaim"]]]
"""Reports with their checked claims."""


def claim_source_of(source: Source) -> ClaimSource:
    """Return a result as material for claims."""
    plan = source.result.campaign.plan
    return ClaimSource(source.name, source.rows, source.patterns, plan.lab is not None, plan.title)


def document(scores: Scores, chosen: Units) -> Document:
    """Return a table per report, below the count of claims that hold."""
    found = [one for _, checked in scores for one in checked]
    return Document(
        head=list(filter(None, [words.headline(found), words.own_numbers(found)])),
        tables=[Table(report.name, report.source, checked, _COLUMNS) for report, checked in scores],
        foot=[Line(text) for text in words.notes(found)],
        units=chosen,
        data=lambda: _data(scores),
        records=lambda: [_flat(report, one) for report, checked in scores for one in checked],
    )


def _printed_tone(one: CheckedClaim) -> Tone:
    return "" if one.printed.verdict is None else PRINTED_TONES.get(one.printed.verdict, "")


_COLUMNS = (
    Column("says", "the report says", lambda one: one.claim.says, left=True, wraps=True, goes=None),
    Column(
        "printed",
        "its own numbers say",
        lambda one: words.printed(one, Units()),
        write=words.printed,
        left=True,
        wraps=True,
        goes=None,
        tone=_printed_tone,
    ),
    Column(
        "here",
        "here",
        lambda one: words.here(one, Units()),
        write=words.here,
        left=True,
        wraps=True,
        goes=None,
    ),
    Column(
        "verdict",
        "verdict",
        lambda one: words.verdict(one.verdict),
        left=True,
        goes=None,
        tone=lambda one: TONES.get(one.verdict, "quiet"),
    ),
)


# ---- For programs --------------------------------------------------------------------------------


def _data(scores: Scores) -> dict[str, Any]:
    """Return the data of docs/numbers.md#claims."""
    found = [one.verdict for _, checked in scores for one in checked]
    return {
        "conclusions": len(found),
        "verdicts": {word: found.count(word) for word in CLAIM_VERDICTS},
        "reports": [
            {
                "name": report.name,
                "source": report.source,
                "question": report.question,
                "claims": [_record(one) for one in checked],
            }
            for report, checked in scores
        ],
    }


def _record(one: CheckedClaim) -> dict[str, Any]:
    claim = one.claim
    return {
        "name": claim.name,
        "says": claim.says,
        "where": claim.where,
        "kind": claim.kind,
        "quantity": claim.quantity if claim.kind else None,
        "bound": claim.bound.text if claim.bound else None,
        "limit": claim.limit.text if claim.limit else None,
        "quantifier": claim.quantifier,
        "printed": _result_record(one.printed, words.printed(one, Units())),
        "here": _result_record(one.here, words.here(one, Units())),
        "verdict": one.verdict,
        "note": claim.note,
    }


def _result_record(result: ClaimResult, text: str) -> dict[str, Any]:
    return {
        "verdict": result.verdict,
        "gap": result.gap,
        "said": text,
        "numbers": [_number_record(one) for one in result.numbers],
    }


def _number_record(one: ClaimNumber) -> dict[str, Any]:
    return {
        **cell_record(one.row.cell),
        "file": one.of.material.file,
        "state": one.row.state,
        "against": cell_record(one.against.row.cell) if one.against else None,
        "against_file": one.against.material.file if one.against else None,
        "estimate": number(one.estimate),
        "low": number(one.low),
        "high": number(one.high),
        "launches": one.launches,
        "verdict": one.verdict,
        "oversubscribed": one.oversubscribed,
        "imported": one.imported,
        "emulated": one.emulated,
    }


def _flat(report: Report, one: CheckedClaim) -> dict[str, Any]:
    """Return a record for CSV."""
    return {
        "report": report.name,
        "name": one.claim.name,
        "says": one.claim.says,
        "printed_verdict": one.printed.verdict,
        "printed": words.printed(one, Units()),
        "here_verdict": one.here.verdict,
        "here": words.here(one, Units()),
        "verdict": one.verdict,
    }
