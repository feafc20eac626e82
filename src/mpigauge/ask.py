"""Questions about results, the same for verbs and scripts: which cells and visits, and what is answered.

What computes is imported within functions, so that `--help` does not wait for it. Nothing is printed: what a
user should know besides the answer is returned, or passed to a callback.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpigauge.errors import JobError, UsageError
from mpigauge.query.kinds import DisplayKind
from mpigauge.result.files import every, is_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from mpigauge.check.claim_file import Claims
    from mpigauge.check.claims import ClaimSource
    from mpigauge.compare.history.earlier import EarlierResult
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.document.document import Document, Units
    from mpigauge.find.map_before import MapChanges
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.plan.model import Cell
    from mpigauge.query.query import Query, Source
    from mpigauge.result.reader import Result
    from mpigauge.rows.reasons import Reason
    from mpigauge.rows.rows import Row
    from mpigauge.show.compared import ComparedSources
    from mpigauge.show.samples import SampleChoice
    from mpigauge.stats.decision import Thresholds
    from mpigauge.vocabulary import ComparisonVerdict, OnlyChoice, StateChoice, StateName

    Read = Callable[[Path], Result]
    Notify = Callable[[str], None]

MEASURED = "cells that were measured"
VERBS = {
    kind.name: kind
    for kind in (
        DisplayKind("rows", "what was measured", MEASURED, "", "table", "patterns"),
        DisplayKind("explain", "what follows from a result", MEASURED, "", "explanation", "patterns"),
        DisplayKind(
            "model", "parameters of curves", "messages of four sizes or more", "", "model", "patterns"
        ),
        DisplayKind("report", "all that is shown of results", MEASURED, "", "report", "patterns"),
        DisplayKind(
            "compare",
            "whether one of two is slower",
            "cells of two that are alike",
            "",
            "comparison",
            "patterns",
        ),
        DisplayKind(
            "check", "whether a result is as expected", "what could replace it", "", "check", "patterns"
        ),
        DisplayKind("history", "what changed over time", MEASURED, "", "history", "patterns"),
    )
}
"""Verbs that make neither figures nor tables, for the errors that say what a result lacks."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Cells and visits that a question is about.

    Attributes:
        series: Words that the name of a curve must contain; empty for all curves.
        sizes: Message sizes as --sizes has them; "" for all.
        state: State of the machine whose visits count; None for the usual one.
        only: Which visits count; None for all.
    """

    series: tuple[str, ...] = ()
    sizes: str = ""
    state: StateChoice | None = None
    only: OnlyChoice | None = None


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Request:
    """Question about results, before they are read.

    Attributes:
        kind: The verb or kind of table, for errors that say what a result lacks.
        stat: Statistic that represents a launch.
        renames: Placements to be shown under another name: `OLD=NEW`.
        each_state: Whether to give numbers per state of the machine if none is selected, as verdicts need
            them.
        by: Factor that is compared within one result.
        thresholds: Limits that verdicts use; None for the usual ones.
        units: Units to print; None for those that fit.
    """

    kind: DisplayKind
    selection: Selection = EVERYTHING
    stat: str = "median"
    renames: tuple[str, ...] = ()
    each_state: bool = False
    by: str | None = None
    thresholds: Thresholds | None = None
    units: Units | None = None

    @property
    def state(self) -> StateChoice | None:
        """State of the machine whose numbers are given; None for the usual one."""
        return self.selection.state or ("all" if self.each_state else None)

    def check(self) -> None:
        """Refuse invalid options before a file is read, which may take a while.

        Raises:
            UsageError: The sizes or a new name are invalid.
        """
        from mpigauge.plan.sizes import size_filter
        from mpigauge.query.renamed import renamings

        size_filter(self.selection.sizes)
        renamings(self.renames)

    def sources(self, results: Iterable[Result]) -> list[Source]:
        """Return results with the rows of all their cells.

        Raises:
            UsageError: A result has no such state or placement.
        """
        from mpigauge.compare.repetitions import with_repetitions
        from mpigauge.query.query import sources_of
        from mpigauge.query.renamed import renamed

        results = with_repetitions([*results]) if self.kind is VERBS["compare"] else results
        return renamed(sources_of(results, self.stat, self.state, self.selection.only), self.renames)

    def query_of(self, sources: list[Source]) -> Query:
        """Return the query of sources whose rows are computed already."""
        from mpigauge.document.document import Units
        from mpigauge.query.query import Query
        from mpigauge.stats.decision import Thresholds

        return Query(
            self.kind,
            sources,
            units=self.units or Units(),
            stat=self.stat,
            series=self.selection.series,
            sizes=self.selection.sizes,
            by=self.by,
            thresholds=self.thresholds or Thresholds(),
        )

    def query(self, results: Iterable[Result]) -> Query:
        """Return the query of results, which are read one after the other if they are an iterator.

        Raises:
            UsageError: An option is invalid, or a result has no such state or placement.
        """
        self.check()
        return self.query_of(self.sources(results))

    def all_states(self, query: Query) -> Query:
        """Return a query with the numbers of every state of the machine.

        The same query if a state was chosen, or if the machine was always in one.
        """
        from mpigauge.rows.machine.split import is_split

        if self.state is not None or not any(is_split(source.result) for source in query.sources):
            return query
        return replace(self, each_state=True).query([source.result for source in query.sources])

    def samples(self, results: Iterable[Result], keep: Callable[[Cell], bool]) -> list[SampleChoice]:
        """Return the samples of cells, without computing any row.

        Raises:
            UsageError: A result has no such state, or records no disturbances.
        """
        from mpigauge.show.samples import choose_samples

        return [choose_samples(result, self.selection.state, self.selection.only, keep) for result in results]

    def samples_of(self, sources: Iterable[Source]) -> list[SampleChoice]:
        """Return the samples of the cells that sources have rows of."""
        from mpigauge.show.samples import choose_samples_of_rows

        return [choose_samples_of_rows(source, self.selection.state) for source in sources]

    def selected(self, results: Iterable[Result]) -> list[Source]:
        """Return results with the rows of the selected cells.

        Raises:
            UsageError: None of the selected cells was measured; names those that were.
        """
        from mpigauge.show.selected import selected

        return selected(self.query(results))


# ---- Answers -------------------------------------------------------------------------------------


def damage_note(result: Result) -> str:
    """Return a line about the damage of a compressed result file; empty if it has none."""
    from mpigauge.find.missing import PACKED

    return f"{result.path}: {PACKED[result.packed_damage]}" if result.packed_damage else ""


def table_of(
    query: Query, columns: tuple[str, ...] = (), *, newest: bool = False, chart: bool = False
) -> Document:
    """Return the tables of a kind as a document.

    Args:
        columns: Extra columns of curves.
        newest: Whether the result is the newest one, which commands find without its name.
        chart: Whether the text of an answer has a chart.

    Raises:
        UsageError: The results lack what the kind of table needs.
    """
    from mpigauge.find import maps
    from mpigauge.show import answer, curves, pivots
    from mpigauge.show.selected import selected

    if query.kind.name == pivots.ANSWER:
        chosen = selected(query)
        return maps.answered(answer.document(chosen, query.units, newest=newest, chart=chart), chosen)
    if query.kind.name == pivots.CURVES:
        (source,) = selected(query)
        document = curves.document(source.result, source.rows, columns, query.units, source.stat)
        return maps.begun(document, [source])
    return maps.begun(pivots.document(query), query.sources)


def comparison_of(
    compared: ComparedSources, units: Units | None = None, *, strict: bool = False, everything: bool = False
) -> tuple[Document, ComparisonVerdict]:
    """Return a comparison as a document, and its verdict.

    Args:
        strict: Whether cells without a partner and undecided ones fail.
        everything: Whether there is a line for every number.
    """
    from mpigauge.compare.table import document
    from mpigauge.document.document import Units

    verdict = compared.shown.strictly() if strict else compared.shown.verdict
    shown = document(
        compared.shown,
        verdict,
        compared.factors,
        units or Units(),
        compared.sides,
        first=compared.first,
        base_files=compared.base_files,
        hint=compared.hint,
        doubts=compared.doubts,
        states=compared.states,
        everything=everything,
    )
    return shown, verdict


def page_html(query: Query, request: Request, begins: Notify, *, force: bool = False) -> str:
    """Return the page of results, as HTML that loads nothing.

    Args:
        query: Query of the request.
        begins: Called with the name of each part before it is made.
        force: Whether to compare results of different machines.

    Raises:
        UsageError: None of the selected cells was measured.
    """
    from mpigauge.mpi.kinds import GIVES_WAY
    from mpigauge.result.home_paths import shortened
    from mpigauge.show.report import build, render

    page = build.page_of(query, request.all_states(query), GIVES_WAY, begins, force=force)
    return shortened(render.render(page))


def check_measured(path: Path, rows: Sequence[Row]) -> None:
    """Refuse a result without a single number, with the reason.

    Raises:
        JobError: Nothing was measured.
    """
    from mpigauge.document.status_words import reason_sentence
    from mpigauge.rows.rows import why_nothing

    if why := why_nothing(rows):
        raise JobError(f"{path}: nothing was measured: {reason_sentence(why)}", _hint_for_nothing(why))


def _hint_for_nothing(why: Reason) -> str:
    from mpigauge.campaign.failure_remedies import hint_for
    from mpigauge.rows.reasons import LaunchFailed, OutOfTime

    if isinstance(why, LaunchFailed):
        return hint_for(why.line)
    return "raise --budget, or measure less" if isinstance(why, OutOfTime) else "mpigauge show says why"


# ---- Sessions over time --------------------------------------------------------------------------


@dataclass(slots=True)
class Sessions:
    """Sessions of one machine in the order of time, and those of other machines with what differs."""

    known: list[SessionResult] = field(default_factory=list)
    left_out: list[tuple[SessionResult, list[str]]] = field(default_factory=list)

    def since(self, date: datetime) -> Sessions:
        """Return the sessions that began at a date, UTC, or later.

        Raises:
            UsageError: There are none.
        """
        first_s = date.replace(tzinfo=UTC).timestamp()
        known = [session for session in self.known if session.begun_s >= first_s]
        if not known:
            last = datetime.fromtimestamp(self.known[-1].begun_s, UTC)
            raise UsageError(
                f"--since {date:%Y-%m-%d %H:%M}: no session began then or later",
                f"the last one of {len(self.known)} began at {last:%Y-%m-%d %H:%M}",
            )
        return Sessions(
            known, [(session, differs) for session, differs in self.left_out if session.begun_s >= first_s]
        )


def sessions_in(
    paths: Sequence[Path],
    request: Request,
    read: Read,
    notify: Notify,
    reference: SessionResult | None = None,
) -> Sessions:
    """Return all results in files and folders as sessions.

    Args:
        read: Function that reads a result.
        notify: Called with a line for each result that is left out.
        reference: Session whose machine counts; None for that of the last session.

    Raises:
        UsageError: There is no result at all.
    """
    from mpigauge.compare.history.session import in_time_order, of_other_machines

    request.check()
    sessions, refused = _sessions(every(paths), request, read)
    # Without any result, the first refusal is the error that is raised.
    for refusal in refused if sessions else refused[1:]:
        notify(f"skipped: {refusal.sentence}")
    if not sessions:
        raise (
            refused[0]
            if refused
            else UsageError(
                f"{', '.join(map(str, paths))}: no result is there", "name files, or folders with results"
            )
        )
    known, copies = in_time_order(sessions)
    for copy in copies:
        notify(f"skipped: {copy.path}: a copy of another result")
    left_out = of_other_machines(reference or known[-1], known)
    strangers = {id(refusal) for refusal, _ in left_out}
    return Sessions([refusal for refusal in known if id(refusal) not in strangers], left_out)


def _sessions(
    paths: Sequence[Path], request: Request, read: Read
) -> tuple[list[SessionResult], list[UsageError]]:
    sessions, refused = [], []
    for path in paths:
        try:
            sessions.append(session_in(path, request, read))
        except UsageError as error:
            refused.append(error)
    return sessions, refused


def session_in(
    path: Path, request: Request, read: Read, labels: Mapping[str, str] | None = None
) -> SessionResult:
    """Return one result as a session, without keeping the result itself in memory.

    Args:
        labels: Labels that its libraries get, by kind; None for their own.

    Raises:
        UsageError: The file is no result, or has none of the selected cells.
    """
    return _session_of(_source_at(path, request, read), labels)


def _source_at(path: Path, request: Request, read: Read) -> Source:
    """Return the rows of one result, one per cell and state."""
    (source,) = replace(request, each_state=True).selected(map(read, [path]))
    return source


def _session_of(source: Source, labels: Mapping[str, str] | None = None) -> SessionResult:
    from mpigauge.compare.history.earlier import relabelled
    from mpigauge.compare.history.session import session_of

    return session_of(source.result, relabelled(source.rows, labels or {}))


def compare_with_baseline(
    path: Path, baseline: Path, request: Request, read: Read, notify: Notify, *, force: bool
) -> ComparedSources:
    """Compare a result with the sessions of a folder.

    Args:
        read: Function that reads a result.
        notify: Called with a line for each result that is left out.
        force: Whether sessions of other machines or versions count, too.

    Raises:
        UsageError: No session is of the result's machine, or none of its libraries.
    """
    from mpigauge.compare.history import baseline as expected
    from mpigauge.compare.history.session import same_session
    from mpigauge.compare.session_sentences import baseline_words
    from mpigauge.show.compared import ComparedSources, doubts_of, states_of
    from mpigauge.stats.decision import Thresholds

    source = _source_at(path, request, read)
    new = _session_of(source)
    sessions = sessions_in([baseline], request, read, notify, new)
    known = [*sessions.known, *(session for session, _ in sessions.left_out if force)]
    forced = dict.fromkeys(what for _, differs in sessions.left_out if force for what in differs)
    before = [session for session in known if not same_session(session, new)]
    for session, differs in sessions.left_out if not force else []:
        notify(f"skipped: {session.path}: {'; '.join(differs)}")
    if not before and sessions.left_out:
        raise UsageError(
            f"{path} cannot be held against {baseline}: {'; '.join(sessions.left_out[0][1])}",
            "--force compares them all the same",
        )
    before.sort(key=lambda session: session.begun_s)
    _refuse_other_libraries(new, before, baseline)
    comparison = expected.against(before, new, request.thresholds or Thresholds())
    sides = baseline_words(path.name, str(baseline), len(before), comparison.switches)
    return ComparedSources(
        replace(comparison.shown, forced=tuple(forced)),
        frozenset(),
        sides,
        base_files=tuple(session.path for session in reversed(before)),
        doubts=doubts_of([source]),
        states=states_of([source]),
    )


def _refuse_other_libraries(new: SessionResult, before: Sequence[SessionResult], baseline: Path) -> None:
    """Refuse sessions of other libraries alone, whichever their versions: no number would have a base."""
    from mpigauge.result.files import as_argument

    mine, theirs = _libraries_in([new]), _libraries_in(before)
    if mine and theirs and mine.keys().isdisjoint(theirs):
        both = " ".join(as_argument(one.path) for one in (before[-1], new))
        raise UsageError(
            f"{new.path} cannot be held against {baseline}: it is of {' and '.join(mine.values())}, "
            f"and sessions there are of {' and '.join(theirs.values())}",
            f"mpigauge show {both} sets them side by side",
        )


def _libraries_in(sessions: Sequence[SessionResult]) -> dict[tuple[str, str], str]:
    """Return the names of all libraries that sessions have times of, by kind and label."""
    from mpigauge.document.phrases import WORDS

    cells = (
        row.cell
        for session in sessions
        for part in session.parts
        for row in part.rows.values()
        if row.talks and row.time is not None
    )
    return {(cell.mpi, cell.label): WORDS["mpi"](cell) for cell in cells}


def compare_with_earlier(
    result: Result, earlier: Sequence[EarlierResult], request: Request, read: Read, notify: Notify
) -> ComparedSources:
    """Compare a result with earlier ones of an equal plan.

    Args:
        earlier: The newest first, as `earlier_results` finds them.
        read: Function that reads a result.
        notify: Called with a line for each result that is left out.

    Raises:
        UsageError: The result has none of the selected cells.
    """
    from mpigauge.compare.history import baseline as expected
    from mpigauge.compare.history.earlier import labels_of
    from mpigauge.compare.session_sentences import earlier_words, other_words
    from mpigauge.result.files import as_argument
    from mpigauge.show.compared import ComparedSources, doubts_of, states_of
    from mpigauge.stats.decision import Thresholds

    source = _source_at(result.path, request, lambda _: result)
    new = _session_of(source)
    labels = labels_of(new.campaign)
    paths = [one.path for one in earlier]
    before = _earlier_sessions(new, paths, lambda path: session_in(path, request, read, labels), notify)
    comparison = expected.against(before[::-1], new, request.thresholds or Thresholds())
    newest = before[0] if before else None
    sides = earlier_words(
        result.path.name,
        newest.path if newest else None,
        newest.begun_s if newest else 0.0,
        len(before),
        comparison.switches,
    )
    return ComparedSources(
        comparison.shown,
        frozenset(),
        sides,
        base_files=tuple(session.path for session in before),
        hint=other_words(as_argument(result.path)),
        doubts=doubts_of([source]),
        states=states_of([source]),
    )


def _earlier_sessions(
    new: SessionResult,
    earlier: Iterable[Path],
    session_at: Callable[[Path], SessionResult],
    notify: Notify,
) -> list[SessionResult]:
    """Return earlier results as sessions, in their order; note those of other machines, and damaged ones."""
    from mpigauge.compare.alike import differing_facts

    before = []
    for path in earlier:
        try:
            session = session_at(path)
        except UsageError as error:
            notify(f"skipped: {error.sentence}")
            continue
        if differs := differing_facts(new.machine, session.machine):
            notify(f"skipped: {session.path}: {'; '.join(differs)}")
        else:
            before.append(session)
    return before


def with_hint_of_earlier(
    compared: ComparedSources, result: Result, earlier: Sequence[EarlierResult]
) -> ComparedSources:
    """Return a comparison without a verdict with the line that there are earlier results, if there are."""
    from mpigauge.compare.session_sentences import how_to_look_back
    from mpigauge.result.files import as_argument

    if not compared.shown.unasked or not earlier:
        return compared
    line = how_to_look_back(as_argument(result.path), earlier[0].path, len(earlier))
    return replace(compared, hint=line)


def check_maps(named: Sequence[Path]) -> None:
    """Refuse files that are no results, before anything is measured that is held against them.

    Raises:
        UsageError: One is none, or a folder has none.
    """
    from mpigauge.result.reader import load_campaign

    for path in every(named) if named else ():
        load_campaign(path)


def map_changes(
    result: Result,
    shown: LinkMap,
    read: Read,
    notify: Notify,
    *,
    state: StateName | None = None,
    asked: bool = False,
    named: Sequence[Path] = (),
) -> MapChanges | None:
    """Return what changed since earlier maps: those of an equal plan, which are found by themselves.

    Args:
        result: The result that the map is of.
        read: Function that reads a result as this one was read.
        notify: Called with a line for each result that is left out.
        state: State of the machine that was asked for; None for the usual one.
        asked: Whether somebody asked.
        named: Maps to look at instead, and folders of them.

    Returns:
        None if there are no earlier maps, and nobody asked.

    Raises:
        UsageError: None of the named ones is a map of the same hosts.
    """
    from mpigauge.compare.history.earlier import earlier_results, labels_of
    from mpigauge.find.map_before import changes_of, map_session
    from mpigauge.linkmap.linkmap import link_map

    cell, labels = shown.cell, labels_of(result.campaign)

    def session_at(path: Path) -> SessionResult:
        loaded = read(path)
        earlier = link_map(loaded, mpi=cell.mpi, transport=cell.transport, state=state)
        if earlier.names != shown.names:
            raise UsageError(f"{path}: its ranks were on other hosts, or in another order")
        return map_session(loaded, earlier, labels)

    new = map_session(result, shown)
    if named:
        before = _named_sessions(new, named, session_at, notify)
    else:
        found = [one.path for one in earlier_results(result.campaign)]
        before = _earlier_sessions(new, found, session_at, notify)
    return changes_of(before, new, shown) if before or asked else None


def _named_sessions(
    new: SessionResult,
    named: Sequence[Path],
    session_at: Callable[[Path], SessionResult],
    notify: Notify,
) -> list[SessionResult]:
    """Return named results as sessions, the newest first.

    Raises:
        UsageError: None of them can be looked at; why the first cannot.
    """
    from mpigauge.compare.history.session import in_time_order, same_session

    notes: list[str] = []
    read = _earlier_sessions(new, every(named), session_at, notes.append)
    known, copies = in_time_order(one for one in read if not same_session(one, new))
    notes += [f"skipped: {one.path}: a copy of another result" for one in copies]
    notes += [f"skipped: {one.path}: is the map itself" for one in read if same_session(one, new)]
    if not known:
        raise UsageError(notes[0].removeprefix("skipped: "), "name a map of the same hosts, made before")
    for line in notes:
        notify(line)
    return known[::-1]


# ---- Claims of reports ---------------------------------------------------------------------------


def claims_of(
    files: Iterable[Path], results: Iterable[Result], request: Request, *, quoted: bool = False
) -> Document:
    """Return the verdicts on the claims of files, or of all claim files in folders, as a document.

    Args:
        results: Results that claims are checked against; none: only the printed tables of the reports.
        quoted: Whether each claim is followed by the words of its report and its note.

    Raises:
        UsageError: A file cannot be read, or is invalid.
    """
    from mpigauge.check.claim_file import read_claims
    from mpigauge.check.claim_table import claim_source_of, document
    from mpigauge.check.claims import check_claim
    from mpigauge.document.document import Units

    claims = [read_claims(path) for path in claim_files(files)]
    materials = [claim_source_of(source) for source in request.sources(results)]
    scores = []
    for claim_set in claims:
        printed = _printed(claim_set)
        scores.append(
            (claim_set.report, [check_claim(claim, printed, materials) for claim in claim_set.claims])
        )
    return document(scores, request.units or Units(), quoted=quoted)


def claim_files(paths: Iterable[Path]) -> list[Path]:
    """Return claim files, those of each folder in the order of their names.

    Raises:
        UsageError: A folder has none.
    """
    return list(dict.fromkeys(file for path in paths for file in _claims_in(path)))


def _claims_in(path: Path) -> list[Path]:
    from mpigauge.check.claim_file import ENDING

    if not is_folder(path):
        return [path]
    files = sorted(path.glob(f"*{ENDING}"))
    if not files:
        raise UsageError(f"{path}: has no file of claims", f"their names end with {ENDING}")
    return files


def _printed(claims: Claims) -> list[ClaimSource]:
    """Return the printed tables of a report, imported as results."""
    from mpigauge.check.claim_table import claim_source_of
    from mpigauge.importers import read
    from mpigauge.query.query import source_of
    from mpigauge.result.reader import result_of

    tables = claims.tables
    results = [result_of(table.with_suffix(""), read("csv", (table,), columns)) for table, columns in tables]
    return [claim_source_of(source_of(result, "median")) for result in results]
