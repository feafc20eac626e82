"""Plan that the options of `mpigauge run` modify: a file or a suite, with the patterns that were named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli.options import aliases, foreign_values
from mpigauge.cli.screen.streams import note
from mpigauge.errors import UsageError
from mpigauge.vocabulary import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mpigauge.cli.options.aliases import AliasMeaning
    from mpigauge.cli.options.translation import Translation
    from mpigauge.plan.model import Measure
    from mpigauge.plan.plan_file import Asked

MAP = "map"
"""Verb that sbatch takes, too, so that no option has it as one of its values."""


def meanings_of(words: Sequence[str], options: Sequence[click.Parameter]) -> list[AliasMeaning]:
    """Return the patterns that words name; note the meaning of an alias that its name does not tell.

    Args:
        options: Options of the command, of whose values a word may be one.
    """
    if not words:
        return []
    from mpigauge.plan import names

    patterns, meanings = names.patterns(), {}
    for word in words:
        meaning = aliases.meaning_of(word, patterns)
        if meaning is None:
            _refuse_option_before(word, options)
            if (line := _translated(options)) is not None:
                raise UsageError(f"no pattern is called {word!r}", line.hint)
            hint = foreign_values.list_hint(word, _typed(), options, (*patterns, MAP)) or aliases.hint_for(
                word, patterns
            )
            raise UsageError(f"no pattern is called {word!r}", hint)
        if meaning not in meanings and (remark := aliases.remark(word, meaning)):
            note(f"mpigauge: {remark}")
        meanings[meaning] = word
    return list(meanings)


def _translated(options: Sequence[click.Parameter]) -> Translation | None:
    """Return the command line in our words, if all that is wrong with it is another program's."""
    from mpigauge.cli.options.translation import translated

    verb, *typed = _typed() or ("",)
    line = translated(typed, options) if verb == "run" else None
    return line if line is not None and line.foreign else None


def _refuse_option_before(word: str, options: Sequence[click.Parameter]) -> None:
    """Refuse an option of another program whose value would be a pattern.

    Raises:
        UsageError: The word follows one.
    """
    names = [name for option in options for name in option.opts]
    option = aliases.option_before(word, _typed(), names)
    if option and (hint := aliases.option_hint(option, _typed(), names)):
        raise UsageError(f"there is no option {option}", hint)


def _typed() -> Sequence[str]:
    """Return the command line as it was typed."""
    context = click.get_current_context(silent=True)
    words: Sequence[str] | None = context.find_root().obj if context else None
    return words or ()


def file_of(plan_path: Path | None) -> Asked | None:
    """Return the plan file, if one is named."""
    if plan_path is None:
        return None
    from mpigauge.plan import plan_file

    file = plan_file.read_file(plan_path)
    _check_names(file, str(plan_path))
    return file


def _check_names(file: Asked, where: str) -> None:
    """Refuse aliases of patterns in a plan: it is a document, so it has the names themselves."""
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


def with_modes(file: Asked, names: Sequence[str]) -> Asked:
    """Return the plan with these modes of each pattern; names of MPI functions are accepted, too.

    A word that is no mode of a pattern is kept, for the error that names it.
    """
    from msgspec.structs import replace

    from mpigauge.plan.patterns import known

    modes_of = [
        {word: mode.name for word in names if pattern and (mode := pattern.mode_meant(word))}
        for pattern in (known().get(measure.pattern) for measure in file.measure)
    ]
    if all(len(modes) == len({*names}) for modes in modes_of):
        for measure, modes in zip(file.measure, modes_of, strict=True):
            _say_what_is_meant(measure.pattern, modes)
    measured = (
        replace(measure, modes=tuple(dict.fromkeys(modes.get(word, word) for word in names)))
        for measure, modes in zip(file.measure, modes_of, strict=True)
    )
    return replace(file, measure=tuple(measured))


def _say_what_is_meant(pattern: str, modes: Mapping[str, str]) -> None:
    """Say which modes of a pattern words choose, where that is more than another spelling."""
    from mpigauge.plan.names import normalised

    for word, mode in modes.items():
        if normalised(word) != normalised(mode):
            note(f"mpigauge: --mode {word}: {pattern} {mode}")


def check_takes(over: Asked, measured: Sequence[Measure]) -> None:
    """Refuse an option for a factor that no measured pattern has, or none of its modes that are measured.

    Raises:
        UsageError: The option would change nothing.
    """
    from mpigauge.plan.factors import FACTORS
    from mpigauge.plan.patterns import known

    patterns = [pattern for measure in measured if (pattern := known().get(measure.pattern)) is not None]
    for factor in FACTORS:
        if not (factor.has and getattr(over, factor.asked)):
            continue
        option = f"--{factor.name.removesuffix('_bytes').replace('_', '-')}"
        having = [pattern for pattern in patterns if getattr(pattern, factor.has)]
        if not having:
            names = [name for name, pattern in known().items() if getattr(pattern, factor.has)]
            raise _useless(option, "pattern", names)
        if not any(_mode_takes(measure, factor.has) for measure in measured):
            modes = [mode.name for mode in having[0].modes if getattr(mode, factor.has)]
            raise _useless(option, "mode", [f"--mode {','.join(modes)}"])


def _useless(option: str, kind: str, having: Sequence[str]) -> UsageError:
    return UsageError(
        f"{option}: no {kind} that is measured has it, so it would change nothing",
        f"leave it out, or add one that has: {', '.join(having)}",
    )


def _mode_takes(measure: Measure, trait: str) -> bool:
    """Return whether the pattern of a table has a trait, and one of its modes if it is one of modes."""
    from mpigauge.plan.patterns import Mode, known

    pattern = known().get(measure.pattern)
    if pattern is None or not getattr(pattern, trait):
        return False
    every = ALL in measure.modes or not measure.modes
    modes = [mode for mode in pattern.modes if every or mode.name in measure.modes]
    return trait not in Mode.__struct_fields__ or any(getattr(mode, trait) for mode in modes)
