"""Every form of a library's report in words."""

from __future__ import annotations

import pytest

from mpigauge.find.transport import transport_words


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ("on-host sm", "shared memory"),
        ("on-host vader", "shared memory"),
        ("on-host tcp, off-host tcp", "TCP within a host, TCP between hosts"),
        ("on-host sm, off-host mostly ucx", "shared memory within a host, mostly UCX between hosts"),
        ("off-host mostly ucx", "mostly UCX between hosts"),
        ("shm", "shared memory"),
        ("shm + ofi, provider tcp;ofi_rxm", "shared memory and libfabric, provider tcp;ofi_rxm"),
        ("ofi, provider tcp", "libfabric, provider tcp"),
        ("provider verbs", "provider verbs"),
        ("ch4:ofi, provider tcp", "libfabric, provider tcp"),
        ("ch4:ucx", "UCX"),
        ("on-host something", "something"),
    ],
)
def test_a_report_is_said_in_words(report: str, words: str) -> None:
    assert transport_words(report) == words
