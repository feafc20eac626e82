"""Kinds of figures and tables: what each shows and needs. Without imports, so that `--help` may read them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure or table.

    Attributes:
        about: What it shows.
        needs: What a result must have for it.
        module: That makes it, by the function of its name.
        noun: What it is a kind of.
        listing: What `mpigauge list` calls all of them.
    """

    name: str
    about: str
    needs: str
    module: str
    noun: str = "figure"
    listing: str = "plots"
