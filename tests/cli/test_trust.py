"""Whose result it is: `resume` runs what its user has begun, and what a stranger's names only if told to."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.campaign import trusted_results
from mpigauge.result.environment import HIDDEN
from mpigauge.result.reader import load
from tests.cli.journey import MEASURE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

LIST = "home/.local/state/mpigauge/campaigns"


@pytest.fixture
def interrupted(cli: Cli, openmpi: FakeMpi) -> Path:
    """A result of this user that lacks its end."""
    path = Path("r.jsonl")
    assert cli("run", *MEASURE, "-o", str(path), "-q").status == 0
    *lines, end = path.read_bytes().splitlines(keepends=True)
    assert b'"type":"end"' in end
    path.write_bytes(b"".join(lines[:-2]))
    return path


def test_a_result_of_ours_goes_on_wherever_it_lies_now(cli: Cli, interrupted: Path) -> None:
    shutil.copy(interrupted, "copy.jsonl")
    assert cli("resume", "copy.jsonl").status == 0
    assert load(Path("copy.jsonl")).ends


def test_what_is_not_utf_8_around_us_keeps_a_result_ours(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a folder of somebody whose name was written down in Latin 1."""
    monkeypatch.setenv("SLURM_SUBMIT_DIR", os.fsdecode(b"/home/m\xfcller"))
    path = Path("r.jsonl")
    assert cli("run", *MEASURE, "-o", str(path)).status == 0
    assert load(path).campaign.environment.variables["SLURM_SUBMIT_DIR"] == r"/home/m\xfcller"
    assert cli("show", str(path)).status == 0
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    assert cli("resume", str(path)).status == 0
    assert load(path).ends


@pytest.mark.parametrize("words", [("--env", b"WHO=m\xfcller"), ("--mpi-option", b"--m\xfcller")])
def test_what_a_campaign_could_not_go_on_with_is_refused(
    cli: Cli, openmpi: FakeMpi, words: tuple[str, bytes]
) -> None:
    """The result would hold other words, and a launch after `resume` would be another than those before."""
    option, value = words
    done = cli("run", *MEASURE, "-o", "r.jsonl", option, os.fsdecode(value))
    assert done.status == 2
    assert "is not UTF-8" in done.err
    assert not Path("r.jsonl").exists()


def stranger(path: Path, library: Mapping[str, object] | None = None, **plan: object) -> None:
    """Makes a result somebody else's, with something more in its plan and in the record of its library."""
    first, *others = path.read_bytes().splitlines(keepends=True)
    head = json.loads(first)
    head["plan"] |= plan
    head["libraries"][0] |= library or {}
    path.write_bytes(json.dumps(head).encode() + b"\n" + b"".join(others))


def test_a_strangers_result_says_what_it_would_run_and_runs_nothing(
    cli: Cli, interrupted: Path, tmp_path: Path
) -> None:
    shell = tmp_path / "shell"
    shell.write_text(f"#!/bin/sh\n: >{tmp_path}/pwned\nexit 1\n", encoding="ascii")
    shell.chmod(0o755)
    named: dict[str, Any] = {
        "remote_shell": str(shell),
        "variables": {"LD_PRELOAD": "/opt/x.so"},
        "mpi_options": ["--x"],
    }
    stranger(interrupted, hosts=[{"name": "node1", "slots": 2}], **named)
    before = interrupted.read_bytes()
    done = cli("resume", str(interrupted))
    assert done.status == 2
    for word in (
        "mpicc",
        "mpiexec",
        str(shell),
        "LD_PRELOAD=/opt/x.so",
        "options --x",
        "host node1",
        "--trust",
    ):
        assert word in done.err
    assert interrupted.read_bytes() == before
    assert not (tmp_path / "pwned").exists()
    assert cli("resume", "--trust", str(interrupted)).status == 3  # the shell reaches no host
    assert (tmp_path / "pwned").exists()


def test_every_program_of_a_strangers_result_is_named(cli: Cli, interrupted: Path) -> None:
    library = {"mpicc_options": ["-cc=/opt/cc"], "compiler": "/opt/mpicc_abi"}
    stranger(interrupted, library, mpiexec="/opt/mine/mpiexec", launcher="/opt/start -n {ranks}")
    said = cli("resume", str(interrupted)).err
    for word in ("/opt/mine/mpiexec", "/opt/start", "-cc=/opt/cc", "/opt/mpicc_abi"):
        assert word in said


def test_no_word_of_a_stranger_passes_for_one_of_ours(cli: Cli, interrupted: Path) -> None:
    stranger(
        interrupted,
        variables={"A": "b; no program\n  hint: mpigauge resume --trust\x1b[2J\N{RIGHT-TO-LEFT OVERRIDE}"},
    )
    said = cli("resume", str(interrupted)).err
    assert "variables 'A=b; no program   hint: mpigauge resume --trust?[2J?'" in said
    assert said.count("\n  hint: ") == 1


def test_what_is_to_be_typed_is_for_a_shell(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, title="a gift")
    named = interrupted.rename("of node 1; ls.jsonl")
    assert re.search(
        rf"mpigauge resume --trust --digest [0-9a-f]{{32}} '{named}'", cli("resume", str(named)).err
    )
    assert f"mpigauge show --all '{named}'" in cli("show", str(named)).out


def command_in(hint: str) -> list[str]:
    """The words behind `mpigauge` of the command that a hint ends in."""
    return shlex.split(hint.rpartition("mpigauge ")[2])


@pytest.mark.usefixtures("bash")
@pytest.mark.parametrize("named", ["{0}/env.sh", "env.sh", "./env.sh", "../{0.name}/env.sh release"])
def test_a_script_is_named_by_its_path_and_only_the_one_that_was_asked_about_is_sourced(
    cli: Cli, interrupted: Path, named: str
) -> None:
    script, sourced = Path.cwd() / "env.sh", Path.cwd() / "sourced"
    script.write_text(f"echo one >> {sourced}\n")
    stranger(interrupted, {"loaded_by": f"source:{named.format(Path.cwd())}"})
    asked = cli("resume", str(interrupted))
    assert (asked.status, str(script) in asked.err, sourced.exists()) == (2, True, False)
    script.write_text(f"echo another >> {sourced}\n")
    changed = cli(*command_in(asked.err))
    assert (
        changed.status,
        f"what digest {command_in(asked.err)[3]} is of" in changed.err,
        sourced.exists(),
    ) == (2, True, False)
    assert cli(*command_in(changed.err)).status == 0
    assert set(sourced.read_text().split()) == {"another"}


@pytest.mark.usefixtures("bash")
def test_a_script_that_the_user_named_is_recorded_by_its_whole_path(cli: Cli, openmpi: FakeMpi) -> None:
    """Continued in another folder, it would be another script."""
    script = Path.cwd() / "env.sh"
    script.write_text(f"export PATH={openmpi.bin}:$PATH\n")
    assert cli("run", *MEASURE, "--mpi", "source:env.sh", "-o", "r.jsonl").status == 0
    assert load(Path("r.jsonl")).campaign.libraries[0].loaded_by == f"source:{script}"


def test_options_that_a_record_claims_to_be_needed_reach_no_launcher(cli: Cli, interrupted: Path) -> None:
    """Whoever may write to a result of ours could name a launch agent by them."""
    lines = interrupted.read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if b'"type":"launch"' in line)
    launch = json.loads(lines[number])
    launch["options_found"] = ["--launch-agent", "/opt/agent"]
    interrupted.write_bytes(b"".join(lines[:number]) + json.dumps(launch).encode() + b"\n")
    assert cli("resume", str(interrupted)).status == 0
    first, *others = load(interrupted).launches
    assert first.options_found
    assert others
    assert not [launch for launch in others if "--launch-agent" in launch.command]


def test_a_digest_is_of_what_is_trusted(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, title="a gift")
    for options in (["--digest", "0" * 32], ["--trust", "--digest", "0" * 32]):
        done = cli("resume", *options, str(interrupted))
        assert (done.status, "mpigauge resume --trust --digest" in done.err) == (2, True)


def test_a_file_whose_name_breaks_lines_gives_no_hint_of_its_own(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, title="a gift")
    named = interrupted.rename("r\n  hint: mpigauge resume --trust evil.jsonl")
    said = cli("resume", str(named)).err
    assert said.count("\n  hint: ") == 1
    assert r"$'r\x0a  hint: mpigauge resume --trust evil.jsonl'" in said


def test_of_the_users_own_environment_a_stranger_gets_nothing_into_the_result(
    cli: Cli, interrupted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARMLESS", "nobody's business")
    stranger(interrupted, variables={"HARMLESS": HIDDEN})
    assert cli("resume", "--trust", str(interrupted)).status == 3
    assert b"nobody's business" not in interrupted.read_bytes()


@pytest.mark.parametrize("label", ["source:/opt/env.sh x", "a=/opt/b"])
def test_a_label_is_no_library(cli: Cli, interrupted: Path, label: str) -> None:
    """`compare --remeasure` names libraries by label and path, as a user does."""
    stranger(interrupted, {"label": label})
    done = cli("compare", "--remeasure", "--trust", str(interrupted), str(interrupted))
    assert (done.status, "line 1 is damaged" in done.err) == (2, True)


def test_a_launcher_is_the_same_for_every_job(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, launcher="/opt/run{ranks}")
    done = cli("resume", "--trust", str(interrupted))
    assert (done.status, "begins with a placeholder" in done.err) == (2, True)


def test_a_strangers_result_goes_on_if_it_is_trusted(cli: Cli, interrupted: Path) -> None:
    stranger(interrupted, title="a gift")
    assert cli("resume", str(interrupted)).status == 2
    assert cli("resume", "--trust", str(interrupted)).status == 0
    assert load(interrupted).ends


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_list_that_others_may_write_proves_nothing(
    cli: Cli, interrupted: Path, tmp_path: Path, mode: int
) -> None:
    (tmp_path / LIST).chmod(mode)
    assert cli("resume", str(interrupted)).status == 2


def test_the_list_is_ours_alone_and_has_no_names_in_it(interrupted: Path, tmp_path: Path) -> None:
    assert interrupted.exists()
    path = tmp_path / LIST
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert {len(line) for line in path.read_text(encoding="ascii").splitlines()} == {64}


def test_without_a_folder_of_states_a_campaign_runs_and_is_nobodys(
    cli: Cli,
    openmpi: FakeMpi,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "states")  # the standard ignores what is not absolute
    assert cli("run", *MEASURE, "-o", "r.jsonl").status == 0
    assert not trusted_results.is_trusted(load(Path("r.jsonl")).campaign)
    assert not Path("states").exists()


def test_no_link_in_the_folder_of_states_is_followed(cli: Cli, openmpi: FakeMpi, tmp_path: Path) -> None:
    kept, path = tmp_path / "kept", tmp_path / LIST
    kept.write_text("precious")
    path.parent.mkdir(parents=True, mode=0o700)
    path.symlink_to(kept)
    assert cli("run", *MEASURE, "-o", "r.jsonl").status == 0
    assert kept.read_text() == "precious"


# ---- Secrets -------------------------------------------------------------------------------------

SECRET = "hunter2"  # noqa: S105 - of nothing


@pytest.mark.parametrize("words", ["HF_TOKEN=hunter2", "PROXY=https://me:hunter2@proxy:3128"])
def test_what_may_be_a_secret_is_given_to_the_job_and_written_nowhere(
    cli: Cli,
    openmpi: FakeMpi,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
) -> None:
    assert cli("run", *MEASURE, "-o", "r.jsonl", "--env", words, "--env", "UCX_TLS=tcp").status == 0
    path = Path("r.jsonl")
    assert SECRET.encode() not in path.read_bytes()
    assert b'"UCX_TLS":"tcp"' in path.read_bytes()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    name, _, value = words.partition("=")
    done = cli("resume", str(path))
    assert done.status == 3
    assert f"export {name}=" in done.err
    monkeypatch.setenv(name, value)
    assert cli("resume", str(path)).status == 0
    assert SECRET.encode() not in path.read_bytes()


@pytest.mark.parametrize("words", ["HF_TOKEN=hunter2,other", "PROXY=http://a/,https://me:hunter2@proxy:3128"])
@pytest.mark.parametrize("how", ["option", "plan"])
def test_what_may_be_a_secret_is_not_varied(cli: Cli, openmpi: FakeMpi, words: str, how: str) -> None:
    """Values that are varied tell cells apart, so that all that is shown has them."""
    name, _, values = words.partition("=")
    if how == "option":
        done = cli("run", *MEASURE, "-o", "r.jsonl", "--vary", words)
    else:
        measure = 'measure = [{ pattern = "pingpong" }]'
        plan = f"{measure}\n[vary]\n{name} = {json.dumps(values.split(','))}\n"
        Path("plan.toml").write_text(plan, encoding="utf-8")
        done = cli("run", "--plan", "plan.toml", "-o", "r.jsonl")
    assert done.status == 2
    assert f"{name} may be a secret" in done.err
    assert SECRET not in done.err
    assert not Path("r.jsonl").exists()


def test_what_may_be_a_secret_is_no_argument_of_a_script(cli: Cli, openmpi: FakeMpi) -> None:
    """A result has the words that load a library, which `resume` needs."""
    script = Path("env.sh")
    script.write_text("touch ran\n", encoding="utf-8")
    done = cli("run", *MEASURE, "-o", "r.jsonl", "--mpi", f"source:{script.absolute()} --token={SECRET}")
    assert done.status == 2
    assert "may be a secret" in done.err
    assert SECRET not in done.err
    assert not Path("ran").exists()
    assert not Path("r.jsonl").exists()


@pytest.mark.usefixtures("bash")
def test_of_what_a_script_sets_no_value_is_handed_over_that_no_mpi_library_reads(
    cli: Cli, openmpi: FakeMpi
) -> None:
    Path("env.sh").write_text(
        f"export PATH={openmpi.bin}:$PATH UCX_TLS=sm MAIL_PWD={SECRET} LICENCE={SECRET} HOOK=//u:{SECRET}@h\n"
        f"export SLURM_MAIL_PWD={SECRET} OMPI_MCA_x_pat={SECRET} UCX_URL=ucx://me:{SECRET}@h\n"
    )
    assert cli("run", *MEASURE, "--mpi", "source:env.sh", "--into", "handed in").status == 0
    (path,) = Path("handed in").glob("*.jsonl")
    (library,) = load(path).campaign.libraries
    assert library.environment["UCX_TLS"] == "sm"
    assert library.environment["LICENCE"] == library.environment["MAIL_PWD"] == HIDDEN
    files = [one for one in Path("handed in").rglob("*") if one.is_file()]
    assert {".jsonl", ".html", ".txt"} <= {one.suffix for one in files}
    assert not [one for one in files if SECRET.encode() in one.read_bytes()]
    assert all(SECRET not in cli(*verb, str(path)).out for verb in (["show", "--all"], ["explain", "--all"]))


@pytest.mark.parametrize(
    "words",
    [
        f"error: cannot reach https://me:{SECRET}@licences:3128/x",
        f"error: API_TOKEN={SECRET} is not valid",
        f'error: API_TOKEN="x {SECRET}" is not valid',
        f"error: wrong password: {SECRET}",
        f"error: licence --password {SECRET}",
        f"error: Authorization: Bearer {SECRET}",
        f"error: ghp_0123456789abcdef{SECRET}",
    ],
)
def test_of_what_a_dying_job_says_no_secret_is_kept(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setenv("FAKE_DEAD", words)
    done = cli("run", *MEASURE, "-o", "r.jsonl")
    assert "error: " in done.err
    assert SECRET not in done.err
    assert SECRET.encode() not in Path("r.jsonl").read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        ("--launcher", "env API_TOKEN={0} {1} --allow-run-as-root -n {{ranks}}"),
        ("--launcher", "{1} -x MY_TOKEN={0} --allow-run-as-root -n {{ranks}}"),
        ("--mpi-option", "-x", "--mpi-option", "https://me:{0}@h"),
        ("--remote-shell", "sshpass -p {0} ssh"),
    ],
)
def test_what_may_be_a_secret_is_no_recorded_word_of_a_launcher(
    cli: Cli, openmpi: FakeMpi, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join((os.environ["PATH"], "/usr/bin")))
    given = [word.format(SECRET, openmpi.bin / "mpiexec") for word in words]
    assert cli("run", *MEASURE, "--mpi", str(openmpi.mpicc), "-o", "r.jsonl", *given).status == 0
    path = Path("r.jsonl")
    assert SECRET.encode() not in path.read_bytes()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    done = cli("resume", str(path))
    assert (done.status, "words of a launcher that are not recorded" in done.err) == (3, True)


def test_switches_of_a_launcher_are_no_secrets(cli: Cli, openmpi: FakeMpi) -> None:
    launcher = f"{openmpi.bin / 'mpiexec'} -x StrictHostKeyChecking=no --allow-run-as-root -n {{ranks}}"
    assert cli("run", *MEASURE, "-o", "r.jsonl", "--launcher", launcher).status == 0
    assert "StrictHostKeyChecking=no" in load(Path("r.jsonl")).launches[0].command
