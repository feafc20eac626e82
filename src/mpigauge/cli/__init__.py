"""The command line: parse options, call a verb, print, exit. Only this package prints or exits.

COMMANDS is the one list of verbs; a verb's module is imported when it is used, so that `--help` is quick.
To add one: a line in its chapter of COMMANDS, and a module in verbs/ with an example in its help. It imports
no other verb; what several share has a module of its own.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import pwd
import sys
import traceback
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING, TextIO

import click

from mpigauge.cli.options import aliases
from mpigauge.cli.screen.plain_drawing import ignore_matplotlib_settings
from mpigauge.cli.screen.streams import discard_output, logged_as_notes, note, open_closed_streams
from mpigauge.cli.verbs.version import version_option
from mpigauge.dependencies import (
    ONE_THREAD,
    address_space_bytes,
    cannot_import,
    check_address_space,
    foreign_packages,
)
from mpigauge.errors import (
    EXIT_DONE,
    EXIT_ENVIRONMENT,
    EXIT_FAULT,
    EXIT_SIGNAL_BASE,
    EXIT_USAGE,
    MpigaugeError,
    UsageError,
    choose_from,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from click.shell_completion import CompletionItem

    from mpigauge.cli.options.translation import Translation

COMMANDS = {
    "run": "Measure; print the answer, keep the result file.",
    "resume": "Continue a result file that was interrupted.",
    "map": "Measure all pairs of hosts or ranks; name slow links, hosts.",
    "sbatch": "Write a Slurm script for a campaign; nothing is submitted.",
    "show": "Print the answer of a result, or tables with all its numbers.",
    "explain": "Say what follows: what is faster, where, and by how much.",
    "model": "Describe curves by latency and bandwidth, and predict times.",
    "plot": "Draw a figure of result files: PNG, SVG or PDF.",
    "report": "Write one page with everything, to hand over: HTML.",
    "compare": "Say whether one of two is slower; exit status for CI.",
    "check": "Hold results against what you expect; exit status for CI.",
    "history": "Say what changed over time in results of one plan.",
    "doctor": "Check this machine: what is there, what disturbs, what to do.",
    "list": "List patterns, plans, launchers, MPI libraries, tables.",
    "mpi": "Add, list and remove MPI libraries, in any version.",
    "lab": "Run a command on emulated hosts on this machine.",
    "kernel": "Locate, build or query mpigauge-kernel.",
    "import": "Create a result file from another program's output.",
    "completion": "Print a shell completion script.",
}

CHAPTERS = {
    "run": "Measure",
    "show": "Look",
    "compare": "Judge",
    "doctor": "Machine",
    "kernel": "Other programs",
}
"""Headings of the help, by the first verb below each."""

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

MODULES = {"list": "listing", "import": "importing"}
"""Modules of verbs that are not named after the verb."""

SIGINT = 2


class _BeforeNumpy(MetaPathFinder):
    """Finder that checks once, before numpy is imported, whether there is memory for it."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Check when it is numpy; leave the search to others."""
        if fullname == "numpy" and self in sys.meta_path:
            sys.meta_path.remove(self)
            check_address_space()


class Verbs(click.Group):
    """Group that finds a verb's command in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which a user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a verb."""
        if cmd_name not in COMMANDS:
            return None
        module = MODULES.get(cmd_name, cmd_name)
        command: click.Command = importlib.import_module(f"mpigauge.cli.verbs.{module}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete verbs without importing them."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name, help=about) for name, about in COMMANDS.items()]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(verb for verb in verbs if verb.value.startswith(incomplete)), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs in chapters without importing them."""
        chapters: dict[str, list[tuple[str, str]]] = {}
        heading, width = "", max(len(name) for name in COMMANDS)
        for name, about in COMMANDS.items():
            heading = CHAPTERS.get(name, heading)
            chapters.setdefault(heading, []).append((name.ljust(width), about))
        for heading, verbs in chapters.items():
            with formatter.section(heading):
                formatter.write_dl(verbs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept options that are written as verbs: `help`, `help run`, `version`."""
        option = aliases.VERBS.get(args[0]) if args else None
        return super().parse_args(ctx, [*args[1:2], option] if option else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb; suggest the one that an unknown verb may stand for."""
        known = not args or args[0] in COMMANDS or args[0].startswith("-")
        if not known and not ctx.resilient_parsing:
            raise UsageError(f"there is no command {args[0]!r}", _instead_of(args))
        return super().resolve_command(ctx, args)


def _instead_of(words: Sequence[str]) -> str:
    """Return the suggestion for an unknown verb, with the words behind it."""
    from pathlib import PurePath

    from mpigauge.plan import names
    from mpigauge.result.files import as_command

    verb, runs = words[0], aliases.SAME_AS_VERBS.get(words[0].lower()) == "run"
    if aliases.meaning_of(PurePath(verb).name, names.patterns()) is not None:
        line = _translated(words)
        return f"that is a pattern: {line.hint if line else as_command(['mpigauge', 'run', *words])}"
    runs = runs or verb in aliases.LAUNCHERS or aliases.names_suite(verb)
    if runs and len(words) > 1 and (line := _translated(words[1:])) is not None:
        return line.hint
    known = aliases.SAME_AS_VERBS.get(verb.lower())
    other = f"did you mean {known}?" if known else aliases.plan_or_result_hint(verb)
    return other or choose_from(COMMANDS, verb, listed_by="mpigauge --help")


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@version_option
def mpigauge() -> None:
    """Measure MPI latency, bandwidth and collectives, with confidence intervals.

    \b
    mpigauge run
    mpigauge run pingpong --sizes 8,1KiB,1MiB -o first.jsonl
    mpigauge show --all first.jsonl
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; no user's mistake shows a traceback."""
    open_closed_streams()
    ignore_matplotlib_settings()
    _replace_unencodable()
    _limit_blas_threads()
    sys.meta_path.insert(0, _BeforeNumpy())
    _set_missing_home()
    _keep_own_rights()
    try:
        status = status_of(arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is, the status must say so
        status = _print_unexpected(error)
    sys.exit(status)


def _set_missing_home() -> None:
    """Set HOME if it is missing: compilers and launchers of MPI libraries do not start without it.

    It becomes the user's home folder, or / for a user that the system does not know, as in containers.
    """
    if not os.environ.get("HOME"):
        try:
            os.environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir or "/"
        except KeyError:
            os.environ["HOME"] = "/"


def _keep_own_rights() -> None:
    """Leave to the user what a umask such as 0777 takes: no launcher works in folders that it cannot read."""
    os.umask(os.umask(0o077) & 0o077)


def _limit_blas_threads() -> None:
    """Keep numpy's BLAS from starting threads, which fails under limits of memory or processes.

    Nothing here needs them. Programs that are given `os.environ` do not have the setting.
    """
    for name, threads in ONE_THREAD.items():
        if name not in os.environ:
            os.putenv(name, threads)


def _print_unexpected(error: Exception) -> int:
    """Print the cause of an unexpected error (broken package, no memory, bug); return the exit status."""
    if (known := cannot_import(error)) is not None:
        return print_error(known.sentence, known.hint, known.exit_code)
    if isinstance(error, MemoryError):
        notes = getattr(error, "__notes__", ())
        limit = address_space_bytes()
        least = "" if limit is None else f": {limit >> 20} MiB of address space (ulimit -v)"
        return print_error(
            f"there is not enough memory{least}", "raise ulimit -v, or ask for more", EXIT_ENVIRONMENT, notes
        )
    note("".join(traceback.format_exception(error)).rstrip())
    foreign = [f"{path}, by PYTHONPATH" for path in foreign_packages().values()]
    return print_error(
        f"this is a fault of mpigauge{f', or of {foreign[0]}' if foreign else ''}",
        "unset PYTHONPATH" if foreign else "please report it, with these lines and mpigauge --version",
        EXIT_FAULT,
    )


def _replace_unencodable() -> None:
    """Replace characters that a stream cannot encode by plain ones: "us" where there is no micro sign."""
    import codecs

    from mpigauge.document.plain_signs import replaced

    codecs.register_error("mpigauge", replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="mpigauge")


def status_of(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    stdout = sys.stdout
    try:
        words = sys.argv[1:] if arguments is None else arguments
        with logged_as_notes():
            status = mpigauge.main(words, prog_name="mpigauge", standalone_mode=False, obj=tuple(words))
        sys.stdout.flush()
    except MpigaugeError as error:
        return print_error(error.sentence, error.hint, error.exit_code, getattr(error, "__notes__", ()))
    except click.exceptions.NoArgsIsHelpError as error:
        note(error.format_message())
        return EXIT_USAGE
    except click.ClickException as error:
        return print_error(*_click_error(error, words), EXIT_USAGE)
    except click.Abort:
        return EXIT_SIGNAL_BASE + SIGINT
    except (OSError, SystemExit) as error:
        return _status_without_output(error, stdout)
    return status if isinstance(status, int) else EXIT_DONE


def _status_without_output(error: OSError | SystemExit, stdout: TextIO) -> int:
    """Return the exit status where standard output cannot be written, or after a completion; else raise.

    The reader of a pipe may have left: click turns that into an exit with 1 and another sys.stdout.
    """
    if isinstance(error, FileNotFoundError) and error.filename is None and _is_in_removed_folder():
        return print_error(
            "the current folder has been removed, and names of files are relative to it",
            "go to one that is there: cd",
            EXIT_ENVIRONMENT,
        )
    full = isinstance(error, OSError) and error.filename is None and error.errno in NO_SPACE
    left = isinstance(error, BrokenPipeError) or sys.stdout is not stdout
    if not (full or left or (isinstance(error, SystemExit) and not error.code)):
        raise error
    discard_output(sys.stdout)
    if isinstance(error, OSError) and full:
        return print_error(
            f"standard output: cannot be written: {error.strerror}", "free some space", EXIT_ENVIRONMENT
        )
    return EXIT_DONE


def _is_in_removed_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - nothing else is known of it
    except FileNotFoundError:
        return True
    return False


def print_error(sentence: str, hint: str, status: int, notes: Sequence[str] = ()) -> int:
    """Print an error with its hint and its possible causes; return the exit status."""
    note(f"mpigauge: {sentence}")
    if hint:
        note(f"  hint: {hint}")
    for more in notes:
        note(f"  here: {more}")
    return status


def _click_error(error: click.ClickException, arguments: Sequence[str]) -> tuple[str, str]:
    """Return the sentence and hint for an error of click."""
    if isinstance(error, click.NoSuchOption):
        return f"there is no option {error.option_name}", _option_hint(error, arguments)
    hint = _value_hint(error) if isinstance(error, click.BadParameter) else ""
    return " ".join(error.format_message().split()).rstrip("."), hint or _help_hint(error, arguments)


def _value_hint(error: click.BadParameter) -> str:
    from mpigauge.cli.options import foreign_values

    return foreign_values.hint_of(error)


def _help_hint(error: click.ClickException, arguments: Sequence[str]) -> str:
    """Return which help to read; click does not say in which verb an option lacks its value."""
    context = getattr(error, "ctx", None)
    verb = f" {arguments[0]}" if arguments and arguments[0] in COMMANDS else ""
    return f"see {context.command_path if context is not None else f'mpigauge{verb}'} --help"


def _option_hint(error: click.NoSuchOption, arguments: Sequence[str]) -> str:
    """Return the suggestion for an unknown option: by its meaning, a near miss, or a file of this name."""
    files = [word for word in arguments if word.startswith(error.option_name) and os.path.lexists(word)]
    if files:
        from pathlib import Path

        from mpigauge.result.files import as_argument

        return f"write {as_argument(Path(files[0]))} for the file of this name"
    if error.ctx is not None and isinstance(error.ctx.command, Verbs):
        return _hint_of_verb(error.option_name, arguments)
    options = _options_of(error.ctx.command) if error.ctx else []
    other = aliases.option_hint(error.option_name, arguments, options)
    if other and arguments[0] == "run" and (line := _translated(arguments[1:])) and line.foreign > 1:
        return line.hint
    elsewhere = _verb_with(error.option_name)
    return (
        other
        or (f"mpigauge {elsewhere} has {error.option_name}" if elsewhere else "")
        or _similar_option(error.option_name, options)
        or _help_hint(error, arguments)
    )


def _translated(words: Sequence[str]) -> Translation | None:
    """Return words of another program as a command line of run; None if that is impossible."""
    from mpigauge.cli.options.translation import translated

    run = mpigauge.get_command(click.Context(mpigauge), "run")
    return None if run is None else translated(words, run.params)


def _options_of(command: click.Command) -> list[str]:
    """Return the options of a verb, including those that it passes on to run."""
    from mpigauge.cli.options.run_options import CommandWithRunOptions

    context = click.Context(command)
    more = mpigauge.get_command(context, "run") if isinstance(command, CommandWithRunOptions) else None
    options = [
        parameter for command_ in (command, *([more] if more else [])) for parameter in command_.params
    ]
    return [name for parameter in options for name in (*parameter.opts, *getattr(parameter, "aliases", ()))]


def _verb_with(option: str, verbs: Iterable[str] = COMMANDS) -> str:
    """Return the first of these verbs that has an option; empty if none has."""
    commands = ((verb, mpigauge.get_command(click.Context(mpigauge), verb)) for verb in verbs)
    return next((verb for verb, command in commands if command and option in _options_of(command)), "")


def _similar_option(option: str, options: Sequence[str]) -> str:
    """Return the hint for a mistyped option; a prefix that both share does not count as similarity."""
    names = [name.removeprefix("--") for name in options if name.startswith("--")]
    word = option.lstrip("-")
    begun = [name for name in names if len(word) > 1 and name.startswith(word)]
    near = begun[0] if len(begun) == 1 else nearest(word, names)
    return f"did you mean --{near}?" if near else ""


def _hint_of_verb(option: str, arguments: Sequence[str]) -> str:
    """Return the suggestion for an option without a verb: the first verb that has it."""
    named = [word for word in arguments if word in COMMANDS][:1]
    if verb := _verb_with(option, named or COMMANDS):
        from mpigauge.result.files import as_command

        words = [word for word in arguments if word not in named]
        return f"options follow a command: {as_command(['mpigauge', verb, *words])}"
    run = mpigauge.get_command(click.Context(mpigauge), "run")
    options = _options_of(run) if run else []
    return (
        aliases.option_hint(option, arguments, options)
        or _similar_option(option, options)
        or "see mpigauge --help"
    )
