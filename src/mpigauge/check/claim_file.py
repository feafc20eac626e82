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
from mpigauge.plan.sizes import wanted
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
_TWO_ENDS = re.compile(r"(.+?)\s*\.\.\s*(.+)")
_SAME_SIGN = str.maketrans({"\N{LESS-THAN OR EQUAL TO}": "<=", "\N{GREATER-THAN OR EQUAL TO}": ">="})
_PERCENT = re.compile(r"([^%]+)%")


@dataclass(frozen=True, slots=True)
class Bound:
    """Between which numbers something is to be.

    Attributes:
        low: -inf if there is no lower end.
        high: inf if there is no upper one.
        inclusive: Whether the ends themselves are allowed.
        text: As the user wrote it.
    """

    low: float
    high: float
    inclusive: bool
    text: str

    def allows(self, value: float) -> bool:
        """Whether a number is so."""
        return self.low <= value <= self.high if self.inclusive else self.low < value < self.high

    def excludes(self, low: float, high: float) -> bool:
        """Whether no number between these is so."""
        return high < self.low or low > self.high or not (self.inclusive or self._inside(low, high))

    def _inside(self, low: float, high: float) -> bool:
        return high > self.low and low < self.high


def number(text: str) -> float:
    """Read a number without a unit, or in percent: ``"10"``, ``"80 %"``; not negative."""
    percent = _PERCENT.fullmatch(text.strip())
    try:
        value = float(percent[1]) / 100 if percent else float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise UsageError(f"{text!r} is not a number", "write it as 10, 1.5 or 80 %")
    return value


def seconds(text: str) -> float:
    """Read a span of time, or 0."""
    return 0.0 if text.strip() == "0" else units.parse_duration(text)


def parse_bound(key: str, text: str, read: Callable[[str], float]) -> Bound:
    """Read a bound: ``"> 10"``, ``"<= 2"``, ``"1.5 .. 3"`` with both ends.

    Args:
        key: Whose bound it is, for errors.
        read: What reads its numbers.

    Raises:
        UsageError: It is none, or its lower end is above the upper one.
    """
    said = text.translate(_SAME_SIGN).strip()
    try:
        if one := _ONE_END.fullmatch(said):
            end = read(one[2])
            low, high = (-math.inf, end) if one[1].startswith("<") else (end, math.inf)
            return Bound(low, high, one[1].endswith("="), text.strip())
        if two := _TWO_ENDS.fullmatch(said):
            low, high = read(two[1]), read(two[2])
            if low <= high:
                return Bound(low, high, inclusive=True, text=text.strip())
    except UsageError as error:
        raise UsageError(f"{key}: {error.sentence}", error.hint) from None
    raise UsageError(f"{key} {text!r} is not a bound", "write '> 10', '<= 2' or '1.5 .. 3'")


# ---- What a claim says ---------------------------------------------------------------------------

ENDING = "-claims.toml"
"""What files of claims are called, so that a folder of them and of tables can be given."""

FILE, TITLE = "file", "title"
"""Beside the factors of cells: the name of the result or table, without its ending; the title of its plan."""


Word = str | int | bool
Chosen = dict[str, Word | tuple[Word, ...]]
"""Factors of cells, FILE or TITLE, and which values of them; sizes as `plan.sizes.wanted` reads them."""


class Sides(Struct, frozen=True, forbid_unknown_fields=True):
    """Which cells a claim is about.

    Attributes:
        cells: Of all its cells.
        over: Besides, of those in the numerator, or from which others are subtracted.
        under: Of those that they are held against.
    """

    cells: Chosen = {}
    over: Chosen = {}
    under: Chosen = {}

    @property
    def two(self) -> bool:
        """Whether cells are held against others."""
        return bool(self.over or self.under)

    @property
    def chosen(self) -> bool:
        """Whether any cells are: a claim may be one of printed tables alone, or of results alone."""
        return bool(self.cells) or self.two


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose conclusions they are.

    Attributes:
        name: What it is called here.
        source: What is known of it: institution, year, language.
        question: What it asked.
        printed: Its tables beside the file: a .csv each, and a .toml that says which column is what.
    """

    name: str
    source: str = ""
    question: str = ""
    printed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A conclusion.

    Attributes:
        name: Of it, in its file.
        says: The conclusion in a sentence.
        where: Where the report has it.
        kind: What relation; None if nothing of it can be checked.
        quantity: Of cells.
        printed: Which cells of the printed tables.
        here: Which cells of results.
        along: What grows.
        limit: Of the ratio, where the bound is one on the size from which on it is kept.
        bound: What the number is to be; in seconds, bytes, bytes per second, or none of these.
        quantifier: Of how many numbers.
        planted: In a lab it would say no more than what the plan has put in.
        untestable: Why it cannot be tested here; empty if it can.
        note: What one must know to read it.
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

    @property
    def two(self) -> bool:
        """Whether cells are held against others."""
        return self.printed.two or self.here.two


@dataclass(frozen=True, slots=True)
class Claims:
    """A file of them."""

    path: Path
    report: Report
    claims: tuple[Claim, ...]

    @property
    def tables(self) -> list[tuple[Path, Path]]:
        """The printed tables, each with the file of its columns."""
        folder = self.path.parent
        return [(folder / f"{name}.csv", folder / f"{name}.toml") for name in self.report.printed]


def values(chosen: Word | tuple[Word, ...]) -> tuple[Word, ...]:
    """Those of a factor that are meant."""
    return chosen if isinstance(chosen, tuple) else (chosen,)


# ---- Files ---------------------------------------------------------------------------------------

_BYTES = "bytes"
_HINT = "docs/formats.md, Claims, has the keys; examples/published has files that work"

Table = TypeVar("Table", bound=Struct)


class _Written(Sides, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A claim as it is written; see `Claim`."""

    name: str
    says: str
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
    """A file of claims.

    Raises:
        UsageError: It cannot be read, or something in it is not understood: names the file, claim and key.
    """
    tables = read_toml(path, "a file of claims")
    report, words, written = (tables.pop(name, {}) for name in ("report", "here", "claim"))
    if tables or not isinstance(written, list) or not written:
        raise UsageError(f"{path}: must have [report], [[claim]] and nothing else but [here]", _HINT)
    of = _converted(report, Report, f"{path}: [report]")
    here = _translation(words, f"{path}: [here]")
    claims = tuple(_claim(path, place, table, here) for place, table in enumerate(written, start=1))
    _refuse_twins(path, claims)
    return Claims(path, of, claims)


def _refuse_twins(path: Path, claims: Sequence[Claim]) -> None:
    names = [claim.name for claim in claims]
    if twins := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UsageError(f"{path}: two claims are called {twins[0]!r}", "give each a name of its own")


def _converted(table: object, of: type[Table], where: str) -> Table:
    try:
        return msgspec.convert(table, of)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}", _HINT) from None


Translation = dict[str, dict[str, Word]]
"""By factor: the report's words to those of results."""


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
    written = _converted(table, _Written, where)
    try:
        return _parsed(written, here)
    except UsageError as error:
        raise UsageError(f"{where}: {error.sentence}", error.hint) from None


def _parsed(written: _Written, here: Translation) -> Claim:
    own = Sides(written.cells, written.over, written.under)
    claim = Claim(
        written.name,
        written.says,
        written.where,
        written.kind,
        written.quantity,
        printed=_laid_over(own, written.printed),
        here=_laid_over(_translated(own, here), written.here),
        along=written.along,
        quantifier=written.quantifier,
        planted=written.planted,
        untestable=written.untestable,
        note=written.note,
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


def _laid_over(sides: Sides, other: Sides) -> Sides:
    """With the values of the other, where it has some."""
    over = asdict(other)
    return Sides(**{name: chosen | over[name] for name, chosen in asdict(sides).items()})


def _translated(sides: Sides, words: Translation) -> Sides:
    return Sides(
        **{
            name: {factor: _said(value, words.get(factor, {})) for factor, value in chosen.items()}
            for name, chosen in asdict(sides).items()
        }
    )


def _said(value: Word | tuple[Word, ...], words: Mapping[str, Word]) -> Word | tuple[Word, ...]:
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
        wanted(text)
    except UsageError as error:
        raise UsageError(f"{side}: {_BYTES}: {error.sentence.removeprefix('--sizes ')}", error.hint) from None


def _check_factor(name: str, where: str) -> None:
    if name not in (there := [*BY_NAME, FILE, TITLE]):
        raise UsageError(f"{where}: cells have no {name!r}", choose_from(there, name))


def _check_kind(claim: Claim, kind: ClaimKind, written: _Written) -> None:
    """What a kind needs is there, and nothing that it does not have."""
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
    """Of printed tables and of results that are chosen from, both over and under, or neither."""
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
    """What reads the numbers of its bound."""
    if kind in CLAIMS_OF_SIZES or claim.quantity == "size":
        return units.parse_size
    if kind == "difference":
        return seconds
    if claim.two or kind == "grows":
        return number
    if claim.quantity in TIMES:
        return units.parse_duration
    return units.parse_rate if claim.quantity in RATES else number
