"""Conclusions of reports in sentences and as a document: what each says, its own numbers, ours, a verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import median
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
LAB_NUMBER = "the lab's own number"


MAX_LISTED = 4
"""Most numbers that are listed; of more, the smallest, the median and the largest are."""

MAX_NAMED = 3
"""Most cells that are named as exceptions."""

MIN_NEAR, MAX_NEAR = 0.95, 1.05
"""Ratios between which three digits would hide a difference that is small but real."""

VERDICTS: dict[ClaimVerdict, str] = {"untestable": "not testable here", "untested": "not tested here"}
"""Words of verdicts that differ from their names."""


PRINTED: dict[ExpectationVerdict, str] = {"holds": "agrees", "fails": "contradicts it", "undecided": "open"}


# ---- Of all --------------------------------------------------------------------------------------


def headline(found: Sequence[CheckedClaim]) -> str:
    """Return how many claims have each verdict."""
    counts = Counter(one.verdict for one in found)
    said = ", ".join(f"{counts[word]} {verdict(word)}" for word in CLAIM_VERDICTS if counts[word])
    return f"of {len(found)} conclusion{'' if len(found) == 1 else 's'} {said}"


def verdict(word: ClaimVerdict) -> str:
    """Return the word of a verdict."""
    return VERDICTS.get(word, word)


def own_numbers(found: Sequence[CheckedClaim]) -> str:
    """Return how many claims the reports' own printed numbers decide; empty if none."""
    decided = [one.printed.verdict for one in found if one.printed.verdict is not None]
    if not decided:
        return ""
    against = decided.count("fails")
    return (
        f"the reports' own printed numbers decide {len(decided)} of them, "
        f"and {f'contradict {against}' if against else 'contradict none'}"
    )


def notes(found: Sequence[CheckedClaim]) -> Iterator[str]:
    """Yield what verdicts mean, and what would decide more."""
    yield "printed numbers have no interval and decide by themselves; here, the 95 % interval decides"
    if any(one.verdict == "refuted" for one in found):
        yield "refuted: it does not hold here; on the hardware of the report it may"
    if any(one.verdict == "undecided" for one in found):
        yield "undecided: an interval has the bound in it; more launches narrow it: --launches, --precision"
    if any(one.here.gap == "planted" for one in found):
        yield f"{LAB_NUMBER}: it would only restate the plan of the emulated network; real hosts test it"
    if any(one.here.gap == "unmeasured" for one in found):
        yield f"{NOT_MEASURED}: no result that was given has these cells"
    if any(number.oversubscribed for one in found for number in one.here.numbers):
        yield "ranks share cores: such times are those of the scheduler, too"
    for one in found:
        if one.claim.note:
            yield f'"{one.claim.says.rstrip(".")}": {one.claim.note}'


# ---- Of one --------------------------------------------------------------------------------------


def printed(one: CheckedClaim, chosen: Units) -> str:
    """Return what the report's own tables say."""
    held = one.printed
    if held.verdict is None:
        return NOT_PRINTED
    return f"{PRINTED[held.verdict]}: {numbers_of(one.claim, held, chosen)}"


def here(one: CheckedClaim, chosen: Units) -> str:
    """Return what was measured here, or why nothing was."""
    held = one.here
    if held.gap == "untestable":
        return one.claim.untestable
    if held.gap == "unmeasured":
        return NOT_MEASURED
    said = "; ".join([numbers_of(one.claim, held, chosen), *_basis(held)])
    return f"{LAB_NUMBER}: {said}" if held.gap == "planted" else said


def _basis(held: ClaimResult) -> Iterator[str]:
    """Yield the number of launches, and caveats."""
    counts = sorted({number.launches for number in held.numbers if number.launches})
    if counts:
        ends = units.span(str(counts[0]), str(counts[-1]), f" {units.DASH} ")
        yield f"{ends} {'launch' if counts == [1] else units.plural('launch')}"
    if any(number.oversubscribed for number in held.numbers):
        every = all(number.oversubscribed for number in held.numbers)
        yield "ranks share cores" if every else "some ranks share cores"
    if any(number.imported for number in held.numbers):
        yield "imported"


def numbers_of(claim: Claim, held: ClaimResult, chosen: Units) -> str:
    """Return the numbers: `7.39 times at 1 B`, or `0.775 to 1.89 times, median 1.08; so at 29 of 31`."""
    found = held.numbers
    names = _names(claim, found)
    write = partial(_written, claim, _with_unit_of(claim, chosen))
    if len(found) <= MAX_LISTED:
        said = _each(claim, found, names, write)
        counted = claim.quantifier != ALL and len(found) > 1 and held.gap is None
        return f"{said}; so at {held.count('holds')} of {len(found)}" if counted else said
    values = [number.estimate for number in found]
    times = " times" if _is_ratio(claim) else ""
    ends = f"{write(min(values))} to {write(max(values))}{times}, median {write(median(values))}"
    return f"{ends}; {_counted(held, names)}"


Write = Callable[[float], str]


def _each(claim: Claim, found: Sequence[ClaimNumber], names: Names, write: Write) -> str:
    """Return the numbers one by one; a common size comes once."""
    times = " times" if _is_ratio(claim) else ""
    common = len({size for _, size in names}) == 1
    said = []
    for place, (one, (label, size)) in enumerate(zip(found, names, strict=True)):
        words = [write(one.estimate) + (times if place == 0 else ""), _ends(one, write)]
        words += [f"[{label}]" if label else "", f"at {size}" if size and not common else ""]
        said.append(" ".join(filter(None, words)))
    at = f" at {names[0][1]}" if common and names[0][1] else ""
    return f"{', '.join(said)}{at}"


def _ends(number: ClaimNumber, write: Write) -> str:
    """Return the interval; an upper end of a size may be unknown."""
    low, high = number.low, number.high
    if low is None or high is None or low == high:
        return ""
    if math.isinf(high):
        return "" if math.isinf(low) else f"({write(low)} or more)"
    return f"({units.interval(low, high, write)})"


def _counted(held: ClaimResult, names: Names) -> str:
    """Return at how many cells a claim holds, and at which it does not."""
    sizes = [size for _, size in names]
    what = "sizes" if all(sizes) and len({*sizes}) == len(sizes) else "cases"
    said = [f"so at {held.count('holds')} of {len(sizes)} {what}"]
    pairs = zip(held.numbers, names, strict=True)
    fails = [" ".join(filter(None, name)) for number, name in pairs if number.verdict == "fails"]
    if fails:
        said.append(f"not at {', '.join(fails) if len(fails) <= MAX_NAMED else len(fails)}")
    if undecided := held.count("undecided"):
        said.append(f"undecided at {undecided}")
    return ", ".join(said)


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
        return f"{value:.3f}" if MIN_NEAR <= value < MAX_NEAR else units.format_factor(value)
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
    found = [one for _, judged in scores for one in judged]
    return Document(
        head=list(filter(None, [headline(found), own_numbers(found)])),
        tables=[Table(report.name, report.source, judged, _COLUMNS) for report, judged in scores],
        foot=[Line(text) for text in notes(found)],
        units=chosen,
        data=lambda: _data(scores),
        records=lambda: [_flat(report, one) for report, judged in scores for one in judged],
    )


def _printed_tone(one: CheckedClaim) -> Tone:
    return "" if one.printed.verdict is None else PRINTED_TONES.get(one.printed.verdict, "")


_COLUMNS = (
    Column("says", "the report says", lambda one: one.claim.says, left=True, wraps=True, goes=None),
    Column(
        "printed",
        "its own numbers say",
        lambda one: printed(one, Units()),
        write=printed,
        left=True,
        wraps=True,
        goes=None,
        tone=_printed_tone,
    ),
    Column(
        "here",
        "here",
        lambda one: here(one, Units()),
        write=here,
        left=True,
        wraps=True,
        goes=None,
    ),
    Column(
        "verdict",
        "verdict",
        lambda one: verdict(one.verdict),
        left=True,
        goes=None,
        tone=lambda one: TONES.get(one.verdict, "quiet"),
    ),
)


# ---- For programs --------------------------------------------------------------------------------


def _data(scores: Scores) -> dict[str, Any]:
    """Return the data of docs/numbers.md#claims."""
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
