"""Parts of the kernel on a machine that is made up: its times are known, so tests of them are exact."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest

from mpigauge.plan import round_robin
from tests.real.mpi.conftest import Parts

pytestmark = pytest.mark.mpi

HERE = Path(__file__).parent
READING_NS, TRIP_NS, CALL_NS, SLOWER_NS, DISTURBED_NS, LAST_NS, BATCH, ROUNDS = (
    *(20, 400, 1000, 500, 100_000, 5000),
    *(2, 30),
)
"""As in timed_rounds.c."""

NUMBERS = 300_000
"""As in long_lines.c."""

PAYLOAD = (
    *(f"memory/{file}.c" for file in ("payload", "compare", "kinds", "content", "reduction", "granularity")),
    *("patterns/volumes.c", "ranks/groups.c", "ranks/hosts.c", "ranks/abort.c", "text/small_file.c"),
)


@pytest.fixture(scope="module")
def rounds(parts: Parts) -> Callable[[str], list[int]]:
    """The numbers that timed_rounds prints."""
    run = parts(
        "timed_rounds", "rounds/rounds.c", "rounds/common_start.c", "rounds/samples.c", "ranks/abort.c"
    )
    return lambda what: [int(line) for line in run(what).split()]


Rounds = Callable[[str], list[int]]


def test_of_turns_the_slowest_counts_and_not_the_most_disturbed_sample_of_any(rounds: Rounds) -> None:
    samples = rounds("acked")
    undisturbed_ns = BATCH * (CALL_NS + SLOWER_NS) + READING_NS - BATCH * TRIP_NS // 2
    assert median(samples) == undisturbed_ns
    assert sum(sample > DISTURBED_NS for sample in samples) == ROUNDS // 3


def test_a_broadcast_that_takes_less_than_half_a_round_trip_is_not_made_to_take_nothing(
    rounds: Rounds,
) -> None:
    """Whoever counts times below 0 has to see them."""
    assert max(rounds("fast")) < 0


def test_who_is_done_sends_nothing_while_the_others_are_at_work(rounds: Rounds) -> None:
    """As soon as it is known how long they are: after the first series of a visit.

    In one round of that series it finds out what reading its CPU clock costs, which takes as long.
    """
    quiet_ns = rounds("common")
    first, second = quiet_ns[: len(quiet_ns) // 2], quiet_ns[len(quiet_ns) // 2 :]
    assert len(first) > ROUNDS
    assert sorted(first)[-2] < LAST_NS
    assert min(second) >= LAST_NS
    assert max(second) < 2 * LAST_NS


def test_medians_are_found_without_sorting(parts: Parts) -> None:
    """Of values in any order, with and without equal ones; the lower of two middles by halves."""
    run, chance = parts("medians", "rounds/samples.c", "ranks/abort.c"), random.Random(5)
    lists = [[chance.randrange(most) for _ in range(count)] for count in range(1, 40) for most in (3, 10**12)]
    lists += [[*range(99)], [*range(99, 0, -1)], [7] * 50]
    said = run(text="".join(f"{' '.join(map(str, values))}\n" for values in lists)).splitlines()
    for values, line in zip(lists, said, strict=True):
        expected = sum(median_pair(values)) // 2
        assert [int(word) for word in line.split()] == [expected, expected], values


def median_pair(values: list[int]) -> tuple[int, int]:
    """The two in the middle; twice the same of an odd number."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]


def test_a_visit_without_memory_takes_none_from_the_others(parts: Parts) -> None:
    # It limits its memory, of which ASan needs more than there is.
    run = parts("kept_memory", *PAYLOAD, sanitized=("-fsanitize=undefined", "-fno-sanitize-recover=all"))
    assert run().split() == ["refused", "small", "same"]


@pytest.mark.parametrize(("rank", "usual_mib"), [(0, 17), (1, 2)])
def test_blocks_of_all_ranks_take_memory_at_their_root_alone(parts: Parts, rank: int, usual_mib: int) -> None:
    """A gather of 1 MiB from each of 16 ranks; and no more than counted at any moment, whatever the order."""
    found, (most_mib, in_the_end_mib) = rooted_memory(parts, rank)
    assert found == pytest.approx([usual_mib, 17, 17], abs=1)
    assert most_mib <= in_the_end_mib + 1


def rooted_memory(parts: Parts, rank: int) -> tuple[list[int], list[int]]:
    """The two lines that rooted_memory prints, of a rank of 16."""
    # What sanitizers add to every page is not to be counted.
    said = parts("rooted_memory", *PAYLOAD, sanitized=())(str(rank))
    first, second = ([int(word) for word in line.split()] for line in said.splitlines())
    return first, second


@pytest.mark.parametrize(
    ("told", "line_bytes"), [([], 64), (["64", "128"], 128), (["32", "32"], 64), (["x"], 64)]
)
def test_a_cache_line_is_as_long_as_the_system_says(
    parts: Parts, tmp_path: Path, told: list[str], line_bytes: int
) -> None:
    for i, text in enumerate(told):
        cache = tmp_path / f"sys/devices/system/cpu/cpu0/cache/index{i}"
        cache.mkdir(parents=True)
        (cache / "coherency_line_size").write_text(f"{text}\n", encoding="ascii")
    run = parts("cache_lines", "memory/granularity.c", "text/small_file.c")
    assert int(run(str(tmp_path))) == line_bytes


def test_memory_that_was_not_handed_over_is_found(parts: Parts) -> None:
    """Although the right content of the round before lies there."""
    run = parts("shared_content", *PAYLOAD)
    assert run("written").strip() == "right"
    assert run("forgotten").strip() == "wrong"


def test_a_line_of_any_length_leaves_in_one_piece(parts: Parts, tmp_path: Path) -> None:
    """While another process writes to the same file as often as it can, as ranks do to their output."""
    run = parts("long_lines", "text/journal.c", "text/json.c", "ranks/abort.c")
    run(str(tmp_path / "journal"))
    lines = (tmp_path / "journal").read_text(encoding="ascii").splitlines()
    assert lines.count("another's") > len(lines) / 2
    ours = [json.loads(line) for line in lines if line != "another's"]
    assert [next(iter(line)) for line in ours] == ["long", "end", "long", "end"]
    assert ours[0] == ours[2] == {"long": list(range(NUMBERS))}


@pytest.mark.parametrize("pairing", ["tournament", "serial"])
def test_a_rank_keeps_one_line_a_step_of_a_map(parts: Parts, tmp_path: Path, pairing: str) -> None:
    """Its own of each step in which it measures, and all that is no pair's."""
    ranks = 301 if pairing == "tournament" else 41
    steps = round_robin.steps(ranks)
    if pairing == "serial":
        steps = [[pair] for step in steps for pair in step]
    first, last = "launch version=2 ranks=301", "visit id=0 cell=0 pattern=null"
    lines = [
        [
            f"visit id={number} cell=1 pattern=pingpong pair={round_robin.pair_name(pair)} step={number}"
            for pair in step
        ]
        for number, step in enumerate(steps)
    ]
    whole = [first, *(line for step in lines for line in step), last]
    (tmp_path / "plan").write_text("\n".join([*whole, "end", ""]), encoding="ascii")
    run = parts(
        "heard_plan",
        "text/plan_text.c",
        "ranks/groups.c",
        "ranks/hosts.c",
        "ranks/abort.c",
        "text/small_file.c",
    )
    words = (str(tmp_path / "plan"), str(tmp_path / "wire"))
    assert run(*words, "0").splitlines() == whole
    for rank in (1, 40):
        heard = run(*words, str(rank)).splitlines()
        own = [line for step in lines for line in step if re.search(rf"pair=({rank}-|\d+-{rank} )", line)]
        assert (heard[0], heard[-1], len(own)) == (first, last, ranks - 1)
        assert set(own) <= set(heard) <= set(whole)
        assert len(heard) - 2 <= len(steps) + len(own)
        assert {line.rpartition("=")[2] for line in heard[1:-1]} == {str(n) for n in range(len(steps))}


# ---- Cards ---------------------------------------------------------------------------------------


def test_hosts_with_the_same_cards_are_said_together(parts: Parts) -> None:
    texts, reads = ("launch_cards", "json", "small_file"), ("cards", "card_facts", "rdma_cards", "interfaces")
    run = parts(
        "host_cards",
        *(f"text/{file}.c" for file in texts),
        *(f"traffic/{file}.c" for file in reads),
        *("ranks/hosts.c", "ranks/abort.c"),
    )
    said = json.loads(run())["cards"]
    ethernet = {"name": "eth0", "kind": "ip", "counted": True}
    silent = {"name": "efa_0/1", "kind": "rdma", "counted": False}
    assert [group["hosts"] for group in said] == [["h1", "h3"], ["h2"], ["h4"]]
    assert [group["cards"] for group in said] == [[ethernet], [silent, ethernet], []]


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_the_cards_with_most_traffic_are_listed_after_those_that_were_lost(parts: Parts, count: int) -> None:
    reads = ("cards", "card_facts", "rdma_cards", "interfaces")
    files = (*(f"traffic/{file}.c" for file in reads), "text/small_file.c", "ranks/abort.c", "ranks/groups.c")
    said = parts("listed_cards", *files, "ranks/hosts.c")(str(count)).split("listed\n")
    there, listed = ([line.split() for line in part.splitlines() if line] for part in said)
    assert len(there) == count

    def place(card: list[str]) -> tuple[str, int, int, str]:
        rank, name, is_counted, bytes_ = card
        return is_counted, -int(bytes_), int(rank), name

    assert listed == sorted(there, key=place)[:64]
