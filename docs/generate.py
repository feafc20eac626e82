"""Writes what is computed: cli.md, schema.json, tables of pages, and the kernel's describe.json.

    python docs/generate.py

A test holds the committed files against what this makes.
"""

import inspect
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
import msgspec
import registries

from mpigauge import errors
from mpigauge.cli import mpigauge
from mpigauge.cli.verbs import manual
from mpigauge.errors import MpigaugeError
from mpigauge.mpi import find, kernel
from mpigauge.plan.model import Cell, JobKey, Plan
from mpigauge.plan.names import DESCRIPTION
from mpigauge.result.kernel_data import (
    Card,
    CardTraffic,
    ClockCheck,
    ClockModel,
    CrossingSamples,
    HostCards,
    RankPlace,
)
from mpigauge.result.older_versions import HISTORY
from mpigauge.result.provenance import Environment, LibraryRecord
from mpigauge.result.records import FORMAT, VERSION, Record
from mpigauge.show import figures, pivots
from mpigauge.show.schema import schema as schema_of_show

HERE = Path(__file__).parent

Words = tuple[str, ...]

CLI_HEAD = """\
# Command line

Written by `docs/generate.py` from the program itself.

Every verb takes `-h` and `--help`. What was asked for goes to standard output. Progress, warnings of the
course and errors go to standard error. An error is one sentence and a hint of what to do.
"""


def cli_page() -> str:
    """Return the page of the command line."""
    sections = [_section(words, command) for words, command in manual.commands(mpigauge, ("mpigauge",))]
    return "\n".join([CLI_HEAD, *sections, _statuses()])


def _section(words: Words, command: click.Command) -> str:
    with click.Context(command, info_name=" ".join(words)) as context:
        usage = " ".join([*words, *command.collect_usage_pieces(context)])
        options = [
            parameter
            for parameter in command.get_params(context)
            if isinstance(parameter, click.Option) and "--help" not in parameter.opts
        ]
        lines = [f"{'#' * (len(words) + 1)} {' '.join(words)}", "", "```text", usage, "```", ""]
        lines += _help(command)
        if options:
            lines += ["| option | meaning |", "| --- | --- |"]
            lines += [_option(option, context) for option in options]
            lines.append("")
    return "\n".join(lines)


def _help(command: click.Command) -> list[str]:
    """Return the paragraphs of a help text; those that click must not wrap are commands."""
    lines: list[str] = []
    for verbatim, paragraph in manual.paragraphs(command):
        if verbatim:
            lines += ["```console", *(f"$ {line}" for line in paragraph), "```", ""]
        else:
            lines += [" ".join(paragraph), ""]
    return lines


def _option(option: click.Option, context: click.Context) -> str:
    names, text = option.get_help_record(context) or ("", "")
    return f"| `{_cell(names)}` | {_cell(text)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _statuses() -> str:
    lines = ["## Exit status", "", "| status | meaning |", "| ---: | --- |"]
    lines += [f"| {status} | {meaning} |" for status, meaning in manual.STATUSES.items()]
    lines.append(f"| {errors.EXIT_SIGNAL_BASE} + n | {manual.SIGNALS} |")
    return "\n".join([*lines, ""])


def schema() -> dict[str, Any]:
    """Return the JSON Schema of one line of a result file."""
    (record,), definitions = msgspec.json.schema_components([Record], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        if "description" in definition:  # as the docstring is indented, which Python versions disagree on
            definition["description"] = inspect.cleandoc(definition["description"])
    traits = msgspec.json.decode(DESCRIPTION.read_bytes())["traits"]
    for name, of in (("Mode", "modes"), ("Pattern", "patterns")):
        for field, part in definitions[name]["properties"].items():
            if field in traits[of]:
                part["description"] = traits[of][field]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{FORMAT}:result:{VERSION}",
        "title": f"one line of a result file of {FORMAT}, version {VERSION} of the format",
        **record,
        "$defs": definitions,
    }


# ---- result-file.md ------------------------------------------------------------------------------

PARTS: dict[str, type[msgspec.Struct]] = {
    "the object `plan` of a campaign": Plan,
    "each of its `libraries`": LibraryRecord,
    "its `environment`": Environment,
    "every `cell`": Cell,
    "every `job`": JobKey,
    "each of `ranks_at` of a launch": RankPlace,
    "`crossing` of an eager limit": CrossingSamples,
    "each of `cards` of a launch": HostCards,
    "each of its `cards`": Card,
    "each of `by_card` of a visit": CardTraffic,
    "each of the `checks` of a clock": ClockCheck,
    "each of its `models`": ClockModel,
}
"""Structs inside records, by where they are."""

ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n     .*)*)", re.MULTILINE)


def meanings(struct: type[msgspec.Struct]) -> dict[str, str]:
    """Return the meanings of the fields of a type, from its docstrings and those of its bases, in order.

    Raises:
        KeyError: A field has no description.
    """
    texts: dict[str, str] = {}
    for base in struct.__mro__:
        text = inspect.cleandoc(base.__dict__.get("__doc__") or "")
        found = ATTRIBUTE.findall(text.partition("Attributes:\n")[2])
        texts = {name: " ".join(words.split()) for name, words in found} | texts
    return {field: texts[field] + _choices(struct, field) for field in struct.__struct_fields__}


def _choices(struct: type[msgspec.Struct], field: str) -> str:
    kind = next(one.type for one in msgspec.structs.fields(struct) if one.name == field)
    if get_origin(kind) is not Literal:
        return ""
    return f" One of {', '.join(f'`{word}`' for word in get_args(kind))}."


def _fields(title: str, struct: type[msgspec.Struct]) -> list[str]:
    about = inspect.cleandoc(struct.__doc__ or "").partition("\n")[0]
    return [f"{title}: {about}", "", registries.fields(meanings(struct))]


def record_tables() -> str:
    """Return the tables of the fields of every record, then of the structs inside them."""
    lines: list[str] = []
    for record in get_args(Record):
        lines += _fields(f"**`{record.__struct_config__.tag}`**", record)
    for where, struct in PARTS.items():
        lines += _fields(f"**{where}**", struct)
    return "\n".join(lines)


def history() -> str:
    """Return the changes of each version of the result file."""
    rows = [(str(version), change) for version, change in HISTORY.items()]
    return registries.table(("version", "change"), rows, numbers=("version",))


# ---- Pages ---------------------------------------------------------------------------------------


def with_parts(name: str, parts: Mapping[str, str]) -> str:
    """Return a page with its computed parts, each between two comments."""
    text = (HERE / name).read_text(encoding="utf-8")
    for part, computed in parts.items():
        begin, end = f"<!-- {part} -->\n", "<!-- end -->\n"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{computed}\n{end}{rest.partition(end)[2]}"
    return text


def _numbers() -> dict[str, str]:
    return {
        "operations": registries.operations(),
        "rates": registries.rates(),
        "columns": registries.columns(),
    }


def _fields_of_rows() -> dict[str, str]:
    return {
        "factors": registries.fields(meanings(Cell)),
        "columns with fields": registries.fields(registries.fields_of_columns()),
    }


def _as_file(found: dict[str, Any]) -> str:
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def pages() -> dict[str, str]:
    """Return every computed file, by its name in docs/."""
    return {
        "cli.md": cli_page(),
        "formats.md": with_parts("formats.md", {"visit keys": registries.visit_keys()}),
        "figures.md": with_parts("figures.md", {"kinds": registries.kinds(figures.KINDS)}),
        "gallery.md": registries.gallery(figures.KINDS),
        "howto.md": with_parts("howto.md", {"patterns": registries.patterns()}),
        "result-file.md": with_parts("result-file.md", {"records": record_tables(), "history": history()}),
        "numbers.md": with_parts("numbers.md", _numbers()),
        "numbers-fields.md": with_parts("numbers-fields.md", _fields_of_rows()),
        "peers.md": with_parts("peers.md", {"unmeasured": registries.unmeasured()}),
        "tables.md": with_parts("tables.md", {"kinds": registries.kinds(pivots.KINDS)}),
        "schema.json": _as_file(schema()),
        "schema-show.json": _as_file(schema_of_show()),
    }


def describe() -> bool:
    """Write the description of the kernel; all modes are in it with a library of MPI 4.

    Returns:
        Whether it is another one than before.
    """
    try:
        library = find.find("mpich")
    except MpigaugeError:
        sys.stdout.write("kernel/describe.json: stays as it is, there is no MPICH to build the kernel with\n")
        return False
    before, now = DESCRIPTION.read_text(encoding="ascii"), kernel.stored_description(library)
    DESCRIPTION.write_text(now, encoding="ascii")
    sys.stdout.write("kernel/describe.json\n")
    return now != before


def main() -> None:
    """Write all computed files."""
    if describe():  # what stands in constants is of the description before
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606 - ourselves
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"docs/{name}\n")


if __name__ == "__main__":
    main()
