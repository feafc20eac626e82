"""Values that an option with a few does not have, as other programs call them, and what to do instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from mpigauge.errors import nearest
from mpigauge.plan.hosts import INSIDE_A_HOST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NO_CHOICE = re.compile(r"'(.*?)' is not ", re.DOTALL)
"""How click begins about a value that is none of an option's."""

_NETWORK = (
    "auto is the fastest network that the library has a driver for, and the result says which; others by its "
    "own variables, such as --env UCX_TLS=rc; mpigauge doctor lists the networks of this machine"
)
_BOUND = "mpigauge binds to cores; the launcher to others: --bind none --mpi-option --bind-to --mpi-option {}"

_KINDS: Mapping[str, Sequence[str]] = {
    "overview": ("all", "summary", "dashboard"),
    "time": ("lat", "times", "duration", "curve", "curves", "line", "lines"),
    "rate": ("bw", "throughput", "speed", "rates", "bandwidths"),
    "ratio": ("ratios", "speedup", "relative"),
    "compare": ("comparison", "verdict", "forest"),
    "mean": ("average", "avg", "stddev", "errorbars"),
    "placements": ("transport", "transports", "hosts", "nodes"),
    "ranks": ("scaling", "scalability", "procs", "processes", "np"),
    "memory": ("memcpy", "copy", "cache", "caches"),
    "distribution": (
        *("violin", "violins", "box", "boxplot", "hist", "histogram", "density", "cdf", "percentiles"),
        *("jitter", "variability"),
    ),
    "samples": ("raw", "trace", "timeseries", "time-series", "scatter"),
    "history": ("trend", "regression", "regressions"),
    "cpu": ("load", "utilization", "utilisation"),
    "skew": ("imbalance",),
    "map": ("heatmap", "heat-map", "matrix", "pairs"),
}
"""Words for kinds of figures that are names of none, by the kind that was most likely meant."""

VALUES: Mapping[str, Mapping[str, str]] = {
    "--transport": {
        **dict.fromkeys(("ib", "infiniband", "verbs", "rdma", "roce", "openib", "rc", "ud", "dc"), _NETWORK),
        **dict.fromkeys(("ucx", "ofi", "libfabric", "efa", "psm2", "psm3", "opx", "opa", "cxi"), _NETWORK),
        **dict.fromkeys(("sm", "vader", "posix", "memory", "cma", "knem", "xpmem"), "did you mean shm?"),
        **dict.fromkeys(("ip", "eth", "ethernet", "sockets"), "did you mean tcp?"),
    },
    "--kind": {word: f"did you mean {kind}?" for kind, words in _KINDS.items() for word in words},
    "--bind": {name: _BOUND.format(name) for name in sorted(INSIDE_A_HOST)},
}
"""By option and by value in lower case; what is near a value of ours needs no row."""


def hint_of(error: click.BadParameter) -> str:
    """What to type instead of a value that is none of the option's few; empty if nothing comes near."""
    option, given = error.param, _NO_CHOICE.match(error.message)
    if option is None or given is None or not isinstance(option.type, click.Choice):
        return ""
    word, choices = given[1].lower(), [str(one) for one in option.type.choices]
    if "," in word and {*word.split(",")} <= {*choices} and getattr(option, "multiple", False):
        return f"one each: {' '.join(f'{option.opts[0]} {one}' for one in word.split(','))}"
    return VALUES.get(option.opts[0], {}).get(word) or _near(word, choices)


def _near(word: str, choices: Sequence[str]) -> str:
    near = nearest(word, choices)
    return f"did you mean {near}?" if near else ""
