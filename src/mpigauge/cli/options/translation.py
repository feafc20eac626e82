"""A command line of another program as one of `mpigauge run`."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.cli.options import aliases
from mpigauge.cli.options.unmeasured import why_unmeasured
from mpigauge.result.files import as_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import click

OWN = "-"
HOST_BUFFERS = "H"
"""OSU's word for buffers in the memory of a host, which all are here."""

DEVICE_BUFFERS = {"D", "M", "MD", "MH"}
"""Its words for buffers on a GPU."""


class Translation(NamedTuple):
    """A command line in our words.

    Attributes:
        command: The whole line.
        foreign: How many options and operands of it were another program's.
        lost: What it asked for and does not get, each with the reason.
    """

    command: str
    foreign: int
    lost: tuple[str, ...]

    @property
    def hint(self) -> str:
        """The line to type instead, and the options that it leaves out."""
        return "; ".join([*self.lost, f"what remains is {self.command}" if self.lost else self.command])


def translated(typed: Sequence[str], parameters: Sequence[click.Parameter]) -> Translation | None:
    """Return words of another program as a command line of run; None where a word has no meaning here.

    Args:
        typed: Words that were typed for run.
        parameters: Those of run.
    """
    from mpigauge.plan import names

    patterns, takes = names.patterns(), _values_taken(parameters)
    words: list[str] = []
    lost: list[str] = []
    foreign, rest, measured = 0, list(typed), False
    while rest:
        word = rest.pop(0)
        name, sign, value = word.partition("=")
        if not word.startswith(OWN):
            if word in DEVICE_BUFFERS:
                foreign, lost = foreign + 1, [*lost, why_unmeasured(word)]
            elif word == HOST_BUFFERS or aliases.names_suite(called := PurePath(word).name):
                foreign += 1
            elif aliases.meaning_of(called, patterns) is not None:
                words.append(called)
                measured = True
            else:
                return None
        elif name in takes:
            words += [word, *_popped(rest, 0 if sign else takes[name])]
        else:
            option = aliases.option_of(word, typed)
            if option is None:
                return None
            found, own_value = option
            values = [value] if sign else [own_value] if own_value else []
            foreign += 1
            if found.lost or found.invents([*values, *rest]):
                lost.append(found.filled([*values, *rest]))
            else:
                words += found.ours([*values, *rest])
            _popped(rest, found.taken(rest) if not values else 0)
    if not measured and any(aliases.names_suite(PurePath(word).name) for word in typed):
        return None
    command = as_command(["mpigauge", "run", *words])
    return Translation(command, foreign, tuple(dict.fromkeys(lost)))


def _values_taken(parameters: Sequence[click.Parameter]) -> Mapping[str, int]:
    """Return how many values follow an option of ours, by its spellings."""
    return {
        name: 0 if getattr(option, "is_flag", False) else 1
        for option in parameters
        for name in (*option.opts, *getattr(option, "aliases", ()))
        if name.startswith(OWN)
    }


def _popped(words: list[str], count: int) -> list[str]:
    """Return the first words of a list, which loses them."""
    first, words[:] = words[:count], words[count:]
    return first
