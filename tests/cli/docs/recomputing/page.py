"""The facts behind the outputs of a page, and all that can be recomputed of them from the stored results."""

from __future__ import annotations

import re
import shlex
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.cli.docs.recomputing.cells import Book, Tables
from tests.cli.docs.recomputing.claims import of_claims
from tests.cli.docs.recomputing.conclusions import facts_of, of_conclusion
from tests.cli.docs.recomputing.ledger import Ledger
from tests.cli.docs.recomputing.shown import of_answer, of_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BLOCK = re.compile(r"```console\n((?:\$ [^\n]*\n)+)```\n<!-- output -->\n", re.DOTALL)
IMPORT = re.compile(r"^\$ mpigauge import csv (\S+) --columns (\S+) -o (\S+)$", re.MULTILINE)


class Facts(NamedTuple):
    """What a command of a page says as JSON.

    Attributes:
        words: The command as it is asked for its facts, all of them.
        imports: The tables that others have printed, by the name of the file that they become.
    """

    words: list[str]
    said: Any
    imports: Tables


def facts_behind(text: str, ask: Callable[[list[str]], Any]) -> Iterator[Facts]:
    """Yield the facts of all outputs of a page, those for which it has no room among them."""
    imports = {name: (table, columns) for table, columns, name in IMPORT.findall(text)}
    for commands in BLOCK.findall(text):
        for line in commands.splitlines():
            words = shlex.split(re.sub(r"--top \d+", "--all", line).replace("--format markdown", ""))
            words = [*words[2:], "--format", "json"]
            yield Facts(words, ask(words), imports)


def recompute(facts: Iterable[Facts]) -> Ledger:
    """Recompute facts; doubts and notes that `show` has below its numbers are not looked at."""
    ledger = Ledger()
    for words, said, imports in facts:
        for where, fact, recomputed in _said(said, Book(words, imports)):
            try:
                ledger.compare(fact, recomputed(), where)
            except (LookupError, ValueError, TypeError, ArithmeticError, StopIteration) as error:
                ledger.differ.append(f"{where}: {type(error).__name__} {error}")
    return ledger


def _said(said: Any, book: Book) -> Iterator[tuple[str, Any, Callable[[], Any]]]:
    """Yield where a fact is, the fact, and what recomputes it."""
    for one in said.get("answer", ()):
        named = ("value", "low", "high", "half_width", *(["bytes"] if one["unit"] == "B/s" else []))
        fact = {name: one[name] for name in named}
        yield f"{book.files[0]} answer, {one['quantity']}", fact, partial(of_answer, one, book)
    for table in said.get("tables", ()):
        for entry in (entry for line in table["lines"] for entry in line["entries"] if entry):
            if entry["status"] == "ok" and entry["value"] is not None:
                fact = {name: entry[name] for name in ("value", "low", "high", "launches", "samples")}
                yield f"{said['table']}, {entry['quantity']}", fact, partial(of_entry, entry, book)
    if "reports" in said:
        yield from of_claims(said, book)
    elif isinstance(said.get("conclusions"), list):
        for one in said["conclusions"]:
            yield f"{one['result']} {one['kind']}", facts_of(one), partial(of_conclusion, one, book)
