"""What a library that was asked says at MPI_Init of the transports it uses, in a few words.

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
    """Of a library whose words nobody has told us."""
    return ""


_SUMMARY = re.compile(r"\s*(on-host|off-host): +(all|most) connections are (\S+)")
_NOBODY = {"self", "n/a"}


def openmpi(lines: Iterable[str]) -> str:
    """The summary of its comm_method hook, which version 4 does not have."""
    said = [match.groups() for match in map(_SUMMARY.match, lines) if match]
    return ", ".join(
        f"{where} {'mostly ' if share == 'most' else ''}{what}"
        for where, share, what in said
        if what not in _NOBODY
    )


_STARTUP = re.compile(r"\[0\] MPI startup\(\): (.*)")
_PROVIDER = re.compile(r"libfabric provider: (\S+)")
_TUNING = re.compile(r'(?:File|Load tuning file:) ".*/tuning_[^_/"]+_(shm-ofi|shm|ofi)[_.][^/"]*"')


def intelmpi(lines: Iterable[str]) -> str:
    """The fabric that it looks for tuning of, and its provider, which shared memory alone has not.

    If the two contradict each other, the user has chosen a tuning file, whose name says nothing.
    """
    said = [match[1] for match in map(_STARTUP.match, lines) if match]
    provider = _first(_PROVIDER, said)
    fabric = _first(_TUNING, said)
    if (fabric == "shm") == bool(provider):
        return f"provider {provider}" if provider else ""
    if not provider:
        return fabric if fabric == "shm" else ""
    return ", ".join(filter(None, [fabric.replace("-", " + "), f"provider {provider}"]))


_NETMOD = re.compile(r"==== (UCX) netmod Capability ====")


def mpich(lines: Iterable[str]) -> str:
    """Its network module, and the provider of libfabric; of shared memory it says nothing."""
    said = list(lines)
    if provider := _first(_PROVIDER, said):
        return f"ch4:ofi, provider {provider}"
    return f"ch4:{module.lower()}" if (module := _first(_NETMOD, said)) else ""


def _first(pattern: re.Pattern[str], lines: Iterable[str]) -> str:
    return next((match[1] for match in map(pattern.match, lines) if match), "")
