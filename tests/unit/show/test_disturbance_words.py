"""What disturbed, in words: one line of a screen with the cause, and a whole sentence with a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.find.disturbances import (
    CHOOSES,
    AnotherMpi,
    Disturbed,
    NetworkOnHost,
    Settings,
    SmallSharedMemory,
    Traced,
    disturbance_line,
    disturbance_sentence,
)
from mpigauge.find.settings import Setting
from mpigauge.result.system_limits import SHARED_MEMORY
from mpigauge.vocabulary import SETTINGS

if TYPE_CHECKING:
    from mpigauge.find.disturbances import Fact

BTL = Setting("transport", "OMPI_MCA_btl", "tcp,self")
IN_FILE = Setting("transport", "btl", "tcp,self", "~/.openmpi/mca-params.conf")
OF_HYDRA = Setting("transport", "MPIR_CVAR_NOLOCAL", "1", "~/.mpiexec.hydra.conf")
LONG = Setting("binding", "PRTE_MCA_hwloc_default_binding_policy", "x" * 300)
FAR = Setting("protocol", "btl_sm_eager_limit", "4096", f"/opt/{'a' * 90}/etc/openmpi-mca-params.conf")
MIB = 2**20

WENT = "messages went over TCP, not shared memory"


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (NetworkOnHost("tcp", (BTL,)), f"{WENT}; set here: OMPI_MCA_btl=tcp,self"),
        (NetworkOnHost("tcp", (IN_FILE,)), f"{WENT}; in mca-params.conf: btl=tcp,self"),
        (NetworkOnHost("tcp", (BTL, IN_FILE)), f"{WENT}; set here: OMPI_MCA_btl and 1 more"),
        (NetworkOnHost("tcp", (OF_HYDRA, BTL)), f"{WENT}; set in .mpiexec.hydra.conf"),
        (NetworkOnHost("tcp", (), MIB, MIB), f"{WENT}: /dev/shm has 1 MiB (--shm-size)"),
        (NetworkOnHost("tcp", (), 64 * MIB, 4096), f"{WENT}: /dev/shm has 4 KiB free of 64 MiB"),
        (NetworkOnHost("tcp", (), 0, 0), f"{WENT}: nobody can write to /dev/shm"),
        (NetworkOnHost("tcp"), f"{WENT}: mpigauge doctor"),
        (NetworkOnHost("card"), "messages went over a network card, not shared memory: mpigauge doctor"),
        (
            Settings((BTL,)),
            "set here: OMPI_MCA_btl=tcp,self changes the transport: unset it if not meant",
        ),
        (
            Settings((BTL, LONG)),
            "set here: OMPI_MCA_btl=tcp,self and 1 more change what is measured",
        ),
        (Settings((IN_FILE,)), "set in ~/.openmpi/mca-params.conf: btl=tcp,self changes the transport"),
        (
            SmallSharedMemory(MIB, MIB),
            f"{SHARED_MEMORY} has 1 MiB, too little for these ranks: --shm-size=1g",
        ),
        (Traced(1, 3), "a debugger or tracer was attached to 1 rank: measure without it"),
        (
            Disturbed(1.0, 40),
            "other programs used the cores in 100 % of the visits: wait, or --only quiet",
        ),
        (
            AnotherMpi("Open MPI 5.0.11", "/opt/mpich/bin/mpicc"),
            "Open MPI 5.0.11 of PyPI, though PATH has /opt/mpich/bin/mpicc: --mpi names it",
        ),
    ],
)
def test_the_line_of_a_screen_names_the_cause(fact: Fact, line: str) -> None:
    assert disturbance_line(fact) == line
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
def test_a_line_has_room_whatever_is_in_it(fact: Fact) -> None:
    assert len(f"! {disturbance_line(fact)}") <= 80


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
        (Disturbed(0.5, 40), ["50 % of 40 visits", "--exclusive", "--only quiet"]),
        (AnotherMpi("Open MPI 5.0.11", "/opt/bin/mpicc"), ["Open MPI 5.0.11", "--mpi /opt/bin/mpicc"]),
    ],
)
def test_the_whole_sentence_has_all_of_it_and_a_remedy(fact: Fact, parts: list[str]) -> None:
    said = disturbance_sentence(fact)
    assert [part for part in parts if part not in said] == []


def test_every_choice_has_its_words() -> None:
    assert set(CHOOSES) == set(SETTINGS)
