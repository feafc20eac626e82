"""Fixed texts of a report: headings, texts of points, and how to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLES: Mapping[str, str] = {
    "answer": "Answer",
    "latency": "Latency",
    "bandwidth": "Bandwidth",
    "modes": "Modes",
    "collectives": "Collectives",
    "memory": "Memory",
    "map": "Link map",
    "conclusions": "What follows",
    "comparison": "Comparison",
    "doubts": "Doubts",
    "planned": "Not measured, as planned",
    "failures": "Failures",
    "models": "Models",
    "states": "States over time",
    "reading": "How to read this",
    "provenance": "How this was made, and how to repeat it",
}
"""Titles of the sections, in the order of SECTIONS."""

STATE_OF_CURVES, EACH_STATE, AS_SHOWN = "State", "each", "as in the tables"

INTERVALS = "bands and bars: 95 % intervals across launches"
TIMES_AS_LONG = "times as long"
RESIDUALS = "measured over model, minus 1: what the lines leave; a curve near 0 without a trend is described"
OVER_TIME = "a point per visit: how far apart the ranks were"
STATE, APART, VISITS, TIME_SHARE, EPISODES = "state", "hand-over", "visits", "of the time", "episodes"
RATIOS = "how many times as long each number takes, with the interval that holds for all of them at once"
MATRIX = "a square per pair; the brighter, the slower"
SINCE_START = "time since the first launch (s)"
BETWEEN_STATES = "changed within the visit"
VISITS_DRAWN = "{drawn} of {of} visits, evenly chosen"
LEFT_BY_MODEL = "measured / model \N{MINUS SIGN} 1"
PAIR = "pair"

UNSIZED = "operations without a size"
FAILED = "failures"
MISSING = "cells without a number"
CONTENTS = "Contents"
FOLDED = "Further tables: {count}"
TABLE = "All that is known of these numbers"
WIDTH = "\N{PLUS-MINUS SIGN}95 %"
DOUBTFUL, DOUBTFUL_NOTE = " *", "* with a doubt: see Doubts"
LINES_OF_TABLE = "{count} rows"
NOTES_OF_CHART = "in the chart"
PROVENANCE_FOLDED = "file, machine, libraries, commands and variables"
MEASURE_AGAIN, THIS_PAGE, MADE_BY = "measure again, by the plan below", "this page", "made by"
PLAN = "mpigauge run PLAN"
AS_PLANNED = "{why}, as planned"
ALL_SIZES = "all sizes"
MORE = "{count} more"
NOTHING_COMPARED = "Not compared"
COPY = "Copy as text"
SELECTED = "{cells} numbers in {charts} charts and {tables} tables are marked"

SIZE, RATE, INTERVAL, NO_INTERVAL = "message size", "bandwidth", "95 % interval", "no interval"
LAUNCHES, SAMPLES, DOUBTS = "launches", "samples", "doubts"
VISIT_AT = "{}: {}, {:.0f} s after the start"
BELOW = "below: the ratios of the curves"
WIDTHS_BELOW = "below: how wide the intervals are"
NO_CURVES = "nothing of this chart has it"
FIRST, CLEAR = "go to the first", "clear"
COPIED, NOT_COPIED = "copied", "not copied: select the table and copy it"

READING: Sequence[tuple[str, str]] = (
    (
        "Number",
        (
            "The time of one operation: in each launch the median of its samples, over launches "
            "their median. Bandwidth is the bytes of the operation over that time."
        ),
    ),
    (
        "Interval",
        (
            "The 95 % interval across launches. It says how well the number is known, not how far single "
            "operations lie apart; percentiles say that. A number without an interval says so."
        ),
    ),
    (
        "Launch",
        (
            "One start of the MPI job. Samples of one launch share its luck, so launches are what is "
            "counted, and they are made in random order."
        ),
    ),
    (
        "Verdict",
        (
            "Slower and faster mean that the whole interval of a ratio lies beyond the margin. Undecided "
            "means that the interval leaves it open, not that both are alike."
        ),
    ),
    (
        "State",
        (
            "The distance between the cores of the ranks, as the machine had it. Numbers are of one state "
            "where it had several."
        ),
    ),
    (
        "Doubt",
        ("What keeps a number from meaning what it seems to: what was found, and what it means."),
    ),
    (
        "Eager limit",
        (
            "The largest message that is sent before the receiver asks for it. Curves are broken there, "
            "since the protocol is another one above."
        ),
    ),
    (
        "Charts",
        (
            "Point at a mark, or focus a chart and press the arrow keys, for its number, interval, "
            "launches and doubts. Press a curve in the legend to hide it. Where the machine had several "
            "states, choose at the top which one is drawn; the address of the page keeps it."
        ),
    ),
    (
        "Sentences",
        ("Press one to mark the numbers that it rests on, in charts and tables. Press again to end that."),
    ),
)

WITHOUT_SCRIPTS = "Scripts are off: point at a mark for its number. All numbers are in the tables, too."
