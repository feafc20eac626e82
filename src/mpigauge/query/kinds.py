"""Kinds of figures and tables: what each shows and needs. Without imports, so that `--help` may read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Maker = TypeVar("Maker")


@dataclass(frozen=True, slots=True)
class DisplayKind:
    """A kind of figure or table.

    Attributes:
        about: What it shows.
        needs: What a result must have for it.
        module: The module whose function, decorated with `maker`, makes it.
        noun: What it is a kind of.
        listing: What `mpigauge list` calls all of them.
        aliases: Other names of the field that users may type.
        example: What follows `mpigauge plot` in docs/gallery.md, to show one of a result that is kept there.
    """

    name: str
    about: str
    needs: str
    module: str
    noun: str = "figure"
    listing: str = "plots"
    aliases: tuple[str, ...] = ()
    example: str = ""


def maker(makers: dict[str, Maker], name: str) -> Callable[[Maker], Maker]:
    """Register the decorated function as the maker of a kind."""

    def enter(function: Maker) -> Maker:
        makers[name] = function
        return function

    return enter
