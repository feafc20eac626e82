"""Recomputes all numbers of a page from the stored results: `python -m tests.cli.docs.recompute PAGE …`."""

from __future__ import annotations

import copy
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cli.docs.recomputing.answers import check_answer
from tests.cli.docs.recomputing.claim_numbers import Of
from tests.cli.docs.recomputing.claims import check_claims
from tests.cli.docs.recomputing.explain import check_sentences
from tests.cli.docs.recomputing.ledger import Ledger
from tests.cli.docs.recomputing.published import published
from tests.cli.docs.recomputing.reading import Result
from tests.cli.docs.recomputing.tables import check_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.cli.docs.recomputing.reading import Row

ROOT = Path(__file__).resolve().parents[4]
RESULTS = ROOT / "docs" / "results"
BLOCK = re.compile(r"```console\n((?:\$ [^\n]*\n)+)```\n<!-- output -->\n(.*?)<!-- end -->", re.DOTALL)
MACHINE = re.compile(r"^\*.*\*$", re.MULTILINE)
TEXT = re.compile(r"^```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"^\$ mpigauge import csv (\S+) --columns (\S+) -o (\S+)$", re.MULTILINE)


@cache
def result(name: str) -> Result:
    """A stored result, read once."""
    return Result(RESULTS / f"{name}.jsonl.gz")


def recompute(text: str) -> Ledger:
    """All outputs of a page."""
    ledger = Ledger()
    imports = {name: (table, columns) for table, columns, name in IMPORT.findall(text)}
    for commands, output in BLOCK.findall(text):
        _check(ledger, [shlex.split(line[2:]) for line in commands.splitlines()], output, imports)
    return ledger


def _check(
    ledger: Ledger, commands: Sequence[list[str]], output: str, imports: dict[str, tuple[str, str]]
) -> None:
    words = commands[0]
    if "--table" in words:
        check_tables(ledger, output, [row for one in commands for row in _rows(one, imports)])
    elif "--claims" in words:
        named = [Of(name, result(name).title, row) for name in _names(words) for row in result(name).shown]
        check_claims(ledger, output, [*_claims(ROOT / words[words.index("--claims") + 1])], named)
    elif "explain" in words:
        for command, part in zip(commands, MACHINE.split(output)[1:], strict=True):
            check_sentences(ledger, part, [result(name) for name in _names(command)])
    else:
        for command, part in zip(commands, TEXT.findall(output), strict=True):
            names = {new: old for old, new in _renamed(command).items()}
            check_answer(ledger, part, result(_names(command)[0]), names)


def _names(words: Sequence[str]) -> list[str]:
    return [word.removesuffix(".jsonl") for word in words if word.endswith(".jsonl")]


def _renamed(words: Sequence[str]) -> dict[str, str]:
    return dict(words[n + 1].split("=") for n, word in enumerate(words) if word == "--rename")


def _rows(words: list[str], imports: dict[str, tuple[str, str]]) -> Iterator[Row]:
    renamed = _renamed(words)
    for name in (word for word in words if word.endswith(".jsonl")):
        if name in imports:
            table, columns = (ROOT / part for part in imports[name])
            yield from published(table, columns, renamed)
        else:
            yield from (_called(row, renamed) for row in result(name.removesuffix(".jsonl")).shown)


def _called(row: Row, names: dict[str, str]) -> Row:
    """The row by the name that a page gives its place; its numbers stay those of its own."""
    if row.placement not in names:
        return row
    other = copy.copy(row)
    other.called = names[row.placement]
    vars(other).pop("words", None)
    return other


def _claims(path: Path) -> Iterator[dict[str, Any]]:
    """Of a file or a folder, each with the printed tables that stand beside it."""
    for one in sorted(path.glob("*-claims.toml")) if path.is_dir() else [path]:
        whole = tomllib.loads(one.read_text(encoding="utf-8"))
        tables = [(name, one.with_name(f"{name}.csv")) for name in whole["report"].get("printed", ())]
        found = [
            (name, row) for name, table in tables for row in published(table, table.with_suffix(".toml"), {})
        ]
        yield whole | {"printed_rows": [Of(name, "", row) for name, row in found]}
