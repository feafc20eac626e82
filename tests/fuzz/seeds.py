"""Inputs with nothing wrong in them, of which the others are made."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from functools import cache
from pathlib import Path

from mpigauge.result.kernel_data import CardTraffic
from mpigauge.result.records import Imported
from tests.fuzz.border import journal_of, run
from tests.made import RECORDS, campaign, cell, clock, collective, launch, lines_of, together
from tests.places import ROOT

KEPT_LINES = 12
HOSTS = b"# a cluster\nh1 slots=2\nh2:4\nnode[01-03] slots = 2 max_slots=4\n10.0.0.1\n\nh1\n"
CAMPAIGNS = (
    ("run", "pingpong", "--sizes", "8,64", "--launches", "2"),
    ("run", "allreduce", "eager", "--sizes", "8", "--launches", "2"),
    ("map", "--np", "3", "--sizes", "8", "--launches", "2"),
)
FILES = ("kept.jsonl", "kept.jsonl.gz", "plan.toml", "hosts.txt", "plan.txt", "j", "t.csv", "t.toml", "-")


@cache
def results() -> tuple[bytes, ...]:
    """Results of every kind of record: made, kept, and of older versions."""
    kept = sorted((ROOT / "docs" / "results").glob("*.jsonl.gz"))
    older = sorted((ROOT / "tests" / "unit" / "result").glob("*.jsonl"))
    made = (lines_of(*RECORDS), _with_collectives(), _published())
    return (*made * 4, *(_begin(path) for path in kept), *(path.read_bytes() for path in older))


def _begin(path: Path) -> bytes:
    """As much of a kept result as is read in a moment: its first lines, and no cells but theirs."""
    with gzip.open(path) as file:
        first, *others = (json.loads(line) for _, line in zip(range(KEPT_LINES), file, strict=False))
    theirs = [record["cell"] for record in others if record.get("cell")]
    first["cells"] = [cell for cell in first["cells"] if cell in theirs]
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in (first, *others))


CARDS = (CardTraffic(1, "mlx5_0/1", "rdma", -1, -1), CardTraffic(0, "eth0", "ip", 2**20, 2**19))


def _with_collectives() -> bytes:
    cells = [collective(), collective("bcast"), collective("barrier")]
    visits = [
        together(
            number,
            place,
            of,
            [1000 + 10 * number, 1010, 1020, 990, 1005, 1001],
            line_ns=[60.0, 61.0],
            by_card=CARDS,
        )
        for number in (1, 2, 3)
        for place, of in enumerate(cells)
    ]
    return lines_of(campaign(*cells), *map(launch, (1, 2, 3)), clock(1), *visits)


def _published() -> bytes:
    cells = [cell(size=size) for size in (8, 64)]
    times = [Imported(of, 1e-6 * number, 1e-8, "mean", "table 1") for number, of in enumerate(cells, 1)]
    return lines_of(campaign(*cells), *times)


@cache
def plans() -> tuple[bytes, ...]:
    """All examples."""
    return tuple(path.read_bytes() for path in sorted((ROOT / "examples").glob("*.toml")))


@cache
def tables() -> tuple[tuple[bytes, bytes], ...]:
    """Published tables, each with what tells of its columns."""
    found = sorted((ROOT / "examples" / "published").glob("*.csv"))
    return tuple((path.read_bytes(), path.with_suffix(".toml").read_bytes()) for path in found)


@cache
def handed_out() -> tuple[bytes, bytes]:
    """A kernel plan with its source, and the journal of a kernel that followed it."""
    done = run(("kernel", "plan", "pingpong", "bcast", "eager", "--sizes", "8,64", "--seed", "3"))
    assert done.status == 0, done.err
    return done.out.encode(), journal_of(done.out)


def lay_out(folder: Path) -> None:
    """One file of each kind, for command lines to name, and nothing that an earlier one has left."""
    assert Path(os.environ["TMPDIR"]).parent == folder.resolve().parent, "not the folder of a closed border"
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for name, content in _laid_out().items():
        (folder / name).write_bytes(content)


@cache
def _laid_out() -> dict[str, bytes]:
    plan, journal = handed_out()
    csv, toml = tables()[0]
    kept = lines_of(*RECORDS)
    contents = (kept, gzip.compress(kept), plans()[0], HOSTS, plan, journal, csv, toml)
    return dict(zip(FILES, contents, strict=False))
