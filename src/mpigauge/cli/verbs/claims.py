"""Claims of reports held against results: the part of `mpigauge explain` that is about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from mpigauge.check.claim_cells import Material
    from mpigauge.check.claim_kinds import Claims
    from mpigauge.document.document import Document, Units
    from mpigauge.vocabulary import OnlyChoice, StateChoice


def judged(
    files: Sequence[Path],
    results: Sequence[Path],
    units: Units,
    state: StateChoice | None = None,
    only: OnlyChoice | None = None,
) -> Document:
    """The claims of files, or of all such files in folders, held against results.

    Args:
        files: Files of claims, or folders that have some.
        results: Result files, all of them together; none: what the printed tables alone say.
        state: Of the machine, as other verbs have it.
        only: Without visits that were disturbed.

    Raises:
        UsageError: A file cannot be read, or is not what it should be.
    """
    from mpigauge.check.claim_file import read_claims
    from mpigauge.check.claim_table import document, material_of
    from mpigauge.check.claims import judged as judge
    from mpigauge.cli.options.results import load
    from mpigauge.query.query import sources_of

    claims = [read_claims(path) for path in every(files)]
    here = [material_of(source) for source in sources_of(map(load, results), "median", state, only)]
    scores = []
    for one in claims:
        printed = _printed(one)
        scores.append((one.report, [judge(claim, printed, here) for claim in one.claims]))
    return document(scores, units)


def every(files: Iterable[Path]) -> list[Path]:
    """Files of claims, and those of each folder in the order of their names.

    Raises:
        UsageError: A folder has none.
    """
    return list(dict.fromkeys(path for one in files for path in _in(one)))


def _in(path: Path) -> list[Path]:
    from mpigauge.check.claim_kinds import ENDING
    from mpigauge.result.files import is_folder

    if not is_folder(path):
        return [path]
    found = sorted(path.glob(f"*{ENDING}"))
    if not found:
        raise UsageError(f"{path}: has no file of claims", f"their names end with {ENDING}")
    return found


def _printed(claims: Claims) -> list[Material]:
    """The tables of the report, imported."""
    from mpigauge.check.claim_table import material_of
    from mpigauge.importers import read
    from mpigauge.query.query import source_of
    from mpigauge.result.reader import result_of

    tables = claims.tables
    results = [result_of(table.with_suffix(""), read("csv", (table,), columns)) for table, columns in tables]
    return [material_of(source_of(result, "median")) for result in results]
