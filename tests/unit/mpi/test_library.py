"""Kinds of MPI library, told apart by what they say of themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.launch.launchers import LAUNCHERS
from mpigauge.mpi.library import KINDS, LOOPBACK, Kind, Library, identify, kind_named
from mpigauge.result.environment import VARIABLES
from tests.fakes.mpi import PRINTS

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


# ---- More ranks than cores -----------------------------------------------------------------------

CROWDED = [kind for kind in KINDS if kind.crowded]


def library_of(kind: Kind, **environment: str) -> Library:
    """An installed library."""
    prefix = Path("/opt/mpi")
    return Library(
        kind, "1.2", "4.0", prefix / "bin/mpicc", prefix / "bin/mpiexec", prefix, "PATH", "gcc", environment
    )


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine of the tests has set."""
    for name in os.environ:
        if VARIABLES.match(name):
            monkeypatch.delenv(name)


def test_waiting_ranks_of_mpich_must_be_told_to_give_way() -> None:
    """Those of Open MPI only where its hosts share a machine; Intel MPI does so by itself."""
    assert [kind.name for kind in CROWDED] == ["openmpi", "mpich"]


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_crowded_is_told_to_give_way(kind: Kind) -> None:
    library = library_of(kind, I_MPI_ROOT="/opt/mpi")
    assert library.environment_for(crowded=False) == {"I_MPI_ROOT": "/opt/mpi"}
    assert library.environment_for(crowded=True) == {"I_MPI_ROOT": "/opt/mpi", **kind.crowded}


@pytest.mark.parametrize("kind", KINDS)
def test_what_mpigauge_sets_is_among_the_variables_that_it_records(kind: Kind) -> None:
    every = [kind.asks, kind.crowded, kind.remote_shell, *kind.transports.values(), *kind.bindings.values()]
    assert all(VARIABLES.match(name) for variables in every for name in variables)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loopback_is_for_one_host_only(kind: Kind) -> None:
    library = library_of(kind)
    assert LOOPBACK in library.environment_for(transport="tcp").values()
    assert LOOPBACK not in library.environment_for(transport="tcp", several_hosts=True).values()


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_are_bound_and_hosts_reached_only_if_asked(kind: Kind) -> None:
    library = library_of(kind)
    assert library.environment_for() == {}
    assert "/opt/my shell" in library.environment_for(remote_shell="/opt/my shell").values()
    core, none = (library.environment_for(binding=binding) for binding in ("core", "none"))
    assert core != none
    assert set(none) <= set(core)


@pytest.mark.parametrize("kind", KINDS)
def test_who_asks_the_library_otherwise_goes_first(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    assert library_of(kind).asks == kind.asks
    mine = next(iter(kind.asks))
    monkeypatch.setenv(mine, "0")
    assert set(library_of(kind).asks) == set(kind.asks) - {mine}


@pytest.mark.parametrize("kind", CROWDED)
@pytest.mark.parametrize("word", ["0", "1", "100", ""])
def test_the_users_own_variable_goes_first(kind: Kind, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for mine in kind.crowded:
        with monkeypatch.context() as patch:
            patch.setenv(mine, word)
            set_by_us = library_of(kind).environment_for(crowded=True)
        assert mine not in set_by_us
        assert set_by_us == {name: value for name, value in kind.crowded.items() if name != mine}


def test_what_a_library_needs_to_be_found_is_set_whatever_the_user_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("I_MPI_ROOT", "/elsewhere")
    for kind in KINDS:
        library = library_of(kind, I_MPI_ROOT="/opt/mpi")
        assert library.environment_for(crowded=True)["I_MPI_ROOT"] == "/opt/mpi"


def test_in_a_job_of_slurm_every_launcher_reaches_its_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SLURM_JOB_ID", "I_MPI_HYDRA_BOOTSTRAP"):
        monkeypatch.delenv(variable, raising=False)
    intel = library_of(next(kind for kind in KINDS if kind.name == "intelmpi"))
    assert "I_MPI_HYDRA_BOOTSTRAP" not in intel.environment_for(several_hosts=True)
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert intel.environment_for(several_hosts=True)["I_MPI_HYDRA_BOOTSTRAP"] == "slurm"
    assert "I_MPI_HYDRA_BOOTSTRAP" not in intel.environment_for()
    assert intel.environment_for(several_hosts=True, remote_shell="/my")["I_MPI_HYDRA_BOOTSTRAP"] == "ssh"
    monkeypatch.setenv("I_MPI_HYDRA_BOOTSTRAP", "ssh")
    assert "I_MPI_HYDRA_BOOTSTRAP" not in intel.environment_for(several_hosts=True)
