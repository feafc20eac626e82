"""Two whole campaigns of one machine of known truth: what intervals of the one say of the other's numbers."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.result.reader import load
from mpigauge.rows.rows import rows
from tests.truth import check
from tests.unit.rows.test_another_campaign import LAUNCHES, MACHINES, MOMENTS

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.stats.percentiles import Values
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

PAIRS = 200
WHAT = ("pingpong", "barrier", "allreduce", "memcpy", "--sizes", "8:8KiB*32", "-q")


class Campaigns:
    """Campaigns of nine launches, each as long by the law as its level says."""

    def __init__(self, folder: Path, cli: Cli, patch: pytest.MonkeyPatch) -> None:
        self._cli = cli
        self._levels, self._result = folder / "levels", folder / "result.jsonl"
        patch.setenv("FAKE_LEVELS", f"{self._levels}")
        patch.setenv("FAKE_JITTER", "0.02")

    def times(self, levels: Values, slow: Values, seed: int) -> list[tuple[float, float, float]]:
        """Each number with its ends, of one campaign."""
        lines = [f"{np.exp(level)} {share}\n" for level, share in zip(levels, slow, strict=True)]
        self._levels.write_text("".join(lines), encoding="ascii")
        self._result.unlink(missing_ok=True)
        words = ("--launches", f"{len(levels)}", "--seed", f"{seed}", "-o", self._result)
        done = self._cli("run", *WHAT, *words)
        assert done.status == 0, done.err
        assert not self._levels.read_text(encoding="ascii")
        times = [row.time for row in rows(load(self._result)) if row.time is not None]
        return [(time.estimate, time.low or np.nan, time.high or np.nan) for time in times]


@pytest.fixture
def campaigns(tmp_path: Path, cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch) -> Campaigns:
    assert openmpi
    return Campaigns(tmp_path, cli, monkeypatch)


def held_by(campaigns: Campaigns, machine: str, pairs: int) -> float:
    """The share of numbers that intervals of the other campaign hold."""
    chance, held = np.random.default_rng(len(machine)), []
    for pair in range(pairs):
        levels, slow = MACHINES[machine](chance)
        levels = levels + chance.normal(0, 0.03, MOMENTS)
        one, other = (
            campaigns.times(levels[part], slow[part], 2 * pair + which)
            for which, part in enumerate((slice(LAUNCHES), slice(MOMENTS - LAUNCHES, None)))
        )
        for (centre, low, high), (centre_too, low_too, high_too) in zip(one, other, strict=True):
            held += [low <= centre_too <= high, low_too <= centre <= high_too]
    return fmean(held)


def test_a_campaign_like_another_is_held_by_it(campaigns: Campaigns) -> None:
    nothing = np.zeros(LAUNCHES)
    one, other = (campaigns.times(nothing, nothing, seed) for seed in (1, 2))
    assert all(low <= centre <= high for (_, low, high), (centre, *_) in zip(one, other, strict=True))


@pytest.mark.truth
@pytest.mark.thorough
@pytest.mark.parametrize("course", MACHINES)
def test_an_interval_holds_what_the_next_campaign_says(course: str, campaigns: Campaigns) -> None:
    held = held_by(campaigns, course, PAIRS)
    check(f"{course}: numbers of the next campaign, measured, that intervals hold", held, 0.7, 0.95)
