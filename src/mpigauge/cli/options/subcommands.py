"""Groups of subcommands, such as those of `mpi` and `import`."""

from __future__ import annotations

import click

from mpigauge.errors import UsageError, choose_from


class Subcommands(click.Group):
    """Tells one that there is not with those that there are."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As of click, with a hint."""
        names = self.list_commands(ctx)
        known = not args or args[0] in names or args[0].startswith("-")
        if not known and not ctx.resilient_parsing:
            raise UsageError(f"{ctx.info_name} has no command {args[0]!r}", choose_from(names, args[0]))
        return super().resolve_command(ctx, args)
