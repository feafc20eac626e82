"""Scripts for Slurm, NHC and the node exporter, on fake libraries, with stand-ins for what they call."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.integrations.conftest import INTEGRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.integrations.conftest import Programs, Shell

SCRIPTS = sorted(INTEGRATIONS.rglob("*.sh"))
FAST, SLOW = "pingpong 8B latency < 100us", "pingpong 8B latency < 1us"
"""What the library of `programs` keeps, and what it does not."""

NHC = """
die() { echo "ERROR: $2"; }
check_cmd_status() {
    local limit=5 wanted=0 option OPTIND=1
    while getopts ":r:t:" option; do
        case $option in r) wanted=$OPTARG ;; t) limit=$OPTARG ;; esac
    done
    shift $((OPTIND - 1))
    [ "$limit" -le "$TIMEOUT" ] || { die 1 "check_cmd_status: $limit s exceeds NHC's limit"; return 1; }
    timeout "$limit" "$@" </dev/null >/dev/null 2>&1
    local status=$?
    [ "$status" = "$wanted" ] || { die 1 "check_cmd_status: $status returned by \\"$*\\""; return 1; }
}
TIMEOUT=30
while IFS= read -r line; do
    case $line in '* || '*) eval "${line#\\* || }" || exit 1 ;; esac
done <"$1"
"""
"""As NHC reads its configuration, and what its check of a command does."""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(path: Path) -> None:
    done = subprocess.run(["shellcheck", path], capture_output=True, text=True, check=False)
    assert done.stdout == ""


# ---- A node --------------------------------------------------------------------------------------


@pytest.fixture
def check(programs: Programs, copied: Callable[..., Path], machine: Path) -> Callable[..., Path]:
    """The check of a node, as somebody has copied it."""
    programs.stand_in("logger")

    def copy(expectation: str, **lines: object) -> Path:
        expect = machine / "node.toml"
        expect.write_text(f'[expect]\nnode = "{expectation}"\n', encoding="utf-8")
        return copied(
            "slurm/node-check.sh",
            **{
                "MPIGAUGE": programs.folder / "mpigauge",
                "MPI": machine / "opt" / "openmpi-5.0.11",
                "EXPECT": expect,
                "FOLDER": machine / "kept",
                **lines,
            },
        )

    return copy


def ended(shell: Shell, path: Path, **variables: str) -> tuple[int, str]:
    """The status of a script, and its last line on standard error."""
    done = shell('"$1"', str(path), **variables)
    return done.returncode, (done.stderr.splitlines() or [""])[-1]


@pytest.mark.thorough
def test_a_node_as_it_should_be_passes_and_is_left_alone_for_a_day(
    shell: Shell, check: Callable[..., Path], programs: Programs, machine: Path
) -> None:
    path = check(FAST)
    assert ended(shell, path) == (0, "")
    (kept,) = (machine / "kept").glob("*.jsonl")
    programs.stand_in("mpigauge", 1)
    assert ended(shell, path) == (0, "")
    kept.unlink()
    assert ended(shell, path)[0] == 1
    assert programs.told("mpigauge")[0][0] == "run"


@pytest.mark.thorough
def test_a_slow_node_fails_and_says_what(shell: Shell, check: Callable[..., Path], machine: Path) -> None:
    status, said = ended(shell, check(SLOW))
    assert status == 1
    assert said.startswith("mpigauge: ")
    assert "fails: 1" in said
    assert not list((machine / "kept").glob("*.jsonl"))


@pytest.mark.parametrize(
    ("run", "status", "words"),
    [
        (2, 0, "wrong use"),
        (70, 0, "a fault of mpigauge"),
        (3, 1, "MPI does not work"),
        (4, 1, "MPI does not work"),
        (124, 1, "MPI does not"),
    ],
)
def test_no_mpi_is_a_nodes_fault_and_a_wrong_option_is_not(
    shell: Shell, check: Callable[..., Path], programs: Programs, run: int, status: int, words: str
) -> None:
    programs.stand_in("mpigauge", run)
    found, said = ended(shell, check(FAST))
    assert (found, words in said) == (status, True), said


@pytest.mark.thorough
def test_an_undecided_node_is_not_drained(shell: Shell, check: Callable[..., Path]) -> None:
    status, said = ended(shell, check("pingpong 64KiB latency < 1s"))  # which nobody measures
    assert (status, "undecided" in said) == (0, True), said


@pytest.mark.thorough
def test_the_health_check_drains_its_node(
    shell: Shell, check: Callable[..., Path], copied: Callable[..., Path], programs: Programs
) -> None:
    scontrol = programs.stand_in("scontrol")
    health = copied("slurm/health-check.sh", CHECK=check(FAST), SCONTROL=scontrol)
    assert (ended(shell, health), programs.told("scontrol")) == ((0, ""), [])
    check(SLOW, FOLDER=programs.folder / "other")
    assert ended(shell, health)[0] == 0
    ((verb, node, state, reason),) = programs.told("scontrol")
    assert (verb, state) == ("update", "state=drain")
    assert node.startswith("nodename=")
    assert reason.startswith("reason=mpigauge: ")
    assert "fails" in reason


@pytest.mark.thorough
@pytest.mark.parametrize(("expectation", "status"), [(FAST, 0), (SLOW, 1)])
def test_nhc_has_a_check_that_fits_its_limit(
    shell: Shell, check: Callable[..., Path], machine: Path, expectation: str, status: int
) -> None:
    path = check(expectation)
    text = (INTEGRATIONS / "slurm" / "nhc.conf").read_text(encoding="utf-8")
    conf = machine / "nhc.conf"
    conf.write_text(text.replace("/etc/slurm/mpigauge-node-check", str(path)), encoding="utf-8")
    done = shell(f"set +e +o pipefail\n{NHC}", str(conf))
    assert (done.returncode, "ERROR" in done.stdout) == (status, bool(status)), done.stdout


# ---- All pairs -----------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("slow", "status", "drained"),
    [("", 0, []), ("2:3", 1, ["nodename=h3"]), ("1:3 2:3", 1, None)],
    ids=["none", "one", "many"],
)
def test_slow_hosts_are_drained_unless_they_are_many(
    shell: Shell, copied: Callable[..., Path], programs: Programs, slow: str, status: int, drained: list[str]
) -> None:
    programs.stand_in("scontrol")
    ours = programs.folder / "mpigauge"
    hosts = '[ "$2" != -q ] || set -- "$@" --hosts h1,h2,h3,h4,h5,h6 --launches 4 --check-hosts no'
    ours.write_text(ours.read_text().replace("exec env", f"{hosts}\nexec env"), encoding="utf-8")
    found, said = ended(
        shell, copied("slurm/drain-slow.sh"), FAKE_SLOW=slow, MOST="1", RESULT="map.jsonl", SLURM_JOB_ID="5"
    )
    told = [words[1] for words in programs.told("scontrol")]
    assert found == status, said
    assert told == (drained or [])
    assert ("none is drained" in said) == (drained is None)
