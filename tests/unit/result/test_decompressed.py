"""Compressed results: all before what is wrong with the file is read, and that is said."""

from __future__ import annotations

import contextlib
import gzip
import io
import sys
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mpigauge.errors import UsageError
from mpigauge.find.findings import doubts_of, findings_of, told
from mpigauge.find.foot import foot_of
from mpigauge.result.decompressed import WITH_HEADER, Decompressed
from mpigauge.result.reader import STANDARD_INPUT, Result, load
from mpigauge.rows.rows import rows
from tests.made import RECORDS, SMALL, campaign, launch, lines_of, visit

if TYPE_CHECKING:
    from pathlib import Path

LINES = lines_of(
    campaign(SMALL),
    *(launch(number) for number in range(1, 5)),
    *(
        visit(1 + i % 4, i, SMALL, [1000 + (i * 7919 + k * 104729) % 997 for k in range(40)])
        for i in range(60)
    ),
)
PACKED = gzip.compress(LINES, mtime=0)
FIRST_BYTES = LINES.index(b"\n") + 1


def content_of(packed: bytes, read_bytes: int = 1 << 17) -> tuple[bytes, str | None]:
    """All that can be unpacked, and what is wrong with the rest."""
    unpacked = Decompressed(io.BytesIO(packed))
    return io.BufferedReader(unpacked, read_bytes).read(), unpacked.damage


def before_the_damage(packed: bytes) -> bytes:
    """The same of one part, as zlib gives it byte by byte."""
    inflater, found = zlib.decompressobj(WITH_HEADER), b""
    with contextlib.suppress(zlib.error):
        for byte in packed:
            found += inflater.decompress(bytes([byte]))
    return found


@given(st.binary(max_size=3000), st.integers(1, 5000), st.integers(1, 4))
@example(bytes(100_000), 10, 1)
def test_a_complete_file_is_decompressed_like_by_gzip(content: bytes, read_bytes: int, parts: int) -> None:
    packed = b"".join(gzip.compress(content[i::parts]) for i in range(parts))
    whole = b"".join(content[i::parts] for i in range(parts))
    assert content_of(packed, read_bytes) == (whole, None)
    assert content_of(packed + bytes(513), read_bytes) == (whole, None)
    assert content_of(packed + b"junk", read_bytes) == (whole, "damaged")


@given(st.integers(2, len(PACKED) - 1))
@example(len(PACKED) - 1)
@example(len(PACKED) - 9)
def test_a_cut_file_is_read_up_to_the_cut(at: int) -> None:
    assert content_of(PACKED[:at]) == (before_the_damage(PACKED[:at]), "cut")


@given(st.integers(2, len(PACKED) - 1), st.integers(1, 255))
def test_a_damaged_file_is_read_up_to_the_damage(at: int, change: int) -> None:
    broken = PACKED[:at] + bytes([PACKED[at] ^ change]) + PACKED[at + 1 :]
    content, damage = content_of(broken)
    assert content == before_the_damage(broken)
    assert damage is not None or content == LINES  # nothing but a time or a flag was changed


def read(folder: Path, packed: bytes, name: str = "r.jsonl.gz") -> Result:
    """A file of this content, read."""
    (folder / name).write_bytes(packed)
    return load(folder / name)


@pytest.mark.parametrize("name", ["r.jsonl.gz", "r.jsonl"])
def test_compression_is_recognised_by_content(tmp_path: Path, name: str) -> None:
    assert len(read(tmp_path, PACKED, name).visits) == 60
    plain = read(tmp_path, LINES, name)
    assert (len(plain.visits), plain.packed_damage) == (60, None)


def test_damaged_standard_input_is_read_up_to_the_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKED[: len(PACKED) // 2])))
    found = load(STANDARD_INPUT)
    assert found.packed_damage == "cut"
    assert len(found.visits) == len(read(tmp_path, PACKED[: len(PACKED) // 2]).visits) > 0


@pytest.mark.parametrize(
    ("packed", "damage", "words"),
    [
        (PACKED[:-100], "cut", "the compressed file ends in the middle"),
        (PACKED + b"junk", "damaged", "the compressed file is damaged"),
        (PACKED[:-8] + b"\0" * 8, "altered", "checksum of the compressed file is wrong"),
    ],
)
def test_damage_is_reported_with_the_doubts(tmp_path: Path, packed: bytes, damage: str, words: str) -> None:
    result = read(tmp_path, packed)
    found = rows(result)
    assert result.visits
    assert (result.packed_damage, result.damaged) == (damage, [])
    assert any(words in str(line) for line in foot_of(result, found))
    assert not any("killed?" in str(line) for line in foot_of(result, found))
    doubt = doubts_of(result, found)[0]
    assert (doubt.kind, words in doubt.line) == ("damaged", True)
    (finding,) = (one for one in told(findings_of(result, found)) if one.kind == "damaged")
    assert finding.value == {"lines": [], "packed": damage}


def test_a_file_without_a_first_line_is_refused(tmp_path: Path) -> None:
    short = next(at for at in range(len(PACKED)) if len(before_the_damage(PACKED[:at])) >= FIRST_BYTES)
    for packed in (PACKED[:5], PACKED[: short - 1]):
        with pytest.raises(UsageError, match="damaged in its first line") as caught:
            read(tmp_path, packed)
        assert str(tmp_path) in caught.value.sentence
    assert read(tmp_path, PACKED[:short]).visits == []


def test_every_kind_of_record_survives_compression(tmp_path: Path) -> None:
    whole = lines_of(*RECORDS)
    packed, plain = read(tmp_path, gzip.compress(whole)), read(tmp_path, whole, "r.jsonl")
    plain.path = packed.path
    assert packed == plain
