"""Output of verbs that compare: a document, and the exit status of its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.ask import comparison_of
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED
from mpigauge.vocabulary import PASSES

if TYPE_CHECKING:
    from mpigauge.cli.options.outputs import Outputs
    from mpigauge.document.document import Units
    from mpigauge.show.compared import ComparedSources
    from mpigauge.vocabulary import ComparisonVerdict

STATUSES: dict[ComparisonVerdict, int] = {"slower": EXIT_CHECK_FAILED, **dict.fromkeys(PASSES, EXIT_DONE)}
"""Exit statuses by verdict; EXIT_UNDECIDED for all others."""


def status_of_verdict(verdict: ComparisonVerdict) -> int:
    """Return the exit status of a verdict."""
    return STATUSES.get(verdict, EXIT_UNDECIDED)


def put_comparison(
    compared: ComparedSources,
    units: Units,
    outputs: Outputs,
    *,
    strict: bool = False,
    everything: bool = False,
) -> int:
    """Print a comparison; return the exit status of its verdict, or 0 if no verdict was asked for."""
    shown, verdict = comparison_of(compared, units, strict=strict, everything=everything)
    outputs.put(shown)
    return EXIT_DONE if compared.shown.unasked else status_of_verdict(verdict)
