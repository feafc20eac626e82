"""Meanings of tables of the Intel MPI Benchmarks: ours where the measurement is the same, else by name.

Source: the lists of benchmarks and their scales in IMB_bnames_*.h, IMB_parse_name_*.c,
helper_IMB_functions.h, src_c/P2P and src_cpp/MT of versions 2018 to 2021.11.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.importers.collector import TableMeaning
from mpigauge.importers.imb.heading import BYTES, GROUP, MESSAGES
from mpigauge.plan.benchmarks import (
    BY_IMB,
    OF_MORE_RANKS,
    ONE_SIDED_OF_IMB,
    WITHOUT_COMPUTATION,
    Counterpart,
)
from mpigauge.plan.patterns import EACH_RANK, EVERY_PAIR, ONE, PAIR_OF_RANKS, Terms, blocks_of, known
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.importers.imb.heading import Columns, Suite, TitleFacts

PURE = "_pure"
FLUSHED_EACH = "non-aggregate"
IN_ONE_CALL = "in the call, slowest rank"
UNNAMED = "unnamed"
MAX_WORDS_OF_NAME = 8
"""Words of a line that can be the name of the table below it."""

# ---- Parts and their names -------------------------------------------------------------------------

MPI1, NBC, P2P, RMA, MT, EXT, IO, MPI4, HALO = "mpi1", "nbc", "p2p", "rma", "mt", "ext", "io", "mpi4", "halo"
OURS = frozenset({MPI1, NBC})
"""Parts whose benchmarks may be ours; others use some of the same names for something else."""

_COLLECTIVES = (
    *("Allgather", "Allgatherv", "Gather", "Gatherv", "Scatter", "Scatterv", "Alltoall", "Alltoallv"),
    *("Bcast", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Allreduce", "Barrier"),
)
_SOURCES = ("", "SpecificSource", "AnySource")
_BOTH = tuple(f"{one}_{two}" for one in ("Unidir", "Bidir") for two in ("put", "get"))
_WAYS = ("Read", "Write", "IRead", "IWrite")
_FILES = ("Indv", "Expl", "Shared", "Priv")
_THREADED = ("PingPong", "PingPing", "SendRecv", "Exchange", "UniBand", "BiBand", "AllReduce")
PARTS_NAMED = {
    MPI1: (
        *(f"{name}{source}" for name in ("PingPong", "PingPing") for source in _SOURCES),
        *("Sendrecv", "Exchange", "Uniband", "Biband", "Reduce_local", *_COLLECTIVES),
    ),
    NBC: tuple(f"I{name.lower()}{pure}" for name in _COLLECTIVES for pure in ("", PURE)),
    P2P: ("Unirandom", "Birandom", "Corandom", "Stencil2D", "Stencil3D", "SendRecv_Replace"),
    RMA: (
        *(*_BOTH, "One_put_all", "One_get_all", "All_put_all", "All_get_all", "Put_local", "Get_local"),
        *("Put_all_local", "Get_all_local", "Exchange_put", "Exchange_get", "Get_accumulate"),
        *("Fetch_and_op", "Compare_and_swap", "Truly_passive_put"),
    ),
    MT: tuple(f"{name}MT" for name in (*_THREADED, *_COLLECTIVES)),
    EXT: ("Window", "Accumulate", *(name.replace("_p", "_P").replace("_g", "_G") for name in _BOTH)),
    IO: (*(f"{of}_{way}_{kind}" for of in "SPC" for way in _WAYS for kind in _FILES), "Open_Close"),
    MPI4: tuple(f"{name}_persist{pure}" for name in _COLLECTIVES for pure in ("", PURE)),
}
_PART_OF = {name: part for part, names in PARTS_NAMED.items() for name in names}
_SPELLINGS = {name.lower(): name for name in reversed(_PART_OF)}
"""Names as IMB spells them, by their form on a command line."""

_PROGRAM = re.compile(r"\b(?:IMB|PMB)-[A-Z]")
_WORD = re.compile(r"(?<![\w-])(?:Multi-)?([A-Za-z]\w+)(?![\w-])", re.ASCII)


def name_above(lines: Iterable[str]) -> str:
    """Return the benchmark named above a heading without title; empty unless exactly one is.

    Args:
        lines: Lines between the last table and the heading.
    """
    named = [(line, names) for line in lines if (names := _names_in(line))]
    if not named:
        return ""
    line, names = named[-1]
    among = set[str]().union(*(of for _, of in named)) if line.startswith("#") else names
    return next(iter(names)) if len(among) == 1 else ""


def _names_in(line: str) -> set[str]:
    words = _WORD.findall(line)
    if _PROGRAM.search(line):
        return {_SPELLINGS[word.lower()] for word in words if word.lower() in _SPELLINGS}
    return set(words) & _PART_OF.keys() if len(line.split()) <= MAX_WORDS_OF_NAME else set()


@dataclass(frozen=True, slots=True)
class ImbKind:
    """Subject of a table.

    Attributes:
        words: Other conditions that change its numbers; they form the mode.
    """

    part: str
    name: str
    words: tuple[str, ...]
    above: TitleFacts
    columns: Columns
    gpu: bool = False

    @property
    def prefix(self) -> str:
        """Return the prefix of its name where the measurement is not ours."""
        part = "" if self.part == MPI1 else self.part
        multi = "multi" if self.above.multi and not self.in_pairs else ""
        return "_".join(filter(None, ("imb", part, "gpu" if self.gpu else "", multi)))

    @property
    def in_pairs(self) -> bool:
        """Return whether its groups are pairs of ranks, all busy at once."""
        benchmark = BY_IMB.get(self.name)
        pairs = [len(group) == PAIR_OF_RANKS and group[0] < group[1] for group in self.above.members.values()]
        return (
            GROUP in self.columns
            and (bool(pairs) and all(pairs))
            and (benchmark is not None and known()[benchmark.pattern].active_ranks == PAIR_OF_RANKS)
        )


def kind_of(suite: Suite, above: TitleFacts, columns: Columns) -> ImbKind:
    """Return the kind of a table."""
    part = _part_of(suite, above, columns)
    name = above.name or UNNAMED
    kind = ImbKind(part, name, (), above, columns, suite.gpu)
    words = (
        above.kind,
        above.grid,
        counted(above.groups, "group") if above.multi and above.groups and not kind.in_pairs else "",
        f"window {above.window}" if above.window else "",
        counted(above.threads, "thread") if above.threads else "",
        suite.buffers if suite.gpu else "",
    )
    return replace(kind, words=tuple(filter(None, words)))


def halo_kind(above: TitleFacts) -> ImbKind:
    """Return the kind of a table of IMB-HALO, which has no heading."""
    words = (counted(above.dimensions, "dimension"), counted(above.threads, "thread"))
    return ImbKind(HALO, above.name, words, above, {BYTES: None, "t_avg": 1e-6})


def _part_of(suite: Suite, above: TitleFacts, columns: Columns) -> str:
    """Return the part that a table is of: as its program says, or the only part that has it."""
    if "t" in columns and MESSAGES in columns:
        return P2P
    if above.name in _PAIRED and above.ranks > PAIR_OF_RANKS and not above.multi:
        return P2P
    if suite.part or not above.name:
        return suite.part
    if above.name == "Accumulate":
        return RMA if "t" in columns else EXT
    return _PART_OF.get(above.name, MPI1)


# ---- What a rate counts ----------------------------------------------------------------------------

_MESSAGES_PER_ROW: Mapping[str, Mapping[str, int]] = {
    MPI1: {name: 1 for name in PARTS_NAMED[MPI1] if name.startswith("PingP")}
    | {"Sendrecv": 2, "Exchange": 4},
    EXT: {name: 1 for name in PARTS_NAMED[EXT] if "dir_" in name},
    RMA: dict.fromkeys((*_BOTH, "Put_local", "Get_local"), 1),
    MT: {"PingPongMT": 1, "PingPingMT": 1, "SendRecvMT": 2, "ExchangeMT": 4, "UniBandMT": 1, "BiBandMT": 1},
    P2P: {"PingPong": 1, "PingPing": 2} | dict.fromkeys(PARTS_NAMED[P2P], 1),
}
"""Messages that a row counts per time, by part; for P2P and bands: of each pair, or each rank."""

_PAIRED = frozenset({"PingPong", "PingPing"})
_BANDS = frozenset({"UniBandMT", "BiBandMT"})


def _messages_counted(kind: ImbKind) -> int:
    """Return the messages moved per time, by all pairs or ranks together; 0 if that is not known."""
    return _MESSAGES_PER_ROW.get(kind.part, {}).get(kind.name, 0)


def _operation(kind: ImbKind) -> Terms:
    """Return the volume terms: per pair or rank, or all together; for bands, per thread of each pair."""
    if kind.part == P2P:
        return EVERY_PAIR if kind.name in _PAIRED else EACH_RANK
    if kind.part == MT and kind.name in _BANDS:
        inverse, one, each, squared = EVERY_PAIR
        return inverse, one, each * max(kind.above.threads, 1), squared
    return ONE


def is_exact(kind: ImbKind) -> bool:
    """Return whether rates follow exactly from times: those of P2P and of bands are of the slowest rank."""
    return _operation(kind) == ONE


def messages_of(kind: ImbKind, ranks: int) -> float:
    """Return the messages in flight at a time; 0 if that is not known."""
    operation = _operation(kind)
    return _messages_counted(kind) * blocks_of(operation, ranks) if ranks or operation == ONE else 0


def moved_of(kind: ImbKind, ranks: int) -> float:
    """Return how many times its size a row counts as moved in its time; 0 if that is not known.

    A size of part MT is that of all threads of a rank together.
    """
    return messages_of(kind, ranks) / (kind.above.threads if _splits_size(kind) else 1)


# ---- Meanings --------------------------------------------------------------------------------------

TIMES = ("t", "t_max", "t_ovrl", "t_pure", "t_avg")
"""Columns whose time is taken: of several ranks that of the slowest, which all have waited for."""


def meanings_of(kind: ImbKind) -> list[tuple[TableMeaning, str]]:
    """Return the meanings of a row, each with its column; empty if none is known."""
    columns = kind.columns
    column = next((one for one in ("t", "t_max", "t_ovrl", "t_avg", MESSAGES) if one in columns), "")
    if not column:
        return []
    benchmark = _own_benchmark(kind, column)
    if benchmark is None:
        return _foreign_meaning(kind, column)
    if kind.name.endswith(PURE):
        return [(_own_meaning(benchmark, WITHOUT_COMPUTATION[benchmark]), column)]
    if column == "t_ovrl" and "t_pure" in columns:
        return [
            (_own_meaning(benchmark, benchmark.mode), column),
            (_own_meaning(benchmark, WITHOUT_COMPUTATION[benchmark]), "t_pure"),
        ]
    return [(_own_meaning(benchmark, benchmark.mode), column)]


def _own_benchmark(kind: ImbKind, column: str) -> Counterpart | None:
    """Return our benchmark that measures the same; None if there is none."""
    if (
        kind.part == RMA
        and kind.words == (FLUSHED_EACH,)
        and kind.above.ranks == PAIR_OF_RANKS
        and not kind.gpu
    ):
        return ONE_SIDED_OF_IMB.get(kind.name)
    benchmark = BY_IMB.get(kind.name.removesuffix(PURE))
    if benchmark is None or kind.part not in OURS or kind.gpu or kind.words:
        return None
    if kind.above.multi and not kind.in_pairs:
        return None
    if benchmark.ranks:
        benchmark = _of_its_ranks(benchmark, kind)
    if benchmark is None:
        return None
    return benchmark if _has_expected_columns(benchmark, kind.name, column) else None


def _of_its_ranks(benchmark: Counterpart, kind: ImbKind) -> Counterpart | None:
    """Return our benchmark for as many ranks as there are; None if it needs more.

    Two that mpigauge has started together are one pair of those that it measures at once.
    """
    own, ranks = kind.above.own_factors, kind.above.ranks
    if ranks > benchmark.ranks or (own is not None and own.sync):
        return OF_MORE_RANKS[benchmark.imb]
    return benchmark if ranks == benchmark.ranks else None


def _has_expected_columns(benchmark: Counterpart, name: str, column: str) -> bool:
    """Return whether the columns are those of the benchmark that the name promises."""
    if name.endswith(PURE):
        return benchmark.hides and column == "t_max"
    return (column == MESSAGES) is benchmark.rate and (column == "t_ovrl") is benchmark.hides


def _own_meaning(benchmark: Counterpart, mode: str) -> TableMeaning:
    own = known()[benchmark.pattern]
    known_mode = own.mode(mode)
    time_of = benchmark.time_of or (IN_ONE_CALL if own.starts_together else own.time_of_mode(mode))
    return TableMeaning(
        benchmark.pattern,
        mode,
        time_of=time_of,
        directions=known_mode.directions if known_mode else 1,
        operation=own.volumes.operation if own.family == "message" else ONE,
        sized=own.moves_bytes,
        windowed=benchmark.rate,
        overlaps=known_mode is not None and known_mode.overlaps,
    )


def _splits_size(kind: ImbKind) -> bool:
    """Return whether a size is split among messages, so that no rate follows from the time of each."""
    return kind.name in _BANDS and kind.above.threads > 1


def _foreign_meaning(kind: ImbKind, column: str) -> list[tuple[TableMeaning, str]]:
    count = _messages_counted(kind)
    times = " and ".join(one for one in ("t_ovrl", "t_pure") if one in kind.columns) or column
    meaning = TableMeaning(
        re.sub(r"[^a-z0-9]+", "_", f"{kind.prefix}_{kind.name}".lower()),
        " ".join(kind.words) or "standard",
        time_of="one message" if column == MESSAGES else f"{times}, as its program counts it",
        directions=count or 1,
        operation=_operation(kind),
        sized=BYTES in kind.columns,
        rated=column == MESSAGES or kind.part == HALO or (bool(count) and not _splits_size(kind)),
        windowed=column == MESSAGES,
        overlaps=column == "t_ovrl",
    )
    if column == "t_ovrl" and "t_pure" in kind.columns:
        mode = meaning.with_mode(" ".join((*kind.words, "overlap")))
        return [(mode, column), (meaning.without_computation(" ".join((*kind.words, "pure"))), "t_pure")]
    return [(meaning, column)]


def statistic_of(kind: ImbKind, column: str) -> str:
    """Return the statistic of a column."""
    if kind.above.own_factors is not None:
        return "as mpigauge printed it"
    over: Mapping[str, str] = {"t_max": "mean of the slowest rank", "t_avg": "mean over ranks"}
    return over["t_avg"] if kind.part in {P2P, HALO} else over.get(column, "mean")
