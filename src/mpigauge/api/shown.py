"""Answers of verbs as objects: the same document that the command line prints, with its facts as data."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpigauge.api import html
from mpigauge.api.table import Table
from mpigauge.document.columnar import columns_of
from mpigauge.show.formats import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.document.document import Document


def plain(document: Document) -> dict[str, Any]:
    """The data of a document exactly as JSON has them."""
    found: dict[str, Any] = json.loads(render(document, "json"))
    return found


class Shown:
    """What a verb says.

    Attributes:
        document: What all forms are made of.
    """

    def __init__(self, document: Document) -> None:
        self.document = document

    @property
    def text(self) -> str:
        """As the command line prints it."""
        return render(self.document, "text")

    def as_dict(self) -> dict[str, Any]:
        """As `--format json` has it: docs/formats.md#output-for-programs."""
        return plain(self.document)

    @property
    def table(self) -> Table:
        """The lines of `--format csv`, with types."""
        records = self.document.records() if self.document.records is not None else ()
        return Table(columns_of(records), self.document.contexts)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return html.document(self.document)


class Comparison(Shown):
    """Whether one of two is slower: docs/slower.md."""

    @property
    def verdict(self) -> str:
        """`slower`, `faster`, `same`, `undecided` or `machine`."""
        return str(self.as_dict()["verdict"])

    @property
    def cells(self) -> Table:
        """A row for every number that both have, with its ratio, interval and verdict."""
        data = self.as_dict()
        records = [_flat(record) for record in data["cells"]]
        return Table(columns_of(records), self.document.contexts)

    def __repr__(self) -> str:
        return f"<mpigauge.Comparison: {self.verdict}>"


class Model(Shown):
    """Segments of curves and what they predict: docs/models.md."""

    @property
    def curves(self) -> list[dict[str, Any]]:
        """A record for every curve: docs/models.md#json."""
        found: list[dict[str, Any]] = self.as_dict()["curves"]
        return found

    @property
    def segments(self) -> Table:
        """A row for every segment of every curve."""
        return self._each("segments")

    @property
    def predictions(self) -> Table:
        """A row for every size that was asked for and every curve."""
        return self._each("predictions")

    def _each(self, part: str) -> Table:
        records = [_flat(_of_curve(curve) | one) for curve in self.curves for one in curve[part]]
        return Table(columns_of(records), self.document.contexts)


def _of_curve(curve: dict[str, Any]) -> dict[str, Any]:
    """What a curve is of: all that is no part of its model."""
    parts = {"segments", "breaks", "hockney", "textbook", "predictions", "sizes", "misfit", "launches"}
    return {name: value for name, value in curve.items() if name not in parts}


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """A record on one level: a dict in it becomes columns with its name before theirs, a list words."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            found |= {f"{name}_{inner}": one for inner, one in value.items()}
        else:
            found[name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return found


@dataclass(frozen=True, slots=True)
class Sentence:
    """A conclusion.

    Attributes:
        text: In words.
        kind: What it is about: docs/explain.md.
        launches: In which it rests.
        result: The name of the file, or of both.
        value: Its numbers by name, in SI units.
        cells: What it is about, by factors.
    """

    text: str
    kind: str
    launches: int
    result: str
    value: dict[str, Any] = field(repr=False)
    cells: list[dict[str, Any]] = field(repr=False)

    def __str__(self) -> str:
        return self.text


class Explanation(Shown):
    """What follows from results, the most telling first: an iterable of sentences."""

    @property
    def sentences(self) -> list[Sentence]:
        """All of them."""
        return [
            Sentence(**{name: one[name] for name in Sentence.__slots__})
            for one in self.as_dict()["conclusions"]
        ]

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.as_dict()["conclusions"])
