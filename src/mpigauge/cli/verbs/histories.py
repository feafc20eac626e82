"""Results of many times, by files and folders, as sessions; for verbs that look at them over time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpigauge.cli.options.results import every
from mpigauge.cli.options.selection import EVERYTHING, Selection
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.compare.history.session import SessionResult
    from mpigauge.query.kinds import DisplayKind
    from mpigauge.show.compared import ComparedSources
    from mpigauge.stats.decision import Thresholds


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """What of each result is looked at.

    Attributes:
        kind: For what is said if a result has nothing of it.
    """

    kind: DisplayKind
    stat: str = "median"
    selection: Selection = EVERYTHING


@dataclass(slots=True)
class Sessions:
    """Sessions in the order of time, and those of other machines with what differs.

    Attributes:
        known: Of one machine.
    """

    known: list[SessionResult] = field(default_factory=list)
    left_out: list[tuple[SessionResult, list[str]]] = field(default_factory=list)

    def since(self, date: datetime) -> Sessions:
        """Those that began at a date, UTC, or later.

        Raises:
            UsageError: There are none.
        """
        first_s = date.replace(tzinfo=UTC).timestamp()
        known = [one for one in self.known if one.begun_s >= first_s]
        if not known:
            last = datetime.fromtimestamp(self.known[-1].begun_s, UTC)
            raise UsageError(
                f"--since {date:%Y-%m-%d %H:%M}: no session began then or later",
                f"the last one of {len(self.known)} began at {last:%Y-%m-%d %H:%M}",
            )
        return Sessions(known, [(one, differs) for one, differs in self.left_out if one.begun_s >= first_s])


def sessions_in(
    paths: Sequence[Path], chosen: HistoryOptions, reference: SessionResult | None = None
) -> Sessions:
    """All results of files and folders; what is none is named on standard error and left out.

    Args:
        reference: Whose machine counts; that of the last session if nobody is.

    Raises:
        UsageError: There is no result at all.
    """
    from mpigauge.compare.history.session import apart_from, in_time

    chosen.selection.check()
    read, refused = _read(every(paths), chosen)
    # The first is the error itself where there is nothing else.
    for one in refused if read else refused[1:]:
        note(f"skipped: {one.sentence}")
    if not read:
        raise (
            refused[0]
            if refused
            else UsageError(
                f"{', '.join(map(str, paths))}: no result is there", "name files, or folders with results"
            )
        )
    known, copies = in_time(read)
    for copy in copies:
        note(f"skipped: {copy.path}: a copy of another result")
    left_out = apart_from(reference or known[-1], known)
    strangers = {id(one) for one, _ in left_out}
    return Sessions([one for one in known if id(one) not in strangers], left_out)


def _read(paths: Sequence[Path], chosen: HistoryOptions) -> tuple[list[SessionResult], list[UsageError]]:
    found, refused = [], []
    for path in paths:
        try:
            found.append(session_in(path, chosen))
        except UsageError as error:
            refused.append(error)
    return found, refused


def session_in(path: Path, chosen: HistoryOptions) -> SessionResult:
    """One result; it is not kept.

    Raises:
        UsageError: It is none, or has nothing of what was chosen.
    """
    from mpigauge.cli.options.results import load
    from mpigauge.compare.history.session import session_of
    from mpigauge.query.query import Query, source_of
    from mpigauge.show.selected import selected

    picked = chosen.selection
    source = source_of(load(path), chosen.stat, picked.state or "all", picked.only)
    query = Query(chosen.kind, [source], stat=chosen.stat, series=picked.series, sizes=picked.sizes)
    (mine,) = selected(query)
    return session_of(mine.result, mine.rows)


def against(
    path: Path, baseline: Path, chosen: HistoryOptions, thresholds: Thresholds, *, force: bool
) -> ComparedSources:
    """A result, held against the sessions of a folder.

    Raises:
        UsageError: None of them is of the result's machine.
    """
    from mpigauge.compare.history import baseline as expected
    from mpigauge.compare.history.session import same_session
    from mpigauge.compare.session_sentences import baseline_words
    from mpigauge.show.compared import ComparedSources

    new = session_in(path, chosen)
    found = sessions_in([baseline], chosen, new)
    known = [*found.known, *(one for one, _ in found.left_out if force)]
    forced = dict.fromkeys(what for _, differs in found.left_out if force for what in differs)
    before = [one for one in known if not same_session(one, new)]
    for one, differs in found.left_out if not force else []:
        note(f"skipped: {one.path}: {'; '.join(differs)}")
    if not before and found.left_out:
        raise UsageError(
            f"{path} cannot be held against {baseline}: {'; '.join(found.left_out[0][1])}",
            "--force compares them all the same",
        )
    said = expected.against(sorted(before, key=lambda one: one.begun_s), new, thresholds)
    sides = baseline_words(path.name, str(baseline), len(before), said.switches)
    return ComparedSources(replace(said.shown, forced=tuple(forced)), frozenset(), sides)
