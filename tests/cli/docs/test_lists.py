"""What pages list is what there is: each name stands in the table of its own page, and no other does."""

from __future__ import annotations

import pkgutil
import re
import runpy
from contextlib import suppress
from functools import cache
from pathlib import Path

import click
import pytest

import mpigauge as package
from mpigauge import errors
from mpigauge.campaign.allocations import MANAGERS
from mpigauge.campaign.launch.custom_launcher import PLACEHOLDERS
from mpigauge.campaign.launch.launchers import LAUNCHERS
from mpigauge.cli import mpigauge
from mpigauge.document.finding import Finding, finding_record
from mpigauge.find.disturbances import DISTURBED
from mpigauge.find.missing import MISSING
from mpigauge.importers.csv import ColumnMap, CsvColumn
from mpigauge.mpi import find, kernel
from mpigauge.plan import names
from mpigauge.plan.lab import Lab, Link, Port
from mpigauge.plan.model import Measure
from mpigauge.plan.plan_file import Asked
from mpigauge.rows.machine.split import State
from mpigauge.rows.warnings import WARNING_KINDS
from mpigauge.show import records
from mpigauge.show.formats import FORMATS
from mpigauge.vocabulary import SETTINGS
from tests.made import BLIND, campaign, result_of
from tests.places import DOCS, ROOT

HOUSE = Path(package.__file__).parent

PAGES = [ROOT / "README.md", *(page for page in sorted(DOCS.rglob("*.md")) if page.name != "cli.md")]


@cache
def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """What stands below a heading of a page, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", page(name), re.DOTALL | re.MULTILINE)
    assert found, f"{name} has no {heading}"
    return found[1]


def rows_of(text: str) -> list[list[str]]:
    """The cells of all rows of the tables in a text, but for their headings and rules."""
    lines = text.splitlines()
    rules = {number for number, line in enumerate(lines) if re.match(r"^\| :?---", line)}
    heads = {number - 1 for number in rules}
    rows = [line for n, line in enumerate(lines) if line.startswith("|") and n not in rules | heads]
    return [[cell.strip() for cell in row.removeprefix("|").removesuffix("|").split("|")] for row in rows]


def coded(text: str) -> list[str]:
    """The names that stand in a text as code, alone."""
    return re.findall(r"`([^`\n]+)`", text)


def firsts(text: str) -> list[str]:
    """The names in the first column of the tables in a text."""
    return [name for row in rows_of(text) for name in coded(row[0])]


def missing(names: set[str], text: str) -> set[str]:
    """Names that do not stand in the text as code: alone, or in a row of words."""
    words = {word for piece in coded(text) for word in re.split(r"[\s,=|\[\]]+", piece)}
    return names - words


def test_a_table_is_read() -> None:
    text = "| a | b |\n| --- | ---: |\n| `x`, `y` | `z` |\n| - | |\n"
    assert firsts(text) == ["x", "y"]
    assert rows_of(text)[1] == ["-", ""]


# ---- Patterns, options, plans --------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.stem)
def test_no_table_has_a_blank_line_in_it(path: Path) -> None:
    lines = ["", *path.read_text(encoding="utf-8").splitlines(), ""]
    begins = [place for place, line in enumerate(lines) if line.startswith("|") and not lines[place - 1]]
    assert not [lines[place] for place in begins if not lines[place + 1].startswith(("| -", "|-"))]


def test_every_mode_is_named() -> None:
    assert {"standard", "buffered", "blocking", "overlap", "O0"} <= set(names.modes())
    assert not missing(set(names.modes()), page("howto.md"))


@pytest.mark.mpi
def test_patterns_and_modes_are_those_of_the_kernel() -> None:
    description = kernel.describe(find.find_default())
    assert {pattern.name for pattern in description.patterns} == set(names.patterns())
    assert {mode.name for pattern in description.patterns for mode in pattern.modes} == set(names.modes())


def test_every_launcher_scheduler_and_placeholder_has_its_row() -> None:
    assert firsts(section("launchers.md", "Launchers")) == list(LAUNCHERS)
    placeholders = firsts(section("launchers.md", "A launcher in your own words"))
    assert placeholders == [f"{{{name}}}" for name in PLACEHOLDERS]
    seen = [set(coded(row[1])) for row in rows_of(section("launchers.md", "Schedulers"))]
    for manager in MANAGERS:
        assert any(set(manager.variables) <= variables for variables in seen), manager.name


def options(command: click.Command) -> set[str]:
    """The options of a verb and of all below it."""
    found = {opt for one in command.params for opt in (*one.opts, *one.secondary_opts)}
    if isinstance(command, click.Group):
        with click.Context(command) as context:
            below = [command.get_command(context, name) for name in command.list_commands(context)]
        found |= {opt for one in below if one is not None for opt in options(one)}
    return found


def test_every_option_that_a_page_names_exists() -> None:
    """An option of another program stands behind the name of that program."""
    known = options(mpigauge) | {"--help"}
    for path in PAGES:
        codes = coded(path.read_text(encoding="utf-8"))
        ours = [text for text in codes if text.startswith(("mpigauge ", "--"))]
        assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", "\n".join(ours))) <= known, path


def test_every_datatype_and_operation_is_named() -> None:
    text = (kernel.SOURCES / "memory" / "reduction.c").read_text(encoding="ascii")
    found = set(re.findall(r"{\"(\w+)\", MPI_", text))
    assert {"double", "uint8", "sum", "bxor"} <= found
    assert not missing({f'"{name}"' for name in found}, section("formats.md", "Plan file"))


def test_every_plan_key_is_named() -> None:
    keys = {*Asked.__struct_fields__, *Measure.__struct_fields__}
    assert not missing(keys, section("formats.md", "Plan file"))


def test_every_key_of_a_lab_is_named() -> None:
    keys = {*Lab.__struct_fields__, *Link.__struct_fields__, *Port.__struct_fields__}
    assert not missing(keys, section("lab.md", "A plan with a lab"))


def test_every_key_of_a_table_that_is_imported_is_named() -> None:
    keys = {*ColumnMap.__struct_fields__, *CsvColumn.__struct_fields__}
    assert not missing(keys, page("figures.md"))


# ---- What is shown -------------------------------------------------------------------------------


def test_every_warning_is_named_and_no_other() -> None:
    assert firsts(section("warnings.md", "Warnings")) == list(WARNING_KINDS)


def test_every_disturbance_and_every_choice_is_named_in_its_order() -> None:
    assert firsts(section("warnings.md", "Disturbances")) == [kind.name for kind in DISTURBED]
    assert firsts(section("warnings.md", "Missing")) == [kind.name for kind in MISSING]
    assert firsts(section("warnings.md", "Settings")) == list(SETTINGS)


def test_every_field_of_json_is_named_and_no_other() -> None:
    from mpigauge.rows.rows import rows  # noqa: PLC0415

    (row,) = rows(result_of(campaign(BLIND)))
    text = page("numbers-fields.md")
    top, states, findings, fields, times = re.split(r"^Fields of .*:$", text, flags=re.MULTILINE)
    assert sorted(firsts(fields)) == sorted(records.record(row))
    state = State("near", "line", 40e-9, 1, 1.0, 1)
    assert sorted(firsts(states)) == sorted(records.state_record(state))
    assert sorted(firsts(times)) == sorted((*records.STATISTICS, *records.MORE_STATISTICS, "statistic"))
    assert sorted(firsts(findings)) == sorted(finding_record(Finding("contrast", "info", (), {}, "")))
    named = ("format", "version", *records.result_record(result_of(campaign(BLIND)), [], []))
    assert sorted(firsts(top)) == sorted(named)


# ---- Exit statuses, the house --------------------------------------------------------------------


def test_every_exit_status_is_named_and_no_other() -> None:
    statuses = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    expected = [*sorted(map(str, statuses - {errors.EXIT_SIGNAL_BASE})), f"{errors.EXIT_SIGNAL_BASE} + n"]
    assert [row[0] for row in rows_of(section("cli.md", "Exit status"))] == expected


def test_no_file_is_named_that_the_house_does_not_have() -> None:
    """Wherever a page for those who work on the program names one; a part of a path is enough."""
    folders = ("src", "tests", "docs", "benchmarks", "examples")
    paths = [*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))]
    files = {f"/{path.relative_to(ROOT)}" for path in paths if "_build" not in path.parts}
    for text in (page("design.md"), (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        named = {piece for piece in coded(text) if re.fullmatch(r"[\w/]+\.(py|[ch]|def|json|toml|md)", piece)}
        assert len(named) > 10
        gone = {name for name in named if not any(file.endswith(f"/{name}") for file in files)}
        assert gone == set()


def found(name: str) -> object:
    """Return what a name stands for: `file.c:function` of the kernel, else `module.function`, in any folder.

    Raises:
        AttributeError: There is no such thing.
    """
    if ":" in name:
        return found_in_c(*name.split(":"))
    stem, _, inside = name.partition(".")
    for path in (*HOUSE.rglob(f"{stem}.py"), *HOUSE.rglob(f"{stem}/__init__.py")):
        module = ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__")
        with suppress(AttributeError):
            return pkgutil.resolve_name(f"{module}:{inside}")
    raise AttributeError(name)


def found_in_c(file: str, function: str) -> str:
    """Return how the definition of a function of the kernel begins.

    Raises:
        AttributeError: There is no such thing.
    """
    (path,) = kernel.SOURCES.rglob(file)
    begins = rf"^(?:static )?\w[\w *]*?\b{function}\([^;{{}}]*\)\s*{{"
    if match := re.search(begins, path.read_text(encoding="ascii"), re.MULTILINE):
        return match[0]
    raise AttributeError(function)


def test_every_station_of_a_number_exists() -> None:
    stations = re.findall(
        r"^\d+\. (.*(?:\n   .*)*)", section("design.md", "The way of a number"), re.MULTILINE
    )
    assert 0 < len(stations) <= 10
    for station in stations:
        functions = [name for name in coded(station) if re.fullmatch(r"\w+\.[ch]:\w+|[a-z]\w+(\.\w+)+", name)]
        assert functions, station
        assert all(found(name) for name in functions), station


@pytest.mark.parametrize("name", ["rounds.c:run_nothing", "journal.nothing", "nothing.parse"])
def test_a_station_that_is_gone_is_found(name: str) -> None:
    assert found("rounds.c:run_warm")
    with pytest.raises(AttributeError):
        found(name)


def test_the_promise_names_every_format_and_every_exit_status() -> None:
    """What is not promised is named, too."""
    text = page("stability.md")
    assert not missing(set(FORMATS), text)
    statuses = {str(value) for name, value in vars(errors).items() if name.startswith("EXIT_")}
    table = rows_of(section("stability.md", "What stays the same"))
    assert statuses - {str(errors.EXIT_SIGNAL_BASE)} <= {row[0] for row in table}


def test_every_schema_is_beside_the_pages() -> None:
    """Where docs/result-file.md says that they are."""
    settings = runpy.run_path(str(DOCS / "conf.py"))
    assert set(settings["html_extra_path"]) == {path.name for path in DOCS.glob("*.json")}
