"""Values of options in the words of other programs, and what to type instead."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

import click

from mpigauge.errors import nearest
from mpigauge.plan.hosts import INSIDE_A_HOST
from mpigauge.result.files import quoted
from mpigauge.show.formats import BINARY, FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NO_CHOICE = re.compile(r"'(.*?)' is not ", re.DOTALL)
"""Beginning of click's error for a value that is not among the choices of an option."""

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
    "map": ("heatmap", "heat-map", "matrix"),
}
"""Other words for kinds of figures, by the kind that was most likely meant."""

_FORMATS: Mapping[str, Sequence[str]] = {
    "text": ("txt", "ascii", "plain", "table", "terminal", "human", "default"),
    "markdown": ("md", "gfm"),
    "latex": ("tex", "booktabs"),
    "csv": ("tsv", "excel", "xlsx", "xls", "spreadsheet"),
    "json": ("jsonl", "ndjson", "yaml", "yml", "toml"),
    "junit": ("xml", "tap", "xunit"),
    "prometheus": ("prom", "openmetrics", "node_exporter", "metrics"),
    "parquet": ("arrow", "feather"),
}
"""Other words for formats, by the format that does the same."""

_WRITTEN_OTHERWISE: Mapping[str, str] = {
    **dict.fromkeys(("html", "htm", "page"), "a page is written by mpigauge report RESULT -o page.html"),
    **dict.fromkeys(("png", "svg", "eps"), "a figure is drawn by mpigauge plot RESULT -o figure.svg"),
    "pdf": "a page is printed by mpigauge report RESULT -o page.pdf, a figure by mpigauge plot RESULT",
}
FORMAT = "--format"

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
"""Hints by option and by value in lower case; values close to one of ours need no row."""


def hint_of(error: click.BadParameter) -> str:
    """Return what to type instead of a value that an option does not have; empty if none is close."""
    option, refused = error.param, _NO_CHOICE.match(error.message)
    if option is None or refused is None or not isinstance(option.type, click.Choice):
        return ""
    word, choices = refused[1].lower(), [str(choice) for choice in option.type.choices]
    if "," in word and {*word.split(",")} <= {*choices}:
        parts = [f"{option.opts[0]} {choice}" for choice in word.split(",")]
        several = getattr(option, "multiple", False)
        return f"one each: {' '.join(parts)}" if several else f"one of them: {parts[0]}"
    hint = _format_hint(word, choices) if option.opts[0] == FORMAT else ""
    return hint or VALUES.get(option.opts[0], {}).get(word) or _near(word, choices)


def _format_hint(word: str, choices: Sequence[str]) -> str:
    """Return which format of a verb is meant, or what writes that one; empty if neither is known."""
    form = next((form for form, words in _FORMATS.items() if word in words), word)
    if form in choices:
        return f"did you mean {form}?"
    if form in FORMATS:
        return f"that is a format of times: mpigauge show RESULT --format {form}"
    if form in BINARY:
        return f"that is a format of files: mpigauge show RESULT -o table.{form}"
    return _WRITTEN_OTHERWISE.get(form, "")


def _near(word: str, choices: Sequence[str]) -> str:
    near = nearest(word, choices)
    return f"did you mean {near}?" if near else ""


LISTS = ("--hosts", "--sizes")
"""Options whose values are lists though their metavar does not say so."""

NUMBER_LISTS = ("--np", "--sizes", "--root")
"""Options whose lists hold numbers, so that no word belongs to them."""


def list_hint(
    word: str, typed: Sequence[str], options: Sequence[click.Parameter], names: Sequence[str]
) -> str:
    """Return how to write a list whose values were typed as separate words; empty if that is not the error.

    Args:
        word: Word that does not name a pattern.
        typed: Words of the command line.
        names: Names of patterns.
    """
    spelt, separate = _values_before(word, typed, names)
    option = next(
        (
            parameter
            for parameter in options
            if spelt in (*parameter.opts, *getattr(parameter, "aliases", ()))
        ),
        None,
    )
    if option is None or getattr(option, "is_flag", False) or word not in separate[1:]:
        return ""
    name, metavar = option.opts[0], str(getattr(option, "metavar", ""))
    if nearest(word, names) or (name in NUMBER_LISTS and not word[:1].isdigit()):
        return ""
    if name == "--env":
        return f"write --env {separate[0]}={quoted(word)}"
    if getattr(option, "multiple", False):
        return f"one each: {' '.join(f'{spelt} {quoted(value)}' for value in separate)}"
    is_list = name in LISTS or "[," in metavar
    return f"write a list with commas: {spelt} {quoted(','.join(separate))}" if is_list else ""


def _values_before(word: str, typed: Sequence[str], names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the option that the last such word may belong to, and all words after it."""
    last = max((place for place, argument in enumerate(typed) if argument == word), default=-1)
    before = [place for place in range(last) if typed[place].startswith("-")]
    if not before:
        return "", []
    values = takewhile(
        lambda argument: not argument.startswith("-") and argument not in names, typed[before[-1] + 1 :]
    )
    return typed[before[-1]], [*values]
