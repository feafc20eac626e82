"""What tables of the Intel MPI Benchmarks are of: ours where that is the same, else by their name."""

from __future__ import annotations

import re

from mpigauge.formats.collected import Meaning
from mpigauge.plan.benchmarks import BY_IMB, WITHOUT_COMPUTATION, Twin
from mpigauge.plan.patterns import known

TIMES = ("t", "t_max", "t_ovrl", "t_pure", "t_avg")
"""Columns that have a time that is taken: of several ranks that of the slowest, which all have waited for."""

MESSAGES = "Msg/sec"
PURE = "_pure"
FIRST_PART = "1"
"""Of MPI-1; other parts have benchmarks of the same names that do something else."""

NONBLOCKING_PART = "NBC"
MOVED = {"PingPong": 1, "PingPing": 1, "Sendrecv": 2, "Exchange": 4}
"""Messages that a rate of IMB counts in one time; of others it is not checked."""

IN_ONE_CALL = "in the call, slowest rank"


def moved_bytes(name: str, size: int) -> int:
    """Bytes that a rate of IMB counts in one time; 0 if that is not known."""
    return MOVED.get(name, 0) * size


def meanings_of(part: str, name: str, ranks: int, columns: tuple[str, ...]) -> list[tuple[Meaning, str]]:
    """What a row of a table gives, each with the column that has it; nothing if none is known."""
    column = next((one for one in ("t", "t_max", "t_ovrl", "t_avg", MESSAGES) if one in columns), "")
    if not column:
        return []
    twin = BY_IMB.get(name.removesuffix(PURE)) if part in {FIRST_PART, NONBLOCKING_PART} else None
    if twin is None or (twin.ranks and twin.ranks != ranks) or not _suits(twin, name, column):
        return _foreign(part, name, column, columns)
    if name.endswith(PURE):
        return [(_ours(twin, WITHOUT_COMPUTATION[twin]), column)]
    if column == "t_ovrl" and "t_pure" in columns:
        return [(_ours(twin, twin.mode), column), (_ours(twin, WITHOUT_COMPUTATION[twin]), "t_pure")]
    return [(_ours(twin, twin.mode), column)]


def _suits(twin: Twin, name: str, column: str) -> bool:
    """Whether the columns are those of the measurement that the name promises."""
    if name.endswith(PURE):
        return twin.hides and column == "t_max"
    return (column == MESSAGES) is twin.rate and (column == "t_ovrl") is twin.hides


def _ours(twin: Twin, mode: str) -> Meaning:
    own = known()[twin.pattern]
    known_mode = own.mode(mode)
    time_of = IN_ONE_CALL if own.starts_together else own.time_of
    return Meaning(
        twin.pattern,
        mode,
        time_of=time_of,
        directions=known_mode.directions if known_mode else 1,
        sized=own.moves_bytes,
        windowed=twin.rate,
        overlaps=known_mode is not None and known_mode.overlaps,
    )


def _foreign(part: str, name: str, column: str, columns: tuple[str, ...]) -> list[tuple[Meaning, str]]:
    words = ("imb", "" if part == FIRST_PART else part, name)
    pattern = re.sub(r"[^a-z0-9]+", "_", "_".join(filter(None, words)).lower())
    meaning = Meaning(
        pattern,
        time_of="one message" if column == MESSAGES else f"{column}, as its program counts it",
        directions=MOVED.get(name, 1),
        sized="#bytes" in columns,
        rated=column == MESSAGES or name in MOVED,
        windowed=column == MESSAGES,
        overlaps=column == "t_ovrl",
    )
    if column == "t_ovrl" and "t_pure" in columns:
        return [(meaning.with_mode("overlap"), column), (meaning.alone("pure"), "t_pure")]
    return [(meaning, column)]
