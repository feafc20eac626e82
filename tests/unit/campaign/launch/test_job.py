"""The files of a command are where its words say."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.campaign.launch.interruption import Interruption
from mpigauge.campaign.launch.job import HOSTS, HOSTS_FILE, write_files
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
