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
from mpigauge.errors import EXIT_CHECK_FAILED, UsageError
from mpigauge.show.formats import render
from mpigauge.show.formats.prometheus import escaped
from tests.cli.maps import map_records, maps_before, slower_host
from tests.made import cell, written
from tests.unit.show.tabled import EVERYTHING, TWO_LAUNCHES, document_of
from tests.unit.show.test_formats_of_times import record, records

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.conftest import Cli

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


# ---- Link maps -----------------------------------------------------------------------------------


@pytest.fixture
def slow_host(machine: Path) -> Path:
    """A map of four hosts, of which h3 takes three times as long."""
    return written("map.jsonl", *map_records(0, slower_host(2, 3.0)))


def test_a_map_has_its_verdict_and_what_is_slow(cli: Cli, slow_host: Path) -> None:
    done = cli("map", slow_host, "--format", "prometheus")
    found = parsed(done.out)
    assert done.status == EXIT_CHECK_FAILED
    verdicts = {labels["verdict"]: value for labels, value in of("map_verdict", found)}
    assert verdicts == {"slow": 1.0, "failed": 0.0, "none": 0.0, "undecided": 0.0}
    ((host, factor),) = of("map_host_slowdown_ratio", found)
    assert (host, round(factor)) == ({"host": "h3", "flaky": "false"}, 3)
    for name, count in (("hosts_slow", 1.0), ("links_slow", 0.0), ("links_failed", 0.0), ("launches", 5.0)):
        assert of(f"map_{name}", found) == [({}, count)]
    ((size, latency),) = of("map_latency_seconds", found)
    assert (size, 40e-6 < latency < 120e-6) == ({"bytes": "8"}, True)
    assert len(of("map_bandwidth_bytes_per_second", found)) == 1


def test_a_pair_of_a_map_has_its_times(cli: Cli, slow_host: Path) -> None:
    found = parsed(cli("map", slow_host, "--pair", "h1,h3", "--format", "prometheus").out)
    assert [labels for labels, _ in of("map_pair_latency_seconds", found)] == [
        {"host": "h1", "peer": "h3", "bytes": size} for size in ("8", "1048576")
    ]


def test_what_became_slower_since_earlier_maps_is_counted(cli: Cli, machine: Path) -> None:
    maps_before(5)
    path = written("now.jsonl", *map_records(5, slower_host(2, 1.8)))
    found = parsed(cli("map", path, "--before", "--format", "prometheus").out)
    assert of("map_slower_than_before", found) == [({}, 1.0)]
