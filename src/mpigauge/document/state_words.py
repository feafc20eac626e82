"""The states of the machine in words: which there were, for how long, and what the hardware says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.document.finding import Finding
from mpigauge.document.phrases import state_name
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

IN_BRIEF: dict[Distance, str] = {"line": "cache line", "path": "message"}
"""Short words for what is handed over, by what the distance was measured with."""

MAX_LETTERS = 80
"""Longest line of the states in brief: that of a narrow terminal."""


def states_lines(result: Result, rows: Sequence[Row], *, remedies: bool = True) -> Iterator[str]:
    """Yield the states of the machine, those that the numbers are of, and what the hardware says of them.

    Nothing if there is only one state.

    Args:
        remedies: Whether with what to do, which is for who measures.
    """
    split, hardware = split_of(result), _hardware(result)
    for group in _from_most(split.states):
        each = [
            f"{words}, {_episodes(state)}"
            for state, words in zip(group, _words(group, hardware), strict=True)
        ]
        yield f"states of the machine: {'; '.join(each)}{_states_of_numbers(group, rows, remedies=remedies)}"
    binding = core_binding(result.launches)
    if any(state.of == "line" for state in split.states) and (said := BINDING_SENTENCES[binding]):
        yield ": ".join(filter(None, [said, BINDING_REMEDIES.get(binding, "") * remedies]))
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
    "free": "the ranks were not bound, so the system may have moved them",
    "changed": "the ranks were bound to other cores from launch to launch",
    "unknown": "",
}
"""Sentences on the binding of ranks, where the machine had several states."""

BINDING_REMEDIES: Mapping[CoreBinding, str] = {
    "free": "--bind core keeps them in place",
    "changed": "bind them alike for one state",
}
"""Remedy."""


def states_in_brief(result: Result, rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line per distance: of which state the numbers are, and which others there were."""
    for group in _from_most(split_of(result).states):
        of_numbers = _state_of_numbers(group, rows)
        ordered = sorted(group, key=lambda state: state is not of_numbers)
        timed, short = (_in_brief(ordered, of_numbers, timed=timed) for timed in (True, False))
        yield timed if len(timed) <= MAX_LETTERS else short


def _in_brief(states: Sequence[State], of_numbers: State | None, *, timed: bool) -> str:
    """Return `states: cores far 57 % of the time (cache line 181 ns), near 43 % (36.2 ns)`.

    Args:
        states: That of the numbers first, if they are of one.
        timed: Whether with hand-over times.
    """
    first, *others = states
    name = state_name(first.of, first.name)
    begin, end = (f"numbers: {name},", "; ") if of_numbers is not None else (f"states: {name}", ", ")
    share = units.format_percent(first.time_share)
    handover = f" ({IN_BRIEF[first.of]} {units.format_time(first.handover_s)})" if timed else ""
    more = (
        f"{one.name} {units.format_percent(one.time_share)}"
        + (f" ({units.format_time(one.handover_s)})" if timed else "")
        for one in others
    )
    return f"{begin} {share} of the time{handover}{end}{', '.join(more)}"


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
        name, of = (state_name(state.of, state.name), " of the time") if first else (state.name, "")
        yield f"{name} ({takes}) {share}{of}"


def distances(states: Sequence[State]) -> list[str]:
    """Return each state with its hand-over time, its share of the time and how often it came."""
    return [
        f"{state.name} {units.format_time(state.handover_s)} ({units.format_percent(state.time_share)}, "
        f"{units.counted(state.episodes, 'time')})"
        for state in states
    ]


def _episodes(state: State) -> str:
    return units.counted(state.episodes, "episode")


def _states_of_numbers(states: Sequence[State], rows: Sequence[Row], *, remedies: bool) -> str:
    one = _state_of_numbers(states, rows)
    if one is None:
        return ""
    return f"; numbers: with {state_name(one.of, one.name)}{' (--state all: each)' * remedies}"


def _state_of_numbers(states: Sequence[State], rows: Sequence[Row]) -> State | None:
    """Return the state that all numbers are of; None if they are of several or of none."""
    names = {row.state for row in rows}
    found = [state for state in states if state.name in names]
    return found[0] if len(found) == 1 else None


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
