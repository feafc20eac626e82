"""The JUBE benchmark under JUBE itself, on a fake library of known speed."""

from __future__ import annotations

import csv
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.cli.integrations.conftest import INTEGRATIONS

if TYPE_CHECKING:
    from tests.cli.integrations.conftest import Programs, Shell

pytestmark = [pytest.mark.programs, pytest.mark.needs("jube")]

LATENCY_NS = 10_000
"""Of the library of `programs`."""


def test_its_table_has_the_numbers_and_their_intervals(shell: Shell, programs: Programs) -> None:
    shutil.copy(INTEGRATIONS / "jube" / "mpigauge.yaml", "mpigauge.yaml")
    done = shell("jube run mpigauge.yaml >said 2>&1 && jube result -a mpigauge_run 2>&1")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    (head,) = [number for number, line in enumerate(lines) if line.startswith("mpi,bytes,")]
    small, large = csv.DictReader(lines[head : head + 3])
    assert (small["mpi"], small["bytes"], large["bytes"]) == ("openmpi", "8", "1048576")
    assert float(small["latency_ns"]) == pytest.approx(LATENCY_NS, rel=0.02)
    for row in (small, large):
        assert float(row["low_ns"]) < float(row["latency_ns"]) < float(row["high_ns"])
        rate = int(row["bytes"]) / float(row["latency_ns"])
        assert float(row["bandwidth_GB_per_s"]) == pytest.approx(rate, rel=0.01)
