"""Parts of sentences that several topics share: what is spoken of, intervals, sizes, runs of sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge import units
from mpigauge.compare.size_ratio import launches_needed
from mpigauge.document.document import AUTOMATIC
from mpigauge.document.phrases import SAID_WITH, WORDS, phrases_of, state_suffix, told
from mpigauge.document.ratio_words import VERDICTS, times_words, verdict_words
from mpigauge.document.size_words import at_size, every_size, span
from mpigauge.sequences import runs as in_runs
from mpigauge.stats.decision import MARGIN
from mpigauge.stats.interval import is_known
from mpigauge.stats.limits import LAUNCHES_OF_A_VERDICT
from mpigauge.units import counted
from mpigauge.vocabulary import DIFFERENT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from mpigauge.compare.size_ratio import SizeRatio, SizeRun
    from mpigauge.document.document import Units
    from mpigauge.plan.model import Cell
    from mpigauge.rows.group import Subject
    from mpigauge.stats.decision import Ratio
    from mpigauge.stats.interval import Number

MINUS = "\N{MINUS SIGN}"

ON_AVERAGE = "on average "
"""Before one number of several sizes."""

EMULATED = "over the emulated network of a lab"
"""Said where delays and rates were put in."""

CROWDED = "more ranks than cores"
"""Said where ranks share cores, so that the scheduler of the system is in the numbers."""

NEARLY_NONE = 0.0005
"""Below it a relative difference is nobody's concern."""

ALWAYS = ("pattern",)
"""Said of every cell, whether others differ in it or not."""


def subject(of: Subject, varied: Collection[str], without: Collection[str] = ()) -> str:
    """Return what a sentence is about: what tells a cell from the others of its result.

    Args:
        varied: Factors in which cells of the result differ.
        without: Factors that the sentence speaks of itself.
    """
    said = (_phrased({*ALWAYS, *varied}) - _phrased(without)) & WORDS.keys()
    phrases = told(phrases_of(of.cell, said | {*ALWAYS}), said)
    phrases = {name: phrase for name, phrase in phrases.items() if name in said}
    what = " ".join(phrases.pop(name) for name in ("pattern", "mode") if name in phrases)
    return f"{', '.join([what, *phrases.values()] if what else phrases.values())}{state_suffix(of)}"


class NamesOfTwo(NamedTuple):
    """Names of two that are held against each other, and by what: their times or their rates.

    Attributes:
        other: What is held against the base.
        base: What it is held against.
        many: Whether the other is several, such as `2 senders`.
        base_many: Whether the base is.
        by_rate: Whether that of all together is told, which is the inverse of the time of one message.
    """

    other: str
    base: str
    many: bool = False
    base_many: bool = False
    by_rate: bool = False

    @property
    def takes(self) -> str:
        """The verb."""
        verb, verbs = ("carry", "carries") if self.by_rate else ("take", "takes")
        return verb if self.many else verbs

    @property
    def as_base(self) -> str:
        """The rest after a number of times."""
        does = "do" if self.base_many else "does"
        return f"what {self.base} {does}" if self.by_rate else f"as long as {self.base}"

    @property
    def more(self) -> str:
        """The word for a ratio above 1."""
        return "more" if self.by_rate else "longer"

    @property
    def less(self) -> str:
        """The word for one below 1."""
        return "less" if self.by_rate else "less time"

    def ratio(self, ratio: Ratio) -> Ratio:
        """Return a ratio of times as it is told."""
        return ratio.turned if self.by_rate else ratio


def _phrased(names: Collection[str]) -> set[str]:
    """Return the phrases that factors are said in: a library by its kind, version and label."""
    return {SAID_WITH.get(name, name) for name in names}


def headed(about: str, text: str) -> str:
    """Return a sentence after what it is about, if that need be said."""
    return f"{about}: {text}" if about else text


def time(
    seconds: float, low_s: float | None = None, high_s: float | None = None, chosen: Units = AUTOMATIC
) -> str:
    """Return a time with its interval in brackets; the number alone without one."""

    def write(time_s: float) -> str:
        return units.format_time(time_s, chosen.time)

    return units.with_interval(write(seconds), low_s, high_s, write)


def extra(seconds: float, chosen: Units = AUTOMATIC) -> str:
    """Return a difference of times, with its sign."""
    return f"{MINUS if seconds < 0 else '+'}{units.format_time(abs(seconds), chosen.time)}"


def share(fraction: Number) -> str:
    """Return a positive share with its interval in brackets; the number alone without one."""
    said, *ends = (units.format_percent(one) for one in (fraction.estimate, fraction.low, fraction.high))
    # The interval of what is always the whole is a number twice.
    if fraction.low is None or set(ends) == {said}:
        return said
    return f"{said} ({ends[0].removesuffix(' %')} {units.DASH} {ends[1]})"


def signed_percent(fraction: float) -> str:
    """Return a relative difference, with its sign; nearly none is `0.0 %`."""
    if abs(fraction) < NEARLY_NONE:
        return "0.0 %"
    return f"{MINUS if fraction < 0 else '+'}{units.format_percent(abs(fraction))}"


def rate(
    bytes_per_s: float,
    ends: tuple[float | None, float | None] = (None, None),
    chosen: Units = AUTOMATIC,
) -> str:
    """Return a bandwidth with its interval in brackets, in the unit of tables."""
    unit = units.rate_unit([bytes_per_s]) if chosen.rate == units.AUTO else chosen.rate

    def write(rate: float) -> str:
        return units.format_rate_in(rate, unit)

    return units.with_interval(f"{write(bytes_per_s)} {unit}", *ends, write)


def known_rate(bytes_per_s: float, ends: tuple[float | None, float | None], chosen: Units = AUTOMATIC) -> str:
    """Return a bandwidth with its interval; words where that leaves it not known."""
    return rate(bytes_per_s, ends, chosen) if is_known(*ends) else "not known"


def wire_rate(bytes_per_s: float) -> str:
    """Return the rate of a link, in bits, as links are called."""
    unit = "Gbit/s" if bytes_per_s >= units.RATE_UNITS["Gbit/s"] else "Mbit/s"
    return f"{units.format_rate_in(bytes_per_s, unit)} {unit}"


# ---- Runs of sizes -------------------------------------------------------------------------------

WITHIN = f"{100 * MARGIN:g} %"
VERDICT_NEEDS = f"a verdict needs {LAUNCHES_OF_A_VERDICT} launches"


Rates = Mapping[int, tuple[float, float]]
"""Rates of the other and of the base by size, in bytes per second."""


def runs_words(
    runs: Sequence[SizeRun], cell: Cell, chosen: Units = AUTOMATIC, rates: Rates | None = None
) -> str:
    """Return all runs of a pair of curves; neighbouring runs that do not differ are told together.

    Args:
        cell: One of either, for what has no size.
        rates: What is told instead of times, if given.
    """
    total = sum(len(run.at) for run in runs)
    together = in_runs(runs, lambda one, two: DIFFERENT.isdisjoint({one.verdict, two.verdict}))

    def at(one: SizeRatio) -> str:
        return _at(one, cell, chosen, rates or {})

    def said(mine: Sequence[SizeRun]) -> str:
        if mine[0].verdict in DIFFERENT:
            return _differing(mine[0], total, cell, at)
        if all(one.ratio.awaits_launches for run in mine for one in run.at):
            return f"{' and '.join(map(at, _ends(mine[0])))}; {VERDICT_NEEDS}"
        return _alike(mine, total, cell)

    return "; ".join(map(said, together))


def _ends(run: SizeRun) -> Iterable[SizeRatio]:
    """Return the sizes of the largest ratio and of the largest difference, which may be one."""
    return dict.fromkeys((run.worst, max(run.at, key=lambda one: abs(one.extra_s))))


def _differing(run: SizeRun, total: int, cell: Cell, at: Callable[[SizeRatio], str]) -> str:
    where = _where([one.bytes for one in run.at], total, cell)
    return f"{VERDICTS[run.verdict]}{where}: {' and '.join(map(at, _ends(run)))}"


def _alike(runs: Sequence[SizeRun], total: int, cell: Cell) -> str:
    """Return neighbouring sizes that do not differ, or of which nobody can tell."""
    open_, same = [
        [one for run in runs if (run.verdict == "undecided") == is_open for one in run.at]
        for is_open in (True, False)
    ]
    sizes = [one.bytes for run in runs for one in run.at]
    words = [(_undecided(open_), open_), (verdict_words("same"), same)]
    (fewer, few), (more, many) = sorted(words, key=lambda one: len(one[1]))
    if not few:
        return f"{more}{_where(sizes, total, cell)}"
    among = "" if len(sizes) == total else f" ({span(sizes)})"
    rest = at_size(cell, few[0].bytes) if len(few) == 1 else " at the others"
    return f"{more} at {len(many)} of {len(sizes)} sizes{among}, {fewer}{rest}"


def _where(sizes: Sequence[int], total: int, cell: Cell) -> str:
    if len(sizes) == 1:
        return at_size(cell, sizes[0])
    if len(sizes) == total:
        return f" at {every_size(total)}"
    return f" at {span(sizes)} ({counted(len(sizes), 'size')})"


def _at(one: SizeRatio, cell: Cell, chosen: Units, rates: Rates) -> str:
    if one.bytes in rates:
        both = " against ".join(rate(each, chosen=chosen) for each in rates[one.bytes])
        return f"{times_words(one.ratio.turned)} the rate{at_size(cell, one.bytes)}, {both}"
    other, base = (units.format_time(each, chosen.time) for each in (one.other_s, one.base_s))
    longer = f"{times_words(one.ratio)} as long{at_size(cell, one.bytes)}"
    return f"{longer}, {other} against {base}, {extra(one.extra_s, chosen)}"


def _undecided(points: Sequence[SizeRatio]) -> str:
    """Return the word, and after how many launches it would be another, if that is known of all."""
    needed = launches_needed(points)
    return VERDICTS["undecided"] + ("" if needed is None else f" ({would_tell(needed)})")


def would_tell(launches: int) -> str:
    """Return after how many launches of one campaign nobody would have to say `undecided`."""
    return f"about {launches} launches would tell"


# ---- One finding in one line ---------------------------------------------------------------------

MAX_WORDS = 25
"""Words of a line on the screen, with the launches that it rests on; a number and its unit are one."""

LAUNCHES_WORDS = 2
"""Words of the launches that a line ends in."""

_ONE_WORD = re.compile(r"(?<=\d) (?=(?:[nm\N{MICRO SIGN}]?s|[kKMGT]?i?B(?:/s)?|[MG]bit/s)\b|%)")


def words_of(text: str) -> int:
    """Return how many words a line has; a number with unit and kind is one, a dash between two none."""
    return len(_ONE_WORD.sub("", text).replace(ON_AVERAGE, "").replace(f" {units.DASH} ", " ").split())


def in_one_line(candidates: Iterable[str], *, most_words: int = MAX_WORDS - LAUNCHES_WORDS) -> str:
    """Return the first text that has room in a line, else the shortest."""
    found = list(candidates)
    fitting = (text for text in found if words_of(text) <= most_words)
    return next(fitting, min(found, key=words_of))


def known_times(ratio: Ratio, *, interval: bool = True) -> str:
    """Return `2.31 times`, with its interval if there is room; words where it is not known."""
    if not is_known(ratio.low, ratio.high):
        return "an unknown number of times"
    alone = times_words(replace(ratio, low=None, high=None))
    return _unless_alike(times_words(ratio), alone, alone.removesuffix(" times")) if interval else alone


def in_times(begin: str, ratio: Ratio, *ends: str) -> str:
    """Return `MPI_Isend takes 1.11 times (1.09 - 1.14) as long ...`, with as much as there is room for.

    Args:
        ends: What follows the number, the longest first; of each, the number has its interval if possible.
    """
    times = [known_times(ratio, interval=each) for each in (True, False)]
    return in_one_line(f"{begin} {each} {end}" for end in ends for each in times)


def known_time(seconds: float, low_s: float | None, high_s: float | None, chosen: Units = AUTOMATIC) -> str:
    """Return a time with its interval; words where that leaves it not known."""
    if not is_known(low_s, high_s):
        return "a time not known"
    alone = time(seconds, chosen=chosen)
    return _unless_alike(time(seconds, low_s, high_s, chosen), alone, alone)


def known_share(fraction: Number, *, interval: bool = True) -> str:
    """Return a positive share, with its interval if there is room; words where that leaves it not known."""
    if not is_known(fraction.low, fraction.high):
        return "a share not known"
    return share(fraction) if interval else units.format_percent(fraction.estimate)


def _unless_alike(text: str, alone: str, number: str) -> str:
    """Return a text with an interval; the number alone where both ends are written like it."""
    return alone if text == f"{alone} ({number} {units.DASH} {number})" else text
