"""What disturbed, in words: one line of a screen with the cause, and a whole sentence with a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.find.disturbances import (
    CHOOSES,
    DISTURBED,
    PORTABLE,
    THROTTLED,
    AnotherMpi,
    Disturbed,
    NetworkOnHost,
    Portable,
    Settings,
    SmallSharedMemory,
    Throttled,
    Traced,
)
from mpigauge.find.kinds import fitting
from mpigauge.find.settings import Setting
from mpigauge.result.system_limits import SHARED_MEMORY
from mpigauge.vocabulary import SETTINGS

if TYPE_CHECKING:
    from mpigauge.find.kinds import FindingKind

BTL = Setting("transport", "OMPI_MCA_btl", "tcp,self")
IN_FILE = Setting("transport", "btl", "tcp,self", "~/.openmpi/mca-params.conf")
OF_HYDRA = Setting("transport", "MPIR_CVAR_NOLOCAL", "1", "~/.mpiexec.hydra.conf")
LONG = Setting("binding", "PRTE_MCA_hwloc_default_binding_policy", "x" * 300)
FAR = Setting("protocol", "btl_sm_eager_limit", "4096", f"/opt/{'a' * 90}/etc/openmpi-mca-params.conf")
MIB = 2**20

WENT = "messages went over TCP, not shared memory: slower"
BRIEFLY = "messages went over TCP (slow)"
KINDS = {
    NetworkOnHost: "network-on-host",
    Traced: "traced",
    Disturbed: "disturbed",
    Settings: "settings",
    SmallSharedMemory: "small-shared-memory",
    AnotherMpi: "another-mpi",
    Throttled: "throttled",
    Portable: "portable-library",
}


def kind_of(fact: Any) -> FindingKind:
    return next(one for one in (*DISTURBED, THROTTLED, PORTABLE) if one.name == KINDS[type(fact)])


def line_of(fact: Any) -> str:
    lines = kind_of(fact).lines
    assert lines is not None
    return fitting(said.line for said in lines(fact))


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (NetworkOnHost("tcp", (BTL,)), f"{WENT}; unset OMPI_MCA_btl=tcp,self"),
        (NetworkOnHost("tcp", (IN_FILE,)), f"{BRIEFLY}; remove btl in mca-params.conf"),
        (NetworkOnHost("tcp", (BTL, IN_FILE)), f"{BRIEFLY}; unset OMPI_MCA_btl and 1 more"),
        (
            NetworkOnHost("tcp", (OF_HYDRA, BTL)),
            f"{BRIEFLY}; remove MPIR_CVAR_NOLOCAL in .mpiexec.hydra.conf",
        ),
        (NetworkOnHost("tcp", (), MIB, MIB), f"{BRIEFLY}; /dev/shm has 1 MiB; --shm-size"),
        (
            NetworkOnHost("tcp", (), 64 * MIB, 4096),
            f"{BRIEFLY}; /dev/shm has 4 KiB free of 64 MiB; --shm-size",
        ),
        (
            NetworkOnHost("tcp", (), 0, 0),
            f"{BRIEFLY}; nobody can write to /dev/shm; --shm-size",
        ),
        (NetworkOnHost("tcp"), f"{WENT}; mpigauge doctor"),
        (
            NetworkOnHost("card"),
            "messages went over a network card, not shared memory: slower; mpigauge doctor",
        ),
        (
            Settings((BTL,)),
            "set here: OMPI_MCA_btl=tcp,self changes the transport; unset it if not meant",
        ),
        (
            Settings((BTL, LONG)),
            "set here: OMPI_MCA_btl=tcp,self and 1 more change what is measured; unset?",
        ),
        (
            Settings((IN_FILE,)),
            "set in ~/.openmpi/mca-params.conf: btl=tcp,self changes the transport; unset?",
        ),
        (
            SmallSharedMemory(MIB, MIB),
            f"{SHARED_MEMORY} has 1 MiB, too little for these ranks, which may die; --shm-size=1g",
        ),
        (
            Traced(1, 3),
            "debugger or tracer attached to 1 rank: times too long; measure without it",
        ),
        (
            Disturbed(1.0, 40),
            "other programs used the cores in 100 % of visits: times too long; stop them",
        ),
        (
            Disturbed(0.5, 40, quiet_helps=True),
            "other programs used the cores in 50 % of visits: times too long; --only quiet",
        ),
        (
            AnotherMpi("Open MPI 5.0.11", "/opt/mpich/bin/mpicc"),
            "Open MPI 5.0.11 of PyPI was measured, not /opt/mpich/bin/mpicc; use --mpi",
        ),
        (Throttled(90), "CPU limit (cpu.max) stopped ranks 90 times: times too long; raise it"),
        (
            Portable("Open MPI 5.0.11"),
            "Open MPI 5.0.11 of PyPI may be slower than one built for this machine; --mpi",
        ),
    ],
)
def test_the_line_of_a_screen_names_the_cause(fact: Any, line: str) -> None:
    assert line_of(fact) == line
    assert len(f"! {line}") <= 80


@pytest.mark.parametrize(
    "fact",
    [
        NetworkOnHost("tcp", (LONG,)),
        NetworkOnHost("tcp", (FAR,)),
        NetworkOnHost("tcp", (), 2**40, 1023 * MIB),
        Settings((LONG,)),
        Settings((FAR,)),
        Settings((FAR, *[BTL] * 120)),
        Settings((Setting("preload", "LD_" + "X" * 200, "1"),)),
        SmallSharedMemory(2**40, 1023 * MIB),
        AnotherMpi("IBM Spectrum MPI 10.3.1.03rtm0", f"/opt/{'a' * 90}/bin/mpicc"),
    ],
)
def test_a_line_has_room_whatever_is_in_it(fact: Any) -> None:
    assert len(f"! {line_of(fact)}") <= 80


@pytest.mark.parametrize(
    ("fact", "parts"),
    [
        (NetworkOnHost("tcp", (BTL,)), ["OMPI_MCA_btl=tcp,self", "--transport"]),
        (NetworkOnHost("tcp", (), MIB, MIB), [f"{SHARED_MEMORY} has 1 MiB", "docker run --shm-size"]),
        (NetworkOnHost("tcp"), ["doctor"]),
        (
            Settings((BTL, IN_FILE)),
            ["OMPI_MCA_btl=tcp,self", "in ~/.openmpi/mca-params.conf", "unset", "--env"],
        ),
        (SmallSharedMemory(MIB, MIB), ["1 MiB", "docker run --shm-size"]),
        (Traced(2, 1), ["in 1 launch", "2 ranks", "without it"]),
        (Disturbed(0.5, 40, quiet_helps=True), ["50 % of 40 visits", "--exclusive", "--only quiet"]),
        (AnotherMpi("Open MPI 5.0.11", "/opt/bin/mpicc"), ["Open MPI 5.0.11", "--mpi /opt/bin/mpicc"]),
    ],
)
def test_the_whole_sentence_has_all_of_it_and_a_remedy(fact: Any, parts: list[str]) -> None:
    said = kind_of(fact).words(fact).text
    assert [part for part in parts if part not in said] == []


def test_every_choice_has_its_words() -> None:
    assert set(CHOOSES) == set(SETTINGS)
