"""Where documents go and in which format: --format, -o and --overwrite of every verb that reads results."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge import atomic_file
from mpigauge.cli.screen.console import color_option
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError
from mpigauge.inputs import check_output
from mpigauge.result.files import ENDINGS as ENDINGS_OF_RESULTS
from mpigauge.show.formats import BINARY, ENDINGS, EVERY, FOREIGN, GENERAL, JUDGED_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mpigauge.document.document import Document

ABOUT = "File to write, in the format of its ending or of --format; repeatable."
STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True, slots=True)
class OutputTarget:
    """A format and the file that gets it; None is standard output."""

    form: str
    path: Path | None = None


STANDARD = (OutputTarget("text"),)
"""Target where neither a file nor a format is named."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """All that one command writes.

    Attributes:
        overwrite: Whether existing files are replaced.
    """

    targets: tuple[OutputTarget, ...]
    overwrite: bool = False

    def check(self) -> None:
        """Refuse files that cannot be written, before anything is computed.

        Raises:
            UsageError: A file exists already.
        """
        for target in self.targets:
            if target.path is not None:
                check_output(target.path)
                atomic_file.check_free(target.path, overwrite=self.overwrite)

    def put(self, document: Document) -> None:
        """Write a document in all formats."""
        self.write_each([document] * len(self.targets))

    def write_each(self, documents: Iterable[Document]) -> None:
        """Write a document per target, first those that may be refused: a failure then leaves no file."""
        pairs = zip(documents, self.targets, strict=True)
        for document, target in sorted(pairs, key=lambda pair: pair[1].form in GENERAL):
            put(document, target, overwrite=self.overwrite)


class FormatList(click.Choice[str]):
    """Comma-separated list of formats, each at most once."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the formats, or fail with a list of all."""
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in str(value).split(",")]
        return tuple(super(FormatList, self).convert(word, param, ctx) for word in words)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --format, -o, --overwrite and --color, which the verb gets as one parameter, `outputs`."""
    return _declared(_with_outputs(function), ABOUT, JUDGED_FORMATS)


def output_options_of_times(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to a verb that prints times, of which there are more formats."""
    return _declared(_with_outputs(function, EVERY), ABOUT, EVERY)


def output_options_and_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to a verb that may measure: a file named like a result becomes its `output`."""
    about = (
        "File to write, in the format of its ending or of --format, or the result of --remeasure (.jsonl)."
    )
    return _declared(_with_result(_with_outputs(function)), about, JUDGED_FORMATS)


def output_options_of_times_and_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to a verb that prints times or writes a result: a file named like one becomes its `output`."""
    about = "File to write, in the format of its ending or of --format, or the result of --without (.jsonl)."
    return _declared(_with_result(_with_outputs(function, EVERY)), about, EVERY)


def _with_result(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of `written` and `output` as one of all files, of which at most one is a result."""

    @functools.wraps(function)
    def split(*args: Any, written: tuple[Path, ...], **arguments: Any) -> Any:
        results = [path for path in written if path.name.endswith(ENDINGS_OF_RESULTS)]
        if len(results) > 1:
            raise UsageError("-o names two result files", "one is written")
        others = tuple(path for path in written if path not in results)
        return function(*args, written=others, output=next(iter(results), None), **arguments)

    return split


def _with_outputs(function: Callable[..., Any], known: Sequence[str] = JUDGED_FORMATS) -> Callable[..., Any]:
    """Wrap a function of `outputs` as one of the options, which are checked before anything else."""

    @functools.wraps(function)
    def called(
        *args: Any, forms: tuple[str, ...], written: tuple[Path, ...], overwrite: bool, **arguments: Any
    ) -> Any:
        outputs = outputs_of(forms, written, overwrite=overwrite, known=known)
        outputs.check()
        return function(*args, outputs=outputs, **arguments)

    return called


def _declared(function: Callable[..., Any], about: str, known: Sequence[str]) -> Callable[..., Any]:
    for option in (
        click.option("--overwrite", is_flag=True, help="Replace files that exist."),
        click.option(
            "-o",
            "--output",
            "written",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="FILE",
            help=f"{about}  Endings: {' '.join(_endings(known))}.  [default: standard output]",
        ),
        click.option(
            "--format",
            "forms",
            type=FormatList(known),
            default=(),
            metavar="FORMAT[,FORMAT...]",
            help=f"Format, or several with a file each: {', '.join(known)}.  [default: text, or by -o]",
        ),
    ):
        function = option(function)
    return color_option(function)


def _endings(known: Sequence[str]) -> list[str]:
    """Return the endings of files in some formats."""
    return [ending for ending, form in ENDINGS.items() if form in known]


def outputs_of(
    forms: Sequence[str], files: Sequence[Path], *, overwrite: bool = False, known: Sequence[str] = EVERY
) -> Outputs:
    """Return each file with its format, by its suffix unless formats are named, one per file.

    Args:
        known: Formats of what is written.

    Raises:
        UsageError: There are more formats than files or fewer, a suffix is unknown, or a binary format has no
            file.
    """
    paths = [None if path == STANDARD_OUTPUT else path for path in files]
    if not files and len(forms) <= 1:
        targets = [OutputTarget((*forms, "text")[0])]
    elif not forms:
        targets = [OutputTarget(_form_of(path, known), path) for path in paths]
    elif len(forms) == len(files):
        targets = [OutputTarget(form, path) for form, path in zip(forms, paths, strict=True)]
    else:
        raise UsageError(
            f"--format names {len(forms)} and -o {len(files)}: each format needs a file of its own",
            "-o a.csv -o b.json, with or without --format csv,json",
        )
    _check(targets)
    return Outputs(tuple(targets), overwrite)


def _form_of(path: Path | None, known: Sequence[str]) -> str:
    if path is None:
        return "text"
    if path.suffix.lower() not in _endings(known):
        raise UsageError(
            f"-o: the ending of {path} says no format that this is written in",
            f"end it in {', '.join(_endings(known))}, or name the format: --format {'|'.join(known)}",
        )
    return ENDINGS[path.suffix.lower()]


def _check(targets: Sequence[OutputTarget]) -> None:
    paths = [target.path for target in targets]
    if len({*paths}) < len(paths):
        raise UsageError("-o names one file twice", "each format needs a file of its own")
    for target in targets:
        if target.form in BINARY and target.path is None:
            raise UsageError(f"format {target.form} is no text", "name a file: -o table.parquet")


def put(document: Document, target: OutputTarget, *, overwrite: bool = False) -> None:
    """Print a document, or write a file atomically: a reader never sees half of it.

    Raises:
        UsageError: The file exists already, or the format cannot show the document.
        EnvironmentLacksError: The file cannot be written, or a library is missing.
    """
    if target.path is None:
        for text in _pieces(document, target.form):
            click.echo(text, nl=False)
        return
    from mpigauge.cli.screen.tables import rendered
    from mpigauge.show import formats

    with atomic_file.open_output(target.path, overwrite=overwrite) as file:
        if target.form in FOREIGN:
            file.write(rendered(document, target.form).encode())
        else:
            formats.write(document, target.form, file)
    note(f"{target.form}: {target.path}")


def _pieces(document: Document, form: str) -> Iterator[str]:
    from mpigauge.cli.screen.tables import rendered
    from mpigauge.show import formats

    if form == "text" or form in FOREIGN:
        yield rendered(document, form)
    else:
        yield from formats.pieces(document, form)
