"""`mpigauge completion`: the script that makes a shell complete mpigauge's words."""

import click
from click.shell_completion import ShellComplete, get_completion_class

PLACES = {
    "bash": "share/bash-completion/completions/mpigauge",
    "zsh": "share/zsh/site-functions/_mpigauge",
    "fish": "share/fish/vendor_completions.d/mpigauge.fish",
}
"""Where each shell looks for completion scripts below a prefix such as /usr; wheels install them there."""

SHELLS = tuple(PLACES)
VARIABLE = "_MPIGAUGE_COMPLETE"
"""Environment variable by which click's scripts call the program, computed from the program's name."""


def completion(shell: str, program: click.Command) -> ShellComplete:
    """Return click's completion of a program for a shell."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - click has all three
    return kind(program, {}, "mpigauge", VARIABLE)


def script(shell: str, program: click.Command) -> str:
    """Return the completion script of a shell, whether or not this machine has that shell."""
    return ShellComplete.source(completion(shell, program))


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script with which SHELL completes verbs, options, patterns, columns and files.

    To have it in every new shell, put the output where the shell looks for it. For one shell only, use
    eval "$(mpigauge completion bash)".

    \b
    mpigauge completion bash > ~/.local/share/bash-completion/completions/mpigauge
    mpigauge completion zsh > ~/.zfunc/_mpigauge
    mpigauge completion fish > ~/.config/fish/completions/mpigauge.fish
    """
    click.echo(completion(shell, context.find_root().command).source())
