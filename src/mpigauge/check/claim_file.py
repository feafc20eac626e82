"""Files of claims: TOML with `[report]`, `[[claim]]`, and `[here]` where results have other words.

Everything in them is checked when they are read; an error names the file, the claim and the key.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from mpigauge import units
from mpigauge.errors import UsageError, choose_from
from mpigauge.plan.factors import BY_NAME
from mpigauge.plan.patterns import known
from mpigauge.plan.plan_file import read_toml
from mpigauge.plan.shipped import CLAIMS, check_there
from mpigauge.plan.sizes import size_filter
from mpigauge.vocabulary import (
    BEST,
    CLAIMS_OF_SIZES,
    CLAIMS_OF_TWO,
    RATES,
    TIMES,
    ClaimAlong,
    ClaimKind,
    ClaimQuantity,
    Quantifier,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_ONE_END = re.compile(r"(<=|>=|<|>)\s*(.+)")
_TWO_ENDS = re.compile(r"(.+?)\.\.(.+)")
_SAME_SIGN = str.maketrans({"\N{LESS-THAN OR EQUAL TO}": "<=", "\N{GREATER-THAN OR EQUAL TO}": ">="})
_PERCENT = re.compile(r"([^%]+)%")


@dataclass(frozen=True, slots=True)
class Bound:
    """Range in which a number is to be.

    Attributes:
        low: Lower end; -inf if there is none.
        high: Upper end; inf if there is none.
        inclusive: Whether the ends themselves are allowed.
        text: Text as the user wrote it.
    """

    low: float
    high: float
    inclusive: bool
    text: str

    def allows(self, value: float) -> bool:
        """Return whether a number is within the bound."""
        return self.low <= value <= self.high if self.inclusive else self.low < value < self.high

    def excludes(self, low: float, high: float) -> bool:
        """Return whether no number between these two is within the bound."""
        return high < self.low or low > self.high or not (self.inclusive or self._inside(low, high))

    def _inside(self, low: float, high: float) -> bool:
        return high > self.low and low < self.high


def number(text: str) -> float:
    """Parse a number without a unit, or in percent: ``"10"``, ``"80 %"``; not negative."""
    percent = _PERCENT.fullmatch(text.strip())
    try:
        value = float(percent[1]) / 100 if percent else float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise UsageError(f"{text!r} is not a number", "write it as 10, 1.5 or 80 %")
    return value


def seconds(text: str) -> float:
    """Parse a duration, or 0."""
    return 0.0 if text.strip() == "0" else units.parse_duration(text)


def parse_bound(key: str, text: str, read: Callable[[str], float]) -> Bound:
    """Parse a bound: ``"> 10"``, ``"<= 2"``, ``"1.5 .. 3"`` with both ends.

    Args:
        key: Key of the bound, for errors.
        read: Parser of its numbers.

    Raises:
        UsageError: It is no bound, or its lower end is above the upper one.
    """
    normalised = text.translate(_SAME_SIGN).strip()
    try:
        if one_end := _ONE_END.fullmatch(normalised):
            end = read(one_end[2])
            low, high = (-math.inf, end) if one_end[1].startswith("<") else (end, math.inf)
            return Bound(low, high, one_end[1].endswith("="), text.strip())
        if two_ends := _TWO_ENDS.fullmatch(normalised):
            low, high = (read(end.strip()) for end in two_ends.groups())
            if low <= high:
                return Bound(low, high, inclusive=True, text=text.strip())
    except UsageError as error:
        raise UsageError(f"{key}: {error.sentence}", error.hint) from None
    raise UsageError(f"{key} {text!r} is not a bound", "write '> 10', '<= 2' or '1.5 .. 3'")


# ---- What a claim says ---------------------------------------------------------------------------

ENDING = CLAIMS.ending
"""Ending of files of claims, which tells them from tables in a folder of both."""

FILE, TITLE = "file", "title"
"""Beside the factors of cells: the name of the result or table, without its ending; the title of its plan."""


Word = str | int | bool
Chosen = dict[str, Word | tuple[Word, ...]]
"""Values by factor of cells, FILE or TITLE; sizes in the form of `plan.sizes.size_filter`."""


class Sides(Struct, frozen=True, forbid_unknown_fields=True):
    """Selections of the cells that a claim is about.

    Attributes:
        cells: Selection of all its cells.
        over: Further selection of cells in the numerator, or from which others are subtracted.
        under: Further selection of cells that they are compared with.
    """

    cells: Chosen = {}
    over: Chosen = {}
    under: Chosen = {}

    @property
    def two(self) -> bool:
        """Return whether it compares cells with others."""
        return bool(self.over or self.under)

    @property
    def chosen(self) -> bool:
        """Return whether it selects cells: a claim may be about printed tables alone, or results alone."""
        return bool(self.cells) or self.two


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """Report whose claims are checked.

    Attributes:
        name: Name of the report.
        source: Origin: institution, year, language.
        question: Question that it asked.
        printed: Its tables beside the file: a .csv each, and a .toml that says which column is what.
    """

    name: str
    source: str = ""
    question: str = ""
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """Conclusion of a report.

    Attributes:
        name: Name in its file.
        says: The conclusion in a short sentence of English.
        original: The words of the report, in its language.
        where: Place in the report.
        kind: Kind of relation; None if nothing of it can be checked.
        quantity: Quantity of cells.
        printed: Cells of the printed tables.
        here: Cells of results.
        along: Factor along which a time grows.
        limit: Limit of the ratio, where the bound is on the size from which on the limit is kept.
        bound: Bound of the number, in seconds, bytes, bytes per second, or without unit.
        quantifier: Share of the numbers for which it must hold.
        planted: Whether a lab would only restate what its plan has set.
        untestable: Reason why it cannot be tested here; empty if it can.
        note: Note for readers.
    """

    name: str
    says: str
    where: str
    kind: ClaimKind | None
    quantity: ClaimQuantity
    printed: Sides
    here: Sides
    along: ClaimAlong | None = None
    limit: Bound | None = None
    bound: Bound | None = None
    quantifier: Quantifier = "all"
    planted: bool = False
    untestable: str = ""
    note: str = ""
    original: str = ""

    @property
    def two(self) -> bool:
        """Return whether it compares cells with others."""
        return self.printed.two or self.here.two


@dataclass(frozen=True, slots=True)
class Claims:
    """File of claims."""

    path: Path
    report: Report
    claims: tuple[Claim, ...]

    @property
    def tables(self) -> list[tuple[Path, Path]]:
        """Printed tables, each with the file of its columns."""
        folder = self.path.parent
        return [(folder / f"{name}.csv", folder / f"{name}.toml") for name in self.report.printed]


def values(chosen: Word | tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the selected values of a factor."""
    return chosen if isinstance(chosen, tuple) else (chosen,)


# ---- Files ---------------------------------------------------------------------------------------

_BYTES = "bytes"
_HINT = "docs/formats.md, Claims, has the keys; mpigauge list claims --format json names files that work"

Table = TypeVar("Table", bound=Struct)


class _RawClaim(Sides, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Claim as written in the file; see `Claim`."""

    name: str
    says: str
    original: str = ""
    where: str = ""
    kind: ClaimKind | None = None
    quantity: ClaimQuantity = "time"
    along: ClaimAlong | None = None
    limit: str = ""
    bound: str = ""
    quantifier: Quantifier = "all"
    printed: Sides = Sides()
    here: Sides = Sides()
    planted: bool = False
    untestable: str = ""
    note: str = ""


def read_claims(path: Path) -> Claims:
    """Return the claims of a file.

    Raises:
        UsageError: It cannot be read, or something in it is not understood: names the file, claim and key.
    """
    check_there(path, CLAIMS)
    tables = read_toml(path, "a file of claims", ", or a name: mpigauge list claims")
    report, words, written = (tables.pop(name, {}) for name in ("report", "here", "claim"))
    if tables or not isinstance(written, list) or not written:
        raise UsageError(f"{path}: must have [report], [[claim]] and nothing else but [here]", _HINT)
    of = _converted(report, Report, f"{path}: [report]")
    here = _translation(words, f"{path}: [here]")
    claims = tuple(_claim(path, place, table, here) for place, table in enumerate(written, start=1))
    _refuse_repeated_names(path, claims)
    return Claims(path, of, claims)


def _refuse_repeated_names(path: Path, claims: Sequence[Claim]) -> None:
    names = [claim.name for claim in claims]
    if twins := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UsageError(f"{path}: two claims are called {twins[0]!r}", "give each a name of its own")


def _converted(table: object, of: type[Table], where: str) -> Table:
    try:
        return msgspec.convert(table, of)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}", _HINT) from None


Translation = dict[str, dict[str, Word]]
"""Words of results by those of the report, by factor."""


def _translation(words: object, where: str) -> Translation:
    try:
        found = msgspec.convert(words, Translation)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}", _HINT) from None
    for name in found:
        _check_factor(name, where)
    return found


# ---- One claim -----------------------------------------------------------------------------------


def _claim(path: Path, place: int, table: object, here: Translation) -> Claim:
    name = table.get("name") if isinstance(table, dict) else None
    where = f"{path}: claim {name if isinstance(name, str) else place}"
    written = _converted(table, _RawClaim, where)
    try:
        return _parsed(written, here)
    except UsageError as error:
        raise UsageError(f"{where}: {error.sentence}", error.hint) from None


def _parsed(written: _RawClaim, here: Translation) -> Claim:
    own = Sides(written.cells, written.over, written.under)
    claim = Claim(
        written.name,
        written.says,
        written.where,
        written.kind,
        written.quantity,
        printed=_overridden(own, written.printed),
        here=_overridden(_translated(own, here), written.here),
        along=written.along,
        quantifier=written.quantifier,
        planted=written.planted,
        untestable=written.untestable,
        note=written.note,
        original=written.original,
    )
    for sides in (claim.printed, claim.here):
        _check_sides(sides)
    if claim.kind is None:
        if not claim.untestable:
            raise UsageError("neither kind nor untestable says how it is checked", _HINT)
        return claim
    _check_kind(claim, claim.kind, written)
    limit = parse_bound("limit", written.limit, number) if written.limit else None
    bound = parse_bound("bound", written.bound or "> 1", _reader(claim, claim.kind))
    return replace(claim, limit=limit, bound=bound)


def _overridden(sides: Sides, other: Sides) -> Sides:
    """Return sides with the values of another where it has some."""
    over = asdict(other)
    return Sides(**{name: chosen | over[name] for name, chosen in asdict(sides).items()})


def _translated(sides: Sides, words: Translation) -> Sides:
    return Sides(
        **{
            name: {
                factor: _translated_value(value, words.get(factor, {})) for factor, value in chosen.items()
            }
            for name, chosen in asdict(sides).items()
        }
    )


def _translated_value(value: Word | tuple[Word, ...], words: Mapping[str, Word]) -> Word | tuple[Word, ...]:
    if isinstance(value, tuple):
        return tuple(words.get(str(one), one) for one in value)
    return words.get(str(value), value)


def _check_sides(sides: Sides) -> None:
    for side, chosen in asdict(sides).items():
        for name, value in chosen.items():
            _check_factor(name, side)
            if name == _BYTES and not isinstance(value, (str, int)):
                raise UsageError(f"{side}: {_BYTES} is one text", "write '8,1KiB' or '1KiB:1MiB'")
            if name == _BYTES:
                _check_sizes(str(value), side)
            if name == "pattern" and (odd := {*values(value)} - {*known()}):
                raise UsageError(f"{side}: no pattern is called {odd.pop()!r}", "mpigauge list shows all")


def _check_sizes(text: str, side: str) -> None:
    try:
        size_filter(text)
    except UsageError as error:
        raise UsageError(f"{side}: {_BYTES}: {error.sentence.removeprefix('--sizes ')}", error.hint) from None


def _check_factor(name: str, where: str) -> None:
    if name not in (there := [*BY_NAME, FILE, TITLE]):
        raise UsageError(f"{where}: cells have no {name!r}", choose_from(there, name))


def _check_kind(claim: Claim, kind: ClaimKind, written: _RawClaim) -> None:
    """Refuse a claim that lacks what its kind needs, or has what its kind does not."""
    _check_two(claim, kind)
    grows = kind == "grows"
    needs = {
        "along": (grows, claim.along is not None, grows),
        "limit": (kind == "from", bool(written.limit), kind == "from"),
        "bound": (not grows, bool(written.bound), True),
    }
    for what, (needed, there, allowed) in needs.items():
        if needed and not there:
            raise UsageError(f"kind {kind} needs {what}", _HINT)
        if there and not allowed:
            raise UsageError(f"kind {kind} does not have {what}", _HINT)
    _check_quantity(claim, kind)


def _check_two(claim: Claim, kind: ClaimKind) -> None:
    """Refuse sides that do not fit the kind: both over and under, or neither."""
    both = {"printed": claim.printed, "here": claim.here}
    chosen = {name: sides for name, sides in both.items() if sides.chosen}
    if not chosen:
        raise UsageError("no cells are chosen", _HINT)
    needed = kind in CLAIMS_OF_TWO or (kind == "peak" and claim.two)
    for name, sides in chosen.items():
        if needed and not (sides.over and sides.under):
            raise UsageError(f"{name}: kind {kind} needs over and under", _HINT)
        if sides.two and not needed:
            raise UsageError(f"{name}: kind {kind} does not have over and under", _HINT)


_QUANTITIES: Mapping[ClaimKind, frozenset[ClaimQuantity]] = {
    "difference": TIMES,
    "peak": BEST,
    "limit": TIMES,
}


def _check_quantity(claim: Claim, kind: ClaimKind) -> None:
    allowed = _QUANTITIES.get(kind)
    if (allowed is not None and claim.quantity not in allowed) or (
        claim.quantity == "size" and (kind != "peak" or claim.two)
    ):
        raise UsageError(f"kind {kind} cannot be of the quantity {claim.quantity}", _HINT)


def _reader(claim: Claim, kind: ClaimKind) -> Callable[[str], float]:
    """Return the parser of the numbers of its bound."""
    if kind in CLAIMS_OF_SIZES or claim.quantity == "size":
        return units.parse_size
    if kind == "difference":
        return seconds
    if claim.two or kind == "grows":
        return number
    if claim.quantity in TIMES:
        return units.parse_duration
    return units.parse_rate if claim.quantity in RATES else number
