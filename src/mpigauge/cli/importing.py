"""`mpigauge import`: what others have written becomes a result file."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from mpigauge.cli.options import table_options


class Readers(click.Group):
    """One command for every row of `formats.READERS`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the registry."""
        from mpigauge.formats import READERS

        return list(READERS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a format."""
        from mpigauge.formats import READERS

        if cmd_name not in READERS:
            return None
        reader = READERS[cmd_name]
        files = click.Argument(
            ["paths"], nargs=-1, type=click.Path(path_type=Path), metavar=reader.files, required=True
        )
        made = table_options(
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
            params=[files, *_options(made)],
            help=reader.about,
            short_help=reader.files,
        )


def _options(function: Any) -> list[click.Parameter]:
    options: list[click.Parameter] = function.__click_params__
    return options[::-1]


@click.command("import", cls=Readers)
def command() -> None:
    """Make a result file of what another launcher, or another program, has measured.

    \b
    mpigauge import journal plan.txt journal.1 journal.2 -o result.jsonl
    """


def _import(
    name: str,
    *,
    paths: tuple[Path, ...],
    output: Path | None,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str,
) -> int:
    from mpigauge.cli.measuring import default_path
    from mpigauge.cli.run import ended
    from mpigauge.cli.show import check, tabulate
    from mpigauge.errors import JobError, UsageError
    from mpigauge.formats import READERS, read
    from mpigauge.result import append
    from mpigauge.result.records import Visit

    check(unit_names, columns)
    if len(paths) < READERS[name].least:
        raise UsageError(f"import {name}: takes {READERS[name].files}", "give the files that are missing")
    records = read(name, paths)
    with append.create(output) if output else append.create_beside(default_path()) as file:
        path = file.path
        for record in records:
            file.append(record)
    if not any(isinstance(record, Visit) for record in records):
        raise JobError(f"{path}: nothing was measured; the last words of the job are in it", "")
    text, rows = tabulate(path, form, unit_names, stat, columns)
    click.echo(text, nl=False)
    return ended(path, rows)
