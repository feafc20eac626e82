"""What is said of conclusions of reports: their numbers, printed and here, and how many hold."""

from __future__ import annotations

import math
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.show.series import FILE, told_apart
from mpigauge.show.words.factors import phrases_of
from mpigauge.vocabulary import CLAIM_VERDICTS, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.analysis.claim_numbers import Number
    from mpigauge.analysis.claims import Held, Judged
    from mpigauge.plan.claims import Claim
    from mpigauge.show.words.factors import Factors
    from mpigauge.vocabulary import ExpectationVerdict

NOT_PRINTED = "not in its tables"
NOT_MEASURED = "not measured"
PLANTED = "the lab's own number"

EACH_MOST = 4
"""So many numbers are said one by one; of more, the smallest, the middle and the largest."""

NAMED_MOST = 3
"""So many cells at which it is otherwise are named."""

PRINTED: dict[ExpectationVerdict, str] = {"holds": "agrees", "fails": "contradicts it", "undecided": "open"}


# ---- Of all --------------------------------------------------------------------------------------


def headline(found: Sequence[Judged]) -> str:
    """How many are confirmed, how many are not."""
    counts = Counter(one.verdict for one in found)
    said = ", ".join(f"{counts[word]} {word}" for word in CLAIM_VERDICTS if counts[word])
    return f"of {len(found)} conclusion{'' if len(found) == 1 else 's'} {said}"


def of_their_own(found: Sequence[Judged]) -> str:
    """How many the printed numbers of the reports themselves decide; empty if none."""
    decided = [one.printed.verdict for one in found if one.printed.verdict is not None]
    if not decided:
        return ""
    against = decided.count("fails")
    return (
        f"the reports' own printed numbers decide {len(decided)} of them, "
        f"and {f'contradict {against}' if against else 'contradict none'}"
    )


def notes(found: Sequence[Judged]) -> Iterator[str]:
    """What marks mean, and what would decide more."""
    yield "printed numbers have no interval and decide by themselves; here, the 95 % interval decides"
    if any(one.verdict == "undecided" for one in found):
        yield "undecided: an interval has the bound in it; more launches narrow it: --launches, --precision"
    if any(one.here.gap == "planted" for one in found):
        yield f"{PLANTED}: it would only restate the plan of the emulated network; real hosts test it"
    if any(one.here.gap == "unmeasured" for one in found):
        yield f"{NOT_MEASURED}: no result that was given has these cells"
    if any(number.oversubscribed for one in found for number in one.here.numbers):
        yield "ranks share cores: such times are those of the scheduler, too"
    for one in found:
        if one.claim.note:
            yield f"{one.claim.name}: {one.claim.note}"


# ---- Of one --------------------------------------------------------------------------------------


def printed(one: Judged) -> str:
    """What the report's own tables say."""
    held = one.printed
    if held.verdict is None:
        return NOT_PRINTED
    return f"{PRINTED[held.verdict]}: {numbers_of(one.claim, held)}"


def here(one: Judged) -> str:
    """What was measured here says, or why nothing does."""
    held = one.here
    if held.gap == "untestable":
        return one.claim.untestable
    if held.gap == "unmeasured":
        return NOT_MEASURED
    said = "; ".join([numbers_of(one.claim, held), *_basis(held)])
    return f"{PLANTED}: {said}" if held.gap == "planted" else said


def _basis(held: Held) -> Iterator[str]:
    """Launches, and what must be known of them."""
    counts = sorted({number.launches for number in held.numbers if number.launches})
    if counts:
        ends = " \N{EN DASH} ".join(dict.fromkeys(map(str, (counts[0], counts[-1]))))
        yield f"{ends} launch{'' if counts == [1] else 'es'}"
    if any(number.oversubscribed for number in held.numbers):
        every = all(number.oversubscribed for number in held.numbers)
        yield "ranks share cores" if every else "some ranks share cores"
    if any(number.imported for number in held.numbers):
        yield "imported"


def numbers_of(claim: Claim, held: Held) -> str:
    """`7.4 times at 1 B`; of many `0.78 to 1.89 times, median 1.08, at 31 cells: so at 29`."""
    found = held.numbers
    names = _names(found)
    if len(found) <= EACH_MOST:
        return ", ".join(
            f"{_interval(claim, number)}{f' {name}' if name else ''}"
            for number, name in zip(found, names, strict=True)
        )
    values = [number.estimate for number in found]
    ends = f"{_value(claim, min(values))} to {_value(claim, max(values))}"
    return f"{ends}, median {_value(claim, median(values))}; {_counted(held, names)}"


def _counted(held: Held, names: Sequence[str]) -> str:
    """At how many of them it is so, and at which it is not."""
    count, what = len(held.numbers), "sizes" if _only_sizes(held.numbers) else "cases"
    said = [f"so at {held.count('holds')} of {count} {what}"]
    fails = [name for number, name in zip(held.numbers, names, strict=True) if number.verdict == "fails"]
    if 0 < len(fails) <= NAMED_MOST:
        said.append(f"not {', '.join(fails)}")
    elif fails:
        said.append(f"not at {len(fails)}")
    if undecided := held.count("undecided"):
        said.append(f"undecided at {undecided}")
    return ", ".join(said)


# ---- Which cells ---------------------------------------------------------------------------------


def _names(found: Sequence[Number]) -> list[str]:
    """What tells each from the others: `nonblocking at 8 B`."""
    labels = told_apart([_factors(number) for number in found])
    by_size = _by_size(found)
    return [
        " ".join(filter(None, [f"({label})" if label else "", _size(number) if by_size else ""]))
        for number, label in zip(found, labels, strict=True)
    ]


def _by_size(found: Sequence[Number]) -> bool:
    """Whether sizes say anything: not of what is a size itself."""
    return any(number.row.sized and number.row.cell.bytes != number.estimate for number in found)


def _factors(number: Number) -> Factors:
    phrases = phrases_of(number.row.cell) | {FILE: number.of.material.file}
    phrases.pop("window", None)
    return phrases


def _size(number: Number) -> str:
    return f"at {units.format_size(number.row.cell.bytes)}" if number.row.sized else ""


def _only_sizes(found: Sequence[Number]) -> bool:
    return len({number.row.cell.bytes for number in found}) == len(found)


# ---- Numbers -------------------------------------------------------------------------------------


def _interval(claim: Claim, number: Number) -> str:
    text = _value(claim, number.estimate)
    if number.low is None or number.high is None or number.low == number.high:
        return text
    low, high = _bare(claim, number.low), _bare(claim, number.high)
    return f"{text} ({low} \N{EN DASH} {high})"


def _value(claim: Claim, value: float) -> str:
    """With its unit."""
    text = _bare(claim, value)
    return f"{text} times" if _is_ratio(claim) else text


def _bare(claim: Claim, value: float) -> str:
    """As it stands in an interval."""
    if _is_size(claim):
        return "none measured" if math.isinf(value) else units.format_size(round(value))
    if _is_ratio(claim):
        return units.format_factor(value)
    if claim.quantity in TIMES:
        return units.format_time(value)
    return units.format_percent(value) if claim.quantity in ("scatter", "cpu") else units.format_rate(value)


def _is_size(claim: Claim) -> bool:
    return claim.kind in ("from", "limit") or claim.quantity == "size"


def _is_ratio(claim: Claim) -> bool:
    if claim.kind == "peak":
        return claim.here.two
    return claim.kind in ("ratio", "grows") or (claim.kind == "value" and claim.quantity == "first")
