"""What is refused before a campaign measures anything."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mpigauge.campaign.prepare import check_readable
from mpigauge.errors import UsageError
from mpigauge.plan.model import Measure, Plan
from mpigauge.plan.strings import LONG_MOST
from mpigauge.result.records import campaign_of


def test_a_campaign_whose_record_nobody_could_read_again_is_refused() -> None:
    plan = Plan((Measure("pingpong"),), title="x" * LONG_MOST)
    check_readable(campaign_of(plan, [], [], []))
    with pytest.raises(UsageError, match=r"no result can hold this campaign: .*\$\.plan\.title"):
        check_readable(campaign_of(replace(plan, title=plan.title + "x"), [], [], []))
