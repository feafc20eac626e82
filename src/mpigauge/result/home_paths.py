"""Paths below the user's home, which results and what is made of them have with ~ in its place, as shells do.

So nobody who is handed a result reads in it who measured it. In a word of a plan, ~ means the home, too.
"""

import json
import os
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple, TypeVar

from mpigauge.result.files import quoted

Words = TypeVar("Words")

COLOUR = "|".join(rf"(?<=\x1b\[{end})" for end in ("[mK]", r"\dm", r"\d\dm", r"\d;\d\dm", r"\d\d;\d\dm"))
"""End of a sequence by which compilers and others colour what follows."""

BEGIN = (
    r"(?:(?<![^\s=:,;@|&<>(){}\[\]'\"`\u2018\u201c\u00ab])|(?<=://)|(?<=\\[nrt])"
    rf"|{COLOUR})(?:--?[A-Za-z]{{1,16}})?"
)
"""Begin of a path in a text: behind a separator, a quote, a colour, or glued to an option: -I/home/ann."""

END = r"(?![\w~+%@-]|\.\w)"
"""End of the home's own name: /home/annette is another one than /home/ann."""

TILDE = re.compile(rf"({BEGIN})~{END}")

UNQUOTED = re.compile(r"(?!~[^/:])[\w@%+=:,./~-]+", re.ASCII)
"""Words that a shell takes as they are, but for a home at the beginning or behind a colon."""


class _Home(NamedTuple):
    """The user's home.

    Attributes:
        path: Its path as programs are given it.
        names: That, and the path that it is a link to, the longer one first.
        spelled: Matches each of these in a text.
        encoded: Each in JSON: a line without them need not be looked through.
    """

    path: str
    names: tuple[str, ...]
    spelled: re.Pattern[str]
    encoded: tuple[bytes, ...]


def shortened(words: Words) -> Words:
    """Return a text, or a record with all its texts, with ~ for the user's home."""
    home = _home()
    if home is None:
        return words

    def change(text: str) -> str:
        # Texts may be long tables, which are searched for a word much sooner than for a pattern.
        return home.spelled.sub(r"\1~", text) if any(name in text for name in home.names) else text

    changed: Words = _with_texts(words, change)
    return changed


def expanded(words: Words) -> Words:
    """Return a text, or a record with all its texts, with the user's home for ~, as programs are given it."""
    home = _home()
    if home is None:
        return words
    changed: Words = _with_texts(words, lambda text: TILDE.sub(lambda at: at[1] + home.path, text))
    return changed


def may_name_home(line: bytes) -> bool:
    """Return whether a line of JSON may have the user's home in it."""
    home = _home()
    return home is not None and any(path in line for path in home.encoded)


def command_line(words: Iterable[str]) -> str:
    """Return a command for a shell, with ~ for the user's home."""
    return " ".join(map(shell_word, shortened([*words])))


def shell_word(word: str) -> str:
    """Return a word for a shell, with ~ outside of the quotes, within which it would stand for nothing."""
    if UNQUOTED.fullmatch(word):
        return word
    return f"~/{quoted(word[2:])}" if word.startswith("~/") else quoted(word)


def _home() -> _Home | None:
    return _home_at(os.environ.get("HOME"))


@cache
def _home_at(variable: str | None) -> _Home | None:
    """Return the home by what HOME says, since every line of a result asks; None for no folder of a user."""
    path = os.path.expanduser("~") if variable is None else variable  # noqa: PTH111 - without one it stays ~
    path = path.rstrip("/")
    paths = {path, os.path.realpath(path).rstrip("/")} if path.startswith("/") else {path}
    names = (*sorted(filter(os.path.isabs, paths), key=len, reverse=True),)
    if path not in names:
        return None
    spelled = "|".join(map(re.escape, names))
    encoded = tuple(json.dumps(name, ensure_ascii=False).encode(errors="replace")[1:-1] for name in names)
    return _Home(path, names, re.compile(rf"({BEGIN})(?:{spelled}){END}"), encoded)


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with all texts in it changed, names in dicts included.

    Records are known by their fields: `--help` would wait for their library.
    """
    match value:
        case str():
            return change(value)
        case _ if names := getattr(value, "__struct_fields__", ()):
            before = {name: getattr(value, name) for name in names}
            after = {name: _with_texts(inside, change) for name, inside in before.items()}
            return value if after == before else type(value)(**after)
        case dict():
            return {_with_texts(name, change): _with_texts(inside, change) for name, inside in value.items()}
        case tuple() | list() if value and not isinstance(value[0], int | float):
            return type(value)(_with_texts(inside, change) for inside in value)
    return value
