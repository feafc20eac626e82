"""Questions about results, asked alike by verbs and scripts: of which cells and visits, and what is answered.

What computes is imported where something is asked, so that `--help` does not wait for it. Nothing is printed:
what a user should know beside the answer is handed to whoever asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mpigauge.errors import JobError, UsageError
from mpigauge.query.kinds import DisplayKind
from mpigauge.result.files import every, is_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from mpigauge.check.claim_file import Claims
    from mpigauge.check.claims import Material
    from mpigauge.compare.history.session import SessionResult
    from mpigauge.document.document import Document, Units
    from mpigauge.query.query import Query, Source
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row
    from mpigauge.rows.status import Reason
    from mpigauge.show.compared import ComparedSources
    from mpigauge.stats.decision import Thresholds
    from mpigauge.vocabulary import ComparisonVerdict, OnlyChoice, StateChoice

    Read = Callable[[Path], Result]
    Tell = Callable[[str], None]

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
"""What verbs are that make neither figures nor tables, for the errors that say what a result lacks."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Cells, and visits of them.

    Attributes:
        series: Words of their names; none for all.
        sizes: Of messages; "" for all.
        state: The state of the machine that numbers are of; None for the usual one.
        only: Which visits count; None for all.
    """

    series: tuple[str, ...] = ()
    sizes: str = ""
    state: StateChoice | None = None
    only: OnlyChoice | None = None


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of results, before they are read.

    Attributes:
        kind: For what is said if a result has nothing of it.
        stat: The statistic that represents a launch.
        renames: Placements that are called otherwise: `OLD=NEW`.
        each_state: Whether numbers are of each state of the machine if none is selected, as for verdicts.
        by: The factor that is compared within one result.
        thresholds: What verdicts are held to; None for the usual ones.
        units: None for those that fit.
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
        """The state of the machine that numbers are of; None for the usual one."""
        return self.selection.state or ("all" if self.each_state else None)

    def check(self) -> None:
        """Refuse what can be seen to be wrong before a file is read, which may take a while.

        Raises:
            UsageError: The sizes or a new name are none.
        """
        from mpigauge.plan.sizes import wanted
        from mpigauge.query.renamed import renamings

        wanted(self.selection.sizes)
        renamings(self.renames)

    def sources(self, results: Iterable[Result]) -> list[Source]:
        """Return results with what is said of all their cells.

        Raises:
            UsageError: A result does not know such states or placements.
        """
        from mpigauge.query.query import sources_of
        from mpigauge.query.renamed import renamed

        return renamed(sources_of(results, self.stat, self.state, self.selection.only), self.renames)

    def query_of(self, sources: list[Source]) -> Query:
        """Return the query of sources that are computed already."""
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
            UsageError: What is asked for cannot be, or a result does not know such states or placements.
        """
        self.check()
        return self.query_of(self.sources(results))

    def selected(self, results: Iterable[Result]) -> list[Source]:
        """Return results with what is said of the selected cells.

        Raises:
            UsageError: Nothing of what was asked for was measured; says what there is.
        """
        from mpigauge.show.selected import selected

        return selected(self.query(results))


# ---- Answers -------------------------------------------------------------------------------------


def damage_note(result: Result) -> str:
    """Return what is wrong with the compressed file of a result, as a line; empty if nothing is."""
    from mpigauge.find.imported import PACKED

    return f"{result.path}: {PACKED[result.packed_damage]}" if result.packed_damage else ""


def table_of(query: Query, columns: tuple[str, ...] = (), *, newest: bool = False) -> Document:
    """Return the tables of a kind, before they have a format.

    Args:
        columns: Those of curves beside the usual ones.
        newest: Whether commands find the result without its name.

    Raises:
        UsageError: The results lack what the kind of table needs.
    """
    from mpigauge.find import maps
    from mpigauge.show import answer, curves, pivots
    from mpigauge.show.selected import selected

    if query.kind.name == pivots.ANSWER:
        chosen = selected(query)
        return maps.answered(answer.document(chosen, query.units, newest=newest), chosen)
    if query.kind.name == pivots.CURVES:
        (source,) = selected(query)
        document = curves.document(source.result, source.rows, columns, query.units, source.stat)
        return maps.begun(document, [source])
    return maps.begun(pivots.document(query), query.sources)


def comparison_of(
    found: ComparedSources, units: Units | None = None, *, strict: bool = False, everything: bool = False
) -> tuple[Document, ComparisonVerdict]:
    """Return a comparison as a document, and its verdict.

    Args:
        strict: Whether only those pass that have a partner and are decided.
        everything: Whether there is a line for every number.
    """
    from mpigauge.compare.table import document
    from mpigauge.document.document import Units

    verdict = found.shown.strictly() if strict else found.shown.verdict
    shown = document(
        found.shown,
        verdict,
        found.factors,
        units or Units(),
        found.sides,
        first=found.first,
        everything=everything,
    )
    return shown, verdict


def check_measured(path: Path, rows: Sequence[Row]) -> None:
    """Refuse a result without a single number, with the reason.

    Raises:
        JobError: Nothing was measured.
    """
    from mpigauge.document.status_words import sentence
    from mpigauge.rows.rows import why_nothing

    if why := why_nothing(rows):
        raise JobError(f"{path}: nothing was measured: {sentence(why)}", _hint_for_nothing(why))


def _hint_for_nothing(why: Reason) -> str:
    from mpigauge.campaign.failure_remedies import hint_for
    from mpigauge.rows.status import LaunchFailed, OutOfTime

    if isinstance(why, LaunchFailed):
        return hint_for(why.line)
    return "raise --budget, or measure less" if isinstance(why, OutOfTime) else "mpigauge show says why"


# ---- Results of many times -----------------------------------------------------------------------


@dataclass(slots=True)
class Sessions:
    """Sessions in the order of time, and those of other machines with what differs.

    Attributes:
        known: Of one machine.
    """

    known: list[SessionResult] = field(default_factory=list)
    left_out: list[tuple[SessionResult, list[str]]] = field(default_factory=list)

    def since(self, date: datetime) -> Sessions:
        """Return those that began at a date, UTC, or later.

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
    paths: Sequence[Path], request: Request, read: Read, tell: Tell, reference: SessionResult | None = None
) -> Sessions:
    """Return all results of files and folders as sessions.

    Args:
        read: Reads a result.
        tell: Is told what is left out, and why.
        reference: Whose machine counts; that of the last session if nobody is.

    Raises:
        UsageError: There is no result at all.
    """
    from mpigauge.compare.history.session import apart_from, in_time

    request.check()
    found, refused = _sessions(every(paths), request, read)
    # The first is the error itself where there is nothing else.
    for one in refused if found else refused[1:]:
        tell(f"skipped: {one.sentence}")
    if not found:
        raise (
            refused[0]
            if refused
            else UsageError(
                f"{', '.join(map(str, paths))}: no result is there", "name files, or folders with results"
            )
        )
    known, copies = in_time(found)
    for copy in copies:
        tell(f"skipped: {copy.path}: a copy of another result")
    left_out = apart_from(reference or known[-1], known)
    strangers = {id(one) for one, _ in left_out}
    return Sessions([one for one in known if id(one) not in strangers], left_out)


def _sessions(
    paths: Sequence[Path], request: Request, read: Read
) -> tuple[list[SessionResult], list[UsageError]]:
    found, refused = [], []
    for path in paths:
        try:
            found.append(session_in(path, request, read))
        except UsageError as error:
            refused.append(error)
    return found, refused


def session_in(path: Path, request: Request, read: Read) -> SessionResult:
    """Return one result as a session; the result itself is not kept.

    Raises:
        UsageError: It is none, or has nothing of what was asked for.
    """
    from mpigauge.compare.history.session import session_of

    (mine,) = replace(request, each_state=True).selected(map(read, [path]))
    return session_of(mine.result, mine.rows)


def against(
    path: Path, baseline: Path, request: Request, read: Read, tell: Tell, *, force: bool
) -> ComparedSources:
    """Hold a result against the sessions of a folder.

    Args:
        read: Reads a result.
        tell: Is told what is left out, and why.
        force: Whether sessions of other machines or versions count, too.

    Raises:
        UsageError: None of them is of the result's machine.
    """
    from mpigauge.compare.history import baseline as expected
    from mpigauge.compare.history.session import same_session
    from mpigauge.compare.session_sentences import baseline_words
    from mpigauge.show.compared import ComparedSources
    from mpigauge.stats.decision import Thresholds

    new = session_in(path, request, read)
    found = sessions_in([baseline], request, read, tell, new)
    known = [*found.known, *(one for one, _ in found.left_out if force)]
    forced = dict.fromkeys(what for _, differs in found.left_out if force for what in differs)
    before = [one for one in known if not same_session(one, new)]
    for one, differs in found.left_out if not force else []:
        tell(f"skipped: {one.path}: {'; '.join(differs)}")
    if not before and found.left_out:
        raise UsageError(
            f"{path} cannot be held against {baseline}: {'; '.join(found.left_out[0][1])}",
            "--force compares them all the same",
        )
    said = expected.against(
        sorted(before, key=lambda one: one.begun_s), new, request.thresholds or Thresholds()
    )
    sides = baseline_words(path.name, str(baseline), len(before), said.switches)
    return ComparedSources(replace(said.shown, forced=tuple(forced)), frozenset(), sides)


# ---- Claims of reports ---------------------------------------------------------------------------


def claims_of(files: Iterable[Path], results: Iterable[Result], request: Request) -> Document:
    """Return the claims of files, or of all such files in folders, held against results.

    Args:
        results: All of them together; none: what the printed tables alone say.

    Raises:
        UsageError: A file cannot be read, or is not what it should be.
    """
    from mpigauge.check.claim_file import read_claims
    from mpigauge.check.claim_table import document, material_of
    from mpigauge.check.claims import judged
    from mpigauge.document.document import Units

    claims = [read_claims(path) for path in claim_files(files)]
    here = [material_of(source) for source in request.sources(results)]
    scores = []
    for one in claims:
        printed = _printed(one)
        scores.append((one.report, [judged(claim, printed, here) for claim in one.claims]))
    return document(scores, request.units or Units())


def claim_files(paths: Iterable[Path]) -> list[Path]:
    """Return files of claims, and those of each folder in the order of their names.

    Raises:
        UsageError: A folder has none.
    """
    return list(dict.fromkeys(file for path in paths for file in _claims_in(path)))


def _claims_in(path: Path) -> list[Path]:
    from mpigauge.check.claim_file import ENDING

    if not is_folder(path):
        return [path]
    found = sorted(path.glob(f"*{ENDING}"))
    if not found:
        raise UsageError(f"{path}: has no file of claims", f"their names end with {ENDING}")
    return found


def _printed(claims: Claims) -> list[Material]:
    """Return the tables of the report, imported."""
    from mpigauge.check.claim_table import material_of
    from mpigauge.importers import read
    from mpigauge.query.query import source_of
    from mpigauge.result.reader import made_of

    tables = claims.tables
    results = [made_of(table.with_suffix(""), read("csv", (table,), columns)) for table, columns in tables]
    return [material_of(source_of(result, "median")) for result in results]
