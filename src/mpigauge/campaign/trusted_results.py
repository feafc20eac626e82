"""The list of campaigns that this user has begun, and what any other result names that would be run.

The list holds digests of the first lines of results, in the user's own state folder. Where that folder cannot
be written, no result is trusted.
"""

import contextlib
import hashlib
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct, inspect

from mpigauge.cache import is_safe
from mpigauge.document.plain_signs import printable
from mpigauge.errors import MpigaugeError, UsageError
from mpigauge.inputs import open_regular
from mpigauge.mpi.environments import files_named, names_environment
from mpigauge.mpi.find import is_exact, mpicc_at, split_label
from mpigauge.mpi.wrapper import programs_beside
from mpigauge.plan.hosts import Host
from mpigauge.plan.lab import Lab, Link, Port
from mpigauge.plan.left_out import LeftOut
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.plan.patterns import Mode, Pattern
from mpigauge.result.environment import split_words
from mpigauge.result.files import as_argument
from mpigauge.result.provenance import Environment, LibraryRecord
from mpigauge.result.reader import Result
from mpigauge.result.records import Campaign
from mpigauge.result.writer import line_of
from mpigauge.vocabulary import AUTO, DIFFERENT_HOSTS, SAME_HOST

FOLDER = "mpigauge"
LIST = "campaigns"

HARMLESS: Mapping[type[Struct], str] = {
    # What the file is, and the cells that were left out of it.
    Campaign: "format mpigauge commit started",
    LeftOut: "reason hint",
    # Numbers and names of patterns; rates and delays, which the relay of a lab is given as numbers.
    Plan: "title hosts_skipped",
    Measure: "pattern modes sizes datatypes ops groups orders",
    Lab: "rate delay",
    Link: "between rate delay",
    Port: "host rate delay",
    # What the kernel is asked to measure, which it refuses if it has no such pattern.
    Cell: "pattern mode mpi mpi_version transport datatype op root pair label group groups order",
    Pattern: "name about time_of sampling bus one_pair",
    Mode: "name about baseline instead_of",
    # What was found when the campaign began: compared with what is found now, and read by nobody else.
    # The launcher is the one beside mpicc.
    LibraryRecord: "name version standard mpiexec origin show flags kernel built_by digest label "
    "configuration parameter_files wheel other_mpicc other_fault environment",
    Environment: "host system kernel cpu caches cpu_groups smt governor turbo huge_pages clock_source "
    "hypervisor python variables",
}
"""Fields whose words are in no command of a campaign that is continued or measured again, and lead to no file
that is run or sourced. All others are asked about; of later records no word is in a command."""

USUAL = {"", AUTO, SAME_HOST, DIFFERENT_HOSTS}
"""Words that name nothing: mpigauge chooses."""

DIGITS = 32
"""Hexadecimal digits of the digest of what is named: whoever makes two scripts with the same one has to try
2^64 of them."""

MAX_DIGESTED_BYTES = 1 << 30

LABELS: Mapping[tuple[type[Struct], str], str] = {(Host, "name"): "host"}
"""Names of fields that say little; all others are named as they are."""


def remember(campaign: Campaign) -> None:
    """Add a campaign to the list, if it can be written."""
    path = _path()
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One write with O_APPEND: several campaigns may begin at once.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, f"{_digest(campaign)}\n".encode())
        finally:
            os.close(descriptor)


def check_trusted(
    results: Sequence[Result], command: Sequence[str], *, trust: bool = False, digest: str = ""
) -> None:
    """Refuse to run programs named in results that this user has not begun.

    Args:
        command: The words that continue them or measure them again, without options and results.
        trust: Whether the user trusts what they name.
        digest: The digest of what the user was asked about; empty to trust what they name now.

    Raises:
        UsageError: This user has not begun one of them; lists what would be run. Or that is not what the
            user was asked about.
    """
    asked = [result for result in results if not is_trusted(result.campaign)]
    if not asked or (trust and not digest):
        return
    named = list(dict.fromkeys(chain.from_iterable(named_by(result.campaign) for result in asked)))
    current = _digest_of_all(named)
    if trust and digest == current:
        return
    names = " and ".join(str(result.path) for result in asked)
    runs = f"it runs what it names: {'; '.join(map(_in_words, named)) or 'no program'}"
    paths = [as_argument(result.path) for result in results]
    trusted = shlex.join([*command, "--trust", "--digest", current, *paths])
    if trust:
        raise UsageError(
            f"{names}: what it names is not what digest {digest} is of; continued, {runs}",
            f"if you trust that: {trusted}",
        )
    raise UsageError(
        f"{names}: was not begun by you on this account; continued, {runs}", f"if you trust that: {trusted}"
    )


@dataclass(frozen=True, slots=True)
class Named:
    """A word of a result that would be run, or that a program would be given.

    Attributes:
        label: What it is: "mpicc".
        word: The word as the result has it.
        files: The files that it leads to here, by absolute paths.
    """

    label: str
    word: str
    files: tuple[Path, ...] = ()


def named_by(campaign: Campaign) -> list[Named]:
    """Return all that a campaign would run or give to what it runs: every word outside HARMLESS."""
    return list(dict.fromkeys(_named_in(campaign)))


def _named_in(record: Struct) -> Iterator[Named]:
    harmless = HARMLESS.get(type(record), "").split()
    for field in fields_with_words(type(record)):
        if field in harmless:
            continue
        for leaf in _leaves(getattr(record, field)):
            if isinstance(leaf, Struct):
                yield from _named_in(leaf)
            elif leaf not in USUAL:
                label = LABELS.get((type(record), field), field.replace("_", " "))
                yield Named(label, leaf, _files(field, leaf))


def _leaves(value: object) -> Iterator[Struct | str]:
    """Yield the records and words of a field, of a dictionary as NAME=VALUE."""
    match value:
        case Struct() | str():
            yield value
        case dict():
            for name, one in value.items():
                yield from (f"{name}={leaf}" for leaf in _leaves(one))
        case tuple() | list():
            yield from chain.from_iterable(map(_leaves, value))


@cache
def fields_with_words(kind: type[Struct]) -> tuple[str, ...]:
    """Return the fields of a record in which any word can be, at any depth, and not one of a closed list."""
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)  # noqa: S101 - its type says so
    return tuple(field.name for field in described.fields if _has_words(field.type))


def _has_words(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.StrType | inspect.AnyType | inspect.StructType):
        return True
    inside = [
        getattr(kind, name) for name in ("type", "key_type", "value_type", "item_type") if hasattr(kind, name)
    ]
    return any(map(_has_words, [*inside, *getattr(kind, "types", ()), *getattr(kind, "item_types", ())]))


# ---- Which files are behind a word -------------------------------------------------------------------


def _files(field: str, word: str) -> tuple[Path, ...]:
    """Return the files that a word of a record leads to, each once."""
    try:
        found = list(WRAPPERS[field](word)) if field in WRAPPERS else _files_in(word)
    except MpigaugeError:  # it leads to nothing, which is said when it is run
        found = []
    return tuple(dict.fromkeys(found))


def _of_wrapper(word: str) -> Iterator[Path]:
    """Yield the compiler wrapper at a path or below a prefix, and the programs that are run beside it."""
    wrapper = mpicc_at(word)
    yield wrapper
    yield from programs_beside(wrapper)


def _of_environment(word: str) -> Iterator[Path]:
    yield from files_named(word)


def _of_library(word: str) -> Iterator[Path]:
    """Yield the files behind a user's word for a library; of a kind of library there are none."""
    _, name = split_label(word)
    if is_exact(name):
        yield from _of_environment(name) if names_environment(name) else _of_wrapper(name)


WRAPPERS: Mapping[str, Callable[[str], Iterator[Path]]] = {
    "mpicc": _of_wrapper,
    "compiler": _of_wrapper,
    "loaded_by": _of_environment,
    "mpi": _of_library,
}
"""Fields whose words are more than paths."""

PARTS = re.compile(r"[\s:;,=]+")


def _files_in(word: str) -> list[Path]:
    """Return the files whose paths are in a word: all of it, words of a command, parts of a list."""
    *_, value = word.partition("=")
    words = {word, value, *split_words(word), *PARTS.split(word)}
    paths = (Path(os.path.abspath(os.path.expanduser(one))) for one in sorted(words) if one)  # noqa: PTH100, PTH111
    return [path for path in paths if os.path.isfile(path)]  # noqa: PTH113 - no error for NUL or loops


def _in_words(named: Named) -> str:
    """Return what is named, with the files that its own words do not show.

    Words are quoted, so that none can pass for several, or for the end of the question.
    """
    hidden = [printable(str(path)) for path in named.files if str(path) not in named.word]
    quoted = shlex.quote(printable(named.word))
    return f"{named.label} {quoted}" + (f" ({', '.join(hidden)})" if hidden else "")


def _digest_of_all(named: Sequence[Named]) -> str:
    """Return a digest of words and of the contents of the files that they lead to."""
    content = [
        (one.label, one.word, [(str(path), _digest_of_file(path)) for path in one.files]) for one in named
    ]
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:DIGITS]


def _digest_of_file(path: Path) -> str:
    """Return the digest of a file; of one that is too large for that, what changes with its content.

    Returns:
        What prevents it, of a file that cannot be read.
    """
    try:
        with open_regular(path, "name a file") as file:
            found = os.fstat(file.fileno())
            if found.st_size > MAX_DIGESTED_BYTES:  # as an image of a container
                return (
                    f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
                )
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, MpigaugeError) as error:
        return str(error)


def is_trusted(campaign: Campaign) -> bool:
    """Return whether this user has begun it; False if others could have written the list."""
    path = _path()
    try:
        return (
            path is not None
            and is_safe(path)
            and is_safe(path.parent)
            and _digest(campaign) in path.read_text(encoding="ascii", errors="replace").split()
        )
    except OSError:
        return False


def _digest(campaign: Campaign) -> str:
    """Return the digest of the first line as written, which can be made again from the record read."""
    return hashlib.sha256(line_of(campaign).removesuffix(b"\n")).hexdigest()


def _path() -> Path | None:
    """Return the path of the list; None where the user's home is not known."""
    states = Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"))  # noqa: PTH111
    return states / FOLDER / LIST if states.is_absolute() else None
