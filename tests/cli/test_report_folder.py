"""--into: one folder with all that follows from a result, and a README.txt with the command of each file."""

from __future__ import annotations

import os
import re
import shlex
import signal
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge import report_folder
from mpigauge.cli.options.into import without_secrets
from mpigauge.cli.screen.progress import NoProgress
from mpigauge.errors import EXIT_NOTHING_MEASURED, EXIT_USAGE, EnvironmentLacksError
from mpigauge.result.environment import HIDDEN
from mpigauge.result.reader import load
from mpigauge.show.figures import KINDS, draw
from tests.made import campaign, cell, launches_of, measured, written
from tests.reported import LAUNCHES, samples_ns
from tests.thorough import rest

if TYPE_CHECKING:
    from mpigauge.query.query import Query
    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

CAMPAIGN = ("run", "pingpong", "--sizes", "8,1KiB,64KiB", "--launches", "6", "--seed", "7", "-q")
CELLS = [cell(size=size, mode=mode) for mode in ("standard", "synchronous") for size in (8, 512)]
DOTS_PER_MM = 200 / 25.4


def files(folder: str | Path) -> set[str]:
    """Names of the files of a folder, below it."""
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()}


def readme(folder: str | Path) -> str:
    """What a folder says of itself."""
    return Path(folder, report_folder.README).read_text(encoding="utf-8")


def whole_readme(folder: str | Path) -> str:
    """What it says of each file."""
    return Path(folder, report_folder.MORE, report_folder.README).read_text(encoding="utf-8")


def commands(folder: str | Path) -> dict[str, list[str]]:
    """The command of every file that has one; of those of a line, what follows -o is another."""
    found: dict[str, list[str]] = {}
    for names, command in re.findall(
        r"^    (\S.*)\n      (mpigauge .*)$", whole_readme(folder), re.MULTILINE
    ):
        *words, _ = shlex.split(command)[1:]
        found |= {name: [*words, name] for name in names.split(", ")}
    return found


def only(patch: pytest.MonkeyPatch, *kinds: str, widths: tuple[str, ...] = ("84mm",)) -> None:
    """Leave out all other kinds and widths of figures."""
    patch.setattr(report_folder, "WIDTHS", widths)
    patch.setattr(report_folder, "FIGURES", {name: KINDS[name] for name in kinds})


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures of one width and of two kinds, one of which nothing here has."""
    only(monkeypatch, "time", "map")


@pytest.fixture
def result(machine: Path, few: None) -> Path:
    """Messages in two modes, where we are."""
    return written(
        "r.jsonl", campaign(*CELLS), *launches_of(CELLS, LAUNCHES), *measured(CELLS, LAUNCHES, samples_ns)
    )


# ---- A campaign ------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_campaign_leaves_a_folder_with_all_that_follows(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "time", "map", widths=report_folder.WIDTHS)
    done = cli(*CAMPAIGN, "--into", "deep/report")
    assert done.status == 0, done.err
    assert "latency, 8 B" in done.out
    folder, found = Path("deep/report"), files("deep/report")
    assert {"result.jsonl", "report.html", "sentences.txt", "README.txt"} <= found
    assert {f"tables/{name}" for name in ("latency.md", "latency.csv", "latency.tex", "curves.csv")} <= found
    assert {f"figures/time-{name}" for name in ("84mm.pdf", "84mm.png", "174mm.pdf", "174mm.png")} <= found
    assert len(load(folder / "result.jsonl").launches) == 6
    assert found == {*commands(folder), "result.jsonl", "README.txt", "more/README.txt"}
    assert shlex.join(["mpigauge", *CAMPAIGN, "--into", "deep/report"]) in readme(folder)
    for width_mm in (84, 174):
        head = (folder / f"figures/time-{width_mm}mm.png").read_bytes()[16:20]
        assert struct.unpack(">I", head)[0] == pytest.approx(width_mm * DOTS_PER_MM, abs=1)
    # No browser is on PATH, and no map was measured.
    assert "deep/report/report.pdf is left out: a PDF is printed by Chromium or Chrome" in done.err
    assert "report.pdf: a PDF is printed" in whole_readme(folder)
    assert re.search(r"^  figure map: .*no pairs", whole_readme(folder), re.MULTILINE)
    top = {path.name for path in folder.iterdir()}
    assert top == {"result.jsonl", "report.html", "sentences.txt", "README.txt", "figures", "tables", "more"}
    assert len(readme(folder).splitlines()) <= 14
    assert "time-84mm.pdf for one column" in readme(folder)


def test_a_folder_with_files_is_refused_before_anything_is_measured(cli: Cli, openmpi: FakeMpi) -> None:
    Path("report").mkdir()
    Path("report/mine.txt").touch()
    done = cli(*CAMPAIGN, "--into", "report")
    assert (done.status, "report: has files already\n" in done.err) == (EXIT_USAGE, True)
    assert "--overwrite" in done.err
    assert files("report") == {"mine.txt"}


def test_a_second_run_says_what_it_would_replace(cli: Cli, openmpi: FakeMpi) -> None:
    for name in ("report.html", "tables/latency.md", "tables/times.md", "tables/rates.md", "mine.txt"):
        Path("report", name).parent.mkdir(parents=True, exist_ok=True)
        Path("report", name).touch()
    done = cli(*CAMPAIGN, "--into", "report")
    assert done.status == EXIT_USAGE
    assert "report.html, tables/latency.md, tables/rates.md and 1 more would be replaced" in done.err


@pytest.mark.thorough
@pytest.mark.usefixtures("few")
def test_overwriting_replaces_what_it_makes_and_keeps_results_and_strangers(
    cli: Cli, openmpi: FakeMpi
) -> None:
    Path("report/figures").mkdir(parents=True)
    for name in ("mine.txt", "result.jsonl", "report.html", "figures/map-84mm.png"):
        Path("report", name).write_text("old", encoding="utf-8")
    assert cli(*CAMPAIGN, "--into", "report/", "--overwrite").status == 0
    kept = {name for name in files("report") if Path("report", name).read_bytes() == b"old"}
    assert kept == {"mine.txt", "result.jsonl"}
    assert "figures/map-84mm.png" not in files("report")
    assert len(load(Path("report/result-2.jsonl")).launches) == 6
    assert commands("report")["report.html"][1] == "result-2.jsonl"


@pytest.mark.thorough
@pytest.mark.usefixtures("few")
def test_after_an_interruption_the_folder_is_made_of_what_resume_completes(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def interrupted(*_: object) -> None:
        begun.append(1)
        if len(begun) == 20:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(NoProgress, "visit_begins", interrupted)
    done = cli(*CAMPAIGN, "--into", "report")
    assert done.status == 128 + signal.SIGINT
    assert files("report") == {"result.jsonl"}
    resume, make = (
        shlex.split(line.partition(": ")[2])[1:] for line in done.err.splitlines() if "with: mpigauge" in line
    )
    assert resume[0] == "resume"
    assert cli(*resume, "-q").status == 0
    assert cli(*make).status == 0
    assert load(Path("report/result.jsonl")).ends[-1].reason == "launches"
    assert {"report.html", "result.jsonl", "figures/time-84mm.pdf"} <= files("report")


@pytest.mark.thorough
@pytest.mark.usefixtures("few")
def test_no_secret_of_the_command_line_is_handed_in(cli: Cli, openmpi: FakeMpi) -> None:
    words = ("run", "pingpong", "--sizes", "8", "--launches", "1", "--env=MY_TOKEN=hunter2", "-q")
    assert cli(*words, "--into", "report").status == 0
    assert "--env=MY_TOKEN=" in readme("report")
    for name in files("report"):
        assert b"hunter2" not in Path("report", name).read_bytes(), name


@pytest.mark.parametrize(
    "name", rest(["README.txt", "report.html", "sentences.txt", "figures/time-84mm.png"], ["report.html"])
)
def test_no_result_is_overwritten_by_what_is_made_of_it(cli: Cli, result: Path, name: str) -> None:
    """Whoever hands one on chooses its name."""
    inside, content = Path("handed", name), result.read_bytes()
    inside.parent.mkdir(parents=True)
    result.rename(inside)
    done = cli("report", str(inside), "--into", "handed", "--overwrite")
    assert (done.status, f"{inside}: a file of the folder" in done.err) == (EXIT_USAGE, True)
    assert (files("handed"), inside.read_bytes()) == ({name}, content)
    assert cli("report", str(inside), "--into", "new").status == 0
    assert [path for path in Path("new").iterdir() if path.is_file() and path.read_bytes() == content]


@pytest.mark.parametrize("value", ["--mpi-option hunter2", "--mpi-option=hunter2"])
def test_a_secret_of_the_launcher_is_known_by_the_word_before_ours(value: str) -> None:
    typed = f"run --mpi-option --mca --mpi-option=my_token {value} --mpi-option -x --mpi-option=UCX_TLS=sm"
    kept = without_secrets(typed.split(), ["--mca", "my_token", "hunter2", "-x", "UCX_TLS=sm"])
    assert [word for word in kept if word != HIDDEN] == [one for one in typed.split() if "hunter2" not in one]


@pytest.mark.usefixtures("few")
def test_a_link_inside_the_folder_leads_nothing_out_of_it(cli: Cli, openmpi: FakeMpi) -> None:
    Path("outside").mkdir()
    Path("outside", "answer.csv").write_text("precious")
    Path("report").mkdir()
    Path("report", "tables").symlink_to("../outside")
    words = ("run", "pingpong", "--sizes", "8", "--launches", "1", "-q", "--into", "report", "--overwrite")
    done = cli(*words)
    assert (done.status, "report/tables: is a link" in done.err) == (2, True)
    assert [path.read_text() for path in Path("outside").iterdir()] == ["precious"]
    assert list(Path("report").glob("*.jsonl"))


def test_of_nothing_measured_only_the_result_is_kept(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_DEAD", "no network")
    done = cli("run", "pingpong", "--sizes", "8", "--launches", "1", "-q", "--into", "report")
    assert done.status == EXIT_NOTHING_MEASURED
    assert files("report") == {"result.jsonl"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "pingpong", "--into", "report", "-o", "r.jsonl"), "--into and -o exclude each other"),
        (("sbatch", "pingpong", "--into", "report"), "--into cannot be used here"),
        (("run", "pingpong", "--into", "file"), "file: cannot be written: Not a directory"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, openmpi: FakeMpi, words: tuple[str, ...], said: str) -> None:
    Path("file").touch()
    done = cli(*words)
    assert (done.status, said in done.err) == (EXIT_USAGE, True), done.err
    assert files(".") == {"file"}


# ---- A result that is there ------------------------------------------------------------------------


@pytest.mark.thorough
def test_every_command_of_the_readme_makes_its_file_again(
    cli: Cli, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "time", "compare", "samples")
    chosen = ("--sizes", "8:512", "--unit", "us", "--stat", "mean", "--by", "mode", "--margin", "1%")
    assert cli("report", result, "--into", "report", *chosen).status == 0
    made = {name: Path("report", name).read_bytes() for name in commands("report")}
    words = commands("report")
    for inside in ("figures", "more/figures"):
        Path("again", inside).mkdir(parents=True)
    Path("again/tables").mkdir()
    Path("again/r.jsonl").write_bytes(result.read_bytes())
    monkeypatch.chdir("again")
    assert len(made) > 20
    for name, command in words.items():
        assert cli(*command).status == 0, command
        assert Path(name).read_bytes() == made[name], command


@pytest.mark.thorough
def test_show_and_report_make_the_same_folder(cli: Cli, result: Path) -> None:
    assert cli("report", result, "--into", "a").status == 0
    assert cli("show", result, "--into", "b").status == 0
    assert files("a") == files("b")
    assert all(
        Path("a", name).read_bytes() == Path("b", name).read_bytes() for name in files("a") - {"README.txt"}
    )


@pytest.mark.thorough
def test_a_figure_that_cannot_be_drawn_is_named_and_hinders_nothing(
    cli: Cli, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(query: Query, path: Path) -> None:
        if query.kind.name == "time":
            raise EnvironmentLacksError("the font is broken", "")
        draw(query, path)

    only(monkeypatch, "time", "ratio")
    monkeypatch.setattr("mpigauge.show.figures.draw", fails)
    assert cli("report", result, "--into", "report").status == 0
    assert "figure time: the font is broken" in whole_readme("report")
    assert {"more/figures/ratio-84mm.pdf", "tables/latency.tex", "report.html"} <= files("report")
    assert not [name for name in files("report") if "time-" in name]


@pytest.mark.thorough
def test_a_fault_of_ours_is_not_hidden_and_costs_one_figure(
    cli: Cli, result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("in a figure")

    monkeypatch.setattr("mpigauge.show.figures.draw", fails)
    with pytest.raises(ZeroDivisionError):  # status 70 with its traceback, but in tests
        cli("report", result, "--into", "report")
    assert "figure time: a fault of mpigauge: ZeroDivisionError: in a figure" in whole_readme("report")
    assert {"tables/latency.tex", "report.html"} <= files("report")


@pytest.mark.thorough
def test_results_of_one_name_get_two(cli: Cli, result: Path) -> None:
    Path("old").mkdir()
    Path("old/r.jsonl").write_bytes(result.read_bytes())
    assert cli("show", "old/r.jsonl", result, "--into", "report").status == 0
    assert {"r.jsonl", "r-2.jsonl"} <= files("report")
    assert commands("report")["sentences.txt"][1:3] == ["r.jsonl", "r-2.jsonl"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "r.jsonl", "-o", "p.html"), "--into and -o exclude each other"),
        (("show", "r.jsonl", "--table", "times"), "--into and --table exclude each other"),
        (("show", "r.jsonl", "--format", "csv"), "--into and -o or --format exclude each other"),
        (("show", "r.jsonl", "--series", "nothing"), "no series has"),
        (("show", "-"), "--into cannot copy -, which is read only once"),
        (("show", "pipe"), "--into cannot copy pipe"),
        (("show", "a" * 300), "File name too long"),
    ],
)
def test_options_without_effect_and_choices_of_nothing_leave_no_folder(
    cli: Cli, result: Path, words: tuple[str, ...], said: str
) -> None:
    os.mkfifo("pipe")
    done = cli(*words, "--into", "report")
    assert (done.status, said in done.err) == (EXIT_USAGE, True), done.err
    assert not Path("report").exists()
