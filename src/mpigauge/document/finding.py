"""A finding: a fact with its sentence, as people read it and as JSON has it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from mpigauge.document.records import cell_record, state_record
from mpigauge.plan.model import Cell
from mpigauge.rows.group import Subject

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Severity = Literal["info", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact worth reading: its kind, cells, numbers and sentence.

    Attributes:
        kind: Of a warning its kind, else what it is about: `payoff`, `contrast`, `caches-seen` and so on.
        cells: What it is about.
        value: Its numbers by name, in SI units.
        text: The sentence, with the consequence and the remedy.
        consequence: What it means for the numbers; empty of what is not doubtful.
        remedy: What to do; likewise.
    """

    kind: str
    severity: Severity
    cells: tuple[Cell, ...]
    value: dict[str, Any]
    text: str
    consequence: str = ""
    remedy: str = ""


def finding(kind: str, fact: DataclassInstance, text: str) -> Finding:
    """Return a finding with the fields of a fact as its cells and values."""
    values = {field.name: getattr(fact, field.name) for field in fields(fact)}
    cells = {name: _cells(part) for name, part in values.items()}
    # Sets come in order: else one result would be told in other words of JSON each time.
    value = {
        name: msgspec.to_builtins(part, order="deterministic", enc_hook=_plain)
        for name, part in values.items()
        if not cells[name]
    }
    if any("Subject" in str(field.type) for field in fields(fact)):
        value |= state_record(subject_in(fact))
    return Finding(kind, "info", tuple(cell for mine in cells.values() for cell in mine), value, text)


def _plain(part: object) -> str:
    """Return a name that knows more than its text, as pairs of a map do, as that text."""
    if not isinstance(part, str):  # which msgspec then says itself, with the place
        raise NotImplementedError(type(part))
    return str(part)


def subject_in(fact: Any) -> Subject | None:
    """Return what a fact is of: its first field with a subject; None if it has no such field."""
    each = (one for field in fields(fact) for one in _each(getattr(fact, field.name)))
    return next((one for one in each if isinstance(one, Subject)), None)


def _cells(part: object) -> tuple[Cell, ...]:
    """The cells of a field that is a cell or several; none of any other."""
    cells = [one.cell if isinstance(one, Subject) else one for one in _each(part)]
    return tuple(one for one in cells if isinstance(one, Cell))


def _each(part: object) -> tuple[object, ...]:
    return part if isinstance(part, tuple) and not isinstance(part, Subject) else (part,)


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON has it: docs/result-file.md."""
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "cells": [cell_record(cell) for cell in finding.cells],
        "value": finding.value,
        "text": finding.text,
        "consequence": finding.consequence,
        "remedy": finding.remedy,
    }
