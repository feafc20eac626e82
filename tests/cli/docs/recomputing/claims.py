"""Tables of `mpigauge explain --claims`: the numbers of either column, from the file of the claims."""

# ruff: noqa: RUF001 - pages print dashes and signs of their own

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.claim_numbers import Number, Of, holds_of, numbers_of
from tests.cli.docs.recomputing.ledger import Said
from tests.cli.docs.recomputing.reading import SIZES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.cli.docs.recomputing.ledger import Ledger

LINE = re.compile(r"^\| (?P<says>.*?) \| (?P<printed>.*?) \| (?P<here>.*?) \| (?P<verdict>.*?) \|$")
N = r"[\d.]+(?:e[+-]?\d+)?"
UNIT = r"(?: (%|B|[KMG]iB|[MG]bit/s|[MG]B/s|ns|µs|ms|s|times))?"
EACH = re.compile(
    rf"({N}){UNIT}(?: \(({N}){UNIT} – ({N}){UNIT}\)| \(({N} \w+) or more\))?(?: "
    rf"\[[^]]*\])?(?: at [\d.]+ \w+)?"
)
MANY = re.compile(rf"({N}) to ({N}) times, median ({N}); so at (\d+) of (\d+)(.*)$")
LAUNCHES = re.compile(r"(\d+)(?: – (\d+))? launch")
HOLDS = re.compile(r"; so at (\d+) of (\d+)(?!\d)")
HEADLINE = re.compile(r"^\*of \d+ conclusions .*\*$", re.MULTILINE)
VERDICTS = ("confirmed", "refuted", "undecided", "not testable here", "not tested here")
NOTHING = ("not in its tables", "not measured")


def check_claims(ledger: Ledger, text: str, claims: Sequence[Mapping[str, Any]], here: Sequence[Of]) -> None:
    """All lines of the tables of an output."""
    of_claim = {one["says"]: (whole, one) for whole in claims for one in whole["claim"]}
    for line in text.splitlines():
        match = LINE.match(line)
        if match is None or match["says"] not in of_claim:
            continue
        whole, claim = of_claim[match["says"]]
        for column, found in (("printed", whole["printed_rows"]), ("here", here)):
            said = Said(ledger, match[column])
            before = len(ledger.differ)
            try:
                _check(said, claim, numbers_of(whole, claim, column, found), exact=column == "printed")
            except (IndexError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
                ledger.differ.append(f"{type(error).__name__} {error}: {match[column]}")
            ledger.differ[before:] = [f"claim {claim['name']}: {one}" for one in ledger.differ[before:]]
            said.close(f"claim {claim['name']}, {column}")
        _verdict(ledger, claim, match["verdict"], numbers_of(whole, claim, "here", here))
    if headline := HEADLINE.search(text):
        _headline(Said(ledger, headline[0]), text)


def _verdict(ledger: Ledger, claim: Mapping[str, Any], word: str, found: Sequence[Number]) -> None:
    """What the numbers here make of a claim."""
    if word not in ("confirmed", "refuted", "undecided") or not found:
        return
    holds = [holds_of(claim, one.own, exact=False) for one in found]
    yes, no, many = holds.count("holds"), holds.count("fails"), len(holds)
    own = {
        "all": "refuted" if no else "confirmed" if yes == many else "undecided",
        "most": "confirmed" if 2 * yes > many else "refuted" if 2 * (many - no) <= many else "undecided",
        "any": "confirmed" if yes else "refuted" if no == many else "undecided",
    }[claim.get("quantifier", "all")]
    Said(ledger, f"{word} {claim['name']}").word((0, len(word)), own)


def _headline(said: Said, text: str) -> None:
    """How many conclusions have which verdict."""
    words = [match["verdict"] for line in text.splitlines() if (match := LINE.match(line))]
    for match in re.finditer(r"of (\d+) conclusions", said.text):
        said.number(match.span(1), "", sum(word in VERDICTS for word in words))
    for match in re.finditer(r"(\d+) ((?:confirmed|refuted|undecided|not \w+ here))", said.text):
        said.number(match.span(1), "", words.count(match[2]))


def _check(said: Said, claim: Mapping[str, Any], found: Sequence[Number], *, exact: bool) -> None:
    if not found or said.text in NOTHING:
        return
    begin = re.match(r"(?:agrees|contradicts it|open|the lab's own number): ", said.text)
    at = begin.end() if begin else 0
    values = [one.own.estimate for one in found]
    holds = [holds_of(claim, one.own, exact=exact) for one in found]
    if match := MANY.search(said.text, at):
        for group, value in zip((1, 2, 3), (min(values), max(values), median(values)), strict=True):
            said.number(match.span(group), "", value)
        said.number(match.span(4), "", holds.count("holds"))
        said.number(match.span(5), "", len(found))
        _counted(said, match, found, holds)
    elif len(found) <= 4:
        _each(said, at, claim, found)
        if match := HOLDS.search(said.text):
            said.number(match.span(1), "", holds.count("holds"))
            said.number(match.span(2), "", len(found))
    if match := LAUNCHES.search(said.text):
        counts = sorted({one.own.launches for one in found if one.own.launches})
        said.number(match.span(1), "", counts[0])
        said.number(match.span(2), "", counts[-1])


def _counted(said: Said, match: re.Match[str], found: Sequence[Number], holds: Sequence[str]) -> None:
    tail, at = match[6], match.start(6)
    if open_ := re.search(r"undecided at (\d+)", tail):
        said.number((at + open_.start(1), at + open_.end(1)), "", holds.count("undecided"))
    if fails := re.search(r"not at (\d+)(?=$|[,;])(?! \w+iB| B)", tail):
        said.number((at + fails.start(1), at + fails.end(1)), "", holds.count("fails"))
    elif fails := re.search(r"not at (.*?)(?:, undecided|;|$)", tail):
        sizes = [one.row.bytes for one, word in zip(found, holds, strict=True) if word == "fails"]
        named = [*re.finditer(r"[\d.]+ (?:B|[KMG]iB)", fails[1])]
        if len(named) == len(sizes):
            base = at + fails.start(1)
            for one, size in zip(named, sizes, strict=True):
                said.size((base + one.start(), base + one.end()), size)


def _each(said: Said, at: int, claim: Mapping[str, Any], found: Sequence[Number]) -> None:
    end = said.text.find(";", at)
    matches = [*EACH.finditer(said.text, at, end if end >= 0 else len(said.text))]
    matches = [
        one
        for one in matches
        if said.text[one.start() - 2 : one.start()] in (": ", ", ") or one.start() == at
    ]
    if len(matches) != len(found):
        said.word((0, 0), f"{len(found)} numbers")
    for match, one in zip(matches, found, strict=False):
        unit = match[2] or ""
        if unit in SIZES:
            said.size((match.start(1), match.end(2)), one.own.estimate)
            if match[7]:
                said.size(match.span(7), one.own.low or -1)
            continue
        said.number(match.span(1), unit, one.own.estimate)
        said.number(match.span(3), match[4] or "", one.own.low)
        said.number(match.span(5), match[6] or "", one.own.high)
        if place := re.search(r" at ([\d.]+ \w+)$", match[0]):
            both = (match.start() + place.start(1), match.start() + place.end(1))
            said.size(both, one.row.bytes)
