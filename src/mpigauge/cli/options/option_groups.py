"""Help of a verb with many options, in chapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


class Chapters(click.Command):
    """Command whose help lists its options in chapters.

    Args:
        chapters: Headings, by the first parameter below each.
    """

    def __init__(self, *args: Any, chapters: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.chapters = chapters

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in the order of the parameters."""
        heading = "Options"
        records: dict[str, list[tuple[str, str]]] = {}
        options = [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]
        for option in options:
            heading = self.chapters.get(str(option.name), heading)
            if (record := option.get_help_record(ctx)) is not None:
                records.setdefault(heading, []).append(record)
        for heading, lines in records.items():
            with formatter.section(heading):
                formatter.write_dl(lines)
