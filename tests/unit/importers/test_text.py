"""Texts as people keep them: encoded, packed, coloured, quoted or tagged, their lines are the same."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import string
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.importers.reading import recognised
from mpigauge.importers.text import (
    begins_row,
    cleaned,
    content_of,
    decoded,
    lines_of,
    number,
    number_hint,
    relative_step,
    without_note,
)
from tests.printed import FOLDER, records_of, said_of, times_of

if TYPE_CHECKING:
    from pathlib import Path

OSU = (FOLDER / "osu_latency_7.4.txt").read_text(encoding="utf-8")
IMB = (FOLDER / "imb_mpi1_2021.11.txt").read_text(encoding="utf-8")
NBC = (FOLDER / "osu_iallreduce_7.4.txt").read_text(encoding="utf-8")
TEXTS = {"OSU": OSU, "IMB": IMB, "OSU, nonblocking": NBC}

# Of the launchers' own manuals and of what they print; %d counts lines.
PREFIXES = {
    "Open MPI 4, tags": "[1,0]<stdout>:",
    "Open MPI 4, times and tags": "Wed Nov 25 10:02:%02d 2026[1,0]<stdout>:",
    "Open MPI 5, tags": "[1,0]<stdout>: ",
    "Open MPI 5, times": "Wed Nov 25 10:02:%02d 2026<stdout>: ",
    "Open MPI 5, times and tags": "[Wed Nov 25 10:02:%02d 2026][1,0]<stdout>: ",
    "Open MPI 5, detailed": "[prterun-node01-1234@1,0][node01:1239]<stdout>: ",
    "Open MPI 5, full name": "[prterun-node01-1234@1,0]<stdout>: ",
    "Hydra, rank": "[0] ",
    "Hydra, host": "host 0: ",
    "srun --label": "0: ",
    "srun --label, of many": "  0: ",
    "pdsh": "node001: ",
    "PALS": "x1000c0s1b0n0.local 0: ",
    "Jenkins": "00:55:%02d  ",
    "GitHub Actions": "2026-11-25T10:02:%02d.1234567Z ",
    "GitLab": "2026-11-25T10:02:%02d.123456Z 01O ",
    "ReFrame": "  ",
    "ctest": "1: ",
    "kubectl logs --prefix": "[pod/launcher-x7f2/main] ",
    "a mail": "> ",
    "an answer to a mail": "> > ",
    "code in Markdown": "    ",
    "code in a list of a mail": "> \t",
    "numbered lines": "   %d\t",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_stands_before_each_line_is_found_by_its_shape(tmp_path: Path, text: str, prefix: str) -> None:
    counted = [
        f"{prefix % (at % 60) if '%' in prefix else prefix}{line}".rstrip()
        for at, line in enumerate(text.split("\n"))
    ]
    tagged = "\n".join(["job 123 starts", *counted, "job 123 ends"])
    assert times_of(records_of(tmp_path / "tagged", tagged)) == times_of(records_of(tmp_path / "bare", text))
    assert said_of(tmp_path / "tagged") == ""


@given(
    st.text(string.ascii_letters + string.digits + "[]<>:.,-_@/| ", min_size=1, max_size=30)
    .map(lambda made: f"{made}: ")
    .filter(lambda made: any(map(str.isalnum, made)))
)
def test_any_name_that_ends_with_a_colon_is_found(prefix: str) -> None:
    assert recognised("".join(f"{prefix}{line}\n" for line in OSU.split("\n")).encode()) == ("osu",)


ENCODED = {
    "UTF-8 with a mark": OSU.encode("utf-8-sig"),
    "UTF-16 of PowerShell": OSU.encode("utf-16"),
    "UTF-16 without a mark": OSU.encode("utf-16-le"),
    "UTF-16, the other way round": b"\xfe\xff" + OSU.encode("utf-16-be"),
    "Latin": OSU.encode("ascii") + "# durée en µs\n".encode("latin-1"),
    "lines of Windows": OSU.replace("\n", "\r\n").encode("ascii"),
    "lines of Windows as a mail shows them": OSU.replace("\n", " ^M\n").encode("ascii"),
    "lines of an old Mac": OSU.replace("\n", "\r").encode("ascii"),
    "gzip": gzip.compress(OSU.encode("ascii")),
    "bzip2": bz2.compress(OSU.encode("ascii")),
    "xz": lzma.compress(OSU.encode("ascii")),
    "colours": OSU.replace("#", "\x1b[1;32m#\x1b[0m").encode("ascii"),
    "a bar of progress": OSU.replace("\n", "\n 10 %\r 50 %\r").encode("ascii"),
    "blanks that do not break": OSU.replace(" ", "\N{NO-BREAK SPACE}").encode("utf-8"),
    "escaped in Markdown": OSU.replace("#", "\\#").encode("ascii"),
    "of a page": OSU.replace("#", "&#35;").replace("  ", "&nbsp; ").encode("ascii"),
    "a page of a mail archive": "".join(
        f'</span><br>\n<span class="quotelev1">&gt; {line}\n' for line in OSU.split("\n")
    ).encode("ascii"),
    "a page with breaks": OSU.replace("\n", "\n<br>\n<p>").encode("ascii"),
    "a fence": f"Before:\n```text\n{OSU}\n```\nand so on\n".encode("ascii"),
}


@pytest.mark.parametrize("content", ENCODED.values(), ids=ENCODED)
def test_however_it_is_kept_the_numbers_are_the_same(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "kept").write_bytes(content)
    assert times_of(records_of(tmp_path / "kept")) == times_of(records_of(tmp_path / "bare", OSU))


def test_a_file_that_is_packed_and_cut_is_refused_and_one_that_fills_the_memory(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(OSU.encode("ascii"))[:-20])
    with pytest.raises(UsageError, match=r"cut.gz: cannot be unpacked"):
        content_of(tmp_path / "cut.gz")
    (tmp_path / "bomb.xz").write_bytes(lzma.compress(bytes(1 << 27)))
    with pytest.raises(UsageError, match="longer than 64 MiB"):
        content_of(tmp_path / "bomb.xz")


@given(st.binary(max_size=200))
def test_any_bytes_are_characters(content: bytes) -> None:
    assert "\x00" not in "".join(map(cleaned, decoded(content).split("\n")))


@pytest.mark.parametrize(
    ("word", "read"),
    [
        ("11,992.28", "11992.28"),
        ("1,048,576", "1048576"),
        ("1,024", "1,024"),
        ("1,84", "1,84"),
        ("1,0485,76", "1,0485,76"),
        ("12.5", "12.5"),
    ],
)
def test_commas_of_thousands_are_taken_out_where_they_can_be_nothing_else(word: str, read: str) -> None:
    assert number(word) == read


@pytest.mark.parametrize(
    ("word", "read"),
    [("1,024", "1024"), ("65,536", "65536"), ("1,048,576", "1048576"), ("1,84", "1,84"), ("1024", "1024")],
)
def test_of_a_count_one_comma_is_enough(word: str, read: str) -> None:
    assert number(word, whole=True) == read


@given(st.integers(0, 10**15 - 1), st.integers(0, 6))
def test_a_number_with_commas_is_read_as_it_was_written_or_not_at_all(whole: int, digits: int) -> None:
    plain, grouped = (f"{whole / 10**digits:{form}.{digits}f}" for form in ("", ","))
    assert number(plain) == plain
    assert number(grouped) in {plain, grouped}
    assert digits == 0 or number(grouped) == plain
    assert digits > 0 or number(grouped, whole=True) == plain


@given(st.text(max_size=12))
def test_what_is_no_number_with_commas_stays_as_it_is(word: str) -> None:
    digits = word.replace(",", "").replace(".", "")
    assert number(word) == word or (digits.isascii() and digits.isdigit())


def test_the_last_digit_says_how_exact_a_number_is() -> None:
    assert relative_step("1.84") == pytest.approx(0.01 / 1.84)
    assert relative_step("512") == pytest.approx(1 / 512)
    assert (relative_step(""), relative_step("fast")) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ("512 8.43 <- here", "512 8.43"),
        ("512 8.43 \N{BLACK STAR}", "512 8.43"),
        ("512 8.43 # warm", "512 8.43"),
        ("512 8.43 12.5", "512 8.43 12.5"),
        ("512 8.43 slurmstepd: error", "512 8.43 slurmstepd: error"),
        ("3 processes (some killed)", "3 processes (some killed)"),
    ],
)
def test_a_note_behind_the_last_column_is_no_number(row: str, kept: str) -> None:
    assert without_note(row.split(), 2) == kept.split()


def test_only_numbers_begin_a_row() -> None:
    assert [begins_row(text.split()) for text in ("8 1.84", "163", "2 nodes", "x 8", "")] == [
        *(True, True, False),
        *(False, False),
    ]


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("<strong>$ cat f", "$ cat f"),
        ("<h3>8</h3> <em>1.84</em><u></u><small></small>", "8 1.84"),
        ("<details open><summary><kbd>8</kbd> <samp>1.84</samp></summary>", "8 1.84"),
        ('<A HREF="https://example.org/a?b=c">8</A> 1.84', "8 1.84"),
        ("2<sup>20</sup> 1.84<sup>1</sup>", "2^20 1.84^1"),
        ("t<sub>avg</sub>", "t_avg"),
        ("<stdout>8 1.84 <rank> <td>1</td>", "<stdout>8 1.84 <rank> <td>1</td>"),
    ],
)
def test_tags_of_pages_vanish_and_those_of_launchers_and_tables_stay(raw: str, kept: str) -> None:
    assert cleaned(raw) == kept


def test_a_tag_inside_a_row_goes_if_only_its_numbers_differ_from_that_of_the_title() -> None:
    text = "[node1:0] # Title\n[node1:0] 8 -1[node1:0]  1.84 t[usec] [x:0]\n[node1:0] a\n"
    lines = lines_of("a", text.encode(), re.compile("# Title"))
    assert lines[1].text.split() == ["8", "-1", "1.84", "t[usec]", "[x:0]"]


def test_a_tag_of_rows_alone_goes_where_a_title_has_none() -> None:
    text = "[0] 8 1.84\n# Title\n[0] 8 -1[0] 1.84\n[1,0]<stdout>:16 1.85\n[0] MPI startup(): 1 2\n"
    lines = [line.text for line in lines_of("a", text.encode(), re.compile("# Title"))]
    assert [line.split() for line in lines[:4]] == [
        *(["[0]", "8", "1.84"], ["#", "Title"], ["8", "-1", "1.84"], ["16", "1.85"])
    ]
    assert lines[4] == "[0] MPI startup(): 1 2"


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("1,44", "write 1.44, with a decimal point"),
        ("1,024", "write 1024 or 1.024, whichever it is"),
        ("-12.48", "nothing is below 0"),
        ("fast", "complete the row"),
    ],
)
def test_what_is_no_number_has_a_hint_that_helps(word: str, hint: str) -> None:
    assert number_hint(word).startswith(hint)
