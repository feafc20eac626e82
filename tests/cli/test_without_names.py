"""A result that can be posted: `show --without names`, and what other verbs say of it."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.importers.loading import load
from mpigauge.result.writer import line_of
from tests.made import RECORDS
from tests.places import DOCS

if TYPE_CHECKING:
    from tests.conftest import Cli

SHARED = Path("shared.jsonl")
LEAKS = re.compile(r"zq[0-9]|site\.org|xjann|qvproject")


@pytest.fixture(params=["map", "uplink"])
def of_a_cluster(machine: Path, request: pytest.FixtureRequest) -> Path:
    """A stored result of emulated hosts, as if it were of the hosts zq1.site.org and others."""
    lines = (
        gzip.decompress((DOCS / "results" / f"{request.param}.jsonl.gz").read_bytes()).decode().splitlines()
    )
    lines = [re.sub(r"\bh([1-9])\b", r"zq\1.site.org", line) for line in lines]
    first = json.loads(lines[0])
    first["plan"] |= {"lab": None, "title": "zq1 and xjann's others"}
    first["libraries"][0] |= {"mpicc": "/home/xjann/qvproject/bin/mpicc", "loaded_by": "module:qvproject/5"}
    first["environment"]["variables"] |= {"SLURM_JOB_ACCOUNT": "qvproject", "UCX_TLS": "tcp,self"}
    path = machine / "work" / "measured.jsonl"
    path.write_text("\n".join([json.dumps(first), *lines[1:], ""]), encoding="utf-8")
    return path


def without_words(value: Any) -> Any:
    """Numbers and structure of a document, without what its texts say."""
    match value:
        case dict():
            kept = value.keys() - {"without", "result_version"}
            return {name: without_words(one) for name, one in value.items() if name in kept}
        case list():
            return [without_words(one) for one in value]
    return "" if isinstance(value, str) else value


def test_the_copy_has_the_same_numbers_in_every_verb_and_tells_no_name(cli: Cli, of_a_cluster: Path) -> None:
    done = cli("show", of_a_cluster, "--without", "names", "-o", SHARED)
    assert (done.status, len(done.err.splitlines())) == (0, 2)
    assert not LEAKS.search(SHARED.read_text(encoding="utf-8"))
    for words in (["show"], ["explain"], ["map"], ["show", "--all"], ["show", "--state", "all"]):
        before, after = (cli(*words, path, "--format", "json") for path in (of_a_cluster, SHARED))
        assert before.status == after.status
        assert not LEAKS.search(after.out)
        if before.out:
            assert without_words(json.loads(after.out)) == without_words(json.loads(before.out))
    assert cli("report", SHARED, "-o", "page.html").status == 0
    assert not LEAKS.search(Path("page.html").read_text(encoding="utf-8"))
    assert "names replaced" in cli("show", SHARED).out


def made(*names: str) -> list[Path]:
    """Small results of these names."""
    for name in names:
        Path(name).write_bytes(b"".join(map(line_of, RECORDS)))
    return [*map(Path, names)]


def test_the_copy_is_compressed_if_its_name_says_so(cli: Cli, machine: Path) -> None:
    assert cli("show", *made("r.jsonl"), "--without", "names", "-o", "shared.jsonl.gz").status == 0
    assert Path("shared.jsonl.gz").read_bytes().startswith(b"\x1f\x8b")
    assert load(Path("shared.jsonl.gz")).campaign.without == ("names",)


@pytest.mark.parametrize(
    "words",
    [
        ["r.jsonl", "--without", "names"],
        ["r.jsonl", "--without", "names", "-o", "table.csv"],
        ["r.jsonl", "-o", "shared.jsonl"],
        ["r.jsonl", "r.jsonl", "--without", "names", "-o", "shared.jsonl"],
        ["r.jsonl", "--without", "names", "-o", "r.jsonl", "--overwrite"],
        ["r.jsonl", "--without", "names", "-o", "shared.jsonl", "--sizes", "8"],
        ["r.jsonl", "--without", "names", "-o", "shared.jsonl", "-o", "table.csv"],
        ["text.txt", "--without", "names", "-o", "shared.jsonl"],
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence_with_a_remedy(
    cli: Cli, machine: Path, words: list[str]
) -> None:
    (path,) = made("r.jsonl")
    Path("text.txt").write_text("of another benchmark\n", encoding="utf-8")
    before = path.read_bytes()
    done = cli("show", *words)
    assert done.status == 2
    said, hint = done.err.splitlines()
    assert said.startswith("mpigauge: ")
    assert hint.startswith("  hint: ")
    assert not SHARED.exists()
    assert path.read_bytes() == before


def test_a_copy_is_not_continued(cli: Cli, machine: Path) -> None:
    Path("r.jsonl").write_bytes(b"".join(map(line_of, RECORDS[:-1])))
    assert cli("show", "r.jsonl", "--without", "names", "-o", SHARED).status == 0
    done = cli("resume", SHARED, "--trust")
    assert done.status == 2
    assert "is a copy without names" in done.err
