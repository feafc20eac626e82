"""A folder to hand in: result, page, sentences, tables and the usual figure; all other figures below `more`.

What it has is what the verbs print, made from rows that are computed once. `more/README.txt` has the command
of each file. A file that cannot be made is named there with the reason, and hinders no other.
"""

from __future__ import annotations

import filecmp
import itertools
import os
import shutil
import textwrap
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING

import mpigauge
from mpigauge import pdf, units
from mpigauge.ask import VERBS, Request, page_html, table_of
from mpigauge.atomic_file import cannot_write, open_output
from mpigauge.document.origin_words import origin_of
from mpigauge.document.plain_signs import printable_lines
from mpigauge.errors import MpigaugeError, UsageError
from mpigauge.find.explain import table as explain_table
from mpigauge.inputs import open_regular
from mpigauge.mpi.kinds import GIVES_WAY
from mpigauge.query.query import CannotShowError, Paper
from mpigauge.result.files import as_argument, quoted
from mpigauge.result.home_paths import shortened
from mpigauge.result.reader import STANDARD_INPUT
from mpigauge.result.writer import PACKED
from mpigauge.show import figures, formats
from mpigauge.show.compared import check_alike
from mpigauge.show.figures import KINDS as FIGURES
from mpigauge.show.figures.usual import first_that_can, usual_kinds
from mpigauge.show.pivots import CURVES, SAMPLES
from mpigauge.show.pivots import KINDS as TABLES
from mpigauge.show.selected import selected
from mpigauge.stats.decision import Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.document.document import Document
    from mpigauge.query.query import Query
    from mpigauge.result.reader import Result

README, PAGE, PRINTED, SENTENCES = "README.txt", "report.html", "report.pdf", "sentences.txt"
FIGURES_IN, TABLES_IN, MORE = "figures", "tables", "more"
OWN = (README, PAGE, PRINTED, SENTENCES, FIGURES_IN, TABLES_IN, MORE)
"""Names of all that is made in a folder: a result of such a name would be overwritten."""

RESULT = "result"
COMPARED = "compare"

WIDTHS = ("84mm", "174mm")
"""Widths of figures: one column and two columns of a paper."""

FIGURE_FORMS = (".pdf", ".png")
TABLE_FORMS = {".md": "markdown", ".csv": "csv", ".tex": "latex"}
README_COLUMNS = 80
NAMED_FIRST = 3
"""Files named where all would be replaced."""

TEXTS = "Page and sentences"
FIGURE_HEADING = "The usual figure, 84 mm wide for one column of a paper and 174 mm for two"
TABLE_HEADING = "Tables"
MORE_HEADING = "All other figures"
HOW = (
    "Typed in the folder above this one, the command below a line makes its first file again, and the others "
    "with their names behind -o. --overwrite replaces files that are there; plot always does."
)

OTHER_FOLDER = "choose another folder, or replace what it has, but for results: --overwrite"
OTHER_PLACE = "choose another place: --into FOLDER"

CHOSEN = ("series", "sizes", "state", "only", "unit_names")
SHOWN = (*CHOSEN, "stat", "renames")
JUDGED = (*SHOWN, "by", "margin", "allow", "force")
"""Parameters of the command line that verbs take: `explain`; `show` and `plot`; `report` and the figure of a
comparison."""


@dataclass(frozen=True, slots=True)
class FolderRequest:
    """What a folder is to have.

    Attributes:
        folder: The folder; it is made if it is not there.
        overwrite: Whether files in it are replaced.
        force: Whether results of different machines are compared.
        command: Command line that makes the folder.
        options: Words of its options, by parameter: `{"sizes": ("--sizes", "8")}`; the commands of files
            repeat those that their verb takes.
    """

    folder: Path
    overwrite: bool = False
    force: bool = False
    command: str = ""
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def words(self, parameters: Sequence[str]) -> list[str]:
        """Return the words of those options that are among these parameters."""
        return [word for name, words in self.options.items() if name in parameters for word in words]


@dataclass(frozen=True, slots=True)
class FolderPiece:
    """Files that one call makes.

    Attributes:
        label: What it is called where it could not be made: `figure time`.
        names: Names of the files, below the folder.
        command: Command that makes the first of them in the folder; those of others have another `-o`.
        about: What they are, in words.
        make: Writes them, given their paths.
    """

    label: str
    names: tuple[str, ...]
    command: str
    about: str
    make: Callable[[Sequence[Path]], None]


@dataclass(slots=True)
class FolderContents:
    """Files of a folder, and the reason for each that could not be made.

    Attributes:
        results: Names of the results in it.
        made: Pieces by heading.
        missing: Reasons by label.
    """

    folder: Path
    results: list[str]
    made: dict[str, list[FolderPiece]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """Folder and number of its files, in a line."""
        count = 2 + len(self.results) + sum(len(piece.names) for part in self.made.values() for piece in part)
        return f"{self.folder}: {units.counted(count, 'file')}; {README} says which to use"

    def names(self, heading: str) -> list[str]:
        """Names of the files below a heading."""
        return [name for piece in self.made.get(heading, ()) for name in piece.names]


# ---- Where -------------------------------------------------------------------------------------------


def check_folder(folder: Path, results: Sequence[Path] = (), *, overwrite: bool = False) -> None:
    """Refuse a folder that has other files than the results that it is made of.

    Raises:
        UsageError: It has, and may not be overwritten; or it is no folder; or a result cannot be copied.
        EnvironmentLacksError: It cannot be read.
    """
    for path in results:
        # Of names that are too long, Path.exists would raise.
        is_there = os.path.lexists(path)
        if path == STANDARD_INPUT or (is_there and not path.is_file()):
            raise UsageError(
                f"--into cannot copy {path}, which is read only once", "name a file of the result"
            )
        if is_there and any(path.resolve().is_relative_to((folder / name).resolve()) for name in OWN):
            raise UsageError(f"{path}: a file of the folder {folder} would be written over it", "rename it")
    try:
        present = {path.resolve() for path in folder.iterdir()} if os.path.lexists(folder) else set()
    except OSError as error:
        raise cannot_write(folder, error, OTHER_PLACE) from None
    if not overwrite and present - {path.resolve() for path in results}:
        raise UsageError(f"{folder}: has files already{_of_ours(folder)}", OTHER_FOLDER)


def _of_ours(folder: Path) -> str:
    """Return which of a folder's files would be replaced; empty if none would."""
    ours = [folder / name for name in OWN]
    found = [path for path in ours if path.is_file()]
    found += sorted(path for one in ours if one.is_dir() for path in one.rglob("*") if path.is_file())
    if not found:
        return ""
    named = [str(path.relative_to(folder)) for path in found[:NAMED_FIRST]]
    more = len(found) - len(named)
    return f": {', '.join(named)}{f' and {more} more' if more else ''} would be replaced"


def new_result(folder: Path, name: str = f"{RESULT}.jsonl", taken: Sequence[Path] = ()) -> Path:
    """Return a free name for a result in a folder, since results are never overwritten.

    Args:
        taken: Names that are not free, though nothing has them yet.
    """
    stem, dot, ending = name.partition(".")
    path, number = folder / name, 1
    while path in taken or any(map(os.path.lexists, (path, path.with_name(path.name + PACKED)))):
        number += 1
        path = folder / f"{stem}-{number}{dot}{ending}"
    return path


def command_for(folder: Path, result: Path) -> str:
    """Return the command that makes the folder of a result which is there."""
    return f"mpigauge report {as_argument(result)} --into {as_argument(folder)}"


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it.

    Raises:
        UsageError: A file is in its way.
        EnvironmentLacksError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error, OTHER_PLACE) from None


def _places(results: Sequence[Result], folder: Path) -> list[Path]:
    """Return where each result is in the folder, or will be: one that has it already stays where it is."""
    places: list[Path] = []
    for result in results:
        path, taken = folder / result.path.name, [*places, *(folder / name for name in OWN)]
        is_there = path.is_file() and filecmp.cmp(path, result.path, shallow=False)
        places.append(path if is_there and path not in taken else new_result(folder, path.name, taken))
    return places


def _copy(result: Result, place: Path) -> None:
    if place.exists():
        return
    with (
        open_regular(result.path, "name a result") as source,
        open_output(place, other_place=OTHER_PLACE) as file,
    ):
        shutil.copyfileobj(source, file)


# ---- What --------------------------------------------------------------------------------------------


def write(
    asked: FolderRequest,
    request: Request,
    results: Sequence[Result],
    notify: Callable[[str], None],
    begins: Callable[[str], None],
) -> FolderContents:
    """Write all that follows from results into a folder.

    Args:
        request: Which cells, which statistic, which units, and what is compared.
        notify: Called with a sentence for page, PDF and sentences if one is left out.
        begins: Called with the name of each file, or part of the page, before it is made.

    Raises:
        UsageError: None of the selected cells was measured.
        EnvironmentLacksError: The folder cannot be written.
        Exception: A fault of ours, raised once everything else is there.
    """
    places = _places(results, asked.folder)
    here = [replace(result, path=Path(place.name)) for result, place in zip(results, places, strict=True)]
    shown = _Shown(asked, request, here, begins)
    make_folder(asked.folder)
    for result, place in zip(results, places, strict=True):
        _copy(result, place)
    contents = FolderContents(asked.folder, shown.names)
    faults: list[Exception] = []
    parts = shown.parts()
    count, numbers = sum(map(len, parts.values())), itertools.count(1)
    for heading, pieces in parts.items():
        for piece in pieces:
            begins(f"{piece.names[0]} ({next(numbers)} of {count})")
            error = _make(piece, asked.folder)
            if error is None:
                contents.made.setdefault(heading, []).append(piece)
                continue
            contents.missing[piece.label] = _reason(error, shown.names)
            if not isinstance(error, MpigaugeError):
                faults.append(error)
                continue
            if heading == TEXTS:
                notify(f"{asked.folder / piece.names[0]} is left out: {error.sentence}")
    _remove_older(contents)
    for name, text in ((README, _readme), (f"{MORE}/{README}", _whole_readme)):
        make_folder((asked.folder / name).parent)
        with open_output(asked.folder / name, overwrite=True, other_place=OTHER_PLACE) as file:
            file.write(text(contents, asked, here).encode())
    if faults:
        raise faults[0]
    return contents


def _make(piece: FolderPiece, folder: Path) -> Exception | None:
    """Make the files of a piece; return what prevents it, after which none of them is there."""
    paths = [folder / name for name in piece.names]
    inside = paths[0].parent
    for above in (inside, inside.parent):
        if above.is_relative_to(folder) and above != folder and above.is_symlink():
            raise UsageError(
                f"{above}: is a link, and leads to another folder", f"remove it, or {OTHER_PLACE}"
            )
    make_folder(inside)
    try:
        piece.make(paths)
    except Exception as error:  # noqa: BLE001 - of one piece, which hinders no other
        for path in paths:
            path.unlink(missing_ok=True)  # of another result, where the folder is overwritten
        return error
    return None


def _remove_older(contents: FolderContents) -> None:
    """Remove figures that an earlier command made, of another result or in another place."""
    made = {name for heading in contents.made for name in contents.names(heading)}
    for inside, kind, width, form in product(_FIGURE_FOLDERS, FIGURES, WIDTHS, FIGURE_FORMS):
        if (name := f"{inside}/{kind}-{width}{form}") not in made:
            (contents.folder / name).unlink(missing_ok=True)


_FIGURE_FOLDERS = (FIGURES_IN, f"{MORE}/{FIGURES_IN}")


def _reason(error: Exception, results: Sequence[str]) -> str:
    """Return why a piece is missing, without the names of results."""
    if not isinstance(error, MpigaugeError):
        return f"a fault of mpigauge: {type(error).__name__}: {error}"
    return error.why if isinstance(error, CannotShowError) else error.sentence.removeprefix(f"{results[0]}: ")


class _Shown:
    """All that is shown of results, from rows that are computed once.

    Args:
        results: Results under their names in the folder.
        begins: Called with the name of each part of the page before it is made.
    """

    def __init__(
        self,
        asked: FolderRequest,
        request: Request,
        results: Sequence[Result],
        begins: Callable[[str], None],
    ) -> None:
        self._begins = begins
        self._asked, self._request, self._results = asked, request, results
        self._compared = request.query(results)
        selected(self._compared)
        self._query = replace(self._compared, by=None, thresholds=Thresholds())
        self.names = [str(result.path) for result in results]

    def parts(self) -> dict[str, list[FolderPiece]]:
        """Return all that can be made, by heading, the most important first."""
        usual = self._usual_figure()
        others = [kind for kind in FIGURES if kind != usual]
        return {
            TEXTS: self._texts(),
            FIGURE_HEADING: [*self._figures([usual] if usual else [], FIGURES_IN)],
            TABLE_HEADING: [*self._tables()],
            MORE_HEADING: [*self._figures(others, f"{MORE}/{FIGURES_IN}")],
        }

    def _command(self, verb: str, words: Sequence[str], parameters: Sequence[str], file: str) -> str:
        results = [as_argument(Path(name)) for name in self.names]
        given = self._asked.words(parameters)
        return " ".join(["mpigauge", verb, *results, *map(quoted, [*words, *given, "-o", file])])

    # ---- Page and sentences

    def _texts(self) -> list[FolderPiece]:
        page, printed = (self._command("report", [], JUDGED, name) for name in (PAGE, PRINTED))
        sentences = self._command("explain", ["--all"], CHOSEN, SENTENCES)
        made = (
            (PAGE, page, "all that follows, as one page without a network", self._write_page),
            (PRINTED, printed, "the page on paper", self._print_page),
            (SENTENCES, sentences, "what may be written of it", self._write_sentences),
        )
        return [FolderPiece(name, (name,), command, about, make) for name, command, about, make in made]

    @cached_property
    def _page(self) -> str:
        return page_html(self._compared, self._request, self._begins, force=self._asked.force)

    def _write_page(self, paths: Sequence[Path]) -> None:
        with open_output(paths[0], overwrite=True) as file:
            file.write(self._page.encode())

    def _print_page(self, paths: Sequence[Path]) -> None:
        pdf.write(self._page, paths[0], overwrite=True)

    def _write_sentences(self, paths: Sequence[Path]) -> None:
        """Write all conclusions, which are of medians and know no other names of places."""
        plain = Request(VERBS["explain"], self._request.selection, units=self._request.units)
        is_same = (self._request.stat, self._request.renames) == (plain.stat, plain.renames)
        sources = selected(self._query) if is_same else plain.selected(self._results)
        document = explain_table.document(sources, self._query.units, most=None, gives_way=GIVES_WAY)
        _write_document(document, "text", paths[0])

    # ---- Figures

    def _usual_figure(self) -> str:
        """Return the kind of figure that `mpigauge plot` draws; empty if none can be drawn."""

        def drawn(kind: str) -> str:
            figures.figure(self._query_of(kind, WIDTHS[0]))
            return kind

        usual = usual_kinds(self._query.sources, whole=not (self._query.series or self._query.sizes))
        try:
            return first_that_can([kind for kind in (*usual, *FIGURES) if kind in FIGURES], drawn)
        except Exception:  # noqa: BLE001 - said where that kind is drawn
            return ""

    def _figures(self, kinds: Iterable[str], inside: str) -> Iterator[FolderPiece]:
        for kind, width in product(kinds, WIDTHS):
            names = tuple(f"{inside}/{kind}-{width}{form}" for form in FIGURE_FORMS)
            taken = JUDGED if kind == COMPARED else SHOWN
            command = self._command("plot", ["--kind", kind, "--width", width], taken, names[0])
            about = FIGURES[kind].about
            yield FolderPiece(
                f"figure {kind}", names, command, about, partial(self._draw, kind, width, command)
            )

    def _query_of(self, kind: str, width: str, command: str = "") -> Query:
        """Return the query of a figure.

        Raises:
            UsageError: Results of different machines would be compared.
        """
        if kind == COMPARED and not self._asked.force:
            check_alike(self._query.sources)
        query = self._compared if kind == COMPARED else self._query
        paper = Paper("", units.parse_length_in(width), command.partition(" -o ")[0])
        return replace(query, kind=FIGURES[kind], paper=paper)

    def _draw(self, kind: str, width: str, command: str, paths: Sequence[Path]) -> None:
        query = self._query_of(kind, width, command)
        # Each form anew: to lay out a figure a second time moves it.
        for path in paths:
            figures.draw(query, path)

    # ---- Tables

    def _tables(self) -> Iterator[FolderPiece]:
        for kind in TABLES:
            if kind == SAMPLES or (kind == CURVES and len(self._results) > 1):
                continue
            names = tuple(f"{TABLES_IN}/{kind}{form}" for form in TABLE_FORMS)
            command = self._command("show", ["--table", kind], SHOWN, names[0])
            make = partial(self._write_table, kind)
            yield FolderPiece(f"table {kind}", names, command, TABLES[kind].about, make)

    def _write_table(self, kind: str, paths: Sequence[Path]) -> None:
        document = table_of(replace(self._query, kind=TABLES[kind]))
        for path in paths:
            _write_document(document, TABLE_FORMS[path.suffix], path)


def _write_document(document: Document, form: str, path: Path) -> None:
    with open_output(path, overwrite=True) as file:
        formats.write(document, form, file)


# ---- README ------------------------------------------------------------------------------------------


def _readme(contents: FolderContents, asked: FolderRequest, results: Sequence[Result]) -> str:
    """Return what the folder has, and which figure and table to use, in about ten lines."""
    parts = [(name, "every sample, the machine, the plan and the seed") for name in contents.results]
    parts += [(piece.names[0], piece.about) for piece in contents.made.get(TEXTS, ())]
    if drawn := contents.made.get(FIGURE_HEADING):
        one, *others = [Path(piece.names[0]).name for piece in drawn]
        parts.append(
            (
                f"{FIGURES_IN}/",
                f"{one} for one column of a paper" + "".join(f", {two} for two" for two in others),
            )
        )
    if tables := contents.made.get(TABLE_HEADING):
        parts.append(
            (f"{TABLES_IN}/", f"{', '.join(Path(piece.names[0]).stem for piece in tables)}: .tex, .md, .csv")
        )
    parts.append((f"{MORE}/", f"all other figures, and in {README} the command of each file"))
    widest = max(len(name) for name, _ in parts)
    lines = [*map(origin_of, results), ""]
    for name, about in parts:
        lines += _wrapped(about, f"{name:{widest}}  ", " " * (widest + 2))
    lines += ["", f"Made by mpigauge {mpigauge.__version__}:", f"  {asked.command}"]
    return shortened(printable_lines("\n".join(lines))) + "\n"


def _whole_readme(contents: FolderContents, _: FolderRequest, results: Sequence[Result]) -> str:
    """Return how each file is made again, and why others are not there."""
    lines = [*map(origin_of, results), "", *_wrapped(HOW)]
    for heading, pieces in contents.made.items():
        lines += ["", f"{heading}:"]
        for about, alike in groupby(pieces, key=lambda piece: piece.about):
            lines += _wrapped(about, "  ", "  ")
            for piece in alike:
                lines += [f"    {', '.join(piece.names)}", f"      {piece.command}"]
    if contents.missing:
        lines += ["", "Not made, and why:"]
        for label, why in contents.missing.items():
            lines += _wrapped(f"{label}: {why}", "  ", "    ")
    return shortened(printable_lines("\n".join(lines))) + "\n"


def _wrapped(text: str, first: str = "", others: str = "") -> list[str]:
    return textwrap.wrap(
        text, README_COLUMNS, initial_indent=first, subsequent_indent=others, break_long_words=False
    )
