"""The transports that a library reports at MPI_Init when it is asked to, in a few words.

Each reader takes what rank 0 printed before it measured, line by line, and gives one of its library's forms:

    Open MPI     on-host sm | on-host tcp, off-host tcp | off-host mostly ucx
    Intel MPI    shm | ofi, provider tcp;ofi_rxm | shm + ofi, provider tcp;ofi_rxm
    MPICH        ch4:ofi, provider tcp | ch4:ucx

or nothing where it does not know the words: a guess would be worse. `rows.transport.proof` knows which of
these forms exclude a transport.
"""

import re
from collections.abc import Iterable


def unknown(_: Iterable[str]) -> str:
    """Return "" for a library whose report is not known."""
    return ""


_SUMMARY = re.compile(r"\s*(on-host|off-host): +(all|most) connections are (\S+)")
_NOBODY = {"self", "n/a"}


def openmpi(lines: Iterable[str]) -> str:
    """Return the summary of Open MPI's comm_method hook, which version 4 does not have."""
    report = [match.groups() for match in map(_SUMMARY.match, lines) if match]
    return ", ".join(
        f"{where} {'mostly ' if share == 'most' else ''}{what}"
        for where, share, what in report
        if what not in _NOBODY
    )


_STARTUP = re.compile(r"\[0\] MPI startup\(\): (.*)")
_PROVIDER = re.compile(r"libfabric provider: (\S+)")
_TUNING = re.compile(r'(?:File|Load tuning file:) ".*/tuning_[^_/"]+_(shm-ofi|shm|ofi)[_.][^/"]*"')


def intelmpi(lines: Iterable[str]) -> str:
    """Return Intel MPI's fabric and its provider, which shared memory does not have.

    If the two contradict each other, the user has chosen a tuning file, whose name says nothing.
    """
    report = [match[1] for match in map(_STARTUP.match, lines) if match]
    provider = _first(_PROVIDER, report)
    fabric = _first(_TUNING, report)
    if (fabric == "shm") == bool(provider):
        return f"provider {provider}" if provider else ""
    if not provider:
        return fabric if fabric == "shm" else ""
    return ", ".join(filter(None, [fabric.replace("-", " + "), f"provider {provider}"]))


_NETMOD = re.compile(r"==== (UCX) netmod Capability ====")


def mpich(lines: Iterable[str]) -> str:
    """Return MPICH's network module, and the provider of libfabric; it does not report shared memory."""
    report = list(lines)
    if provider := _first(_PROVIDER, report):
        return f"ch4:ofi, provider {provider}"
    return f"ch4:{module.lower()}" if (module := _first(_NETMOD, report)) else ""


def _first(pattern: re.Pattern[str], lines: Iterable[str]) -> str:
    return next((match[1] for match in map(pattern.match, lines) if match), "")
