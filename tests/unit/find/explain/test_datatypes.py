"""Making of a datatype beside a message of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from mpigauge.find.explain.datatypes import headline, makings
from mpigauge.find.fact import rests_on
from tests.made import cell
from tests.unit.find.explain.informative import facts, sentence, told_of

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell


def in_blocks(pattern: str, mode: str = "derived", size: int = 4096, block: int = 8) -> Cell:
    """A cell of blocks with gaps as large as they are."""
    return cell(pattern, size, mode, block_bytes=block, stride_bytes=2 * block)


def test_the_making_of_a_datatype_is_told_in_messages_of_it() -> None:
    evidence = told_of({in_blocks("layout"): 5000.0, in_blocks("type_commit"): 400.0}, noise=0.005)
    (fact,) = facts(makings, evidence)
    assert fact.ratio.estimate == pytest.approx(fact.made_s / fact.message_s, rel=0.01)
    assert fact.made_s < fact.message_s
    assert rests_on(fact) == {in_blocks("layout"), in_blocks("type_commit")}
    said = (
        r"layout derived, blocks of 8 B, every 16 B, 4 KiB: making the datatype takes "
        r"0\.\d+ times \(.*\) as long as one message of it"
    )
    assert re.fullmatch(said, headline(fact, ()))
    assert re.fullmatch(rf"{said}, .* against .*", sentence("datatype", fact, evidence))


@pytest.mark.parametrize(
    "other",
    [in_blocks("layout", "indexed"), in_blocks("layout", size=8192), in_blocks("layout", block=64)],
    ids=["mode", "size", "block"],
)
def test_messages_of_other_datatypes_are_none_of_it(other: Cell) -> None:
    assert not facts(makings, told_of({other: 5000.0, in_blocks("type_commit"): 400.0}))
