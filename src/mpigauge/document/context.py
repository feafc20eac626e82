"""Where numbers come from, for programs: what a table that is passed on must say of itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.sessions import spread_s
from mpigauge.vocabulary import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mpigauge.result.provenance import LibraryRecord
    from mpigauge.result.reader import Result

FLAT = (
    *("file", "campaign", "host", "cpu", "cores", "started"),
    *("libraries", "mpigauge", "commit", "seed", "statistic"),
)
"""What every line of CSV and Parquet says, behind its numbers."""


def context_record(result: Result, stat: str | None = "median") -> dict[str, Any]:
    """Of one result: docs/formats.md#where-numbers-come-from.

    Args:
        stat: What stands for a launch of ours; None of single samples.
    """
    campaign, machine = result.campaign, measured_machine(result)
    return {
        "file": str(result.path),
        "title": campaign.plan.title,
        "host": machine.host,
        "cpu": machine.cpu,
        "cores": machine.cores or None,
        "system": machine.system,
        "kernel": machine.kernel,
        "hypervisor": machine.hypervisor,
        "hosts": [host.name for host in campaign.plan.hosts],
        "emulated": campaign.plan.lab is not None,
        "started": campaign.started,
        "seconds": spread_s(result.launches, result.done) if result.launches else None,
        "libraries": [_library(one, result) for one in campaign.libraries],
        "mpigauge": campaign.mpigauge,
        "commit": campaign.commit,
        "seed": campaign.plan.seed,
        "precision": campaign.plan.precision,
        "statistic": _printed(result) if result.imported and not result.launches else stat,
        "result_version": campaign.version,
    }


def _printed(result: Result) -> str:
    """What imported times are of their samples; unknown where nobody says."""
    return "; ".join(dict.fromkeys(one.statistic or UNKNOWN for one in result.imported))


def _library(one: LibraryRecord, result: Result) -> dict[str, Any]:
    says = [launch.library for launch in result.launches if _is_of(launch.job, one)]
    return {
        "name": one.name,
        "version": one.version,
        "label": one.label,
        "standard": one.standard,
        "mpicc": one.mpicc,
        "says": says[0] if says else "",
    }


def _is_of(job: Any, one: LibraryRecord) -> bool:
    return bool((job.mpi, job.mpi_version, job.label) == (one.name, one.version, one.label))


def flat_context(result: Result, stat: str = "median") -> dict[str, Any]:
    """The same on one level, what a line needs to be traced alone."""
    whole = context_record(result, stat)
    whole["libraries"] = "; ".join(
        " ".join(filter(None, [one["label"], one["name"], one["version"]])) for one in whole["libraries"]
    )
    whole["campaign"] = whole["title"]
    return {name: whole[name] for name in FLAT}


def traced(
    records: Iterable[Mapping[str, Any]], result: Result, stat: str = "median"
) -> Iterator[dict[str, Any]]:
    """Records of one result, each with where it comes from."""
    known = flat_context(result, stat)
    yield from ({**record, **known} for record in records)


def metadata_of(contexts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What a Parquet file says of itself, by key."""
    return {"mpigauge": json.dumps({"context": list(contexts)}, ensure_ascii=False)}
