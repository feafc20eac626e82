"""The documentation: its commands exist and run, its lists are whole, its computed pages are fresh."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from mpigauge import __version__, errors
from mpigauge.analysis import warnings
from mpigauge.analysis.rows import Row
from mpigauge.cli import mpigauge, run
from mpigauge.cli.option_groups import Chapters
from mpigauge.formats.csv import Column, Columns
from mpigauge.mpi import find, kernel
from mpigauge.plan import names
from mpigauge.plan.lab import Lab, Link, Port
from mpigauge.plan.model import Cell, Measure
from mpigauge.plan.plan_file import PlanFile, read_file
from mpigauge.result import kernel_data, records
from mpigauge.show import columns, pivots, tables
from mpigauge.show.figures import KINDS
from tests.places import DOCS, EXAMPLES, ROOT

if TYPE_CHECKING:
    from types import ModuleType

README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
TARGETS = {"run", "test", "lint", "docs", "reports", "bench"}
INTERRUPTED = 124
"""What `timeout` returns when it had to stop a command, which is what the example wants."""


def commands(page: Path) -> list[str]:
    """The `$ ` lines of the console blocks of a page."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines()]
    assert all(line.startswith("$ ") for line in lines), f"{page.name}: a console block holds only commands"
    return [line.removeprefix("$ ") for line in lines]


ALL_COMMANDS = [pytest.param(text, id=f"{page.name}: {text}") for page in PAGES for text in commands(page)]


def words_of(text: str) -> list[str]:
    """A command's words, without what the shell does to them."""
    words = shlex.split(text)
    if ">" in words:
        words = words[: words.index(">")]
    return words[2:] if words[0] == "timeout" else words


def statuses_of(text: str) -> set[int]:
    """How a command of the README may end: a map says by its status what it has found."""
    if text.startswith("timeout "):
        return {INTERRUPTED}
    found = {errors.EXIT_CHECK_FAILED, errors.EXIT_UNDECIDED} if "mpigauge map " in text else set()
    return {errors.EXIT_DONE, *found}


@cache
def docs_text() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md")))


@cache
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verb_options(verb: str) -> set[str]:
    """Every option of a verb, in the form that documentation uses."""
    with click.Context(mpigauge) as context:
        command = mpigauge.get_command(context, verb)
        assert command is not None
        return {
            max(parameter.opts, key=len)
            for parameter in command.params
            if isinstance(parameter, click.Option)
        }


def missing(names: set[str], text: str) -> set[str]:
    """Names that do not stand in the text as code: alone, or in a row of words."""
    code = re.findall(r"`([^`\n]+)`", text)
    words = {word for piece in code for word in re.split(r"[\s,=|\[\]]+", piece)}
    return names - words


# ---- Commands ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ALL_COMMANDS)
def test_command_exists(text: str) -> None:
    words = words_of(text)
    if words[0] == "make":
        assert set(words[1:]) <= TARGETS
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
        test_command_exists(shlex.join(rest[rest.index("mpigauge") :]))


def test_readme_has_commands_to_start_with() -> None:
    start = README.read_text(encoding="utf-8").partition("\n## Start\n")[2]
    assert re.findall(r"^\$ (.+)$", start, re.MULTILINE)[:2] == ["make run", "make test"]


@pytest.mark.mpi
@pytest.mark.slow
def test_readme_commands_run(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    failed = {}
    for text in commands(README):
        if text.startswith("make "):
            continue
        done = subprocess.run(
            ["bash", "-c", text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode not in statuses_of(text):
            failed[text] = f"status {done.returncode}: {done.stderr}"
    assert not failed


@pytest.mark.mpi
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: str(path.stem))
def test_every_example_runs(path: Path, tmp_path: Path) -> None:
    """As it is but for its budget, which only decides how precise it becomes; it gets what it names first."""
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / "data"), "UV_SYSTEM_CERTS": "1"}
    add = ["mpi", "add", "--plan", str(path)]
    run = ["run", "--plan", str(path), "--budget", "6s", "--format", "json"]
    for words in ([add] if read_file(path).mpi else []) + [run]:
        done = subprocess.run(
            [sys.executable, "-m", "mpigauge", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    states = {row["status"] for row in json.loads(done.stdout)["rows"]}
    assert "ok" in states
    assert states <= {"ok", "blocked", "skipped"}


# ---- Lists ---------------------------------------------------------------------------------------


def patterns_of_sources() -> set[str]:
    return set(names.patterns())


def modes_of_sources() -> set[str]:
    return set(names.modes())


def test_every_pattern_is_named() -> None:
    assert {"pingpong", "eager", "bcast-acked", "reduce_local"} <= patterns_of_sources()
    assert not missing(patterns_of_sources(), docs_text())


def test_every_mode_is_named() -> None:
    assert {"standard", "buffered", "blocking", "overlap", "O0"} <= modes_of_sources()
    assert not missing(modes_of_sources(), docs_text())


@pytest.mark.mpi
def test_patterns_and_modes_are_those_of_the_kernel() -> None:
    description = kernel.describe(find.find_default())
    assert {pattern.name for pattern in description.patterns} == patterns_of_sources()
    assert {mode.name for pattern in description.patterns for mode in pattern.modes} == modes_of_sources()


@pytest.mark.parametrize("verb", ["run", "show", "plot", "resume", "sbatch", "lab"])
def test_every_option_is_named(verb: str) -> None:
    assert not missing(verb_options(verb) - {"--help"}, docs_text())


def test_every_datatype_and_operation_is_named() -> None:
    text = (kernel.SOURCES / "memory" / "reduction.c").read_text(encoding="ascii")
    names = set(re.findall(r"{\"(\w+)\", MPI_", text))
    assert {"double", "uint8", "sum", "bxor"} <= names
    assert not missing({f'"{name}"' for name in names}, (DOCS / "formats.md").read_text(encoding="utf-8"))


def test_every_plan_key_is_named() -> None:
    keys = {*PlanFile.__struct_fields__, *Measure.__struct_fields__}
    assert not missing(keys, docs_text())


def test_every_key_of_a_lab_is_named() -> None:
    keys = {*Lab.__struct_fields__, *Link.__struct_fields__, *Port.__struct_fields__}
    assert not missing(keys, (DOCS / "lab.md").read_text(encoding="utf-8"))


def test_every_kind_of_figure_is_as_the_registry_has_it() -> None:
    text = (DOCS / "figures.md").read_text(encoding="utf-8")
    for kind in KINDS.values():
        assert f"| `{kind.name}` | {kind.about} | {kind.needs} |" in text


def test_every_kind_of_table_is_as_the_registry_has_it() -> None:
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    for kind in pivots.KINDS.values():
        assert f"| `{kind.name}` | {kind.about} | {kind.needs} |" in text


def test_every_key_of_a_table_that_is_imported_is_named() -> None:
    keys = {*Columns.__struct_fields__, *Column.__struct_fields__}
    assert not missing(keys, (DOCS / "figures.md").read_text(encoding="utf-8"))


def test_every_warning_is_named() -> None:
    assert not missing(set(warnings.KINDS), (DOCS / "numbers.md").read_text(encoding="utf-8"))


def test_every_field_of_a_row_is_named() -> None:
    cell = Cell("pingpong", "standard", 8, 2, "openmpi", "5.0.11")
    row = Row(
        cell=cell,
        status="ok",
        reason="",
        time=None,
        rate_bytes_per_s=None,
        directions=1,
        cpu_s_per_op=None,
        first_s=None,
        limit_bytes=None,
        advised_samples=None,
        batch=1,
        warnings=(),
    )
    nested = {name for names in tables.NESTED.values() for name in names}
    fields = {*tables.record(row), *tables.STATISTICS, *tables.MORE_STATISTICS, *nested}
    assert not missing(fields, docs_text())


def test_every_column_is_named() -> None:
    text = (DOCS / "numbers.md").read_text(encoding="utf-8")
    assert not missing(set(columns.EXTRA_COLUMNS), text)
    headings = [column.heading for column in (*columns.USUAL_COLUMNS, columns.NOTES)]
    assert [heading for heading in headings if f"| {heading} |" not in text] == []


def test_every_field_of_a_record_is_named() -> None:
    text = docs_text()
    types = [
        records.Campaign,
        records.LibraryRecord,
        records.Environment,
        records.Launch,
        kernel_data.RankPlace,
        records.Clock,
        kernel_data.ClockCheck,
        kernel_data.ClockModel,
        records.Visit,
        records.Eager,
        records.Blocked,
        records.Imported,
        records.Failure,
        records.Done,
        records.End,
    ]
    for one in types:
        assert not missing(set(one.__struct_fields__), text), one.__name__
    tags = {one.__struct_config__.tag for one in types if one.__struct_config__.tag}
    assert not missing({str(tag) for tag in tags}, text)


def test_every_exit_status_is_named() -> None:
    statuses = [
        errors.EXIT_DONE,
        errors.EXIT_CHECK_FAILED,
        errors.EXIT_USAGE,
        errors.EXIT_ENVIRONMENT,
        errors.EXIT_NOTHING_MEASURED,
    ]
    for path in (README, ROOT / "docs" / "cli.md"):
        text = path.read_text(encoding="utf-8")
        assert [status for status in statuses if f"| {status} |" not in text] == [], path.name


# ---- Examples, computed pages, the rest ----------------------------------------------------------


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_example_is_a_plan(path: Path) -> None:
    plan = read_file(path)
    assert plan.title
    assert plan.about
    assert plan.budget
    assert {measure.pattern for measure in plan.measure} <= patterns_of_sources()
    assert {mode for measure in plan.measure for mode in measure.modes} <= modes_of_sources()
    assert f"examples/{path.name}" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["cli.md", "howto.md", "schema.json"])
def test_computed_page_is_fresh(name: str) -> None:
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert committed == generator().pages()[name], "run: python docs/generate.py"


def test_every_verb_has_examples_of_its_own() -> None:
    """Those of cli.md, which the tests of commands above hold: their verbs, options and values exist."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    sections = re.split(r"^#+ (mpigauge.*)$", page, flags=re.MULTILINE)[1:]
    texts = dict(zip(sections[::2], sections[1::2], strict=True))
    for words, _ in generator().commands(mpigauge, ("mpigauge",)):
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
        for _, command in generator().commands(mpigauge, ("mpigauge",)):
            assert "\\" not in command.get_help(context)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_version_is_the_same_everywhere() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
