"""`mpigauge completion`: the script that makes a shell complete mpigauge's words."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MPIGAUGE_COMPLETE"
"""By which click's scripts ask the program; its name is computed from that of the program."""


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
    script = get_completion_class(shell)
    assert script is not None  # noqa: S101 - click has all three
    click.echo(script(context.find_root().command, {}, "mpigauge", VARIABLE).source())
