"""Every string of a result has a largest length, and no record that mpigauge writes has a longer one."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec
import pytest
from msgspec import inspect

from mpigauge.importers.collector import Collector, TableMeaning, cell_of
from mpigauge.importers.text import TextLine
from mpigauge.mpi.kinds import identify
from mpigauge.plan.model import JobKey
from mpigauge.plan.strings import LONG_MOST, SHORT_MOST
from mpigauge.result import reader
from mpigauge.result.records import Failure, Launch, Record
from mpigauge.sequences import first_words
from mpigauge.vocabulary import CUT
from tests.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

BOUNDED_BY_PATTERN = {
    r"^([^\W\d_][\w.+-]{0,31})?$(?!\n)",
    r"^[A-Za-z_][A-Za-z0-9_]{0,127}$(?!\n)",
    r"^[^\s,\0]{0,1024}$(?!\n)",
    r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$(?!\n)",
    r"^[!-~]{1,63}$(?!\n)",
    r"^([0-9]{1,9}-[0-9]{1,9})?$(?!\n)",
}
"""Patterns that match no long string."""


def strings_of(kind: inspect.Type, where: str, seen: set[type]) -> Iterator[tuple[str, inspect.StrType]]:  # noqa: C901 - a case for each kind
    """All strings in values of a type, with their names."""
    match kind:
        case inspect.StrType():
            yield where, kind
        case inspect.StructType(cls=cls, fields=fields) if cls not in seen:
            seen.add(cls)
            for field in fields:
                yield from strings_of(field.type, f"{cls.__name__}.{field.name}", seen)
        case inspect.UnionType(types=types):
            for one in types:
                yield from strings_of(one, where, seen)
        case inspect.Metadata(type=inner):
            yield from strings_of(inner, where, seen)
        case inspect.DictType(key_type=key, value_type=value):
            yield from strings_of(key, f"{where}, its keys", seen)
            yield from strings_of(value, f"{where}, its values", seen)
        case inspect.TupleType(item_types=items):
            for item in items:
                yield from strings_of(item, where, seen)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            yield from strings_of(item, where, seen)


STRINGS = [found for record in get_args(Record) for found in strings_of(inspect.type_info(record), "", set())]


def test_every_string_of_every_record_has_a_largest_length() -> None:
    unbounded = {
        where for where, kind in STRINGS if kind.max_length is None and kind.pattern not in BOUNDED_BY_PATTERN
    }
    assert not unbounded
    assert len({where for where, _ in STRINGS}) > 100


def test_a_record_with_a_longer_string_is_refused() -> None:
    line = {"type": "failure", "launch": 1, "kind": "crash", "words": "a" * (LONG_MOST + 1)}
    with pytest.raises(msgspec.ValidationError, match="length"):
        msgspec.convert(line, Failure)


def test_the_last_words_of_a_job_and_a_long_command_are_read_again() -> None:
    words = "\n".join(["\N{EURO SIGN}" * 4096] * 81)
    failure = Failure(1, "crash", words, status=1)
    assert msgspec.convert(msgspec.to_builtins(failure), Failure) == failure
    job = JobKey("openmpi", "5.0.8", "auto", "same-host", 2)
    command = ("mpiexec", "a" * 131_071)
    launch = Launch(1, 1, job, "", command, "Open MPI", "3.1", "", (), None, None, None)
    assert msgspec.convert(msgspec.to_builtins(launch), Launch) == launch


def test_all_results_that_are_kept_are_read_without_a_damaged_line() -> None:
    paths = [*(ROOT / "docs" / "results").glob("*.jsonl*")]
    assert paths
    assert not {path.name: result.damaged for path in paths if (result := reader.load(path)).damaged}


# ---- Whoever writes cuts -----------------------------------------------------------------------------


def test_long_texts_are_cut_behind_a_word() -> None:
    assert first_words("one two three", 13) == "one two three"
    assert first_words("one two three", 12) == f"one two{CUT}"
    assert first_words("one two three", 11) == f"one two{CUT}"
    assert first_words("one two three", 10) == f"one{CUT}"
    assert first_words("a" * 20, 10) == f"{'a' * 6}{CUT}"


def test_the_version_of_a_library_that_says_nonsense_fits_a_cell() -> None:
    for said in (f"Fancy MPI 1.{'2' * 10**5} of today", f"{'Fancy' * 10**5} 1.2", f"Open MPI v{'5' * 10**5}"):
        kind, version = identify(said)
        job = JobKey(kind.name, version, "auto", "same-host", 2)
        assert msgspec.convert(msgspec.to_builtins(job), JobKey) == job


def test_what_an_importer_quotes_fits_its_record() -> None:
    collector, line = Collector(), TextLine("a.txt", 1, "word " * 10**6)
    collector.begin_file("a.txt", [line])
    collector.begin_table("title " * 10**6, line)
    meaning = TableMeaning("ring")
    collector.add_failure(meaning, cell_of(meaning, 8, 2), "refused", line.text, line)
    collector.add_unread(line.refused(f"{line.text!r} is no number", ""))
    records = collector.records()
    for record in records:
        assert msgspec.convert(msgspec.to_builtins(record), type(record)) == record
    assert len(records[0].plan.title) <= SHORT_MOST  # type: ignore[union-attr]  # the first is a campaign
