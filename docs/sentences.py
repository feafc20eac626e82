"""Prints every sentence that a user can see, by module, so that they can be read in one sitting.

    python docs/sentences.py [PART...]

Help texts come from the command line; from the sources come the strings given to an error, a finding,
`click.echo` or an observer, and every other string that is long enough for a sentence. PART limits them to
modules whose path begins so: cli plan/hosts.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import click

import mpigauge
from mpigauge.cli import mpigauge as program
from mpigauge.cli.verbs.manual import commands

HOUSE = Path(mpigauge.__file__).parent
SENTENCE_FUNCTIONS = ("Error", "Finding", "echo", "trouble", "complain")
"""Endings of the names of functions that take sentences."""

MIN_WORDS = 2
"""Strings of fewer words are names, not sentences."""

WORDS_LEAST_ELSEWHERE = 4
"""Fewest words of a sentence among strings whose use is unknown."""


def main(parts: list[str]) -> None:
    """Print the help, then the sentences of every module."""
    if not parts:
        for words, command in commands(program, ("mpigauge",)):
            _show(" ".join(words), _help(command))
    for path in sorted(HOUSE.rglob("*.py")):
        module = path.relative_to(HOUSE).as_posix()
        if not parts or module.startswith(tuple(parts)):
            _show(module, _sentences(path))


def _show(heading: str, sentences: Iterator[str]) -> None:
    if found := list(dict.fromkeys(sentences)):
        print(f"\n== {heading}", *(f"  {one}" for one in found), sep="\n")


def _help(command: click.Command) -> Iterator[str]:
    yield from (line.strip() for line in (command.help or "").split("\b")[0].splitlines() if line.strip())
    for option in command.params:
        if isinstance(option, click.Option):
            yield f"{'/'.join(option.opts)}: {option.help}"


def _sentences(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {_documentation(node) for node in ast.walk(tree)}
    for node in ast.walk(tree):
        takes_sentences = isinstance(node, ast.Call) and ast.unparse(node.func).endswith(SENTENCE_FUNCTIONS)
        least = MIN_WORDS if takes_sentences else WORDS_LEAST_ELSEWHERE
        if takes_sentences or isinstance(node, ast.stmt):
            yield from (
                text for text in _texts(node) if len(text.split()) >= least and text not in documented
            )


def _documentation(node: ast.AST) -> str | None:
    """Return the text of an expression that is only a text: a docstring."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return None


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts in an expression, with inserted values in braces."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(_piece(value) for value in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for below in ast.iter_child_nodes(node):
            yield from _texts(below)


def _piece(value: ast.expr) -> str:
    if isinstance(value, ast.Constant):
        return str(value.value)
    return "{" + ast.unparse(value.value if isinstance(value, ast.FormattedValue) else value) + "}"


if __name__ == "__main__":
    main(sys.argv[1:])
