"""Meanings of tables of the Intel MPI Benchmarks: ours where that is the same, else by part and name.

Source: the lists of benchmarks and their scales in IMB_bnames_*.h, IMB_parse_name_*.c,
helper_IMB_functions.h, src_c/P2P and src_cpp/MT of versions 2018 to 2021.11.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.importers.collected import TableMeaning
from mpigauge.importers.imb_heading import BYTES, GROUP, MESSAGES
from mpigauge.plan.benchmarks import BY_IMB, WITHOUT_COMPUTATION, Counterpart
from mpigauge.plan.patterns import EACH_RANK, EVERY_PAIR, ONE, Terms, blocks_of, known
from mpigauge.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.importers.imb_heading import Above, Columns, Suite

PURE = "_pure"
PAIR = 2
IN_ONE_CALL = "in the call, slowest rank"
UNNAMED = "unnamed"
NEAR_MOST = 8
"""Words of a line that can be the name of the table below it."""

# ---- Parts and their names -------------------------------------------------------------------------

MPI1, NBC, P2P, RMA, MT, EXT, IO, MPI4, HALO = "mpi1", "nbc", "p2p", "rma", "mt", "ext", "io", "mpi4", "halo"
OURS = frozenset({MPI1, NBC})
"""Parts whose benchmarks may be ours; others have some of the same names that do something else."""

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
_SPELT = {name.lower(): name for name in reversed(_PART_OF)}
"""Names as IMB spells them, by what may stand on a command line."""

_PROGRAM = re.compile(r"\b(?:IMB|PMB)-[A-Z]")
_WORD = re.compile(r"(?<![\w-])(?:Multi-)?([A-Za-z]\w+)(?![\w-])", re.ASCII)


def name_near(lines: Iterable[str]) -> str:
    """Return the name of a benchmark that stands above a heading without title; empty if none alone does.

    Args:
        lines: What stands between the last table and the heading.
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
        return {_SPELT[word.lower()] for word in words if word.lower() in _SPELT}
    return set(words) & _PART_OF.keys() if len(line.split()) <= NEAR_MOST else set()


@dataclass(frozen=True, slots=True)
class ImbKind:
    """Subject of a table.

    Attributes:
        words: What else it says that makes its numbers others; a mode of its own.
    """

    part: str
    name: str
    words: tuple[str, ...]
    above: Above
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
        """Whether its groups are what we call pairs: two ranks each, all of them at once."""
        twin = BY_IMB.get(self.name)
        pairs = [len(group) == PAIR and group[0] < group[1] for group in self.above.members.values()]
        return (
            GROUP in self.columns
            and (bool(pairs) and all(pairs))
            and (twin is not None and known()[twin.pattern].active_ranks == PAIR)
        )


def kind_of(suite: Suite, above: Above, columns: Columns) -> ImbKind:
    """Return what a table is of."""
    part = _part(suite, above, columns)
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


def halo_kind(above: Above) -> ImbKind:
    """Return what a table of IMB-HALO is of: it has no heading."""
    words = (counted(above.dimensions, "dimension"), counted(above.threads, "thread"))
    return ImbKind(HALO, above.name, words, above, {BYTES: None, "t_avg": 1e-6})


def _part(suite: Suite, above: Above, columns: Columns) -> str:
    """The part of a table: by what its program says, or what no other part has."""
    if "t" in columns and MESSAGES in columns:
        return P2P
    if above.name in _PAIRED and above.ranks > PAIR and not above.multi:
        return P2P
    if suite.part or not above.name:
        return suite.part
    if above.name == "Accumulate":
        return RMA if "t" in columns else EXT
    return _PART_OF.get(above.name, MPI1)


# ---- What a rate counts ----------------------------------------------------------------------------

_COUNTED: Mapping[str, Mapping[str, int]] = {
    MPI1: {name: 1 for name in PARTS_NAMED[MPI1] if name.startswith("PingP")}
    | {"Sendrecv": 2, "Exchange": 4},
    EXT: {name: 1 for name in PARTS_NAMED[EXT] if "dir_" in name},
    RMA: dict.fromkeys((*_BOTH, "Put_local", "Get_local"), 1),
    MT: {"PingPongMT": 1, "PingPingMT": 1, "SendRecvMT": 2, "ExchangeMT": 4, "UniBandMT": 1, "BiBandMT": 1},
    P2P: {"PingPong": 1, "PingPing": 2} | dict.fromkeys(PARTS_NAMED[P2P], 1),
}
"""How many times its size a row counts as moved in its time; of P2P and bands: each pair, or each rank."""

_PAIRED = frozenset({"PingPong", "PingPing"})
_BANDS = frozenset({"UniBandMT", "BiBandMT"})


def _count(kind: ImbKind) -> int:
    """How many messages are moved in a time, by all pairs or ranks together; 0 if that is not known."""
    return _COUNTED.get(kind.part, {}).get(kind.name, 0)


def _operation(kind: ImbKind) -> Terms:
    """Whether each pair or rank moves that many, or all together; of bands each thread of a pair."""
    if kind.part == P2P:
        return EVERY_PAIR if kind.name in _PAIRED else EACH_RANK
    if kind.part == MT and kind.name in _BANDS:
        inverse, one, each, squared = EVERY_PAIR
        return inverse, one, each * max(kind.above.threads, 1), squared
    return ONE


def is_exact(kind: ImbKind) -> bool:
    """Return whether its rates are of its times: those of P2P and of bands are of the slowest rank."""
    return _operation(kind) == ONE


def messages_of(kind: ImbKind, ranks: int) -> float:
    """Return how many messages are on their way at a time; 0 if that is not known."""
    operation = _operation(kind)
    return _count(kind) * blocks_of(operation, ranks) if ranks or operation == ONE else 0


def moved_of(kind: ImbKind, ranks: int) -> float:
    """Return how many times its size the rate of a row counts in its time; 0 if that is not known.

    A size of part MT is that of all threads of a rank together.
    """
    return messages_of(kind, ranks) / (kind.above.threads if _shares(kind) else 1)


# ---- Meanings --------------------------------------------------------------------------------------

TIMES = ("t", "t_max", "t_ovrl", "t_pure", "t_avg")
"""Columns that have a time that is taken: of several ranks that of the slowest, which all have waited for."""


def meanings_of(kind: ImbKind) -> list[tuple[TableMeaning, str]]:
    """Return what a row of a table gives, each with the column that has it; nothing if none is known."""
    columns = kind.columns
    column = next((one for one in ("t", "t_max", "t_ovrl", "t_avg", MESSAGES) if one in columns), "")
    if not column:
        return []
    twin = _twin(kind, column)
    if twin is None:
        return _foreign(kind, column)
    if kind.name.endswith(PURE):
        return [(_ours(twin, WITHOUT_COMPUTATION[twin]), column)]
    if column == "t_ovrl" and "t_pure" in columns:
        return [(_ours(twin, twin.mode), column), (_ours(twin, WITHOUT_COMPUTATION[twin]), "t_pure")]
    return [(_ours(twin, twin.mode), column)]


def _twin(kind: ImbKind, column: str) -> Counterpart | None:
    """Return our name of the same measurement; None if there is none, or it is done otherwise."""
    twin = BY_IMB.get(kind.name.removesuffix(PURE))
    if twin is None or kind.part not in OURS or kind.gpu or kind.words:
        return None
    if kind.above.multi and not kind.in_pairs:
        return None
    if twin.ranks and twin.ranks != kind.above.ranks:
        return None
    return twin if _suits(twin, kind.name, column) else None


def _suits(twin: Counterpart, name: str, column: str) -> bool:
    """Whether the columns are those of the measurement that the name promises."""
    if name.endswith(PURE):
        return twin.hides and column == "t_max"
    return (column == MESSAGES) is twin.rate and (column == "t_ovrl") is twin.hides


def _ours(twin: Counterpart, mode: str) -> TableMeaning:
    own = known()[twin.pattern]
    known_mode = own.mode(mode)
    time_of = IN_ONE_CALL if own.starts_together else own.time_of
    return TableMeaning(
        twin.pattern,
        mode,
        time_of=time_of,
        directions=known_mode.directions if known_mode else 1,
        sized=own.moves_bytes,
        windowed=twin.rate,
        overlaps=known_mode is not None and known_mode.overlaps,
    )


def _shares(kind: ImbKind) -> bool:
    """Whether a size is parted among messages: no rate follows then from what each of them took."""
    return kind.name in _BANDS and kind.above.threads > 1


def _foreign(kind: ImbKind, column: str) -> list[tuple[TableMeaning, str]]:
    count = _count(kind)
    times = " and ".join(one for one in ("t_ovrl", "t_pure") if one in kind.columns) or column
    meaning = TableMeaning(
        re.sub(r"[^a-z0-9]+", "_", f"{kind.prefix}_{kind.name}".lower()),
        " ".join(kind.words) or "standard",
        time_of="one message" if column == MESSAGES else f"{times}, as its program counts it",
        directions=count or 1,
        operation=_operation(kind),
        sized=BYTES in kind.columns,
        rated=column == MESSAGES or kind.part == HALO or (bool(count) and not _shares(kind)),
        windowed=column == MESSAGES,
        overlaps=column == "t_ovrl",
    )
    if column == "t_ovrl" and "t_pure" in kind.columns:
        mode = meaning.with_mode(" ".join((*kind.words, "overlap")))
        return [(mode, column), (meaning.alone(" ".join((*kind.words, "pure"))), "t_pure")]
    return [(meaning, column)]


def statistic_of(kind: ImbKind, column: str) -> str:
    """Return what a number of a column is."""
    if kind.above.given is not None:
        return "as mpigauge printed it"
    over: Mapping[str, str] = {"t_max": "mean of the slowest rank", "t_avg": "mean over ranks"}
    return over["t_avg"] if kind.part in {P2P, HALO} else over.get(column, "mean")
