"""Files of claims: TOML with `[report]`, `[[claim]]`, and `[here]` where results have other words.

Everything in them is checked when they are read; an error names the file, the claim and the key.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from mpigauge import units
from mpigauge.check.bounds import number, parse_bound, seconds
from mpigauge.check.claim_kinds import FILE, TITLE, Claim, Claims, Report, Sides, Word, values
from mpigauge.errors import UsageError, choose_from
from mpigauge.plan.factors import BY_NAME
from mpigauge.plan.patterns import known
from mpigauge.plan.plan_file import read_toml
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

_BYTES = "bytes"
_HINT = "docs/formats.md, Claims, has the keys; examples/published has files that work"

Table = TypeVar("Table", bound=Struct)


class _RawClaim(Sides, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Claim as written in the file; see `Claim`."""

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
    """Return the claims of a file.

    Raises:
        UsageError: It cannot be read, or something in it is not understood: names the file, claim and key.
    """
    tables = read_toml(path, "a file of claims")
    report, words, raw = (tables.pop(name, {}) for name in ("report", "here", "claim"))
    if tables or not isinstance(raw, list) or not raw:
        raise UsageError(f"{path}: must have [report], [[claim]] and nothing else but [here]", _HINT)
    of = _converted(report, Report, f"{path}: [report]")
    here = _translation(words, f"{path}: [here]")
    claims = tuple(_claim(path, place, table, here) for place, table in enumerate(raw, start=1))
    _refuse_repeated_names(path, claims)
    return Claims(path, of, claims)


def _refuse_repeated_names(path: Path, claims: Sequence[Claim]) -> None:
    names = [claim.name for claim in claims]
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UsageError(f"{path}: two claims are called {repeated[0]!r}", "give each a name of its own")


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
    raw = _converted(table, _RawClaim, where)
    try:
        return _parsed(raw, here)
    except UsageError as error:
        raise UsageError(f"{where}: {error.sentence}", error.hint) from None


def _parsed(raw: _RawClaim, here: Translation) -> Claim:
    own = Sides(raw.cells, raw.over, raw.under)
    claim = Claim(
        raw.name,
        raw.says,
        raw.where,
        raw.kind,
        raw.quantity,
        printed=_overridden(own, raw.printed),
        here=_overridden(_translated(own, here), raw.here),
        along=raw.along,
        quantifier=raw.quantifier,
        planted=raw.planted,
        untestable=raw.untestable,
        note=raw.note,
    )
    for sides in (claim.printed, claim.here):
        _check_sides(sides)
    if claim.kind is None:
        if not claim.untestable:
            raise UsageError("neither kind nor untestable says how it is checked", _HINT)
        return claim
    _check_kind(claim, claim.kind, raw)
    limit = parse_bound("limit", raw.limit, number) if raw.limit else None
    bound = parse_bound("bound", raw.bound or "> 1", _reader(claim, claim.kind))
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
    if name not in (known_factors := [*BY_NAME, FILE, TITLE]):
        raise UsageError(f"{where}: cells have no {name!r}", choose_from(known_factors, name))


def _check_kind(claim: Claim, kind: ClaimKind, raw: _RawClaim) -> None:
    """Refuse a claim that lacks what its kind needs, or has what its kind does not."""
    _check_two(claim, kind)
    grows = kind == "grows"
    needs = {
        "along": (grows, claim.along is not None, grows),
        "limit": (kind == "from", bool(raw.limit), kind == "from"),
        "bound": (not grows, bool(raw.bound), True),
    }
    for key, (needed, present, allowed) in needs.items():
        if needed and not present:
            raise UsageError(f"kind {kind} needs {key}", _HINT)
        if present and not allowed:
            raise UsageError(f"kind {kind} does not have {key}", _HINT)
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
