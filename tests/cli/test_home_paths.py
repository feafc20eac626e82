"""Whose home it was is in nothing that is handed on, and a result goes on in it all the same."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge import report_folder
from mpigauge.campaign.trusted_results import named_by
from mpigauge.importers.loading import load as load_any
from mpigauge.result.home_paths import expanded
from mpigauge.result.reader import load
from mpigauge.result.writer import line_of
from mpigauge.show.figures import KINDS
from tests.fakes import played
from tests.fakes.mpi import install

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.conftest import Cli

RESULT = Path("r.jsonl")


@pytest.fixture
def home(machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that has everything: libraries, kernels, temporary files and the folder that we are in."""
    folder = machine / "users" / "ann"
    for name in ("work", "tmp", "a", "b", ".openmpi"):
        (folder / name).mkdir(parents=True)
    (folder / ".openmpi" / "mca-params.conf").write_text("btl = tcp,self\n", encoding="utf-8")
    (folder / "env.sh").write_text(
        f"export PATH={folder}/mpi/bin:$PATH OMPI_MCA_x={folder}/x\n", encoding="utf-8"
    )
    install(folder / "mpi", "openmpi")
    for name, value in {
        "HOME": folder,
        "XDG_CACHE_HOME": "",
        "MPIGAUGE_KERNEL_DIR": folder / "kernels",
        "TMPDIR": folder / "tmp",
        "LD_LIBRARY_PATH": f"{folder}/lib:/usr/lib",
        "SLURM_SUBMIT_DIR": folder / "work",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(folder / "work")
    return folder


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, str]]:
    """What jobs are given in their environment."""
    seen: list[Mapping[str, str]] = []

    def job(command: Sequence[str], environment: Mapping[str, str], *words: Any, **more: Any) -> Any:
        seen.append(environment)
        return played.job(command, environment, *words, **more)

    monkeypatch.setattr("mpigauge.campaign.job_run.RunningJob", job)
    return seen


def words(home: Path) -> list[str]:
    """A campaign that names the home wherever it can."""
    return [
        *("run", "pingpong", "--sizes", "8,1KiB,64KiB", "--launches", "3", "--seed", "7", "-q"),
        *("--mpi", f"{home}/mpi/bin/mpicc", "--mpiexec", f"{home}/mpi/bin/mpiexec"),
        *(
            "--env",
            f"ONE={home}/one",
            "--env",
            "TWO=~/two:~",
            "--env",
            "THREE=./~/three",
            "--env",
            f"TOKEN=$~{home}",
        ),
        *("--mpi-option", "-x", "--mpi-option", f"FOUR={home}/four"),
        *("--vary", f"DATA={home}/a,~/b"),
    ]


@pytest.fixture
def measured(cli: Cli, home: Path) -> Path:
    """The result of that campaign."""
    done = cli(*words(home), "-o", home / "work" / RESULT)
    assert done.status == 0, done.err
    return RESULT


def strings_in(value: Any) -> Iterator[str]:
    """Every text in a line of JSON, names included."""
    match value:
        case str():
            yield value
        case dict():
            for name, inside in value.items():
                yield from (name, *strings_in(inside))
        case list():
            for inside in value:
                yield from strings_in(inside)


def texts_of(path: Path) -> set[str]:
    """Every text in a result."""
    return {text for line in path.read_bytes().splitlines() for text in strings_in(json.loads(line))}


def test_a_result_does_not_name_the_home(measured: Path, home: Path) -> None:
    texts = texts_of(measured)
    assert not [text for text in texts if str(home) in text]
    assert {
        "~/mpi/bin/mpicc",
        "~/mpi/bin/mpiexec",
        "~/one",
        "~/two:~",
        "~/work",
        "DATA=~/a",
        "DATA=~/b",
    } <= texts
    assert {"./~/three", "(not recorded)", "~/lib:/usr/lib", "~/.openmpi/mca-params.conf"} <= texts
    assert any(text.startswith("~/kernels/") for text in texts)


@pytest.mark.usefixtures("bash")
def test_nor_does_one_of_a_script(cli: Cli, home: Path) -> None:
    assert (
        cli("run", "pingpong", "--sizes", "8", "--mpi", f"source:{home}/env.sh", "-o", RESULT, "-q").status
        == 0
    )
    texts = texts_of(RESULT)
    assert not [text for text in texts if str(home) in text]
    assert {"source:~/env.sh", "~/x"} <= texts


def test_nor_does_one_of_a_launch_that_failed(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpiexec = home / "broken"
    mpiexec.write_text(
        f"#!/bin/sh\necho 'cannot open {home}/x.so: no such file' >&2\nexit 1\n", encoding="utf-8"
    )
    mpiexec.chmod(0o755)
    monkeypatch.setenv("FAKE_PROCESSES", "1")
    done = cli(*words(home), "--mpiexec", mpiexec, "-o", RESULT)
    assert done.status != 0
    texts = texts_of(RESULT)
    assert not [text for text in texts if str(home) in text]
    assert any("cannot open ~/x.so" in text for text in texts)


def test_nor_does_a_table(cli: Cli, measured: Path, home: Path) -> None:
    verbs = (("show",), ("show", "--all"), ("show", "--table", "times"), ("explain",), ("model",))
    for verb, form in product(verbs, ("text", "markdown", "latex", "csv", "json", "junit", "prometheus")):
        asked = (*verb, measured.absolute(), "--format", form)
        printed, kept = cli(*asked), Path("-".join((*verb, form)))
        assert str(home) not in printed.out
        if printed.status == 0:
            assert cli(*asked, "-o", kept).status == 0
            assert str(home) not in kept.read_text(encoding="utf-8")


@pytest.mark.skipif(not importlib.util.find_spec("pyarrow"), reason="reads Parquet by pyarrow")
@pytest.mark.parametrize("kind", ["curves", "samples"])
def test_nor_does_a_table_in_parquet(cli: Cli, measured: Path, home: Path, kind: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    assert cli("show", "--table", kind, measured.absolute(), "-o", "t.parquet").status == 0
    table = parquet.read_table("t.parquet")
    assert str(home) not in f"{table.schema.metadata}{table.to_pylist()}"
    assert "~/work/r.jsonl" in f"{table.to_pylist()}"


def test_nor_do_a_page_and_figures(cli: Cli, measured: Path, home: Path) -> None:
    assert cli("report", measured.absolute(), "-o", home / "work" / "page.html").status == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert str(home) not in page
    assert "-x FOUR=~/four ~/kernels/" in page
    for name in ("f.svg", "f.png"):
        assert cli("plot", measured.absolute(), "-o", home / "work" / name).status == 0
    assert str(home) not in Path("f.svg").read_text(encoding="utf-8")
    image = pytest.importorskip("PIL.Image")
    with image.open("f.png") as picture:
        assert str(home) not in str(picture.text)


def test_nor_does_a_folder(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_folder, "WIDTHS", ("84mm",))
    monkeypatch.setattr(report_folder, "FIGURES", {"time": KINDS["time"]})
    assert cli(*words(home), "--into", home / "a b").status == 0
    made = {path: path.read_bytes() for path in (home / "a b").rglob("*") if path.is_file()}
    assert len(made) > 10
    assert not [path for path, content in made.items() if str(home).encode() in content]
    readme = next(content for path, content in made.items() if path.name == report_folder.README).decode()
    assert "--mpi ~/mpi/bin/mpicc " in readme
    assert "--into ~/'a b'" in readme


def test_texts_of_others_do_not_name_it(cli: Cli, home: Path) -> None:
    text = f"# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8       1.00\nsaid {home}/x\n"
    (home / "work" / "osu.txt").write_text(text, encoding="utf-8")
    assert cli("import", "osu", home / "work" / "osu.txt", "-o", RESULT).status == 0
    shown = load_any(home / "work" / "osu.txt")
    assert not [one for one in texts_of(RESULT) if str(home) in one]
    assert shown.imported[0].source == load(RESULT).imported[0].source == "~/work/osu.txt: line 3"


# ---- Continued -----------------------------------------------------------------------------------


def cut_short(path: Path) -> None:
    """Leave a result as a kill does after its second launch."""
    lines = path.read_bytes().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if b'"type":"done"' in line]
    path.write_bytes(b"".join(lines[: ends[len(ends) // 2] + 1]))


def test_it_goes_on_with_whole_paths(
    cli: Cli, measured: Path, home: Path, given: list[Mapping[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {(visit.launch, visit.id, visit.cell) for visit in load(measured).visits}
    cut_short(measured)
    monkeypatch.setenv("TOKEN", f"$~{home}")
    done = cli("resume", measured, "-q")
    assert done.status == 0, done.err
    assert {(visit.launch, visit.id, visit.cell) for visit in load(measured).visits} == whole
    assert not load(measured).resumed
    assert not [text for text in texts_of(measured) if str(home) in text]
    assert {one["DATA"] for one in given} == {f"{home}/a", f"{home}/b"}
    for one in given:
        assert (one["ONE"], one["TWO"], one["THREE"]) == (f"{home}/one", f"{home}/two:{home}", "./~/three")
        assert one["TOKEN"] == f"$~{home}"


def test_it_is_run_as_it_goes_on(cli: Cli, home: Path, given: list[Mapping[str, str]]) -> None:
    assert cli(*words(home), "-o", RESULT).status == 0
    assert {one["DATA"] for one in given} == {f"{home}/a", f"{home}/b"}
    assert {(one["ONE"], one["TWO"], one["THREE"], one["TOKEN"]) for one in given} == {
        (f"{home}/one", f"{home}/two:{home}", "./~/three", f"$~{home}")
    }


@pytest.mark.usefixtures("bash")
def test_one_of_a_script_goes_on(cli: Cli, home: Path) -> None:
    script = ("run", "pingpong", "--sizes", "8", "--launches", "3", "--mpi", f"source:{home}/env.sh")
    assert cli(*script, "-o", RESULT, "-q").status == 0
    cut_short(RESULT)
    assert cli("resume", RESULT, "-q").status == 0
    assert not load(RESULT).resumed


def with_whole_paths(path: Path, home: Path) -> None:
    """Make a result that of an mpigauge that wrote the home, and that the same user has begun with it."""
    lines = [expanded(json.loads(line)) for line in path.read_bytes().splitlines()]
    whole = [json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() for line in lines]
    path.write_bytes(b"".join(line + b"\n" for line in whole))
    begun = home / ".local" / "state" / "mpigauge" / "campaigns"
    begun.write_text(f"{hashlib.sha256(whole[0]).hexdigest()}\n", encoding="ascii")


def test_an_older_result_with_whole_paths_is_read_without_them_and_goes_on(
    cli: Cli, home: Path, given: list[Mapping[str, str]]
) -> None:
    campaign = ("run", "pingpong", "--sizes", "8", "--launches", "3", "--mpi", f"{home}/mpi/bin/mpicc", "-q")
    assert cli(*campaign, "--vary", f"DATA={home}/a,{home}/b", "-o", RESULT).status == 0
    cut_short(RESULT)
    with_whole_paths(RESULT, home)
    assert str(home) not in cli("show", RESULT, "--format", "json").out
    given.clear()
    done = cli("resume", RESULT, "-q")
    assert done.status == 0, done.err
    assert {one["DATA"] for one in given} == {f"{home}/a", f"{home}/b"}
    assert len({visit.cell for visit in load(RESULT).visits}) == len(load(RESULT).campaign.cells)


def test_both_spellings_have_one_digest_and_one_question(cli: Cli, measured: Path, home: Path) -> None:
    campaign = load(measured).campaign
    whole = expanded(campaign)
    assert campaign != whole
    assert line_of(campaign) == line_of(whole) == measured.read_bytes().splitlines(keepends=True)[0]
    assert named_by(campaign) == named_by(whole)
    cut_short(measured)
    (home / ".local" / "state" / "mpigauge" / "campaigns").unlink()
    asked = cli("resume", measured)
    assert asked.status == 2
    assert f"mpiexec {home}/mpi/bin/mpiexec" in asked.err
    with_whole_paths(measured, home)
    (home / ".local" / "state" / "mpigauge" / "campaigns").unlink()
    assert cli("resume", measured).err == asked.err


def test_it_is_held_against_one_with_whole_paths_as_one_of_the_same_plan(cli: Cli, home: Path) -> None:
    Path("results").mkdir()
    for name in ("old", "new"):
        assert cli(*words(home), "-o", f"results/{name}.jsonl").status == 0
    old = Path("results/old.jsonl")
    with_whole_paths(old, home)
    old.write_text(
        old.read_text(encoding="utf-8").replace('"started":"20', '"started":"19'), encoding="utf-8"
    )
    done = cli("compare", "--before", "results/new.jsonl")
    assert "undecided: 1 session; " in done.out, done.err


def test_what_was_measured_is_measured_again_with_whole_paths(
    cli: Cli, home: Path, given: list[Mapping[str, str]]
) -> None:
    for name in ("base", "other"):
        install(home / name, "openmpi", version="5.0.8" if name == "base" else "5.0.11")
        campaign = (
            "run",
            "pingpong",
            "--sizes",
            "8,64",
            "--launches",
            "4",
            "--seed",
            "7",
            "--env",
            "ONE=~/one",
        )
        assert cli(*campaign, "--mpi", f"{home}/{name}/bin/mpicc", "-o", f"{name}.jsonl", "-q").status == 0
    given.clear()
    done = cli("compare", "base.jsonl", "other.jsonl", "--remeasure", "-o", "again.jsonl", "-q")
    assert Path("again.jsonl").exists(), done.err
    assert {one["ONE"] for one in given} == {f"{home}/one"}
    assert not [text for text in texts_of(Path("again.jsonl")) if str(home) in text]
