"""Groups of subcommands, such as those of `mpi` and `import`."""

from __future__ import annotations

import click

from mpigauge.errors import UsageError, choose_from


class Subcommands(click.Group):
    """Group whose error for an unknown subcommand lists all."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a subcommand as click does, with a hint."""
        names = self.list_commands(ctx)
        known = not args or args[0] in names or args[0].startswith("-")
        if not known and not ctx.resilient_parsing:
            raise UsageError(f"{ctx.info_name} has no command {args[0]!r}", choose_from(names, args[0]))
        return super().resolve_command(ctx, args)
