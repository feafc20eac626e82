"""Columns of a curve. USUAL_COLUMNS and EXTRA_COLUMNS are the one list of them.

To add one: a line in EXTRA_COLUMNS. `mpigauge list columns` and docs/numbers.md have it from there.
"""

from __future__ import annotations

from dataclasses import replace

from mpigauge import units
from mpigauge.document.document import Column
from mpigauge.document.phrases import WORDS
from mpigauge.show.entries import (
    half_width_of,
    interval_of,
    notes_of,
    percentile_column,
    ranks_interval_of,
    ratio_column,
    share_column,
    size_of,
    start_column,
    time_column,
    tone_of,
)

USUAL_COLUMNS = (
    Column("size", "size", size_of, "B", goes=None, tells=True, about="`bytes`, as under Sizes"),
    time_column(
        "time",
        "time",
        "the estimate: the median of the launch medians; `latency` where it is that of a message one way",
        lambda t: t.estimate,
        goes=None,
    ),
    Column(
        "half_width",
        "\N{PLUS-MINUS SIGN}95 %",
        lambda row: row.time.half_width if row.time else None,
        "1",
        half_width_of,
        goes=None,
        about="relative half-width of the interval, half the length of that of logarithms: "
        "\N{SQUARE ROOT}(high / low) \N{MINUS SIGN} 1; both ends where one side is more than three times as "
        "long as the other; from 1000 % on as a factor, `×/\N{DIVISION SIGN} 91` is estimate / 91 to "
        "estimate \N{MIDDLE DOT} 91",
    ),
    Column(
        "launches_half_width",
        "launches \N{PLUS-MINUS SIGN}",
        lambda row: row.time.launches_half_width if row.time else None,
        "1",
        lambda row, _: units.format_half_width(row.time.launches_half_width if row.time else None),
        goes=0,
        about="what of the half-width launches alone give, and more of them make narrower",
    ),
    Column(
        "interval",
        "95 % interval",
        lambda row: row.time and row.time.low,
        "s",
        interval_of,
        goes=8,
        about="order statistics of the launch medians, interpolated to 95 %, from 6 launches on: "
        "[method](method-launches.md#launches)",
    ),
    Column(
        "rate",
        "bandwidth",
        lambda row: row.rate_bytes_per_s,
        "B/s",
        goes=9,
        about="as under Rates",
    ),
    Column(
        "launches",
        "launches",
        lambda row: (row.time and row.time.launches) or None,
        "1",
        goes=3,
        about="launches with samples of this cell: G",
    ),
    Column(
        "samples",
        "samples",
        lambda row: (row.time and row.time.samples) or None,
        "1",
        goes=1,
        about="samples in all of them",
    ),
)
LATENCY = replace(USUAL_COLUMNS[1], heading="latency")
"""Time of a message one way."""

PAIR = Column(
    "pair", "pair", lambda row: WORDS["pair"](row.cell), about="`pair`, where all pairs were measured"
)
"""First column where all pairs were measured."""

WINDOW = Column(
    "window",
    "window",
    lambda row: row.cell.window,
    "1",
    tells=True,
    about="`window`, where a size was measured with several",
)
"""First column of streams that were measured with several windows."""

NOTES = Column(
    "notes",
    "notes",
    notes_of,
    left=True,
    wraps=True,
    goes=None,
    tone=tone_of,
    about="state if it is not `ok`, limit, reason, and up to two warnings",
)

RANKS = Column(
    "ranks_interval",
    "nonparam. 95 %",
    lambda row: row.time and row.time.rank_low,
    "s",
    ranks_interval_of,
    about="exact interval of the median of launch medians, by order statistics; none under 6 launches",
)
"""Interval of another kind, for another median: shown by default, it would give each number two intervals."""

EXTRA_COLUMNS = {
    column.name: column
    for column in (
        RANKS,
        time_column("mean", "mean", "arithmetic mean of all samples", lambda t: t.mean),
        time_column(
            "stddev", "std. deviation", "of all samples, divisor n \N{MINUS SIGN} 1", lambda t: t.stddev
        ),
        time_column("min", "minimum", "smallest sample", lambda t: t.min),
        percentile_column(5, least=400),
        percentile_column(25),
        percentile_column(75),
        percentile_column(95, least=400),
        percentile_column(99, least=2000),
        time_column("max", "maximum", "largest sample", lambda t: t.max),
        Column(
            "first",
            "first message",
            lambda row: row.first_s,
            "s",
            about="first round of the cell in a launch, as one operation; median over launches. The "
            "launch is warm by then, the cell is not",
        ),
        Column(
            "cpu",
            "CPU time",
            lambda row: row.cpu_s_per_op,
            "s",
            about="user and system time of all ranks taking part / operations",
        ),
        share_column(
            "cpu_share",
            "CPU share",
            "the same time / (ranks × wall time of the samples), of the median visit: the share of it in "
            "which the ranks were on a core, waiting included. A rank that is done before the others counts "
            "as off its core",
            lambda row: row.cpu_share,
        ),
        share_column(
            "net_share",
            "on the network",
            "bytes that the IP interfaces of rank 0's host received, or sent if that is more / those "
            "that all ranks together must get from others, at least 20 B per operation: 0 over shared "
            "memory; 100 % and more, with headers and acknowledgements, over the network stack of one host; "
            "between hosts the part of rank 0's host: 50 % and more of a ping-pong",
            lambda row: row.net_share,
        ),
        share_column(
            "rdma_share",
            "on RDMA cards",
            "bytes that all other network cards received, or sent if that is more, on all hosts of its ranks "
            "/ the same: 100 % and more where messages go past IP. IP may go through these cards, too",
            lambda row: row.travel.rdma_share if row.travel else None,
        ),
        share_column(
            "disturbed",
            "disturbed",
            "share of its visits during which something else used the ranks' cores: a rank was ready to run "
            "and had none for over 1 % of the time",
            lambda row: row.disturbed_share,
        ),
        Column(
            "bus",
            "bus bandwidth",
            lambda row: row.bus_bytes_per_s,
            "B/s",
            about="what a link carries, as under Rates",
        ),
        start_column(
            "root",
            "at the root",
            "end \N{MINUS SIGN} start at the root, or rank 0: launch medians, and their median",
            lambda start: start.root_s,
            goes=5,
        ),
        start_column(
            "local",
            "median of ranks",
            "the same of the median over ranks of end \N{MINUS SIGN} start",
            lambda start: start.local_s,
            goes=4,
        ),
        start_column(
            "skew",
            "start skew",
            "median of last start \N{MINUS SIGN} first start over all rounds that began in time; it is part "
            "of the time",
            lambda start: start.skew_p50_s,
        ),
        start_column("skew_p99", "skew p99", "its 99th percentile", lambda start: start.skew_p99_s),
        share_column(
            "late",
            "late",
            "share of the rounds that did not begin in time on all ranks",
            lambda row: row.start.late_share if row.start else None,
        ),
        share_column(
            "overlap",
            "overlap",
            "1 \N{MINUS SIGN} (time with computation \N{MINUS SIGN} computation) / time without; 100 % if "
            "all is hidden, below 0 if computing delays the operation",
            lambda row: row.overlap.estimate if row.overlap else None,
            goes=7,
        ),
        Column(
            "pure",
            "without work",
            lambda row: row.overlap.pure_s if row.overlap else None,
            "s",
            goes=6,
            about="time of the operation alone, in the same visits",
        ),
        ratio_column(
            "kappa", "copies (kappa)", "time / time of `crosscopy`, of ping-pongs, with its interval"
        ),
        ratio_column("memcpy_ratio", "to memcpy", "the same with `memcpy`"),
        ratio_column("copy_ratio", "to copy -O3", "the same with `copy O3`"),
        ratio_column("copy_o0_ratio", "to copy -O0", "the same with `copy O0`"),
        Column(
            "advised_samples",
            "advised samples/launch",
            lambda row: row.advised_samples,
            "1",
            about="samples in one launch that would give the narrowest interval in the same total time: "
            "\N{SQUARE ROOT}(cost of a launch / cost of a sample × variance of samples / variance of "
            "launches), after Kalibera and Jones; none if launches do not differ",
        ),
        Column(
            "message_rate",
            "messages/s",
            lambda row: row.messages_per_s,
            "1",
            lambda row, _: units.MISSING if row.messages_per_s is None else f"{row.messages_per_s:.3g}",
            field="messages_per_s",
            about="messages of all pairs and in all directions / estimate",
        ),
    )
}
"""Columns shown on request, by name."""
