"""Whether conclusions of a report hold: of its own printed numbers, and of what was measured here.

A printed number has no interval, so it decides by itself. Of what was measured the interval decides, never
the number: a claim holds, fails, or that is not known. What was not measured is not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.check.claim_numbers import KINDS, verdict_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.check.claim_cells import Material
    from mpigauge.check.claim_kinds import Claim, Sides
    from mpigauge.check.claim_numbers import ClaimNumber
    from mpigauge.vocabulary import ClaimGap, ClaimVerdict, ExpectationVerdict, Quantifier


@dataclass(frozen=True, slots=True, eq=False)
class ClaimResult:
    """A claim held against some tables or results.

    Attributes:
        numbers: All that it is about.
        verdict: Of those together; None if there are none that count.
        gap: Why not.
    """

    numbers: tuple[ClaimNumber, ...]
    verdict: ExpectationVerdict | None = None
    gap: ClaimGap | None = None

    def count(self, verdict: ExpectationVerdict) -> int:
        """How many numbers are so."""
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
    """A claim and what both say of it.

    Attributes:
        printed: The report's own tables.
        here: What was measured here.
    """

    claim: Claim
    printed: ClaimResult
    here: ClaimResult

    @property
    def verdict(self) -> ClaimVerdict:
        """By what was measured here."""
        if self.here.verdict is not None:
            return _VERDICTS[self.here.verdict]
        return _GAPS[self.here.gap or "unmeasured"]


def judged(claim: Claim, printed: Sequence[Material], here: Sequence[Material]) -> CheckedClaim:
    """A claim, held against the tables of its report and against results."""
    return CheckedClaim(claim, _held(claim, claim.printed, printed, exact=True), _here(claim, here))


def _here(claim: Claim, found: Sequence[Material]) -> ClaimResult:
    if claim.untestable:
        return ClaimResult((), gap="untestable")
    held = _held(claim, claim.here, found, exact=False)
    real = tuple(number for number in held.numbers if not number.emulated)
    if not claim.planted or len(real) == len(held.numbers):
        return held
    if not real:
        return replace(held, verdict=None, gap="planted")
    return ClaimResult(real, _together(claim.quantifier, real))


def _held(claim: Claim, sides: Sides, found: Sequence[Material], *, exact: bool) -> ClaimResult:
    if claim.kind is None or claim.bound is None or not sides.chosen:
        return ClaimResult((), gap="unmeasured")
    bare = KINDS[claim.kind](claim, sides, found, exact)
    numbers = tuple(replace(one, verdict=verdict_of(one, claim.bound, exact=exact)) for one in bare)
    if not numbers:
        return ClaimResult((), gap="unmeasured")
    return ClaimResult(numbers, _together(claim.quantifier, numbers))


def _together(quantifier: Quantifier, numbers: Sequence[ClaimNumber]) -> ExpectationVerdict:
    """What is so of all, most or any of them, whatever those are that are undecided."""
    holds = sum(number.verdict == "holds" for number in numbers)
    fails = sum(number.verdict == "fails" for number in numbers)
    count = len(numbers)
    needed = {"all": count, "most": count // 2 + 1, "any": 1}[quantifier]
    if holds >= needed:
        return "holds"
    return "fails" if count - fails < needed else "undecided"
