"""--format and -o of verbs that read results: several at once, by endings, and nothing lost on the way."""

from __future__ import annotations

import csv
import gzip
import json
import os
import resource
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from mpigauge.cli import COMMANDS, mpigauge
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_ENVIRONMENT, EXIT_UNDECIDED, EXIT_USAGE
from mpigauge.show.formats import BINARY, ENDINGS, EVERY, FORMATS
from tests.cli.maps import map_records
from tests.made import campaign, cell, launches_of, measured, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

FOREIGN = Path(__file__).parents[1] / "data" / "foreign"
SIZES = (8, 64, 1024, 4096)
VERBS = {
    "show": ("show", "r.jsonl"),
    "compare": ("compare", "r.jsonl"),
    "check": ("check", "r.jsonl", "--expect", "pingpong latency < 1s"),
    "explain": ("explain", "r.jsonl"),
    "model": ("model", "r.jsonl", "--series", "openmpi"),
    "history": ("history", "r.jsonl"),
}


@pytest.fixture(autouse=True)
def result(machine: Path) -> Path:
    """Two libraries in six launches."""
    cells = [cell(size=size, mpi=mpi) for mpi in ("openmpi", "mpich") for size in SIZES]
    visits = measured(cells, range(1, 7), lambda of, number: [1000 + of.bytes + number] * 20)
    return written("r.jsonl", campaign(*cells), *launches_of(cells, range(1, 7)), *visits)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("r-overview.png", ("plot", "r.jsonl", "r-overview.png")),
        ("of.svg", ("plot", "of.svg", "-o", "of.svg")),
        ("of.svg", ("map", "of.svg", "--figure", "of.svg")),
    ],
)
def test_a_figure_replaces_figures_alone(cli: Cli, result: Path, name: str, words: tuple[str, ...]) -> None:
    """Whoever hands a result on chooses its name."""
    content = result.read_bytes()
    Path(name).write_bytes(content)
    done = cli(*words)
    assert (done.status, f"{name}: is there already, and is no figure" in done.err) == (EXIT_USAGE, True)
    assert Path(name).read_bytes() == content
    for _ in range(2):
        assert cli("plot", "r.jsonl", "-o", "figure.png").status == 0


@pytest.mark.thorough
@pytest.mark.parametrize("verb", VERBS)
def test_files_have_what_standard_output_would_have(cli: Cli, verb: str) -> None:
    done = cli(*VERBS[verb], "-o", "a.json", "-o", "a.csv", "-o", "a.md")
    assert done.out == ""
    assert [*done.err.splitlines()[-3:]] == ["json: a.json", "csv: a.csv", "markdown: a.md"]
    for name, form in (("a.json", "json"), ("a.csv", "csv"), ("a.md", "markdown")):
        said = cli(*VERBS[verb], "--format", form)
        assert Path(name).read_text(encoding="utf-8") == said.out
        assert said.status == done.status


def test_json_says_what_it_is_and_of_which_version(cli: Cli) -> None:
    for verb, words in VERBS.items():
        found = json.loads(cli(*words, "--format", "json").out)
        assert (found["format"], found["version"]) == (f"mpigauge-{verb}", 1)
    several = json.loads(cli("show", "r.jsonl", "r.jsonl", "--format", "json").out)
    assert (several["format"], len(several["contexts"])) == ("mpigauge-answers", 2)


def test_formats_that_are_named_go_to_files_in_their_order(cli: Cli) -> None:
    assert cli("show", "r.jsonl", "--format", "bencher,text", "-o", "one.json", "-o", "two").status == 0
    assert "latency" in next(iter(json.loads(Path("one.json").read_text(encoding="utf-8")).values()))
    assert "latency, 8 B" in Path("two").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--format", "csv,json"), "needs a file of its own"),
        (("--format", "csv,json", "-o", "a.csv"), "names 2 and -o 1"),
        (("-o", "a.xlsx"), "the ending of a.xlsx says no format that this is written in"),
        (("-o", "a.csv", "-o", "a.csv"), "one file twice"),
        (("--format", "parquet"), "format parquet is no text"),
        (("--format", "csv,xml", "-o", "a", "-o", "b"), "'xml'"),
        (("--table", "samples"), "a line for every sample"),
        (("--table", "samples", "-o", "a.json"), "a line for every sample"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(
    cli: Cli, words: tuple[str, ...], said: str
) -> None:
    before = sorted(Path().iterdir())
    done = cli("show", "r.jsonl", *words)
    assert (done.status, done.out) == (EXIT_USAGE, "")
    assert said in done.err
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_is_there_stays_unless_it_is_told(cli: Cli, verb: str) -> None:
    Path("a.csv").write_text("mine", encoding="utf-8")
    done = cli(*VERBS[verb], "-o", "a.json", "-o", "a.csv")
    assert done.status == EXIT_USAGE
    assert "a.csv: is there already" in done.err
    assert "--overwrite" in done.err
    assert Path("a.csv").read_text(encoding="utf-8") == "mine"
    assert not Path("a.json").exists()
    cli(*VERBS[verb], "-o", "a.csv", "--overwrite")
    assert Path("a.csv").read_text(encoding="utf-8") != "mine"


def test_without_a_library_for_one_format_none_is_written(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the same command would be refused once the library is there, since its first file is, too."""
    monkeypatch.setattr("mpigauge.show.formats.parquet.find_spec", lambda _: None)
    done = cli("show", "r.jsonl", "-o", "a.csv", "-o", "a.parquet")
    assert done.status == EXIT_ENVIRONMENT
    assert "pyarrow or duckdb" in done.err
    assert not Path("a.csv").exists()


def test_a_file_is_whole_or_as_it_was(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector that reads meanwhile sees the old one; of what failed nothing is left."""
    assert cli("show", "r.jsonl", "-o", "a.prom").status == 0
    before, kept = Path("a.prom").read_bytes(), sorted(Path().iterdir())
    seen = []

    def fails(*_: object) -> object:
        seen.append(Path("a.prom").read_bytes())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mpigauge.show.formats.pieces", fails)
    done = cli("show", "r.jsonl", "-o", "a.prom", "--overwrite")
    assert done.status == EXIT_ENVIRONMENT
    assert "a.prom: cannot be written: No space left" in done.err
    assert seen == [before] == [Path("a.prom").read_bytes()]
    assert sorted(Path().iterdir()) == kept


FILES = {
    "a.csv": ("show", "r.jsonl", "-o", "a.csv"),
    "a.parquet": ("show", "r.jsonl", "-o", "a.parquet"),
    "a.html": ("report", "r.jsonl", "-o", "a.html"),
    "a.png": ("plot", "r.jsonl", "-o", "a.png"),
    "a.sh": ("sbatch", "pingpong", "-o", "a.sh"),
}
"""What is written by whom."""

ALWAYS_OVERWRITES, NEVER_OVERWRITES = "plot", "sbatch"


@pytest.fixture
def no_room() -> Iterator[None]:
    """No file may grow beyond a kibibyte."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("no_room")
def test_what_does_not_fit_leaves_nothing(cli: Cli, name: str) -> None:
    kept = sorted(Path().iterdir())
    done = cli(*FILES[name])
    assert (done.status, f"{name}: cannot be written: File too large" in done.err) == (EXIT_ENVIRONMENT, True)
    assert "ulimit -f" in done.err
    assert sorted(Path().iterdir()) == kept


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name, words in FILES.items() if words[0] != NEVER_OVERWRITES])
@pytest.mark.usefixtures("no_room")
def test_what_does_not_fit_leaves_what_it_was_to_replace(cli: Cli, name: str) -> None:
    old = b"\x89PNG, and old"  # a figure replaces figures alone
    Path(name).write_bytes(old)
    words = FILES[name]
    done = cli(*words, *(() if words[0] == ALWAYS_OVERWRITES else ("--overwrite",)))
    assert done.status == EXIT_ENVIRONMENT
    assert Path(name).read_bytes() == old


def test_no_link_that_somebody_has_put_there_is_followed(cli: Cli) -> None:
    """Names on the way to a file were known to everybody in a shared folder once."""
    victim = Path("victim")
    victim.write_text("precious", encoding="utf-8")
    for name in (f".a.csv.{os.getpid()}.part", "a.csv.part", "a.csv.tmp"):
        Path(name).symlink_to(victim)
    assert cli("show", "r.jsonl", "-o", "a.csv").status == 0
    assert victim.read_text(encoding="utf-8") == "precious"
    assert Path("a.csv").is_file()
    assert not Path("a.csv").is_symlink()


def test_others_may_read_a_file_as_they_may_read_any(cli: Cli) -> None:
    mask = os.umask(0o022)
    try:
        assert cli("show", "r.jsonl", "-o", "a.prom").status == 0
    finally:
        os.umask(mask)
    assert Path("a.prom").stat().st_mode & 0o777 == 0o644


def test_every_ending_is_a_format_and_every_format_of_show_can_be_a_file(cli: Cli) -> None:
    assert set(ENDINGS.values()) <= set(EVERY)
    for form in FORMATS:
        assert cli("show", "r.jsonl", "--format", form, "-o", f"file.{form}").status == 0
        assert Path(f"file.{form}").stat().st_size > 0
    assert set(EVERY) - set(FORMATS) == set(BINARY)


def test_samples_are_lines_of_csv(cli: Cli) -> None:
    done = cli("show", "r.jsonl", "--table", "samples", "--format", "csv", "--sizes", "8")
    lines = [*csv.DictReader(done.out.splitlines())]
    assert len(lines) == 2 * 6 * 20
    assert {line["bytes"] for line in lines} == {"8"}
    few = cli("show", "r.jsonl", "--table", "samples", "--format", "csv", "--series", "mpich").out
    assert {line["mpi"] for line in csv.DictReader(few.splitlines())} == {"mpich"}


def test_the_result_of_compare_is_told_from_its_tables_by_its_name(cli: Cli) -> None:
    done = cli("compare", "r.jsonl", "-o", "again.jsonl")
    assert (done.status, "--remeasure" in done.err) == (EXIT_USAGE, True)
    assert cli("compare", "r.jsonl", "-o", "c.xml").status != EXIT_USAGE
    assert Path("c.xml").read_text(encoding="utf-8").startswith("<?xml")


def test_standard_output_may_be_one_of_them(cli: Cli) -> None:
    done = cli("show", "r.jsonl", "--format", "json,csv", "-o", "-", "-o", "a.csv")
    assert json.loads(done.out)["rows"]
    assert Path("a.csv").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("show", "r.jsonl", "--format", "json", "-o", "{}.json"),
        ("show", "r.jsonl", "-o", "{}/a.json"),
        ("explain", "r.jsonl", "--claims", "{}"),
        ("run", "--plan", "{}"),
        ("run", "--plan", "{}.toml"),
        ("kernel", "plan", "--plan", "./{}"),
        ("show", "{}"),
        ("check", "r.jsonl", "--expect", "@{}"),
    ],
)
def test_a_name_too_long_for_any_file_is_a_sentence(cli: Cli, words: tuple[str, ...]) -> None:
    name = "a" * 300
    done = cli(*(word.format(name) for word in words))
    assert done.status in (EXIT_USAGE, EXIT_ENVIRONMENT)
    assert name in done.err


@pytest.mark.thorough
@pytest.mark.parametrize("words", [*VERBS.values(), ("report", "r.jsonl"), ("plot", "r.jsonl")])
def test_that_a_compressed_result_is_damaged_is_said_by_all(cli: Cli, words: tuple[str, ...]) -> None:
    """Whatever is written, and wherever to."""
    content = Path("r.jsonl").read_bytes()
    Path("r.jsonl").write_bytes(gzip.compress(content) + b"junk")
    done = cli(*words)
    assert "mpigauge: r.jsonl: the compressed file is damaged" in done.err
    Path("r.jsonl").write_bytes(gzip.compress(content))
    assert "damaged" not in cli(*words).err


# ---- Every verb in every format that it lists ----------------------------------------------------


def verbs_with_formats() -> Iterator[tuple[str, Sequence[str]]]:
    """Each verb that has --format, with the formats that its help lists."""
    context = click.Context(mpigauge)
    for verb in COMMANDS:
        command = mpigauge.get_command(context, verb)
        assert command is not None
        group = command if isinstance(command, click.Group) else None
        commands = (
            {verb: command}
            if group is None
            else {
                f"{verb} {name}": group.get_command(click.Context(group), name)
                for name in group.list_commands(click.Context(group))
            }
        )
        for name, one in commands.items():
            assert one is not None
            types = [option.type for option in one.params if "--format" in option.opts]
            yield from ((name, type_.choices) for type_ in types if isinstance(type_, click.Choice))


FOREIGN_TEXTS = {
    "osu": "12_osu571_mbw_mr_48pairs.txt",
    "imb": "18_imb_v32_suite.txt",
    "nccl": "29_nccl_tests_218.txt",
    "netpipe": "30b_netpipe_screen_plain.txt",
    "perftest": "34_perftest_ib_send_lat.txt",
    "fabtests": "79_fabtests_bw.txt",
    "ucx": "32_ucx_perftest_tag_lat.txt",
    "julia": "31b.csv",
    "table": "q01_table_before_shm_bw.md",
}
READ = {
    **VERBS,
    "map": ("map", "map.jsonl"),
    "doctor": ("doctor",),
    "list": ("list", "formats"),
    "mpi list": ("mpi", "list"),
    "run": ("run", "pingpong", "--sizes", "8", "--launches", "1", "-q"),
    "import csv": ("import", "csv", "--columns", "ring-pairs"),
    **{f"import {name}": ("import", name, FOREIGN / text) for name, text in FOREIGN_TEXTS.items()},
}
"""A command of each verb that prints something small."""

LIKE_OTHERS = {"resume": "run", "import journal": "run"}
"""Verbs that print what another one does, of results that are long to make."""


def test_every_verb_with_formats_is_among_those_that_are_tried() -> None:
    found = dict(verbs_with_formats())
    assert {*found} == {*READ, *LIKE_OTHERS}
    for verb, other in LIKE_OTHERS.items():
        assert found[verb] == found[other]


@pytest.mark.parametrize(
    ("verb", "form"), [(verb, form) for verb, forms in verbs_with_formats() if verb in READ for form in forms]
)
def test_every_format_that_a_verb_lists_works_for_it(
    cli: Cli, openmpi: FakeMpi, verb: str, form: str
) -> None:
    written("map.jsonl", *map_records(0))
    words = [*READ[verb], "--format", form, *(("-o", "a.parquet") if form in BINARY else ())]
    done = cli(*words)
    assert done.status in (EXIT_DONE, EXIT_CHECK_FAILED, EXIT_UNDECIDED, EXIT_ENVIRONMENT), done.err
    assert "hint" not in done.err
    assert done.out or form in BINARY or verb == "mpi list"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("compare", "r.jsonl", "--format", "osu"), "a format of times: mpigauge show RESULT --format osu"),
        (("map", "r.jsonl", "--format", "bencher"), "mpigauge show RESULT --format bencher"),
        (("explain", "r.jsonl", "-o", "a.prom"), "the ending of a.prom says no format"),
        (("run", "--format", "parquet"), "a format of files: mpigauge show RESULT -o table.parquet"),
        (("list", "--format", "arrow"), "a format of files: mpigauge show RESULT -o table.parquet"),
        (("show", "r.jsonl", "--format", "tex"), "did you mean latex?"),
        (("show", "r.jsonl", "--format", "csv,tex", "-o", "a", "-o", "b"), "did you mean latex?"),
        (("show", "r.jsonl", "--format", "xlsx"), "did you mean csv?"),
        (("show", "r.jsonl", "--format", "md"), "did you mean markdown?"),
        (("show", "r.jsonl", "--format", "html"), "mpigauge report RESULT -o page.html"),
        (("show", "r.jsonl", "--format", "png"), "mpigauge plot RESULT -o figure.svg"),
        (("compare", "r.jsonl", "--format", "metrics"), "mpigauge show RESULT --format prometheus"),
    ],
)
def test_a_format_that_a_verb_lacks_is_told_where_it_is(cli: Cli, words: tuple[str, ...], hint: str) -> None:
    done = cli(*words)
    assert (done.status, done.out) == (EXIT_USAGE, "")
    assert hint in done.err
