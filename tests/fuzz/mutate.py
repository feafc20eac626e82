"""Inputs with something wrong in them: files of JSON lines, texts, lists of words, and bytes of any kind.

Every change is one that a random generator chooses, so that a seed says which input it was.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

MAX_CHANGES = 3
MAX_BYTES = 1 << 20
"""No input grows above it, however often it is changed."""

NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 63, 64, 65, 1000, 10**6, 10**9, 10**12),
    *(2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1.5, -0.5, 1e-300, 5e-324, 1e18, 1e300, 1.7e308),
)
WORDS = (
    *(
        "",
        " ",
        "x",
        "a" * 300,
        "0",
        "-1",
        "1e9",
        "nan",
        "inf",
        "null",
        "true",
        "\N{SNOWMAN}",
        "\N{SUPERSCRIPT TWO}",
    ),
    *("\x00", "\x1b]0;owned\x07", "line\nbreak", "\t", "\r", "%s%n", "{0}", "$\\frac{", "=1+1", "<b>", "|"),
    *(
        "-oProxyCommand=x",
        "--help",
        "..",
        "../../x",
        "/etc/passwd",
        "/",
        "h1",
        "h1:2",
        "h[1-3]",
        "h[1-999999]",
    ),
    *("0-1", "1-0", "0-0", "9-9", "1,1", "8,64", "0:4MiB", "1KiB*0", "auto", "all", "rotating", "common"),
    *(
        "pingpong",
        "allreduce",
        "eager",
        "tcp",
        "same-host",
        "different-hosts",
        "mpich",
        "openmpi",
        "99999999999d",
    ),
    *("1s", "0s", "-5s", "3%", "0%", "300%", "2026-02-30T00:00:00+00:00", "2026-01-01T00:00:00", "9999999"),
)
MOMENTS_SHARE = 0.2
MOMENTS = (
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59-14:00",
    "9999-12-31T23:59:59.999999+00:00",
    "1970-01-01T00:00:00+00:00",
    "2038-01-19T03:14:08+00:00",
    "2026-11-25T12:00:00",
    "2026-11-25",
    "",
)
STARTED = re.compile(rb'"started":"[^"]*"')
NUMBERED = re.compile(rb'"([a-z_]+)":-?[0-9]')
TOKEN = re.compile(rb"[A-Za-z_]+|[0-9.]+|\s+|.", re.DOTALL)
GARBAGE = (b"\x00", b"\xff\xfe", b"\xc3\x28", b"\x1b[31m", b"\n", b"\r\n", b"{", b"]", b'"', b"\xe2\x80\xa8")


def odd(chance: Random) -> Any:
    """A value that is not as usual."""
    kinds: Sequence[Callable[[], Any]] = (
        lambda: chance.choice(NUMBERS),
        lambda: chance.choice(WORDS),
        lambda: chance.choice((None, True, False, [], {}, [[]], [None], {"": 0})),
        lambda: [chance.choice(NUMBERS) for _ in range(chance.randrange(5))],
        lambda: [chance.choice(WORDS) for _ in range(chance.randrange(4))],
    )
    return chance.choice(kinds)()


# ---- JSON lines ----------------------------------------------------------------------------------


def lines_changed(data: bytes, chance: Random) -> bytes:
    """A file of JSON lines with a few of its values, keys or lines changed, seldom its bytes."""
    lines = data.split(b"\n")
    for _ in range(chance.randint(1, MAX_CHANGES)):
        chance.choices((_value_changed, _line_moved, _key_twice), (8, 2, 1))[0](lines, chance)
    changed = b"\n".join(lines)
    return bytes_changed(changed, chance) if chance.random() < 0.1 else changed


def all_changed(data: bytes, chance: Random) -> bytes:
    """A file of JSON lines with one kind of number or moment changed wherever it stands."""
    if chance.random() < MOMENTS_SHARE:
        return STARTED.sub(_quoted(chance.choice(MOMENTS)), data)
    keys = sorted({found[1] for found in NUMBERED.finditer(data)})
    key, number = chance.choice(keys), str(chance.choice(NUMBERS)).encode()
    return re.sub(rb'("%b":)-?[0-9][0-9.eE+-]*' % re.escape(key), rb"\g<1>" + number, data)


def _quoted(moment: str) -> bytes:
    return b'"started":"%b"' % moment.encode()


def _value_changed(lines: list[bytes], chance: Random) -> None:
    at = chance.randrange(len(lines))
    try:
        record = json.loads(lines[at])
    except ValueError:
        return
    places = list(_places(record))
    if places:
        container, key = chance.choice(places)
        _change_at(container, key, chance)
    lines[at] = json.dumps(record, separators=(",", ":")).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value, with each of its keys; of a list the first."""
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))[:8]
        for key in keys:
            yield value, key
            yield from _places(value[key])


def _change_at(container: Any, key: Any, chance: Random) -> None:
    action = chance.randrange(6)
    if action == 0:
        del container[key]
    elif action == 1 and isinstance(container, dict):
        container[chance.choice((*WORDS, *container))] = container.pop(key)
    elif action == 2 and isinstance(container, list):
        container.insert(key, container[chance.randrange(len(container))])
    elif action == 3 and isinstance(container[key], list):
        container[key] = container[key][: chance.randrange(3)] * chance.choice((1, 1, 2, 50))
    elif action == 4 and isinstance(container[key], int | float):
        container[key] = _near(container[key], chance)
    else:
        container[key] = odd(chance)


def _near(number: float, chance: Random) -> float:
    """A number that is wrong by a little, by its sign or by orders of magnitude."""
    return chance.choice((number + 1, number - 1, -number, number * 1000, number // 3, int(number) ^ 1))


def _line_moved(lines: list[bytes], chance: Random) -> None:
    at, other = (chance.randrange(len(lines)) for _ in range(2))
    action = chance.randrange(5)
    if action == 0:
        del lines[at]
        lines.append(b"")
    elif action == 1:
        lines.insert(other, lines[at])
    elif action == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif action == 3:
        del lines[max(1, at) :]
    else:
        lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]


def _key_twice(lines: list[bytes], chance: Random) -> None:
    """A reader takes the last, or the first: it must not take both."""
    at = chance.randrange(len(lines))
    found = list(re.finditer(rb'"\w+":', lines[at]))
    if found:
        key = chance.choice(found)
        value = json.dumps(odd(chance)).encode()
        lines[at] = lines[at][: key.start()] + key[0] + value + b"," + lines[at][key.start() :]


# ---- Texts, words, bytes -------------------------------------------------------------------------


def text_changed(data: bytes, chance: Random) -> bytes:
    """A text with a few of its words, numbers, signs or lines changed, seldom its bytes."""
    tokens = TOKEN.findall(data) or [b""]
    for _ in range(chance.randint(1, MAX_CHANGES)):
        at, other = (chance.randrange(len(tokens)) for _ in range(2))
        action = chance.randrange(6)
        if action == 0:
            tokens[at] = b""
        elif action == 1:
            tokens[at] = tokens[other]
        elif action == 2:
            tokens.insert(at, tokens[other])
        elif action == 3:
            tokens[at] = json.dumps(odd(chance)).encode()
        else:
            tokens[at] = str(odd(chance)).encode()
    changed = b"".join(tokens)
    return (
        chance.choice((_lines_swapped, bytes_changed))(changed, chance) if chance.random() < 0.2 else changed
    )


def _lines_swapped(data: bytes, chance: Random) -> bytes:
    lines = data.split(b"\n")
    _line_moved(lines, chance)
    return b"\n".join(lines)


def words_changed(words: Sequence[str], chance: Random) -> list[str]:
    """A list of words with one of them changed, gone, twice, or at another place."""
    changed = list(words) or [""]
    at, other = (chance.randrange(len(changed)) for _ in range(2))
    action = chance.randrange(5)
    if action == 0:
        del changed[at]
    elif action == 1:
        changed.insert(other, changed[at])
    elif action == 2:
        changed[at], changed[other] = changed[other], changed[at]
    else:
        changed[at] = str(odd(chance))
    return [word.replace("\0", "") for word in changed]


def bytes_changed(data: bytes, chance: Random) -> bytes:
    """Bytes that are cut, doubled, replaced, or joined by what no text has."""
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((1, 1, 4, 40, 4000)))
    between = chance.choice((b"", b"", chance.choice(GARBAGE), data[at:end] * 2, chance.randbytes(4)))
    return (data[:at] + between + data[end:])[:MAX_BYTES]


def packed(data: bytes, chance: Random) -> bytes:
    """The same compressed, half of the time with damage."""
    whole = gzip.compress(data, 1, mtime=0)
    return bytes_changed(whole, chance) if chance.random() < 0.5 else whole
