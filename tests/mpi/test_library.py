"""Kinds of MPI library, told apart by what they say of themselves."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.launch.launchers import LAUNCHERS
from mpigauge.mpi.library import KINDS, Kind, identify, kind_named
from tests.fake_mpi import PRINTS

repeatable = settings(derandomize=True, deadline=None)

SAID = {
    "Open MPI v5.0.11, package: Open MPI runner@build Distribution, ident: 5.0.11, repo rev: v5.0.11, "
    "Jan 13, 2026": ("openmpi", "5.0.11"),
    "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022": (
        "openmpi",
        "4.1.4",
    ),
    "Open MPI v5.1.0rc2, package: Open MPI, ident: 5.1.0rc2": ("openmpi", "5.1.0rc2"),
    "MPICH Version:      5.0.2\nMPICH Release date: Fri Aug  1 00:00:00 CDT 2026\n"
    "MPICH Device:       ch4:ofi\n": ("mpich", "5.0.2"),
    "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n": ("mpich", "4.0.2"),
    "Intel(R) MPI Library 2021.18.1 for Linux* OS\n": ("intelmpi", "2021.18.1"),
    "Intel(R) MPI Library 2021.9 for Linux* OS\n": ("intelmpi", "2021.9"),
}


@pytest.mark.parametrize(("said", "found"), SAID.items())
def test_a_library_is_known_by_what_it_says(said: str, found: tuple[str, str]) -> None:
    kind, version = identify(said)
    assert kind is not None
    assert (kind.name, version) == found


def test_every_kind_has_a_sample_a_fake_and_a_launcher() -> None:
    names = {kind.name for kind in KINDS}
    assert {name for name, _ in SAID.values()} == names == set(PRINTS)
    assert {kind.launcher for kind in KINDS} <= set(LAUNCHERS)


@pytest.mark.parametrize(
    "said", ["", "MVAPICH Version: 3.0", "open mpi v5", " Open MPI v5.0.11", "SimGrid MPI"]
)
def test_another_library_is_of_no_kind(said: str) -> None:
    assert identify(said) == (None, "")


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_sentence_has_no_version(kind: Kind) -> None:
    assert identify(kind.says) == (kind, "")


@repeatable
@given(st.sampled_from(KINDS), st.text())
def test_no_words_make_it_crash(kind: Kind, words: str) -> None:
    assert identify(kind.says + words)[0] is kind
    identify(words)


def test_words_that_users_say() -> None:
    names = [kind.name for kind in KINDS]
    words = [word for kind in KINDS for word in (kind.name, *kind.aliases)]
    assert len(words) == len(set(words))
    assert [kind.name for kind in map(kind_named, names) if kind] == names
    assert getattr(kind_named("intel"), "name", "") == "intelmpi"
    assert kind_named("") is kind_named("OpenMPI") is kind_named("gcc") is None
