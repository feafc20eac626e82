"""What options of `mpigauge run` are laid over: a file or a suite, with the patterns of the user's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli import aliases
from mpigauge.errors import UsageError, choose_from

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.cli.aliases import Meaning
    from mpigauge.plan.plan_file import Options, PlanFile
    from mpigauge.vocabulary import SuiteName


def check_source(plan_path: Path | None, suite: SuiteName | None, *, quick: bool, thorough: bool) -> None:
    """That a plan comes from one place.

    Raises:
        UsageError: It is to come from two.
    """
    named = {"--plan": plan_path, "--suite": suite, "--quick": quick, "--thorough": thorough}
    said = [name for name, value in named.items() if value]
    if "--plan" in said and suite is None:
        said.remove("--plan")  # what is quick or thorough of it is its time
    if len(said) > 1:
        raise UsageError(f"{said[0]} and {said[1]} exclude each other", "use one of them")


def _suite(name: SuiteName) -> PlanFile:
    from mpigauge.plan import suites

    return suites.NAMED[name]()


def meanings_of(given: Sequence[str]) -> list[Meaning]:
    """The patterns of these words; says what an alias means if that is not plain from its name."""
    if not given:
        return []
    from mpigauge.plan import names

    patterns, found = names.patterns(), {}
    for word in given:
        meaning = aliases.meaning_of(word, patterns)
        if meaning is None:
            hint = aliases.hint_for(word, patterns) or choose_from(patterns)
            raise UsageError(f"no pattern is called {word!r}", hint)
        if meaning not in found and (remark := aliases.remark(word, meaning)):
            click.echo(f"mpigauge: {remark}", err=True)
        found[meaning] = word
    return list(found)


def source_of(
    plan_path: Path | None, options: Options, suite: SuiteName | None, *, quick: bool, thorough: bool
) -> PlanFile:
    """A plan file, or one of the suites."""
    if suite is not None:
        return _suite(suite)
    file = _file(plan_path, options, quick=quick, thorough=thorough)
    return _until_decided(file) if options.until == "decided" and plan_path is None else file


def _until_decided(file: PlanFile) -> PlanFile:
    """The time of a suite is for intervals; a comparison takes what it takes."""
    from msgspec.structs import replace

    return replace(file, budget=None)


def _file(plan_path: Path | None, options: Options, *, quick: bool, thorough: bool) -> PlanFile:
    from msgspec.structs import replace

    from mpigauge.plan import plan_file, suites

    suite = suites.QUICK if quick else suites.THOROUGH if thorough else suites.DEFAULT
    if plan_path is None:
        names = options.patterns
        return replace(suite, title=", ".join(names), measure=(), samples=None) if names else suite
    file = plan_file.read_file(plan_path)
    _check_names(file, str(plan_path))
    if quick or thorough:
        return replace(file, budget=suite.budget, precision=suite.precision, launches=None)
    return file


def _check_names(file: PlanFile, where: str) -> None:
    """A plan is a document, so it takes the names of patterns and nothing that stands for them."""
    from mpigauge.plan import names

    patterns = names.patterns()
    for measure in file.measure:
        meaning = aliases.meaning_of(measure.pattern, patterns)
        if meaning is not None and meaning.pattern != measure.pattern:
            mode = f', modes = ["{meaning.mode}"]' if meaning.mode else ""
            raise UsageError(
                f"{where}: no pattern is called {measure.pattern!r}",
                f'a plan file takes exact names only: pattern = "{meaning.pattern}"{mode}',
            )


def chosen(file: PlanFile, meanings: Sequence[Meaning]) -> PlanFile:
    """The plan with the patterns asked for alone, in the modes that their aliases imply."""
    from msgspec.structs import replace

    from mpigauge.plan.model import Measure

    chosen: list[Measure] = []
    for pattern, mode, _ in meanings:
        tables = [one for one in file.measure if one.pattern == pattern] or [Measure(pattern)]
        chosen += [replace(one, modes=(mode,)) for one in tables] if mode else tables
    return replace(file, measure=tuple(chosen)) if chosen else file
