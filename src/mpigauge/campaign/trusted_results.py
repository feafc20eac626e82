"""The list of campaigns that this user has begun, and what any other result names that would be run.

The list holds digests of the first lines of results, in the user's own state folder. Where that folder cannot
be written, no result is trusted.
"""

import contextlib
import hashlib
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct, inspect
from msgspec.structs import fields, replace

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
from mpigauge.result.environment import split_words, with_home
from mpigauge.result.files import as_argument
from mpigauge.result.home_paths import expanded
from mpigauge.result.provenance import Environment, LibraryRecord
from mpigauge.result.reader import Result
from mpigauge.result.records import Campaign
from mpigauge.result.writer import line_of, line_with_home

FOLDER = "mpigauge"
LIST = "campaigns"

HARMLESS: Mapping[type[Struct], str] = {
    # What the file is, and the cells that were left out of it.
    Campaign: "format mpigauge commit started without",
    LeftOut: "reason hint",
    # Numbers and names of patterns; rates and delays, which the relay of a lab is given as numbers.
    Plan: "title hosts_skipped",
    Measure: "pattern modes sizes datatypes ops groups orders",
    Lab: "rate delay",
    Link: "between rate delay",
    Port: "host rate delay",
    # What the kernel is asked to measure, which it refuses if it has no such pattern.
    Cell: "pattern mode mpi mpi_version transport datatype op root pair label group groups order",
    Pattern: "name about time_of sampling bus one_pair sizes_usual",
    Mode: "name about time_of sampling baseline instead_of",
    # What was found when the campaign began: compared with what is found now, and read by nobody else.
    # The launcher is the one beside mpicc.
    LibraryRecord: "name version standard mpiexec origin show flags kernel built_by digest label "
    "configuration parameter_files wheel other_mpicc other_fault environment",
    Environment: "host system kernel cpu cores_limit caches cpu_groups smt governor turbo huge_pages "
    "clock_source hypervisor python variables",
}
"""Fields whose words are in no command of a campaign that is continued or measured again, and lead to no file
that is run or sourced. All others are asked about, unless they are unset; of later records no word is in a
command."""

DIGITS = 32
"""Hexadecimal digits of the digest of what is named: whoever makes two scripts with the same one has to try
2^64 of them."""

MAX_DIGESTED_BYTES = 1 << 30
"""Largest file that is read for the digest: images of containers are larger."""

LABELS: Mapping[tuple[type[Struct], str], str] = {(Host, "name"): "host"}
"""Names of fields that say little; all others are named as they are."""


def remember(campaign: Campaign) -> None:
    """Add a campaign to the list, if it can be written."""
    path = _path()
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_safe(
            path.parent
        ):  # nothing of it would be believed, and others could have put a link there
            return
        # One write with O_APPEND: several campaigns may begin at once.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{_digests(campaign)[0]}\n".encode())
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
            user was asked about. Or the names in one of them are of no programs and hosts.
    """
    for result in results:
        if result.campaign.without:
            raise UsageError(
                f"{printable(str(result.path))}: is a copy without names of programs and hosts: nothing in "
                "it can be run",
                "continue the result that it was made of",
            )
    asked = [result for result in results if not is_trusted(result.campaign)]
    if not asked or (trust and not digest):
        return
    campaigns = [result.campaign for result in asked]
    named = list(chain.from_iterable(map(named_by, campaigns)))
    current = _digest_of_all(campaigns, named)
    if trust and digest == current:
        return
    names = " and ".join(printable(str(result.path)) for result in asked)
    runs = f"it runs what it names: {'; '.join(dict.fromkeys(map(_in_words, named))) or 'no program'}"
    paths = " ".join(as_argument(result.path) for result in results)
    trusted = f"if you trust that: {shlex.join([*command, '--trust', '--digest', current])} {paths}"
    if trust:
        raise UsageError(
            f"{names}: is not, or leads to other files than, what digest {digest} is of; continued, {runs}",
            trusted,
        )
    raise UsageError(f"{names}: was not begun by you on this account; continued, {runs}", trusted)


@dataclass(frozen=True, slots=True)
class Named:
    """Words of a field of a result that would be run, or that a program would be given.

    Attributes:
        label: What it is: "mpicc".
        words: The words as the result has them: one, those of a list, or a variable and its value.
        files: The files that they lead to here, by absolute paths.
    """

    label: str
    words: tuple[str, ...]
    files: tuple[Path, ...] = ()


def named_by(campaign: Campaign) -> list[Named]:
    """Return all that a campaign would run or give to what it runs: every field with words but HARMLESS."""
    given = expanded(campaign)
    plan = replace(given.plan, variables=with_home(campaign.plan.variables))
    found = dict.fromkeys(_words_in(replace(given, plan=plan)))  # cells have many alike
    return [Named(label, words, _files(field, words)) for field, label, words in found]


def _words_in(record: Struct) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the field, its label and the words of all that is asked about in a record."""
    for field, label, unset in _asked_about(type(record)):
        value = getattr(record, field)
        for one in () if value == unset else _values(value):
            if isinstance(one, Struct):
                yield from _words_in(one)
            else:
                yield field, label, one


@cache
def _asked_about(kind: type[Struct]) -> tuple[tuple[str, str, object], ...]:
    """Return the fields of a record that are asked about, with their labels and their unset values."""
    harmless, unset = HARMLESS.get(kind, "").split(), {field.name: field.default for field in fields(kind)}
    return tuple(
        (name, LABELS.get((kind, name), name.replace("_", " ")), unset[name])
        for name in fields_with_words(kind)
        if name not in harmless
    )


def _values(value: object) -> Iterator[Struct | tuple[str, ...]]:
    """Yield the records of a field, or its words: those of a list together, variables as NAME=VALUE."""
    match value:
        case Struct():
            yield value
        case str():
            yield (value,)
        case dict():
            for name, inside in value.items():
                yield from ((f"{name}={word}",) for word in ([inside] if isinstance(inside, str) else inside))
        case tuple() | list() if value:
            records = [one for one in value if isinstance(one, Struct)]
            yield from records
            if not records:
                yield tuple(map(str, value))


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


# ---- Which files are behind words --------------------------------------------------------------------


def _files(field: str, words: Sequence[str]) -> tuple[Path, ...]:
    """Return the files that words of a field lead to, each once."""
    found = chain.from_iterable(map(_files_in, words))
    if field in FINDERS:
        found = chain(*(_found(FINDERS[field], word) for word in words), found)
    return tuple(dict.fromkeys(found))


def _found(finder: Callable[[str], Iterator[Path]], word: str) -> list[Path]:
    try:
        return list(finder(word))
    except MpigaugeError:  # it leads to nothing, which is said when it is run
        return []


def _of_wrapper(word: str) -> Iterator[Path]:
    """Yield the compiler wrapper at a path or below a prefix, and the programs that are run beside it."""
    wrapper = mpicc_at(word)
    yield wrapper
    yield from programs_beside(wrapper)


def _of_abi_wrapper(word: str) -> Iterator[Path]:
    """Yield a compiler wrapper for the ABI of MPI, and those of the library that it is of."""
    yield Path(word)
    yield from _of_wrapper(str(Path(word).with_name("mpicc")))


def _of_environment(word: str) -> Iterator[Path]:
    yield from files_named(word)


def _of_library(word: str) -> Iterator[Path]:
    """Yield the files behind a user's word for a library; of a kind of library there are none."""
    _, name = split_label(word)
    if is_exact(name):
        yield from _of_environment(name) if names_environment(name) else _of_wrapper(name)


FINDERS: Mapping[str, Callable[[str], Iterator[Path]]] = {
    "mpicc": _of_wrapper,
    "compiler": _of_abi_wrapper,
    "loaded_by": _of_environment,
    "mpi": _of_library,
}
"""Fields whose words lead to more files than those that they have the paths of."""

PARTS = re.compile(r"[\s:;,='\"`@(){}<>|&$\[\]]+")
BEGIN_OF_PATH = re.compile(r"~|\.{0,2}/")
MAX_PARTS = 4096
"""Parts of a word that are looked at: longer ones are named, but their files are not in the digest."""


def _files_in(word: str) -> list[Path]:
    """Return the files whose paths are in a word: all of it, words of a command, parts of a list."""
    words = [word, word.partition("=")[2], *split_words(word)[:MAX_PARTS], *PARTS.split(word, MAX_PARTS)]
    glued = (one[begin.start() :] for one in words if (begin := BEGIN_OF_PATH.search(one)))  # -B/opt/x
    candidates = dict.fromkeys(filter(None, (*words, *glued)))
    expanded = dict.fromkeys(path for one in candidates for path in (one, os.path.expanduser(one)))  # noqa: PTH111
    return [Path.cwd() / path for path in expanded if os.path.isfile(path)]  # noqa: PTH113 - no error for NUL


def _in_words(named: Named) -> str:
    """Return what is named, with the files that its own words do not show.

    Words are quoted, so that none can pass for several, or for the end of the question.
    """
    words = shlex.join(map(printable, named.words))
    paths = [printable(str(path)) for path in named.files]
    hidden = [path for path in paths if not re.search(rf"{re.escape(path)}(?![\w.-])", words)]
    return f"{named.label} {words}" + (f" ({', '.join(hidden)})" if hidden else "")


def _digest_of_all(campaigns: Iterable[Campaign], named: Iterable[Named]) -> str:
    """Return a digest of campaigns as they are written, and of the files that they lead to."""
    lines = [line_of(campaign).decode() for campaign in campaigns]
    files = [(str(path), _digest_of_file(path)) for one in named for path in one.files]
    return hashlib.sha256(msgspec.json.encode([lines, files])).hexdigest()[:DIGITS]


def _digest_of_file(path: Path) -> str:
    """Return the digest of a file; of one too large or not readable, what changes with its content."""
    with contextlib.suppress(OSError, MpigaugeError), open_regular(path, "name a file") as file:
        if os.fstat(file.fileno()).st_size <= MAX_DIGESTED_BYTES:
            return hashlib.file_digest(file, "sha256").hexdigest()
    with contextlib.suppress(OSError):
        found = path.stat()
        return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
    return "gone"


def is_trusted(campaign: Campaign) -> bool:
    """Return whether this user has begun it; False if others could have written the list."""
    path = _path()
    try:
        return (
            path is not None
            and is_safe(path)
            and is_safe(path.parent)
            and not {*_digests(campaign)}.isdisjoint(
                path.read_text(encoding="ascii", errors="replace").split()
            )
        )
    except OSError:
        return False


def _digests(campaign: Campaign) -> list[str]:
    """Return the digest of the first line as written, which can be made again from the record read.

    Behind it comes that of the line with whole paths, as it was written by an older mpigauge.
    """
    lines = line_of(campaign), line_with_home(expanded(campaign))
    return [hashlib.sha256(line.removesuffix(b"\n")).hexdigest() for line in lines]


def _path() -> Path | None:
    """Return the path of the list; None where the user's home is not known."""
    states = Path(os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"))  # noqa: PTH111
    return states / FOLDER / LIST if states.is_absolute() else None
