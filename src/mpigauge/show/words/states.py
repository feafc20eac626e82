"""The states of the machine in words: which there were, for how long, and what the hardware says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge import units
from mpigauge.analysis.conditions import disturbed_launches
from mpigauge.show.words.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.analysis.rows import Row
    from mpigauge.analysis.states import State, States
    from mpigauge.result.reader import Result
    from mpigauge.vocabulary import Distance

HANDED_OVER: dict[Distance, str] = {"line": "a cache line", "path": "an empty message between hosts"}
"""What tells how far apart ranks are."""


def in_state(state: str | None) -> str:
    """What follows a name, where it is of one state among several: ` while far`."""
    return f" while {state}" if state else ""


def state_words(state: State) -> str:
    """`far (a cache line takes 245 ns) 72 % of the time`."""
    takes = f"{HANDED_OVER[state.of]} takes {units.format_time(state.handover_s)}"
    return f"{state.name} ({takes}) {units.format_percent(state.time_share)} of the time"


def states_lines(states: States, rows: Sequence[Row]) -> Iterator[str]:
    """Which states the machine was in, and of which the numbers are; nothing of a single one."""
    for of in dict.fromkeys(state.of for state in states.states):
        mine = [state for state in states.states if state.of == of]
        mine.sort(key=lambda state: -state.time_share)
        each = [f"{state_words(state)}, {_episodes(state.episodes)}" for state in mine]
        yield f"the machine was in {len(mine)} states: {'; '.join(each)}{_shown(mine, rows)}"
    if states.between:
        share = units.format_percent(states.between_share)
        yield f"between states: {states.between} visits, {share} of the time, are in no number"


def _episodes(count: int) -> str:
    return "1 episode" if count == 1 else f"{count} episodes"


def _shown(states: Sequence[State], rows: Sequence[Row]) -> str:
    names = {row.state for row in rows} & {state.name for state in states}
    if len(names) != 1:
        return ""
    return f". All numbers are those while {names.pop()}; --state all shows each"


# ---- Disturbed or not ----------------------------------------------------------------------------


def left_out_line(result: Result) -> list[str]:
    """That a result is shown without its disturbed visits."""
    if not result.left_out:
        return []
    whole = result.left_out + len(result.visits)
    return [f"only quiet visits: {result.left_out} of {whole} were disturbed and are left out"]


def disturbed_line(result: Result) -> str:
    """Launches in which most visits of some cells were disturbed; empty if there are none."""
    found = disturbed_launches(result.visits)
    if not found:
        return ""
    worst = max(found, key=lambda number: found[number])
    launches = f"launch {worst}" if len(found) == 1 else f"{len(found)} launches, most of all {worst}"
    cells = "1 cell" if found[worst] == 1 else f"{found[worst]} cells"
    return (
        f"disturbed: in {launches}, something else used the cores of most visits of {cells} for over 1 % of "
        "their time: stop it, or look at what is left with --only quiet"
    )


def state_findings(result: Result, states: States) -> Iterator[Finding]:
    """The same for programs."""
    if states.states:
        values = {
            state.name if state.of == "line" else f"{state.of}-{state.name}": state.time_share
            for state in states.states
        }
        yield Finding("states", "info", (), values, "; ".join(states_lines(states, ())))
    if line := disturbed_line(result):
        launches = {str(number): cells for number, cells in disturbed_launches(result.visits).items()}
        yield Finding("disturbed-launches", "warning", (), launches, line)
