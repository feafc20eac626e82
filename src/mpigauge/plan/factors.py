"""The factors of a cell: all that two measurements can differ in. FACTORS is the one list of them.

A field of `plan.model.Cell` belongs to each row. Plan files, options, the expansion into cells, the
kernel's plan, the keys of curves, tables, JSON and figures loop over this list; their words for people are
in `document.phrases`. To add one: the field of Cell, with its usual value as the default and its meaning
in the docstring (and of FactorValues and an option in `cli.options.run_options`, if users choose it), a row
here, its words there, the kernel's side (a number in rounds/visits.h, a word in text/plan.c), a line in
docs/formats.md, a test. One that makes a launch of its own says `job=True`, and is a field of JobKey, too.

Without imports that `--help` would wait for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mpigauge.vocabulary import AUTO, BUFFERS, ROTATING, SAME_HOST, SYNCS

Group = Literal["what", "how", "where"]
Together = Literal["", "library", "place", "operation", "size"]
Value = str | int | bool


class Text:
    """How a value is written in the kernel's plan: as it is, and "" is left out."""

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def write(self, value: Value) -> str:
        """The text of a value; "" leaves the key out."""
        return str(value)

    def read(self, text: str) -> Value:
        """The value of a text.

        Raises:
            ValueError: It is not one.
        """
        if text and self.choices and text not in self.choices:
            raise ValueError(f"not one of {', '.join(self.choices)}")
        return text


AS_IT_IS = Text()


class WholeNumber(Text):
    """A whole number."""

    def read(self, text: str) -> Value:
        """The number."""
        return whole_number(text)


class Root(Text):
    """A rank, or -1 for another one in each round."""

    def write(self, value: Value) -> str:
        """The rank."""
        return "-1" if value == ROTATING else str(value)

    def read(self, text: str) -> Value:
        """The rank as cells have it: as text, since it may be "rotating"."""
        return ROTATING if text == "-1" else str(whole_number(text)) if text else ""


class Flag(Text):
    """1, or nothing."""

    def write(self, value: Value) -> str:
        """1 if it is set."""
        return "1" if value else ""

    def read(self, text: str) -> Value:
        """Whether it is set."""
        return text == "1"


def whole_number(text: str) -> int:
    """A number of at most 18 digits, so that it fits the kernel's integers.

    Raises:
        ValueError: It is not one.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 18):  # noqa: PLR2004 - below 2**63
        raise ValueError("not a number")
    return int(text)


@dataclass(frozen=True, slots=True)
class Factor:
    """One thing in which cells differ.

    Attributes:
        name: The field of a cell, and of JSON.
        group: What is measured, how, or where.
        usual: What holds unless somebody asks for something else; it goes without saying.
        has: The property of a pattern that says whether it has the factor; "" for all patterns. Cells of
            others have the field's default.
        asked: The field of `plan.model.Asked` that chooses its values; "" if none does.
        job: Whether each of its values is a launch of its own: a field of JobKey.
        along: Whether the rows of one curve differ in it.
        compared: Whether cells of one result that differ in it alone can be held against each other.
        regresses: Whether its values are builds or settings of one thing, of which one may replace another:
            a comparison by it gives a verdict unasked. Others are ways and places, which differ anyway.
        together: What it is one thing with others of, as the version is of the library; "" for itself alone.
        key: Its key in the kernel's plan; "" if the kernel is not told, or told in another way.
        code: How a value is written there.
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
    key: str = ""
    code: Text = AS_IT_IS


FACTORS = (
    Factor("pattern", "what", key="pattern"),
    Factor("mpi", "where", job=True, compared=True, regresses=True, together="library"),
    Factor("mpi_version", "where", job=True, together="library"),
    Factor("label", "where", usual="", job=True, compared=True, regresses=True, together="library"),
    Factor("setting", "where", usual="", job=True, compared=True, regresses=True),
    Factor("arm", "where", usual="", job=True),
    Factor("transport", "where", usual=AUTO, job=True, compared=True, together="place"),
    Factor("placement", "where", usual=SAME_HOST, job=True, compared=True, together="place"),
    Factor("buffers", "where", usual=BUFFERS[0], asked="buffers", compared=True),
    Factor("in_place", "how", usual=False, has="may_in_place", asked="in_place", key="in_place", code=Flag()),
    Factor("mode", "what", asked="modes", compared=True, key="mode"),
    Factor("ranks", "where", asked="ranks", job=True, compared=True),
    Factor(
        "sync",
        "how",
        usual=SYNCS[0],
        has="starts_together",
        asked="sync",
        compared=True,
        key="sync",
        code=Text(*SYNCS),
    ),
    Factor("root", "how", usual="0", has="rooted", asked="roots", key="root", code=Root()),
    Factor(
        "datatype",
        "how",
        usual="double",
        has="reduces",
        asked="datatypes",
        together="operation",
        key="datatype",
    ),
    Factor("op", "how", usual="sum", has="reduces", asked="ops", together="operation", key="op"),
    Factor("pair", "where", asked="pairs", along=True),
    Factor("pairing", "where", usual="", asked="pairs"),
    Factor("bytes", "what", asked="sizes", along=True, together="size", key="bytes", code=WholeNumber()),
    Factor(
        "window", "how", usual=64, has="windowed", asked="window", along=True, compared=True, together="size"
    ),
)
"""In the order in which a plan is expanded: the last ones change fastest."""

BY_NAME = {factor.name: factor for factor in FACTORS}

COMPARED_BY = tuple(factor.name for factor in FACTORS if factor.compared)
"""What a comparison within one result can be by; if nobody says, the first that has several values."""

REGRESSES = tuple(factor.name for factor in FACTORS if factor.regresses)
"""What a comparison within one result gives a verdict on though nobody says what it is by."""

ALONG = frozenset(factor.name for factor in FACTORS if factor.along)
"""What rows of one curve may differ in."""

CURVE = tuple(factor.name for factor in FACTORS if not factor.along)
"""What all rows of one curve have in common."""

TOLD = tuple(factor for factor in FACTORS if factor.key)
"""What the kernel is told of each visit in so many words."""


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


def names_of(group: Group) -> tuple[str, ...]:
    """The factors of a group."""
    return tuple(factor.name for factor in FACTORS if factor.group == group)


def usual(name: str) -> Value:
    """What holds for a factor unless somebody asks for something else."""
    value = BY_NAME[name].usual
    if value is None:
        raise KeyError(name)
    return value
