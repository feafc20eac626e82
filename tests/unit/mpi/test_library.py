"""Kinds of MPI library, told apart by what they say of themselves."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.campaign.allocations import MANAGERS, Manager
from mpigauge.campaign.launch.launchers import LAUNCHERS
from mpigauge.mpi import library
from mpigauge.mpi.kinds import GENERIC, KINDS, LOOPBACK, RELATIVES, WELL_KNOWN, MpiKind, identify, kind_named
from mpigauge.mpi.library import Library
from mpigauge.plan.library_names import KIND_NAMES, library_name
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
    "MPI VERSION    : CRAY MPICH version 8.1.28.15 (ANL base 3.4a2)\n"
    "MPI BUILD INFO : Wed Nov 15 21:59 2023 (git hash 1cde46f)\n": ("cray-mpich", "8.1.28.15"),
    "MPI VERSION    : CRAY MPICH version 7.7.14 (ANL base 3.2)\n": ("cray-mpich", "7.7.14"),
    "MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date : Wed March 02 22:00:00 EST 2022\n": (
        "mvapich",
        "2.3.7",
    ),
    "MVAPICH Version      :\t3.0\n": ("mvapich", "3.0"),
    "MVAPICH Version: 4.0\n": ("mvapich", "4.0"),
    "Open MPI v10.3.1.03rtm0, package: IBM Spectrum MPI, ident: IBM Spectrum MPI": (
        "spectrum",
        "10.3.1.03rtm0",
    ),
    "FUJITSU MPI Library 4.0.0 (4.0.1fj4.0.0)": ("fujitsu", "4.0.0"),
    "HPE MPT 2.23  08/26/20 02:54:49-root": ("mpt", "2.23"),
    "HPE HMPT 2.23  08/26/20 02:59:48-root": ("mpt", "2.23"),
    "MPICH Version:\t4.1.1\n=== ParaStation MPI 5.10.0-1 ===\nVersion(PSMPI): 5.10.0-1 (gcc)\n": (
        "parastation",
        "5.10.0-1",
    ),
    # HPC-X and the library of NVIDIA's HPC SDK do not say that they are more than what they are made of.
    "Open MPI v4.1.7rc1, package: Open MPI root@build-vm Distribution, ident: 4.1.7rc1": (
        "openmpi",
        "4.1.7rc1",
    ),
}


@pytest.mark.parametrize(("said", "found"), SAID.items())
def test_a_library_is_known_by_what_it_says(said: str, found: tuple[str, str]) -> None:
    kind, version = identify(said)
    assert kind is not None
    assert (kind.name, version) == found


def test_every_kind_has_a_sample_a_fake_and_a_launcher() -> None:
    names = {kind.name for kind in KINDS}
    assert {name for name, _ in SAID.values()} == names
    assert names <= set(PRINTS)
    assert {kind.launcher for kind in KINDS} <= set(LAUNCHERS)


@pytest.mark.parametrize(
    ("said", "name", "version"),
    [
        ("", "generic", "unknown"),
        ("?", "generic", "unknown"),
        ("4.2 MPI", "4-2-mpi", "unknown"),
        ("SimGrid MPI 3.32", "simgrid-mpi", "3.32"),
        ("Fancy  MPI\nversion: 1.2.3 (of today)", "fancy-mpi-version", "1.2.3"),
        ("open mpi v5", "generic-open-mpi", "5"),
        ("Bull MPI", "bull-mpi", "unknown"),
        ("one two three four five six v7", "one-two-three-four", "7"),
        ("mpich 5", "generic-mpich", "5"),
    ],
)
def test_another_library_is_called_by_its_own_words(said: str, name: str, version: str) -> None:
    kind, found = identify(said)
    assert (kind.name, found) == (name, version)
    assert not any((kind.transports, kind.bindings, kind.report_variables, kind.yield_variables))
    assert kind_named(kind.name) is None


@pytest.mark.parametrize("said", ["Open MPI v", "Intel(R) MPI Library ", "MPICH Version:", "HPE MPT"])
def test_half_a_sentence_has_no_version(said: str) -> None:
    kind, version = identify(said)
    assert kind in KINDS
    assert version == ""


@repeatable
@given(st.sampled_from(sorted(SAID)), st.text())
def test_no_words_make_it_crash(said: str, words: str) -> None:
    assert identify(f"{said} {words}")[0].name == SAID[said][0]
    kind, version = identify(words)
    assert re.fullmatch(r"[a-z0-9-]+", kind.name)
    assert kind.about
    assert version or kind in KINDS


def as_it_says(mpi_h: str, said: str) -> tuple[str, str, str]:
    """What becomes of a library with the mpi.h of one kind and the words of another."""
    kind = kind_named(mpi_h) or GENERIC
    found = library.with_reported_kind(library_of(kind), said)
    return found.name, found.version, found.launcher


@pytest.mark.parametrize(
    ("mpi_h", "said", "found"),
    [
        ("openmpi", "FUJITSU MPI Library 4.0.0 (4.0.1fj4.0.0)", ("fujitsu", "4.0.0", "openmpi")),
        ("mpich", "MPICH Version: 4.1\n=== ParaStation MPI 5.10 ===", ("parastation", "5.10", "hydra")),
        ("generic", "HPE MPT 2.23", ("mpt", "2.23", "hydra")),
        ("generic", "Fancy MPI 7", ("fancy-mpi", "7", "hydra")),
        ("openmpi", "Bull MPI 7", ("bull-mpi", "7", "openmpi")),
    ],
)
def test_a_library_with_the_header_of_another_is_what_it_says(
    mpi_h: str, said: str, found: tuple[str, str, str]
) -> None:
    assert as_it_says(mpi_h, said) == found


@pytest.mark.parametrize(
    ("mpi_h", "said"),
    [
        ("mpich", "Intel(R) MPI Library 2021.9"),  # the loader's doing: it is refused when it has run
        ("mpich", "FUJITSU MPI Library 4.0.0"),
        ("cray-mpich", "MPICH Version: 4.1"),
        ("intelmpi", "Fancy MPI 7"),
        ("openmpi", ""),
    ],
)
def test_a_library_that_another_has_taken_the_place_of_keeps_its_name(mpi_h: str, said: str) -> None:
    kind = kind_named(mpi_h)
    assert kind
    assert as_it_says(mpi_h, said) == (mpi_h, "1.2", kind.launcher if mpi_h != "cray-mpich" else "hydra")


def test_nothing_is_claimed_of_a_kind_that_was_never_here() -> None:
    for kind in RELATIVES:
        claims = (kind.transports, kind.bindings, kind.yield_variables, kind.report_variables)
        assert not any(claims)


def test_every_kind_has_a_name_that_people_read_and_every_name_is_of_a_kind() -> None:
    assert {kind.name: kind.about for kind in KINDS} == KIND_NAMES
    assert library_name("openmpi", "5.0.11", "main") == "main Open MPI 5.0.11"
    assert library_name("fancy-mpi", "1.2", "") == "fancy-mpi 1.2"


def test_words_that_users_say() -> None:
    names = [kind.name for kind in KINDS]
    words = [word for kind in KINDS for word in (kind.name, *kind.aliases)]
    assert len(words) == len(set(words))
    assert [kind.name for kind in map(kind_named, names) if kind] == names
    assert getattr(kind_named("intel"), "name", "") == "intelmpi"
    assert kind_named("") is kind_named("OpenMPI") is kind_named("gcc") is None


# ---- More ranks than cores -----------------------------------------------------------------------

CROWDED = [kind for kind in KINDS if kind.yield_variables]


def library_of(kind: MpiKind, **environment: str) -> Library:
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


def test_waiting_ranks_must_be_told_to_give_way() -> None:
    """Those of Open MPI only where its hosts share a machine; two of Intel MPI keep a core for 10 ms each."""
    assert [kind.name for kind in CROWDED] == ["openmpi", "intelmpi", "mpich"]


def test_ranks_that_are_not_crowded_are_kept_from_giving_way_where_the_launcher_was_told_so() -> None:
    (kind,) = (one for one in WELL_KNOWN if one.name == "openmpi")
    library = library_of(kind)
    assert library.environment_for(roomy=True) == {"OMPI_MCA_mpi_yield_when_idle": "0"}
    assert library.environment_for(roomy=True, crowded=True) == kind.yield_variables


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_crowded_is_told_to_give_way(kind: MpiKind) -> None:
    library = library_of(kind, I_MPI_ROOT="/opt/mpi")
    assert library.environment_for(crowded=False) == {"I_MPI_ROOT": "/opt/mpi"}
    assert library.environment_for(crowded=True) == {"I_MPI_ROOT": "/opt/mpi", **kind.yield_variables}


@pytest.mark.parametrize("kind", KINDS)
def test_what_mpigauge_sets_is_among_the_variables_that_it_records(kind: MpiKind) -> None:
    every = [
        kind.report_variables,
        kind.yield_variables,
        kind.remote_shell,
        *kind.transports.values(),
        *kind.bindings.values(),
    ]
    assert all(VARIABLES.match(name) for variables in every for name in variables)


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_collectives_of_open_mpi_do_not_go_past_the_transport_asked_for(transport: str) -> None:
    """HCOLL and UCC, which HPC-X brings, send through InfiniBand by themselves, whatever the btl is."""
    (kind,) = (one for one in WELL_KNOWN if one.name == "openmpi")
    own = {f"OMPI_MCA_coll_{name}_enable": "0" for name in ("hcoll", "ucc")}
    assert own.items() <= library_of(kind).environment_for(transport=transport).items()
    assert not own.keys() & library_of(kind).environment_for().keys()


@pytest.mark.parametrize("kind", WELL_KNOWN)
def test_the_loopback_is_for_one_host_only(kind: MpiKind) -> None:
    library = library_of(kind)
    assert LOOPBACK in library.environment_for(transport="tcp").values()
    assert LOOPBACK not in library.environment_for(transport="tcp", several_hosts=True).values()


@pytest.mark.parametrize("kind", WELL_KNOWN)
def test_ranks_are_bound_and_hosts_reached_only_if_asked(kind: MpiKind) -> None:
    library = library_of(kind)
    assert library.environment_for() == {}
    assert "/opt/my shell" in library.environment_for(remote_shell="/opt/my shell").values()
    core, none = (library.environment_for(binding=binding) for binding in ("core", "none"))
    assert core != none
    assert set(none) <= set(core)


@pytest.mark.parametrize("kind", WELL_KNOWN)
def test_who_asks_the_library_otherwise_goes_first(kind: MpiKind, monkeypatch: pytest.MonkeyPatch) -> None:
    assert library_of(kind).report_variables == kind.report_variables
    mine = next(iter(kind.report_variables))
    monkeypatch.setenv(mine, "0")
    assert set(library_of(kind).report_variables) == set(kind.report_variables) - {mine}


@pytest.mark.parametrize("kind", CROWDED)
@pytest.mark.parametrize("word", ["0", "1", "100", ""])
def test_the_users_own_variable_goes_first(kind: MpiKind, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for mine in kind.yield_variables:
        with monkeypatch.context() as patch:
            patch.setenv(mine, word)
            set_by_us = library_of(kind).environment_for(crowded=True)
        assert mine not in set_by_us
        assert set_by_us == {name: value for name, value in kind.yield_variables.items() if name != mine}


def test_what_a_library_needs_to_be_found_is_set_whatever_the_user_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("I_MPI_ROOT", "/elsewhere")
    for kind in KINDS:
        library = library_of(kind, I_MPI_ROOT="/opt/mpi")
        assert library.environment_for(crowded=True)["I_MPI_ROOT"] == "/opt/mpi"


@pytest.mark.parametrize("manager", MANAGERS, ids=lambda manager: manager.name)
def test_in_a_job_every_launcher_reaches_its_hosts(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intel MPI must be told by what; the others find out by themselves."""
    monkeypatch.delenv("I_MPI_HYDRA_BOOTSTRAP", raising=False)
    intel = library_of(next(kind for kind in KINDS if kind.name == "intelmpi"))
    there = intel.environment_for(several_hosts=True, manager=manager.name)
    assert ("I_MPI_HYDRA_BOOTSTRAP" in there) == manager.mpiexec_reaches
    assert "I_MPI_HYDRA_BOOTSTRAP" not in intel.environment_for(manager=manager.name)
    by_shell = intel.environment_for(several_hosts=True, remote_shell="/my", manager=manager.name)
    assert by_shell["I_MPI_HYDRA_BOOTSTRAP"] == "ssh"
    monkeypatch.setenv("I_MPI_HYDRA_BOOTSTRAP", "ssh")
    assert "I_MPI_HYDRA_BOOTSTRAP" not in intel.environment_for(several_hosts=True, manager=manager.name)


def with_libfabric(prefix: Path, folder: str = "lib", plugins: str = "lib") -> Library:
    """Intel MPI as a wheel (or, in other folders, an installer of Intel's) lays it out."""
    (prefix / folder).mkdir(parents=True)
    (prefix / folder / "libfabric.so.1").touch()
    (prefix / plugins).mkdir(parents=True, exist_ok=True)
    (prefix / plugins / "libverbs-1.12-fi.so").touch()
    kind = next(kind for kind in KINDS if kind.name == "intelmpi")
    return replace(library_of(kind), prefix=prefix)


@pytest.mark.parametrize("folders", [("lib", "lib"), ("opt/mpi/libfabric/lib", "opt/mpi/libfabric/lib/prov")])
def test_ranks_find_the_libfabric_that_intel_mpi_brings_though_no_script_was_read(
    folders: tuple[str, str], tmp_path: Path
) -> None:
    told = with_libfabric(tmp_path, *folders).environment_for()
    assert told["LD_LIBRARY_PATH"] == str(tmp_path / folders[0])
    assert told["FI_PROVIDER_PATH"] == str(tmp_path / folders[1])


def test_what_the_user_leads_the_loader_to_goes_before_what_the_library_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = with_libfabric(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/mine:/other")
    monkeypatch.setenv("FI_PROVIDER_PATH", "/mine")
    assert library.environment_for() == {"LD_LIBRARY_PATH": f"/mine:/other:{tmp_path / 'lib'}"}
    common = replace(library, environment={"LD_LIBRARY_PATH": "/abi:/mine"})
    assert common.environment_for()["LD_LIBRARY_PATH"] == f"/abi:/mine:{tmp_path / 'lib'}"
    monkeypatch.setenv("I_MPI_OFI_LIBRARY_INTERNAL", "0")
    assert library.environment_for() == {}


@pytest.mark.parametrize(("version", "told"), [("4.1.4", True), ("3.1.6", True), ("5.0.11", False)])
def test_an_open_mpi_that_looks_for_ssh_in_vain_is_told_that_anything_will_do(
    version: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images of containers often lack ssh, which ranks of one host do not need."""
    (kind,) = (one for one in WELL_KNOWN if one.name == "openmpi")
    library = replace(library_of(kind), version=version)
    assert library.environment_for(has_shell=False) == (kind.without_shell if told else {})
    assert library.environment_for() == library.environment_for(has_shell=False, several_hosts=True) == {}
    monkeypatch.setenv(next(iter(kind.without_shell)), "my-ssh")
    assert library.environment_for(has_shell=False) == {}
