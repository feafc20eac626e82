"""The pages that show results: what they show is made by their own commands of the stored results."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from mpigauge.result.reader import load
from mpigauge.show.figures import KINDS
from tests.made import campaign, cell, launch, lines_of, visit
from tests.places import DOCS, EXAMPLES

sys.path.insert(0, str(DOCS))

import draw
import measure
import pages

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGES = pages.pages()
NAMES = [page.path.stem for page in PAGES]
STORED_MOST_BYTES = 17_000_000
MAX_LINES = 320


def option(command: pages.Command, name: str, default: str) -> str:
    words = command.words
    return words[words.index(name) + 1] if name in words else default


# ---- The pages as they are -----------------------------------------------------------------------


def test_the_gallery_has_every_kind_of_figure() -> None:
    (gallery,) = (page for page in PAGES if page.path.stem == "gallery")
    shown = [kind.name for kind in KINDS.values() if kind.example]
    assert [option(command, "--kind", "overview") for command in gallery.making()] == shown
    assert re.findall(r"^## (.+)$", gallery.text, re.MULTILINE) == shown


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_figure_is_made_by_a_command_of_its_page(page: pages.Page) -> None:
    assert page.shown <= {command.makes for command in page.commands if command.verb == "plot"}
    linked = set(re.findall(r"figures/([\w-]+)\.pdf", page.text))
    assert linked <= {name.removesuffix(".png") for name in page.shown}


def test_a_file_is_made_in_one_way_only() -> None:
    ways: dict[str, set[str]] = {}
    for page in PAGES:
        for command in page.making():
            ways.setdefault(command.makes or command.text, set()).add(command.text)
    assert {name: texts for name, texts in ways.items() if len(texts) > 1} == {}


def test_what_is_shown_is_measured_on_this_machine() -> None:
    """A reader's hosts are not ours."""
    commands = pages.needed(PAGES).values()
    assert [command.text for command in commands if command.names_hosts] == []


def test_everything_that_is_read_is_measured_or_imported_by_a_page() -> None:
    measured = {f"{name}.jsonl" for name in pages.needed(PAGES)}
    for page in PAGES:
        imported = {command.makes for command in page.making() if command.verb == "import"}
        read = {name for command in page.making() for name in command.reads}
        assert read <= measured | imported, page.path.name


SHOWING = [*pages.reports(), *(page for page in pages.pages() if page.path.stem == "scoreboard")]


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: str(page.path.stem))
def test_hosts_of_a_lab_are_explained_before_a_line_names_them(page: pages.Page) -> None:
    """A reader does not know what h1,h2 is."""
    prose, _, rest = page.text.partition("\n```console\n")
    named = set(re.findall(r"\bh\d+(?:,h\d+)+\b", pages.CONSOLE.sub("", rest)))
    assert {name for name in named if f"`{name}`" not in prose} == set()


@pytest.mark.parametrize("page", pages.reports(), ids=lambda page: str(page.path.stem))
def test_a_report_has_its_question_its_table_what_would_settle_it_and_what_to_write(page: pages.Page) -> None:
    sections = re.split(r"^## (.+)$", page.text, flags=re.MULTILINE)
    headings, texts = sections[1::2], sections[2::2]
    assert headings[:4] == [
        "Your question",
        "Your table beside ours",
        "What would settle it",
        "What we would write now",
    ]
    assert re.search(r"^\$ mpigauge show printed", texts[1], re.MULTILINE)
    first = pages.Page(page.path, texts[2]).commands[0]
    assert first.verb == "run"
    assert "--hosts" in first.words
    assert re.search(r"^\$ mpigauge explain .*-claims\.toml --all", texts[3], re.MULTILINE)


@pytest.mark.parametrize("page", pages.reports(), ids=lambda page: str(page.path.stem))
def test_a_report_is_not_long(page: pages.Page) -> None:
    assert len(page.text.splitlines()) <= MAX_LINES


def test_every_report_is_in_the_index_with_its_plans() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    reports = sorted((DOCS / "reports").glob("*.md"))
    assert len(reports) == 5
    for path in reports:
        assert f"(reports/{path.name})" in index
        plans = re.findall(r"^<!-- file (\S+) -->$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert plans
        assert all(f"mpigauge run --plan {plan} " in path.read_text(encoding="utf-8") for plan in plans)


# ---- What is kept --------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.usefixtures("_read_once")
def test_results_are_kept_for_all_and_nothing_else_and_are_small() -> None:
    kept = list(pages.stored())
    assert {path.name.removesuffix(".jsonl.gz") for path in kept} == set(pages.needed(PAGES)), "make reports"
    assert sum(path.stat().st_size for path in kept) < STORED_MOST_BYTES
    assert all(load(path).ends for path in kept)


def test_figures_are_kept_for_all_and_nothing_else() -> None:
    shown = {name for page in PAGES for name in page.shown}
    assert {path.name for path in pages.FIGURES.glob("*.png")} == shown, "make docs"
    assert {path.stem for path in pages.FIGURES.glob("*.pdf")} == {Path(name).stem for name in shown}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw.workshop(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    return {}


@pytest.mark.thorough
@pytest.mark.usefixtures("_read_once")
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_page_shows_what_its_commands_make(
    page: pages.Page, here: Path, said: dict[str, str], request: pytest.FixtureRequest
) -> None:
    """Runs them all: tables and sentences are these, every figure is made, and drawn for the gallery."""
    if page.path.stem != "gallery":
        request.getfixturevalue("_sketched")
    assert draw.fresh(page, here, said, print_too=False) == page.text, "make docs"
    assert [name for name in page.shown if not (here / name).exists()] == []


# ---- Reading pages, and filling them -------------------------------------------------------------

PAGE = """\
# One

```console
$ mpigauge run pingpong -o one.jsonl
$ mpigauge plot one.jsonl -o one.png
```
![A figure](figures/one.png)

```console
$ mpigauge show one.jsonl --format markdown
```
<!-- output -->
old
<!-- end -->
The end.
"""


@pytest.fixture
def folder(machine: Path) -> Path:
    of = cell(size=8)
    visits = [visit(number, 0, of, [200, 210, 190]) for number in (1, 2)]
    Path("one.jsonl").write_bytes(lines_of(campaign(of), launch(1), launch(2), *visits))
    return Path.cwd()


@pytest.mark.thorough
def test_what_is_old_is_replaced_and_all_else_stays(folder: Path) -> None:
    page = pages.Page(folder / "one.md", PAGE)
    text = draw.fresh(page, folder, {})
    before, after = PAGE.split("old\n")
    assert text.startswith(before)
    assert text.endswith(after)
    assert "| latency, 8 B |" in text
    assert "old" not in text
    assert draw.fresh(pages.Page(page.path, text), folder, {}) == text
    assert {path.name for path in folder.iterdir()} >= {"one.png", "one.pdf"}


def test_what_failed_is_not_shown(folder: Path) -> None:
    with pytest.raises(draw.Failed, match=r"two\.jsonl\.gz is not there: make reports"):
        draw.fresh(pages.Page(folder / "one.md", PAGE.replace("one.jsonl", "two.jsonl")), folder, {})
    with pytest.raises(draw.Failed, match=r"status 2: mpigauge: one\.jsonl: no figure of kind modes"):
        draw.fresh(
            pages.Page(folder / "one.md", PAGE.replace("-o one.png", "--kind modes -o one.png")), folder, {}
        )


def test_an_output_needs_a_command() -> None:
    with pytest.raises(ValueError, match="no command above it"):
        pages.Page(Path("one.md"), "Words.\n<!-- output -->\n<!-- end -->\n").printing()


@pytest.mark.parametrize(
    ("text", "verb", "makes", "reads"),
    [
        ("mpigauge plot a.jsonl b.jsonl -o c.png", "plot", "c.png", ["a.jsonl", "b.jsonl"]),
        ("mpigauge lab --hosts 3 -- mpigauge run pingpong -o a.jsonl", "run", "a.jsonl", []),
        ("mpigauge import csv a.csv --columns a.toml -o a.jsonl", "import", "a.jsonl", []),
        ("mpigauge show a.jsonl > b.csv", "show", "", ["a.jsonl"]),
        ("make run", "", "", []),
    ],
)
def test_commands_are_read(text: str, verb: str, makes: str, reads: list[str]) -> None:
    command = pages.Command(text, 0)
    assert (command.verb, command.makes, command.reads) == (verb, makes, reads)


@pytest.mark.thorough
def test_figures_are_kept_in_colour_and_in_grey(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "FIGURES", folder / "figures")
    monkeypatch.setattr(draw, "GREY", folder / "grey")
    draw.fresh(pages.Page(folder / "one.md", PAGE), folder, {})
    draw.keep({"one.png": folder / "one.png"})
    with (
        Image.open(folder / "figures" / "one.png") as colour,
        Image.open(folder / "grey" / "one.png") as grey,
    ):
        assert colour.size == grey.size
        assert grey.mode == "L"
        red, _, blue = colour.convert("RGB").split()
        assert red.tobytes() != blue.tobytes()
    assert (folder / "figures" / "one.pdf").exists()


# ---- Measuring -----------------------------------------------------------------------------------

RUN = pages.Command("mpigauge run pingpong -o one.jsonl", 0)


@pytest.fixture
def calls(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """What would have been run; a result is there afterwards."""
    done: list[Sequence[str]] = []

    def run(words: Sequence[str]) -> None:
        done.append(words)
        (folder / "one.jsonl").touch()

    monkeypatch.setattr(pages, "RESULTS", folder)
    monkeypatch.setattr(measure, "_run", run)
    return done


def test_what_is_missing_is_measured_and_kept(calls: list[Sequence[str]], folder: Path) -> None:
    (folder / "one.jsonl").unlink()
    measure.measure("one", RUN, "8s", anew=False)
    assert calls == [["mpigauge", "run", "pingpong", "-o", str(folder / "one.jsonl"), "--budget", "8s"]]
    assert (folder / "one.jsonl.gz").exists()
    assert not (folder / "one.jsonl").exists()


def test_what_was_cut_short_is_continued(calls: list[Sequence[str]], folder: Path) -> None:
    measure.measure("one", RUN, None, anew=False)
    assert calls == [["mpigauge", "resume", str(folder / "one.jsonl")]]
    assert load(folder / "one.jsonl.gz").visits


def test_what_is_there_is_left_unless_it_is_asked_for(calls: list[Sequence[str]], folder: Path) -> None:
    (folder / "one.jsonl").rename(folder / "one.jsonl.gz")
    measure.measure("one", RUN, None, anew=False)
    assert calls == []
    measure.measure("one", RUN, None, anew=True)
    assert len(calls) == 1


# ---- Conclusions ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_no_plateau_is_above_its_link() -> None:
    text = draw.run_words(["explain", str(pages.RESULTS / "modes-lan.jsonl.gz"), "--all"], DOCS)
    shares = re.findall(r"(\S+) % of the \S+ [MG]B/s[^;]* that TCP can bring", text)
    assert shares
    assert all(0 < float(share) < 101 for share in shares)


def test_conclusions_can_be_said_of_results_in_which_little_was_measured(folder: Path) -> None:
    """A campaign that was cut short has gaps anywhere."""
    claims = ["--claims", str(EXAMPLES / "published")]
    for words in ([], ["--all"], claims):
        assert draw.run_words(["explain", str(folder / "one.jsonl"), *words], folder)
