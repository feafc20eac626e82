"""The link map from the command to its verdict, by the fake kernel's law: nothing here needs MPI."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.linkmap.linkmap import link_map
from mpigauge.result.reader import load
from mpigauge.show.figures.map import figure
from tests.cli.maps import HOSTS, mapped, whole
from tests.places import DOCS

if TYPE_CHECKING:
    from tests.conftest import Cli

MEASURED: dict[tuple[object, ...], bytes] = {}

pytestmark = pytest.mark.usefixtures("little_noise")


def known(cli: Cli, monkeypatch: pytest.MonkeyPatch, slow: str, *words: object) -> Path:
    """A map of six hosts, measured once in a session: for tests of what is shown of one."""
    monkeypatch.setenv("FAKE_SLOW", slow)
    path, key = Path("map.jsonl"), (slow, *words)
    if key not in MEASURED:
        mapped(cli, "--np", 6, *words, "-o", path)
        MEASURED[key] = path.read_bytes()
    path.write_bytes(MEASURED[key])
    return path


@pytest.mark.thorough
def test_a_uniform_map_has_nothing_slow(cli: Cli) -> None:
    done = mapped(cli, "--np", 6, "--format", "json", "-o", "map.jsonl")
    assert done.status == 0, done.err
    said = whole(done)
    assert said["verdict"] == "none"
    assert [pair["hosts"] for pair in said["pairs"]] == [list(p) for p in combinations(HOSTS.split(","), 2)]
    for pair in said["pairs"]:
        assert pair["status"] == "ok"
        assert pair["launches"] == 5
        assert pair["latency_s"] == pytest.approx(100e-9, rel=0.05)
        assert pair["latency_low_s"] <= pair["latency_s"] <= pair["latency_high_s"]
        assert pair["rate_bytes_per_s"] == pytest.approx(2**20 / (104957e-9), rel=0.05)
        assert pair["rate_low_bytes_per_s"] <= pair["rate_bytes_per_s"] <= pair["rate_high_bytes_per_s"]
    assert said["slow_links"] == said["slow_hosts"] == said["suspects"] == said["failed_links"] == []
    assert said["groups"] == [HOSTS.split(",")]
    assert said["error_rate"] == 0.01


@pytest.mark.thorough
@pytest.mark.parametrize("how", [(), ("--serial",)])
def test_a_slow_link_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]) -> None:
    monkeypatch.setenv("FAKE_SLOW", "1-3:10")
    done = mapped(cli, "--np", 6, *how, "--format", "json")
    assert done.status == 1, done.err
    said = whole(done)
    assert said["verdict"] == "slow"
    (link,) = said["slow_links"]
    assert link["hosts"] == ["h2", "h4"]
    assert link["factor"] == pytest.approx(10, rel=0.1)
    assert said["slow_hosts"] == []


@pytest.mark.thorough
def test_a_slow_host_is_named_and_its_links_are_not(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SLOW", "2:3")
    done = mapped(cli, "--np", 6, "--format", "json")
    assert done.status == 1, done.err
    said = whole(done)
    assert [host["host"] for host in said["slow_hosts"]] == ["h3"]
    assert said["slow_hosts"][0]["factor"] == pytest.approx(3, rel=0.1)
    assert said["slow_links"] == []


@pytest.mark.thorough
@pytest.mark.parametrize(("share", "launches"), [(0.3, range(3, 5)), (0.7, range(6, 10))])
def test_a_link_that_is_slow_in_some_launches_is_called_flaky(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, share: float, launches: range
) -> None:
    monkeypatch.setenv("FAKE_SLOW", f"1-3:5:{share}")
    done = mapped(cli, "--np", 6, "--launches", 10, "--seed", 1, "--format", "json", "-o", "map.jsonl")
    assert done.status == 1, done.err
    (link,) = whole(done)["slow_links"]
    assert link["flaky"]
    assert link["latency_launches"] == link["rate_launches"] == 10
    assert link["latency_slow_launches"] == link["rate_slow_launches"]
    assert link["latency_slow_launches"] in launches
    assert link["latency_factor"] == link["latency_slow_factor"] == pytest.approx(5, rel=0.1)
    (line,) = cli("map", "map.jsonl", "-q").out.splitlines()
    assert line.startswith("flaky link h2 \N{EN DASH} h4: ")
    assert line.count(f"times as long as usual in {link['latency_slow_launches']} of 10 launches") == 2
    assert "h1 \N{EN DASH} h2" not in line
    drawn = figure(link_map(load(Path("map.jsonl"))))
    frames = [patch for axes in drawn.axes if axes.images for patch in axes.patches]
    assert [frame.get_linestyle() for frame in frames] == ["--"] * 4
    assert "flaky link" in drawn.get_suptitle()


@pytest.mark.thorough
def test_of_a_link_that_is_always_slow_no_launches_are_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = known(cli, monkeypatch, "1-3:10")
    (link,) = whole(cli("map", path, "--format", "json"))["slow_links"]
    assert link["latency_slow_launches"] == link["latency_launches"] == 5
    assert link["latency_slow_factor"] == link["latency_factor"]
    assert not link["flaky"]
    assert "launches" not in cli("map", path, "-q").out


@pytest.mark.thorough
def test_for_a_script_only_the_verdict_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done = mapped(cli, "--np", 4, "-q", "-o", "uniform.jsonl")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("nothing is slow: ")
    assert len(done.out.splitlines()) == 1
    done = cli("map", known(cli, monkeypatch, "1-3:10"), "-q")
    assert (done.status, done.err) == (1, "")
    (line,) = done.out.splitlines()
    assert line.startswith("slow link h2 \N{EN DASH} h4: 8 B takes ")
    assert "times as long as usual" in line


@pytest.mark.parametrize(
    ("ranks", "launches", "words"), [(2, 5, "it takes 3 or more"), (4, 2, "2 launches are too few")]
)
def test_what_cannot_be_told_is_undecided(cli: Cli, ranks: int, launches: int, words: str) -> None:
    done = mapped(cli, "--np", ranks, "--launches", launches, "-q")
    assert done.status == 5
    assert done.out.startswith("undecided: ")
    assert words in done.out


@pytest.mark.thorough
def test_with_the_launches_that_it_names_it_is_decided(cli: Cli) -> None:
    said = whole(mapped(cli, "--np", 4, "--launches", 2, "--format", "json", "-o", "few.jsonl"))
    done = mapped(cli, "--np", 4, "--launches", said["launches_needed"], "-q", "-o", "enough.jsonl")
    assert done.status == 0


@pytest.mark.thorough
def test_an_existing_result_is_shown_again(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SLOW", "1-3:1.5")
    first = mapped(cli, "--np", 6, "-o", "map.jsonl", "--format", "json")
    again = cli("map", "map.jsonl", "--format", "json")
    assert (again.status, again.out) == (first.status, first.out)
    assert cli("map", "map.jsonl", "-q", "--factor", "2").status == 0
    for words in (("--np", 4), ("--serial",), ("-o", "other.jsonl"), ("--launches", 3), ("--dry-run",)):
        refused = cli("map", "map.jsonl", *words)
        assert refused.status == 2
        assert "is only shown" in refused.err


def test_the_text_has_the_whole_of_a_small_map(cli: Cli) -> None:
    done = mapped(cli, "--np", 4)
    assert done.status == 0
    assert "all pairs, N/2 at a time" in done.out
    assert "latency of 8 B" in done.out
    assert "bandwidth of 1 MiB" in done.out
    rows = [line for line in done.out.splitlines() if line.strip().startswith("h1 ")]
    assert rows
    whole_map, _, doubts = done.out.partition("\n\n! ")
    assert whole_map.endswith("false alarms: at most 1.0 % of healthy networks")
    assert doubts.startswith("fewer than 6 launches: ")


def test_ranks_of_one_host_are_numbers(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SLOW", "0-2:4")
    said = whole(cli("map", "--np", 4, "--format", "json"))
    assert [link["hosts"] for link in said["slow_links"]] == [["0", "2"]]


def test_several_ranks_on_each_of_two_hosts_have_names_of_their_own(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SLOW", "1-2:4")
    said = whole(mapped(cli, "--np", 4, "--format", "json", hosts="h1:2,h2:2"))
    assert [link["hosts"] for link in said["slow_links"]] == [["h2:0", "h1:1"]]
    assert said["judged"] == ["h1:0", "h2:0", "h1:1", "h2:1"]


@pytest.mark.thorough
def test_hosts_with_several_ranks_are_judged_as_hosts(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SLOW", "0-1:4 0-5:4 1-4:4 4-5:4")
    said = whole(mapped(cli, "--np", 8, "--format", "json", hosts="h[1-4]:2"))
    assert said["judged"] == ["h1", "h2", "h3", "h4"]
    assert [link["hosts"] for link in said["slow_links"]] == [["h1", "h2"]]
    assert len(said["pairs"]) == 28


@pytest.mark.thorough
def test_without_a_number_there_is_a_rank_on_every_host(cli: Cli) -> None:
    said = whole(mapped(cli, "--format", "json"))
    assert said["judged"] == HOSTS.split(",")


@pytest.mark.thorough
def test_pairs_stand_beside_each_other_by_size(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    known(cli, monkeypatch, "0-3:2", "--sizes", "8,1KiB,1MiB", "--launches", 2)
    shown = cli("map", "map.jsonl", "--pair", "h1,h2", "--pair", "h4,h1")
    lines = shown.out.splitlines()
    assert "h1 \N{EN DASH} h2" in lines[0]
    assert "h1 \N{EN DASH} h4" in lines[0]
    assert [line.split()[:2] for line in lines[1:4]] == [["8", "B"], ["1", "KiB"], ["1", "MiB"]]
    assert not lines[4]
    assert lines[5].startswith("! ")
    said = json.loads(cli("map", "map.jsonl", "--pair", "h1,h4", "--format", "json").out)
    (pair,) = said["pairs"]
    assert pair["hosts"] == ["h1", "h4"]
    assert [row["bytes"] for row in pair["rows"]] == [8, 1024, 2**20]
    for wrong in ("h1,h9", "h1,h1", "h1"):
        refused = cli("map", "map.jsonl", "--pair", wrong)
        assert refused.status == 2
        assert "--pair" in refused.err


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_figure_is_drawn(cli: Cli, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    done = cli("map", known(cli, monkeypatch, "1-3:10"), "--figure", f"map.{ending}")
    assert done.status == 1, done.err
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert Path(f"map.{ending}").read_bytes().startswith(starts[ending])


@pytest.mark.thorough
def test_a_figure_says_where_it_was_measured(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("map", known(cli, monkeypatch, "1-3:10"), "--figure", "map.svg")
    assert "5 launches" in Path("map.svg").read_text(encoding="utf-8")


def test_frames_are_in_the_panel_of_what_is_slow(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link may be slow for small messages alone."""
    shown = link_map(load(known(cli, monkeypatch, "1-3:10")))
    (link,) = shown.verdict.links
    small, large = replace(link, rate=None), replace(link, latency=None)
    for quick, frames in ((small, [2, 0]), (large, [0, 2])):
        one = replace(shown, verdict=replace(shown.verdict, links=(quick,)))
        panels = [axes for axes in figure(one).axes if axes.images]
        assert [len(panel.patches) for panel in panels] == frames


@pytest.mark.thorough
def test_the_figure_has_the_numbers_in_the_order_of_the_groups(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = " ".join(f"{min(pair)}-{max(pair)}:4" for pair in product((0, 2, 4), (1, 3, 5)))
    monkeypatch.setenv("FAKE_SLOW", far)
    assert mapped(cli, "--np", 6, "-o", "map.jsonl").status == 0
    shown = link_map(load(Path("map.jsonl")))
    assert shown.verdict.groups == (("h1", "h3", "h5"), ("h2", "h4", "h6"))
    axes = figure(shown).axes
    panels = [one for one in axes if one.images]
    assert [panel.get_title() for panel in panels] == ["latency of 8 B", "bandwidth of 1 MiB"]
    for panel in panels:
        assert [label.get_text() for label in panel.get_yticklabels()] == ["h1", "h3", "h5", "h2", "h4", "h6"]
        values = np.ma.filled(np.asarray(panel.images[0].get_array(), dtype=float), np.nan)
        assert np.isnan(values.diagonal()).all()
        assert np.array_equal(values, values.T, equal_nan=True)
        near, far_ = values[0, 1], values[0, 3]
        assert max(near / far_, far_ / near) == pytest.approx(4, rel=0.1)
        low, high = panel.images[0].get_clim()
        assert high >= 2 * low


def test_what_cannot_be_asked_is_refused_before_anything_is_measured(cli: Cli) -> None:
    for words, sentence in (
        (("--figure", "map.txt"), "is not the name of a figure"),
        (("--np", "2,4"), "one number of ranks"),
        (("--np", "1"), "no pairs"),
        (("--factor", "0.5"), "--factor must be a finite number"),
        (("--factor", "nan"), "--factor must be a finite number"),
        (("--factor", "inf"), "--factor must be a finite number"),
        (("--figure", "none/map.png"), "there is no folder none"),
        (("--pair", "h1"), "is not a pair"),
        (("--pair", "h1,h1"), "is not a pair"),
        (("--pair", "h1,h2,h3"), "is not a pair"),
        (("--error-rate", "2"), "between 0 and 100 %"),
    ):
        refused = cli("map", *words, "-o", "map.jsonl")
        assert refused.status == 2
        assert sentence in refused.err
        assert not Path("map.jsonl").exists()


def test_a_result_without_pairs_has_no_map(cli: Cli) -> None:
    cli("run", "pingpong", "--sizes", "8", "--launches", 1, "-o", "plain.jsonl")
    done = cli("map", "plain.jsonl")
    assert done.status == 2
    assert "has no map" in done.err


def test_a_dry_run_measures_nothing(cli: Cli) -> None:
    done = mapped(cli, "--np", 4, "--dry-run", "-o", "map.jsonl")
    assert done.status == 0
    assert '--hostfile "$TMPDIR/hosts"' in done.out
    assert "$TMPDIR/hosts: h1 h2 h3 h4\n" in done.out
    assert not Path("map.jsonl").exists()


def test_one_rank_has_no_pairs_and_is_told_what_a_map_needs(cli: Cli) -> None:
    done = cli("map", "--hosts", "h1", "--dry-run")
    assert done.status == 2
    assert "h1 alone, with one rank, has no pairs" in done.err
    assert "name more hosts" in done.err


def test_of_two_it_is_said_once_that_nothing_can_be_told(cli: Cli) -> None:
    """By the verdict; before measuring only where nothing is measured."""
    assert "neither can be called slow" in mapped(cli, "--np", 2, "--dry-run").err
    assert mapped(cli, "--np", 3, "--dry-run").err == ""
    done = mapped(cli, "--np", 2, "--launches", 5, "-o", "two.jsonl")
    assert done.status == 5
    assert "slow" not in done.err
    assert "with 2 nobody can tell which is slow" in done.out
    assert "--np 3" in done.out


def test_the_table_of_a_map_has_a_row_for_every_pair(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    known(cli, monkeypatch, "1-3:10")
    shown = json.loads(cli("show", "map.jsonl", "--format", "json").out)
    pairs = [(row["pair"], row["bytes"]) for row in shown["rows"] if row["pair"]]
    assert len(pairs) == len(set(pairs)) == 30
    assert {row["pairing"] for row in shown["rows"] if row["pair"]} == {"tournament"}
    text = cli("show", "--all", "map.jsonl").out
    assert text.count("pingpong, standard") == 1
    assert "h1 \N{EN DASH} h4" in text


# ---- A result knows that it is a map -------------------------------------------------------------


def test_whatever_is_shown_of_a_map_begins_with_its_verdict(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = known(cli, monkeypatch, "2:3")
    verdict = cli("map", path, "-q").out.splitlines()
    assert verdict[0].startswith("slow host h3: ")
    for words in (("show",), ("show", "--all"), ("show", "--table", "latency"), ("explain",)):
        done = cli(*words, path)
        assert (done.status, done.out.splitlines()[: len(verdict)]) == (0, verdict), words
    for words in (("show",), ("explain",)):
        lines = cli(*words, path, path).out.splitlines()
        assert lines[:2] == [f"map: {line}" for line in verdict * 2], words
    assert verdict[0] in cli("show", path, "--format", "markdown").out


def test_the_answer_of_a_map_is_all_of_it_and_not_one_pair(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    path = known(cli, monkeypatch, "2:3")
    answer, whole = (cli(verb, path).out.splitlines() for verb in ("show", "map"))
    assert {line for line in whole if line} <= {*answer}
    assert not any(line.startswith("latency, 8 B") for line in answer)
    assert f"mpigauge plot {path}" in answer[-2]


def test_pairs_are_called_by_their_hosts(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """In tables, sentences and names of series; programs have ranks, and may go on asking by them."""
    path = known(cli, monkeypatch, "2:3")
    for words in (("show", "--all"), ("show", "--table", "latency")):
        text = cli(*words, path).out
        assert "h1 \N{EN DASH} h6" in text, words
        assert "0-5" not in text, words
    assert "0-5" not in cli("explain", "--all", path).out
    for asked in ("h1,h6", "0-5"):
        text = cli("show", path, "--table", "times", "--series", asked).out
        assert ("h1 \N{EN DASH} h6" in text, "h1 \N{EN DASH} h2" in text) == (True, False)
    said = json.loads(cli("show", path, "--format", "json").out)
    assert "0-5" in {row["pair"] for row in said["rows"]}
    names = re.findall('<testcase [^>]*name="([^"]*)"', cli("show", "--all", path, "--format", "junit").out)
    assert [name for name in names if "0-5" in name]
    assert not [name for name in names if "h1" in name], "CI systems follow names from run to run"


def test_json_of_a_map_has_what_the_map_says(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    path = known(cli, monkeypatch, "2:3")
    whole_map = whole(cli("map", path, "--format", "json"))
    assert whole(cli("show", path, "--format", "json"))["map"] == whole_map
    (said,) = whole(cli("explain", path, "--format", "json"))["maps"]
    assert said == {"result": "map", **whole_map}
    cli("run", "pingpong", "--sizes", "8", "--launches", 1, "-o", "plain.jsonl")
    assert whole(cli("show", "plain.jsonl", "--format", "json"))["map"] is None


def test_the_figure_of_a_map_is_the_heat_map(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless another is named, or some of its curves."""
    path = known(cli, monkeypatch, "2:3")
    for words, name in (
        ((), "map-map.png"),
        (("--series", "h1,h2"), "map-overview.png"),
        (("--kind", "time", "--series", "h1,h2"), "map-time.png"),
    ):
        assert cli("plot", path, *words).status == 0
        assert Path(name).exists()


def test_a_map_is_printed_in_the_units_that_are_asked_for(cli: Cli) -> None:
    path = DOCS / "results" / "map.jsonl.gz"
    pairs = whole(cli("map", path, "--format", "json"))["pairs"]
    latency_ms = 1e3 * median(pair["latency_s"] for pair in pairs)
    rate_gbit_s = 8e-9 * median(pair["rate_bytes_per_s"] for pair in pairs)
    text = cli("map", path, "--unit", "ms", "--unit", "Gbit/s").out
    assert "latency of 8 B, ms" in text
    assert f"bandwidth of 1 MiB: median {rate_gbit_s:.3g} Gbit/s" in text
    assert f"median {latency_ms:.3f} ms" in cli("show", path, "--unit", "ms").out
    assert f"{1e9 * pairs[0]['latency_s']:.0f} ns" in cli("map", path, "--pair", "h1,h2", "--unit", "ns").out
