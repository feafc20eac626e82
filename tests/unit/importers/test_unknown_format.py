"""A text that is not read is answered with what it seems to be, what is read, and how to say what it is."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.importers import READERS
from mpigauge.importers.unknown_format import MARKS, WIDTH, guess_program
from tests.printed import FILES

if TYPE_CHECKING:
    from tests.conftest import Cli

OUTPUTS = {
    "GPCNeT": "Network Tests v1.3\n  Test with 14320 MPI ranks (1790 nodes)\n",
    "UCC perftest": "       Count        Size                Time, us           Bandwidth, GB/s\n",
    "HPC Challenge": "Major Benchmark results:\n\nMax Ping Pong Latency:                 0.002113 msecs\n",
    "iperf3": '{"start":{"connected":[],"version":"iperf 3.9"}}\n',
    "iperf": "[ ID] Interval       Transfer     Bandwidth\n",
    "sockperf": "sockperf: Summary: Latency is 12.842 usec\n",
    "qperf": "tcp_lat:\n    latency  =  12.3 us\n",
    "netperf": "MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET\n",
    "gloo's benchmark": "Algorithm:   new_allreduce_ring\n\n   elements   min (us)   p50 (us)\n",
    "Google Benchmark": "Benchmark                      Time             CPU   Iterations UserCounters...\n",
    "NVSHMEM perftest": "mype: 1 mype_node: 0 device name: NVIDIA H800 bus id: 25\n",
    "mpptest": "./mpptest -auto -logscale\n",
    "SKaMPI": '# SKaMPI Version 5.0 rev. 191\n#\n# begin result "MPI_Bcast-nodes-length"\n',
    "ReproMPI": "# ReproMPI 1.0\n",
    "LinkTest": "linktest 2.1\n",
    "mpiGraph": "START mpiGraph v1.6\nMsgSize    16384\n",
    "mpiBench": "START mpiBench v1.5\n0 : node1\n",
    "STREAM, which measures memory": "Function    Best Rate MB/s  Avg time     Min time     Max time\n",
    "HPL": "HPLinpack 2.3  --  High-Performance Linpack benchmark\n",
}


def test_every_program_that_is_known_by_name_has_an_output_here() -> None:
    assert {name: guess_program(f"$ mpirun x\n{text}") for name, text in OUTPUTS.items()} == {
        name: name for name in MARKS
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_read_seems_to_be_of_nobody_else(path: Path) -> None:
    assert guess_program(path.read_text(encoding="utf-8")) == ""


@pytest.mark.parametrize("name", ["GPCNeT", "sockperf", "iperf3"])
def test_the_answer_names_it_and_what_is_read_and_fits_a_terminal(cli: Cli, name: str) -> None:
    Path("x.txt").write_text(OUTPUTS[name], encoding="utf-8")
    done = cli("show", "x.txt")
    assert (done.status, done.out) == (2, "")
    first, *hint = done.err.splitlines()
    assert first == (
        "mpigauge: x.txt: is not a result file of mpigauge; "
        f"it seems to be output of {name}, which is not read"
    )
    assert all(len(line) <= WIDTH for line in hint)
    said = " ".join(" ".join(hint).split())
    assert all(reader.program in said for reader in READERS.values())
    assert "mpigauge import csv x.txt --columns table.toml" in said


@pytest.mark.parametrize(
    ("heading", "lines"),
    [
        ("nodes,size,t", ['bytes = { column = "size" }', 'time = { column = "t", unit = "us" }']),
        (
            "length;Throughput",
            ['bytes = { column = "length" }', 'rate = { column = "Throughput", unit = "MB/s" }'],
        ),
    ],
)
def test_the_example_is_of_the_columns_that_are_there_and_can_be_followed(
    cli: Cli, heading: str, lines: list[str]
) -> None:
    sign = "," if "," in heading else ";"
    row = sign.join("8" for _ in heading.split(sign))
    Path("x.csv").write_text(f"measured today\n{heading}\n{row}\n", encoding="utf-8")
    said = cli("show", "x.csv").err.splitlines()
    example = [line.strip() for line in said if " = " in line]
    assert set(lines) < set(example)
    Path("table.toml").write_text("\n".join(example), encoding="utf-8")
    (command,) = [line.split() for line in said if "import csv" in line]
    assert cli(*command[1:], "-o", "r.jsonl").status == 0


def test_import_of_what_is_not_read_says_what_it_seems_to_be(cli: Cli) -> None:
    Path("x.txt").write_text(OUTPUTS["GPCNeT"], encoding="utf-8")
    done = cli("import", "osu", "x.txt", "-o", "r.jsonl")
    assert done.status == 2
    assert "x.txt: has no number in it; it seems to be output of GPCNeT, which is not read" in done.err


def test_a_file_that_is_no_text_is_only_no_result(cli: Cli) -> None:
    Path("x.bin").write_bytes(b"\x7fELF\0\0iperf3")
    assert cli("show", "x.bin").err.splitlines() == [
        "mpigauge: x.bin: is not a result file of mpigauge",
        "  hint: mpigauge run writes one",
    ]


@pytest.mark.parametrize(
    "prefix", ["", "    ", "1: ", "[0]", "> ", "node1: ", "2024-11-02T09:12:01.551Z  ", "[1,0]<stdout>:"]
)
@pytest.mark.parametrize("name", MARKS)
def test_a_program_is_known_behind_what_launchers_and_logs_put_before_a_line(name: str, prefix: str) -> None:
    first, _, rest = OUTPUTS[name].partition("\n")
    assert guess_program(f"log\n{prefix}{first}\n{rest}") == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NetworkLoad Tests v1.3\n", "GPCNeT"),
        ("|      Name |     Congestion Impact Factor |\n", "GPCNeT"),
        ("MaxPingPongLatency_usec=7.96919\n", "HPC Challenge"),
        ("MsgSize\t16384\nTimes\t100\n", "mpiGraph"),
    ],
)
def test_a_program_is_known_by_what_people_post_of_it(text: str, name: str) -> None:
    assert guess_program(text) == name


LATENCIES = "# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n8                       1.23\n"


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"data": {"stdout": LATENCIES}}, ".data.stdout"),
        ([{"std-out": f"srun x\n{LATENCIES}"}], '.[0]."std-out"'),
    ],
)
def test_json_that_carries_an_output_is_answered_with_the_command_that_takes_it_out(
    cli: Cli, document: object, place: str
) -> None:
    Path("a.json").write_text(json.dumps(document), encoding="utf-8")
    done = cli("show", "a.json")
    assert done.err.splitlines() == [
        f"mpigauge: a.json: is JSON, in which {place} is the output of a program",
        f"  hint: jq -r {shlex.quote(place)} a.json | mpigauge show -",
    ]


def test_a_result_whose_first_line_is_cut_is_called_so(cli: Cli) -> None:
    Path("a.jsonl").write_text('{"type":"campaign"', encoding="utf-8")
    assert "the first line of this result is cut: nothing can be read of it" in cli("show", "a.jsonl").err


def test_rows_without_a_heading_of_one_line_are_refused_with_that_reason(cli: Cli) -> None:
    text = "$ ib_write_bw\n#bytes #iterations BW average\n\t\t(MB/sec)\n64\t1000\t12.1\n"
    Path("a.txt").write_text(f"# nccl-tests version 2.17\n{text}", encoding="utf-8")
    assert (
        "a.txt: line 5: no line above it names its columns and their units"
        in cli("import", "nccl", "a.txt", "-o", "r.jsonl").err
    )
