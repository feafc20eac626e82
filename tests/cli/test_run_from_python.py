"""`mpigauge.run` on a fake library: the plan of the command line, its errors, its silence."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import mpigauge
from mpigauge.api.running import OPTIONS
from mpigauge.campaign.launch import interruption
from mpigauge.cli.options.run_options import planned
from mpigauge.errors import EnvironmentLacksError, MpigaugeError, UsageError
from mpigauge.plan.plan_file import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Cli
    from tests.fakes.mpi import FakeMpi

QUICK: dict[str, Any] = {"launches": 2, "samples": 40, "seed": 7, "sizes": [8, 64]}


def test_it_measures_and_is_silent(openmpi: FakeMpi, capfd: pytest.CaptureFixture[str]) -> None:
    result = mpigauge.run("pingpong", **QUICK)
    assert capfd.readouterr() == ("", "")
    assert set(result.rows(pattern="pingpong")["bytes"]) == {8, 64}
    assert set(result.rows()["launches"]) == {2}
    assert result.paths[0].parent == Path("results")
    assert mpigauge.load().rows()["time_estimate_s"] == result.rows()["time_estimate_s"]


def test_a_dict_a_file_and_options_are_one_plan(openmpi: FakeMpi, cli: Cli) -> None:
    Path("p.toml").write_text('sizes = "8,64"\n[[measure]]\npattern = "pingpong"\n', encoding="utf-8")
    more = {name: value for name, value in QUICK.items() if name != "sizes"}
    found = [
        mpigauge.run("pingpong", **QUICK),
        mpigauge.run({"measure": [{"pattern": "pingpong"}], **more, "sizes": "8,64"}),
        mpigauge.run("p.toml", **more),
        mpigauge.run(Path("p.toml"), output="o.jsonl", **more),
    ]
    plan, *_ = planned(("pingpong", "--sizes", "8,64", "--launches", "2", "--samples", "40", "--seed", "7"))
    for name in ("title", "measure", "seed", "launches_max", "rounds_max", "budget_s", "precision", "ranks"):
        assert getattr(found[0].results[0].campaign.plan, name) == getattr(plan, name), name
    cells = [one.results[0].campaign.cells for one in found]
    assert all(one == cells[0] for one in cells)
    assert found[-1].paths == (Path("o.jsonl"),)


def test_its_course_is_told_to_a_logger(openmpi: FakeMpi, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "mpigauge"):
        mpigauge.run("pingpong", **QUICK)
    assert [one for one in caplog.messages if one.startswith("launch 2: ")]
    with caplog.at_level(logging.INFO, "mpigauge"):
        of_two = mpigauge.run("barrier", quick=True, launches=1, samples=4, vary={"A": ["1", "2"]})
    assert "2 jobs, 12 s per job: at most 24 s" in caplog.messages
    assert of_two.results[0].campaign.plan.budget_s == 24.0


def test_options_are_keys_of_a_plan() -> None:
    assert set(OPTIONS) <= {*Asked.__struct_fields__, "modes", "ranks", "window", "roots"}


@pytest.mark.parametrize(
    ("plan", "options", "said"),
    [
        ("pongping", {}, "no pattern is called 'pongping'"),
        ("pingpong", {"size": 8}, "no option 'size'"),
        ("pingpong", {"ranks": "two"}, "ranks"),
        ("pingpong", {"sizes": "eight"}, "eight"),
        ({"measure": [], "surprise": 1}, {}, "surprise"),
        ({"measure": []}, {}, "nothing to measure"),
        ("nothing.toml", {}, "nothing.toml: cannot be read"),
        ("pingpong", {"quick": True, "thorough": True}, "exclude each other"),
        ({"measure": [{"pattern": "pingpong"}], "lab": {"hosts": 2}}, {}, "a lab"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_so(
    openmpi: FakeMpi, plan: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        mpigauge.run(plan, **options)
    assert not Path("results").exists()


def test_a_machine_without_a_library_and_a_file_that_is_there(machine: Path, cli: Cli) -> None:
    with pytest.raises(EnvironmentLacksError):
        mpigauge.run("pingpong", **QUICK)


def test_a_result_is_never_overwritten(openmpi: FakeMpi) -> None:
    Path("o.jsonl").write_text("mine", encoding="utf-8")
    with pytest.raises(MpigaugeError, match=r"o\.jsonl"):
        mpigauge.run("pingpong", output="o.jsonl", **QUICK)
    assert Path("o.jsonl").read_text(encoding="utf-8") == "mine"


def test_another_thread_is_told_why_not(openmpi: FakeMpi) -> None:
    said: list[str] = []

    def other() -> None:
        try:
            mpigauge.run("pingpong", **QUICK)
        except UsageError as error:
            said.append(error.sentence)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert said == ["mpigauge.run must be called in the main thread"]


# ---- Signals whose handler returns ---------------------------------------------------------------


def once(holds: Callable[[str], bool], number: signal.Signals) -> threading.Thread:
    """Sends a signal to this process when the text of the result says so."""

    def wait() -> None:
        while not (Path("r.jsonl").exists() and holds(Path("r.jsonl").read_text(encoding="utf-8"))):
            time.sleep(0.005)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.fixture(params=[signal.SIGTERM, signal.SIGINT])
def handled(request: pytest.FixtureRequest) -> Iterator[tuple[signal.Signals, list[int]]]:
    """A signal with a handler that only notes it, as frameworks have."""
    heard: list[int] = []
    before = signal.signal(request.param, lambda number, _: heard.append(number))
    yield request.param, heard
    signal.signal(request.param, before)


def test_who_handles_a_signal_is_told_that_the_result_is_a_part(
    openmpi: FakeMpi, handled: tuple[signal.Signals, list[int]]
) -> None:
    number, heard = handled
    thread = once(lambda text: text.count('"type":"visit"') > 3, number)
    result = mpigauge.run("pingpong", output="r.jsonl", **{**QUICK, "launches": 500})
    thread.join()
    assert heard == [number]
    assert result.stopped == number.name
    assert result.results[0].ends[-1].reason == "interrupted"
    assert mpigauge.load("r.jsonl").stopped is None


def test_who_handles_a_signal_is_told_that_nothing_was_measured(
    openmpi: FakeMpi, handled: tuple[signal.Signals, list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_NAP_S", "60")
    monkeypatch.setattr(interruption, "GRACE_S", 0.1)
    number, heard = handled
    thread = once(lambda text: '"type":"launch"' in text, number)
    with pytest.raises(InterruptedError, match=number.name):
        mpigauge.run("pingpong", output="r.jsonl", **QUICK)
    thread.join()
    assert heard == [number]
