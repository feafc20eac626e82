"""`mpigauge map`: all pairs of hosts or ranks, and which links and hosts are slow."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import format_option, spelling_in_run, units_of, words
from mpigauge.cli.options.map_options import (
    FOUND,
    PAIR,
    WHERE,
    check_showing,
    measuring_options,
    plan_of_map,
    showing_options,
)
from mpigauge.cli.options.selection import load
from mpigauge.cli.screen.streams import clean, note, print_unless_closed
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED, UsageError
from mpigauge.show.formats import MAP_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.campaign.measuring import SessionEnd
    from mpigauge.cli.screen.live import Shown
    from mpigauge.document.document import Document, Units
    from mpigauge.find.map_before import MapChanges
    from mpigauge.linkmap.linkmap import LinkMap
    from mpigauge.linkmap.verdict import MeasuredLink
    from mpigauge.plan.model import Plan
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import OnlyChoice, StateName


@click.command("map")
@click.argument("result", required=False, type=click.Path(path_type=Path), shell_complete=completers.results)
@measuring_options
@showing_options
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Result file (.jsonl).")
@click.option("--dry-run", is_flag=True, help="Print the commands without running them.")
@click.option("-q", "--quiet", is_flag=True, help="No progress; of the text, only the verdict.")
@format_option(MAP_FORMATS)
def command(
    result: Path | None,
    *,
    mpi: str | None,
    transport: str | None,
    factor: float,
    error_rate: str,
    pairs: tuple[str, ...],
    state: StateName | None,
    only: OnlyChoice | None,
    unit_names: tuple[str, ...],
    figure: Path | None,
    before: tuple[str, ...],
    keep_baseline: bool,
    output: Path | None,
    dry_run: bool,
    quiet: bool,
    form: str,
    **measuring: Any,
) -> int:
    """Measure all pairs of hosts or ranks, or show the map of a RESULT, and name what is slow.

    Latency and bandwidth of every pair, as many pairs at a time as possible. The exit status is 1 if
    something is slow, 0 if nothing is, and 5 if that cannot be decided.

    Earlier maps of the same plan in results/, and kept ones, are found by themselves: what takes longer than
    in these is named, and the status is 1. With --before it is 5 if that cannot be decided, as with fewer
    than three of them, and 0 if all is as before, also where nothing can be told from this map alone. It
    takes the files of earlier maps, too, wherever they are.

    \b
    mpigauge map --hosts node[1-16]
    mpigauge map --np 4
    mpigauge map --np 8 --serial --figure map.png
    mpigauge map results/cluster.jsonl
    mpigauge map --before
    mpigauge map --hosts h1,h2,h3,h4 --before results/cluster.jsonl
    mpigauge map results/cluster.jsonl --pair h1,h2 --pair h1,h4
    mpigauge map -q -o prolog.jsonl
    """
    from mpigauge import units
    from mpigauge.ask import check_maps
    from mpigauge.cli.screen.tables import rendered
    from mpigauge.cli.sessions.session import check_saved
    from mpigauge.cli.sessions.session import keep_baseline as keep
    from mpigauge.find.map_before import with_changes
    from mpigauge.find.maps import progress, with_doubts
    from mpigauge.linkmap.linkmap import link_map
    from mpigauge.result.files import as_argument
    from mpigauge.rows.machine.steadiness import only_quiet

    rate = units.parse_fraction(error_rate)
    printed_in = units_of(unit_names)
    check_showing(factor, error_rate, figure, pairs)
    check_maps(_named(before))
    chosen: dict[str, Any] = {}
    done = None
    if result is None:
        plan = plan_of_map(mpi=mpi, transport=transport, **measuring)
        so_far = partial(progress, factor=factor, error_rate=rate, chosen=printed_in)
        measured = _measure(plan, output, so_far, dry_run=dry_run, quiet=quiet)
        if isinstance(measured, int):
            return measured
        done, loaded = measured, measured.result
    else:
        _refuse_to_measure(measuring, output, dry_run=dry_run)
        chosen = {"mpi": mpi or "", "transport": transport or "", "state": state}
        loaded = load(result)
    path = done.path if done is not None else loaded.path
    read = _quiet_alone if only == "quiet" else load
    loaded = only_quiet(loaded) if only == "quiet" else loaded
    shown = link_map(loaded, factor=factor, error_rate=rate, **chosen)
    if figure is not None:
        from mpigauge.document.origin_words import measured_on
        from mpigauge.show.figures.map import draw

        draw(shown, figure, measured_on(loaded))
    changes, refused = (None, None) if pairs else _changes(loaded, shown, read, before, state)
    document = _document(shown, pairs, printed_in, quiet=quiet)
    said = bool(before) or not quiet or _is_slower(changes)
    document = with_changes(document, shown, changes, as_argument(path), said=said, brief=quiet)
    document = document if quiet else with_doubts(document, loaded, shown)
    print_unless_closed(rendered(document, form), nl=False)
    if done is not None:
        check_saved(done)
    if keep_baseline:
        keep(path, loaded.campaign, quiet=quiet)
    if refused is not None:
        raise refused
    return _status(shown, changes, asked=bool(before))


def _named(before: Sequence[str]) -> list[Path]:
    """Return the files that --before names; none if it is to find them."""
    return [Path(path) for path in before if path != FOUND]


def _changes(
    result: Result,
    shown: LinkMap,
    read: Callable[[Path], Result],
    before: Sequence[str],
    state: StateName | None,
) -> tuple[MapChanges | None, UsageError | None]:
    """Return what changed since the earlier maps, or why that cannot be told, for when the map is printed."""
    from mpigauge.ask import map_changes

    try:
        asked, named = bool(before), _named(before)
        return map_changes(result, shown, read, note, state=state, asked=asked, named=named), None
    except UsageError as error:
        return None, error


def _quiet_alone(path: Path) -> Result:
    from mpigauge.rows.machine.steadiness import only_quiet

    return only_quiet(load(path))


def _is_slower(changes: MapChanges | None) -> bool:
    return changes is not None and changes.slower


def _document(shown: LinkMap, pairs: tuple[str, ...], chosen: Units, *, quiet: bool) -> Document:
    from mpigauge.linkmap import table as linkmap_table

    links = [_link(shown, pair) for pair in pairs]
    if links:
        return replace(linkmap_table.beside(links), units=chosen)
    return linkmap_table.document(shown, quiet=quiet, chosen=chosen)


def _status(shown: LinkMap, changes: MapChanges | None, *, asked: bool) -> int:
    """Return the exit status, for prolog scripts.

    Args:
        asked: Whether the earlier maps were asked for: then what they leave open is undecided, and what they
            decide is not.
    """
    statuses = {"none": EXIT_DONE, "undecided": EXIT_UNDECIDED}
    own = statuses.get(shown.verdict.word, EXIT_CHECK_FAILED)
    if own == EXIT_CHECK_FAILED or changes is None:
        return own
    if changes.slower:
        return EXIT_CHECK_FAILED
    if asked:
        return EXIT_UNDECIDED if changes.undecided else EXIT_DONE
    return own


def _link(shown: LinkMap, pair: str) -> MeasuredLink:
    """Return the link between a pair such as "h1,h4"."""
    names = words(pair)
    for name in names:
        if name not in shown.names:
            raise UsageError(
                f"--pair: {name!r} is not in the map",
                f"choose two of {', '.join(dict.fromkeys(shown.names))}",
            )
    for link in shown.links:
        if set(link.names) == set(names):
            return link
    raise UsageError(f"--pair: {pair!r} was not measured", "choose another pair of the map")


# ---- Measuring -----------------------------------------------------------------------------------


def _measure(
    plan: Plan, output: Path | None, so_far: Shown, *, dry_run: bool, quiet: bool
) -> SessionEnd | int:
    """Measure the map; return how it ended, or the exit status of a dry run or after a signal.

    Args:
        so_far: Returns what a terminal shows of the links so far.
    """
    from mpigauge.campaign.prepare import prepare
    from mpigauge.cli.sessions.dry_run import dry_run_text
    from mpigauge.cli.sessions.session import measured_or_stopped, waiting_for_kernel
    from mpigauge.result.writer import check_free

    if output is not None:
        check_free(output)
    session = prepare(plan, WHERE, waited=waiting_for_kernel(quiet=quiet))
    if dry_run:
        if plan.ranks == (PAIR,):
            print_unless_closed(
                "mpigauge: of two, neither can be called slow: the verdict needs three or more", err=True
            )
        click.echo(clean(dry_run_text(session)), nl=False)
        return EXIT_DONE
    return measured_or_stopped(session, output, quiet=quiet, says_where=not quiet, so_far=so_far)


def _refuse_to_measure(options: dict[str, Any], output: Path | None, *, dry_run: bool) -> None:
    """Refuse options for measuring where a result is shown."""
    refused = [name for name, value in {**options, "output": output, "dry_run": dry_run}.items() if value]
    if refused:
        raise UsageError(
            f"{spelling_in_run(refused[0])} is for measuring, but a RESULT is only shown",
            "leave one of them out",
        )
