"""What libraries say of their transports, as they really printed it, trimmed, and what is read from it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.mpi.kinds import KINDS, WELL_KNOWN, MpiKind, kind_named

repeatable = settings(derandomize=True, deadline=None)

OPENMPI_SHM = """\
Host 0 [node1] ranks 0 - 1

Connection summary: (pml)
  on-host:  all connections are sm
  off-host: all connections are n/a

"""
OPENMPI_TWO_HOSTS = """\
Host 0 [h1] ranks 0 - 1
Host 1 [h2] ranks 2 - 3

Connection summary: (pml)
  on-host:  all connections are sm
  off-host: all connections are tcp

"""
INTEL_SHM = """\
[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1  Build 20260626 (id: b44796a)
[0] MPI startup(): Copyright (C) 2003-2026 Intel Corporation.  All rights reserved.
[0] MPI startup(): library kind: release
[0] MPI startup(): Load tuning file: "/opt/intelmpi/opt/mpi/etc/tuning_gnr_shm.dat"
"""
INTEL_TCP = """\
[0] MPI startup(): Intel(R) MPI Library, Version 2021.18.1  Build 20260626 (id: b44796a)
[0] MPI startup(): libfabric version: 1.17.0
[0] MPI startup(): libfabric provider: tcp;ofi_rxm
[0] MPI startup(): File "/opt/intelmpi/opt/mpi/etc/tuning_gnr_ofi_tcp-ofi-rxm.dat" not found
[0] MPI startup(): Load tuning file: "/opt/intelmpi/opt/mpi/etc/tuning_gnr_ofi.dat"
[0] MPI startup(): File "/opt/intelmpi/opt/mpi/etc/tuning_gnr_ofi.dat" not found
[0] MPI startup(): Load tuning file: "/opt/intelmpi/opt/mpi/etc//tuning_skx_ofi_tcp-ofi-rxm.dat"
"""
INTEL_TWO_HOSTS = """\
[0] MPI startup(): libfabric version: 1.17.0
[0] MPI startup(): libfabric provider: tcp;ofi_rxm
[0] MPI startup(): File "/opt/intelmpi/opt/mpi/etc/tuning_gnr_shm-ofi_tcp-ofi-rxm_10_x1.dat" not found
[0] MPI startup(): File "/opt/intelmpi/opt/mpi/etc/tuning_gnr_shm-ofi_tcp-ofi-rxm_10.dat" not found
[0] MPI startup(): File "/opt/intelmpi/opt/mpi/etc/tuning_gnr_shm-ofi_tcp-ofi-rxm.dat" not found
[0] MPI startup(): Load tuning file: "/opt/intelmpi/opt/mpi/etc/tuning_gnr_shm-ofi.dat"
"""
MPICH_OFI = """\
Required minimum FI_VERSION: 20005, current version: 20005
provider: tcp, score = 4, pref = 0, FI_SOCKADDR_IN [16] 127.0.0.1
provider: tcp;ofi_rxm, score = 4, pref = 0, FI_SOCKADDR_IN [16] 127.0.0.1
==== Capability set configuration ====
libfabric provider: tcp - 127.0.0.1/32
MPIDI_OFI_ENABLE_DATA: 1
==== Various sizes and limits ====
MPIDI_OFI_DEFAULT_SHORT_SEND_SIZE: 16384
error checking    : enabled
"""
MPICH_UCX = """\
==== UCX netmod Capability ====
MPIDI_UCX_CONTEXT_ID_BITS: 16
MPIDI_UCX_MAX_AM_EAGER_SZ: 8100
===============================
error checking    : enabled
"""
SAID = [
    ("openmpi", OPENMPI_SHM, "on-host sm"),
    ("openmpi", OPENMPI_SHM.replace(" sm", " tcp"), "on-host tcp"),
    ("openmpi", OPENMPI_SHM.replace(" sm", " self"), ""),
    ("openmpi", OPENMPI_TWO_HOSTS, "on-host sm, off-host tcp"),
    ("openmpi", OPENMPI_TWO_HOSTS.replace("all connections are tcp", "most connections are tcp"),
     "on-host sm, off-host mostly tcp"),
    ("intelmpi", INTEL_SHM, "shm"),
    ("intelmpi", INTEL_TCP, "ofi, provider tcp;ofi_rxm"),
    ("intelmpi", INTEL_TWO_HOSTS, "shm + ofi, provider tcp;ofi_rxm"),
    ("mpich", MPICH_OFI, "ch4:ofi, provider tcp"),
    ("mpich", MPICH_UCX, "ch4:ucx"),
]  # fmt: skip


def read(kind: str, text: str) -> str:
    """What a library's own reader makes of it."""
    found = kind_named(kind)
    assert found is not None
    return found.parse_report(text.splitlines())


@pytest.mark.parametrize(("kind", "text", "words"), SAID)
def test_a_report_becomes_a_few_words(kind: str, text: str, words: str) -> None:
    assert read(kind, text) == words
    assert read(kind, f"a banner of the site\n{text}one more line") == words


def test_every_kind_is_asked_and_has_samples() -> None:
    assert {kind for kind, _, _ in SAID} == {kind.name for kind in WELL_KNOWN}
    assert all(kind.report_variables for kind in WELL_KNOWN)


def test_a_tuning_file_of_the_users_own_names_no_fabric() -> None:
    mine = '[0] MPI startup(): Load tuning file: "/opt/intelmpi/opt/mpi/etc/tuning_skx_{}.dat"\n'
    provider = "[0] MPI startup(): libfabric provider: psm3\n"
    assert read("intelmpi", mine.format("ofi")) == ""
    assert read("intelmpi", provider + mine.format("shm")) == "provider psm3"
    assert read("intelmpi", provider) == "provider psm3"


@pytest.mark.parametrize(("kind", "text", "words"), SAID)
def test_the_words_of_another_library_are_not_understood(kind: str, text: str, words: str) -> None:
    assert {other.name for other in KINDS if words and other.parse_report(text.splitlines())} <= {kind}


@repeatable
@given(st.sampled_from(KINDS), st.lists(st.text()))
def test_what_is_not_understood_is_nothing(kind: MpiKind, lines: list[str]) -> None:
    assert kind.parse_report(lines) == ""
