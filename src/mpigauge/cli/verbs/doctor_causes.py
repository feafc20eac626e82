"""What `mpigauge doctor` finds that can keep a job from starting; told where nothing could be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.doctor.table import DoctorFinding

NOTES_MOST = 6


def causes_here() -> list[str]:
    """Return the notes of the doctor that may be why, a few lines."""
    return [f"{one.what}: {one.value}" for one in _findings()][:NOTES_MOST]


def _findings() -> list[DoctorFinding]:
    from mpigauge.cli.verbs import doctor, doctor_system
    from mpigauge.mpi import find
    from mpigauge.result.environment import environment

    machine = environment()
    libraries, _ = find.find_all()
    found = [*doctor.settings(machine, libraries), *doctor_system.limiting(machine)]
    return [one for one in found if one.state != "ok"]
