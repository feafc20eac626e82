"""What there was no time for: whether the budget was too small, or a launch that hung took it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.campaign.measuring import SessionEnd
from mpigauge.cli.sessions.session import ended
from mpigauge.errors import EXIT_CHECK_FAILED
from mpigauge.find.missing import HUNG, hang_took_time
from mpigauge.result.records import Done, End, Failure, Record
from mpigauge.rows.rows import rows
from mpigauge.vocabulary import ORPHANED
from tests.made import JOB, LARGE, SMALL, campaign, launch, result_of, visit, written

if TYPE_CHECKING:
    from mpigauge.vocabulary import FailureKind
    from tests.conftest import Cli

TOO_SMALL = "raise --budget"


def records(
    kind: FailureKind = "timeout",
    budget_s: float | None = 12.0,
    hung_s: float = 20.0,
    words: str = "mpigauge: the job has said nothing for 20 s",
) -> list[Record]:
    """A campaign of three launches whose second failed so after so long, and was the last but one."""
    first = campaign(SMALL, LARGE)
    plan = replace(first.plan, budget_s=budget_s, launches_min=3, launches_max=3)
    return [
        replace(first, plan=plan),
        launch(1),
        visit(1, 0, SMALL, [200] * 9),
        Done(1, JOB, 1.5, (LARGE,)),
        launch(2),
        Failure(2, kind, words, None, None, None, JOB),
        Done(2, JOB, hung_s),
        End("budget", 22.0, "2026-01-01T00:00:00+00:00"),
    ]


@pytest.mark.parametrize(
    ("of", "took"),
    [
        (records(), True),
        (records(hung_s=5.0), False),
        (records(kind="crash"), False),
        (records(kind="crash", words=f"mpigauge: {ORPHANED}"), True),
        (records(budget_s=3600.0), False),
        (records(budget_s=None), False),
    ],
)
def test_a_hang_takes_the_time_of_another_launch_at_least(of: list[Record], took: bool) -> None:
    assert hang_took_time(result_of(*of)) is took


KINDS = pytest.mark.parametrize(
    ("kind", "said", "never"), [("timeout", HUNG, TOO_SMALL), ("crash", TOO_SMALL, HUNG)]
)


@KINDS
def test_the_hint_after_too_few_launches_helps(
    capsys: pytest.CaptureFixture[str], kind: FailureKind, said: str, never: str
) -> None:
    result = result_of(*records(kind))
    end = SessionEnd(Path("r.jsonl"), None, "budget", (1, 3), result)
    assert ended(end.path, rows(result), end) == EXIT_CHECK_FAILED
    err = capsys.readouterr().err
    assert f"hint: {said}" in err
    assert never not in err


@KINDS
def test_so_does_the_remedy_for_cells_without_a_number(
    cli: Cli, kind: FailureKind, said: str, never: str
) -> None:
    out = cli("show", "--all", written("r.jsonl", *records(kind))).out
    assert said in " ".join(out.split())
    assert never not in out
