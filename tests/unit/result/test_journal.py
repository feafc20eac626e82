"""Journal lines: what the kernel writes is read, and nothing else is taken for it."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.mpi import kernel
from mpigauge.result import journal

repeatable = settings(derandomize=True, deadline=None)

LIMIT: dict[str, Any] = {
    "found": True,
    "control_held": True,
    "limit_bytes": 4000,
    "longer_bytes": 4000,
    "max_bytes": 2**22,
    "probes": 40,
}
PLACE = {
    "host": "node1",
    "cpus": "0-1",
    "cpu": 0,
    "clock_step_ns": 1,
    "clock_cost_ns": 25,
    "clock_cost_p999_ns": 40,
    "clock_zero_share": 0.0,
    "cores": "0-1",
    "threads": 1,
}
CARD = {
    "name": "mlx5_0/1",
    "kind": "rdma",
    "counted": False,
    "speed": "100 Gb/sec (4X EDR)",
    "mtu": "",
    "driver": "mlx5_core",
    "firmware": "20.35",
}
MACHINE = {
    "host": "node1",
    "cpu": "Fast CPU",
    "kernel": "6.1",
    "cache_bytes": 2**25,
    "memory_bytes": 2**38,
    "microcode": "0x1",
    "online": "0-31",
    "governor": "performance",
    "clock_source": "tsc",
}
FACTS = {
    "kernel": 2,
    "ranks": 2,
    "ranks_asked": 2,
    "library": "Open MPI v5.0.11",
    "mpi_standard": "3.1",
    "clock": "CLOCK_MONOTONIC_RAW",
    "placement": [PLACE, PLACE],
    "cards": [{"hosts": ["node1"], "cards": [CARD]}],
    "machines": [MACHINE],
    "first_round_trip_ns": 47_000,
    "traced_ranks": 0,
    "init_ns": 41_000_000,
    "init_median_ns": 40_000_000,
}
VISIT = {
    "visit": 3,
    "at_ns": 1000,
    "elapsed_ns": 5000,
    "batch": 7,
    "ops": 14,
    "window": 0,
    "pool_bytes": 0,
    "cpu_ns": 10000,
    "correlation_time": 1.0,
    "effective": 125.0,
    "half_width": 0.01,
    "trial_ns": [900, 300],
    "warmup_ns": [1400, 1400],
    "samples_ns": [1400, 1401, 2**62],
}
TRAFFIC = {"rank": 1, "card": "mlx5_0/1", "kind": "rdma", "received_bytes": 2**62, "sent_bytes": 0}
TOGETHER = {
    **VISIT,
    "corrupt": "rank 1 left before rank 0 came",
    "cpu_ns": -1,
    "by_card": [TRAFFIC, TRAFFIC | {"kind": "ip", "card": "eth0", "received_bytes": -1, "sent_bytes": -1}],
    "work_ns": 1400,
    "pure_ns": [1400, 1400],
    "lead_ns": 4000,
    "late": [0, 2],
    "skew_ns": [5, 5, 1005],
    "root_ns": [1390, -3, 1390],
    "local_ns": [1380, -3, 1380],
}
"""With all that a visit may have."""

CLOCK = {
    "clock": 70_000,
    "shared": False,
    "checks": [{"rank": 1, "low_ns": -50, "high_ns": 50}],
    "models": [
        {"base_ns": 1, "offset_ns": -0.5, "slope": 1e-6, "bound_ns": 50.0, "bound_slope": 1e-9},
    ],
}
LINES: dict[type, dict[str, Any]] = {
    journal.ReadyLine: {"ready": 32768},
    journal.LaunchLine: {"launch": FACTS},
    journal.ClockLine: CLOCK,
    journal.BeginLine: {"begin": 3, "at_ns": 1000, "expect_ns": 0},
    journal.TickLine: {"tick": 3, "round_ns": 2_000_000_000},
    journal.VisitLine: VISIT,
    journal.SkipLine: {"skip": 3, "reason": "precise"},
    journal.BlockedLine: {"blocked": 3, **LIMIT},
    journal.EagerLine: {"eager": 3, "at_ns": 1000, **LIMIT},
    journal.RefusedLine: {"refused": 3, "reason": "there is no memory"},
    journal.EndLine: {"end": 99},
}


def text(line: dict[str, Any]) -> bytes:
    """As the kernel writes it: compact, ASCII."""
    return json.dumps(line, separators=(",", ":")).encode()


def test_every_line_has_a_sample() -> None:
    assert {next(iter(line)) for line in LINES.values()} == set(journal._DECODERS)


@pytest.mark.parametrize("kind", LINES)
def test_a_line_is_read_as_it_was_written(kind: type) -> None:
    line = journal.parse(text(LINES[kind]))
    assert isinstance(line, kind)
    told = json.loads(msgspec.json.encode(line))
    assert {name: value for name, value in told.items() if name in LINES[kind]} == LINES[kind]


def test_optional_fields_may_be_missing() -> None:
    line = journal.parse(text({name: value for name, value in VISIT.items() if name != "half_width"}))
    assert isinstance(line, journal.VisitLine)
    assert line.half_width is None
    assert not line.corrupt
    assert line.lead_ns == line.work_ns == 0
    assert line.late == line.skew_ns == line.root_ns == line.local_ns == line.pure_ns == []


def test_optional_fields_of_visits_are_read() -> None:
    line = journal.parse(text(TOGETHER))
    assert isinstance(line, journal.VisitLine)
    told = json.loads(msgspec.json.encode(line))
    assert {name: told[name] for name in TOGETHER} == TOGETHER


@pytest.mark.parametrize(
    "wrong",
    [
        {"rank": -1},
        {"rank": 2**24},
        {"card": ""},
        {"card": "a" * 64},
        {"card": "eth0\n"},
        {"card": "eth0\x1b[2J"},
        {"card": "my card"},
        {"kind": "bluetooth"},
        {"received_bytes": -2},
        {"sent_bytes": 2**63},
        {"sent_bytes": 0.5},
    ],
    ids=str,
)
def test_an_invalid_card_makes_the_line_invalid(wrong: dict[str, Any]) -> None:
    assert journal.parse(text(VISIT | {"by_card": [TRAFFIC]})) is not None
    assert journal.parse(text(VISIT | {"by_card": [TRAFFIC | wrong]})) is None


def test_the_kernel_tells_of_as_many_cards_as_a_line_may_have() -> None:
    (most,) = re.findall(
        r"LISTED_MAX = (\d+)", (kernel.SOURCES / "traffic" / "visit_traffic.c").read_text("ascii")
    )
    assert journal.parse(text(VISIT | {"by_card": [TRAFFIC] * int(most)})) is not None
    assert journal.parse(text(VISIT | {"by_card": [TRAFFIC] * (int(most) + 1)})) is None


def test_a_clock_that_is_only_checked_has_no_models() -> None:
    line = journal.parse(text(CLOCK | {"shared": True, "models": []}))
    assert isinstance(line, journal.ClockLine)
    assert line.shared
    assert line.models == ()
    assert [(check.rank, check.low_ns, check.high_ns) for check in line.checks] == [(1, -50, 50)]


@pytest.mark.parametrize("kind", LINES)
def test_an_incomplete_line_is_ignored(kind: type) -> None:
    whole = text(LINES[kind])
    assert all(journal.parse(whole[:end]) is None for end in range(len(whole)))
    assert journal.parse(b"[node1] " + whole) is not None
    assert journal.parse(whole + b" ok") is None


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"{",
        b'{"',
        b'{"temperature":42}',
        b'{"visit":"three"}',
        b'{"begin":3}',
        b'{"end":1.5}',
        b'{"end":true}',
        b'{"clock":1,"shared":1,"checks":[],"models":[]}',
        b'{"clock":1,"shared":true,"checks":[{"rank":1}],"models":[]}',
        b'{"clock":1,"shared":true}',
        b'{"\xff\xfe":1}',
        b'{"skip":3,"reason":"\xff\xfe"}',
        b'{"end":' + b"9" * 5000 + b"}",
        b'{"end":99,"deep":' + b"[" * 100_000,
        b"WARNING: There was an error initializing an OpenFabrics device.",
        "{\N{SNOWMAN}".encode(),
    ],
)
def test_other_output_is_ignored(words: bytes) -> None:
    assert journal.parse(words) is None


def test_a_line_after_an_unfinished_one_is_read() -> None:
    """A library may write to standard output whenever it likes."""
    line = journal.parse(b'noise noise {"end":3}')
    assert isinstance(line, journal.EndLine)
    assert journal.is_kernel_line(b'noise {"end":')
    assert journal.parse(b'{"of another": {"end":3}}') is None
    assert journal.parse(b'"said" {"end":3}') is None


@repeatable
@given(st.binary())
def test_no_bytes_make_it_crash(words: bytes) -> None:
    assert journal.parse(words) is None or journal.is_kernel_line(words)


@repeatable
@given(st.sampled_from([*LINES.values(), TOGETHER]), st.data())
def test_no_mutation_makes_it_crash(line: dict[str, Any], data: st.DataObject) -> None:
    whole = bytearray(text(line))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        if not whole:
            break
    found = journal.parse(bytes(whole))
    assert found is None or type(found) in LINES


@repeatable
@given(
    st.sampled_from([*LINES.values(), TOGETHER]),
    st.dictionaries(
        st.sampled_from([name for line in (*LINES.values(), TOGETHER) for name in line]),
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())),
    ),
)
def test_no_value_makes_it_crash(line: dict[str, Any], changes: dict[str, Any]) -> None:
    found = journal.parse(text(line | changes))
    assert found is None or type(found) in LINES


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, line in LINES.items() for key in line])
def test_a_number_out_of_range_makes_the_line_invalid(kind: type, key: str) -> None:
    line = LINES[kind]
    if type(line[key]) is int:
        assert journal.parse(text({**line, key: 10**400})) is None
        assert journal.parse(text({**line, key: 2**63})) is None
