"""`mpigauge import`: creates a result file from the output of another launcher or program."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options.common import table_options_of
from mpigauge.cli.options.shipped_option import COLUMNS_PATH
from mpigauge.cli.options.subcommands import Subcommands
from mpigauge.cli.screen.streams import note
from mpigauge.result.files import as_argument
from mpigauge.show.formats import GENERAL, TIMED

if TYPE_CHECKING:
    from mpigauge.importers import Reader


class Readers(Subcommands):
    """Group with one command per row of `importers.READERS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the formats in the order of the registry."""
        from mpigauge.importers import READERS

        return list(READERS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a format."""
        from mpigauge.importers import READERS

        if cmd_name not in READERS:
            return None
        reader = READERS[cmd_name]
        files = click.Argument(
            ["paths"],
            nargs=-1,
            type=click.Path(path_type=Path),
            metavar=reader.files,
            required=reader.min_files > 0,
        )
        made = table_options_of((*GENERAL, *TIMED, *reader.foreign))(
            click.option(
                "-o",
                "--output",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="Result file (.jsonl).",
            )(partial(_import, cmd_name))
        )
        return click.Command(
            cmd_name,
            callback=made,
            params=[files, *_options(made, reader)],
            help=f"{reader.about}\n\n\b\n{reader.example}",
            short_help=reader.program or reader.about.partition(";")[0],
        )


def _options(function: Any, reader: "Reader") -> list[click.Parameter]:
    """Return the options of the table; --columns names those of a file instead where it must be given."""
    options: list[click.Parameter] = function.__click_params__[::-1]
    if reader.prints_tables:
        return [*_of_tables(), *options]
    if not reader.columns:
        return options
    named = click.Option(
        ["--columns"],
        type=COLUMNS_PATH,
        metavar="TOML",
        required=True,
        help=reader.columns,
    )
    return [named, *(option for option in options if option.name != "columns")]


def _of_tables() -> list[click.Parameter]:
    """Return the options for what a text may not say of itself."""
    ranks = click.Option(
        ["--np"],
        type=click.IntRange(1, 10**6),
        metavar="N",
        help="How many ranks took part, where neither text nor command line says it.",
    )
    same = click.Option(
        ["--same"],
        is_flag=True,
        help="Tables of the same numbers are launches of one thing, not runs to be told apart.",
    )
    return [ranks, same]


@click.command("import", cls=Readers)
def command() -> None:
    """Create a result file from another launcher's or program's output.

    \b
    mpigauge import journal plan.txt journal.1 journal.2 -o result.jsonl
    mpigauge import csv --columns ring-pairs -o printed.jsonl
    mpigauge import osu osu_latency.txt osu_allreduce.txt -o osu.jsonl
    """


def _note_left_out(name: str, paths: tuple[Path, ...]) -> None:
    """Note that a log has tables of another program, too."""
    from mpigauge.importers.reading import left_out

    for path in paths:
        for other in left_out(path, name):
            note(f"mpigauge: {path}: has tables of {other}, too: mpigauge import {other} {as_argument(path)}")


def _import(
    name: str,
    *,
    paths: tuple[Path, ...],
    output: Path | None,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str | Path,
    np: int | None = None,
    same: bool = False,
) -> int:
    from mpigauge.cli.screen.tables import TableOptions, check, tabulate
    from mpigauge.cli.sessions.session import ended
    from mpigauge.errors import JobError, UsageError
    from mpigauge.importers import READERS, read
    from mpigauge.plan.shipped import printed_table
    from mpigauge.result import writer
    from mpigauge.result.files import default_path
    from mpigauge.result.records import Imported, Visit

    shown, column_file = ("", columns) if isinstance(columns, Path) else (columns, None)
    paths = paths or ((printed_table(column_file),) if column_file else ())
    check(unit_names, shown)
    if len(paths) < READERS[name].min_files:
        raise UsageError(f"import {name} needs {READERS[name].files}", "name the missing files, too")
    if output is not None:
        writer.check_free(output)
    records = read(name, paths, column_file, ranks=np or 0, same=same)
    with writer.create(output) if output else writer.create_numbered(default_path()) as file:
        file.set_reporter(lambda sentence: note(f"mpigauge: {sentence}"))
        for record in records:
            file.append(record)
    path = file.path
    if READERS[name].prints_tables:
        _note_left_out(name, paths)
    if not any(isinstance(record, Visit | Imported) for record in records):
        raise JobError(f"{path}: nothing was measured; the file has the job's last output", "")
    text, rows = tabulate([path], TableOptions(None, form, unit_names, stat, shown))
    click.echo(text, nl=False)
    return ended(path, rows)
