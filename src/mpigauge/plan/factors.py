"""The factors of a cell, in which two measurements can differ. FACTORS is the one list of them.

A field of `plan.model.Cell` belongs to each row. Plan files, options, the expansion into cells, the
kernel's plan, the keys of curves, phrases, tables, JSON and figures loop over this list. To add one: a row
here, and a field of Cell with its usual value as the default and its meaning in the docstring. One that
makes a launch of its own says `job=True` and is a field of JobKey, too; one that users choose is a field of
FactorValues and an option in `cli.options.run_options`; one that the kernel is told has a number in
rounds/visits.h and a word in text/plan.c. Pages and schemas are computed.

This module imports nothing slow, for the sake of `--help`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.vocabulary import AUTO, BUFFERS, RMA_WINDOWS, ROTATING, SAME_HOST, SYNCS

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell, JobKey

Group = Literal["what", "how", "where"]
Together = Literal["", "library", "place", "operation", "layout", "size"]
Value = str | int | bool
Kind = Literal["text", "number", "flag", "rank"]


def whole_number(text: str) -> int:
    """Return a number of at most 18 digits, so that it fits the kernel's integers.

    Raises:
        ValueError: The text is not such a number.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - below 2**63
        raise ValueError("not a number")
    return int(text)


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor: a property in which cells differ.

    Attributes:
        name: The field of a cell, and of JSON.
        group: Whether it says what is measured, how, or where.
        usual: Its default value, which texts do not mention.
        has: The property of a pattern that says whether it has the factor; "" for all patterns. Cells of
            other patterns have the field's default.
        asked: The field of `plan.model.FactorValues` that chooses its values; "" if none does.
        job: Whether each of its values is a launch of its own: a field of JobKey.
        along: Whether the rows of one curve differ in it.
        compared: Whether cells of one result that differ in it alone can be compared.
        regresses: Whether its values are builds or settings of one thing, of which one may replace another:
            a comparison by it gives a verdict unasked. Others are ways and places, which differ anyway.
        together: What it is one thing with others of, as the version is of the library; "" for itself alone.
        brings: Factors that follow from it: where it differs, they may, and what they were asked to be is
            compared in their place.
        control: Whether cells that have a value of it are controls: measured again for comparisons alone, and
            left out of tables and answers.
        phrase: What people are told of a value, in place of `{}`; "" if it is said with another factor, or in
            a column of its own.
        without: What people are told of its usual value where that is compared with others.
        key: Its key in the kernel's plan; "" if the kernel is not told, or told in another way.
        kind: What a value is there: a number is left out where it is 0 and has a usual value, a flag is 1 or
            left out, a rank -1 where it is another one in each round.
        choices: The texts that it can be there; any if none are named.
    """

    name: str
    group: Group
    usual: Value | None = None
    has: str = ""
    asked: str = ""
    job: bool = False
    along: bool = False
    compared: bool = False
    regresses: bool = False
    together: Together = ""
    brings: tuple[str, ...] = ()
    control: bool = False
    phrase: str = "{}"
    without: str = ""
    key: str = ""
    kind: Kind = "text"
    choices: tuple[str, ...] = ()

    def written(self, value: Value) -> str:
        """Return the text of a value in the kernel's plan; "" leaves the key out."""
        if self.kind == "flag":
            return "1" if value else ""
        if self.kind == "number":
            return "" if value == 0 and self.usual is not None else str(value)
        return "-1" if self.kind == "rank" and value == ROTATING else str(value)

    def read(self, text: str) -> Value:
        """Return the value of a text of the kernel's plan; "" if the key was left out.

        Raises:
            ValueError: The text is invalid.
        """
        if self.kind == "flag":
            return text == "1"
        if self.kind == "number":
            return 0 if not text and self.usual is not None else whole_number(text)
        if self.kind == "rank":
            return ROTATING if text == "-1" else str(whole_number(text)) if text else ""
        if text and self.choices and text not in self.choices:
            raise ValueError(f"not one of {', '.join(self.choices)}")
        return text


FACTORS = (
    Factor("pattern", "what", key="pattern"),
    Factor("mpi", "where", job=True, compared=True, regresses=True, together="library"),
    Factor("mpi_version", "where", job=True, together="library", phrase=""),
    Factor(
        "label", "where", usual="", job=True, compared=True, regresses=True, together="library", phrase=""
    ),
    Factor("setting", "where", usual="", job=True, compared=True, regresses=True),
    Factor("arm", "where", usual="", job=True, control=True),
    Factor("transport", "where", usual=AUTO, job=True, compared=True, together="place"),
    Factor(
        "placement",
        "where",
        usual=SAME_HOST,
        job=True,
        compared=True,
        together="place",
        brings=("group",),
    ),
    Factor("buffers", "where", usual=BUFFERS[0], asked="buffers", compared=True),
    Factor(
        "in_place",
        "how",
        usual=False,
        has="may_in_place",
        asked="in_place",
        phrase="in place",
        key="in_place",
        kind="flag",
    ),
    Factor("mode", "what", asked="modes", compared=True, key="mode"),
    Factor("ranks", "where", asked="ranks", job=True, compared=True, brings=("group",)),
    Factor(
        "order",
        "where",
        usual="",
        has="of_all",
        asked="orders",
        compared=True,
        brings=("group",),
        phrase="{} order",
        without="natural order",
    ),
    Factor(
        "senders",
        "where",
        usual=0,
        has="senders",
        asked="senders",
        compared=True,
        brings=("group",),
        without="all senders",
    ),
    Factor(
        "groups",
        "where",
        usual="",
        has="in_groups",
        asked="groups",
        compared=True,
        phrase="groups at once: {}",
        without="one group alone",
    ),
    Factor("group", "where", usual="", asked="groups", phrase="ranks {}"),
    Factor(
        "sync",
        "how",
        usual=SYNCS[0],
        has="starts_together",
        asked="sync",
        compared=True,
        phrase="{} start",
        key="sync",
        choices=SYNCS,
    ),
    Factor(
        "rma_window",
        "how",
        usual=RMA_WINDOWS[0],
        has="one_sided",
        asked="rma_windows",
        compared=True,
        phrase="window {}",
        key="rma_window",
        choices=RMA_WINDOWS,
    ),
    Factor("root", "how", usual="0", has="rooted", asked="roots", key="root", kind="rank"),
    Factor(
        "datatype",
        "how",
        usual="double",
        has="reduces",
        asked="datatypes",
        together="operation",
        phrase="",
        key="datatype",
    ),
    Factor("op", "how", usual="sum", has="reduces", asked="ops", together="operation", key="op"),
    Factor(
        "depth",
        "how",
        usual=0,
        has="queues",
        asked="depths",
        compared=True,
        phrase="depth {}",
        without="depth 0",
        key="depth",
        kind="number",
    ),
    Factor(
        "block_bytes",
        "how",
        usual=8,
        has="strided",
        asked="blocks",
        compared=True,
        together="layout",
        key="block_bytes",
        kind="number",
    ),
    Factor(
        "stride_bytes",
        "how",
        usual=16,
        has="strided",
        asked="strides",
        compared=True,
        together="layout",
        phrase="",
        key="stride_bytes",
        kind="number",
    ),
    Factor(
        "partitions",
        "how",
        usual=1,
        has="partitioned",
        asked="partitions",
        compared=True,
        key="partitions",
        kind="number",
    ),
    Factor(
        "tests",
        "how",
        usual=0,
        has="may_test",
        asked="tests",
        compared=True,
        key="tests",
        kind="number",
    ),
    Factor("pair", "where", asked="pairs", along=True),
    Factor("pairing", "where", usual="", asked="pairs"),
    Factor(
        "bytes",
        "what",
        asked="sizes",
        along=True,
        together="size",
        phrase="",
        key="bytes",
        kind="number",
    ),
    Factor(
        "window",
        "how",
        usual=64,
        has="windowed",
        asked="window",
        along=True,
        compared=True,
        together="size",
        phrase="window {}",
    ),
)
"""All factors, in the order in which a plan is expanded: the last ones change fastest."""

BY_NAME = {factor.name: factor for factor in FACTORS}

STRIDE_IN_BLOCKS = 2
"""Stride of blocks in lengths of one, where none is asked for."""

COMPARED_BY = tuple(factor.name for factor in FACTORS if factor.compared)
"""Factors that a comparison within one result can be by; the default is the first with several values."""

VERDICT_FACTORS = tuple(factor.name for factor in FACTORS if factor.regresses)
"""Factors by which a comparison within one result has a verdict by default."""

ALONG = frozenset(factor.name for factor in FACTORS if factor.along)
"""What rows of one curve may differ in."""

CURVE = tuple(factor.name for factor in FACTORS if not factor.along)
"""Factors that all rows of one curve have in common."""

KERNEL_FACTORS = tuple(factor for factor in FACTORS if factor.key)
"""Factors that are written in the kernel's plan."""


def together(what: Together) -> frozenset[str]:
    """Return the factors that name one thing together."""
    return frozenset(factor.name for factor in FACTORS if factor.together == what)


LIBRARY = together("library")
"""What libraries, and builds of one, differ in."""

PLACE = together("place")
"""What makes a place: how far messages go, and by what."""

OPERATION = together("operation")
"""What a reduction does."""

SIZE = together("size")
"""What sizes of one pair of ranks differ in: large messages shorten the window."""

OF_PATTERN = frozenset({"pattern", "mode", *(factor.name for factor in FACTORS if factor.has)})
"""What patterns differ in: also what only some of them have."""


CONTROL_FACTORS = frozenset(factor.name for factor in FACTORS if factor.control)
"""What controls differ in from what they are controls of."""


def is_control(cell: Cell | JobKey) -> bool:
    """Return whether a cell, or the launches of a job, are measured for comparisons alone."""
    return any(getattr(cell, name) for name in CONTROL_FACTORS)


def names_of(group: Group) -> tuple[str, ...]:
    """Return the names of the factors of a group."""
    return tuple(factor.name for factor in FACTORS if factor.group == group)


def default_value(name: str) -> Value:
    """Return the default value of a factor."""
    value = BY_NAME[name].usual
    if value is None:
        raise KeyError(name)
    return value
