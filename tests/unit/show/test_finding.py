"""Findings: what JSON has of a fact."""

from __future__ import annotations

from dataclasses import dataclass

from mpigauge.document.finding import finding
from mpigauge.plan.factors import BY_NAME


@dataclass(frozen=True)
class Fact:
    factors: frozenset[str]


def test_what_has_no_order_of_its_own_is_told_in_the_same_one_each_time() -> None:
    assert finding("kind", Fact(frozenset(BY_NAME)), "text").value == {"factors": sorted(BY_NAME)}
