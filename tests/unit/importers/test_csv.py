"""Tables that others have printed: what they say becomes times, and nothing is made up."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.check.claim_file import ENDING
from mpigauge.importers import READERS, read
from mpigauge.result.reader import load
from mpigauge.result.records import Imported
from tests.places import EXAMPLES

if TYPE_CHECKING:
    from tests.conftest import Cli, Done

PUBLISHED = EXAMPLES / "published"
TABLE = "bytes,us,mode\n0,1.5,standard\n8,2.5,standard\n8,3.5,buffered\n"
COLUMNS = """
title = "a table"
bytes = { column = "bytes" }
time = { column = "us", unit = "us" }
mode = { column = "mode" }
"""


RATED = """
title = "rates"
bytes = { column = "bytes" }
rate = { column = "rate" }
"""


def imported(cli: Cli, columns: str = COLUMNS, table: str = TABLE, *words: str) -> Done:
    Path("table.csv").write_text(table, encoding="utf-8")
    Path("columns.toml").write_text(columns, encoding="utf-8")
    return cli(
        "import", "csv", "table.csv", "--columns", "columns.toml", "-o", "r.jsonl", "--format", "json", *words
    )


def rows(done: Done) -> list[dict[str, Any]]:
    assert done.status == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)["rows"]
    return found


def test_times_are_as_printed_and_nothing_else_is_known(cli: Cli) -> None:
    found = rows(imported(cli))
    assert [(row["mode"], row["bytes"], row["time_s"]["estimate"]) for row in found] == [
        ("standard", 0, pytest.approx(1.5e-6)),
        ("standard", 8, pytest.approx(2.5e-6)),
        ("buffered", 8, pytest.approx(3.5e-6)),
    ]
    for row in found:
        assert (row["status"], row["reason"]) == ("ok", "imported")
        assert {row["launches"], row["samples"]} == {0}
        assert {value for name, value in row["time_s"].items() if name != "estimate"} <= {None, 0, 1.0}
        assert all(
            row["time_s"][name] is None
            for name in ("low", "high", "mean", "stddev", "min", "p25", "median", "max")
        )
        assert row["warnings"] == []
    result = load(Path("r.jsonl"))
    assert not result.visits
    assert [one.source for one in result.imported] == [f"table.csv: line {number}" for number in (2, 3, 4)]


@pytest.mark.parametrize("form", ["text", "markdown", "csv"])
def test_every_format_shows_imported_times_without_nan(cli: Cli, form: str) -> None:
    imported(cli)
    done = cli("show", "r.jsonl", "--format", form, "--columns", "all", "--unit", "us")
    assert (done.status, done.err) == (0, "")
    assert "imported" in done.out
    assert "nan" not in done.out.lower()
    assert "0 cores" not in done.out


def test_rates_become_times_in_all_directions(cli: Cli) -> None:
    columns = """
title = "rates"
pattern = "exchange"
directions = 2
bytes = { column = "bits", unit = "bit" }
rate = { column = "rate", unit = "Mbit/s" }
"""
    (row,) = rows(imported(cli, columns, "bits,rate\n64,128\n"))
    assert row["bytes"] == 8
    assert row["rate_bytes_per_s"] == pytest.approx(128e6 / 8)
    assert row["time_s"]["estimate"] == pytest.approx(2 * 8 / 16e6)


@pytest.mark.parametrize(
    ("columns", "table", "step"),
    [
        (COLUMNS, "bytes,us,mode\n8,0.25,standard\n", 0.01 / 0.25),
        (COLUMNS, 'bytes,us,mode\n8,"11,992.28",standard\n', 0.01 / 11992.28),
        (COLUMNS, "bytes,us,mode\n8,3.2311257896,standard\n", 1e-10 / 3.2311257896),
        (RATED, "bytes,rate\n1024,20\n", 1 / 20),
    ],
)
def test_the_last_digit_of_a_time_or_a_rate_is_kept(cli: Cli, columns: str, table: str, step: float) -> None:
    rows(imported(cli, columns, table))
    (one,) = load(Path("r.jsonl")).imported
    assert one.step == pytest.approx(step)


def test_means_have_their_standard_deviation(cli: Cli) -> None:
    columns = COLUMNS + 'statistic = "mean"\nstddev = { column = "sd", unit = "us", factor = 2 }\n'
    (row,) = rows(imported(cli, columns, "bytes,us,mode,sd\n8,2.5,standard,0.25\n"))
    assert row["time_s"]["mean"] == row["time_s"]["estimate"] == pytest.approx(2.5e-6)
    assert row["time_s"]["stddev"] == pytest.approx(0.5e-6)
    assert row["reason"] == "imported, mean"


def test_only_the_lines_asked_for_are_taken(cli: Cli) -> None:
    found = rows(imported(cli, COLUMNS + '[only]\nmode = ["buffered"]\n'))
    assert [row["mode"] for row in found] == ["buffered"]


@pytest.mark.parametrize(
    ("columns", "table", "sentence"),
    [
        ("title = ", TABLE, "columns.toml"),
        (COLUMNS + "nonsense = 1\n", TABLE, "nonsense"),
        (COLUMNS.replace("time =", "stddev ="), TABLE, "exactly one of time and rate"),
        (COLUMNS.replace('"us",', '"ms",'), TABLE, "there is no column 'ms'"),
        (COLUMNS.replace('unit = "us"', 'unit = "furlong"'), TABLE, "no unit is called 'furlong'"),
        (COLUMNS + "[values]\n", TABLE, "values"),
        (
            COLUMNS.replace('"mode" }', '"mode", values = { standard = "standard" } }'),
            TABLE,
            "line 4: mode: 'buffered'",
        ),
        (COLUMNS, TABLE + "8,x,other\n", "line 5: us: 'x' is not a number"),
        (COLUMNS, TABLE + "8,nan,other\n", "line 5: us: 'nan' is not a number"),
        (COLUMNS, TABLE + "8,0,other\n", "line 5: the time must be above 0"),
        (COLUMNS, TABLE + "1.5,1,other\n", "is not a whole number"),
        (COLUMNS, TABLE + "-8,1,other\n", "is not a whole number"),
        (COLUMNS, TABLE + "1e30,1,other\n", "line 5: no result can have this: "),
        (COLUMNS, TABLE + f"8,1,{'x' * 256}\n", "line 5: no result can have this: "),
        (RATED, "bytes,rate\n8,1e-308\n", "line 2: the time must be above 0, and finite"),
        (COLUMNS, TABLE + "8,1,other,more\n", "line 5 has more fields"),
        (COLUMNS, TABLE + "8,1,standard\n", "line 5: measures the same cell as table.csv: line 3"),
        (COLUMNS, TABLE + "4M,1,other\n", "line 5: bytes: '4M': no unit of size is called 'M'"),
        (COLUMNS, TABLE + '8,"2,5",other\n', "line 5: us: '2,5' is not a number"),
        (COLUMNS, "measured today\nbytes;us\n8;1\n", "line 2: there is no column 'mode'"),
        (COLUMNS, "bytes,us,mode,us\n8,1,standard,2\n", "line 1: two columns are called 'us'"),
        (COLUMNS, "", "has no line"),
        (COLUMNS, "bytes,us,mode\n", "no line was chosen"),
        (COLUMNS, 'bytes,us,mode\n8,"1,standard\n', "line 2 is not separated values"),
    ],
)
def test_what_is_wrong_is_named(cli: Cli, columns: str, table: str, sentence: str) -> None:
    done = imported(cli, columns, table)
    assert done.status == 2, done.err
    assert sentence in done.err
    assert not Path("r.jsonl").exists()


@pytest.mark.parametrize(
    ("word", "hint"),
    [("2,5", "write 2.5"), ("", "delete the line"), ("x", "us is a column of numbers")],
)
def test_what_is_no_number_has_a_hint_that_helps(cli: Cli, word: str, hint: str) -> None:
    assert hint in imported(cli, COLUMNS, f'bytes,us,mode\n8,"{word}",standard\n').err


def test_sizes_may_have_units_that_say_what_they_are(cli: Cli) -> None:
    found = rows(imported(cli, COLUMNS, "bytes,us,mode\n64KiB,1,standard\n1 MB,2,standard\n"))
    assert [row["bytes"] for row in found] == [2**16, 10**6]


def test_thousands_may_be_separated(cli: Cli) -> None:
    (row,) = rows(imported(cli, COLUMNS, 'bytes,us,mode\n8,"11,992.28",standard\n'))
    assert row["time_s"]["estimate"] == pytest.approx(11992.28e-6)


@pytest.mark.parametrize(
    "content", [TABLE.encode("utf-16"), TABLE.encode("utf-8-sig"), TABLE.replace("\n", "\r").encode()]
)
def test_tables_of_spreadsheets_are_decoded(cli: Cli, content: bytes) -> None:
    imported(cli)
    Path("saved.csv").write_bytes(content)
    done = cli("import", "csv", "saved.csv", "--columns", "columns.toml", "-o", "s.jsonl", "--format", "json")
    assert [row["bytes"] for row in rows(done)] == [0, 8, 8]


ABOVE = st.lists(st.sampled_from(["", "measured on a cluster", "# a comment", "bytes, of course", "1,2"]))


@given(
    separator=st.sampled_from([",", ";", "\t", " ", "   "]),
    above=ABOVE,
    between=ABOVE.map(lambda lines: [line for line in lines if line[:1] in ("", "#")]),
    ends=st.sampled_from(["\n", "\r\n"]),
    hidden=st.booleans(),
)
def test_a_table_is_found_below_other_lines_and_among_comments(
    tmp_path_factory: pytest.TempPathFactory,
    separator: str,
    above: list[str],
    between: list[str],
    ends: str,
    hidden: bool,
) -> None:
    folder = tmp_path_factory.mktemp("csv")
    heading, *table = TABLE.replace(",", separator).splitlines()
    lines = [*above, f"# {heading}" if hidden else heading, *between, *table]
    (folder / "table.csv").write_bytes(ends.join(lines).encode())
    (folder / "columns.toml").write_text(COLUMNS, encoding="utf-8")
    _, *found, _ = read("csv", [folder / "table.csv"], folder / "columns.toml")
    times = [one for one in found if isinstance(one, Imported)]
    assert [one.cell.bytes for one in times] == [0, 8, 8]
    assert [one.time_s for one in times] == pytest.approx([1.5e-6, 2.5e-6, 3.5e-6])
    first = len(above) + 1 + len(between) + 1
    assert [one.source.rpartition(" ")[2] for one in times] == [str(first + row) for row in range(3)]


def test_files_that_cannot_be_read(cli: Cli) -> None:
    imported(cli)
    for words, why in (
        (("no.csv", "--columns", "columns.toml"), "cannot be read"),
        (("table.csv", "--columns", "no.toml"), "cannot be read"),
        ((".", "--columns", "columns.toml"), "is a folder"),
    ):
        done = cli("import", "csv", *words, "-o", "other.jsonl")
        assert done.status == 2
        assert why in done.err
    Path("binary.csv").write_bytes(b"bytes,us,mode\n8,1,\0\n")
    assert "binary.csv: is no text" in cli("import", "csv", "binary.csv", "--columns", "columns.toml").err
    assert "--columns" in cli("import", "csv", "table.csv").err


def test_an_imported_result_is_complete(cli: Cli) -> None:
    imported(cli)
    done = cli("resume", "r.jsonl")
    assert done.status == 0
    assert "nothing is left to do" in done.err


# ---- The tables that are shipped -----------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.csv")), ids=lambda path: path.stem)
def test_every_published_table_is_read_whole(cli: Cli, path: Path) -> None:
    done = cli(
        "import", "csv", path, "--columns", path.with_suffix(".toml"), "-o", "r.jsonl", "--format", "json"
    )
    found = rows(done)
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    left_out = [line for line in lines if line.get("metric", "").startswith("bandwidth")]
    assert len(found) == len(lines) - len(left_out)
    assert {row["status"] for row in found} == {"ok"}
    assert cli("plot", "r.jsonl", "-o", "figure.png").status == 0


def test_published_rates_are_ours(cli: Cli) -> None:
    path = PUBLISHED / "exchange-agh-2020.csv"
    found = rows(
        cli(
            "import", "csv", path, "--columns", path.with_suffix(".toml"), "-o", "r.jsonl", "--format", "json"
        )
    )
    with path.open(encoding="utf-8", newline="") as file:
        printed = [float(line["throughput_mbit_per_s"]) for line in csv.DictReader(file)]
    assert [row["rate_bytes_per_s"] * 8e-6 for row in found] == pytest.approx(printed)


def test_every_published_table_has_a_file_of_columns_and_the_reverse() -> None:
    tables = [path for path in PUBLISHED.iterdir() if not path.name.endswith(ENDING)]
    names = {path.stem for path in tables}
    assert (
        {path.stem for path in PUBLISHED.glob("*.csv")}
        == {path.stem for path in tables if path.suffix == ".toml"}
        == names
    )
    assert "csv" in READERS
