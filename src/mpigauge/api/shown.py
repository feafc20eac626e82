"""Answers of verbs as objects: the document that the command line prints, with its numbers as data."""

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


def data_of(document: Document) -> dict[str, Any]:
    """Return the data of a document exactly as its JSON has them."""
    data: dict[str, Any] = json.loads(render(document, "json"))
    return data


class VerbAnswer:
    """Answer of a verb.

    Attributes:
        document: Lines, tables and data that all formats are made of.
    """

    def __init__(self, document: Document) -> None:
        self.document = document

    @property
    def text(self) -> str:
        """Text as the command line prints it."""
        return render(self.document, "text")

    def as_dict(self) -> dict[str, Any]:
        """Return the data of `--format json`: docs/output.md#output-for-programs."""
        return data_of(self.document)

    @property
    def table(self) -> Table:
        """Rows of `--format csv`, with types."""
        records = self.document.records() if self.document.records is not None else ()
        return Table(columns_of(records), self.document.contexts)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return html.document(self.document)


class Comparison(VerbAnswer):
    """Verdict on whether one of two is slower: docs/slower.md."""

    @property
    def verdict(self) -> str:
        """`slower`, `faster`, `same`, `undecided` or `machine`."""
        return str(self.as_dict()["verdict"])

    @property
    def cells(self) -> Table:
        """A row per number that both sides have, with its ratio, interval and verdict."""
        data = self.as_dict()
        records = [_flattened(record) for record in data["cells"]]
        return Table(columns_of(records), self.document.contexts)

    def __repr__(self) -> str:
        return f"<mpigauge.Comparison: {self.verdict}>"


class Model(VerbAnswer):
    """Segments of curves and what they predict: docs/models.md."""

    @property
    def curves(self) -> list[dict[str, Any]]:
        """A record per curve: docs/models.md#json."""
        records: list[dict[str, Any]] = self.as_dict()["curves"]
        return records

    @property
    def segments(self) -> Table:
        """A row per segment of every curve."""
        return self._records_of("segments")

    @property
    def predictions(self) -> Table:
        """A row per predicted size of every curve."""
        return self._records_of("predictions")

    def _records_of(self, part: str) -> Table:
        records = [
            _flattened(_curve_fields(curve) | fields) for curve in self.curves for fields in curve[part]
        ]
        return Table(columns_of(records), self.document.contexts)


def _curve_fields(curve: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that identify a curve: all that are no part of its model."""
    parts = {"segments", "breaks", "hockney", "textbook", "predictions", "sizes", "misfit", "launches"}
    return {name: value for name, value in curve.items() if name not in parts}


def _flattened(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without nesting: a dict becomes columns `outer_inner`, a list words."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            flat |= {f"{name}_{inner}": entry for inner, entry in value.items()}
        else:
            flat[name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return flat


@dataclass(frozen=True, slots=True)
class Sentence:
    """Conclusion drawn from results.

    Attributes:
        text: The conclusion in words.
        kind: Its topic: docs/explain.md.
        launches: Number of launches that it rests on.
        result: Name of the result file, or of both.
        value: Its numbers by name, in SI units.
        cells: Cells that it is about, as factors.
    """

    text: str
    kind: str
    launches: int
    result: str
    value: dict[str, Any] = field(repr=False)
    cells: list[dict[str, Any]] = field(repr=False)

    def __str__(self) -> str:
        return self.text


class Explanation(VerbAnswer):
    """Conclusions drawn from results, the most informative first: an iterable of sentences."""

    @property
    def sentences(self) -> list[Sentence]:
        """All conclusions."""
        return [
            Sentence(**{name: conclusion[name] for name in Sentence.__slots__})
            for conclusion in self.as_dict()["conclusions"]
        ]

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.as_dict()["conclusions"])
