"""--rename, which figures and tables of several results have."""

import click

rename_option = click.option(
    "--rename",
    "renames",
    multiple=True,
    metavar="OLD=NEW",
    help="Call a placement otherwise, so that results align; repeatable.",
)
