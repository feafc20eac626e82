"""The text format of Prometheus, read by the parser of its own client library."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.document import Document
from mpigauge.document.records import cell_record
from mpigauge.errors import UsageError
from mpigauge.show.formats import render
from mpigauge.show.formats.prometheus import escaped
from tests.made import cell
from tests.unit.show.tabled import EVERYTHING, TWO_LAUNCHES, document_of
from tests.unit.show.test_formats_of_times import record, records

if TYPE_CHECKING:
    from collections.abc import Mapping

Sample = tuple[str, "Mapping[str, str]", float]


def parsed(text: str) -> list[Sample]:
    """As Prometheus has it."""
    parser = pytest.importorskip("prometheus_client.parser")
    return [
        (one.name, one.labels, one.value)
        for family in parser.text_string_to_metric_families(text)
        for one in family.samples
    ]


def of(name: str, found: list[Sample]) -> list[tuple[Mapping[str, str], float]]:
    return [(labels, value) for metric, labels, value in found if metric == f"mpigauge_{name}"]


def test_a_time_has_its_interval_its_cell_and_its_moment() -> None:
    found = parsed(render(document_of(TWO_LAUNCHES), "prometheus"))
    ((labels, value),) = of("latency_seconds", found)
    assert value == pytest.approx(math.sqrt(100e-9 * 200e-9))
    assert labels["pattern"] == "pingpong"
    assert (labels["bytes"], labels["ranks"], labels["mpi"], labels["host"]) == ("8", "2", "openmpi", "node1")
    ((_, low),), ((_, high),) = of("latency_lower_seconds", found), of("latency_upper_seconds", found)
    assert low < value < high
    ((_, started),) = of("start_timestamp_seconds", found)
    assert started == datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def test_no_sample_has_a_time_stamp_which_the_collector_refuses() -> None:
    lines = [line for line in render(document_of(EVERYTHING), "prometheus").splitlines() if line[0] != "#"]
    assert lines
    assert all(re.fullmatch(r"\w+\{.*\} \S+", line) for line in lines)


def test_what_was_not_measured_is_counted() -> None:
    found = {
        labels["status"]: value
        for labels, value in of("cells", parsed(render(document_of(EVERYTHING), "prometheus")))
    }
    assert found["ok"] >= 1
    assert found["blocked"] == 1


@given(records)
def test_each_time_is_there_once_with_labels_that_tell_it_apart(found: list[dict[str, Any]]) -> None:
    document = Document(records=lambda: found)
    measured = [
        one for one in found if (time := one["time_estimate_s"]) is not None and math.isfinite(time * 1e9)
    ]
    if not measured:
        with pytest.raises(UsageError, match="format prometheus needs times"):
            render(document, "prometheus")
        return
    times = of("latency_seconds", parsed(render(document, "prometheus")))
    assert [value for _, value in times] == [pytest.approx(one["time_estimate_s"]) for one in measured]
    names = (*cell_record(cell()), "state")
    cells = {tuple(one.get(name) for name in names) for one in measured}
    assert len({tuple(sorted(labels.items())) for labels, _ in times}) == len(cells)


@given(st.text(max_size=12))
def test_a_label_is_data(words: str) -> None:
    """Quotes, backslashes, new lines: the parser gives back what was said."""
    found = Document(records=lambda: [record(cell(size=8, mpi=words or "x"), 1e-6)])
    ((labels, _),) = of("latency_seconds", parsed(render(found, "prometheus")))
    assert labels["mpi"] == (words or "x")
    assert "\n" not in escaped(words)
