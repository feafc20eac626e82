"""Value of --plan and --array: the path of a plan file, or the name of a built-in plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.screen.streams import note
from mpigauge.plan import shipped

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class PlanPath(click.ParamType[Path]):
    """Type of an option whose value becomes a path, with completion of names and files."""

    name = "plan"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; note where a file here has the name of a built-in plan and is not used."""
        if isinstance(value, Path) or (ctx is not None and ctx.resilient_parsing):
            return Path(value)
        path = shipped.plan_path(value)
        if path != Path(value) and Path(value).exists():
            note(f"mpigauge: {value} is the plan that mpigauge brings; the file is ./{value}")
        return path

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete names of built-in plans, and plan files."""
        return completers.plans(ctx, param, incomplete)


PLAN_PATH = PlanPath()
