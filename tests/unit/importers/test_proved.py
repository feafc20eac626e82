"""NetPIPE: numbers that prove each other's units, or are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge import importers
from mpigauge.errors import UsageError
from tests.printed import found, said_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("netpipe_3_made.out", [1.0002e-6, 1.8696e-6, 1.0012516e-3]),
        ("netpipe_5_made.out", [1e-6, 1e-6]),
    ],
)
def test_netpipe_is_recognised_by_numbers_that_prove_each_other(name: str, seconds: list[float]) -> None:
    assert [*found(name).values()] == pytest.approx(seconds)


def test_a_row_of_netpipe_that_proves_nothing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "np.out"
    path.write_text("1 7.6 0.000001\n8 12.0 0.5\n", encoding="ascii")
    assert "line 2: its rate is not its size over its time" in said_of(path)


@pytest.mark.parametrize("word", ["1e++00", "1e999", "0x10", "nan", "inf", "1_0", "-1"])
def test_a_word_that_is_no_number_is_refused(tmp_path: Path, word: str) -> None:
    path = tmp_path / "np.out"
    path.write_text(f"1 {word} 0.000001\n", encoding="ascii")
    with pytest.raises(UsageError, match="line 1: has a word that is not a number"):
        importers.read("netpipe", [path])
