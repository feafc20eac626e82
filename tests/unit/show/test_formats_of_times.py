"""Formats of services that follow times over commits: each measured cell once, and numbers alone."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.document import Document
from mpigauge.document.records import cell_record
from mpigauge.errors import EXIT_DONE, EXIT_USAGE, UsageError
from mpigauge.show.formats import TIMED, render
from tests.made import cell, collective

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Cli

AS_JSON = [form for form in TIMED if form != "prometheus"]

numbers = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))
cells = st.builds(
    cell,
    st.sampled_from(["pingpong", "barrier", "stranger"]),
    st.sampled_from([0, 8, 1001, 1024]),
    mode=st.text(max_size=3),
    mpi=st.sampled_from(["openmpi", "mpich", "unknown"]),
    mpi_version=st.sampled_from(["", "5.0.2", "5.0.3"]),
    label=st.sampled_from(["", "pr"]),
    transport=st.sampled_from(["auto", "shm"]),
    placement=st.sampled_from(["auto", "same-host", "h1,h2"]),
)
records = st.lists(
    st.builds(
        lambda of, state, estimate, low, high: record(of, estimate, low, high, state),
        cells,
        st.sampled_from([None, "near", "far"]),
        numbers,
        numbers,
        numbers,
    ),
    max_size=6,
)


def record(
    of: Any, estimate: float | None, low: float | None = None, high: float | None = None, state: Any = None
) -> dict[str, Any]:
    times = {"time_estimate_s": estimate, "time_low_s": low, "time_high_s": high}
    return {**cell_record(of), "state": state, "launches": 5, "samples": 100, **times}


def document(*found: dict[str, Any]) -> Document:
    return Document(records=lambda: found)


def said(form: str, *found: dict[str, Any]) -> Any:
    """As a strict reader of JSON has it."""
    return json.loads(render(document(*found), form), parse_constant=pytest.fail)


def is_time(value: float | None) -> bool:
    return value is not None and math.isfinite(value * 1e9)


@given(records, st.sampled_from(AS_JSON))
def test_each_measured_cell_is_there_once_or_nothing_is_printed(
    found: list[dict[str, Any]], form: str
) -> None:
    measured = [one for one in found if is_time(one["time_estimate_s"])]
    if not measured:
        with pytest.raises(UsageError, match=f"format {form} needs times"):
            render(document(*found), form)
        return
    entries = said(form, *found)
    names = [*entries] if form == "bencher" else [one["name"] for one in entries]
    assert len({*names}) == len(names) == len(measured)
    values = [one["latency"]["value"] for one in entries.values()] if form == "bencher" else None
    values = values or [one["value"] for one in entries]
    assert values == [pytest.approx(one["time_estimate_s"] * 1e9) for one in measured]


def test_bencher_has_the_fields_of_its_format() -> None:
    entries = said("bencher", record(cell(size=8), 1e-6, 0.9e-6, 1.2e-6), record(cell(size=64), 2e-6))
    first, second = entries.values()
    assert first == {
        "latency": {
            "value": pytest.approx(1000),
            "lower_value": pytest.approx(900),
            "upper_value": pytest.approx(1200),
        }
    }
    assert second == {"latency": {"value": pytest.approx(2000)}}, "no interval is no key"


def test_github_has_the_fields_of_its_format() -> None:
    one, other = said("github", record(cell(size=8), 1e-6, 0.9e-6, 1.2e-6), record(cell(size=64), 2e-6))
    assert one.keys() == {"name", "unit", "value", "range", "extra"}
    assert (one["unit"], one["range"]) == ("ns", "900 \N{EN DASH} 1200")
    assert one["extra"] == "5 launches, 100 samples"
    assert "range" not in other
    assert all(isinstance(value, str) for name, value in one.items() if name != "value")


def names_of(*found: Any) -> list[str]:
    return [*said("bencher", *(record(of, 1e-6) for of in found))]


def test_a_name_outlives_an_upgrade_unless_both_are_there() -> None:
    old, new = (cell(size=8, mpi_version=version) for version in ("5.0.10", "5.0.11"))
    assert names_of(old) == names_of(new) == ["pingpong standard 8 B openmpi 2 ranks"]
    both = names_of(old, new)
    assert both == [f"pingpong standard 8 B openmpi {version} 2 ranks" for version in ("5.0.10", "5.0.11")]


def test_a_name_has_what_tells_cells_apart() -> None:
    found = names_of(
        cell(size=8, label="main"),
        cell(size=8, label="pr"),
        cell(size=8, transport="tcp"),
        collective("barrier"),
    )
    for name, word in zip(found, ("main", "pr", "tcp", "barrier"), strict=True):
        assert word in name.split()
    assert " 0 B" not in found[-1], "a barrier has no size"


def test_the_floor_of_the_instrument_is_no_benchmark() -> None:
    floor = cell("null", 0)
    assert len(names_of(floor, cell(size=8))) == 1
    with pytest.raises(UsageError):
        names_of(floor)


@pytest.mark.parametrize("form", AS_JSON)
def test_results_are_shown_by_cell(result: Path, cli: Cli, form: str) -> None:
    done = cli("show", result, "--format", form, "--series", "pingpong")
    assert (done.status, done.err) == (EXIT_DONE, "")
    assert len(json.loads(done.out)) == len(
        json.loads(cli("show", result, "--format", form, "--all", "--series", "pingpong").out)
    )
    for words in (
        ("list", "formats"),
        ("show", result, "--table", "times"),
        ("show", result, "--sizes", "3"),
    ):
        refused = cli(*words, "--format", form)
        assert (refused.status, refused.out) == (EXIT_USAGE, "")
