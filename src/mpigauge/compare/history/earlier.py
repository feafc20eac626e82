"""Earlier results of an equal plan, found by themselves: in results/, and among those that were kept.

A plan is equal if it measures the same on the same machine with the same kinds of library. Versions and
labels of these may differ, as after an upgrade: they are what is asked about.

A result is kept only if that was asked for (--keep-baseline), in a folder of its plan and machine in the
user's data folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from mpigauge.atomic_file import open_output
from mpigauge.cache import make_safe, user_data
from mpigauge.compare.alike import differing_facts, machine_asked
from mpigauge.errors import EnvironmentLacksError, UsageError
from mpigauge.inputs import open_regular
from mpigauge.plan.lab import Lab
from mpigauge.plan.sizes import parse_sizes
from mpigauge.result.decompressed import is_packed
from mpigauge.result.files import FOLDER, modified_time, results_in, stem_of, usual_name
from mpigauge.result.reader import NAME_A_RESULT, load_campaign
from mpigauge.rows.machine.over_sessions import LAUNCH_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mpigauge.plan.model import Measure, Plan
    from mpigauge.result.records import Campaign
    from mpigauge.rows.rows import Row

MAX_EARLIER = 10
"""Sessions that a result is compared with, and that are kept of one plan: the newest."""

MAX_LOOKED_AT = 500
"""Files of a folder whose plans are looked at: those written last."""

STORE = "baselines"
"""Folder of kept results in the user's data folder."""


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """A result file of an equal plan, begun before another one.

    Attributes:
        begun: When it began, UTC.
    """

    path: Path
    campaign: Campaign
    begun: datetime


def earlier_results(campaign: Campaign, folders: Iterable[Path] | None = None) -> list[EarlierResult]:
    """Return the earlier results of an equal plan and the same machine, the newest first, each once.

    Args:
        folders: Where to look; None for results/ and the kept ones. The first one counts where two have the
            same result.

    Returns:
        `MAX_EARLIER` at most; none for an imported result, whose time and machine are not known.
    """
    begun = _begun(campaign)
    if begun is None:
        return []
    found: list[EarlierResult] = []
    for path in _files(_usual_folders(campaign) if folders is None else folders):
        with contextlib.suppress(UsageError):
            other = EarlierResult(path, known := load_campaign(path), _begun(known) or begun)
            if other.begun < begun and is_equal_plan(known, campaign) and not _is_copy(known, found):
                found.append(other)
    return sorted(found, key=lambda one: one.begun, reverse=True)[:MAX_EARLIER]


def _begun(campaign: Campaign) -> datetime | None:
    return datetime.fromisoformat(campaign.started) if campaign.started else None


def _usual_folders(campaign: Campaign) -> list[Path]:
    """Return results/ and the folder of kept results; without a home there are none of these."""
    with contextlib.suppress(EnvironmentLacksError, UsageError):
        return [FOLDER, kept_folder(campaign)]
    return [FOLDER]


def _files(folders: Iterable[Path]) -> list[Path]:
    return [
        path
        for folder in folders
        for path in sorted(results_in(folder), key=modified_time, reverse=True)[:MAX_LOOKED_AT]
    ]


def _is_copy(campaign: Campaign, known: Iterable[EarlierResult]) -> bool:
    return any(one.campaign == campaign for one in known)


# ---- What an equal plan is -----------------------------------------------------------------------


def is_equal_plan(one: Campaign, other: Campaign) -> bool:
    """Return whether two campaigns measure the same, on the same machine, with the same kinds of library."""
    differs = differing_facts(machine_asked(one), machine_asked(other))
    return not differs and plan_key(one) == plan_key(other)


def plan_key(campaign: Campaign) -> bytes:
    """Return all of a campaign that equal plans share: curves, sizes, ranks, places, launching, libraries.

    Raises:
        UsageError: Its sizes cannot be read.
    """
    plan = campaign.plan
    return msgspec.json.encode(
        [
            sorted(map(_curves, plan.measure)),
            [sorted(plan.transports), sorted(plan.placements), sorted(plan.ranks), plan.vary],
            [_launching(plan, name) for name in LAUNCH_KEYS],
            _libraries(campaign),
        ],
        order="deterministic",
    )


def _launching(plan: Plan, name: str) -> object:
    """Return a field that affects launching; of the lab of a map its hosts alone: delays are to be found."""
    if name == "lab" and plan.lab is not None and all(measure.pairs for measure in plan.measure):
        return Lab(hosts=plan.lab.hosts)
    return getattr(plan, name)


def _curves(measure: Measure) -> str:
    """Return the curves of a table as text; random sizes are those of one seed, whatever was drawn."""
    sizes = parse_sizes(measure.sizes) if measure.sizes is not None else None
    curves: dict[str, Any] = msgspec.to_builtins(measure)
    return msgspec.json.encode(curves | {"sizes": sizes}, order="deterministic").decode()


def _by_kind(campaign: Campaign) -> Mapping[str, list[tuple[str, str]]]:
    """Return labels and versions of the libraries of each kind."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for library in campaign.libraries:
        found[library.name].append((library.label, library.version))
    return found


def _libraries(campaign: Campaign) -> dict[str, list[tuple[str, str]]]:
    """Return the kinds of library; of several of one kind what tells them apart, too."""
    return {kind: sorted(each) if len(each) > 1 else [] for kind, each in _by_kind(campaign).items()}


def labels_of(campaign: Campaign) -> dict[str, str]:
    """Return the label of each kind of library of which there is one."""
    return {kind: each[0][0] for kind, each in _by_kind(campaign).items() if len(each) == 1}


def relabelled(rows: Iterable[Row], labels: Mapping[str, str]) -> list[Row]:
    """Return rows whose libraries have the labels of a later result: another label is the same curve.

    Args:
        labels: By kind of library.
    """
    return [
        row
        if labels.get(row.cell.mpi, row.cell.label) == row.cell.label
        else replace(row, cell=msgspec.structs.replace(row.cell, label=labels[row.cell.mpi]))
        for row in rows
    ]


# ---- Results that are kept -----------------------------------------------------------------------


def kept_folder(campaign: Campaign) -> Path:
    """Return the folder of kept results of a plan on a machine.

    Raises:
        EnvironmentLacksError: The user's home is unknown.
        UsageError: Its sizes cannot be read.
    """
    machine = msgspec.json.encode(machine_asked(campaign), order="deterministic")
    return user_data() / STORE / hashlib.sha256(plan_key(campaign) + machine).hexdigest()[:16]


def keep(path: Path, campaign: Campaign) -> tuple[Path, int]:
    """Copy a result to those that are kept of its plan, and remove the oldest of these if there are too many.

    Returns:
        The copy, and how many are kept of this plan, `MAX_EARLIER` at most.

    Raises:
        UsageError: The result is imported, or not a file.
        EnvironmentLacksError: It cannot be written there, or the folder is another user's.
    """
    begun = _begun(campaign)
    if begun is None:
        raise UsageError(
            f"{path}: cannot be kept: it is imported, so its machine and time are not known",
            "keep what mpigauge run or map has measured",
        )
    folder = kept_folder(campaign)
    elsewhere = "set XDG_DATA_HOME to a folder of your own that can be written"
    try:
        make_safe(folder, "whose results would be taken for yours", "XDG_DATA_HOME")
        with open_regular(path, NAME_A_RESULT) as file:
            ending = ".gz" if is_packed(file) else ""
            kept = _place(folder / usual_name(campaign.environment.host, begun), ending, campaign)
            with open_output(kept, overwrite=True, other_place=elsewhere) as copy:
                shutil.copyfileobj(file, copy)
    except OSError as error:
        raise EnvironmentLacksError(f"{path}: cannot be kept: {error.strerror or error}", elsewhere) from None
    of_plan = results_in(folder)
    for old in of_plan[:-MAX_EARLIER]:
        with contextlib.suppress(OSError):
            old.unlink()
    return kept, min(len(of_plan), MAX_EARLIER)


def _place(usual: Path, ending: str, campaign: Campaign) -> Path:
    """Return the file to keep a result in: that of another one which began in the same second stays."""
    numbers = ("", *(f"-{number}" for number in range(2, MAX_EARLIER + 2)))
    places = [usual.with_name(f"{stem_of(usual)}{number}.jsonl{ending}") for number in numbers]
    return next((place for place in places if not place.exists() or _is_of(place, campaign)), places[-1])


def _is_of(path: Path, campaign: Campaign) -> bool:
    """Return whether a kept result is of a campaign, or cannot be read."""
    try:
        return load_campaign(path) == campaign
    except UsageError:
        return True
