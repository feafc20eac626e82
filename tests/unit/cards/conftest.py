"""Hosts whose cards are made up, as the files of the kernel see them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.mpi import kernel
from tests.unit.cards.made_host import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.cards.made_host import Started

HERE = Path(__file__).parent
PARTS = (
    "traffic/cards.c",
    "traffic/card_facts.c",
    "traffic/rdma_cards.c",
    "traffic/interfaces.c",
    "text/small_file.c",
)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """counted_cards.c with the files of the kernel that it is about."""
    output = tmp_path_factory.mktemp("cards") / "counted_cards"
    sources = [HERE / "counted_cards.c", *(kernel.SOURCES / part for part in PARTS)]
    words = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-I", kernel.SOURCES, "-o", output, *sources]
    subprocess.run([str(word) for word in words], check=True)
    return output


@pytest.fixture
def machine(tmp_path: Path, program: Path) -> Machine:
    """A host with one interface."""
    return Machine(tmp_path, program)


@pytest.fixture
def started() -> Iterator[list[Started]]:
    """Programs that must end well."""
    programs: list[Started] = []
    yield programs
    assert [one.end() for one in programs] == [0] * len(programs)
