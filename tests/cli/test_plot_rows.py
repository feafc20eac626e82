"""What `plot` computes: rows once, whatever is tried with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.errors import EXIT_DONE, EXIT_USAGE
from mpigauge.query import query
from mpigauge.query.query import source_of
from mpigauge.result.reader import load

if TYPE_CHECKING:
    from tests.conftest import Cli, Install


@pytest.fixture
def of_barriers(cli: Cli, fake_mpi: Install) -> Path:
    """A result of which no usual figure can be drawn."""
    fake_mpi("openmpi")
    assert (
        cli("run", "barrier", "--launches", "2", "--samples", "30", "-q", "-o", "r.jsonl").status == EXIT_DONE
    )
    return Path("r.jsonl")


def test_rows_are_computed_once_for_all_kinds_that_are_tried(
    cli: Cli, of_barriers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    usual = query.sources_of

    def counted(*arguments: Any) -> Any:
        computed.append(arguments)
        return usual(*arguments)

    monkeypatch.setattr(query, "sources_of", counted)
    assert cli("plot", of_barriers).status == EXIT_USAGE
    assert len(computed) == 1


def test_the_states_of_a_result_are_looked_up_once_for_all_rows(of_barriers: Path) -> None:
    """A figure asks for them with each row, so that a walk over all rows made its time grow by the square."""
    source = source_of(load(of_barriers), "median")
    assert source.states_shown is source.states_shown
