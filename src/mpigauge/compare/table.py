"""A comparison as a document: the verdict, what differs, the worst first, and how sure that is."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mpigauge.compare import sentences as words
from mpigauge.compare.comparison import Run, runs_of, without_effect
from mpigauge.document.cell_names import names_of, plain_phrases
from mpigauge.document.document import DOT, Cases, Column, Document, Line, Table
from mpigauge.document.phrases import UNSAID
from mpigauge.document.records import (
    cell_record,
    decision_record,
    finite_or_none,
    odd_records,
    state_record,
    states_record,
    subject_record,
)
from mpigauge.units import format_percent
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpigauge.compare.comparison import Compared, Comparison
    from mpigauge.compare.pairs import Pair
    from mpigauge.compare.sentences import CellNaming
    from mpigauge.document.document import Tone, Units
    from mpigauge.document.phrases import Factors
    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.vocabulary import ComparisonVerdict

MAX_LINES = 14
"""Lines of the table, unless all are asked for."""

NO_FIRST: Mapping[Compared, Compared] = MappingProxyType({})
FIRST = ("ratio", "low", "high", "launches")
"""Values of a first look that are shown with the number that decides."""

ORDER = ("lost", "slower", "longer", "faster", "shorter", words.IMPORTED)
TONES: dict[str, Tone] = {
    "slower": "bad",
    "lost": "bad",
    "faster": "good",
    "longer": "doubt",
    "shorter": "doubt",
    "undecided": "doubt",
    words.IMPORTED: "doubt",
    "not measured": "doubt",
    "too few launches": "doubt",
}
"""Tones of words; what is undecided is no pass, and JUnit has it as skipped."""


def document(
    shown: Comparison,
    verdict: ComparisonVerdict,
    compared: frozenset[str],
    chosen: Units,
    sides: str,
    *,
    first: Mapping[Compared, Compared] = NO_FIRST,
    base_files: Sequence[Path] = (),
    hint: str = "",
    doubts: Sequence[str] = (),
    states: Sequence[str] = (),
    everything: bool = False,
    remedies: bool = True,
) -> Document:
    """Return the verdict and the cells of a comparison as a document.

    Args:
        compared: Factors that are compared.
        sides: The names of both sides.
        first: First look at each number that was measured again; each then has its line.
        base_files: Files of the sessions that are the base.
        hint: A line below the sides.
        doubts: What makes the times of a side wrong.
        states: Which states the machine had, and of which the numbers are.
        everything: Whether every cell has a line of its own.
        remedies: Whether with what to do or to type, which is for who measures.
    """
    bases = [cell.pair.base for cell in (*shown.cells, *shown.controls)]
    alike, names = words.common(bases), words.naming_of_pairs(compared, (*shown.cells, *shown.controls))
    lines = (
        _lines_measured_again(shown, everything=everything)
        if first
        else _lines(shown, compared, everything=everything)
    )
    kept = lines if everything else _kept(shown, lines, all_matter=bool(first))[:MAX_LINES]
    left = sum(len(run.cells) for run in lines) - sum(len(run.cells) for run in kept)
    several = any(len(run.cells) > 1 for run in kept)
    rest = [
        *([f"{left} more{': --all' * remedies}"] if left else []),
        *([words.OF_SEVERAL_SIZES + "; each size: --all" * remedies] if several else []),
        *(words.how_to_ask(shown) if remedies else ()),
    ]
    return Document(
        head=[
            *lead(shown, verdict),
            DOT.join([sides, *_compared_factors(alike, compared), *_basis(shown)]),
            *filter(None, [hint]),
        ],
        tables=[_table(shown, kept, compared, names, first)] if kept else [],
        foot=[
            *map(Line, words.eager_limits(shown.limits, compared)),
            *(Line(f"! {text}", "doubt") for text in doubts),
            *(
                Line(text)
                for text in (
                    *states,
                    *rest,
                    *words.unmatched(shown, compared, everything=everything, remedies=remedies),
                    *words.notes(shown, compared, everything=everything, remedies=remedies),
                )
            ),
        ],
        units=chosen,
        schema="compare",
        data=lambda: {
            **_data(shown, verdict, sides, first),
            "pieces": [*map(_piece, _pieces(shown, compared))],
            "base_files": [*map(str, base_files)],
        },
        records=lambda: [
            {**_record(cell, first), "forced": "; ".join(shown.forced)}
            for cell in (*shown.cells, *shown.controls)
        ],
        cases=lambda: [_cases(shown, kept, compared, names, first)] if kept else [],
        properties={"verdict": "" if shown.unasked else verdict, "forced": "; ".join(shown.forced)},
    )


def lead(shown: Comparison, verdict: ComparisonVerdict) -> list[str]:
    """Return the verdict, and what must be known before it is believed."""
    return [*filter(None, (words.headline(shown, verdict), words.forced_words(shown)))]


def _basis(shown: Comparison) -> list[str]:
    """Return launches and thresholds as text."""
    margin, allow = format_percent(shown.thresholds.margin), format_percent(shown.thresholds.allow)
    said = f"margin {margin}, allowed {allow}"
    if shown.sessions is not None:
        return [said]
    counts = [cell.decision.launches for cell in shown.cells if cell.decision is not None]
    if any(words.verdict_of(cell) == words.ELSEWHERE for cell in shown.cells):
        counts.append(words.launches_made(shown))
    none = "no launches" if any(cell.pair.imported for cell in shown.cells) else words.TOO_FEW
    most = f"{max(counts)} launches" if counts else none
    how = "in turn" if shown.interleaved else "at different times"
    return [f"{most}, {how}", said]


def _lines(shown: Comparison, compared: frozenset[str], *, everything: bool) -> list[Run]:
    """Return runs of cells, the worst first; in the order of the base if all are shown."""
    runs = runs_of([*shown.cells, *shown.moved], _along(compared), () if everything else {*DIFFERENT, "same"})
    if everything:
        return runs
    return sorted(runs, key=lambda run: (_rank(run), -run.distance))


def _pieces(shown: Comparison, compared: frozenset[str]) -> list[Run]:
    """Return the runs of sizes that have a number of their own."""
    return [run for run in runs_of(shown.cells, _along(compared), {*DIFFERENT, "same"}) if run.piece]


def _along(compared: frozenset[str]) -> frozenset[str]:
    """Return the factors in which cells of a line differ, with what is compared."""
    return compared | {"bytes", "window"}


def _lines_measured_again(shown: Comparison, *, everything: bool) -> list[Run]:
    """Return a line per number, each with its first look; the worst first, or all in order."""
    runs = [Run((cell,)) for cell in (*shown.cells, *(shown.controls if everything else shown.moved))]
    return runs if everything else sorted(runs, key=lambda run: (_rank(run), -run.distance))


def _rank(run: Run) -> int:
    word = words.verdict_of(run.worst).partition(",")[0]
    return ORDER.index(word) if word in ORDER else len(ORDER)


def _kept(shown: Comparison, lines: Sequence[Run], *, all_matter: bool) -> Sequence[Run]:
    """Return what matters; if nothing does or no verdict was asked for, all that has a ratio."""
    if all_matter:
        return lines
    matter = [] if shown.unasked else [run for run in lines if _matters(shown, run)]
    return matter or [run for run in lines if run.worst.ratio is not None] or lines


def _matters(shown: Comparison, run: Run) -> bool:
    """Return whether a run differs or, where nothing is slower, keeps the whole from passing."""
    if _rank(run) < len(ORDER):
        return True
    decision = run.worst.decision
    return (
        shown.verdict == "undecided" and decision is not None and not decision.passes(shown.thresholds.allow)
    )


def _compared_factors(alike: Factors, compared: frozenset[str]) -> list[str]:
    return [phrase for name, phrase in alike.items() if name not in compared and phrase not in UNSAID]


def tone_of(shown: Comparison, word: str) -> Tone:
    """Return the tone of a verdict; neutral for a difference if no verdict was asked for."""
    return "" if shown.unasked and word in DIFFERENT else TONES.get(word, "")


def _table(
    shown: Comparison,
    runs: Sequence[Run],
    compared: frozenset[str],
    names: CellNaming,
    first: Mapping[Compared, Compared],
) -> Table:
    # Of all cells: a line that is shown alone is not of the only side.
    side = words.side_namer([*shown.cells, *(run.worst for run in runs)], compared)
    several = any(side(run.worst) for run in runs)
    before = Column(
        "first_ratio", "first look, decides nothing", lambda run: words.first_words(run.worst, first), goes=3
    )
    of = Column("of", "", lambda run: side(run.worst), left=True, goes=None, tells=True)
    return Table(
        "",
        "",
        runs,
        [
            Column("cell", "", lambda run: names.name(run.worst.pair), left=True, goes=None),
            Column("sizes", "size", words.sizes_of, left=True, goes=None, tells=True),
            *([of] if several else []),
            Column("base_s", "base", lambda run: run.time_s(0), "s", goes=None),
            Column("other_s", "other", lambda run: run.time_s(1), "s", goes=None),
            *([before] if first else []),
            Column("ratio", "times as long", words.ratio_of, goes=None),
            Column(
                "verdict",
                "",
                words.verdict_of_run,
                left=True,
                goes=None,
                tone=lambda run: tone_of(shown, words.verdict_of(run.worst).partition(",")[0]),
            ),
        ],
    )


# ---- For programs --------------------------------------------------------------------------------


def _cases(
    shown: Comparison,
    runs: Sequence[Run],
    compared: frozenset[str],
    naming: CellNaming,
    first: Mapping[Compared, Compared],
) -> Cases:
    """Return a table with a row per number, since runs begin and end elsewhere each time."""
    single = [Run((cell,)) for run in runs for cell in run.cells]
    pairs = [run.worst.pair for run in single]
    names = names_of([pair.of for pair in pairs], compared)
    sides = [_side(pair, compared) for pair in pairs]
    if len({*sides}) > 1:
        names = [f"{name} {side}".rstrip() for name, side in zip(names, sides, strict=True)]
    return Cases(_table(shown, single, compared, naming, first), names)


def _side(pair: Pair, compared: frozenset[str]) -> str:
    """Return the other of a pair, as plans and options call it."""
    return " ".join(phrase for name, phrase in plain_phrases(pair.other.cell).items() if name in compared)


def _data(
    shown: Comparison, verdict: ComparisonVerdict, sides: str, first: Mapping[Compared, Compared]
) -> dict[str, Any]:
    """Return the data of the document: docs/numbers-verbs.md#compare."""
    return {
        "verdict": verdict,
        "asked": not shown.unasked,
        "sides": sides,
        "interleaved": shown.interleaved,
        "sessions": shown.sessions,
        "odd_sessions": odd_records(shown.odd),
        "signs": [*shown.signs],
        "forced": [*shown.forced],
        "margin": shown.thresholds.margin,
        "allow": shown.thresholds.allow,
        "cells": [_record(one, first) for one in shown.cells],
        "controls": [_record(one, first) for one in shown.controls],
        "eager_limits": [
            {**cell_record(one.row.cell), "side": one.side or None, "limit_bytes": one.row.limit_bytes}
            for one in shown.limits
        ],
        "unmatched": [{**subject_record(one.row.of), "side": one.side} for one in shown.unmatched],
        "together": [
            {
                **subject_record(one.cells[0].pair.of),
                "other": _other(one.cells[0].pair),
                "bytes": [each.pair.base.cell.bytes for each in one.cells],
                "verdict": one.decision.verdict,
                "ratio": one.decision.estimate,
                "low": one.decision.low,
                "high": one.decision.high,
                "p": one.decision.p,
            }
            for one in shown.together
        ],
        "odd_launches": [
            {"launch": one.launch, "factor": one.factor, "cells": one.cells, "of": one.of}
            for one in shown.odd_launches
        ],
        "builds": [
            {
                "base": _build(one.base),
                "other": _build(one.other),
                "only_base": [*one.only_base],
                "only_other": [*one.only_other],
            }
            for one in shown.builds
        ],
        "without_effect": [
            {"base": one.base, "other": one.other, "numbers": one.numbers} for one in without_effect(shown)
        ],
        "rates": [
            {"planted": rate.planted, "times": rate.times, "of": rate.of, "share": rate.share}
            for rate in shown.rates
        ],
    }


def _record(cell: Compared, first: Mapping[Compared, Compared]) -> dict[str, Any]:
    decision, base = cell.decision, cell.pair.base
    before = first[cell].decision if cell in first else None
    return {
        **cell_record(base.cell),
        "other": _other(cell.pair),
        **state_record(cell.pair.of),
        "states": [*filter(None, states_record([cell.pair.of]))],
        "base_s": finite_or_none(cell.pair.time_s(0)),
        "other_s": finite_or_none(cell.pair.time_s(1)),
        "ratio": finite_or_none(cell.ratio),
        **decision_record(decision, "low", "high", "bound", "p", "needed", "launches"),
        **{f"first_{name}": number for name, number in decision_record(before, *FIRST).items()},
        "mdd": finite_or_none(decision.missed) if decision is not None else None,
        "small": decision.small if decision is not None else False,
        "verdict": cell.verdict,
        "said": words.verdict_of(cell),
        "paired": cell.pair.paired,
    }


def _piece(run: Run) -> dict[str, Any]:
    """Return several sizes that differ alike, as lines tell them."""
    assert run.piece is not None  # noqa: S101 - only these are asked for
    number = run.piece.pooled
    return {
        **subject_record(run.worst.pair.of),
        "other": _other(run.worst.pair),
        "sizes_bytes": [*run.piece.sizes_bytes],
        "apart_bytes": [*run.piece.apart_bytes],
        "verdict": run.verdict,
        "ratio": finite_or_none(number.estimate) if number else None,
        "low": finite_or_none(number.low) if number else None,
        "high": finite_or_none(number.high) if number else None,
        "launches": number.launches if number else None,
    }


def _other(pair: Pair) -> dict[str, Any]:
    """Return the factors in which the other cell differs from that of the base."""
    base = pair.base.cell
    return {key: value for key, value in cell_record(pair.other.cell).items() if value != getattr(base, key)}


def _build(library: LibraryRecord) -> str:
    """Return a library as plans and options call it, for programs."""
    return " ".join(filter(None, (library.label, library.name, library.version)))
