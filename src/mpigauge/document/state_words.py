"""The states of the machine in words: which there were, for how long, and what the hardware says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.finding import Finding
from mpigauge.rows.machine.hardware_distance import CORE, nearness_of
from mpigauge.rows.machine.machines import measured_machine
from mpigauge.rows.machine.split import core_binding, split_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.result.reader import Result
    from mpigauge.rows.machine.split import State
    from mpigauge.rows.rows import Row
    from mpigauge.vocabulary import CoreBinding, Distance, Nearness, StateName

HANDED_OVER: dict[Distance, str] = {"line": "a cache line", "path": "an empty message between hosts"}
"""Words for what shows the distance between ranks."""

APART: dict[Distance, str] = {"line": "cores", "path": "hosts"}
"""Words for what is near or far, by what the distance was measured with."""


def states_lines(result: Result, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the states of the machine, those that the numbers are of, and what the hardware says of them.

    Nothing if there is only one state.
    """
    split, hardware = split_of(result), _hardware(result)
    for group in _from_most(split.states):
        each = [
            f"{words}, {_episodes(state)}"
            for state, words in zip(group, _words(group, hardware), strict=True)
        ]
        yield f"states of the machine: {'; '.join(each)}{_states_of_numbers(group, rows)}"
    if any(state.of == "line" for state in split.states):
        yield from filter(None, [BINDING_SENTENCES[core_binding(result.launches)]])
    if split.states and (unknown := _unknown(rows)):
        yield (
            f"not known: the state of {unknown}, whose ranks shared cores or were alone on their hosts; "
            "their numbers are of all states"
        )
    if split.between:
        share = units.format_percent(split.between_share)
        yield f"between states: {units.counted(split.between, 'visit')}, {share} of the time, in no number"


def _unknown(rows: Sequence[Row]) -> str:
    """Return how many communicating cells have no known distance between ranks; empty if none."""
    count = sum(row.talks and row.state is None and bool(row.visits) for row in rows)
    return units.counted(count, "cell") if count else ""


BINDING_SENTENCES: dict[CoreBinding, str] = {
    "fixed": "the ranks stayed on their cores all the time: what moves lies below them, such as the cores "
    "that a hypervisor gives to a virtual machine",
    "free": "the ranks were not bound, so the system may have moved them: --bind core keeps them in place",
    "changed": "the ranks were bound to other cores from launch to launch: bind them alike for one state",
    "unknown": "",
}
"""Sentences on the binding of ranks, where the machine had several states."""


def states_in_brief(result: Result, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line per distance: which states there were, and of which the numbers are."""
    hardware = _hardware(result)
    for group in _from_most(split_of(result).states):
        yield f"states: {', '.join(_words(group, hardware))}{_states_of_numbers(group, rows)}"


def several_states_line(names: Sequence[str]) -> list[str]:
    """Return a line that names the results, among those shown, with several states of the machine."""
    if not names:
        return []
    return [f"several states of the machine in {', '.join(names)}: sessions are of one state each"]


def _from_most(states: Sequence[State]) -> Iterator[list[State]]:
    """The states of each distance, those that lasted long first."""
    for of in dict.fromkeys(state.of for state in states):
        yield sorted((one for one in states if one.of == of), key=lambda one: -one.time_share)


def _hardware(result: Result) -> dict[StateName, str]:
    """What ranks share in each state, where the hardware tells it: `same core`, `same L3`, `other L3`."""
    last = next((name for name in measured_machine(result).cpu_groups if name != CORE), "cache")
    words: dict[Nearness, str] = {"core": "same core", "cache": f"same {last}", "apart": f"other {last}"}
    return {state: words[near] for state, near in nearness_of(result).items()}


def _words(states: Sequence[State], hardware: Mapping[StateName, str]) -> Iterator[str]:
    """Yield `cores far (a cache line takes 245 ns, other L3) 72 % of the time`, `near (40.0 ns) 27 %`."""
    for number, state in enumerate(states):
        time, share = units.format_time(state.handover_s), units.format_percent(state.time_share)
        first = number == 0
        takes = f"{HANDED_OVER[state.of]} takes {time}" if first else time
        if state.of == "line" and state.name in hardware:
            takes = f"{takes}, {hardware[state.name]}"
        what, of = (f"{APART[state.of]} ", " of the time") if first else ("", "")
        yield f"{what}{state.name} ({takes}) {share}{of}"


def distances(states: Sequence[State]) -> list[str]:
    """Return each state with its hand-over time, its share of the time and how often it came."""
    return [
        f"{state.name} {units.format_time(state.handover_s)} ({units.format_percent(state.time_share)}, "
        f"{units.counted(state.episodes, 'time')})"
        for state in states
    ]


def _episodes(state: State) -> str:
    return units.counted(state.episodes, "episode")


def _states_of_numbers(states: Sequence[State], rows: Sequence[Row]) -> str:
    names = {row.state for row in rows} & {state.name for state in states}
    return f"; numbers: in state {names.pop()} (--state all: each)" if len(names) == 1 else ""


# ---- Disturbed or not ----------------------------------------------------------------------------


def left_out_line(*results: Result) -> list[str]:
    """Return a line that says how many disturbed visits are left out; empty if none are."""
    left_out = sum(len(result.left_out) for result in results)
    if not left_out:
        return []
    whole = left_out + sum(len(result.visits) for result in results)
    why = "were disturbed, of cores shared more than usual or at another speed"
    return [f"only quiet visits: {left_out} of {whole} {why}, and are left out"]


def state_findings(result: Result) -> Iterator[Finding]:
    """Yield the states of the machine for programs, if there are several."""
    if states := split_of(result).states:
        values = {
            state.name if state.of == "line" else f"{state.of}-{state.name}": state.time_share
            for state in states
        }
        yield Finding("states", "info", (), values, "; ".join(states_lines(result, ())))
