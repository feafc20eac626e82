"""Names of patterns, options and verbs that users of other benchmarks type, and what they are here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Meaning(NamedTuple):
    """What a word stands for.

    Attributes:
        pattern: The name that the kernel knows.
        mode: The mode that the word implies; empty if it leaves that open.
        note: How the two differ; empty if they are the same measurement.
    """

    pattern: str
    mode: str = ""
    note: str = ""


ALIASES = {
    "latency": Meaning("pingpong"),
    "latencypersistent": Meaning("pingpong", "persistent"),
    "bw": Meaning("stream", "unidirectional"),
    "bandwidth": Meaning("stream", "unidirectional"),
    "throughput": Meaning("stream", "unidirectional"),
    "bibw": Meaning("stream", "bidirectional"),
    "uniband": Meaning("stream", "unidirectional", "between ranks 0 and 1 only"),
    "biband": Meaning("stream", "bidirectional", "between ranks 0 and 1 only"),
    "pingping": Meaning("exchange", "nonblocking"),
    "sendrecv": Meaning("shift", "sendrecv"),
    "broadcast": Meaning("bcast"),
    "eagerlimit": Meaning("eager"),
}
"""By the word in lower case, without hyphens, underscores and the prefix of a program."""

DIFFERENT = {
    "Exchange": "between ranks 0 and 1; IMB's Exchange is with both neighbours, and shift comes nearest to it"
}
"""Words that are a name of ours but for their case, and mean something else where they are spelt so."""

_ONE_SIDED = re.compile(
    r"^(put|get|acc|fop|cas|rma|window|fetch|compareand)|(one|all|dir|exchange|passive)(put|get)"
)
"""Of words that are no name of ours."""

NOT_MEASURED = {
    "mbwmr": "several pairs at a time are not measured; stream is one pair",
    "multilat": "several pairs at a time are not measured; pingpong is one pair",
    "latencymt": "threads are not measured; pingpong is one thread per rank",
    "init": "the start-up of MPI is not measured",
}
"""Other programs' measurements that we do not have."""

_PREFIX = re.compile(r"(osu|imb|mpi)[_-]")
_PREFIX_OF_OVERLAP = "osu_i"
"""What OSU calls by a nonblocking collective's name is its overlap with a computation."""


def _plain(word: str) -> str:
    """A word without what people spell differently."""
    return re.sub(r"[_-]", "", _PREFIX.sub("", word.lower(), count=1))


def meaning_of(word: str, patterns: Sequence[str]) -> Meaning | None:
    """What a word stands for; None if it is nothing that we know.

    Args:
        patterns: The names that the kernel knows.
    """
    if word in patterns:
        return Meaning(word)
    plain, names = _plain(word), {_plain(name): name for name in patterns}
    if plain in names:
        return Meaning(names[plain], note=DIFFERENT.get(word, ""))
    if plain in ALIASES:
        return ALIASES[plain]
    if plain.startswith("i") and plain[1:] in names:
        overlaps = word.lower().startswith(_PREFIX_OF_OVERLAP)
        return Meaning(names[plain[1:]], "overlap" if overlaps else "nonblocking")
    return None


def remark(word: str, meaning: Meaning) -> str:
    """What to tell whoever typed an alias that says more, or less, than the pattern's name; or nothing."""
    if not meaning.mode and not meaning.note:
        return ""
    return f"{word}: {', '.join(filter(None, (f'{meaning.pattern} {meaning.mode}'.strip(), meaning.note)))}"


def hint_for(word: str, patterns: Iterable[str]) -> str:
    """What to do about a word that is no pattern's name; empty if nothing comes near."""
    names = list(patterns)
    if why := _why_not(_plain(word)):
        return f"{why}: mpigauge list shows what is"
    near = nearest(_plain(word), [*map(_plain, names), *ALIASES])
    found = meaning_of(near, names) if near else None
    return f"did you mean {found.pattern}? mpigauge list shows all patterns" if found else ""


def _why_not(plain: str) -> str:
    """Why there is no pattern for what other programs measure; empty if we do not know."""
    if plain.startswith("neighbo"):
        return "neighbourhood collectives are not measured"
    if _ONE_SIDED.search(plain):
        return "one-sided communication is not measured"
    return NOT_MEASURED.get(plain, "")


class OptionHint(NamedTuple):
    """What to do about an option of another program.

    Attributes:
        instead: The option that a verb must have for the hint to make sense.
    """

    instead: str
    hint: str


_SIZES = OptionHint("--sizes", "message sizes are --sizes here: --sizes 8:1024")
_SAMPLES = OptionHint("--precision", "the number of samples follows from --precision and --budget")
_WARM_UP = OptionHint("--precision", "warm-up is automatic")
OPTIONS = {
    "-m": _SIZES,
    "-i": _SAMPLES,
    "-x": _WARM_UP,
    "-W": OptionHint("--window", "the window is --window here: --window 64"),
    "-c": OptionHint("--precision", "payloads are always checked"),
    "--iterations": _SAMPLES,
    "--iters": _SAMPLES,
    "--repetitions": _SAMPLES,
    "--warmup": _WARM_UP,
    "--warm-up": _WARM_UP,
    "--skip": _WARM_UP,
    "--message-size": _SIZES,
}
"""Options of OSU and their like, which no verb here has."""

VERBS = {"help": "--help", "version": "--version"}
"""What is a verb elsewhere, and an option here."""
