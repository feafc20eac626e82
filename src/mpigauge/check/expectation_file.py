"""What a user expects of a number, as a sentence: `pingpong 8B latency < 2us`.

    PATTERN [WORD...] [SIZE] [STATISTIC] QUANTITY SIGN BOUND

A latency without a pattern is that of pingpong, and without a size of 8 B: the first line of most answers.
Words choose among modes, libraries, transports and so on, as `--series` of tables does. A size is one, a
list, or a range with all in it. A bound is a time, a rate, or a share of a rate: `90% of 100Gbit/s`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from mpigauge import units
from mpigauge.errors import UsageError, nearest
from mpigauge.plan.patterns import known
from mpigauge.plan.plan_file import read_toml
from mpigauge.plan.suites import LATENCY_SIZE, OF_LATENCY
from mpigauge.vocabulary import QUANTITIES, STATS, TIMES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from mpigauge.vocabulary import Quantity, Statistic

Word = TypeVar("Word", bound=str)

TABLE = "expect"
LATENCY: Quantity = "latency"

_HINT = "write 'pingpong 8B latency < 2us', or 'stream 1MiB:4MiB bandwidth > 90% of 100Gbit/s'"
_SENTENCE = re.compile(r"([^<>]+)([<>]=?)([^<>=]+)")
_SIZE = rf"\d+(?:\.\d+)?\s*(?:{'|'.join(units.SIZE_UNITS)})?"
_TOKEN = re.compile(rf"\d+ ranks\b|{_SIZE}(?:[:,]{_SIZE})*(?!\S)|\S+")
_SHARE = re.compile(r"([0-9.]+\s*%)\s*of\s+(.+)")
_SAME_SIGN = str.maketrans({"\N{LESS-THAN OR EQUAL TO}": "<", "\N{GREATER-THAN OR EQUAL TO}": ">"})


@dataclass(frozen=True, slots=True)
class Expectation:
    """Expected bound of some numbers.

    Attributes:
        text: Text as the user wrote it.
        name: Name that the user gave; else the text.
        pattern: Pattern of the numbers.
        words: Other words that their cells must have.
        sizes: Sizes in the form of `--sizes` of tables; empty for all.
        stat: Statistic of a launch.
        below: Whether the number is to be below the bound, not above.
        bound: Bound in seconds, or bytes per second.
    """

    text: str
    name: str
    pattern: str
    words: tuple[str, ...]
    sizes: str
    stat: Statistic
    quantity: Quantity
    below: bool
    bound: float

    @property
    def of_time(self) -> bool:
        """Return whether the bound is in seconds."""
        return self.quantity in TIMES


def parse(text: str, name: str = "", foreign: Collection[str] = ()) -> Expectation:
    """Parse a sentence.

    Args:
        foreign: Names of patterns of imported numbers.

    Raises:
        UsageError: It is no expectation; says which word is not understood.
    """
    match = _SENTENCE.fullmatch(text.translate(_SAME_SIGN).strip())
    if match is None:
        raise UsageError(f"{text!r} is not an expectation", _HINT)
    what, sign, bound = match.groups()
    tokens = _TOKEN.findall(what)
    named = [word for word in QUANTITIES if word in tokens] or [_quantity_of(tokens, bound)]
    quantity = _one(text, "quantity", named, QUANTITIES)
    stat = _one(text, "statistic", [word for word in STATS if word in tokens] or ["median"], STATS)
    sizes = [token for token in tokens if token[0].isdigit() and not token.endswith("ranks")]
    words = [token for token in tokens if token not in (quantity, stat, *sizes)]
    if not words and quantity == LATENCY:
        words, sizes = [OF_LATENCY], sizes or [LATENCY_SIZE]
    pattern = _pattern(text, words, {*known(), *foreign})
    return Expectation(
        text=text.strip(),
        name=name or text.strip(),
        pattern=pattern,
        words=tuple(words[1:]),
        sizes=",".join(sizes),
        stat=stat,
        quantity=quantity,
        below=sign.startswith("<"),
        bound=_bound(text, quantity, bound.strip()),
    )


def _quantity_of(tokens: Sequence[str], bound: str) -> Quantity:
    """Return the quantity that a sentence means which names none: what its bound is of."""
    if "%" in bound or "/s" in bound:
        return "bandwidth"
    pattern = known().get(tokens[0]) if tokens else None
    return LATENCY if pattern is not None and pattern.one_way and pattern.talks else "time"


def _one(text: str, kind: str, found: Sequence[str], choices: Sequence[Word]) -> Word:
    if len(found) != 1:
        said = f"several: {', '.join(found)}" if found else "none"
        raise UsageError(
            f"{text!r} must name one {kind}, and names {said}", f"choose from {', '.join(choices)}"
        )
    return cast("Word", found[0])


def _pattern(text: str, words: Sequence[str], names: Collection[str]) -> str:
    if words and words[0] in names:
        return words[0]
    near = nearest(words[0], names) if words else ""
    hint = f"did you mean {near}?{' mpigauge list shows all patterns' * (near in known())}" if near else _HINT
    raise UsageError(f"{text!r} does not begin with the name of a pattern", hint)


def _bound(text: str, quantity: Quantity, bound: str) -> float:
    try:
        if quantity in TIMES:
            return units.parse_duration(bound)
        if share := _SHARE.fullmatch(bound):
            return units.parse_fraction(share[1]) * units.parse_rate(share[2])
        return units.parse_rate(bound)
    except UsageError as error:
        raise UsageError(f"{text!r}: {error.sentence}", error.hint) from None


def read_expectations(path: Path, foreign: Collection[str] = ()) -> list[Expectation]:
    """Return the sentences of a TOML file: names and texts below `[expect]`.

    Args:
        foreign: Names of patterns of imported numbers.

    Raises:
        UsageError: It cannot be read, or has something else; says where.
    """
    return list(_entries(path, read_toml(path, "a file of expectations"), foreign))


def _entries(path: Path, tables: dict[str, Any], foreign: Collection[str]) -> Iterator[Expectation]:
    entries = tables.pop(TABLE, None)
    if tables or not isinstance(entries, dict) or not entries:
        raise UsageError(
            f"{path}: must have the table [{TABLE}] and nothing else",
            f'write below [{TABLE}]: small = "pingpong 8B latency < 2us"',
        )
    for name, text in entries.items():
        if not isinstance(text, str):
            raise UsageError(f"{path}: {TABLE}.{name} is not a text", _HINT)
        try:
            yield parse(text, name, foreign)
        except UsageError as error:
            raise UsageError(f"{path}: {TABLE}.{name}: {error.sentence}", error.hint) from None
