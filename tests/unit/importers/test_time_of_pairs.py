"""What the times of pairs at work together are in the outputs of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.result.records import Campaign
from tests.printed import records_of

if TYPE_CHECKING:
    from pathlib import Path

ALL, MEAN = "one message, of all pairs together", "half of a round trip, mean over pairs"
RATES = (
    "# Benchmarking {} \n# #processes = 4 \n#bytes #repetitions Mbytes/sec Msg/sec\n8 1000 80.00 10000000\n"
)

PAIRS = """# OSU MPI Multiple Bandwidth / Message Rate Test v7.4
# [ pairs: 2 ] [ window size: 64 ]
# Size MB/s Messages/s
8 80.00 10000000.00
"""


@pytest.mark.parametrize(
    ("text", "pattern", "time_of"),
    [
        (
            PAIRS,
            "multi-stream",
            ALL,
        ),
        ("# OSU MPI Multi Latency Test v7.4\n# Size Latency (us)\n8 1.00\n", "multi-pingpong", MEAN),
        (RATES.format("Uniband"), "multi-stream", ALL),
        (RATES.format("Biband"), "multi-stream", ALL),
    ],
)
def test_the_time_of_pairs_is_that_of_their_program(
    tmp_path: Path, text: str, pattern: str, time_of: str
) -> None:
    campaign, *_ = records_of(tmp_path / "t.txt", text)
    assert isinstance(campaign, Campaign)
    (found,) = campaign.patterns
    assert (found.name, found.time_of) == (pattern, time_of)
