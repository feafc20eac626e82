"""A job that is played says, and ends, as the same job does that runs in processes of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.campaign.launch.job import Job
from mpigauge.campaign.launch.launchers import command_of
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.mpi import find, kernel
from mpigauge.plan.kernel_plan import parts_of
from mpigauge.result import journal
from mpigauge.result.environment import user_is_root
from tests.fakes.kernel import EXIT_USAGE
from tests.fakes.mpi import install
from tests.fakes.played import PROCESSES, PlayedJob, job
from tests.unit.kernel_launch import plan_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Install
    from tests.fakes.mpi import FakeMpi

PATIENCE_S = 30.0
VISITS = ("pingpong standard 8", "allreduce overlap 64 sync=common datatype=double op=sum", "copy O3 64")


def command(hosts: tuple[str, ...] = ()) -> tuple[list[str], dict[str, str]]:
    """What starts the kernel of the library that is found, with its files."""
    library = find.find_default()
    words = (str(kernel.build(library)), "-", "-")
    asked = Job(library.mpiexec, 2, words, cores=2, as_root=user_is_root(), hosts=hosts)
    made = command_of(asked, library.kind.launcher)
    return list(made.words), dict(made.files)


Ended = tuple[list[bytes], int | None, str]


def ended(kind: type[RunningJob], text: str, hosts: tuple[str, ...] = ()) -> Ended:
    """The lines of a job, how it ended, and its last words."""
    words, files = command(hosts)
    with kind(words, {}, parts_of(text), files=files) as running:
        lines = []
        for line in running.lines(lambda: PATIENCE_S):
            lines.append(line)
            if isinstance(journal.parse(line), journal.ReadyLine):
                running.feed()
        return [line for line in lines if line], running.wait(PATIENCE_S), running.last_words


@pytest.mark.thorough
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"FAKE_JITTER": "0.1", "FAKE_SPREAD": "0.1", "FAKE_SLOWER": "2"},
        {"FAKE_REPORT": "over shared memory", "FAKE_CHATTER": "1"},
        {"FAKE_DEAD": "no such card"},
        {"FAKE_SINGLETONS": "1"},
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_both_say_the_same(
    fake_mpi: Install, monkeypatch: pytest.MonkeyPatch, kind: str, variables: dict[str, str]
) -> None:
    fake_mpi(kind)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    text = plan_of(*VISITS)
    found = ended(PlayedJob, text)
    assert found == ended(RunningJob, text)
    assert (found[1] == 0) == (not {"FAKE_DEAD", "FAKE_SINGLETONS"} & variables.keys())


@pytest.mark.thorough
def test_a_plan_in_parts_and_hosts_in_a_file_reach_it(openmpi: FakeMpi) -> None:
    text = plan_of(*(f"pingpong standard {size}" for size in range(1, 1200)))
    assert len(parts_of(text)) > 1
    found = ended(PlayedJob, text, hosts=("h1", "h2"))
    assert found == ended(RunningJob, text, hosts=("h1", "h2"))
    assert b'"host":"h2"' in b"".join(found[0])


def test_a_torn_plan_kills_both(openmpi: FakeMpi) -> None:
    text = plan_of(*VISITS).removesuffix("end\n")
    found = ended(PlayedJob, text + "end of it\n")
    assert found == ended(RunningJob, text + "end of it\n")
    assert found[1] == EXIT_USAGE


def test_only_our_own_programs_are_played(openmpi: FakeMpi, tmp_path: Path) -> None:
    words, _ = command()
    assert isinstance(job(words, {}), PlayedJob)
    other = install(tmp_path / "other", "openmpi").bin / "mpiexec"
    assert isinstance(job([str(other), *words[1:]], {}), PlayedJob)
    with other.open("a", encoding="utf-8") as file:
        file.write("# seen by a test\n")
    assert not isinstance(job([str(other), *words[1:]], {}), PlayedJob)
    assert not isinstance(job(["/bin/true", *words[1:]], {}), PlayedJob)
    assert not isinstance(job([*words[:-3], "/bin/true", "-", "-"], {}), PlayedJob)


@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_what_takes_a_process_has_one(openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    words, _ = command()
    assert not isinstance(job(words, {name: "1"}), PlayedJob)
    monkeypatch.setenv(name, "1")
    assert not isinstance(job(words, {}), PlayedJob)
