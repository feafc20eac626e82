"""What OSU 7.1 to 7.5 print above their numbers: each version, family and option is read alike.

The order of their lines is that of their sources; numbers are made up.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.result.records import Failure, Imported
from tests.printed import failures_of, records_of, said_of, times_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BELOW = ("7.1", "7.2", "7.3")
"""Versions that name the datatype of point-to-point messages below the heading."""

VERSIONS = (*BELOW, "7.4", "7.5")
SIZES = (4, 64, 1024)
US, MB = 1e-6, 1e6
PAIRS = 3


@dataclass(frozen=True)
class Family:
    """A program.

    Attributes:
        title: With the place of a device; what has none runs on hosts alone.
        heading: Without Size.
        lines: What it says between title and heading.
        pattern: What it becomes on hosts.
        messages: Of how many its rate is; 0 for times.
    """

    title: str
    heading: str
    pattern: str
    mode: str = "standard"
    lines: tuple[str, ...] = ()
    messages: int = 0
    kind: str = "pt2pt"

    def value(self, size: int) -> str:
        """The number of a row, as it is printed."""
        return f"{1.25 + size / 512 + self.messages:.2f}"

    def time_s(self, size: int) -> float:
        """What it says."""
        return self.messages * size / (float(self.value(size)) * MB) if self.messages else self._latency(size)

    def _latency(self, size: int) -> float:
        return float(self.value(size)) * US


REMOTE = ("# Window creation: MPI_Win_allocate", "# Synchronization: MPI_Win_flush")
FAMILIES = {
    "osu_latency": Family("MPI{} Latency Test", "Latency (us)", "pingpong"),
    "osu_latency_persistent": Family(
        "MPI{} Latency Persistent Test", "Latency (us)", "pingpong", "persistent"
    ),
    "osu_multi_lat": Family("MPI Multi Latency Test", "Latency (us)", "multi-pingpong"),
    "osu_latency_mp": Family("MPI{} Multi-process Latency Test", "Latency (us)", "osu_multi_process_latency"),
    "osu_bw": Family("MPI{} Bandwidth Test", "Bandwidth (MB/s)", "stream", "unidirectional", messages=1),
    "osu_bibw": Family(
        "MPI{} Bi-Directional Bandwidth Test", "Bandwidth (MB/s)", "stream", "bidirectional", messages=2
    ),
    "osu_bw_persistent": Family(
        "MPI{} Bandwidth Persistent Test", "Bandwidth (MB/s)", "osu_bandwidth_persistent", messages=1
    ),
    "osu_mbw_mr": Family(
        "MPI Multiple Bandwidth / Message Rate Test",
        "MB/s",
        "multi-stream",
        "unidirectional",
        lines=(f"# [ pairs: {PAIRS} ] [ window size: 64 ]",),
        messages=1,
    ),
    "osu_allreduce": Family(
        "MPI{} Allreduce Latency Test", "Avg Latency(us)", "allreduce", "blocking", kind="collective"
    ),
    "osu_neighbor_allgather": Family(
        "MPI{} Neighborhood Allgather Latency Test",
        "Avg Latency(us)",
        "osu_neighborhood_allgather_latency",
        kind="collective",
    ),
    "osu_put_latency": Family(
        "MPI_Put{} Latency Test", "Latency (us)", "put", "flush", REMOTE, kind="one-sided"
    ),
    "osu_get_bw": Family(
        "MPI_Get{} Bandwidth Test",
        "Bandwidth (MB/s)",
        "get-window",
        "flush",
        REMOTE,
        messages=1,
        kind="one-sided",
    ),
    "osu_put_bibw": Family(
        "MPI_Put{} Bi-directional Bandwidth Test",
        "Bandwidth (MB/s)",
        "osu_mpi_put_bi_directional_bandwidth",
        "MPI_Win_create MPI_Win_fence",
        ("# Window creation: MPI_Win_create", "# Synchronization: MPI_Win_fence"),
        messages=2,
        kind="one-sided",
    ),
}
DEVICES = {
    "pt2pt": "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)",
    "one-sided": "# Rank 0 Memory on DEVICE (D) and Rank 1 Memory on HOST (H)",
    "collective": "",
}
OPTIONS = ("", "-c", "-z", "-c -z")
CHAR = "# Datatype: MPI_CHAR."


def heading_of(family: Family, options: str) -> str:
    """The line that says what the columns are."""
    kind = "BW(MB/s)" if family.messages else "Lat(us)"
    more = ["Validation"] if "-c" in options else []
    tails = [f"P{share} Tail {kind}" for share in (50, 95, 99)] if "-z" in options else []
    rates = ["Messages/s"] if family.heading == "MB/s" else []
    return "# Size    " + "".join(f"{name:>19}" for name in [family.heading, *rates, *more, *tails])


def rows_of(family: Family, options: str, sizes: Sequence[int] = SIZES) -> Iterator[str]:
    """The numbers."""
    for size in sizes:
        value = family.value(size)
        rates = [f"{float(value) * MB / size:.2f}"] if family.heading == "MB/s" else []
        more = ["Pass"] if "-c" in options else []
        tails = [value] * 3 if "-z" in options else []
        yield f"{size:<10}" + "".join(f"{word:>19}" for word in [value, *rates, *more, *tails])


def comments_of(version: str, family: Family, options: str, device: str = "") -> list[str]:
    """The lines between title and rows, in the order of that version."""
    heading, buffers = heading_of(family, options), DEVICES[family.kind] if device else ""
    if family.kind == "one-sided":
        lines = [*family.lines, CHAR, buffers, heading]
    elif family.kind == "pt2pt" and version in BELOW:
        lines = [buffers, *family.lines, heading, CHAR]
    else:
        lines = [buffers, *family.lines, CHAR, heading]
    return [line for line in lines if line]


def title_of(version: str, family: Family, device: str = "") -> str:
    return f"# OSU {family.title.format(device)} v{version}"


def text_of(version: str, family: Family, options: str = "", device: str = "") -> str:
    """What a program prints."""
    title = title_of(version, family, device)
    # osu_mbw_mr prints its title twice.
    titles = [title, title, ""] if family.heading == "MB/s" else ["", title]
    return "\n".join([*titles, *comments_of(version, family, options, device), *rows_of(family, options), ""])


def cases() -> Iterator[tuple[str, str, str]]:
    for version, name, options in itertools.product(VERSIONS, FAMILIES, OPTIONS):
        # Neither -z in 7.1 and 7.2, nor -c of put and get, is there.
        if "-z" in options and version in {"7.1", "7.2"}:
            continue
        if "-c" in options and FAMILIES[name].kind == "one-sided":
            continue
        yield version, name, options


@pytest.mark.parametrize(("version", "name", "options"), list(cases()))
def test_every_version_family_and_option_is_read(
    tmp_path: Path, version: str, name: str, options: str
) -> None:
    family = FAMILIES[name]
    records = records_of(tmp_path / "t", text_of(version, family, options))
    times = {(of.pattern, of.mode, of.bytes): time_s for of, time_s in times_of(records).items()}
    assert times == {
        (family.pattern, family.mode, size): pytest.approx(family.time_s(size), rel=1e-4) for size in SIZES
    }


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", [name for name in FAMILIES if "{}" in FAMILIES[name].title])
def test_on_devices_the_numbers_are_the_same_under_another_name(
    tmp_path: Path, version: str, name: str
) -> None:
    family = FAMILIES[name]
    records = records_of(tmp_path / "t", text_of(version, family, device="-CUDA"))
    times = times_of(records)
    assert all("cuda" in of.pattern for of in times)
    assert {of.bytes: time_s for of, time_s in times.items()} == {
        size: pytest.approx(family.time_s(size), rel=1e-4) for size in SIZES
    }


@given(
    version=st.sampled_from(VERSIONS),
    name=st.sampled_from(sorted(FAMILIES)),
    device=st.sampled_from(["", "-CUDA", "-ROCM"]),
    data=st.data(),
)
def test_the_order_of_the_lines_above_the_rows_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, version: str, name: str, device: str, data: st.DataObject
) -> None:
    family = FAMILIES[name]
    device = device if "{}" in family.title else ""
    lines = data.draw(st.permutations(comments_of(version, family, "", device)))
    text = "\n".join([title_of(version, family, device), *lines, *rows_of(family, ""), ""])
    path = tmp_path_factory.getbasetemp() / "permuted"
    assert times_of(records_of(path, text)) == times_of(
        records_of(path, text_of(version, family, device=device))
    )


@pytest.mark.parametrize(
    ("window", "sync", "found"),
    [
        ("create", "flush", ("put", "flush", "create")),
        ("allocate", "flush_local", ("put", "flush_local", "allocate")),
        ("dynamic", "lock", ("put", "lock", "dynamic")),
        ("allocate", "fence", ("osu_mpi_put_latency", "MPI_Win_allocate MPI_Win_fence", "")),
        ("create", "pscw", ("osu_mpi_put_latency", "MPI_Win_create MPI_Win_pscw", "")),
    ],
)
def test_one_sided_operations_are_ours_where_their_loop_is(
    tmp_path: Path, window: str, sync: str, found: tuple[str, str, str]
) -> None:
    lines = (f"# Window creation: MPI_Win_{window}", f"# Synchronization: MPI_Win_{sync}")
    text = text_of("7.4", replace(FAMILIES["osu_put_latency"], lines=lines))
    (of,) = {(of.pattern, of.mode, of.rma_window) for of in times_of(records_of(tmp_path / "t", text))}
    assert of == found


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["osu_latency", "osu_bw", "osu_mbw_mr", "osu_allreduce"])
def test_each_datatype_has_a_table_of_its_own(tmp_path: Path, version: str, name: str) -> None:
    """From the second on, 7.1 to 7.3 print the heading below the datatype, and call rates a latency, too."""
    family = FAMILIES[name]
    misnamed = version in BELOW and family.kind == "pt2pt"
    second = "# Size           Avg Latency(us)" if misnamed else heading_of(family, "")
    text = text_of(version, family) + "\n".join(["# Datatype: MPI_INT.", second, *rows_of(family, ""), ""])
    times = times_of(records_of(tmp_path / "t", text))
    assert {(of.datatype, of.bytes): time_s for of, time_s in times.items()} == {
        (datatype, size): pytest.approx(family.time_s(size), rel=1e-4)
        for datatype in ("MPI_CHAR" if family.kind == "collective" else "", "int32")
        for size in SIZES
    }


def test_each_thread_may_name_the_datatype(tmp_path: Path) -> None:
    """As osu_latency_mt does, from each thread that sends."""
    family = Family("MPI{} Multi-threaded Latency Test", "Latency (us)", "osu_multi_threaded_latency")
    once = text_of("7.3", family)
    assert times_of(records_of(tmp_path / "t", once.replace(CHAR, f"{CHAR}\n{CHAR}"))) == times_of(
        records_of(tmp_path / "t", once)
    )


def test_a_rate_is_never_taken_from_a_heading_of_latencies(tmp_path: Path) -> None:
    """7.4 heads each of its tables truly: there, it is a table whose title is lost."""
    text = text_of("7.4", FAMILIES["osu_bw"])
    lost = "# Datatype: MPI_INT.\n# Size           Avg Latency(us)\n4      1.00\n"
    assert "not those of the title" in said_of(tmp_path / "t", text + lost)


@pytest.mark.parametrize(("word", "fails"), [("passed", False), ("skipped", False), ("failed", True)])
def test_atomic_operations_say_in_words_of_their_own_that_data_were_wrong(
    tmp_path: Path, word: str, fails: bool
) -> None:
    lines = [
        "# OSU MPI_Accumulate latency Test v7.3",
        *REMOTE,
        CHAR,
        "# Size          Latency (us)        Validation",
        f"8                 1.25     {word}",
        "",
    ]
    records = records_of(tmp_path / "t", "\n".join(lines))
    assert any(isinstance(record, Imported) for record in records) is not fails
    assert any(isinstance(record, Failure) for record in records) is fails
    assert failures_of(records) == ([("accumulate", 8, "corrupt")] if fails else [])
