"""Conclusions of a report as relations that can be checked: a TOML file of claims (docs/formats.md#claims).

A claim says which cells, what of them, and a bound; it is held against the report's own printed tables, which
lie beside the file, and against results. Where both have other words for one thing, `[here]` translates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from mpigauge import units
from mpigauge.errors import UsageError, choose_from
from mpigauge.plan.bounds import number, parse_bound, seconds
from mpigauge.plan.factors import BY_NAME
from mpigauge.plan.patterns import known
from mpigauge.plan.plan_file import read_toml
from mpigauge.plan.sizes import wanted
from mpigauge.vocabulary import TIMES, ClaimAlong, ClaimKind, ClaimQuantity, Quantifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mpigauge.plan.bounds import Bound

ENDING = "-claims.toml"
"""What files of claims are called, so that a folder of them and of tables can be given."""

FILE, TITLE = "file", "title"
"""Beside the factors of cells: the name of the result or table, without its ending; the title of its plan."""

_BYTES = "bytes"
_HINT = "docs/formats.md, Claims, has the keys; examples/published has files that work"

Word = str | int | bool
Chosen = dict[str, Word | tuple[Word, ...]]
"""Factors of cells, FILE or TITLE, and which values of them; sizes as `plan.sizes.wanted` reads them."""

Table = TypeVar("Table", bound=Struct)


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
                wanted(str(value))
            if name == "pattern" and (odd := {*values(value)} - {*known()}):
                raise UsageError(f"{side}: no pattern is called {odd.pop()!r}", "mpigauge list shows all")


def values(chosen: Word | tuple[Word, ...]) -> tuple[Word, ...]:
    """Those of a factor that are meant."""
    return chosen if isinstance(chosen, tuple) else (chosen,)


def _check_factor(name: str, where: str) -> None:
    if name not in (there := [*BY_NAME, FILE, TITLE]):
        raise UsageError(f"{where}: cells have no {name!r}", choose_from(there, name))


def _check_kind(claim: Claim, kind: ClaimKind, written: _Written) -> None:
    """What a kind needs is there, and nothing that it does not have."""
    _check_two(claim, kind)
    needs = {
        "along": (kind in _ALONG, claim.along is not None, kind in _ALONG),
        "limit": (kind in _FROM, bool(written.limit), kind in _FROM),
        "bound": (kind not in _ALONG, bool(written.bound), True),
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
    needed = kind in _OF_TWO or (kind in _MAYBE_TWO and claim.two)
    for name, sides in chosen.items():
        if needed and not (sides.over and sides.under):
            raise UsageError(f"{name}: kind {kind} needs over and under", _HINT)
        if sides.two and not needed:
            raise UsageError(f"{name}: kind {kind} does not have over and under", _HINT)


_OF_TWO: frozenset[ClaimKind] = frozenset({"ratio", "difference", "from"})
_MAYBE_TWO: frozenset[ClaimKind] = frozenset({"peak"})
_ALONG: frozenset[ClaimKind] = frozenset({"grows"})
_FROM: frozenset[ClaimKind] = frozenset({"from"})
_QUANTITIES: Mapping[ClaimKind, frozenset[ClaimQuantity]] = {
    "difference": TIMES,
    "peak": frozenset({"bandwidth", "busbw", "size"}),
    "limit": TIMES,
}


def _check_quantity(claim: Claim, kind: ClaimKind) -> None:
    allowed = _QUANTITIES.get(kind)
    if (allowed is not None and claim.quantity not in allowed) or (
        claim.quantity == "size" and (kind not in _MAYBE_TWO or claim.two)
    ):
        raise UsageError(f"kind {kind} cannot be of the quantity {claim.quantity}", _HINT)


def _reader(claim: Claim, kind: ClaimKind) -> Callable[[str], float]:
    """What reads the numbers of its bound."""
    if kind in _FROM or kind == "limit" or claim.quantity == "size":
        return units.parse_size
    if kind == "difference":
        return seconds
    if kind not in ("value", "peak") or claim.two:
        return number
    if claim.quantity in TIMES:
        return units.parse_duration
    return units.parse_rate if claim.quantity in ("bandwidth", "busbw") else number
