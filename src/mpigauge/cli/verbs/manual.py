"""Help of every command as data, and as man pages, which wheels install."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import click

from mpigauge import __version__, errors
from mpigauge.cli.options.option_groups import Chapters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Words = tuple[str, ...]

STATUSES = {
    errors.EXIT_DONE: "done",
    errors.EXIT_CHECK_FAILED: "measured, but some cells crashed, hung or received a wrong payload, or the "
    "campaign failed or made fewer launches than --launches asked for; or a map, comparison, check or "
    "history found something slower",
    errors.EXIT_USAGE: "wrong usage: an option, a plan or a file that cannot be",
    errors.EXIT_ENVIRONMENT: "this machine cannot do it: no MPI library, no compiler, a full disk",
    errors.EXIT_NOTHING_MEASURED: "nothing was measured: the MPI job failed, or the budget ran out before "
    "the first cell",
    errors.EXIT_UNDECIDED: "undecided: too few launches or hosts to tell, or the machine moved",
    errors.EXIT_FAULT: "a fault of mpigauge itself, with a traceback: please report it",
}
SIGNALS = "stopped by signal n: 130 is Ctrl-C, 131 is SIGQUIT, 143 is SIGTERM"


def commands(command: click.Command, words: Words) -> Iterator[tuple[Words, click.Command]]:
    """Return a command and all its subcommands, with the words that call them."""
    yield words, command
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                if below is not None:
                    yield from commands(below, (*words, name))


def paragraphs(command: click.Command) -> Iterator[tuple[bool, list[str]]]:
    """Return the paragraphs of a command's help: whether each is of commands, and its lines."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        first, *rest = (line.strip() for line in paragraph.strip().splitlines() or [""])
        if first in {"\b", "\\b"}:
            yield True, rest
        elif first:
            yield False, [first, *rest]


# ---- Pages for man -------------------------------------------------------------------------------


def pages(program: click.Command) -> dict[str, str]:
    """Return all man pages by file name: mpigauge.1, mpigauge-run.1 and so on, for groff and mandoc."""
    every = dict(commands(program, ("mpigauge",)))
    return {f"{'-'.join(words)}.1": _page(words, command, every) for words, command in every.items()}


def _page(words: Words, command: click.Command, every: Iterable[Words]) -> str:
    name = "-".join(words)
    with click.Context(command, info_name=" ".join(words), help_option_names=["-h", "--help"]) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        options = [*_options(command, context)]
        below = [*_below(command, context)]
    related = [page for page in every if page == words[:-1] or page[:-1] == words]
    lines = [
        f'.TH "{escaped(name.upper())}" "1" "" "mpigauge {__version__}" "mpigauge manual"',
        ".nh",  # no line break within names of pages
        ".ad l",
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(_about(command))}",
        ".SH SYNOPSIS",
        f"\\fB{escaped(' '.join(words))}\\fR {escaped(usage)}",
        ".SH DESCRIPTION",
        *_description(command),
        *([".SH COMMANDS", *below] if below else []),
        ".SH OPTIONS",
        *options,
        ".SH EXIT STATUS",
        *(line for status, about in STATUSES.items() for line in _tagged(str(status), about)),
        *_tagged("128 + n", SIGNALS),
        ".SH SEE ALSO",
        ",\n".join(f"\\fB{escaped('-'.join(page))}\\fR(1)" for page in related),
    ]
    return "\n".join(lines) + "\n"


def _about(command: click.Command) -> str:
    return command.get_short_help_str(limit=200).rstrip(".")


def _below(command: click.Command, context: click.Context) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (subcommand := command.get_command(context, name)) is not None:
                yield from _tagged(name, _about(subcommand))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Return the options, in chapters where the help has them."""
    chapters = command.chapters if isinstance(command, Chapters) else {}
    for option in command.get_params(context):
        if str(option.name) in chapters:
            yield f".SS {escaped(chapters[str(option.name)])}"
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        yield from _tagged(*record) if record else ()


def _description(command: click.Command) -> Iterator[str]:
    for number, (verbatim, lines) in enumerate(paragraphs(command)):
        if number:
            yield ".PP"
        if verbatim:
            yield from (".RS 4", ".nf", *map(escaped, lines), ".fi", ".RE")
        else:
            yield escaped(" ".join(lines))


def _tagged(tag: str, text: str) -> Iterator[str]:
    choices = escaped(tag).replace("|", "|\\:")  # allows a line break in a long list
    yield from (".TP", f"\\fB{choices}\\fR", escaped(" ".join(text.split())))


def escaped(text: str) -> str:
    """Return text without roff requests and escapes, and with plain hyphens that can be searched for."""
    safe = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", safe, flags=re.MULTILINE)
