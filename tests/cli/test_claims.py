"""Claims of reports held against results: the table that `mpigauge explain --claims` shows, in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.ask import VERBS, Request, claims_of
from mpigauge.check.claim_file import ENDING, read_claims
from mpigauge.check.claim_table import MAX_WORDS
from mpigauge.cli.options.selection import load
from mpigauge.cli.screen.tables import rendered
from mpigauge.document.document import Units
from mpigauge.errors import EXIT_DONE, UsageError
from mpigauge.plan.plan_file import read_file
from mpigauge.show.formats import terminal
from mpigauge.units import parse_duration
from mpigauge.vocabulary import CLAIM_VERDICTS
from tests.places import DOCS, EXAMPLES
from tests.unit.show.console import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.document.document import Document
    from tests.conftest import Cli, Install

RESULT = Path("r.jsonl")
PUBLISHED = EXAMPLES / "published"
FILES = sorted(PUBLISHED.glob("*-claims.toml"))

CLAIMS = """
[report]
name = "A made report"
source = "nobody"
printed = ["table"]

[here.placement]
"one node" = "same-host"

[[claim]]
name = "latency"
says = "A message of 8 B takes less than 20 us."
kind = "value"
cells = { pattern = "pingpong", bytes = "8", placement = "one node" }
bound = "< 20us"

[[claim]]
name = "size"
says = "One of 1 KiB takes ten times as long."
original = "zehnmal so lang"
where = "page 2"
kind = "ratio"
cells = { pattern = "pingpong", placement = "one node" }
over = { bytes = "1KiB" }
under = { bytes = "8" }
bound = "> 10"
note = "of nobody's machine"

[[claim]]
name = "far"
says = "Two nodes are slower."
kind = "ratio"
cells = { pattern = "pingpong" }
over = { placement = "two nodes" }
under = { placement = "one node" }
bound = "> 1"

[[claim]]
name = "cards"
says = "Cards differ."
untestable = "there is one card"
"""
TABLE = "size,us\n8,25\n1024,300\n"
COLUMNS = """
title = "printed"
bytes = { column = "size" }
time = { column = "us", unit = "us" }
placement = "one node"
"""


@pytest.fixture
def made(cli: Cli, fake_mpi: Install, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report with one table, and a result of a library whose latency is 10 us."""
    monkeypatch.setenv("FAKE_JITTER", "0.01")
    library = fake_mpi("openmpi", latency_ns=10_000)
    words = ("--sizes", "8,1KiB", "--samples", "40", "--seed", "7", "-q", "--launches", "6")
    done = cli("run", "pingpong", "--mpi", str(library.mpicc), *words, "-o", "r.jsonl")
    assert done.status == EXIT_DONE, done.err
    for name, text in {"made-claims.toml": CLAIMS, "table.csv": TABLE, "table.toml": COLUMNS}.items():
        Path(name).write_text(text)
    return Path("made-claims.toml")


def judged(
    files: Sequence[Path], results: Sequence[Path], units: Units | None = None, *, quoted: bool = False
) -> Document:
    """Claims held against result files, as `mpigauge explain --claims` has them."""
    return claims_of(files, map(load, results), Request(VERBS["explain"], units=units), quoted=quoted)


def said(document: Document) -> dict[str, Any]:
    """By name of the claim."""
    data = json.loads(rendered(document, "json"))
    return {claim["name"]: claim for report in data["reports"] for claim in report["claims"]}


def test_each_claim_stands_beside_its_own_table_and_what_is_here(made: Path) -> None:
    document = judged([made], [RESULT])
    text = rendered(document, "text")
    assert text.splitlines()[0] == (
        "4 conclusions, here: agrees 1, differs 1, not testable 1, not measured 1"
    )
    assert text.splitlines()[1] == "their own tables: agrees 1, differs 1, not in its tables 2"
    headings = next(line for line in text.splitlines() if "the report says" in line)
    assert headings.split("  ")[1].strip() == "the report says"
    found = said(document)
    assert {name: claim["verdict"] for name, claim in found.items()} == {
        "latency": "confirmed",
        "size": "refuted",
        "far": "untested",
        "cards": "untestable",
    }
    assert found["latency"]["printed"]["said"] == "differs: 25.0 \N{MICRO SIGN}s at 8 B"
    assert found["size"]["printed"]["said"] == "agrees: 12.0\N{MULTIPLICATION SIGN} at 1 KiB"
    assert found["latency"]["here"]["said"].endswith("at 8 B")
    assert found["far"]["here"]["said"] == "not measured"
    assert found["cards"]["here"]["said"] == "there is one card"
    (number,) = found["size"]["here"]["numbers"]
    assert (number["bytes"], number["against"]["bytes"], number["launches"]) == (1024, 8, 6)
    assert number["low"] <= number["estimate"] <= number["high"] < 10
    assert "; of 6 launches" in text
    assert "of nobody's machine" not in text


def test_all_quotes_the_words_of_the_report_and_says_how_they_are_read(made: Path) -> None:
    text = rendered(judged([made], [RESULT], quoted=True), "text")
    quoted = 'One of 1 KiB takes ten times as long. "zehnmal so lang" (page 2); of nobody\'s machine'
    assert quoted in text.splitlines()
    assert said(judged([made], []))["size"]["original"] == "zehnmal so lang"


def test_without_results_the_printed_tables_alone_decide(made: Path) -> None:
    document = judged([made], [])
    assert {claim["here"]["verdict"] for claim in said(document).values()} == {None}
    assert "agrees 1, differs 1" in rendered(document, "text")


def test_what_another_program_measured_is_marked_and_decides_nothing(made: Path, cli: Cli) -> None:
    Path("here.toml").write_text(COLUMNS.replace("one node", "same-host"))
    done = cli("import", "csv", "table.csv", "--columns", "here.toml", "-o", "imported.jsonl")
    assert done.status == EXIT_DONE, done.err
    here = said(judged([made], [Path("imported.jsonl")]))["size"]["here"]
    assert here["said"] == "open: 12.0\N{MULTIPLICATION SIGN} at 1 KiB; imported"


def test_users_choose_units(made: Path) -> None:
    text = rendered(judged([made], [RESULT], Units(time="ns")), "text")
    assert "differs: 25000 ns at 8 B" in text


@pytest.mark.parametrize("form", ["markdown", "csv", "json", "junit"])
def test_every_form_has_every_claim(made: Path, form: str) -> None:
    text = rendered(judged([made], [RESULT]), form)
    assert all(says in text for says in ("less than 20 us", "ten times as long", "Two nodes", "Cards differ"))
    if form == "csv":
        verdicts = {line["verdict"] for line in csv.DictReader(io.StringIO(text))}
        assert verdicts <= set(CLAIM_VERDICTS)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_terminal_has_all_columns_side_by_side(made: Path, width: int) -> None:
    document = judged([made], [RESULT])
    lines = terminal.render(document, console(width)).splitlines()
    assert max(map(len, lines)) <= width
    assert not any("hidden" in line for line in lines)
    assert sum("the report says" in line for line in lines) == 1
    whole = " ".join(lines)
    assert all(word in whole for word in ("its own table", "here", "agrees:", "differs:"))


def test_a_folder_has_all_its_files_and_one_without_any_is_refused(made: Path) -> None:
    Path("more-claims.toml").write_text(CLAIMS)
    assert rendered(judged([made.parent], []), "text").startswith("8 conclusions")
    Path("nothing").mkdir()
    with pytest.raises(UsageError, match="has no file of claims"):
        judged([Path("nothing")], [])


def test_a_table_that_is_not_there_is_named(made: Path) -> None:
    Path("table.csv").unlink()
    with pytest.raises(UsageError, match=r"table\.csv"):
        judged([made], [])


# ---- The five reports ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_published_claims_are_valid_and_say_where_the_report_has_them(path: Path) -> None:
    claims = read_claims(path)
    assert claims.report.name
    assert claims.report.source
    assert claims.report.question
    for claim in claims.claims:
        assert claim.where, claim.name
        assert claim.original, claim.name
        assert claim.says.endswith("."), claim.name


def test_every_printed_table_belongs_to_a_report() -> None:
    named = {table for path in FILES for table, _ in read_claims(path).tables}
    assert named == set(PUBLISHED.glob("*.csv"))


def numbers(name: str) -> list[str]:
    """What the printed tables say of a claim, and its numbers with three digits."""
    claim = said(judged(FILES, []))[name]["printed"]
    return [claim["verdict"], *(f"{one['estimate']:.3g}" for one in claim["numbers"])]


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("wan-latency", ["fails", "7.39"]),
        ("wan-broadcast", ["fails", "6.18", "20.8"]),
        ("identical-large", ["holds", "0.991"]),
        ("overhead", ["holds", "2.29"]),
        ("overhead-empty", ["fails", "1.62"]),
        ("gap-shrinks", ["holds", "6.55e+04"]),
        ("empty", ["holds", "1.42"]),
        ("network-latency", ["fails", "8.1"]),
        ("gigabit-latency", ["holds", "1.51"]),
        ("single-variables", ["holds", "4e+03"]),
        ("distance-large", ["holds", "1", "1", "1"]),
        ("first-size", ["holds", "1.77", "1.82"]),
        ("two-hosts", ["holds", "106", "7.85"]),
        ("nonblocking-latency", ["fails", "3.98", "3.88", "4.3", "0.295"]),
        ("nonblocking-latency-matters-little", ["holds", "3.98", "3.88", "4.3", "0.295"]),
        ("peak-size", ["holds", "3.28e+04"]),
        ("peak-rate", ["fails", "1.5e+10"]),
        ("does-not-block", ["fails", "1.31e+05", "3.28e+04", "3.28e+04", "6.55e+04"]),
        ("up-to-2000", ["fails", "4e+03"]),
        ("bsend-latency", ["fails", "8.04", "1.12"]),
        ("two-nodes-bsend", ["holds", "1.12"]),
        ("two-nodes-rate", ["fails", "1.54e+03", "215"]),
    ],
)
def test_the_reports_own_numbers_come_out(name: str, printed: list[str]) -> None:
    assert numbers(name) == printed


def test_numbers_that_words_cannot_tell_apart_are_a_range() -> None:
    """One node through memory, over the network stack, over two nodes of one host, and over two hosts."""
    own = said(judged(FILES, []))["memory-is-best"]["printed"]["said"]
    assert own == "differs: 0.996\N{MULTIPLICATION SIGN} to 37.9\N{MULTIPLICATION SIGN}; so at 2 of 3"


def test_three_of_four_printed_placements_are_like_shared_memory() -> None:
    path = said(judged(FILES, []))["one-host-path"]["printed"]
    assert all(0.5 < one["estimate"] < 2 for one in path["numbers"])
    assert path["said"].endswith("so at 30 of 30")


def test_two_printed_tables_of_one_exchange_differ_as_the_page_says() -> None:
    """The first rows of tables 2.1 to 2.8, and table 2.9."""
    rates, times = (
        list(csv.DictReader((PUBLISHED / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
        for name in ("exchange-agh-2020", "exchange-latency-agh-2020")
    )
    bits = {(one["placement"], one["mode"]): one for one in rates if one["size_bits"] == "64"}
    ratios = [
        float(one["time_s"]) * float(bits[one["placement"], one["mode"]]["throughput_mbit_per_s"]) * 1e6 / 64
        for one in times
    ]
    worst = max(max(one, 1 / one) for one in ratios) - 1
    page = (DOCS / "reports" / "exchange.md").read_text(encoding="utf-8")
    assert len(ratios) == 8
    assert f"differ by up to {100 * worst:.0f} %" in page


def test_the_emulated_wan_is_as_far_as_the_printed_one() -> None:
    lines = csv.DictReader((PUBLISHED / "grid-pingpong.csv").read_text(encoding="utf-8").splitlines())
    (printed_us,) = {
        one["value"] for one in lines if one["network"] == "WAN" and one["metric"] == "latency_us"
    }
    for name in ("wan", "wan-collectives"):
        lab = read_file(EXAMPLES / f"{name}.toml").lab
        assert lab is not None
        (delay_s,) = {parse_duration(link.delay) for link in lab.links if link.delay}
        assert delay_s == pytest.approx(float(printed_us) * 1e-6), name


# ---- Their pages ---------------------------------------------------------------------------------

PAGES = {
    "exchange-agh-2020": "exchange",
    "grid": "libraries",
    "modes-agh": "modes",
    "network-q6600": "memory",
    "ring": "ring",
}
"""The page of each file of claims."""


def test_each_conclusion_stands_on_its_page_in_the_words_of_the_report() -> None:
    assert set(PAGES) == {path.name.removesuffix(ENDING) for path in FILES}
    for path in FILES:
        page = (DOCS / "reports" / f"{PAGES[path.name.removesuffix(ENDING)]}.md").read_text(encoding="utf-8")
        read = read_claims(path)
        missing = [one.name for one in read.claims if f'"{one.original}"' not in page or one.says not in page]
        assert not missing, path.name
        assert f"**{read.report.name}** ({read.report.source})" in page


def test_an_entry_of_the_scoreboard_is_at_most_twelve_words_long() -> None:
    page = (DOCS / "scoreboard.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    entries = [entry for row in rows for entry in row]
    assert len(rows) > sum(len(read_claims(path).claims) for path in FILES)
    assert [entry for entry in entries if len(re.findall(r"\S*\w\S*", entry)) > MAX_WORDS] == []
