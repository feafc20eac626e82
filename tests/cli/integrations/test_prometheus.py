"""What the node exporter finds, and that alerts and dashboard ask for nothing else."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from mpigauge.cli import status_of
from tests.cli.integrations.conftest import INTEGRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.integrations.conftest import Programs, Shell

FOLDER = INTEGRATIONS / "prometheus"
METRIC = re.compile(r"\bmpigauge_[a-z_]+\b")


@pytest.fixture
def collect(shell: Shell, programs: Programs, machine: Path) -> Callable[[], str]:
    """Runs the script that measures; what the collector finds then."""
    (machine / "textfiles").mkdir()
    (machine / "node.toml").write_text('[expect]\nnode = "pingpong 8B latency < 100us"\n', encoding="utf-8")

    def run() -> str:
        done = shell(
            '"$1"',
            str(FOLDER / "mpigauge-metrics.sh"),
            MPIGAUGE=str(programs.folder / "mpigauge"),
            MPI=str(machine / "opt" / "openmpi-5.0.11"),
            EXPECT=str(machine / "node.toml"),
            TEXTFILES=str(machine / "textfiles"),
            FOLDER=str(machine / "kept"),
        )
        assert done.returncode == 0, done.stderr
        (path,) = (machine / "textfiles").iterdir()
        assert path.name == "mpigauge.prom"
        assert path.stat().st_mode & 0o777 == 0o644  # the exporter is somebody else
        return path.read_text(encoding="utf-8")

    return run


def values(text: str) -> dict[str, float]:
    """The metrics without labels."""
    return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.MULTILINE)}


@pytest.mark.thorough
def test_numbers_and_verdict_are_collected_and_failures_too(
    collect: Callable[[], str], programs: Programs, machine: Path
) -> None:
    text = collect()
    assert values(text) | {"mpigauge_run_status": 0, "mpigauge_check_status": 0} == values(text)
    (latency,) = re.findall(
        r'^mpigauge_latency_seconds{.*pattern="pingpong".*bytes="8".*} (\S+)$', text, re.MULTILINE
    )
    assert float(latency) == pytest.approx(10e-6, rel=0.02)
    (machine / "node.toml").write_text('[expect]\nnode = "pingpong 8B latency < 1us"\n', encoding="utf-8")
    assert values(collect())["mpigauge_check_status"] == 1
    programs.stand_in("mpigauge", 4)
    text = collect()
    assert values(text)["mpigauge_run_status"] == 4
    assert "mpigauge_latency_seconds" not in text
    assert not list((machine / "kept").glob("metrics.*"))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Of all metrics that the script leaves: those of the format, and those that it adds."""
    added = re.findall(
        r"^# TYPE (\w+) ", (FOLDER / "mpigauge-metrics.sh").read_text(encoding="utf-8"), re.MULTILINE
    )
    path = tmp_path_factory.mktemp("metrics") / "metrics.prom"
    kept = INTEGRATIONS.parents[1] / "docs" / "results" / "first.jsonl.gz"
    assert status_of(["show", str(kept), "--all", "--format", "prometheus", "-o", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    return {*added, *re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE)}


def expressions(of: Any) -> Iterator[str]:
    """Everything that Prometheus is asked in a dashboard or a file of rules."""
    if isinstance(of, dict):
        yield from (value for key, value in of.items() if key in ("expr", "query") and isinstance(value, str))
    for one in of.values() if isinstance(of, dict) else of if isinstance(of, list) else ():
        yield from expressions(one)


@pytest.mark.parametrize("name", ["prometheus/alerts.yml", "grafana/dashboard.json"])
def test_only_metrics_that_exist_are_asked_for(name: str, names: set[str]) -> None:
    asked = [one for one in expressions(yaml.safe_load((INTEGRATIONS / name).read_text())) if "mpi" in one]
    found = {metric for one in asked for metric in METRIC.findall(one)}
    assert len(found) >= 4
    assert found <= names


def test_the_dashboard_has_a_place_for_each_of_its_panels() -> None:
    dashboard = json.loads((INTEGRATIONS / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) >= 5
    taken = [
        (x, y)
        for at in (panel["gridPos"] for panel in panels)
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert max(x for x, _ in taken) < 24
    sources = {json.dumps(panel["datasource"]) for panel in panels}
    assert sources == {json.dumps({"type": "prometheus", "uid": "${source}"})}


def test_the_timer_starts_the_service_which_starts_the_script() -> None:
    units = {}
    for ending in ("service", "timer"):
        units[ending] = configparser.ConfigParser()
        units[ending].read(FOLDER / f"mpigauge-metrics.{ending}", encoding="utf-8")
    assert units["service"]["Service"]["ExecStart"] == "/usr/local/sbin/mpigauge-metrics"
    assert units["timer"]["Timer"]["OnCalendar"] == "0/6:17"


def promtool(*words: str, text: str = "") -> tuple[int, str]:
    """How it ended, and what it said."""
    command = ["promtool", *words]
    done = subprocess.run(command, cwd=FOLDER, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.programs
@pytest.mark.needs("promtool")
def test_the_rules_say_what_their_tests_want() -> None:
    for words in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        status, said = promtool(*words)
        assert (status, "SUCCESS" in said) == (0, True), said


@pytest.mark.programs
@pytest.mark.needs("promtool")
def test_promtool_reads_what_is_collected(collect: Callable[[], str]) -> None:
    assert promtool("check", "metrics", text=collect()) == (0, "")


@pytest.mark.programs
@pytest.mark.needs("promtool")
def test_promtool_understands_what_the_dashboard_asks(tmp_path: Path) -> None:
    """As rules of its own: $node and its kind are Grafana's."""
    dashboard = json.loads((INTEGRATIONS / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
    asked = [one for panel in dashboard["panels"] for one in expressions(panel["targets"])]
    rules = [{"record": f"asked:{number}", "expr": one} for number, one in enumerate(asked)]
    path = tmp_path / "asked.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "asked", "rules": rules}]}), encoding="utf-8")
    status, said = promtool("check", "rules", str(path))
    assert (status, f"{len(asked)} rules found" in said) == (0, True), said
