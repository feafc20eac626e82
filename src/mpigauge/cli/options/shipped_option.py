"""Values of --plan, --array, --claims and --columns: a file, or the name of one that mpigauge brings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.screen.streams import note
from mpigauge.plan import shipped

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class ShippedPath(click.ParamType[Path]):
    """Type of an option whose value becomes a path, with completion of names and files.

    Args:
        kind: Kind of the files whose names it takes.
    """

    def __init__(self, kind: shipped.ShippedKind) -> None:
        self.name = kind.noun
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path; note where a file here has the name of a shipped one and is not used."""
        if isinstance(value, Path) or (ctx is not None and ctx.resilient_parsing):
            return Path(value)
        path = shipped.path_of(value, self._kind)
        if path != Path(value) and Path(value).exists():
            note(f"mpigauge: {value} is the {self.name} that mpigauge brings; the file is ./{value}")
        return path

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete names of shipped files, and files of that ending."""
        return completers.shipped_files(self._kind, incomplete)


PLAN_PATH, CLAIMS_PATH, COLUMNS_PATH = map(ShippedPath, (shipped.PLANS, shipped.CLAIMS, shipped.PRINTED))
