"""Where numbers come from, for programs: what a table that is passed on must say of itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mpigauge.result.home_paths import shortened
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
    """Return where the numbers of a result come from: docs/output.md#where-numbers-come-from.

    Args:
        stat: What stands for a launch of ours; None of single samples.
    """
    campaign, machine = result.campaign, measured_machine(result)
    return {
        "file": shortened(str(result.path)),
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
        "libraries": [_library(library, result) for library in campaign.libraries],
        "mpigauge": campaign.mpigauge,
        "commit": campaign.commit,
        "seed": campaign.plan.seed,
        "precision": campaign.plan.precision,
        "statistic": _printed(result) if result.imported and not result.launches else stat,
        "result_version": campaign.version,
        "without": list(campaign.without),
    }


def _printed(result: Result) -> str:
    """Return the statistic that imported times are of their samples; UNKNOWN where no source says."""
    return "; ".join(dict.fromkeys(imported.statistic or UNKNOWN for imported in result.imported))


def _library(library: LibraryRecord, result: Result) -> dict[str, Any]:
    reported = [launch.library for launch in result.launches if _is_of(launch.job, library)]
    return {
        "name": library.name,
        "version": library.version,
        "label": library.label,
        "standard": library.standard,
        "mpicc": library.mpicc,
        "says": reported[0] if reported else "",
    }


def _is_of(job: Any, library: LibraryRecord) -> bool:
    return bool((job.mpi, job.mpi_version, job.label) == (library.name, library.version, library.label))


def flat_context(result: Result, stat: str = "median") -> dict[str, Any]:
    """Return the context of a result on one level: what a line of CSV needs to be traced alone."""
    record = context_record(result, stat)
    record["libraries"] = "; ".join(
        " ".join(filter(None, [library["label"], library["name"], library["version"]]))
        for library in record["libraries"]
    )
    record["campaign"] = record["title"]
    return {name: record[name] for name in FLAT}


def with_context(
    records: Iterable[Mapping[str, Any]], result: Result, stat: str = "median"
) -> Iterator[dict[str, Any]]:
    """Yield the records of one result, each with its flat context."""
    context = flat_context(result, stat)
    yield from ({**record, **context} for record in records)


def metadata_of(contexts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the metadata of a Parquet file, by key."""
    return {"mpigauge": json.dumps({"context": list(contexts)}, ensure_ascii=False)}
