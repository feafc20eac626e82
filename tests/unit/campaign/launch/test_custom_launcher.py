"""A launcher in the user's words: what they ask for is filled in, and what nobody can fill in is named."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.campaign.launch import custom_launcher
from mpigauge.campaign.launch.job import HOSTS, HOSTS_FILE, Job
from mpigauge.campaign.launch.launchers import LAUNCHERS, command_of
from mpigauge.errors import UsageError

JOB = Job(Path("/opt/mpi/bin/mpiexec"), 3, ("a kernel", "-", "-"), 3, options=("-v",))
SPREAD = replace(JOB, hosts=("h2", "h1", "h2"))


def test_names_of_launchers_are_not_templates() -> None:
    assert not any(map(custom_launcher.is_template, (*LAUNCHERS, "auto", "aprun", "")))
    assert all(map(custom_launcher.is_template, ("flux run", "{ranks}", "/opt/start")))


def test_templates_are_split_like_shell_words_and_run_without_a_shell() -> None:
    found = command_of(JOB, "start -n {ranks} 'two words' --x=${{HOME}};ls|cat")
    assert found.words == ("start", "-n", "3", "two words", "--x=${HOME};ls|cat", "-v", "a kernel", "-", "-")
    assert not found.files


def test_hosts_are_a_list_or_a_file() -> None:
    assert command_of(SPREAD, "start -n {ranks} -H {hosts}").words[:5] == ("start", "-n", "3", "-H", "h2,h1")
    found = command_of(SPREAD, "start --file={hostfile}")
    assert found.words[1] == f"--file={HOSTS_FILE}"
    assert found.files == {HOSTS: "h2\nh1\nh2\n"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("start -n {cores}", "{cores} is not a placeholder"),
        ("start -n {ranks", "{ranks is not a placeholder"),
        ("start -n {ranks:>4}", "{ranks} is not a placeholder"),
        ("start -n {}", "{} is not a placeholder"),
        ("start -n 4", "does not say how many ranks"),
        ("start '-n {ranks}", "cannot be split into words"),
        ("start -H {hosts}", "asks for hosts, and there are none"),
    ],
)
def test_invalid_templates_are_named(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        command_of(JOB, text)
    assert said in caught.value.sentence


@given(st.text(alphabet="ab{}'\"\\ ranks hosts!:$\n", max_size=30))
def test_no_template_makes_it_crash(text: str) -> None:
    """They make a command of this very program, or a sentence."""
    with contextlib.suppress(UsageError):
        assert command_of(SPREAD, f"{{ranks}} {text}").words[-3:] == JOB.program
