"""Results that were imported before some benchmarks had names of ours keep those of their programs."""

import pytest

from mpigauge.result.reader import load
from mpigauge.rows.rows import rows
from tests.places import ROOT

OLDER = ROOT / "tests" / "data" / "older"


@pytest.mark.parametrize(
    ("file", "name", "size", "messages_per_s"),
    [
        ("osu_pairs.jsonl", "osu_mbw_mr", 1, 58086503.51),
        ("osu_multi_lat.jsonl", "osu_multi_lat", 1, 1 / 1.03e-6),
    ],
)
def test_several_pairs_of_osu_are_those_of_all_pairs(
    file: str, name: str, size: int, messages_per_s: float
) -> None:
    found = {row.cell.bytes: row for row in rows(load(OLDER / file))}
    assert {row.cell.pattern for row in found.values()} == {name}
    assert found[size].messages_per_s == pytest.approx(messages_per_s)


def test_the_exchange_of_imb_is_a_time() -> None:
    found = [row for row in rows(load(OLDER / "imb_exchange.jsonl")) if row.cell.pattern == "imb_exchange"]
    (row,) = [row for row in found if row.cell.bytes == 262144]
    assert row.time is not None
    assert row.time.estimate == pytest.approx(92.93e-6)
