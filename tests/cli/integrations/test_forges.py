"""The jobs for GitHub Actions and GitLab CI: parsed, and their steps run on fake libraries."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from mpigauge.cli import status_of
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED
from tests.cli.integrations.conftest import INTEGRATIONS
from tests.conftest import isolate
from tests.fakes.mpi import install

if TYPE_CHECKING:
    import subprocess

    from tests.cli.integrations.conftest import Programs, Shell

GITHUB = INTEGRATIONS / "github" / "slower.yml"
GITLAB = INTEGRATIONS / "gitlab" / "slower.yml"
BASE_NS = 10_000
FEW = ("--launches", "6", "--samples", "40", "--seed", "7")
VERDICTS = {BASE_NS * 2: EXIT_CHECK_FAILED, BASE_NS: EXIT_DONE}
"""What the build of a change takes for a message, and what the comparison then ends with."""


def parsed(path: Path) -> dict[Any, Any]:
    """A file of jobs."""
    found: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def steps(job: str) -> dict[str, str]:
    """The shell steps of a job of the workflow, by name."""
    return {step["name"]: step["run"] for step in parsed(GITHUB)["jobs"][job]["steps"] if "run" in step}


@pytest.fixture(scope="module", params=list(VERDICTS))
def measured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """What the jobs measure, with fewer samples, of a change that is as fast or slow as said; its verdict."""
    folder = tmp_path_factory.mktemp("builds")
    path = folder / "builds.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        patch.setenv("FAKE_JITTER", "0.01")
        main = install(folder / "main", "mpich", "5.0.2", latency_ns=BASE_NS)
        change = install(folder / "pr", "mpich", "5.0.2", latency_ns=request.param)
        words = ["--mpi", f"main={main.mpicc}", "--mpi", f"pr={change.mpicc}", "--sizes", "8,1KiB", *FEW]
        assert status_of(["run", "pingpong", "memcpy", *words, "-q", "-o", str(path)]) == 0
    return path, VERDICTS[request.param]


@pytest.fixture
def builds(programs: Programs, measured: tuple[Path, int]) -> int:
    """A folder with that result; its verdict."""
    path, verdict = measured
    shutil.copy(path, "builds.jsonl")
    return verdict


@pytest.mark.thorough
def test_the_workflow_compares_and_comments(shell: Shell, programs: Programs, builds: int) -> None:
    programs.stand_in("gh")
    compare, comment = steps("compare"), steps("comment")
    done = shell(compare["Compare"], GITHUB_STEP_SUMMARY="step.md")
    assert done.returncode == builds, done.stderr
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert summary.startswith("*slower: ") == (builds == EXIT_CHECK_FAILED)
    assert Path("step.md").read_text(encoding="utf-8") == summary
    assert shell(compare["Times for the charts"]).returncode == 0
    done = shell(comment["Comment"], NUMBER="7", GITHUB_REPOSITORY="owner/library")
    assert done.returncode == 0, done.stderr
    assert summary in Path("comment.md").read_text(encoding="utf-8")
    assert programs.told("gh")[-1][:3] == ["pr", "comment", "7"]
    (upload,) = [one for one in parsed(GITHUB)["jobs"]["compare"]["steps"] if "upload" in one.get("uses", "")]
    assert all(Path(name).stat().st_size for name in upload["with"]["path"].split())


def test_a_comment_of_ours_is_written_anew(shell: Shell, programs: Programs) -> None:
    Path("summary.md").write_text("nothing is slower\n", encoding="utf-8")
    gh = programs.stand_in("gh")
    gh.write_text(gh.read_text().replace("exit 0", '[ "$3" != --paginate ] || echo 41; exit 0'))
    done = shell(steps("comment")["Comment"], NUMBER="7", GITHUB_REPOSITORY="owner/library")
    assert done.returncode == 0, done.stderr
    assert "repos/owner/library/issues/comments/41" in programs.told("gh")[-1]


def test_undecided_warns_and_does_not_fail(shell: Shell, programs: Programs) -> None:
    programs.stand_in("mpigauge", EXIT_UNDECIDED)
    done = shell(steps("compare")["Compare"], GITHUB_STEP_SUMMARY="step.md")
    assert (done.returncode, done.stdout.startswith("::warning::undecided")) == (0, True)


def test_what_runs_the_change_may_not_write_and_strangers_do_not_reach_it() -> None:
    workflow = parsed(GITHUB)
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in workflow["jobs"]["compare"]
    assert workflow["jobs"]["comment"]["permissions"] == {"pull-requests": "write"}
    assert "head.repo.full_name == github.repository" in workflow["jobs"]["compare"]["if"]
    for job in workflow["jobs"].values():
        # What an expression yields becomes a part of the script, whatever somebody has called a branch.
        assert not [step["run"] for step in job["steps"] if "${{" in step.get("run", "")]


def gitlab(shell: Shell, **variables: str) -> subprocess.CompletedProcess[str]:
    """The script of GitLab's job, as its runner joins the lines, behind the measurement."""
    lines = [line for line in parsed(GITLAB)["slower"]["script"] if not line.startswith("mpigauge run ")]
    return shell("\n".join(lines), **variables)


@pytest.mark.thorough
def test_the_gitlab_job_compares_and_comments(shell: Shell, programs: Programs, builds: int) -> None:
    programs.stand_in("curl")
    around = {"CI_API_V4_URL": "https://forge/api/v4", "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
    done = gitlab(shell, COMMENT_TOKEN="secret", **around)  # noqa: S106 - of nobody
    assert done.returncode == builds, done.stderr
    (told,) = programs.told("curl")
    assert told[-1] == "https://forge/api/v4/projects/3/merge_requests/7/notes"
    assert "body=<summary.md" in told
    job = parsed(GITLAB)["slower"]
    assert all(Path(name).stat().st_size for name in job["artifacts"]["paths"])
    suite = ET.parse(job["artifacts"]["reports"]["junit"]).getroot()  # noqa: S314 - our own
    assert (int(suite.get("failures", "0")) > 0) == (builds == EXIT_CHECK_FAILED)
    assert job["allow_failure"]["exit_codes"] == EXIT_UNDECIDED


@pytest.mark.parametrize(("token", "calls"), [("", 0), ("secret", 1)])
def test_the_gitlab_job_keeps_its_status_without_a_note(
    shell: Shell, programs: Programs, token: str, calls: int
) -> None:
    """Without a token nothing is sent; a forge that refuses is no verdict either."""
    programs.stand_in("mpigauge", EXIT_UNDECIDED)
    programs.stand_in("curl", 22)
    done = gitlab(shell, COMMENT_TOKEN=token, CI_API_V4_URL="", CI_PROJECT_ID="", CI_MERGE_REQUEST_IID="")
    assert (done.returncode, len(programs.told("curl"))) == (EXIT_UNDECIDED, calls)
