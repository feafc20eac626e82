"""Lines of the fake kernel's journal."""

from __future__ import annotations

import os
import sys

from tests.fakes.cards import cards_of
from tests.fakes.law import VERSION
from tests.fakes.machine import host_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CLOCK_COST_NS = 25
CLOCK_BOUND_NS = 50
INIT_NS = 40_000_000
"""What MPI_Init takes on the slowest rank; the median over ranks is three quarters of that."""

FIRST_NS = 250_000
"""The first message of a job and its answer."""


def array(values: Iterable[int]) -> str:
    """As JSON has it."""
    return f"[{','.join(map(str, values))}]"


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say_launch(library: str, asked: int, ranks: int, standard: str) -> None:
    """The facts of the launch, as launch_line.c writes them."""
    escaped = "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\u{ord(c):04x}" for c in library)
    cpus, cores = (_lists(name, ranks) for name in ("FAKE_CPUS", "FAKE_CORES"))
    threads = f'"threads":{os.environ["FAKE_THREADS"]},' if "FAKE_THREADS" in os.environ else ""
    places = ",".join(
        f'{{"host":"{host_of(rank)}","cpus":"{cpus[rank]}","cores":"{cores[rank]}",{threads}"cpu":{rank},"clock_step_ns":1,'
        f'"clock_cost_ns":{CLOCK_COST_NS},"clock_cost_p999_ns":40,"clock_zero_share":{0:.6f}}}'
        for rank in range(ranks)
    )
    say(
        f'{{"launch":{{"kernel":{VERSION},"ranks":{ranks},"ranks_asked":{asked},"library":"{escaped}",'
        f'"mpi_standard":"{standard}","clock":"CLOCK_MONOTONIC_RAW","placement":[{places}],'
        f'"machines":[{_machines(ranks)}],"cards":[{_cards(ranks)}],'
        f'"traced_ranks":{os.environ.get("FAKE_TRACED", "0")},'
        f'"first_round_trip_ns":{FIRST_NS if ranks > 1 else -1},'
        f'"init_ns":{init_ns()},"init_median_ns":{init_ns() * 3 // 4}}}}}'
    )


def init_ns() -> int:
    """What MPI_Init takes, with the sleep that FAKE_SLEEP plants unless the transports are chosen."""
    sleeps = "FAKE_SLEEP" in os.environ and "OMPI_MCA_btl" not in os.environ
    return INIT_NS + 1_400_000_000 * sleeps


def _lists(name: str, ranks: int) -> list[str]:
    """Processors or cores of each rank, the last for all others; without the variable enough for all."""
    lists = os.environ.get(name, f"0-{max(2, ranks) - 1}").split()
    return [*lists, *lists[-1:] * ranks][:ranks]


def _machines(ranks: int) -> str:
    """Alike but for the release of their kernel."""
    releases = dict(word.split("=") for word in os.environ.get("FAKE_RELEASES", "").split())
    return ",".join(
        f'{{"host":"{host}","cpu":"Made","kernel":"{releases.get(host, "6.1")}","cache_bytes":{2**25}}}'
        for host in dict.fromkeys(map(host_of, range(ranks)))
    )


def _cards(ranks: int) -> str:
    """Of all hosts, those with the same cards together."""
    alike: dict[str, list[str]] = {}
    for host in dict.fromkeys(host_of(rank) for rank in range(ranks)):
        cards = ",".join(
            f'{{"name":"{name}","kind":"{kind}","counted":{"true" if counted else "false"}}}'
            for name, kind, counted in cards_of(host)
        )
        alike.setdefault(cards, []).append(f'"{host}"')
    return ",".join(f'{{"hosts":[{",".join(hosts)}],"cards":[{cards}]}}' for cards, hosts in alike.items())


def say_clock(ranks: int, now_ns: int, *, learned: bool) -> None:
    """How far the clocks of some ranks are ahead of that of rank 0; what they are, where they differ."""
    off = os.environ.get("FAKE_CLOCKS")
    low_ns, high_ns = (int(off or 0) + bound for bound in (-CLOCK_BOUND_NS, CLOCK_BOUND_NS))
    full = 2 ** (ranks.bit_length() - 1)
    checks = [
        f'{{"rank":{rank},"low_ns":{low_ns},"high_ns":{high_ns}}}'
        for rank in sorted({full - 1, ranks - 1} - {0})
    ]
    models = [
        f'{{"base_ns":{now_ns},"offset_ns":{1000 * rank:.3f},"slope":{1e-6 * rank:.6e},'
        f'"bound_ns":{CLOCK_BOUND_NS * (rank > 0):.3f},"bound_slope":{1e-9 * (rank > 0):.6e}}}'
        for rank in range(ranks if learned and off is not None else 0)
    ]
    say(
        f'{{"clock":{now_ns},"shared":{"true" if off is None else "false"},'
        f'"checks":[{",".join(checks)}],"models":[{",".join(models)}]}}'
    )
