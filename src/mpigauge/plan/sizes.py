"""The grammar of message sizes: from a text such as ``0:4MiB`` or ``8,32:2MiB*4,auto`` to sizes in bytes.

A comma list of these forms, which may be mixed:

    1KiB                one size
    0:4MiB              doubling, 0 and 1 included when it starts at 0; the end is always included
    32:2MiB*4           another factor
    1KiB:1000KiB:+1KiB  steps of one length
    auto, auto:16MiB    0, 1, the powers of two and about 12 random sizes a decade, to 4 MiB or the end given
"""

from __future__ import annotations

import math
import random
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from mpigauge.errors import UsageError
from mpigauge.units import format_size, parse_size

USUAL_SIZES = "0:4MiB"
"""Sizes of messages where neither the user nor a plan names any."""

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_SIZES = 10_000
MAX_SIZE_BYTES = 2**46

_AUTO = "auto"
_AUTO_END = "4MiB"
_AUTO_PER_DECADE = 12
_DOUBLING = "2"
_RANGE_ENDS = 2
_FORMS = "write 8,1KiB or 0:4MiB or 32:2MiB*4 or 1KiB:1000KiB:+1KiB or auto"
_FACTOR = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")


@lru_cache(maxsize=64)  # each of the pairs of a map asks for the same
def parse_sizes(text: str, seed: int = 0) -> tuple[int, ...]:
    """Read a list of message sizes.

    Args:
        text: The list, in the grammar above.
        seed: Seed of the random sizes of ``auto``; the same seed gives the same sizes.

    Returns:
        The sizes in bytes, ascending, each once.
    """
    sizes: set[int] = set()
    for item in text.split(","):
        for size in _item_sizes(item.strip(), text, seed):
            sizes.add(size)
            if len(sizes) > MAX_SIZES:
                raise UsageError(
                    f"sizes {text!r}: more than {MAX_SIZES} sizes", "use a larger factor or step"
                )
    return tuple(sorted(sizes))


_OTHER_RANGE = re.compile(
    r"(\d{1,20} ?[A-Za-z]{0,5}) ?(?:-|\.{2,3}|\N{EN DASH}|to) ?(\d{1,20} ?[A-Za-z]{0,5})"
)
"""Ranges as other programs write them."""


def _item_sizes(item: str, text: str, seed: int) -> Iterator[int]:
    if other := _OTHER_RANGE.fullmatch(item.strip()):
        first, last = (end.strip() for end in other.groups())
        raise UsageError(f"sizes {text!r}: {item!r} is not a size", f"a range is written {first}:{last}")
    head, *rest = (part.strip() for part in item.split(":"))
    match rest:
        case [] if head == _AUTO:
            return _random(_size(_AUTO_END, text), seed)
        case [end] if head == _AUTO:
            return _random(_size(end, text), seed)
        case []:
            return iter((_size(head, text),))
        case [end]:
            end, star, factor = end.partition("*")
            return _geometric(*_ends(head, end, text), _factor(factor.strip() if star else _DOUBLING, text))
        case [end, step] if step.startswith("+"):
            return _linear(*_ends(head, end, text), _step(step[1:], text))
    raise UsageError(f"sizes {text!r}: {item!r} is not a size or range", _FORMS)


def _size(word: str, text: str) -> int:
    if not word.strip():
        raise UsageError(f"sizes {text!r}: a size is missing", _FORMS)
    try:
        size = parse_size(word)
    except UsageError as error:
        raise UsageError(f"sizes {text!r}: {error.sentence}", error.hint) from None
    if size > MAX_SIZE_BYTES:
        largest = format_size(MAX_SIZE_BYTES)
        raise UsageError(f"sizes {text!r}: {word!r} is above {largest}", f"choose sizes up to {largest}")
    return size


def _ends(start: str, end: str, text: str) -> tuple[int, int]:
    first, last = _size(start, text), _size(end, text)
    if first > last:
        raise UsageError(
            f"sizes {text!r}: the range ends below its start", f"write {end.strip()}:{start} instead"
        )
    return first, last


def _factor(word: str, text: str) -> float:
    if not _FACTOR.fullmatch(word):
        raise UsageError(
            f"sizes {text!r}: {word!r} is not a factor", "write a number above 1, such as 32:2MiB*4"
        )
    if float(word) <= 1:
        raise UsageError(
            f"sizes {text!r}: the factor {word} is not above 1", "write a factor above 1, such as *2"
        )
    return float(word)


def _step(word: str, text: str) -> int:
    step = _size(word, text)
    if step == 0:
        raise UsageError(f"sizes {text!r}: the step is 0", "write a step of at least 1 byte, such as :+1KiB")
    return step


def _geometric(first: int, last: int, factor: float) -> Iterator[int]:
    if first == 0:
        yield 0
    size, exact = max(first, 1), float(max(first, 1))
    while size < last:
        yield size
        # With a small factor, sizes would round to the same byte: each is at least one larger.
        exact = max(exact * factor, size + 1.0)
        size = round(exact)
    yield last


def _linear(first: int, last: int, step: int) -> Iterator[int]:
    yield from range(first, last, step)
    yield last


def _random(last: int, seed: int) -> Iterator[int]:
    """Yield sizes uniform in the logarithm, so that small ones are not missed, and not only powers of two.

    Source: docs/formats.md#sizes; Cornebize, PhD thesis, Grenoble 2021 (powers of two bias a calibration).
    """
    yield from _geometric(0, last, 2.0)
    generator = random.Random(seed)  # noqa: S311 - sizes, not secrets
    low = 1
    while low < last:
        high = min(10 * low, last)
        for _ in range(math.ceil(_AUTO_PER_DECADE * math.log10(high / low))):
            yield round(math.exp(generator.uniform(math.log(low), math.log(high))))
        low *= 10


# ---- Which of those that were measured -------------------------------------------------------------


@cache
def size_filter(text: str) -> Callable[[int], bool]:
    """Return a test for the sizes that a text chooses: `0:2000` a range, `8,1KiB` a list, "" all.

    Steps and factors are those of `parse_sizes`.

    Raises:
        UsageError: The text is invalid.
    """
    if not text.strip():
        return lambda _: True
    tests = [_item_filter(item, text) for item in text.split(",")]
    return lambda size: any(test(size) for test in tests)


def _item_filter(item: str, text: str) -> Callable[[int], bool]:
    ends = item.split(":")
    if len(ends) == _RANGE_ENDS and "*" not in item and "auto" not in item:
        low, high = (_end(end, text) for end in ends)
        if low > high:
            raise UsageError(
                f"--sizes {text!r}: the range ends below its start", f"write {ends[1]}:{ends[0]}"
            )
        return lambda size: low <= size <= high
    these = frozenset(parse_sizes(item))
    return lambda size: size in these


def _end(word: str, text: str) -> int:
    try:
        return parse_size(word)
    except UsageError as error:
        raise UsageError(f"--sizes {text!r}: {error.sentence}", error.hint) from None
