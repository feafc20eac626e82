"""The documentation: its commands exist and run, its lists are whole, its computed pages are fresh."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import groupby
from pathlib import Path

import click
import pytest

from mpigauge import __version__, errors
from mpigauge.cli import mpigauge
from mpigauge.cli.options.option_groups import Chapters
from mpigauge.cli.verbs import manual, run
from mpigauge.plan import names
from mpigauge.plan.patterns import blocks_of, known
from mpigauge.plan.plan_file import read_file
from tests.places import DOCS, EXAMPLES, ROOT
from tests.thorough import rest

sys.path.insert(0, str(DOCS))

import generate
import registries

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def commands(page: Path) -> list[str]:
    """Return the `$ ` lines of the console blocks of a page, and those that answer questions in a table."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in lines), f"{page.name}: a console block holds only commands"
    answering = re.findall(r"^\| [^|]+ \| `(mpigauge [^`]+)` \|", text, re.MULTILINE)
    return [*(line.removeprefix("$ ") for line in lines), *answering]


ALL_COMMANDS = {text: page for page in PAGES for text in commands(page)}


def words_of(text: str) -> list[str]:
    """A command's words, without what the shell does to them."""
    words = shlex.split(text)
    return words[: words.index(">")] if ">" in words else words


def statuses_of(text: str) -> set[int]:
    """Return how a command of the README may end: a comparison says by its status what it has found."""
    found = {errors.EXIT_CHECK_FAILED, errors.EXIT_UNDECIDED} if "mpigauge compare " in text else set()
    return {errors.EXIT_DONE, *found}


# ---- Commands ------------------------------------------------------------------------------------


def test_every_command_exists() -> None:
    """Its verb, its options and their values; a target of make."""
    refused = {}
    for text, page in ALL_COMMANDS.items():
        try:
            assert_exists(text)
        except (AssertionError, click.ClickException) as error:
            refused[f"{page.name}: {text}"] = str(error)
    assert refused == {}


def assert_exists(text: str) -> None:
    words = words_of(text)
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in words[1:])
        return
    assert words[0] == "mpigauge"
    command: click.Command = mpigauge
    rest = words[1:]
    with click.Context(mpigauge) as context:
        while isinstance(command, click.Group):
            below = command.get_command(context, rest[0])
            assert below is not None, f"no verb {rest[0]}"
            command, rest = below, rest[1:]
    # Refuses options that do not exist, values that are no choice, and arguments too many.
    command.make_context(command.name or "", rest)
    if "mpigauge" in rest:  # in a lab
        assert_exists(shlex.join(rest[rest.index("mpigauge") :]))


def test_readme_has_commands_to_start_with() -> None:
    start = README.read_text(encoding="utf-8").partition("\n## Start\n")[2]
    assert re.findall(r"^\$ (.+)$", start, re.MULTILINE)[:2] == ["make run", "make test"]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a user with this mpigauge on PATH and a home where the libraries of all these tests are added."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    home = {"XDG_DATA_HOME": str(tmp_path_factory.mktemp("data")), "UV_SYSTEM_CERTS": "1"}
    return {**os.environ, **home, "PATH": path}


def with_small_budget(text: str, times: int) -> str:
    """Return a command with a small budget of time, which only decides how precise a result becomes."""
    return text.replace("mpigauge run ", f"mpigauge run --budget {6 * times}s ")


def only_reads(text: str) -> bool:
    """Return whether a command measures nothing, so that others may run beside it."""
    return words_of(text)[1] in {"compare", "explain", "plot", "report", "show"}


def ended(text: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Return how a command ends that is typed into a shell, and what it says on standard error."""
    done = subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def failed(folder: Path, environment: dict[str, str], times: int) -> dict[str, str]:
    """The commands of the README that do not end as they should, one after the other, and what they say."""
    folder.mkdir()
    found = {}
    typed = [text for text in commands(README) if not text.startswith("make ")]
    for are_beside, group in groupby(typed, only_reads):
        texts = [*group]
        with ThreadPoolExecutor(len(texts) if are_beside else 1) as pool:
            ends = [pool.submit(ended, with_small_budget(text, times), folder, environment) for text in texts]
        for text, end in zip(texts, ends, strict=True):
            status, said = end.result()
            if status not in statuses_of(text):
                found[text] = f"status {status}: {said}"
    return found


@pytest.mark.mpi
def test_readme_commands_run(tmp_path: Path, environment: dict[str, str]) -> None:
    """On a machine that is too slow at the moment for the shortest budgets, with four times as much."""
    if failed(tmp_path / "quick", environment, 1):
        assert not failed(tmp_path / "slow", environment, 4)


PLANS = sorted(EXAMPLES.glob("*.toml"))
USUAL = [EXAMPLES / f"{name}.toml" for name in ("modes", "parts", "placements", "quick", "wan")]
"""Plans that differ most."""


@pytest.mark.mpi
@pytest.mark.parametrize(
    "path", rest(PLANS, [EXAMPLES / f"{name}.toml" for name in USUAL]), ids=lambda path: str(path.stem)
)
def test_every_example_runs(path: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """As it is but for its budget, which only decides how precise it becomes; it gets what it names first.

    A machine that is too slow at the moment to measure anything in the shortest budget gets a longer one;
    one whose emulated hosts deliver their packets late says so of what was measured.
    """

    def told(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mpigauge", *words, "--plan", str(path)]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    if read_file(path).mpi:
        added = told("mpi", "add")
        assert added.returncode == 0, added.stderr
    for budget in ("1s", "10s", "60s"):
        done = told("run", "--budget", budget, "--format", "json")
        if done.returncode != errors.EXIT_NOTHING_MEASURED:
            break
    assert done.returncode == 0, done.stderr
    states = {row["status"] for row in json.loads(done.stdout)["rows"]}
    assert states & {"ok", "late"}
    assert states <= {"ok", "late", "blocked", "skipped"}


# ---- Examples, computed pages, the rest ----------------------------------------------------------


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_example_is_a_plan(path: Path) -> None:
    plan = read_file(path)
    assert plan.title
    assert plan.about
    assert plan.budget
    assert {measure.pattern for measure in plan.measure} <= set(names.patterns())
    assert {mode for measure in plan.measure for mode in measure.modes} <= set(names.modes())
    assert f"examples/{path.name}" in path.read_text(encoding="utf-8")


@cache
def computed() -> dict[str, str]:
    """What docs/generate.py would write, by page."""
    return generate.pages()


@pytest.mark.parametrize("name", computed())
def test_computed_page_is_fresh(name: str) -> None:
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert committed == computed()[name], "run: python docs/generate.py"


@pytest.mark.parametrize("ranks", [2, 3, 16])
def test_the_rates_of_the_page_are_those_that_are_computed(ranks: int) -> None:
    """Each formula of a table, read as arithmetic, gives what the volumes of its patterns do."""
    for pattern in known().values():
        for volume in (pattern.volumes.operation, pattern.volumes.bus):
            formula = registries.rate(volume, directions=1)
            assert value_of(formula, ranks) == pytest.approx(blocks_of(volume, ranks)), pattern.name


def value_of(formula: str, ranks: int) -> float:
    """A rate for blocks of 1 B in 1 s."""
    if formula == registries.DASH:
        return 0.0
    text = formula.replace(registries.MINUS, "-").removesuffix("n / t").replace("p", str(ranks))
    return float(eval(text or "1"))  # noqa: S307 - our own arithmetic


def test_every_verb_has_examples_of_its_own() -> None:
    """Those of cli.md, which the tests of commands above hold: their verbs, options and values exist."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    sections = re.split(r"^#+ (mpigauge.*)$", page, flags=re.MULTILINE)[1:]
    texts = dict(zip(sections[::2], sections[1::2], strict=True))
    for words, _ in manual.commands(mpigauge, ("mpigauge",)):
        name = " ".join(words)
        examples = re.findall(r"^\$ (.*)$", texts[name], re.MULTILINE)
        assert examples, name
        assert any(f"{one} ".startswith(f"{name} ") for one in examples), name


def test_every_chapter_of_the_help_begins_with_an_option() -> None:
    with click.Context(run.command, info_name="run") as context:
        text = run.command.get_help(context)
    assert isinstance(run.command, Chapters)
    for parameter, heading in run.command.chapters.items():
        assert parameter in {one.name for one in run.command.params}
        assert f"{heading}:\n" in text
    assert "Options:" not in text


def test_help_shows_no_backslash() -> None:
    with click.Context(mpigauge, info_name="mpigauge") as context:
        for _, command in manual.commands(mpigauge, ("mpigauge",)):
            assert "\\" not in command.get_help(context)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_version_is_the_same_everywhere() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
