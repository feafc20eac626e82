"""What options of `mpigauge run` are laid over: a file or a suite, with the patterns of the user's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli.options import aliases, foreign_values
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpigauge.cli.options.aliases import AliasMeaning
    from mpigauge.plan.model import Measure
    from mpigauge.plan.plan_file import Options, PlanFile


def meanings_of(given: Sequence[str], options: Sequence[click.Parameter]) -> list[AliasMeaning]:
    """Return the patterns of these words; say what an alias means if that is not plain from its name.

    Args:
        options: Those of the command, of whose values a word may be one.
    """
    if not given:
        return []
    from mpigauge.plan import names

    patterns, found = names.patterns(), {}
    for word in given:
        meaning = aliases.meaning_of(word, patterns)
        if meaning is None:
            hint = foreign_values.joined(word, _typed(), options, patterns) or aliases.hint_for(
                word, patterns
            )
            raise UsageError(f"no pattern is called {word!r}", hint)
        if meaning not in found and (remark := aliases.remark(word, meaning)):
            note(f"mpigauge: {remark}")
        found[meaning] = word
    return list(found)


def _typed() -> Sequence[str]:
    """Return the command line as it was typed."""
    context = click.get_current_context(silent=True)
    given: Sequence[str] | None = context.find_root().obj if context else None
    return given or ()


def file_of(plan_path: Path | None) -> PlanFile | None:
    """The plan file, if one is named."""
    if plan_path is None:
        return None
    from mpigauge.plan import plan_file

    file = plan_file.read_file(plan_path)
    _check_names(file, str(plan_path))
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


def chosen(file: PlanFile, meanings: Sequence[AliasMeaning]) -> PlanFile:
    """The plan with the patterns asked for alone, in the modes that their aliases imply."""
    from msgspec.structs import replace

    from mpigauge.plan.model import Measure

    chosen: list[Measure] = []
    for pattern, mode in dict.fromkeys((meaning.pattern, meaning.mode) for meaning in meanings):
        tables = [one for one in file.measure if one.pattern == pattern] or [Measure(pattern)]
        chosen += [replace(one, modes=(mode,)) for one in tables] if mode else tables
    return replace(file, measure=tuple(chosen)) if chosen else file


def with_modes(file: PlanFile, asked: Sequence[str]) -> PlanFile:
    """Return the plan with these modes of each pattern, which the names of MPI's functions choose, too.

    A word that does not name a mode of a pattern is left for the error that names it.
    """
    from msgspec.structs import replace

    from mpigauge.plan.patterns import known

    found = [
        {word: mode.name for word in asked if pattern and (mode := pattern.mode_meant(word))}
        for pattern in (known().get(one.pattern) for one in file.measure)
    ]
    if all(len(mine) == len({*asked}) for mine in found):
        for one, mine in zip(file.measure, found, strict=True):
            _say_what_is_meant(one.pattern, mine)
    measured = (
        replace(one, modes=tuple(dict.fromkeys(mine.get(word, word) for word in asked)))
        for one, mine in zip(file.measure, found, strict=True)
    )
    return replace(file, measure=tuple(measured))


def _say_what_is_meant(pattern: str, modes: Mapping[str, str]) -> None:
    """Say which modes of a pattern words choose, where that is more than another spelling."""
    from mpigauge.plan.names import normalised

    for word, mode in modes.items():
        if normalised(word) != normalised(mode):
            note(f"mpigauge: --mode {word}: {pattern} {mode}")


def check_takes(options: Options, measured: Sequence[Measure]) -> None:
    """That every factor which an option chooses is one of a pattern that is measured.

    Raises:
        UsageError: No pattern has it, so the option would change nothing.
    """
    from mpigauge.plan.factors import FACTORS
    from mpigauge.plan.patterns import known

    patterns = [pattern for one in measured if (pattern := known().get(one.pattern)) is not None]
    for factor in FACTORS:
        asked = factor.has and getattr(options, factor.asked)
        if not asked or any(getattr(pattern, factor.has) for pattern in patterns):
            continue
        option = f"--{factor.name.replace('_', '-')}"
        names = [name for name, pattern in known().items() if getattr(pattern, factor.has)]
        raise UsageError(
            f"{option}: no pattern that is measured has it, so it would change nothing",
            f"leave it out, or add one that has: {', '.join(names)}",
        )
