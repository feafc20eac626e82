"""Plans, as the fake kernel reads them: as strict as the real one."""

from __future__ import annotations

from tests.fakes.law import (
    DATATYPES,
    KEPT,
    OPERATIONS,
    PATTERNS,
    RMA_WINDOWS,
    SYNCS,
    VERSION,
    has,
    modes_of,
    operations_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

INT_MAX, TIME_MOST_NS = 2**31 - 1, 2**55
BSEND_OVERHEAD_BYTES = 128

LAUNCH_KEYS = {
    # name: least, most
    "version": (VERSION, VERSION),
    "ranks": (1, INT_MAX),
    "cores": (1, INT_MAX),
    "visits_per_cell": (1, 10**6),
    "rounds_min": (1, 10**8),
    "rounds_max": (1, 10**8),
    "precision_ppm": (1, 10**6),
    "cell_ns": (1, TIME_MOST_NS),
    "deadline_ns": (1, TIME_MOST_NS),
    "warmup_ns": (0, TIME_MOST_NS),
    "warmup_bytes": (0, 2**63 - 1),
    "hang_ns": (0, TIME_MOST_NS),
    "watched": (0, 1),
    "pool_caches": (0, 1000),
}
LAUNCH_OPTIONAL = {"warmup_bytes", "hang_ns", "watched", "pool_caches"}
VISIT_KEYS = {key["name"]: (key["least"], key["most"]) for key in KEPT["visit_keys"] if "least" in key}
REQUIRED = {"pattern", "mode", "id", "cell", "bytes", "window", "pool_bytes"}
"""What mpigauge always writes; the kernel could do without some of them."""

OPTIONAL = {key["name"]: str(key["usual"]) for key in KEPT["visit_keys"] if key["name"] not in REQUIRED}


class PlanError(Exception):
    """A plan that the kernel would not follow."""


def asked_for(plan: Iterable[str]) -> Iterator[str]:
    """The lines of a plan that comes in parts: more only if we ask."""
    print('{"ready":0}', flush=True)
    for line in plan:
        if line == "more\n":
            print('{"ready":1}', flush=True)
        else:
            yield line


def read_plan(lines: Iterable[str]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """The limits of the launch and its visits, with all words; as strict as the kernel's plan.c.

    Raises:
        PlanError: The sentence of plan.c, more or less.
    """
    launch: dict[str, int] = {}
    groups: dict[int, list[int]] = {}
    visits: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if line == "end\n":
            if not launch:
                raise PlanError("the plan is empty")
            _check_steps(visits)
            return launch, visits
        first, *words = line.split() or [""]
        values = dict(word.partition("=")[::2] for word in words)
        if first not in ({"visit", "group"} if launch else {"launch"}):
            raise PlanError(
                f"plan line {number}: expected 'launch' first, then only 'group' and 'visit': {line!r}"
            )
        try:
            if first == "group":
                _read_group(values, launch["ranks"], groups)
            elif launch:
                visits.append(_read_visit(values, launch["ranks"], groups))
            else:
                launch = _read_launch(values)
        except PlanError as error:
            raise PlanError(f"plan line {number}: {error}: {line!r}") from error
    raise PlanError("standard input ended before the plan's line 'end': its launcher must pass it on")


def _check_steps(visits: list[dict[str, Any]]) -> None:
    for step in steps_of(visits):
        members = [rank for visit in step for rank in members_of(visit) or ()]
        if len(members) != len(set(members)):
            raise PlanError(f"the plan has a rank twice in a step, at visit {step[-1]['id']}")
        of_groups = {visit["group"] >= 0 for visit in step}
        if True in of_groups and len({(v["pattern"], v["mode"], v["group"] >= 0) for v in step}) > 1:
            raise PlanError(f"the groups of a step do different things, at visit {step[-1]['id']}")


def members_of(visit: dict[str, Any]) -> Sequence[int] | None:
    """Which ranks a visit of a pair or group is of, in their order."""
    if visit["pair"]:
        return [int(rank) for rank in visit["pair"].split("-")]
    members: list[int] | None = visit["members"]
    return members


def steps_of(visits: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Visits that are made at the same time; one that is no pair's is alone."""
    steps: list[list[dict[str, Any]]] = []
    for visit in visits:
        if steps and visit["step"] >= 0 and steps[-1][-1]["step"] == visit["step"]:
            steps[-1].append(visit)
        else:
            steps.append([visit])
    return steps


def _read_launch(values: dict[str, str]) -> dict[str, int]:
    _check_keys(values, LAUNCH_KEYS.keys() - LAUNCH_OPTIONAL, LAUNCH_KEYS.keys())
    return {name: _number(name, text, *LAUNCH_KEYS[name]) for name, text in values.items()}


def _read_group(values: dict[str, str], ranks: int, groups: dict[int, list[int]]) -> None:
    _check_keys(values, {"id", "ranks"}, {"id", "ranks"})
    number = _number("id", values["id"], 0, INT_MAX - 1)
    if groups and number <= max(groups):
        raise PlanError(f"groups have ascending ids, and {number} comes after {max(groups)}")
    members = [rank for word in values["ranks"].split(",") for rank in _range(word)]
    if members and max(members) >= ranks:
        raise PlanError(f"this job has no rank {max(members)}")
    if len(members) != len(set(members)):
        raise PlanError("a rank is in the group twice")
    if len(members) < 2:
        raise PlanError("a group has two ranks or more")
    groups[number] = members


def _range(word: str) -> range:
    first, dash, rest = word.partition("-")
    last, colon, by = rest.partition(":")
    if not all(text.isdigit() for text in (first, last if dash else "0", by if colon else "1")):
        raise PlanError(f"{word!r} is no list of ranks like 0-3,8,16-30:2")
    if int(last or first) < int(first) or (colon and int(by) < 1):
        raise PlanError("a range of ranks goes upwards, like 0-6:2")
    return range(int(first), int(last or first) + 1, int(by or 1))


def _read_visit(values: dict[str, str], ranks: int, groups: dict[int, list[int]]) -> dict[str, Any]:
    _check_keys(values, REQUIRED, REQUIRED | OPTIONAL.keys())
    visit: dict[str, Any] = {
        name: int(text) if name in VISIT_KEYS else text for name, text in OPTIONAL.items()
    }
    visit |= {
        name: _number(name, text, *VISIT_KEYS[name]) if name in VISIT_KEYS else text
        for name, text in values.items()
    }
    if visit["group"] >= 0 and visit["group"] not in groups:
        raise PlanError(f"no line before it has a group {visit['group']}")
    visit["members"] = groups.get(visit["group"])
    if trouble := _unknown_word(visit) or _impossible(visit, ranks):
        raise PlanError(trouble)
    return visit


def _check_keys(values: dict[str, str], required: Iterable[str], known: Iterable[str]) -> None:
    if unknown := values.keys() - set(known):
        raise PlanError(f"there is no key {unknown.pop()!r}")
    if missing := set(required) - values.keys():
        raise PlanError(f"it lacks {missing.pop()!r}")


def _number(name: str, text: str, least: int, most: int) -> int:
    if not text.removeprefix("-").isdigit() or not least <= int(text) <= most:
        raise PlanError(f"{name} is {text!r}, not a whole number from {least} to {most}")
    return int(text)


def _unknown_word(visit: dict[str, Any]) -> str:
    """Which word of a visit is none, or nothing."""
    pattern, mode, sync, datatype, op = (visit[k] for k in ("pattern", "mode", "sync", "datatype", "op"))
    window = visit["rma_window"]
    if pattern not in PATTERNS:
        return "a visit needs a pattern of --describe"
    if mode not in modes_of(pattern):
        return f"{pattern} has no mode {mode!r}"
    if sync not in SYNCS:
        return f"sync is {sync!r}, not common, barrier or mpi_barrier"
    if window not in RMA_WINDOWS:
        return f"rma_window is {window!r}, not allocate, create, dynamic or shared"
    if datatype not in {"", *DATATYPES}:
        return f"no datatype is called {datatype!r}"
    return "" if op in {"", *OPERATIONS} else f"no operation is called {op!r}"


def _impossible(visit: dict[str, Any], ranks: int) -> str:
    """Why a visit cannot be, or nothing."""
    name, size, datatype, root = (visit[k] for k in ("pattern", "bytes", "datatype", "root"))
    traits, binds = PATTERNS[name], has(visit, "binds_buffers")
    least, active = traits["min_ranks"], traits["active_ranks"]
    sends = traits["family"] not in {"memory", "floor"}
    counts = (
        traits["sampled"]["starts_together"]
        or traits["reduces"]
        or traits["counts_int"]
        or bool(traits["bus"])
    )
    block, stride, partitions = (visit[key] for key in ("block_bytes", "stride_bytes", "partitions"))
    pair = [int(rank) for rank in visit["pair"].split("-") if rank.isdigit()]
    of_group = visit["members"] is not None
    ranks = len(visit["members"]) if of_group else ranks
    troubles = {
        "a visit is of a pair or of a group": bool(visit["pair"]) and of_group,
        "a pair or group needs a step, and a step one of them": (bool(visit["pair"]) or of_group)
        != (visit["step"] >= 0),
        f"{name} is between {active} ranks, not {ranks}": of_group and active not in {0, ranks},
        f"pair is {visit['pair']!r}, not two ranks like 0-3": bool(visit["pair"])
        and not (len(pair) == 2 and pair[0] < pair[1]),
        f"{name} is not between two ranks": bool(visit["pair"]) and active != 2,
        f"{name} has no window of some of the ranks": bool(visit["pair"] or visit["members"])
        and traits["one_sided"],
        f"this job has no rank {pair[-1:]}": bool(pair) and pair[-1] >= ranks,
    }
    active, reduces, unit = active or ranks, traits["reduces"], traits["unit_bytes"]
    blocks = active if has(visit, "counts_all") else 1
    most = INT_MAX // blocks * (DATATYPES.get(datatype, 1) if reduces else 1)
    troubles |= {
        f"{name} needs {least} ranks, this job has {ranks}": least > ranks,
        f"{size} B need the large counts of MPI 4, which this library lacks": sends
        and not counts
        and size > INT_MAX,
        f"four messages of {size} B are more than MPI_Buffer_attach can take": has(visit, "attaches_buffer")
        and size > INT_MAX // 4 - BSEND_OVERHEAD_BYTES,
        f"{name} works in the same buffers at each call and cannot use cold ones": binds
        and visit["pool_bytes"] > 0,
        f"{name} works on multiples of {unit} B, not on {size} B": unit > 0
        and (size == 0 or size % unit > 0),
        f"{size} B are no whole number of blocks of {block} B, every {stride} B": has(visit, "strided")
        and (block == 0 or size % block > 0 or stride < block),
        f"{size} B are no {partitions} equal partitions": has(visit, "partitioned")
        and (partitions == 0 or size % partitions > 0),
        f"{name} needs datatype and op": reduces and not (datatype and visit["op"]),
        f"MPI defines no {visit['op']} of {datatype}": reduces and visit["op"] not in operations_of(datatype),
        f"{size} B are no whole number of {datatype}": reduces and size % DATATYPES.get(datatype, 1) > 0,
        f"{name} has no form with MPI_IN_PLACE": visit["in_place"] == 1 and not traits["may_in_place"],
        f"rank {root} cannot be root of {active} ranks": root >= active,
        f"a persistent {name} has one root, it cannot move on": root < 0 and binds,
        f"{size} B a rank are more than the counts of {name} {visit['mode']} can take": counts
        and size > most,
    }
    return next((words for words, wrong in troubles.items() if wrong), "")
