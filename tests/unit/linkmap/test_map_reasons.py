"""Why a map is undecided: what is lacking, in the order in which it helps."""

from __future__ import annotations

import numpy as np

from mpigauge.linkmap.slow_links import FACTOR, Blame
from mpigauge.linkmap.table import undecided
from mpigauge.linkmap.verdict import reasons
from tests.unit.linkmap.test_slow_links import LAUNCHES, judged, network, slow_link


def test_what_is_hidden_by_how_links_differ_anyway_is_a_suspect_and_not_nothing() -> None:
    """The threshold rises above what was asked for: what lies between them is not nothing."""
    random = np.random.default_rng(4)
    own = np.triu(random.normal(0, 0.3, (12, 12)), 1)
    logs = slow_link(network(12) + own + own.T, 5, 8, 2.5)
    found = judged(logs)
    assert not found.links
    assert FACTOR < found.suspects[5, 8].factor < found.threshold
    assert found.suspects[5, 8].slow == LAUNCHES
    (why,) = reasons(12, LAUNCHES, {8: found}, links=66, missing=0)
    assert "links differ anyway at 8 B" in undecided(why)


def test_one_launch_of_a_map_is_told_to_be_too_few() -> None:
    unknown = Blame({}, {}, {}, FACTOR, None)
    (why,) = reasons(4, 1, {8: unknown}, links=6, missing=0)
    assert undecided(why) == "one launch cannot tell: use --launches 5 or more"
    (differ,) = reasons(4, 5, {8: unknown}, links=6, missing=0)
    assert "no number of them" in undecided(differ)
