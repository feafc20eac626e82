"""Two builds of one version: the result has how each was configured, and compare says where they differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.errors import EXIT_DONE
from tests.fakes.mpi import SHELL, install, write_program

if TYPE_CHECKING:
    from tests.conftest import Cli, Install
    from tests.fakes.mpi import FakeMpi

WORDS = ("--sizes", "8", "--samples", "20", "--seed", "7", "-q", "--launches", "6", "--control", "no")


def configured(fake: FakeMpi, words: str) -> str:
    """The mpicc of a library that says so much of itself."""
    write_program(fake.bin / "ompi_info", f"echo \"config:cli: '--prefix={fake.prefix}' {words}\"\n", SHELL)
    return str(fake.mpicc)


def measured(cli: Cli, machine: Path, first: str, second: str, fake_mpi: Install) -> None:
    """Both in turn, in r.jsonl."""
    main = configured(fake_mpi("openmpi", "5.0.11"), first)
    other = configured(install(machine / "other", "openmpi", "5.0.11"), second)
    done = cli("run", "pingpong", "--mpi", f"main={main}", "--mpi", f"pr={other}", *WORDS, "-o", "r.jsonl")
    assert done.status == EXIT_DONE, done.err


def test_what_one_build_has_alone_is_said(cli: Cli, machine: Path, fake_mpi: Install) -> None:
    measured(cli, machine, "'CFLAGS=-O3' --with-token=only-mine", "'CFLAGS=-O3' --enable-debug", fake_mpi)
    text = Path("r.jsonl").read_text(encoding="utf-8")
    head = json.loads(text.partition("\n")[0])
    assert "CFLAGS=-O3" in head["libraries"][0]["configuration"]["configure"]
    assert "only-mine" not in text
    out = cli("compare", "r.jsonl").out
    assert "configured otherwise: only pr Open MPI 5.0.11 has --enable-debug; only main Open MPI" in out
    (said,) = json.loads(cli("compare", "r.jsonl", "--format", "json").out)["builds"]
    assert (said["base"], said["other"]) == ("main openmpi 5.0.11", "pr openmpi 5.0.11")
    assert said["only_other"] == ["--enable-debug"]


@pytest.mark.parametrize("second", ["'CFLAGS=-O3'", None])
def test_where_nothing_differs_or_nobody_knows_nothing_is_said(
    cli: Cli, machine: Path, fake_mpi: Install, second: str | None
) -> None:
    """Where a build was installed is no difference."""
    measured(cli, machine, "'CFLAGS=-O3'", second or "", fake_mpi)
    if second is None:
        lines = Path("r.jsonl").read_text(encoding="utf-8").split("\n", 1)
        head = json.loads(lines[0])
        del head["libraries"][0]["configuration"]
        Path("r.jsonl").write_text("\n".join([json.dumps(head), lines[1]]), encoding="utf-8")
    assert "configured otherwise" not in cli("compare", "r.jsonl").out
