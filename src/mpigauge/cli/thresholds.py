"""What verbs that judge are held to: --margin and --allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.analysis.compare.decision import Thresholds


def threshold_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--margin and --allow."""
    for option in (
        click.option(
            "--allow",
            default="10%",
            show_default=True,
            metavar="SHARE",
            help="A pass excludes that anything is slower by more.",
        ),
        click.option(
            "--margin",
            default="3%",
            show_default=True,
            metavar="SHARE",
            help="Smaller differences do not matter; 0 for none.",
        ),
    ):
        function = option(function)
    return function


def thresholds_of(margin: str, allow: str) -> Thresholds:
    """The options as numbers.

    Raises:
        UsageError: One of them is no share, or what does not matter is not allowed.
    """
    from mpigauge.analysis.compare.decision import Thresholds
    from mpigauge.units import parse_fraction, parse_margin

    found = Thresholds(parse_margin(margin), parse_fraction(allow))
    if found.allow < found.margin:
        raise UsageError(
            f"--allow {allow} is less than --margin {margin}", "what does not matter must be allowed"
        )
    return found
