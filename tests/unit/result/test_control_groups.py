"""Control groups: of both versions, nested, and as containers see them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.result import control_groups as groups

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Put = Callable[[str, dict[str, str]], None]

GIB = 2**30


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """A machine whose groups are what is put into its files: by path, that of our process as "ours"."""
    monkeypatch.setattr(groups, "ROOT", tmp_path / "cgroup")
    monkeypatch.setattr(groups, "OWN_GROUPS", str(tmp_path / "ours"))

    def write(ours: str, files: dict[str, str]) -> None:
        (tmp_path / "ours").write_text(ours, encoding="ascii")
        for name, text in files.items():
            path = tmp_path / "cgroup" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="ascii")

    return write


def test_without_control_groups_there_is_no_limit(put: Put) -> None:
    assert (groups.cpu_quota(), groups.memory_left_bytes(), groups.throttle_count()) == (0.0, None, 0)
    put("0::/", {})
    assert (groups.cpu_quota(), groups.memory_left_bytes(), groups.throttle_count()) == (0.0, None, 0)


@pytest.mark.parametrize("ours", ["0::/job/step/task", "0::/elsewhere/of/the/host", "0::/../..", ""])
def test_limits_of_outer_groups_count(put: Put, ours: str) -> None:
    """Also where a container is told a path that it cannot see: the root that it sees is its own group."""
    put(ours, {"cpu.max": "400000 100000", "memory.max": str(4 * GIB), "memory.current": str(GIB)})
    assert groups.cpu_quota() == 4.0
    assert groups.memory_left_bytes() == 3 * GIB


@pytest.mark.parametrize(
    ("ours", "files", "cpus"),
    [
        ("0::/job", {"cpuset.cpus.effective": "0-7", "job/cpuset.cpus.effective": "2-3,5"}, 3),
        ("0::/job", {"cpuset.cpus.effective": "0-7", "job/cpu.max": "max 100000"}, 8),
        ("3:cpuset:/job", {"cpuset/cpuset.cpus": "0-7", "cpuset/job/cpuset.cpus": "1"}, 1),
        ("3:cpuset:/job", {"cpuset/job/cpuset.effective_cpus": "1-2", "cpuset/job/cpuset.cpus": "1"}, 2),
        ("0::/", {"cpuset.cpus.effective": "none"}, None),
        ("0::/", {}, None),
    ],
)
def test_processors_are_those_of_the_narrowest_group(
    put: Put, ours: str, files: dict[str, str], cpus: int | None
) -> None:
    put(ours, files)
    assert groups.cpus() == cpus


def test_the_narrowest_of_nested_groups_counts(put: Put) -> None:
    files = {
        "cpu.max": "max 100000",
        "job/cpu.max": "150000 100000",
        "job/step/cpu.max": "800000 100000",
        "job/memory.max": str(2 * GIB),
        "job/memory.current": str(GIB),
        "job/step/memory.max": "max",
        "job/step/memory.current": "1000",
    }
    put("0::/job/step", files)
    assert groups.cpu_quota() == 1.5
    assert groups.memory_left_bytes() == GIB
    put("0::/other", files)
    assert (groups.cpu_quota(), groups.memory_left_bytes()) == (0.0, None)


def test_version_1_has_a_tree_for_each_controller(put: Put) -> None:
    put(
        "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/user.slice\n0::/user.slice",
        {
            "cpu,cpuacct/job/cpu.cfs_quota_us": "200000",
            "cpu,cpuacct/job/cpu.cfs_period_us": "100000",
            "cpu,cpuacct/job/cpu.stat": "nr_periods 9\nnr_throttled 7\nthrottled_time 1",
            "cpu,cpuacct/cpu.cfs_quota_us": "-1",
            "cpu,cpuacct/cpu.cfs_period_us": "100000",
            "memory/job/memory.limit_in_bytes": str(2 * GIB),
            "memory/job/memory.usage_in_bytes": str(GIB),
            "memory/memory.limit_in_bytes": str(2**63 - 4096),
            "memory/memory.usage_in_bytes": str(GIB),
        },
    )
    (groups.ROOT / "cpu").symlink_to("cpu,cpuacct")  # as systems have it, so that either name leads there
    assert (groups.cpu_quota(), groups.memory_left_bytes(), groups.throttle_count()) == (2.0, GIB, 7)


def test_reclaimable_memory_counts_as_free(put: Put) -> None:
    put(
        "0::/",
        {
            "memory.max": str(4 * GIB),
            "memory.current": str(4 * GIB - 1),
            "memory.stat": f"anon 4096\ninactive_file {3 * GIB}\nactive_file 1",
        },
    )
    assert groups.memory_left_bytes() == 3 * GIB + 1


def test_throttling_at_every_level_counts(put: Put) -> None:
    put("0::/job", {"cpu.stat": "nr_throttled 2", "job/cpu.stat": "usage_usec 1\nnr_throttled 3"})
    assert groups.throttle_count() == 5


def test_control_groups_of_this_machine_can_be_read() -> None:
    assert groups.cpu_quota() >= 0
    assert groups.throttle_count() >= 0
    assert (groups.memory_left_bytes() or 0) >= 0


@given(st.text(), st.text() | st.from_regex(r"(0|1):(cpu|):[/.a-z]*|[0-9]+ [0-9]+"))
def test_no_content_of_system_files_makes_it_crash(ours: str, words: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "read", lambda path: ours if os.fspath(path) == groups.OWN_GROUPS else words)
        assert groups.cpu_quota() >= 0
        assert groups.throttle_count() >= 0
        assert (groups.memory_left_bytes() or 0) >= 0
