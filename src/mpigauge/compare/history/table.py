"""A history as a document: the verdict, what changed since when, and how usual the last session is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.compare import sentences as compare_sentences
from mpigauge.compare.history import sentences as words
from mpigauge.compare.session_sentences import count_of
from mpigauge.document.cell_names import names_of
from mpigauge.document.document import DOT, Cases, Column, Document, Line, Table
from mpigauge.document.phrases import UNSAID
from mpigauge.document.records import cell_record, number, odd_records
from mpigauge.stats.splits import SESSIONS_LEAST as CHANGES_FROM
from mpigauge.units import format_percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from mpigauge.compare.history.changes import Change
    from mpigauge.compare.history.history import History, Track
    from mpigauge.compare.history.sentences import HistoryLine
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.document.document import Tone, Units
    from mpigauge.rows.rows import Row
    from mpigauge.stats.decision import Decision
    from mpigauge.vocabulary import ComparisonVerdict

LINES_MOST = 20
"""Of the table, unless all are asked for."""

ORDER = ("lost", "slower", compare_sentences.MACHINE, "last session longer", "faster", "last session shorter")
TONES: dict[str, Tone] = {
    "lost": "bad",
    "slower": "bad",
    "faster": "good",
    **dict.fromkeys((compare_sentences.MACHINE, "last session longer", "last session shorter"), "doubt"),
}
NUMBERS = ("ratio", "low", "high", "bound", "p", "launches")


def document(
    shown: History,
    chosen: Units,
    left_out: Sequence[tuple[SessionResult, Sequence[str]]],
    *,
    everything: bool = False,
) -> Document:
    """The verdict and the curves of a history.

    Args:
        left_out: Sessions of other machines, with what differs.
        everything: Every curve on a line, in the order of the plan.
    """
    alike = compare_sentences.common(_rows(shown))
    worst = ranked(shown)
    most = [*worst[:LINES_MOST], *_moved(shown)]
    kept = [*_of(shown.tracks), *_of(shown.controls)] if everything else most
    left = max(0, len(worst) - LINES_MOST)
    rest = [f"{left} more: --all"] if left and not everything else []
    return Document(
        head=[
            words.headline(shown, shown.verdict, worst, alike.keys()),
            DOT.join(_basis(shown, alike.items())),
        ],
        tables=[_table(shown, kept, alike.keys())] if kept else [],
        foot=[Line(text) for text in (*rest, *words.notes(shown, left_out))],
        units=chosen,
        schema="history",
        data=lambda: _data(shown, left_out),
        records=lambda: [*_records(shown)],
        cases=lambda: [_cases(shown, kept, alike.keys())] if kept else [],
    )


def ranked(shown: History) -> list[HistoryLine]:
    """What is said of all cells in which a library takes part, the worst first."""
    return sorted(_of(shown.tracks), key=_rank)


def _of(tracks: Iterable[Track]) -> list[HistoryLine]:
    return [told for track in tracks for told in words.told_of(track)]


def _moved(shown: History) -> list[HistoryLine]:
    return [told for told in _of(shown.controls) if told.change is not None or told.outside]


def _rank(told: HistoryLine) -> tuple[int, float]:
    word = words.verdict_of(told)
    known = told.factor or told.last
    far = abs(math.log(known.ratio)) if known is not None else 0.0
    return (ORDER.index(word) if word in ORDER else len(ORDER), -far)


def _rows(shown: History) -> Iterator[Row]:
    for track in shown.tracks:
        for cell in range(len(track.curve.cells)):
            yield track.curve.row(cell, len(shown.sessions))


def _basis(shown: History, alike: Collection[tuple[str, str]]) -> list[str]:
    """Sessions, what all cells have in common, and what matters."""
    margin, allow = format_percent(shown.thresholds.margin), format_percent(shown.thresholds.allow)
    count = len(shown.sessions)
    first, last = words.date(shown.sessions, 0), words.date(shown.sessions, count - 1)
    said = [phrase for _, phrase in alike if phrase not in UNSAID]
    over = f"{count_of(count)}, {first} to {last}" if count > 1 else f"1 session, {first}"
    return [over, *said, f"margin {margin}, allowed {allow}"]


def _table(shown: History, lines: Sequence[HistoryLine], unsaid: Collection[str]) -> Table:
    def changed(told: HistoryLine) -> str:
        return words.since(told.change, shown.sessions, told.worst) if told.change else ""

    return Table(
        "",
        "",
        lines,
        [
            Column("cell", "", lambda told: words.name(told, unsaid), left=True, goes=None, wraps=True),
            Column("sizes", "size", words.sizes, left=True, goes=None),
            Column("sessions", "sessions", lambda told: len(told.track.curve.sessions), "1", goes=1),
            Column("first_s", "first", lambda told: words.seconds(told, 0), "s", goes=3),
            Column("last_s", "last", lambda told: words.seconds(told, -1), "s", goes=4),
            Column(
                "last", "last session / before", lambda told: compare_sentences.ratio_words(told.last), goes=2
            ),
            Column("factor", "change", lambda told: compare_sentences.ratio_words(told.factor), goes=None),
            Column("since", "since", changed, left=True, goes=5),
            Column(
                "verdict",
                "",
                words.verdict_of,
                left=True,
                goes=None,
                tone=lambda told: TONES.get(words.verdict_of(told), ""),
            ),
        ],
    )


# ---- For programs --------------------------------------------------------------------------------


def _cases(shown: History, lines: Sequence[HistoryLine], unsaid: Collection[str]) -> Cases:
    """The same with a row per number, since of which the same is said is another thing each time."""
    alone = [replace(told, cells=[cell]) for told in lines for cell in told.cells]
    rows = [
        told.track.curve.row(told.cells[0], len(shown.sessions)) for told in alone if told.track.curve.rows
    ]
    names = iter(names_of([row.of for row in rows]))
    return Cases(
        _table(shown, alone, unsaid),
        [next(names) if told.track.curve.rows else words.name(told, unsaid) for told in alone],
    )


def _data(shown: History, left_out: Sequence[tuple[SessionResult, Sequence[str]]]) -> dict[str, Any]:
    """docs/numbers.md#history."""
    return {
        "verdict": shown.verdict,
        "margin": shown.thresholds.margin,
        "allow": shown.thresholds.allow,
        "sessions": [_session(one) for one in shown.sessions],
        "odd_sessions": odd_records(shown.odd_sessions),
        "suspected": [*_suspected(shown)],
        "left_out": [{"file": str(one.path), "differs": [*differs]} for one, differs in left_out],
        "cells": [*_records(shown)],
        "controls": [one for track in shown.controls for one in _cells(shown, track)],
    }


def _suspected(shown: History) -> Iterator[dict[str, Any]]:
    """What may have changed in sessions too few to tell."""
    for track in shown.tracks:
        if (step := track.suspected) is None:
            continue
        for cell in np.flatnonzero(step.changed):
            yield {
                **_cell(track, int(cell), len(shown.sessions)),
                "since_file": str(shown.sessions[step.place].path),
                "ratio": number(float(np.exp(step.mean[cell]))),
                "sessions_more": CHANGES_FROM - len(shown.sessions),
            }


def _session(one: SessionResult) -> dict[str, Any]:
    return {
        "file": str(one.path),
        "begun_s": one.begun_s or None,
        "dated": one.is_dated,
        "versions": dict(one.versions),
    }


def _records(shown: History) -> Iterator[dict[str, Any]]:
    for track in shown.tracks:
        yield from _cells(shown, track)


def _cells(shown: History, track: Track) -> Iterator[dict[str, Any]]:
    said = {cell: words.verdict_of(told) for told in words.told_of(track) for cell in told.cells}
    for cell in range(track.curve.logs.shape[1]):
        times = np.exp(track.curve.logs[:, cell])
        latest, low, high = track.latest(cell), *_band(track, cell)
        yield {
            **_cell(track, cell, len(shown.sessions)),
            "sign": track.curve.sign,
            "odd_files": [
                str(one.path) for one, odd in zip(shown.sessions, track.odd[:, cell], strict=True) if odd
            ],
            "times_s": [number(float(time)) for time in times],
            "expected_low_s": low,
            "expected_high_s": high,
            "last": _decision(track.last.get(cell)),
            "changes": [_change(shown, change, cell) for change in track.changes if cell in change.cells],
            "verdict": _verdict(latest, cell),
            "said": said[cell],
        }


def _verdict(latest: Change | None, cell: int) -> ComparisonVerdict | None:
    """Of the last change of a cell; None if there is none, which does not say that it is the same."""
    if latest is None:
        return None
    return "machine" if latest.machine else latest.cells[cell].verdict


def _cell(track: Track, cell: int, sessions: int) -> dict[str, Any]:
    return cell_record(track.curve.row(cell, sessions).cell) if track.curve.rows else {}


def _band(track: Track, cell: int) -> tuple[float | None, float | None]:
    """Between what the last session was expected."""
    if track.base is None or cell not in track.base.cells:
        return None, None
    place = track.base.cells.index(cell)
    low, high = track.base.said.band()
    return number(float(low[place])), number(float(high[place]))


def _change(shown: History, change: Change, cell: int) -> dict[str, Any]:
    sessions: Sequence[SessionResult] = shown.sessions
    files: list[Path] = [sessions[place].path for place in (change.before, change.place)]
    return {
        "after_file": str(files[0]),
        "since_file": str(files[1]),
        "since_s": sessions[change.place].begun_s,
        "machine": change.machine,
        "drifts": change.drifts,
        "switches": [{"name": one.name, "before": one.before, "after": one.after} for one in change.switches],
        **(_decision(change.cells[cell]) or {}),
    }


def _decision(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        **{name: number(getattr(decision, name)) for name in NUMBERS if name != "launches"},
        "sessions": decision.launches,
        "mdd": number(decision.missed),
    }
