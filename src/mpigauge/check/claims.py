"""Verdicts on claims of a report: by its own printed numbers, and by what was measured here.

A printed number has no interval, so it decides by itself. Of what was measured the interval decides, never
the number: a claim holds, fails, or that is not known. What was not measured is not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.check.claim_numbers import KINDS, verdict_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.check.claim_cells import ClaimSource
    from mpigauge.check.claim_kinds import Claim, Sides
    from mpigauge.check.claim_numbers import ClaimNumber
    from mpigauge.vocabulary import ClaimGap, ClaimVerdict, ExpectationVerdict, Quantifier


@dataclass(frozen=True, slots=True, eq=False)
class ClaimResult:
    """Numbers of a claim in some tables or results, and their verdict.

    Attributes:
        numbers: Numbers that the claim is about.
        verdict: Verdict on all of them; None if there are none that count.
        gap: Reason why there is none.
    """

    numbers: tuple[ClaimNumber, ...]
    verdict: ExpectationVerdict | None = None
    gap: ClaimGap | None = None

    def count(self, verdict: ExpectationVerdict) -> int:
        """Return how many numbers have this verdict."""
        return sum(number.verdict == verdict for number in self.numbers)


_VERDICTS: Mapping[ExpectationVerdict, ClaimVerdict] = {
    "holds": "confirmed",
    "fails": "refuted",
    "undecided": "undecided",
}
_GAPS: Mapping[ClaimGap, ClaimVerdict] = {
    "untestable": "untestable",
    "planted": "untestable",
    "unmeasured": "untested",
}


@dataclass(frozen=True, slots=True, eq=False)
class CheckedClaim:
    """Claim with both results.

    Attributes:
        printed: Result for the report's own tables.
        here: Result for measurements here.
    """

    claim: Claim
    printed: ClaimResult
    here: ClaimResult

    @property
    def verdict(self) -> ClaimVerdict:
        """Verdict by what was measured here."""
        if self.here.verdict is not None:
            return _VERDICTS[self.here.verdict]
        return _GAPS[self.here.gap or "unmeasured"]


def check_claim(claim: Claim, printed: Sequence[ClaimSource], here: Sequence[ClaimSource]) -> CheckedClaim:
    """Return a claim, checked against the tables of its report and against results."""
    return CheckedClaim(claim, _result(claim, claim.printed, printed, exact=True), _here(claim, here))


def _here(claim: Claim, found: Sequence[ClaimSource]) -> ClaimResult:
    if claim.untestable:
        return ClaimResult((), gap="untestable")
    result = _result(claim, claim.here, found, exact=False)
    real = tuple(number for number in result.numbers if not number.emulated)
    if not claim.planted or len(real) == len(result.numbers):
        return result
    if not real:
        return replace(result, verdict=None, gap="planted")
    return ClaimResult(real, _verdict_of_all(claim.quantifier, real))


def _result(claim: Claim, sides: Sides, found: Sequence[ClaimSource], *, exact: bool) -> ClaimResult:
    if claim.kind is None or claim.bound is None or not sides.chosen:
        return ClaimResult((), gap="unmeasured")
    bare = KINDS[claim.kind](claim, sides, found, exact)
    numbers = tuple(replace(one, verdict=verdict_of(one, claim.bound, exact=exact)) for one in bare)
    if not numbers:
        return ClaimResult((), gap="unmeasured")
    return ClaimResult(numbers, _verdict_of_all(claim.quantifier, numbers))


def _verdict_of_all(quantifier: Quantifier, numbers: Sequence[ClaimNumber]) -> ExpectationVerdict:
    """Return the verdict on all, most or any numbers, valid however undecided ones turn out."""
    holds = sum(number.verdict == "holds" for number in numbers)
    fails = sum(number.verdict == "fails" for number in numbers)
    count = len(numbers)
    needed = {"all": count, "most": count // 2 + 1, "any": 1}[quantifier]
    if holds >= needed:
        return "holds"
    return "fails" if count - fails < needed else "undecided"
