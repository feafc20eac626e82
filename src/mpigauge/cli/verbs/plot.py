"""`mpigauge plot`: figures of one or several result files."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from mpigauge.ask import Request
from mpigauge.cli.options.common import (
    comparison_options,
    results_argument,
    stat_option,
    unit_option,
    units_of,
)
from mpigauge.cli.options.option_groups import Chapters
from mpigauge.cli.options.selection import load, rename_option, selection_options
from mpigauge.cli.screen.doing import doing
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError
from mpigauge.result.files import named, stem_of
from mpigauge.show.figures import ALIASES, FORMS, KINDS, OVERVIEW, check_place

if TYPE_CHECKING:
    from mpigauge.ask import Selection
    from mpigauge.query.query import Source


COMPARE = "compare"

COMPARE_OPTIONS = ("by", "margin", "allow", "force")
RATE = "rate"
NARROWEST_IN, WIDEST_IN = 2.5, 20.0
MODELLED = ("time", RATE)
"""Kinds of figures that can show a model."""

RATED = (RATE, "modes", "placements")
"""Kinds that can show references for bandwidths."""


OTHER_NAMES = ", ".join(f"{alias} for {kind}" for alias, kind in ALIASES.items())


class KindChoice(click.Choice[str]):
    """Type of --kind: a name of a kind of figure, or a common alias."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name of the kind."""
        return super().convert(ALIASES.get(value, value), param, ctx)


@click.command("plot", cls=Chapters, chapters={"by": f"Of --kind {COMPARE}"})
@results_argument
@click.option(
    "--kind",
    type=KindChoice(list(KINDS)),
    help=f"Kind of figure: mpigauge list plots; also {OTHER_NAMES}.  [default: what was varied chooses]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Figure to write (.png, .svg, .pdf).  [default: RESULT-KIND.png, here]",
)
@click.option("--title", metavar="TEXT", help="Title.  [default: what the series have in common]")
@click.option("--width", metavar="LENGTH", help="Width: 3.3in, 84mm.  [default: 6.4in]")
@click.option("--linear", is_flag=True, help="Linear axes.")
@click.option("--model", is_flag=True, help="Lines and breaks of the model, of --kind time and rate.")
@click.option(
    "--reference",
    default="",
    metavar="LIST",
    help="Lines beside bandwidths: link, tcp, memcpy, or a rate: 100Gbit/s; separated by commas.",
)
@unit_option
@stat_option
@rename_option
@selection_options
@comparison_options
def command(
    results: tuple[Path, ...],
    *,
    kind: str | None,
    output: Path | None,
    title: str | None,
    width: str | None,
    linear: bool,
    model: bool,
    reference: str,
    unit_names: tuple[str, ...],
    stat: str,
    selection: Selection,
    renames: tuple[str, ...],
    by: str | None,
    margin: str,
    allow: str,
    force: bool,
) -> None:
    """Draw a figure of RESULT files, ready for a paper.

    Without RESULT, of the newest in results/. Without --kind, what was varied chooses: modes in several
    places have a panel per place, one operation is drawn against many numbers of ranks, a map of all pairs is
    a heat map; else an overview of the curves, with their ratios below where libraries or modes can be
    compared; of too many curves, the first of one-sided, pairs, parts and compare that can be drawn.

    \b
    mpigauge plot
    mpigauge plot results/node1.jsonl -o time.png
    mpigauge plot results/node1.jsonl --kind rate --linear --sizes 0:2000 -o small.pdf
    mpigauge plot before.jsonl after.jsonl --kind ratio --series pingpong -o ratio.svg
    mpigauge plot before.jsonl after.jsonl --kind rate --series pingpong --rename "same-host=one node"
    mpigauge plot both.jsonl --kind compare --by mpi -o verdict.png
    mpigauge plot results/node1.jsonl --kind time --model -o model.png
    mpigauge plot results/node1.jsonl --kind rate --reference 100Gbit/s -o rate.png
    mpigauge plot results/node1.jsonl --kind time --series pingpong --width 84mm -o column.pdf
    """
    _refuse_compare_options(kind or OVERVIEW)
    _refuse_model(kind or OVERVIEW, model=model)
    _refuse_reference(kind or OVERVIEW, reference)
    paths = named(results)
    if output is not None and output.suffix.lower() not in FORMS:
        raise UsageError(f"-o: {output} is not the name of a figure", f"end it in {', '.join(FORMS)}")
    if output is not None:
        check_place(output)
    units = units_of(unit_names)
    width_in = _width_in(width)

    from mpigauge.query.query import Paper
    from mpigauge.show.compared import check_alike, thresholds_of
    from mpigauge.show.figures import draw
    from mpigauge.show.figures.usual import first_that_can, usual_kinds
    from mpigauge.show.references import check

    references = tuple(filter(None, map(str.strip, reference.split(","))))
    check(references)
    request = Request(
        KINDS[kind or OVERVIEW],
        selection,
        stat,
        renames,
        by=by,
        thresholds=thresholds_of(margin, allow),
        units=units,
    )
    request.check()
    paper = Paper(title or "", width_in, _command())

    @cache
    def sources() -> list[Source]:
        return request.sources(read)

    def drawn(kind: str) -> Path:
        query = replace(request, kind=KINDS[kind]).query_of(sources())
        if kind == COMPARE and not force:
            check_alike(query.sources)
        query = replace(query, linear=linear, model=model, references=references, paper=paper)
        path = output or usual_path(kind)
        begins(f"figure: {path}")
        draw(query, path)
        return path

    def usual_path(kind: str) -> Path:
        return Path(f"{stem_of(paths[0])}-{kind}.png")

    with doing("reads what was measured") as begins:
        read = list(map(load, paths))
        whole = not (selection.series or selection.sizes)
        kinds = (kind,) if kind is not None else usual_kinds(sources(), whole=whole)
        for path in () if output is not None else map(usual_path, kinds):
            check_place(path)
        figure = first_that_can(kinds, drawn)
    note(f"figure: {figure}")


def _width_in(text: str | None) -> float | None:
    """Return a width in inches; None for the usual one.

    Raises:
        UsageError: Figures cannot be so narrow or so wide.
    """
    from mpigauge.units import parse_length_in

    if text is None:
        return None
    width_in = parse_length_in(text)
    if not NARROWEST_IN <= width_in <= WIDEST_IN:
        raise UsageError(f"--width: {text} is out of range", f"use {NARROWEST_IN:g}in to {WIDEST_IN:g}in")
    return width_in


def _command() -> str:
    """Return the command as it was typed, without folders of files, the same for all formats of a figure."""
    from mpigauge.result.home_paths import command_line

    context = click.get_current_context()
    words = list(context.obj or ())
    for name in ("-o", "--output"):
        if name in words[:-1]:
            at = words.index(name)
            del words[at : at + 2]
    without_folders = [Path(word).name if os.path.isfile(word) else word for word in words]  # noqa: PTH113 - long words
    return command_line(["mpigauge", *without_folders])


def _refuse_compare_options(kind: str) -> None:
    """Refuse options of a comparison, which another kind would ignore.

    Raises:
        UsageError: There is such an option.
    """
    context = click.get_current_context()
    refused = [
        name for name in COMPARE_OPTIONS if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if refused and kind != COMPARE:
        raise UsageError(f"--kind {kind} does not take --{refused[0]}", f"leave it out, or --kind {COMPARE}")


def _refuse_model(kind: str, *, model: bool) -> None:
    """Refuse a model on figures without axes for it.

    Raises:
        UsageError: --model was given.
    """
    if model and kind not in MODELLED:
        raise UsageError(f"--kind {kind} does not take --model", f"choose --kind {' or '.join(MODELLED)}")


def _refuse_reference(kind: str, reference: str) -> None:
    """Refuse a reference on figures without rates.

    Raises:
        UsageError: --reference was given with such a kind.
    """
    if reference and kind not in RATED:
        raise UsageError(f"--kind {kind} does not take --reference", f"choose --kind {' or '.join(RATED)}")
