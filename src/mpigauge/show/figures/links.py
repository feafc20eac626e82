"""The link map; its figure is that of `mpigauge map --figure`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl

from mpigauge.analysis.linkmap import link_map
from mpigauge.show.heatmap import figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mpigauge.show.query import Query


def map(query: Query) -> Figure:  # noqa: A001 - the name of the kind
    """Latency and rate of all pairs."""
    if len(query.sources) > 1:
        raise query.lacks("a map is of one result", "give one RESULT")
    with mpl.rc_context({"axes.grid": False, "axes.spines.top": True, "axes.spines.right": True}):
        return figure(link_map(query.sources[0].result))
