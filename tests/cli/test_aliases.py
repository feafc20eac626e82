"""What people type who come from another benchmark: it is understood, or told what it is here."""

from __future__ import annotations

import ast
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mpigauge as mpigauge_package
from mpigauge.cli import CHAPTERS, COMMANDS, mpigauge
from mpigauge.cli.options import aliases, foreign_values
from mpigauge.cli.options.unmeasured import UNMEASURED, why_unmeasured
from mpigauge.errors import nearest
from mpigauge.plan import names
from mpigauge.plan.patterns import known
from mpigauge.result.reader import load
from mpigauge.show.figures import ALIASES, KINDS
from tests.made import written
from tests.unit.show.drawing import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

FLOOR = names.patterns()[0]
MAX_NAMES = 16
"""In an error with its hint."""

LINES_OF_SCREEN = 40
"""Of a help without scrolling, on what terminals usually are."""


def curves(cli: Cli, *words: str) -> set[tuple[str, str, int]]:
    """The patterns, modes and ranks of a dry run; a dry run names no ranks, so they are of the command."""
    done = cli("run", *words, "--sizes", "8", "--dry-run")
    assert done.status == 0, done.err
    found, ranks = set(), 0
    for line in done.out.splitlines():
        first, *rest = line.split()
        if "mpiexec" in line:
            given = line.split()
            ranks = int(given[given.index("-n") + 1])
        elif line.startswith("    ") and first != FLOOR:
            found.add((first, rest[0].rstrip(","), ranks))
    return found


@pytest.mark.parametrize(
    ("word", "pattern", "mode"),
    [
        ("latency", "pingpong", "standard"),
        ("osu_latency", "pingpong", "standard"),
        ("PingPong", "pingpong", "standard"),
        ("PINGPONG", "pingpong", "standard"),
        ("ping-pong", "pingpong", "standard"),
        ("bw", "stream", "unidirectional"),
        ("osu_bw", "stream", "unidirectional"),
        ("bibw", "stream", "bidirectional"),
        ("osu_bibw", "stream", "bidirectional"),
        ("Biband", "multi-stream", "bidirectional"),
        ("osu_mbw_mr", "multi-stream", "unidirectional"),
        ("osu_multi_lat", "multi-pingpong", "standard"),
        ("osu_bw_fan_in", "incast", "stream"),
        ("osu_bw_fan_out", "outcast", "stream"),
        ("Exchange", "neighbours", "nonblocking"),
        ("IMB_Exchange", "neighbours", "nonblocking"),
        ("exchange", "exchange", "nonblocking"),
        ("PingPing", "exchange", "nonblocking"),
        ("Sendrecv", "shift", "sendrecv"),
        ("halo", "neighbours", "nonblocking"),
        ("halo_exchange", "neighbours", "nonblocking"),
        ("stencil", "neighbours", "nonblocking"),
        ("neighbors", "neighbours", "nonblocking"),
        ("Allreduce", "allreduce", "blocking"),
        ("osu_allreduce", "allreduce", "blocking"),
        ("mpi_allreduce", "allreduce", "blocking"),
        ("MPI_Allreduce", "allreduce", "blocking"),
        ("Reduce_scatter_block", "reduce_scatter_block", "blocking"),
        ("osu_reduce_scatter", "reduce_scatter", "blocking"),
        ("osu_iallreduce", "allreduce", "overlap"),
        ("MPI_Iallreduce", "allreduce", "nonblocking"),
        ("MPI_Bcast", "bcast", "blocking"),
        ("Barrier", "barrier", "blocking"),
        ("MPI_Send", "pingpong", "standard"),
        ("MPI_Isend", "pingpong", "nonblocking"),
        ("MPI_Bsend", "pingpong", "buffered"),
        ("MPI_Ssend", "pingpong", "synchronous"),
        ("MPI_Rsend", "pingpong", "ready"),
        ("MPI_Recv", "pingpong", "standard"),
        ("MPI_Irecv", "pingpong", "nonblocking"),
        ("MPI_Send_init", "pingpong", "persistent"),
        ("MPI_Sendrecv", "shift", "sendrecv"),
        ("MPI_Sendrecv_replace", "exchange", "sendrecv-replace"),
        ("send", "pingpong", "standard"),
        ("SSEND", "pingpong", "synchronous"),
        ("Isend", "pingpong", "nonblocking"),
        ("MPISend", "pingpong", "standard"),
        ("PMPI_Bcast", "bcast", "blocking"),
        ("MPI_Barrier()", "barrier", "blocking"),
        ("PingPongSpecificSource", "pingpong", "standard"),
        ("bandwidth", "stream", "unidirectional"),
        ("throughput", "stream", "unidirectional"),
        ("osu_alltoallw", "alltoallw", "blocking"),
        ("osu_ialltoallw", "alltoallw", "overlap"),
        ("osu_init", "session", "init-finalize"),
        ("MPI_Session_init", "session", "init-finalize"),
        ("MPI_Comm_dup", "comm_dup", "blocking"),
        ("MPI_Comm_idup", "comm_dup", "nonblocking"),
        ("MPI_Comm_split", "comm_split", "halves"),
        ("MPI_Comm_split_type", "comm_split", "hosts"),
        ("MPI_Comm_create_group", "comm_create_group", "members"),
        ("MPI_Comm_create", "comm_create_group", "parent"),
        ("MPI_Cart_create", "cart_create", "in-order"),
        ("ping", "pingpong", "standard"),
        ("PingPongAnySource", "matching", "any-source"),
        ("PingPingAnySource", "matching", "any-source"),
        ("PingPongAnyTag", "matching", "any-tag"),
        ("MPI_Probe", "matching", "probe"),
        ("MPI_Mprobe", "matching", "mprobe"),
        ("MPI_Type_vector", "layout", "derived"),
        ("MPI_Type_create_subarray", "layout", "subarray-x"),
        ("MPI_Pack", "layout", "pack"),
        ("osu_partitioned_latency", "partitioned", "whole"),
        ("MPI_Psend_init", "partitioned", "whole"),
        ("MPI_Parrived", "partitioned", "parrived"),
        ("osu_put_latency", "put", "flush"),
        ("osu_get_latency", "get", "flush"),
        ("osu_put_bw", "put-window", "flush"),
        ("osu_put_bibw", "put-window", "fence"),
        ("osu_get_bw", "get-window", "flush"),
        ("osu_acc_latency", "accumulate", "flush"),
        ("osu_get_acc_latency", "get_accumulate", "flush"),
        ("osu_fop_latency", "fetch_and_op", "flush"),
        ("osu_cas_latency", "compare_and_swap", "flush"),
        ("Unidir_put", "put", "flush"),
        ("Unidir_Get", "get", "flush"),
        ("One_put_all", "put", "flush"),
        ("Put_local", "put", "flush_local"),
        ("Truly_passive_put", "progress", "put"),
        ("Fetch_and_op", "fetch_and_op", "flush"),
        ("MPI_Rput", "put", "request"),
        ("MPI_Accumulate", "accumulate", "flush"),
        ("MPI_Win_fence", "empty-epoch", "fence"),
        ("MPI_Win_complete", "empty-epoch", "pscw"),
        ("MPI_Win_unlock", "empty-epoch", "lock"),
        ("MPI_Win_unlock_all", "empty-epoch", "lock_all"),
        ("MPI_Win_attach", "win_create", "dynamic"),
        ("MPI_Win_create", "win_create", "create"),
        ("MPI_Win_create()", "win_create", "create"),
        ("win_create", "win_create", "allocate"),
        ("MPI_Win_allocate", "win_create", "allocate"),
        ("MPI_Win_allocate_shared", "win_create", "shared"),
        ("MPI_Win_create_dynamic", "win_create", "dynamic"),
    ],
)
def test_names_of_others_are_understood(
    cli: Cli, openmpi: FakeMpi, word: str, pattern: str, mode: str
) -> None:
    assert curves(cli, word) == {(pattern, mode, 2)}


def test_an_alias_says_what_its_name_does_not(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("osu_bw", "bibw", "latency", "Exchange", "pingpong", "osu_bw")
    done = cli("run", *words, "--sizes", "64", "--dry-run")
    first, second, third = done.err.splitlines()
    assert first == "mpigauge: osu_bw: stream unidirectional"
    assert second == "mpigauge: bibw: stream bidirectional"
    assert third == "mpigauge: Exchange: neighbours nonblocking"
    assert curves(cli, "bw", "bibw") == {("stream", mode, 2) for mode in ("unidirectional", "bidirectional")}
    assert curves(cli, "bibw", "stream") == curves(cli, "bw", "bibw")


def test_two_names_of_one_measurement_are_one(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "send", "recv", "isend", "irecv", "--sizes", "64", "--dry-run")
    measured = [line.split()[:2] for line in done.out.splitlines() if line.startswith("    pingpong")]
    assert measured == [["pingpong", "standard"], ["pingpong", "nonblocking"]]


@pytest.mark.parametrize(
    ("pattern", "word", "mode"),
    [
        ("pingpong", "Send", "standard"),
        ("pingpong", "isend", "nonblocking"),
        ("pingpong", "MPI_Bsend", "buffered"),
        ("pingpong", "ssend", "synchronous"),
        ("pingpong", "NON-BLOCKING", "nonblocking"),
        ("exchange", "Send", "blocking"),
        ("exchange", "isend", "nonblocking"),
        ("exchange", "Sendrecv_replace", "sendrecv-replace"),
        ("bcast", "MPI_Ibcast", "nonblocking"),
        ("barrier", "allreduce", "allreduce"),
    ],
)
def test_modes_are_also_called_by_the_functions_that_they_call(
    cli: Cli, openmpi: FakeMpi, pattern: str, word: str, mode: str
) -> None:
    assert curves(cli, pattern, "--mode", word) == {(pattern, mode, 2)}


def test_series_are_also_called_by_the_functions_that_they_call(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("exchange", "--mode", "Send,Isend", "--sizes", "8", "--launches", "1", "-q", "-o", "r.jsonl")
    assert cli("run", *words).status == 0
    for word, mode in (("Send", "blocking"), ("MPI_Isend", "nonblocking")):
        shown = json.loads(cli("show", "r.jsonl", "--series", word, "--format", "json").out)
        assert {row["mode"] for row in shown["rows"] if row["pattern"] != FLOOR} == {mode}


def test_a_mode_that_is_named_prevails(cli: Cli, openmpi: FakeMpi) -> None:
    assert curves(cli, "bibw", "--mode", "unidirectional") == {("stream", "unidirectional", 2)}


def test_a_result_knows_the_pattern_alone(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("osu_latency", "--sizes", "8", "--launches", "1", "-q", "-o", "r.jsonl", "--format", "json")
    done = cli("run", *words)
    assert {row["pattern"] for row in json.loads(done.out)["rows"]} == {"pingpong", FLOOR}
    assert load(Path("r.jsonl")).campaign.plan.title == "pingpong"


@pytest.mark.parametrize("words", [("-n", "3"), ("-n3",), ("-np", "3"), ("--ranks", "3"), ("--np", "3")])
def test_every_spelling_of_the_number_of_ranks(cli: Cli, openmpi: FakeMpi, words: tuple[str, ...]) -> None:
    assert curves(cli, "ring", *words) == {("ring", "standard", 3)}
    assert "-n 3 " in cli("map", *words, "--dry-run").out
    assert "ranks=3" in cli("kernel", "plan", "ring", "--sizes", "8", *words).out
    script = cli("sbatch", "ring", *words).out
    assert " ".join(words) in script
    assert "--np 2" not in script


def test_a_plan_file_takes_exact_names(cli: Cli, openmpi: FakeMpi) -> None:
    Path("plan.toml").write_text('[[measure]]\npattern = "bibw"\n', encoding="utf-8")
    done = cli("run", "--plan", "plan.toml")
    assert done.status == 2
    assert "plan.toml: no pattern is called 'bibw'" in done.err
    assert 'exact names only: pattern = "stream", modes = ["bidirectional"]' in done.err


def test_an_alias_chooses_from_a_plan_file(cli: Cli, openmpi: FakeMpi) -> None:
    text = '[[measure]]\npattern = "stream"\nwindow = 8\n[[measure]]\npattern = "ring"\n'
    Path("plan.toml").write_text(text, encoding="utf-8")
    assert curves(cli, "--plan", "plan.toml", "bibw") == {("stream", "bidirectional", 2)}
    assert curves(cli, "--plan", "plan.toml", "latency") == {("pingpong", "standard", 2)}


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("run", "latency", "-m", "8:1024"), "message sizes are --sizes here"),
        (("run", "-i", "100"), "--precision and --budget"),
        (("run", "--iterations", "100"), "--precision and --budget"),
        (("run", "-x", "10"), "warm-up is automatic"),
        (("sbatch", "latency", "-m", "8"), "message sizes are --sizes here"),
        (("kernel", "plan", "latency", "-x", "8"), "warm-up is automatic"),
        (("run", "--size", "8"), "did you mean --sizes?"),
        (("plot", "r.jsonl", "--series"), "see mpigauge plot --help"),
        (("mpi", "add", "--wheels"), "see mpigauge mpi --help"),
        (("show", "r.jsonl", "-x"), "see mpigauge show --help"),
        (("pingpong",), "that is a pattern: mpigauge run pingpong"),
        (("osu_bw",), "that is a pattern: mpigauge run osu_bw"),
        (("resum",), "did you mean resume?"),
        (("wrong",), "hint: mpigauge --help shows all\n"),
        (("run", "pingpung"), "did you mean pingpong?"),
        (("run", "latncy"), "did you mean latency, which is pingpong?"),
        (("run", "througput"), "did you mean throughput, which is stream unidirectional?"),
        (("run", "osu_neighbor_alltoall"), "neighbourhood collectives are not measured yet"),
        (("run", "--transport", "ib"), "such as --env UCX_TLS=rc"),
        (("map", "--transport", "UCX"), "auto is the fastest network that the library has a driver for"),
        (("run", "--transport", "vader"), "did you mean shm?"),
        (("run", "--transport", "TCP"), "did you mean tcp?"),
        (("run", "--transport", "shm,tcp"), "one each: --transport shm --transport tcp"),
        (("map", "--transport", "shm,tcp"), "one of them: --transport shm"),
        (("run", "--transport", "banana"), "see mpigauge run --help"),
        (("run", "--bind", "socket"), "--bind none --mpi-option --bind-to --mpi-option socket"),
        (("mpi", "lst"), "did you mean list? choose from add"),
        (("import", "foo", "x"), "choose from "),
        (("completion",), "Choose from: bash, zsh, fish"),
        (("run", "--plan", "x.toml"), "a name: mpigauge list plans"),
        (("run", "xyz"), "hint: mpigauge list shows all patterns\n"),
        (("run", "pingpong", "--mode", "blocking"), "hint: did you mean standard (MPI_Send, MPI_Recv)?\n"),
        (("run", "bcast", "--mode", "standard"), "hint: did you mean blocking (MPI_Bcast)?\n"),
        (("run", "stream", "--mode", "isend"), "choose from unidirectional, bidirectional, all"),
        (("run", "blocking"), "that is a mode"),
        (("run", "MPI_Wait"), "MPI_Wait is timed with what it waits for: pingpong --mode nonblocking"),
        (("run", "MPI_Issend"), "pingpong has MPI_Bsend, MPI_Ssend and MPI_Rsend"),
        (("run", "osu_bw_persistent"), "a persistent stream is not measured"),
        (("run", "MPI_Raccumulate"), "requests are measured of MPI_Rput and MPI_Rget"),
        (("run", "MPI_Rget_accumulate"), "requests are measured of MPI_Rput and MPI_Rget"),
        (("run", "MPI_Win_sync"), "one-sided operations are put, get and others"),
        (("run", "IMB-RMA"), "one-sided operations are put, get and others"),
        (("run", "IMB-EXT"), "one-sided operations are put, get and others"),
        (("run", "stream", "--pairs", "all"), 'in a plan pairs = "tournament"'),
        (("run", "pingpong", "-t", "4"), "threads are not measured yet"),
        (
            ("run", "osu_latency", "-m", "8:1024", "D", "D"),
            "what remains is mpigauge run osu_latency --sizes 8:1024",
        ),
        (
            ("run", "osu_latency", "D", "D"),
            "buffers on a GPU are not measured yet: OSU and IMB have them; what",
        ),
        (("run", "osu_latency", "H", "H"), "mpigauge run osu_latency\n"),
        (("osu_latency", "-m", "8:1024", "-i", "9", "-x", "1"), "mpigauge run osu_latency --sizes 8:1024\n"),
        (("./osu_bw", "-m", "8:64", "-W", "32"), "mpigauge run osu_bw --sizes 8:64 --window 32\n"),
        (("latency", "--np", "2", "-q"), "mpigauge run latency --np 2 -q\n"),
        (("run", "osu_latency", "-m8", "-W32"), "mpigauge run osu_latency --sizes 1:8 --window 32\n"),
        (("run", "osu_bcast", "-k", "fixed:1", "-f"), "--root 1 --columns min,p5,p95,max\n"),
        (("run", "osu_put_latency", "-w", "create", "-s", "lock"), "--rma-window create --mode lock\n"),
        (("mpirun", "-np", "2", "./osu_latency", "-m", "8:64"), "run -np 2 osu_latency --sizes 8:64\n"),
        (
            ("mpiexec", "-n", "4", "--mca", "btl", "tcp", "IMB-MPI1", "Bcast"),
            "--env OMPI_MCA_btl=tcp Bcast\n",
        ),
        (("mpirun", "-x", "UCX_TLS=rc", "-n", "2", "osu_bw"), "run --env UCX_TLS=rc -n 2 osu_bw\n"),
        (("mpirun", "-n", "2", "./a.out"), "did you mean run?"),
        (("srun", "-n", "2", "osu_latency"), "hint: mpigauge run -n 2 osu_latency\n"),
        (("IMB-MPI1", "Allreduce", "-msglog", "3:5"), "hint: mpigauge run Allreduce --sizes 8:32\n"),
        (
            ("mpiexec", "-ppn", "1", "-hosts", "n1,n2", "Bcast"),
            "node2:1; what remains is mpigauge run --hosts",
        ),
        (("run", "IMB-MPI1", "Bcast", "-msglen", "a.txt"), "what remains is mpigauge run Bcast\n"),
        (("run", "osu_mbw_mr", "-p", "8", "-V"), "all pairs at once are multi-stream"),
        (("sbatch", "job.sh"), "that is a script: sbatch job.sh\n"),
        (("sbatch", "-N", "4", "bcast"), "--nodes 4\n"),
        (("sbatch", "--ntasks-per-node=2", "bcast"), "--tasks-per-node 2\n"),
        (("sbatch", "--nodes", "4", "map", "-t", "30"), "--time 30min\n"),
        (("sbatch", "--nodes", "4", "map", "--account=phys"), "give it to Slurm's own sbatch"),
        (("map", "--prometheus"), "did you mean --format prometheus?"),
        (
            ("run", "osu_iallreduce", "-t", "100"),
            "calls of MPI_Test during the computation are --tests here: --tests 100",
        ),
        (
            ("run", "osu_iallreduce", "-t", "9", "-m", "8"),
            "mpigauge run osu_iallreduce --tests 9 --sizes 1:8",
        ),
        (("run", "osu_latency", "-d", "cuda", "-x", "5"), "buffers on a GPU are not measured yet"),
        (
            ("run", "bidirectional"),
            "one message each way at once is exchange, many are stream --mode bidirectional",
        ),
        (("run", "osu_bw", "--latex"), "did you mean --format latex?"),
        (("run", "osu_bw", "--csv"), "did you mean --format csv?"),
        (("show", "--json"), "did you mean --format json?"),
        (("show", "--osu"), "did you mean --format osu?"),
        (("compare", "--md"), "did you mean --format markdown?"),
        (("show", "--html"), "a page is written by mpigauge report RESULT"),
        (("run", "--export-json", "a.json"), "mpigauge show RESULT -o a.json"),
        (("run", "pingpong", "--sizes", "8-64"), "a range is written 8:64\n"),
        (("run", "pingpong", "--sizes", "8,1K..1M"), "a range is written 1K:1M\n"),
        (("lab", "--latency", "5us"), "--delay 5us\n"),
        (("lab", "--bandwidth", "1gbit"), "--rate 1gbit\n"),
        (("lab", "--loss", "1%"), "no packet is lost"),
        (("lab", "--slow", "h3"), "--host h3:delay=1ms\n"),
        (("lab", "--nodes", "4"), "the number of hosts is --hosts here: --hosts 4\n"),
        (("import", "osu", "x", "-o", "y", "--overwrite"), "remove it first, or name another file by -o"),
        (("map", "-o", "y.jsonl", "--overwrite"), "remove it first, or name another file by -o"),
        (("plot", "x.jsonl", "--overwrite"), "leave it out: a figure is replaced"),
        (("plot", "x.jsonl", "--type", "rate"), "--kind rate\n"),
        (("run", "map"), "all pairs are measured by mpigauge map"),
        (("run", "MPI_Comm_spawn"), "of communicators the making is measured: comm_dup, comm_split"),
        (("run", "osu_hello"), "mpigauge explain tells what MPI_Init takes"),
        (("run", "MPI_Finalize"), "MPI_Init is, in every launch"),
        (("run", "osu_latency_mp"), "fork safety is not a cost; run pingpong under --env RDMAV_FORK_SAFE=1"),
        (("run", "IMB-IO"), "measures messages, not files: IOR and IO500 do"),
        (("run", "MPI_File_write"), "measures messages, not files: IOR and IO500 do"),
        (("run", "S_Write_indv"), "measures messages, not files: IOR and IO500 do"),
        (("run", "osu_oshm_put"), "other libraries than MPI"),
        (("run", "osu_upc_memput"), "other libraries than MPI"),
        (("run", "osu_nccl_allreduce"), "nccl-tests and rccl-tests measure them"),
        (("run", "osu_latency_mt"), "threads are not measured yet"),
        (("run", "pingpong", "-d", "cuda"), "buffers on a GPU are not measured yet"),
        (("run", "IMB-MPI1"), "PingPong and its like are understood"),
        (("run", "placements"), "that is a plan: mpigauge run --plan placements"),
        (("placements",), "that is a plan: mpigauge run --plan placements"),
        (("run", "examples/exchange.toml"), "that is a plan file: mpigauge run --plan exchange\n"),
        (("run", "mine.toml"), "that is a plan file: mpigauge run --plan mine.toml"),
        (("run", "r.jsonl"), "that is a result: mpigauge show r.jsonl"),
        (("r.jsonl.gz",), "that is a result: mpigauge show r.jsonl.gz"),
        (("MPI_Send",), "that is a pattern: mpigauge run MPI_Send"),
        (("bench",), "did you mean run?"),
        (("diff", "a", "b"), "did you mean compare?"),
        (("--sizes", "8", "pingpong"), "options follow a command: mpigauge run --sizes 8 pingpong"),
        (("-np", "2", "run", "pingpong"), "options follow a command: mpigauge run -np 2 pingpong"),
        (("--all",), "options follow a command: mpigauge show --all"),
        (("-m", "1:64"), "--sizes 1:64"),
        (("show", "--budget", "3s"), "mpigauge run has --budget"),
        (("run", "-m", "1:1024"), "--sizes 1:1024"),
        (("run", "-m4096"), "--sizes 1:4096"),
        (("run", "--message-size=2:64"), "--sizes 2:64"),
        (("run", "-msglog", "4:10"), "--sizes 16:1024"),
        (("run", "-window_size", "32"), "--window 32\n"),
        (("run", "put", "-window_size", "32"), "--window 32\n"),
        (("run", "Allreduce", "-npmin", "4"), "--np 4,8,16\n"),
        (("run", "PingPong", "-npernode", "4"), "--hosts node1:4,node2:4"),
        (("run", "-time", "10"), "--budget 10s\n"),
        (("run", "-iter_policy", "off"), "--precision and --budget"),
        (("run", "-data_type", "float"), "--datatype float\n"),
        (("run", "-red_data_type", "int"), "--datatype int32\n"),
        (("run", "-map", "2x2"), "where ranks are is --hosts here, or placements of a plan"),
        (("run", "-mem", "2"), "a size that does not fit the memory is left out"),
        (("run", "PingPong", "-off_cache", "32"), "--buffers cold"),
        (("run", "PingPong", "-off_cache", "-1"), "--buffers cold"),
        (("run", "-root_shift", "on"), "--root rotating"),
        (("run", "-sync", "on"), "--sync mpi_barrier"),
        (("run", "-exclude", "Bcast"), "patterns that are named are measured, no others"),
        (("run", "-DCHECK"), "payloads are always checked"),
        (("run", "osu_put_latency", "-w", "create"), "--rma-window create\n"),
        (("run", "get", "-wdynamic"), "--rma-window dynamic\n"),
        (("run", "PingPong", "-w", "n1,n2"), "--hosts n1,n2"),
        (("run", "osu_get_bw", "-s", "lock"), "--mode lock\n"),
        (("run", "--type", "mpi_int"), "did you mean --datatype int32?"),
        (("run", "-T", "mpi_float"), "--datatype float\n"),
        (("run", "--mpi-option", "-map", "pingpung"), "did you mean pingpong?"),
        (("run", "--nodes", "2"), "--hosts 'node[1-2]'"),
        (("run", "-N", "4"), "--hosts 'node[1-4]'"),
        (("run", "--ntasks=8"), "--np 8"),
        (("run", "--ppn", "4"), "--hosts node1:4,node2:4"),
        (("run", "-H", "n1,n2"), "--hosts n1,n2"),
        (("run", "-machinefile", "nodes"), "--hosts nodes"),
        (("run", "--mca", "btl", "tcp"), "--env OMPI_MCA_btl=tcp"),
        (("run", "-genv", "UCX_TLS", "rc"), "--env UCX_TLS=rc"),
        (("run", "-x", "UCX_TLS=rc"), "--env UCX_TLS=rc"),
        (("run", "-b", "multiple"), "--buffers cold"),
        (("run", "-multi", "1"), "--groups 4"),
        (("run", "-f", "nodes"), "--hosts nodes"),
        (("run", "--runs", "7"), "--launches 7"),
        (("run", "--bench", "ring"), "mpigauge run ring"),
        (("run", "--oversubscribe"), "launchers are told"),
        (("run", "--partition", "x"), "mpigauge sbatch has --partition"),
        (("run", "--hosts", "node1", "node2"), "a list with commas: --hosts node1,node2\n"),
        (("run", "pingpong", "--hosts", "a", "b", "c"), "--hosts a,b,c\n"),
        (("sbatch", "pingpong", "--hosts", "a", "b"), "--hosts a,b\n"),
        (("run", "--sizes", "8", "1KiB", "pingpong"), "--sizes 8,1KiB\n"),
        (("run", "-n", "2", "4"), "-n 2,4\n"),
        (("run", "--transport", "shm", "tcp"), "one each: --transport shm --transport tcp"),
        (("run", "--env", "A", "1"), "write --env A=1"),
        (("run", "--hosts", "a,b", "pingpung"), "did you mean pingpong?"),
        (("run", "ring", "--np", "2", "wrong"), "mpigauge list shows all patterns"),
        (("run", "--quick", "wrong"), "mpigauge list shows all patterns"),
        (("run", "stream", "--mode", "bidirectonal"), "did you mean bidirectional?"),
        (("run", "pingpong", "--launcher", "hydro"), "did you mean hydra?"),
    ],
)
def test_what_is_unknown_gets_the_nearest_hint(
    cli: Cli, openmpi: FakeMpi, words: tuple[str, ...], hint: str
) -> None:
    done = cli(*words)
    assert (done.status, done.out) == (2, "")
    assert hint in done.err
    assert done.err.count("\n") == 2
    assert done.err.count(", ") < MAX_NAMES


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("help",), ("--help",)),
        (("help", "show"), ("show", "--help")),
        (("version",), ("--version",)),
        (("-V",), ("--version",)),
    ],
)
def test_options_are_understood_as_verbs(cli: Cli, words: tuple[str, ...], option: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.status == 0
    assert done == cli(*option)


def test_the_help_fits_a_screen_and_has_every_verb_in_its_chapter(cli: Cli) -> None:
    text = cli("--help").out
    assert len(text.splitlines()) <= LINES_OF_SCREEN
    headings = [line.rstrip(":") for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == ["Options", *CHAPTERS.values()]
    assert re.findall(r"^  ([a-z]+) {2,}", text, re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize(
    ("words", "there"),
    [
        (("--op", "max"), "allreduce"),
        (("--datatype", "int32"), "allreduce"),
        (("--root", "1"), "bcast"),
        (("--window", "8"), "stream"),
        (("--sync", "barrier"), "barrier"),
        (("--in-place",), "allreduce"),
    ],
)
def test_an_option_without_effect_is_refused(
    cli: Cli, openmpi: FakeMpi, words: tuple[str, ...], there: str
) -> None:
    done = cli("run", "pingpong", *words, "--dry-run")
    assert (done.status, done.out) == (2, "")
    assert f"{words[0]}: no pattern that is measured has it" in done.err
    assert there in done.err
    assert cli("run", "pingpong", there, *words, "--sizes", "8", "--dry-run").status == 0


def test_every_alias_means_a_pattern_and_a_mode_that_exist() -> None:
    for meaning in aliases.ALIASES.values():
        assert meaning.pattern in names.patterns()
        assert meaning.mode in ("", *names.modes())


def test_persistent_collectives_are_understood() -> None:
    for word in ("MPI_Bcast_init", "osu_bcast_persistent", "Bcast_persist_pure"):
        assert aliases.meaning_of(word, names.patterns()) == ("bcast", "persistent", "")
    assert aliases.meaning_of("Bcast_persist", names.patterns()) == ("bcast", "persistent-overlap", "")


def test_what_is_not_measured_is_listed_and_names_nothing_that_is(cli: Cli) -> None:
    listed = json.loads(cli("list", "unmeasured", "--format", "json").out)
    assert [one["name"] for one in listed["unmeasured"]] == [one.name for one in UNMEASURED]
    assert not [name for name in (*names.patterns(), *aliases.ALIASES) if why_unmeasured(name)]
    assert not [why for why in aliases.CALLED_OTHERWISE.values() if "is not measured" in why]


def test_no_alias_hides_a_pattern_or_a_verb() -> None:
    for name in names.patterns():
        assert aliases.meaning_of(name, names.patterns()) == (name, "", "")
    assert not set(aliases.ALIASES) & {*names.patterns(), *COMMANDS}


def test_a_hint_never_says_the_opposite() -> None:
    modes = [mode for mode in names.modes() if mode != "blocking"]
    for word in ("blocking", "Blocking", "blockng", "block"):
        assert nearest(word, modes) != "nonblocking"
    assert nearest("nonblockng", names.modes()) == "nonblocking"
    assert nearest("noblocking", names.modes()) == "nonblocking"


@given(st.text(max_size=12), st.sampled_from(["MPI_{}", "osu_{}", "{}", "{}_init", "{}()", "{}.toml"]))
def test_any_word_is_a_pattern_or_gets_a_hint_of_one_line(word: str, form: str) -> None:
    typed, patterns = form.format(word), names.patterns()
    meaning = aliases.meaning_of(typed, patterns)
    hint = "" if meaning else aliases.hint_for(typed, patterns)
    assert meaning is None or (meaning.pattern in patterns and meaning.mode in ("", *names.modes()))
    assert meaning is not None or hint


@given(st.lists(st.text(max_size=8), max_size=4), st.sampled_from(sorted(aliases.OPTIONS)))
def test_any_value_of_another_programs_option_gives_a_hint(values: list[str], option: str) -> None:
    known = [one.instead for one in aliases.OPTIONS.values()]
    assert aliases.option_hint(option, [option, *values], known)


@given(st.text(max_size=12))
def test_a_datatype_that_is_suggested_is_one_of_ours(value: str) -> None:
    for word in (value, "mpi_int", "MPI_DOUBLE", "uint8_t", "mpi_char"):
        hint = aliases.option_hint("--type", ["--type", word], ["--datatype"])
        assert hint.removeprefix("did you mean --datatype ").removesuffix("?") in names.datatypes()


# ---- Kinds of figures ----------------------------------------------------------------------------


@pytest.mark.parametrize(("word", "kind"), [("latency", "time"), ("bandwidth", "rate")])
def test_figures_are_asked_for_by_what_the_field_calls_them(cli: Cli, word: str, kind: str) -> None:
    path = written("made.jsonl", *whole())
    done = cli("plot", path, "--kind", word, "--series", "pingpong shm standard")
    assert (done.status, done.err) == (0, f"figure: made-{kind}.png\n")
    assert f"{word} for {kind}" in " ".join(cli("plot", "--help").out.split())


@pytest.mark.parametrize(
    ("word", "kind"),
    [("bw", "rate"), ("violin", "distribution"), ("heatmap", "map"), ("overveiw", "overview")],
)
def test_a_word_near_a_kind_of_figure_is_told_which(cli: Cli, word: str, kind: str) -> None:
    done = cli("plot", "any.jsonl", "--kind", word)
    assert done.status == 2
    assert done.err.splitlines()[-1].split() == ["hint:", "did", "you", "mean", f"{kind}?"]


def test_every_hint_of_a_kind_names_one_that_there_is() -> None:
    hints = foreign_values.VALUES["--kind"]
    assert {hint.removeprefix("did you mean ").rstrip("?") for hint in hints.values()} <= {*KINDS}
    assert not {*hints} & {*KINDS, *ALIASES}


def test_sendrecv_says_where_else_it_is(cli: Cli, openmpi: FakeMpi) -> None:
    done = cli("run", "Sendrecv", "--sizes", "8", "--dry-run")
    assert "Sendrecv: shift sendrecv, of all ranks; between two it is exchange --mode sendrecv" in done.err
    assert cli("run", "exchange", "--mode", "sendrecv", "--sizes", "8", "--dry-run").status == 0


# ---- What hints offer ----------------------------------------------------------------------------


def sentences() -> Iterator[str]:
    """All texts of the program but its docstrings; what is filled in is {}."""
    for path in sorted(SOURCES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        skipped = {
            id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values
        }
        skipped |= {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        for one in ast.walk(tree):
            if isinstance(one, ast.JoinedStr):
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in one.values
                )
            elif isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in skipped:
                yield one.value


SOURCES = Path(mpigauge_package.__file__).parent
OFFERED = re.compile(r"(?<![\w-])mpigauge ([a-z]+(?: (?:--?[a-z][a-z-]*|[\w./{}=|-]+))* ?)")
MODE_OF = re.compile(r"(?<![\w-])([a-z][a-z_-]+) --mode ([a-z][a-z-]+(?:,[a-z-]+)*)")


def offered_commands() -> list[list[str]]:
    """Commands of ours with options in the program's texts, as far as they are words of a command."""
    found = {tuple(match.split()) for text in sentences() for match in OFFERED.findall(text)}
    return sorted([*words] for words in found if words[0] in COMMANDS and " -" in " ".join(words))


@pytest.mark.parametrize("words", offered_commands(), ids=" ".join)
def test_every_command_that_is_offered_exists(words: list[str]) -> None:
    command = mpigauge.get_command(click.Context(mpigauge), words[0])
    assert command is not None
    commands = [command]
    if isinstance(command, click.Group):
        named = [words[1]] if words[1].isalpha() else command.list_commands(click.Context(command))
        commands = [one for name in named if (one := command.get_command(click.Context(command), name))]
    options = {option: one.type for command in commands for one in command.params for option in one.opts}
    for word, value in pairwise([*words, ""]):
        if word.startswith("-"):
            assert word in (*options, "--help", "-")
            choices = getattr(options.get(word), "choices", (value,))
            assert "{" in value or not value.islower() or {*value.split("|")} <= {*choices}


def test_every_mode_that_is_offered_exists() -> None:
    found = {match for text in sentences() for match in MODE_OF.findall(text)}
    known_patterns = known()
    assert len(found) > 5
    for pattern, modes in found:
        if pattern in known_patterns:
            assert {*modes.split(",")} <= {"all", *(mode.name for mode in known_patterns[pattern].modes)}
