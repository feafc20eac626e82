"""The command line: options in, one call, print, exit status. The only place that prints or exits.

COMMANDS is the one list of verbs; a verb's module is imported when it is used, so that `--help` is
quick.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING

import click

from mpigauge import __version__
from mpigauge.errors import EXIT_DONE, EXIT_SIGNAL_BASE, EXIT_USAGE, MpigaugeError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "doctor": "What is here, what would disturb a measurement, and the remedy.",
    "list": "Patterns, launchers, MPI libraries, table formats, kinds of figures and tables.",
    "run": "Measure; writes the result file as it goes, and prints the table.",
    "resume": "Continue a result file that was cut short.",
    "show": "Tables of result files: curves, latencies, rates, summaries.",
    "plot": "A figure of result files: PNG, SVG or PDF.",
    "map": "All pairs of hosts or ranks: slow links and hosts named.",
    "mpi": "Add, list and remove MPI libraries in any version, without root.",
    "lab": "Emulated hosts on this machine, for one command.",
    "sbatch": "A Slurm script for a campaign; never submits it.",
    "kernel": "The measuring program: path, build, describe, plan.",
    "import": "Make a result file of what another launcher has measured.",
    "completion": "The script that makes bash, zsh or fish complete these words.",
}

MODULES = {"list": "listing", "import": "importing"}
"""Of verbs whose name a module cannot or should not have."""

SIGINT = 2


class Verbs(click.Group):
    """Finds a verb's command in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports the module of a verb."""
        if cmd_name not in COMMANDS:
            return None
        module = MODULES.get(cmd_name, cmd_name)
        command: click.Command = importlib.import_module(f"mpigauge.cli.{module}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Without importing a single one of them."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(name, help=about) for name, about in COMMANDS.items()]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(verb for verb in verbs if verb.value.startswith(incomplete)), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Without importing a single one of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Names the verbs where an unknown one was given."""
        known = not args or args[0] in COMMANDS or args[0].startswith("-")
        if not known and not ctx.resilient_parsing:
            raise click.UsageError(f"there is no command {args[0]!r}: choose from {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="mpigauge")
def mpigauge() -> None:
    """What MPI communication costs here, how sure that is, and whether it is as it should be.

    \b
    mpigauge run
    mpigauge run pingpong --sizes 8,1KiB,1MiB -o first.jsonl
    mpigauge show first.jsonl
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits; no user's mistake shows a traceback."""
    _print_whatever_there_is()
    sys.exit(status_of(arguments))


def _print_whatever_there_is() -> None:
    """Signs that the encoding of a stream lacks get a plain one: "us" where there is no micro sign."""
    import codecs

    from mpigauge.show.ascii import replaced

    codecs.register_error("mpigauge", replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="mpigauge")


def status_of(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    status: object = EXIT_DONE
    try:
        given = sys.argv[1:] if arguments is None else arguments
        status = mpigauge.main(given, prog_name="mpigauge", standalone_mode=False, obj=tuple(given))
        sys.stdout.flush()
    except MpigaugeError as error:
        return complain(error.sentence, error.hint, error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return EXIT_USAGE
    except click.ClickException as error:
        return complain(error.format_message().rstrip("."), _help_hint(error), EXIT_USAGE)
    except click.Abort:
        return EXIT_SIGNAL_BASE + SIGINT
    except (BrokenPipeError, SystemExit):
        # Whoever read us has had enough (not in standalone mode, click exits for nothing else); say
        # nothing, not even when Python closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    return status if isinstance(status, int) else EXIT_DONE


def complain(sentence: str, hint: str, status: int) -> int:
    """Says what happened and what to do; returns the status."""
    click.echo(f"mpigauge: {sentence}", err=True)
    if hint:
        click.echo(f"  hint: {hint}", err=True)
    return status


def _help_hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"see {context.command_path} --help" if context is not None else "see mpigauge --help"
