"""What a sentence is about: whatever tells a cell from the others of its result, and nothing else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mpigauge.document.cell_names import subject, varied_in
from mpigauge.rows.group import Subject
from mpigauge.rows.rows import rows
from tests.made import campaign, cell, measured, result_of

BASE = replace(cell(size=8), label="main")


@pytest.mark.parametrize("differs", [{"label": "pr"}, {"mpi_version": "5.0.12"}, {"mpi": "mpich"}])
def test_libraries_are_told_apart_by_whatever_they_differ_in(differs: dict[str, str]) -> None:
    """As two builds, which are of one kind and often of one version."""
    cells = [BASE, replace(BASE, **differs)]
    result = result_of(campaign(*cells), *measured(cells, (1, 2), lambda *_: [100] * 5))
    varied = varied_in(rows(result))
    said = [subject(Subject(one), varied) for one in cells]
    assert said == [f"pingpong, {one.library}" for one in cells]
    assert subject(Subject(cells[1]), varied, set(differs)) == "pingpong"
