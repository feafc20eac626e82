"""`mpigauge --version`: the version, and what a bug report must name."""

from __future__ import annotations

import click

from mpigauge import __version__


def version_of(_: click.Context, __: click.Parameter, asked: bool) -> None:
    """Print the version and exit. The first line is the version alone, for programs that read it."""
    if asked:
        click.echo(f"mpigauge, version {__version__}")
        for name, about in _environment():
            click.echo(f"  {name:<10}  {about}")
        raise click.exceptions.Exit


def _environment() -> list[tuple[str, str]]:
    import platform
    from importlib.metadata import version

    from mpigauge.dependencies import packages
    from mpigauge.result import source_tree

    return [
        ("commit", source_tree.commit() or "not known: installed"),
        ("Python", platform.python_version()),
        ("system", platform.platform()),
        *((name, version(name)) for name in packages()),
    ]


version_option = click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=version_of,
    help="Print the versions of mpigauge, Python and libraries.",
)
