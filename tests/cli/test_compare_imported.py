"""Numbers that another program has printed, held against ours: a ratio, and never a verdict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_UNDECIDED
from tests.made import campaign, cell, launches_of, measured, written
from tests.printed import FOLDER

if TYPE_CHECKING:
    from tests.conftest import Cli

OURS, THEIRS = "ours.jsonl", "osu.txt"
SIZES = (8, 1024)


@pytest.fixture
def both(machine: Path) -> None:
    """A result of ours, and the text of osu_latency, where we are."""
    cells, launches = [cell(size=size) for size in SIZES], range(1, 9)
    visits = measured(cells, launches, lambda *_: [1000, 1010, 990])
    written(OURS, campaign(*cells), *launches_of(cells, launches), *visits)
    shutil.copy(FOLDER / "osu_latency_7.4.txt", THEIRS)


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("pair", [(OURS, THEIRS), (THEIRS, OURS)])
def test_both_ways_round_there_are_ratios_and_no_verdict(cli: Cli, pair: tuple[str, str]) -> None:
    """Nothing is known of the machine of a text, so nothing has to be forced."""
    done = cli("compare", *pair)
    assert (done.status, done.err) == (EXIT_UNDECIDED, "")
    assert done.out.startswith("undecided: 2 of 2 numbers are imported on one side")
    assert "forced" not in done.out
    assert "too few launches" not in done.out
    assert "--launches" not in done.out, "no launches of ours would help"
    assert done.out.count("(no interval)") == len(SIZES)
    for one in (said := json.loads(cli("compare", *pair, "--format", "json").out))["cells"]:
        assert one["ratio"] == pytest.approx(one["other_s"] / one["base_s"])
        assert (one["low"], one["high"], one["verdict"], one["said"]) == (None, None, "undecided", "imported")
    assert said["verdict"] == "undecided"
    assert cli("compare", *pair, "--strict").status == EXIT_UNDECIDED


@pytest.mark.usefixtures("both")
def test_a_text_is_imported_by_whatever_version(cli: Cli) -> None:
    """Who imports has not measured."""
    cli("import", "osu", THEIRS, "-o", "then.jsonl")
    text = Path("then.jsonl").read_text(encoding="utf-8")
    head, _, rest = text.partition("\n")
    old = json.dumps({**json.loads(head), "mpigauge": "0.0.1"})
    Path("then.jsonl").write_text(f"{old}\n{rest}", encoding="utf-8")
    assert cli("compare", OURS, "then.jsonl").status == EXIT_UNDECIDED
    assert cli("compare", "then.jsonl", THEIRS).status == EXIT_UNDECIDED


@pytest.mark.usefixtures("both")
def test_junit_skips_what_is_imported(cli: Cli) -> None:
    out = cli("compare", OURS, THEIRS, "--format", "junit").out
    assert out.count("<skipped") == len(SIZES)
    assert "<failure" not in out
