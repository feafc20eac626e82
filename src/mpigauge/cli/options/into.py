"""The folder to hand in: --into of the verbs that measure or show a result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mpigauge.cli.screen.doing import doing
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.ask import Request
    from mpigauge.report_folder import FolderRequest
    from mpigauge.result.reader import Result

into_option = click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder to hand in: result, page, PDF, figures for papers, tables (also LaTeX), sentences.",
)


def check_into(
    folder: Path, results: Sequence[Path], other: Mapping[str, object], *, overwrite: bool = False
) -> Path:
    """Return a free name for a new result in a folder; refuse options that would have no effect on it.

    Args:
        results: Results that it is made of; none before they are measured.
        other: Values of those options, by name.

    Raises:
        UsageError: There is such an option, or the folder has files.
    """
    from mpigauge.report_folder import check_folder, new_result

    if given := [name for name, value in other.items() if value]:
        raise UsageError(f"--into and {given[0]} exclude each other", "use one of them")
    check_folder(folder, results, overwrite=overwrite)
    return new_result(folder)


def folder_request(folder: Path, *, overwrite: bool, force: bool = False) -> FolderRequest:
    """Return what a folder is to have, with the options that were typed, but for possible secrets."""
    from mpigauge.report_folder import JUDGED, FolderRequest
    from mpigauge.result.home_paths import command_line

    context = click.get_current_context()
    options = {
        str(option.name): _words(option, context.params[str(option.name)])
        for option in context.command.params
        if option.name in JUDGED and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    }
    typed = without_secrets(context.find_root().obj or (), context.params.get("mpi_options") or ())
    command = command_line(["mpigauge", *typed])
    return FolderRequest(folder, overwrite, force, command, options)


def without_secrets(typed: Sequence[str], mpi_options: Sequence[str]) -> tuple[str, ...]:
    """Return the words of our command line without possible secrets.

    Args:
        mpi_options: Those of the launcher: a secret may be one behind its name, with our option between them.
    """
    from mpigauge.result.environment import HIDDEN, words_without_secrets

    hidden = {*mpi_options} - {*words_without_secrets(mpi_options)}
    return words_without_secrets(
        HIDDEN if word.removeprefix("--mpi-option=") in hidden else word for word in typed
    )


def _words(option: click.Parameter, value: object) -> Sequence[str]:
    """Return the words that give an option its value."""
    name = max(option.opts, key=len)
    if value is True:
        return [name]
    values = value if isinstance(value, tuple) else (value,)
    return [word for one in values for word in (name, str(one))]


def hand_in(asked: FolderRequest, request: Request, results: Sequence[Result]) -> None:
    """Write a folder of results, and say what it has.

    Raises:
        UsageError: None of the selected cells was measured.
        EnvironmentLacksError: The folder cannot be written.
    """
    from mpigauge import report_folder

    note(f"mpigauge: writes page, figures and tables into {asked.folder}")
    with doing("reads what was measured") as begins:
        contents = report_folder.write(
            asked, request, results, lambda sentence: note(f"mpigauge: {sentence}"), begins
        )
    note(f"folder: {contents.sentence}")
