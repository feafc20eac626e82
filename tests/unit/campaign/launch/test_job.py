"""The files of a command are where its words say."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import pytest

from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.job import HOSTS, HOSTS_FILE, temporary_folder, write_files
from mpigauge.campaign.launch.process import RunningJob
from mpigauge.errors import EnvironmentLacksError

NEVER_S = 60.0


def test_files_are_written_and_their_names_filled_in(tmp_path: Path) -> None:
    words = write_files(["run", f"--file={HOSTS_FILE}", "$TMPDIR/other"], {HOSTS: "h1\nh2\n"}, tmp_path)
    assert words == ["run", f"--file={tmp_path}/hosts", "$TMPDIR/other"]
    assert (tmp_path / HOSTS).read_text(encoding="ascii") == "h1\nh2\n"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentLacksError, match="gone/hosts: cannot be written"):
        write_files(["run"], {HOSTS: "h1\n"}, tmp_path / "gone")


def test_a_job_reads_its_files_from_its_own_folder_and_takes_them_along() -> None:
    with Interruption() as interruption:
        job = RunningJob(
            ["sh", "-c", 'cat "$0"; echo "$0" "$TMPDIR"', HOSTS_FILE],
            {},
            (),
            interruption,
            files={HOSTS: "h1\n"},
        )
        with job as running:
            first, second = running.lines(lambda: NEVER_S)
    path, folder = second.decode().split()
    assert first == b"h1"
    assert Path(path).parent == Path(folder)
    assert not Path(folder).exists()


def test_where_no_file_may_grow_a_folder_is_not_called_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """`tempfile` tries folders by writing a file, and says of all of them that they cannot be used."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(EnvironmentLacksError, match="no file may grow here") as caught:
            temporary_folder("a job")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.hint == "raise ulimit -f"
