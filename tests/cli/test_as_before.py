"""Is it as before? `compare` and `map` beside the earlier results of their plan, found by themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_ENVIRONMENT, EXIT_UNDECIDED, EXIT_USAGE
from tests.cli.maps import map_records, mapped, maps_before, slower_host, whole
from tests.histories import folder, records, slower_from, usual
from tests.made import RECORDS, campaign, cell, launches_of, measured, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Cell
    from tests.conftest import Cli, Done, Install
    from tests.fakes.mpi import FakeMpi

SLOWER = slower_from(0, 1.15)


# ---- compare -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "factor", "status", "begins"),
    [
        (
            1,
            SLOWER,
            EXIT_UNDECIDED,
            "undecided: 1 session; a verdict takes 3 sessions",
        ),
        (
            2,
            usual,
            EXIT_UNDECIDED,
            "undecided: 2 sessions; a verdict takes 3 sessions",
        ),
        (4, SLOWER, EXIT_CHECK_FAILED, "slower: 6 of 6 numbers"),
        (4, usual, EXIT_DONE, "no difference that matters"),
    ],
    ids=["one", "two", "slower", "same"],
)
def test_one_result_is_held_against_the_earlier_ones_of_its_plan(
    cli: Cli, days: int, factor: Callable[[Cell, int], float], status: int, begins: str
) -> None:
    folder("results", days, usual)
    new = written("new.jsonl", *records(20, factor, version="5.0.8"))
    done = cli("compare", new)
    assert (done.status, done.err) == (status, "")
    first, second, third, *_ = done.out.splitlines()
    assert first.startswith(begins)
    newest = f"results/day{days - 1:02}.jsonl of 2026-11-{days:02}"
    assert second.startswith(f"as before? new.jsonl against {newest}")
    assert (f"and {days - 1} session" in second) == (days > 1)
    assert "(Open MPI 5.0.7 -> 5.0.8)" in second
    assert third == "others: mpigauge compare BEFORE new.jsonl, or compare new.jsonl --baseline FOLDER"
    assert cli("compare", new, "--before").out == done.out
    said = json.loads(cli("compare", new, "--format", "json").out)
    assert said["base_files"] == [f"results/day{day:02}.jsonl" for day in range(days)][::-1]


def test_a_new_result_that_was_disturbed_says_so_beside_whatever_it_is_held_against(cli: Cli) -> None:
    folder("results", 4, usual, wait_ns=0, switches=0)
    new = written("new.jsonl", *records(20, usual, wait_ns=10**9, switches=1))
    for words in (("--before",), ("--baseline", "results")):
        done = cli("compare", new, *words)
        assert "! other programs used the cores in 100 % of visits" in done.out, words
        quiet = cli("compare", new, *words, "--only", "quiet")
        assert "were disturbed" in quiet.out, words


def test_without_a_name_the_newest_result_is_asked_about(cli: Cli) -> None:
    folder("results", 4, usual)
    done = cli("compare")
    assert (done.status, "against results/day02.jsonl" in done.out) == (EXIT_DONE, True)


def test_a_result_from_standard_input_is_read_once(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    folder("results", 4, usual)
    with written("new.jsonl", *records(20, SLOWER)).open(encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        done = cli("compare", "-")
    assert (done.status, "against results/day03.jsonl" in done.out) == (EXIT_CHECK_FAILED, True)


def rows_of(done: Done) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(done.out)["rows"]
    return rows


def test_another_label_is_the_same_plan(cli: Cli) -> None:
    """As `--mpi new=...` gives, after an upgrade."""
    folder("results", 4, usual)
    text = written("new.jsonl", *records(20, SLOWER)).read_text(encoding="utf-8")
    Path("new.jsonl").write_text(text.replace('"label":""', '"label":"new"'), encoding="utf-8")
    assert {one["label"] for one in rows_of(cli("show", "new.jsonl", "--format", "json"))} == {"new"}
    assert cli("compare", "new.jsonl").status == EXIT_CHECK_FAILED


def test_without_an_earlier_one_it_is_refused_as_ever_and_undecided_where_asked(cli: Cli) -> None:
    new = written("new.jsonl", *records(20, usual))
    refused = cli("compare", new)
    assert (refused.status, "it has one of everything" in refused.err) == (EXIT_USAGE, True)
    done = cli("compare", new, "--before")
    assert done.status == EXIT_UNDECIDED
    assert "there is no earlier result of its plan, neither in results/ nor kept" in done.out


def ways(path: str) -> Path:
    """Two modes in turn, one of them slower, on the day after the first of results/."""
    cells = [cell(size=size, mode=mode) for size in (8, 64) for mode in ("standard", "synchronous")]

    def samples_ns(of: Cell, launch: int) -> list[int]:
        return [round(1000 * (1 + launch / 100) * (1.5 if of.mode == "synchronous" else 1.0))] * 5

    day = Path(path).stem
    head = campaign(*cells)
    started = head.started.replace("2026-01-01", f"2026-01-{day}")
    head = replace(head, started=started)
    return written(path, head, *launches_of(cells, range(1, 9)), *measured(cells, range(1, 9), samples_ns))


def test_what_was_measured_in_turn_stays_first_and_earlier_ones_are_pointed_at(cli: Cli) -> None:
    """A script that compares whatever was measured has the status of ever."""
    Path("results").mkdir()
    alone = cli("compare", ways("09.jsonl"))
    assert (alone.status, "as before?" in alone.out) == (EXIT_DONE, False)
    ways("results/01.jsonl")
    done = cli("compare", "09.jsonl")
    assert done.status == EXIT_DONE
    assert "as before? 1 earlier result of this plan, the newest results/01.jsonl: " in done.out
    assert "mpigauge compare 09.jsonl --before" in done.out
    assert cli("compare", "09.jsonl", "--by", "mode").status == EXIT_CHECK_FAILED
    assert cli("compare", "09.jsonl", "--before").status == EXIT_UNDECIDED


@pytest.mark.parametrize(
    "words",
    [
        ("--before", "--baseline", "results"),
        ("--before", "--by", "mpi"),
        ("--before", "results/day00.jsonl"),
        ("--before", "--remeasure"),
        ("--keep-baseline", "results/day00.jsonl"),
    ],
)
def test_what_asks_two_questions_at_once_is_refused(cli: Cli, words: tuple[str, ...]) -> None:
    folder("results", 2, usual)
    new = written("new.jsonl", *records(20, usual))
    assert cli("compare", new, *words).status == EXIT_USAGE


def test_only_what_is_asked_to_be_kept_is_kept_and_is_found_elsewhere(
    cli: Cli, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = machine / "home" / ".local" / "share" / "mpigauge" / "baselines"
    for day in range(3):
        path = written(f"day{day}.jsonl", *records(day, usual))
        cli("compare", path, "--before")
        assert not list(store.glob(f"*/*2026110{day + 1}*"))
        done = cli("compare", path, "--before", "--keep-baseline")
        assert done.err.startswith(f"kept: {store}")
        assert done.err.rstrip().endswith(f"({day + 1} result{'s' if day else ''} of this plan)")
    (machine / "elsewhere").mkdir()
    monkeypatch.chdir(machine / "elsewhere")
    done = cli("compare", written("new.jsonl", *records(20, SLOWER)))
    assert done.status == EXIT_CHECK_FAILED
    assert "against ~/.local/share/mpigauge/baselines" in done.out
    monkeypatch.setenv("XDG_DATA_HOME", "/proc/none")
    assert cli("compare", "new.jsonl", "--before", "--keep-baseline").status == EXIT_ENVIRONMENT


def test_a_campaign_is_kept_if_asked(cli: Cli, fake_mpi: Install, machine: Path) -> None:
    fake_mpi()
    words = ("run", "pingpong", "--sizes", "8", "--launches", "2", "--samples", "40", "-o")
    assert "kept: " not in cli(*words, "a.jsonl").err
    assert "kept: " in cli(*words, "b.jsonl", "--keep-baseline").err
    (kept,) = (machine / "home/.local/share/mpigauge/baselines").glob("*/*")
    assert kept.read_bytes() == Path("b.jsonl").read_bytes()


# ---- map -----------------------------------------------------------------------------------------


def slower_link(pair: str, size: int) -> float:
    return 1.5 if (pair, size) == ("0-1", 8) else 1.0


@pytest.mark.parametrize(
    ("factor", "status", "says"),
    [
        (slower_host(2, 1.8), EXIT_CHECK_FAILED, "slower than before: host h3: 8 B takes 1.8"),
        (slower_link, EXIT_CHECK_FAILED, "slower than before: link h1 "),
        (lambda _, __: 1.5, EXIT_CHECK_FAILED, "slower than before: all links: 8 B takes 1."),
        (lambda _, __: 1.0, EXIT_DONE, "as before: no link takes 1.25 times as long as "),
        (lambda _, __: 0.6, EXIT_DONE, "; faster: 12 of 12 numbers"),
    ],
    ids=["host", "link", "all", "same", "faster"],
)
def test_a_map_is_held_against_the_earlier_ones(
    cli: Cli, factor: Callable[[str, int], float], status: int, says: str
) -> None:
    maps_before(4)
    new = written("new.jsonl", *map_records(20, factor, version="5.0.8", label="new"))
    done = cli("map", new)
    asked = cli("map", new, "--before", "-q")
    assert (done.status, asked.status) == (status, status)
    (line,) = [line for line in done.out.splitlines() if says in line]
    assert line in asked.out.splitlines()
    assert ("mpigauge compare BEFORE new.jsonl" in done.out, "BEFORE" in asked.out) == (True, False)
    then = "in results/map03.jsonl of 2026-11-04 and 3 maps before it (Open MPI 5.0.7 -> 5.0.8)"
    assert then in line
    said = whole(cli("map", new, "--format", "json"))["before"]
    assert said["files"] == [f"results/map0{day}.jsonl" for day in (3, 2, 1, 0)]
    assert (said["verdict"] == "slower") == (status == EXIT_CHECK_FAILED) == bool(said["slowed"])
    assert len(said["links"]) == 12


def test_a_map_looks_back_when_it_has_measured(cli: Cli, openmpi: FakeMpi) -> None:
    Path("results").mkdir()
    first = mapped(cli, "--np", 4, "-o", "results/first.jsonl")
    text = Path("results/first.jsonl").read_text(encoding="utf-8")
    year = json.loads(text.partition("\n")[0])["started"][:4]
    Path("results/first.jsonl").write_text(
        text.replace(f'"started":"{year}-', '"started":"2020-'), encoding="utf-8"
    )
    done = mapped(cli, "--np", 4, "-o", "results/second.jsonl")
    assert (first.status, "as before?" in first.out) == (EXIT_DONE, False)
    assert (done.status, "in results/first.jsonl of 2020-" in done.out) == (EXIT_DONE, True)
    assert mapped(cli, "--np", 4, "--before", "-o", "results/third.jsonl").status == EXIT_UNDECIDED
    assert "before" not in mapped(cli, "--np", 3, "-o", "results/other.jsonl").out


def test_too_few_earlier_maps_are_no_verdict_and_change_no_status_unasked(cli: Cli) -> None:
    new = written("new.jsonl", *map_records(20, lambda _, __: 1.5))
    assert cli("map", new, "--before").status == EXIT_UNDECIDED
    plain = cli("map", new)
    assert (plain.status, "before" in plain.out) == (EXIT_DONE, False)
    maps_before(1)
    done = cli("map", new)
    assert done.status == EXIT_DONE
    (line,) = [line for line in done.out.splitlines() if line.startswith("as before?")]
    assert line.startswith("as before? a verdict takes 3 earlier maps: measure 2 more; most changed: ")
    assert "1.5" in line
    assert line.endswith("as in results/map00.jsonl of 2026-11-01")
    assert "before" not in cli("map", new, "-q").out
    assert line in cli("map", new, "-q", "--before").out
    assert cli("map", new, "--before").status == EXIT_UNDECIDED


def test_of_two_hosts_the_earlier_maps_can_tell(cli: Cli) -> None:
    """Which a single map never can: neither is slow beside the other."""
    maps_before(4, hosts=2)
    same = written("same.jsonl", *map_records(20, hosts=2))
    slow = written("slow.jsonl", *map_records(21, lambda _, __: 1.5, hosts=2))
    assert [cli("map", path).status for path in (same, slow)] == [EXIT_UNDECIDED, EXIT_CHECK_FAILED]
    assert [cli("map", path, "--before").status for path in (same, slow)] == [EXIT_DONE, EXIT_CHECK_FAILED]


def test_earlier_maps_can_be_named(cli: Cli, tmp_path: Path) -> None:
    days = [written(f"day{day}.jsonl", *map_records(day)) for day in range(3)]
    named = [word for day in days for word in ("--before", str(day))]
    new = written("new.jsonl", *map_records(20, slower_host(2, 1.8)))
    assert "before" not in cli("map", new).out  # they are in no place where they would be found
    done = cli("map", new, *named)
    (line,) = [line for line in done.out.splitlines() if line.startswith("slower than before")]
    assert done.status == EXIT_CHECK_FAILED
    assert line.endswith("in day2.jsonl of 2026-11-03 and 2 maps before it")
    assert whole(cli("map", new, *named, "--format", "json"))["before"]["files"] == [*map(str, days[::-1])]
    one = cli("map", new, "--before", days[0])
    assert one.status == EXIT_CHECK_FAILED  # of the map itself, which finds the host without them
    same = cli("map", written("same.jsonl", *map_records(21)), "--before", days[0])
    assert (same.status, "measure 2 more; most changed" in same.out) == (EXIT_UNDECIDED, True)


def test_named_maps_are_looked_at_instead_of_those_that_are_found(cli: Cli) -> None:
    maps_before(4)
    elsewhere = written("elsewhere.jsonl", *map_records(5))
    new = written("new.jsonl", *map_records(20))
    for words in ((new, "--before", elsewhere), (new, "--before", elsewhere, "--before")):
        assert whole(cli("map", *words, "--format", "json"))["before"]["files"] == ["elsewhere.jsonl"]
    assert len(whole(cli("map", new, "--before", "results", "--format", "json"))["before"]["files"]) == 4


def test_a_new_map_is_held_against_a_named_one(cli: Cli, openmpi: FakeMpi) -> None:
    assert mapped(cli, "--np", 4, "-o", "first.jsonl").status == EXIT_DONE
    done = mapped(cli, "--np", 4, "--before", "first.jsonl", "-o", "second.jsonl")
    assert (done.status, "as in first.jsonl of " in done.out) == (EXIT_UNDECIDED, True)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing.jsonl", "nothing.jsonl: "),
        ("new.jsonl", "new.jsonl: is the map itself"),
        ("three.jsonl", "three.jsonl: its ranks were on other hosts, or in another order"),
        ("mpich.jsonl", "mpich.jsonl: has no map of openmpi "),
        ("run.jsonl", "run.jsonl: has no map: no pairs were measured"),
    ],
)
def test_what_is_no_map_of_these_hosts_is_refused(cli: Cli, name: str, says: str) -> None:
    new = written("new.jsonl", *map_records(20))
    written("three.jsonl", *map_records(1, hosts=3))
    written("run.jsonl", *RECORDS)
    text = written("mpich.jsonl", *map_records(1)).read_text(encoding="utf-8")
    Path("mpich.jsonl").write_text(text.replace('"openmpi"', '"mpich"'), encoding="utf-8")
    done = cli("map", new, "--before", name)
    assert (done.status, done.err.startswith(f"mpigauge: {says}")) == (EXIT_USAGE, True)


def test_that_hosts_are_farther_apart_is_what_is_asked_and_no_excuse(cli: Cli) -> None:
    """In a comparison of libraries it would be the machine's doing."""
    maps_before(4, path_ns=[20_000.0, 20_000.0])
    slow = map_records(20, lambda _, __: 1.5, path_ns=[30_000.0, 30_000.0])
    done = cli("map", written("new.jsonl", *slow))
    assert (done.status, "slower than before: all links" in done.out) == (EXIT_CHECK_FAILED, True)


def test_maps_that_differ_too_much_decide_nothing(cli: Cli) -> None:
    maps_before(4, spread=0.4)
    done = cli("map", written("new.jsonl", *map_records(20)), "--before")
    assert done.status == EXIT_UNDECIDED
    assert "these maps differ too much; most changed: h" in done.out


def test_maps_of_other_hosts_are_not_earlier_ones(cli: Cli) -> None:
    maps_before(4, hosts=3)
    assert "before" not in cli("map", written("new.jsonl", *map_records(20))).out


def test_a_map_is_kept_if_asked(cli: Cli, machine: Path) -> None:
    for day in range(3):
        done = cli("map", written("m.jsonl", *map_records(day)), "--keep-baseline")
        assert "kept: " in done.err
    done = cli("map", written("new.jsonl", *map_records(20)), "--before")
    assert (done.status, "and 2 maps before it" in done.out) == (EXIT_DONE, True)
