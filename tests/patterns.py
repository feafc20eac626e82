"""All regular expressions of mpigauge, and the texts that take each of them longest."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]  # the only names of the operations
from re import _parser as parser  # type: ignore[attr-defined]  # the only parser of regular expressions
from typing import TYPE_CHECKING, Any

import mpigauge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

ROOT = Path(mpigauge.__file__).parent
METHODS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}

HOSTILE = (
    *("a", " ", "0", "error 2265b1f5 91b7584a ", "[", ":", ".", "-", "=", "(", "\0", "a ", "a:", "1."),
    *("\t", "_", "A", "/", ",", "a-", "\n", "a\n", "\\", '"', "`", "<", "0-", "{", "*", "#", "|", "%", "+"),
)
"""Pieces of lines that are long for their own sake."""

ALPHABET = "a0A -.:_[(\t=/,z\0#é;\x1b" + "".join(map(chr, range(33, 127)))
UNBOUNDED = 200
"""Repetitions that are as good as any number."""

MOST_PIECES = 80


@dataclasses.dataclass(frozen=True, slots=True)
class Used:
    """A regular expression as it is used.

    Attributes:
        where: The name of its module, with its own name or line.
        method: The method that it is called by.
    """

    where: str
    pattern: re.Pattern[Any]
    method: str

    def __str__(self) -> str:
        """Name it in the results of tests."""
        return f"{self.where}.{self.method}"

    def run(self, text: str) -> None:
        """Use it on a text."""
        subject = text.encode("latin-1", "replace") if isinstance(self.pattern.pattern, bytes) else text
        if self.method in {"sub", "subn"}:
            getattr(self.pattern, self.method)(subject[:0], subject)
        elif self.method == "finditer":
            for _ in self.pattern.finditer(subject):
                pass
        else:
            getattr(self.pattern, self.method)(subject)


# ---- Where they are --------------------------------------------------------------------------------


@cache
def modules() -> dict[str, tuple[ModuleType, ast.Module]]:
    """All modules of mpigauge, with their syntax trees."""
    names = [
        one.name for one in pkgutil.walk_packages([str(ROOT)], "mpigauge.") if "__main__" not in one.name
    ]
    found = {name: importlib.import_module(name) for name in names}
    return {name: (one, ast.parse(Path(str(one.__file__)).read_text("utf-8"))) for name, one in found.items()}


@cache
def methods_by_name() -> dict[str, dict[str, set[str]]]:
    """By module and name, the methods of regular expressions that are called of what has this name."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, (_, tree) in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                of = node.value.value if isinstance(node.value, ast.Subscript) else node.value
                name = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
                found[module][name].add(node.attr)
    return found


def in_globals() -> Iterator[Used]:
    """Those in names of modules: alone, in collections and records, and as constraints of types."""
    for name, (module, _) in modules().items():
        for word, value in vars(module).items():
            if word.startswith("__") or (callable(value) and not hasattr(value, "__args__")):
                continue
            for pattern, method in _inside(value, set()):
                methods = {method} if method else _methods_of(word, value)
                yield from (Used(f"{name.removeprefix('mpigauge.')}.{word}", pattern, one) for one in methods)


def _methods_of(word: str, value: object) -> set[str]:
    """The methods called of a name where it stands for this value; for none, finditer, which tries most."""
    having = [name for name, (module, _) in modules().items() if vars(module).get(word) is value]
    return {one for name in having for one in methods_by_name()[name][word]} or {"finditer"}


def _inside(value: Any, seen: set[int]) -> Iterator[tuple[re.Pattern[Any], str]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    inner: Iterable[Any] = ()
    if isinstance(value, re.Pattern):
        yield value, ""
    elif isinstance(value, dict):
        inner = (*value, *value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        inner = value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    elif hasattr(value, "__args__"):
        for meta in getattr(value, "__metadata__", ()):
            stated = getattr(meta, "pattern", None) or (getattr(meta, "extra_json_schema", None) or {}).get(
                "pattern"
            )
            if stated:
                yield re.compile(stated), "search"
        inner = value.__args__ if isinstance(value.__args__, tuple) else ()
    for one in inner:
        yield from _inside(one, seen)


@cache
def in_calls() -> tuple[list[Used], list[str]]:
    """Those in calls of `re`, and the places of calls whose words are not known before they run."""
    found: list[Used] = []
    unknown: list[str] = []
    for name, (module, tree) in modules().items():
        short = name.removeprefix("mpigauge.")
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and _is_of_re(node.func) and node.args):
                continue
            method = node.func.attr  # type: ignore[attr-defined]
            try:
                pattern = _evaluated(node, module)
            except NameError:
                unknown.append(f"{short}: {ast.unparse(node)}")
                continue
            if method != "compile":
                found.append(Used(f"{short}:{node.lineno}", pattern, method))
    return found, unknown


def _is_of_re(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in METHODS | {"compile"}
    )


def _evaluated(call: ast.Call, module: ModuleType) -> re.Pattern[Any]:
    """The pattern of a call, made of names of its module.

    Raises:
        NameError: It is made of others.
    """
    flags = [*call.args[1:], *(word.value for word in call.keywords if word.arg == "flags")]
    flags = [one for one in flags if ast.unparse(one).startswith("re.")]
    values = [eval(compile(ast.Expression(one), "", "eval"), vars(module)) for one in (call.args[0], *flags)]  # noqa: S307
    return re.compile(values[0], sum(values[1:]))


# ---- What takes them longest -----------------------------------------------------------------------


def attacks(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """Texts that a pattern may take long for, as what they begin with and what they repeat.

    Whatever it repeats is repeated, behind what comes before that in the pattern, and what comes before it
    is repeated, too.
    """
    whole = list(_attacks(parser.parse(pattern.pattern, pattern.flags), ""))
    return list(dict.fromkeys([*(("", piece) for piece in HOSTILE), *whole]))[:MOST_PIECES]


def _attacks(nodes: Iterable[tuple[Any, Any]], before: str) -> Iterator[tuple[str, str]]:
    for operation, value in nodes:
        if operation in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
            least, most, inner = value
            if most >= UNBOUNDED:
                yield from _pumped(inner, before)
            yield from _attacks(inner, before)
            before += _example(inner) * max(1, min(least, 50))
        elif operation is code.SUBPATTERN:
            yield from _attacks(value[-1], before)
            before += _example(value[-1])
        elif operation is code.ATOMIC_GROUP:
            yield from _attacks(value, before)
            before += _example(value)
        elif operation is code.BRANCH:
            for branch in value[1]:
                yield from _attacks(branch, before)
            before += _example(value[1][0])
        elif operation in {code.ASSERT, code.ASSERT_NOT}:
            yield from _attacks(value[1], before)
        else:
            before += _one_example(operation, value)
        if before:
            yield "", before


def _pumped(inner: Iterable[tuple[Any, Any]], before: str) -> Iterator[tuple[str, str]]:
    if example := _example(inner):
        yield before, example
    for operation, value in inner:
        if operation is code.IN:
            yield from ((before, sign) for sign in _signs(value)[1:8])
        elif operation is code.ANY:
            yield before, " "


def _example(nodes: Iterable[tuple[Any, Any]]) -> str:
    return "".join(_one_example(*node) for node in nodes)


def _one_example(operation: Any, value: Any) -> str:  # noqa: PLR0911 - one for each operation
    if operation is code.LITERAL:
        return chr(value)
    if operation in {code.NOT_LITERAL, code.ANY}:
        return "a"
    if operation is code.IN:
        return next(iter(_signs(value)), "")
    if operation in {code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT}:
        return _example(value[2]) * min(int(value[0]), 50)
    if operation is code.SUBPATTERN:
        return _example(value[-1])
    if operation is code.ATOMIC_GROUP:
        return _example(value)
    return _example(value[1][0]) if operation is code.BRANCH else ""


CATEGORIES = {
    code.CATEGORY_DIGIT: r"\d",
    code.CATEGORY_SPACE: r"\s",
    code.CATEGORY_WORD: r"\w",
    code.CATEGORY_NOT_DIGIT: r"\D",
    code.CATEGORY_NOT_SPACE: r"\S",
    code.CATEGORY_NOT_WORD: r"\W",
}


def _signs(items: Iterable[tuple[Any, Any]]) -> list[str]:
    """Characters of a class."""
    items = list(items)
    negated = any(operation is code.NEGATE for operation, _ in items)
    return [sign for sign in ALPHABET if any(_has(item, sign) for item in items) != negated]


def _has(item: tuple[Any, Any], sign: str) -> bool:
    operation, value = item
    if operation is code.LITERAL:
        return ord(sign) == int(value)
    if operation is code.RANGE:
        return bool(value[0] <= ord(sign) <= value[1])
    return operation is code.CATEGORY and re.match(CATEGORIES[value], sign) is not None
