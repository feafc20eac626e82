r"""Tables for a paper: siunitx, no commands from names, columns that add up; a TeX that takes them all."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.document.document import Column, Document, Line, Measured, Table
from mpigauge.show.formats import render
from mpigauge.show.pivots import KINDS, SAMPLES
from mpigauge.stats.interval import Number
from tests import needs
from tests.unit.show.tabled import SMALL_RESULT, document_of

if TYPE_CHECKING:
    from tests.conftest import Cli

RESULTS = Path(__file__).parents[3] / "docs" / "results"
COMMANDS = re.compile(
    r"\{\[\}|\\(?:text[a-z]+\{\}|textsuperscript\{(?:.|\$-\$)\}|tnote\{[a-z](?:,[a-z])*\}|dots\{\}|,|[&%$#_{}])|"
    r"\$(?:\\pm|\\times|\\div|-|\\leq|\\geq|\\rightarrow|\\frac\{1\}\{2\}|\\alpha|\\beta|\\kappa)\$"
)
"""All that our text may become."""

WRITTEN = [kind for kind in KINDS if kind != SAMPLES]
SPANNING = re.compile(r"\\multicolumn\{(\d+)\}")


def rows_of(text: str) -> list[str]:
    return [line.strip().removesuffix(r" \\") for line in text.splitlines() if line.endswith(r" \\")]


def one_column(entry: str) -> Document:
    return Document(tables=[Table("Times", "", [entry], [Column("name", "", str, left=True)])])


def numbers(*rows: Measured | None, heading: str = "time") -> Document:
    name = Column("line", "size", lambda row: "8 B" if row else "none", left=True)
    column = Column("0", heading, lambda _: None, write=lambda *_: "blockedᵃ", number=lambda row: row)
    return Document(tables=[Table("times", "", rows, [name, column], ["ᵃ why"])], machine="vm, 6 launches")


def columns_in(row: str) -> int:
    return sum(
        int(found[1]) if (found := SPANNING.match(part)) else 1 for part in re.split(r"(?<!\\) ?& ?", row)
    )


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])))
def test_no_name_is_a_command(name: str) -> None:
    (row,) = rows_of(render(one_column(f"x{name}x"), "latex"))
    assert not set(COMMANDS.sub("", row)) & set("\\&%$#_{}~^<>|")


def test_a_table_is_a_float_with_caption_label_and_rules() -> None:
    text = render(document_of(SMALL_RESULT), "latex")
    assert r"\usepackage{booktabs,siunitx,threeparttable}" in text
    for command in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\label{tab:"):
        assert text.count(command) == text.count(r"\begin{table}") > 0
    assert r"\resizebox" not in text


def test_a_column_has_one_unit_and_its_interval_beside() -> None:
    text = render(numbers(Measured(Number(4.31e-7, 4.1e-7, 4.5e-7), "s", "ᵃ"), None), "latex")
    assert r"& {\si{\nano\second}} & {$\pm$ (\%)} \\" in text
    assert rows_of(text)[-2:] == [
        r"8\,B & 431\tnote{a} & 4.8",
        r"none & \multicolumn{2}{c}{blocked\tnote{a}}",
    ]
    assert r"\item[a] why" in text


@pytest.mark.parametrize(
    ("number", "sides"),
    [
        (Number(1e-6, 0.9e-6, 1.1e-6), "11"),
        (Number(1e-6, 0.98e-6, 1.83e-6), r"{$-2.0/{+}83$}"),
        (Number(1e-6, 0.9e-6, 30e-6), r"{$\div1.11/\times30.0$}"),
        (Number(1e-6, 1e-8, 1e-4), r"{$\times$/$\div$ 100}"),
        (Number(1e-6), ""),
    ],
)
def test_an_interval_says_both_sides_where_they_differ(number: Number, sides: str) -> None:
    row = rows_of(render(numbers(Measured(number, "s")), "latex"))[-1]
    assert row.removeprefix(r"8\,B & 1.00") == (f" & {sides}" if sides else "")


def test_names_keep_their_letters_and_a_caption_is_one_sentence() -> None:
    text = render(numbers(Measured(Number(1e-6, 0.9e-6, 1.1e-6), "s")), "latex")
    (caption,) = re.findall(r"\\caption\{(.*)\}$", text, re.MULTILINE)
    assert caption.startswith("times; vm, 6 launches; $\\pm$ is half")
    assert caption.endswith("launches.")
    assert ". " not in caption


def test_of_rows_of_times_and_rates_each_has_its_unit() -> None:
    rows = (Measured(Number(1e-6), "s"), Measured(Number(2e9), "B/s"))
    text = render(numbers(*rows), "latex")
    assert rows_of(text)[-2:] == [r"8\,B & {\si{\micro\second}} & 1.00", r"8\,B & {\si{GB/s}} & 2.00"]


def test_units_in_words_stay_with_their_numbers() -> None:
    (row,) = rows_of(render(one_column("1.06 µs ±3.0 %, 2 ranks"), "latex"))
    assert row == r"1.06\,\textmu{}s $\pm$3.0\,\%, 2 ranks"


def test_sentences_without_a_table_are_a_list() -> None:
    text = render(Document(foot=[Line("50 % of A_B")]), "latex")
    assert text.splitlines()[-4:-1] == [r"\begin{itemize}", r"  \item 50\,\% of A\_B", r"\end{itemize}"]


@pytest.mark.parametrize("table", WRITTEN)
def test_rows_have_all_columns_and_the_usual_fonts_every_character(table: str, cli: Cli) -> None:
    text = cli("show", RESULTS / "placements.jsonl.gz", "--table", table, "--format", "latex").out
    assert "".join(line for line in text.splitlines() if not line.startswith("%")).isascii()
    for part in re.findall(r"\\begin\{tabular\}\{[^@].*?\n    \\end\{tabular\}", text, re.DOTALL):
        first, *lines = part.splitlines()
        kinds = re.sub(
            r"\[[^\]]*\]|>\{\S*\}(?=p)|\{[0-9.]*\\linewidth\}", "", first.removeprefix(r"\begin{tabular}")
        )
        expected = len(re.findall(r"[lrSp]", kinds))
        rows = [
            re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", row) for row in rows_of("\n".join(lines))
        ]
        assert {columns_in(row) for row in rows} == {expected}


def test_a_file_that_ends_in_tex_is_latex(cli: Cli, tmp_path: Path) -> None:
    cli("show", RESULTS / "first.jsonl.gz", "-o", tmp_path / "t.tex")
    assert r"\begin{threeparttable}" in (tmp_path / "t.tex").read_text()


def compiled(path: Path) -> list[str]:
    """Return what TeX says against a document, run twice for its labels; its pages are not written."""
    words = [needs.program("pdflatex"), "-draftmode", "-interaction=nonstopmode", path.name]
    for _ in range(2):
        done = subprocess.run(words, cwd=path.parent, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    said = path.with_suffix(".log").read_text(errors="replace").splitlines()
    return [line for line in said if re.search(r"^!|Warning|(?:Over|Under)full", line)]


@pytest.mark.needs("pdflatex", "siunitx")
def test_tex_takes_all_tables_alone_and_in_one_document(cli: Cli, tmp_path: Path) -> None:
    names = []
    for result in ("libraries", "messages", "one-sided", "parts", "placements"):
        for kind in WRITTEN:
            names.append(f"{result}-{kind}.tex")
            assert (
                cli(
                    "show", RESULTS / f"{result}.jsonl.gz", "--table", kind, "-o", tmp_path / names[-1]
                ).status
                == 0
            )
    inputs = "".join(rf"\input{{{name}}}\clearpage" + "\n" for name in names)
    preamble = r"\documentclass{article}\usepackage{booktabs,siunitx,threeparttable}\extrafloats{200}"
    (tmp_path / "all.tex").write_text(rf"{preamble}\begin{{document}}{inputs}\end{{document}}")
    assert compiled(tmp_path / "all.tex") == []
    assert compiled(tmp_path / "placements-rates.tex") == []
