"""Tables for a paper: what LaTeX reads as commands never comes from a name, and every row has all columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.document import Column, Document, Line, Table
from mpigauge.show.formats import render
from tests.unit.show.tabled import SMALL_RESULT, document_of

if TYPE_CHECKING:
    from tests.conftest import Cli

RESULTS = Path(__file__).parents[3] / "docs" / "results"
COMMANDS = re.compile(
    r"\\(?:text[a-z]+\{\}|textsuperscript\{.\}|dots\{\}|,|[&%$#_{}])|\$(?:\\pm|\\times|\\div|-|\\leq|\\geq|\\rightarrow|"
    r"\\frac\{1\}\{2\}|\\alpha|\\beta|\\kappa)\$"
)
"""All that our text may become."""


def rows_of(text: str) -> list[str]:
    return [line.strip().removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]


def one_column(entry: str) -> Document:
    return Document(tables=[Table("Times", "one way", [entry], [Column("name", "", str, left=True)])])


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])))
def test_no_name_is_a_command(name: str) -> None:
    (row,) = rows_of(render(one_column(f"x{name}x"), "latex"))
    assert not set(COMMANDS.sub("", row)) & set("\\&%$#_{}~^<>|")


def test_a_table_is_a_float_with_caption_label_and_rules() -> None:
    text = render(document_of(SMALL_RESULT), "latex")
    assert text.startswith("% \\usepackage{booktabs,graphicx}\n")
    for command in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\label{tab:"):
        assert text.count(command) == text.count(r"\begin{table}") > 0
    for table in text.split(r"\begin{table}")[1:]:
        (alignment,) = re.findall(r"\\begin\{tabular\}\{((?:[lr]|p\{0\.3\\linewidth\})+)\}", table)
        assert {len(re.split(r"(?<!\\)&", row)) for row in rows_of(table)} == {
            len(re.findall(r"[lr]|p\{[^}]*\}", alignment))
        }


def test_units_stay_with_their_numbers_and_intervals_are_mathematics() -> None:
    (row,) = rows_of(render(one_column("1.06 µs ±3.0 %, 2 ranks"), "latex"))
    assert row == r"1.06\,\textmu{}s $\pm$3.0\,\%, 2 ranks"
    (marked,) = rows_of(render(one_column("3.9 GB/s ×/÷ 213ᵇ, 4.0 %ᵃ"), "latex"))
    assert marked == (r"3.9\,GB/s $\times$/$\div$ 213\textsuperscript{b}, 4.0\,\%\textsuperscript{a}")


def test_sentences_without_a_table_are_a_list() -> None:
    text = render(Document(foot=[Line("50 % of A_B")]), "latex")
    assert text.splitlines()[-3:] == [r"\begin{itemize}", r"  \item 50\,\% of A\_B", r"\end{itemize}"]


def test_marks_of_notes_are_raised_letters(cli: Cli) -> None:
    text = cli("show", RESULTS / "placements.jsonl.gz", "--table", "rates", "--format", "latex").out
    assert r"\textsuperscript{c} blocked" in text


@pytest.mark.parametrize("table", ["latency", "rates", "summary", "times"])
def test_the_usual_fonts_have_every_character(table: str, cli: Cli) -> None:
    text = cli("show", RESULTS / "placements.jsonl.gz", "--table", table, "--format", "latex").out
    assert text
    assert "".join(line for line in text.splitlines() if not line.startswith("%")).isascii()


def test_a_file_that_ends_in_tex_is_latex(cli: Cli, tmp_path: Path) -> None:
    cli("show", RESULTS / "first.jsonl.gz", "-o", tmp_path / "t.tex")
    assert (tmp_path / "t.tex").read_text().startswith(r"% \usepackage{booktabs,graphicx}")
