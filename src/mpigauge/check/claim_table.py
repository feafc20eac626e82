"""Conclusions of reports in sentences and as a document: what each says, its own numbers, ours, a verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mpigauge import units
from mpigauge.check.claims import ClaimSource
from mpigauge.document.document import Column, Document, Line, Table, Units
from mpigauge.document.phrases import phrases_of, state_words
from mpigauge.document.records import cell_record, finite_or_none, state_record
from mpigauge.query.series import FILE, distinguishing_labels
from mpigauge.rows.group import STATE
from mpigauge.vocabulary import ALL, CLAIM_VERDICTS, CLAIMS_OF_SIZES, SHARES, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.check.claim_file import Claim, Report
    from mpigauge.check.claims import CheckedClaim, ClaimNumber, ClaimResult
    from mpigauge.document.document import Tone
    from mpigauge.document.phrases import Factors
    from mpigauge.query.query import Source
    from mpigauge.vocabulary import ClaimVerdict, ExpectationVerdict

NOT_PRINTED = "not in its tables"
NOT_MEASURED = "not measured"
PLANTED = "planted"

MAX_WORDS = 12
"""Most words of an entry; what takes more is a range of all numbers."""

MAX_LISTED = 4
"""Most numbers that are listed one by one."""

MIN_NEAR, MAX_NEAR = 0.95, 1.05
"""Ratios between which three digits would hide a difference that is small but real."""

VERDICTS: dict[ClaimVerdict, str] = {
    "confirmed": "agrees",
    "refuted": "differs",
    "undecided": "open",
    "untestable": "not testable",
    "untested": "not measured",
}
"""Words of verdicts: what is here is another machine, and no judge of the report's."""


AGREES: dict[ExpectationVerdict, str] = {"holds": "agrees", "fails": "differs", "undecided": "open"}
"""Words for what numbers say of a claim."""


# ---- Of all --------------------------------------------------------------------------------------


def headline(found: Sequence[CheckedClaim]) -> str:
    """Return how many claims have each verdict."""
    counts = Counter(one.verdict for one in found)
    said = ", ".join(f"{VERDICTS[word]} {counts[word]}" for word in CLAIM_VERDICTS if counts[word])
    return f"{units.counted(len(found), 'conclusion')}, here: {said}"


def own_numbers(found: Sequence[CheckedClaim]) -> str:
    """Return how many claims the reports' own printed numbers decide; empty if none."""
    counts = Counter(one.printed.verdict for one in found if one.printed.verdict is not None)
    if not counts:
        return ""
    said = ", ".join(f"{AGREES[word]} {counts[word]}" for word in AGREES if counts[word])
    rest = len(found) - counts.total()
    return f"their own tables: {said}{f', {NOT_PRINTED} {rest}' if rest else ''}"


def notes(found: Sequence[CheckedClaim], *, quoted: bool) -> Iterator[str]:
    """Yield what entries mean, what would decide more, and the words of the report if they are asked for."""
    yield (
        "printed numbers have no interval and decide by themselves; here, 95 % intervals decide, and a range "
        f"reaches from the lowest end to the highest{_launches(found)}"
    )
    if any(one.verdict == "refuted" for one in found):
        yield f"{VERDICTS['refuted']} here: on the hardware of the report it may hold"
    if any(one.verdict == "undecided" for one in found):
        yield (
            f"{VERDICTS['undecided']}: an interval has the bound in it; more launches narrow it: --launches, "
            "--precision"
        )
    if any(one.here.gap == "planted" for one in found):
        yield f"{PLANTED}: here an emulated network would only restate its plan; hosts of your own decide"
    if any(one.here.gap == "unmeasured" for one in found):
        yield f"{NOT_MEASURED}: no result that was given has these cells"
    if any(number.oversubscribed for one in found for number in one.here.numbers):
        yield "ranks share cores: such times are those of the scheduler, too"
    if quoted:
        yield from map(_quotation, found)


def _launches(found: Sequence[CheckedClaim]) -> str:
    numbers = [number for one in found if one.here.verdict for number in one.here.numbers]
    counts = sorted({number.launches for number in numbers if number.launches})
    return f"; of {units.span(*map(str, (counts[0], counts[-1])))} launches" if counts else ""


def _quotation(one: CheckedClaim) -> str:
    """Return a conclusion in the words of its report, where it stands, and what one must know to read it."""
    claim = one.claim
    words = f'"{claim.original}"' if claim.original else ""
    where = f"({claim.where})" if claim.where else ""
    said = " ".join(filter(None, [words, where]))
    return f"{claim.says} {'; '.join(filter(None, [said, claim.note]))}".strip()


# ---- Of one --------------------------------------------------------------------------------------


def printed(one: CheckedClaim, chosen: Units) -> str:
    """Return what the report's own tables say."""
    held = one.printed
    if held.verdict is None:
        return NOT_PRINTED
    return f"{AGREES[held.verdict]}: {numbers_of(one.claim, held, chosen)}"


def here(one: CheckedClaim, chosen: Units) -> str:
    """Return what was measured here, or why nothing was."""
    held = one.here
    if held.verdict is None:
        gaps = {"untestable": one.claim.untestable, "planted": PLANTED, "unmeasured": NOT_MEASURED}
        return gaps[held.gap or "unmeasured"]
    return f"{AGREES[held.verdict]}: {numbers_of(one.claim, held, chosen, [*_basis(held)])}"


def _basis(held: ClaimResult) -> Iterator[str]:
    """Yield what one must know of the numbers."""
    if any(number.oversubscribed for number in held.numbers):
        yield "ranks share cores"
    if any(number.imported for number in held.numbers):
        yield "imported"


def numbers_of(claim: Claim, held: ClaimResult, chosen: Units, basis: Sequence[str] = ()) -> str:
    """Return the numbers: `7.39× at 1 B`, or `0.775× to 1.89×; so at 15 of 15`.

    Args:
        basis: What one must know of the numbers, to be said behind them.
    """
    write = partial(_written, claim, _with_unit_of(claim, chosen))
    names = _names(claim, held.numbers)
    listed = "; ".join([_listed(claim, held, names, write), *basis])
    if len(names) <= MAX_LISTED and len({*names}) == len(names) and len(listed.split()) < MAX_WORDS:
        return listed
    return "; ".join([_range(held.numbers, write), _counted(held), *basis])


Write = Callable[[float], str]


def _listed(claim: Claim, held: ClaimResult, names: Names, write: Write) -> str:
    """Return the numbers one by one; a common size comes once."""
    common = len({size for _, size in names}) == 1
    said = []
    for one, (label, size) in zip(held.numbers, names, strict=True):
        words = [write(one.estimate), _ends(one, write), label, f"at {size}" if size and not common else ""]
        said.append(" ".join(filter(None, words)))
    at = f" at {names[0][1]}" if common and names[0][1] else ""
    numbers = f"{', '.join(said)}{at}"
    return f"{numbers}; {_counted(held)}" if claim.quantifier != ALL and len(said) > 1 else numbers


def _ends(number: ClaimNumber, write: Write) -> str:
    """Return the interval; an upper end of a size may be unknown."""
    low, high = number.low, number.high
    if low is None or high is None or low == high:
        return ""
    if math.isinf(high):
        return "" if math.isinf(low) else f"({write(low)} or more)"
    return f"({units.interval(low, high, write)})"


def _range(found: Sequence[ClaimNumber], write: Write) -> str:
    """Return the least and the most of all numbers, with their intervals where they have some."""
    lows = [one.estimate if one.low is None else one.low for one in found]
    highs = [one.estimate if one.high is None else one.high for one in found]
    least, most = min(lows), max(highs)
    return f"{write(least)} or more" if least < math.inf == most else units.span(write(least), write(most))


def _counted(held: ClaimResult) -> str:
    """Return at how many cells a claim holds, and at how many it is open."""
    said = f"so at {held.count('holds')} of {len(held.numbers)}"
    undecided = held.count("undecided")
    return f"{said}, {undecided} open" if undecided else said


# ---- Which cells ---------------------------------------------------------------------------------

Names = list[tuple[str, str]]
"""Words that distinguish the cell of each number, and its size."""


def _names(claim: Claim, found: Sequence[ClaimNumber]) -> Names:
    """Return words and sizes of cells: `tcp, h1,h2` and `8 B`; no size if the number is a size."""
    labels = distinguishing_labels([_factors(number) for number in found])
    sizes = ["" if _is_size(claim) else _size(number) for number in found]
    return list(zip(labels, sizes, strict=True))


def _factors(number: ClaimNumber) -> Factors:
    phrases = phrases_of(number.row.cell) | {FILE: number.of.material.file}
    phrases.pop("window", None)
    said = " ".join(state_words(number.row.of))
    return phrases | ({STATE: said} if said else {})


def _size(number: ClaimNumber) -> str:
    return units.format_size(number.row.cell.bytes) if number.row.sized else ""


# ---- Numbers -------------------------------------------------------------------------------------


def _with_unit_of(claim: Claim, chosen: Units) -> Units:
    """Return units with rates in the unit of the bound, unless the user has chosen one."""
    text = claim.bound.text if claim.bound else ""
    named = [unit for unit in units.RATE_UNITS if unit in text]
    return replace(chosen, rate=named[0]) if named and chosen.rate == units.AUTO else chosen


def _written(claim: Claim, chosen: Units, value: float) -> str:
    """Return a number with its unit; ratios have none."""
    if _is_size(claim):
        return "no measured size" if math.isinf(value) else units.format_size(round(value))
    if _is_ratio(claim):
        digits = f"{value:.3f}" if MIN_NEAR <= value < MAX_NEAR else units.format_factor(value)
        return f"{digits}\N{MULTIPLICATION SIGN}"
    if claim.quantity in TIMES:
        return units.format_time(value, chosen.time)
    if claim.quantity in SHARES:
        return units.format_percent(value)
    return units.format_rate(value, chosen.rate)


def _is_size(claim: Claim) -> bool:
    return claim.kind in CLAIMS_OF_SIZES or claim.quantity == "size"


def _is_ratio(claim: Claim) -> bool:
    """Return whether its numbers are ratios; sizes are not."""
    if _is_size(claim) or claim.kind == "difference":
        return False
    return claim.two or claim.kind == "grows" or claim.quantity == "first"


# ---- The document --------------------------------------------------------------------------------

TONES: Mapping[ExpectationVerdict | None, Tone] = {"holds": "good", "fails": "doubt", None: "quiet"}

Scores = list[tuple["Report", list["CheckedClaim"]]]
"""Reports with their checked claims."""


def claim_source_of(source: Source) -> ClaimSource:
    """Return a result as material for claims."""
    plan = source.result.campaign.plan
    return ClaimSource(source.name, source.rows, source.patterns, plan.lab is not None, plan.title)


def document(scores: Scores, chosen: Units, *, quoted: bool = False) -> Document:
    """Return a table per report, below the count of claims that hold.

    Args:
        quoted: Whether each claim is followed below by the words of its report and its note.
    """
    found = [one for _, judged in scores for one in judged]
    return Document(
        head=list(filter(None, [headline(found), own_numbers(found)])),
        tables=[Table(report.name, report.source, judged, _COLUMNS) for report, judged in scores],
        foot=[Line(text) for text in notes(found, quoted=quoted)],
        units=chosen,
        data=lambda: _data(scores),
        records=lambda: [_flat(report, one) for report, judged in scores for one in judged],
    )


_COLUMNS = (
    Column("says", "the report says", lambda one: one.claim.says, left=True, wraps=True, goes=None),
    Column(
        "printed",
        "its own table",
        lambda one: printed(one, Units()),
        write=printed,
        left=True,
        wraps=True,
        goes=None,
        tone=lambda one: TONES.get(one.printed.verdict, ""),
    ),
    Column(
        "here",
        "here",
        lambda one: here(one, Units()),
        write=here,
        left=True,
        wraps=True,
        goes=None,
        tone=lambda one: TONES.get(one.here.verdict, ""),
    ),
)


# ---- For programs --------------------------------------------------------------------------------


def _data(scores: Scores) -> dict[str, Any]:
    """Return the data of docs/numbers-verbs.md#claims."""
    found = [one.verdict for _, judged in scores for one in judged]
    return {
        "conclusions": len(found),
        "verdicts": {word: found.count(word) for word in CLAIM_VERDICTS},
        "reports": [
            {
                "name": report.name,
                "source": report.source,
                "question": report.question,
                "claims": [_record(one) for one in judged],
            }
            for report, judged in scores
        ],
    }


def _record(one: CheckedClaim) -> dict[str, Any]:
    claim = one.claim
    return {
        "name": claim.name,
        "says": claim.says,
        "original": claim.original,
        "where": claim.where,
        "kind": claim.kind,
        "quantity": claim.quantity if claim.kind else None,
        "bound": claim.bound.text if claim.bound else None,
        "limit": claim.limit.text if claim.limit else None,
        "quantifier": claim.quantifier,
        "printed": _result_record(one.printed, printed(one, Units())),
        "here": _result_record(one.here, here(one, Units())),
        "verdict": one.verdict,
        "note": claim.note,
    }


def _result_record(held: ClaimResult, said: str) -> dict[str, Any]:
    return {
        "verdict": held.verdict,
        "gap": held.gap,
        "said": said,
        "numbers": [_number_record(one) for one in held.numbers],
    }


def _number_record(one: ClaimNumber) -> dict[str, Any]:
    return {
        **cell_record(one.row.cell),
        "file": one.of.material.file,
        **state_record(one.row.of),
        "against": cell_record(one.against.row.cell) if one.against else None,
        "against_file": one.against.material.file if one.against else None,
        "estimate": finite_or_none(one.estimate),
        "low": finite_or_none(one.low),
        "high": finite_or_none(one.high),
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
        "printed": printed(one, Units()),
        "here_verdict": one.here.verdict,
        "here": here(one, Units()),
        "verdict": one.verdict,
    }
