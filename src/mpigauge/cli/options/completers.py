"""Shell completion of option values and arguments; quick, since it runs at every tab.

Names come from the registries. Files are those of a suffix, where there are such; else the shell's own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

    from mpigauge.plan.shipped import ShippedKind


def _starting(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _last(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Complete the last word of a comma-separated list, without those that it has already."""
    before, comma, last = incomplete.rpartition(",")
    present = before.split(",")
    return [
        CompletionItem(before + comma + name)
        for name in names
        if name.startswith(last) and name not in present
    ]


def patterns(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete patterns that are not there yet."""
    from mpigauge.plan import names

    present = [word for value in context.params.values() if isinstance(value, tuple) for word in value]
    return _starting([name for name in names.patterns() if name not in present], incomplete)


def modes(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete modes of any pattern."""
    from mpigauge.plan import names

    return _last([*names.modes(), "all"], incomplete)


def compared(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete factors for --by; names of variables would need the result."""
    from mpigauge.plan.factors import COMPARED_BY

    return _starting(COMPARED_BY, incomplete)


def datatypes(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete datatypes of reductions."""
    from mpigauge.plan import names

    return _last([*names.datatypes(), "all"], incomplete)


def operations(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete operations of reductions."""
    from mpigauge.plan import names

    return _last([*names.operations(), "all"], incomplete)


def roots(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete `rotating`, the only root that is not a rank."""
    from mpigauge.vocabulary import ROTATING

    return _last([ROTATING], incomplete)


def placements(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete rules of placement."""
    from mpigauge.vocabulary import DIFFERENT_HOSTS, SAME_HOST

    return _starting([SAME_HOST, DIFFERENT_HOSTS], incomplete)


def libraries(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete kinds of libraries, those that `mpi add` has added, and files for prefixes and compilers."""
    from mpigauge.mpi.install.prefixes import managed
    from mpigauge.mpi.kinds import KINDS

    if "/" in incomplete:
        return [CompletionItem(incomplete, type="file")]
    return _starting([*(kind.name for kind in KINDS), *(library.label for library in managed())], incomplete)


def added(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete libraries that `mpi add` has added."""
    from mpigauge.mpi.install.prefixes import managed

    return _starting([library.label for library in managed()], incomplete)


def kinds(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete kinds of libraries that can be added."""
    from mpigauge.mpi.kinds import WELL_KNOWN

    return _starting([kind.name for kind in WELL_KNOWN], incomplete)


def launchers(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete launchers by name."""
    from mpigauge.campaign.launch.launchers import LAUNCHERS

    return _starting(LAUNCHERS, incomplete)


def columns(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete extra columns."""
    from mpigauge.show.columns import EXTRA_COLUMNS

    return _last([*EXTRA_COLUMNS, "all"], incomplete)


def unit_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete units of rates and times."""
    from mpigauge import units

    return _starting([*units.RATE_UNITS, *units.TIME_CHOICES[1:]], incomplete)


def syncs(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ways of starting together."""
    from mpigauge.vocabulary import SYNCS

    return _last(SYNCS, incomplete)


def rma_windows(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ways of making a window."""
    from mpigauge.vocabulary import RMA_WINDOWS

    return _last([*RMA_WINDOWS, "all"], incomplete)


def groups(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete rules for groups of ranks."""
    from mpigauge.plan.groups import HOST

    return _starting([HOST, "mod:"], incomplete)


def orders(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete orders of ranks."""
    from mpigauge.plan.groups import INTERLEAVED
    from mpigauge.vocabulary import NATURAL

    return _last([NATURAL, INTERLEAVED, "random:"], incomplete)


def results(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete result files."""
    return _files((".jsonl", ".jsonl.gz"), incomplete)


def shipped_files(kind: ShippedKind, incomplete: str) -> list[CompletionItem]:
    """Complete names of what mpigauge brings of a kind, and files of its ending in the folder."""
    from mpigauge.plan import shipped

    words = [*shipped.files(kind), *([shipped.ALL] if kind.all_at_once else [])]
    names = _starting(words, incomplete)
    files = _files((kind.ending,), incomplete)
    return [*names, *(item for item in files if item.type != "file" or not names)]


def _files(suffixes: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    """Complete files with these suffixes; without any, leave it to the shell, which offers folders, too."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        files = sorted(path.name for path in Path(folder + slash or ".").iterdir() if path.is_file())
    except OSError:
        files = []
    names = [name for name in files if name.startswith(start) and name.endswith(suffixes)]
    # Names that need quoting are left to the shell.
    if not names or any(not name.isprintable() or " " in name for name in names):
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(folder + slash + name) for name in names]
