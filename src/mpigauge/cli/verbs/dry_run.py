"""What --dry-run prints: how much a campaign is, its commands, and the cells that each of them measures."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.campaign.prepare import PreparedCampaign
    from mpigauge.plan.model import Cell, Plan

LINES_SHOWN = 16
"""Of a file with the hosts of the ranks."""

SIZES_SHOWN = 6
"""Of a line; of more sizes only the ends."""


def what_would_run(session: PreparedCampaign) -> str:
    """Return how much it is, and a paragraph per job: its command line with its variables, and its cells."""
    from mpigauge.campaign.jobs import oversubscribed_jobs
    from mpigauge.campaign.libraries import other_choices
    from mpigauge.campaign.measuring import left_out_sentence, shared_cores_sentence

    plan = session.plan
    others = [f"! {words}" for words in other_choices(one.library for one in session.targets)]
    lab = [f"in a lab of {plan.lab.hosts} hosts:"] if plan.lab else []
    shared = [
        f"! {shared_cores_sentence(job.ranks, job.cores)}"
        for job in oversubscribed_jobs(plan, session.targets)
    ]
    head = f"seed {plan.seed}, {plan.launches_min} to {plan.launches_max} launches of each of:"
    gone = [f"! {line}" for line in [left_out_sentence(session.targets)] if line]
    return "\n".join([*_amount(session), *others, *gone, *shared, *lab, head, *_jobs(session), ""])


def _amount(session: PreparedCampaign) -> Iterator[str]:
    """Return how many cells in how many jobs there are, and how long that may take."""
    from mpigauge.plan.model import by_job
    from mpigauge.units import counted

    cells = counted(sum(len(target.cells) for target in session.targets), "cell")
    jobs = counted(sum(len(by_job(target.cells)) for target in session.targets), "job")
    told = session.time_of_jobs if session.plan.over_s is None else ""
    yield f"{cells} in {told or f'{jobs}, {_time(session.plan)}'}; nothing is run"


def _time(plan: Plan) -> str:
    if plan.over_s is not None:
        return f"spread over {plan.over_s:.0f} s"
    return "for as long as it takes" if plan.budget_s is None else f"at most {plan.budget_s:.0f} s"


def _jobs(session: PreparedCampaign) -> Iterator[str]:
    from mpigauge.campaign.jobs import command_of, job_of
    from mpigauge.plan.factors import is_control
    from mpigauge.plan.model import by_job

    for target in session.targets:
        for key, cells in by_job(target.cells).items():
            job = job_of(session.plan, target, key)
            variables = [f"{name}={shlex.quote(value)}" for name, value in job.environment.items()]
            command = command_of(session.plan, target, job)
            yield "  " + " ".join([*variables, *map(_quoted, command.words)])
            if is_control(key):
                yield "    control arm: the same a second time, for mpigauge compare"
            yield from (f"    {_file(name, text)}" for name, text in command.files.items())
            yield from (f"    {line}" for line in _described(cells))


def _quoted(word: str) -> str:
    """Quote a word for a shell, which fills in the folder that a file of the command is in."""
    from mpigauge.campaign.launch.job import FOLDER

    quoted = shlex.quote(word)
    return f'"{word}"' if FOLDER in word and quoted == f"'{word}'" and word.count("$") == 1 else quoted


def _file(name: str, text: str) -> str:
    """Return what a file of the command says, as far as it fits a line."""
    from mpigauge.campaign.launch.job import FOLDER

    lines = text.splitlines()
    more = f" ... ({len(lines)} lines)" if len(lines) > LINES_SHOWN else ""
    return f"{FOLDER}/{name}: {' '.join(lines[:LINES_SHOWN])}{more}"


def _described(cells: Iterable[Cell]) -> Iterator[str]:
    """Describe in a line all cells that differ in nothing but their size and pair."""
    from mpigauge.document.phrases import DETAILS, phrases_of
    from mpigauge.plan.patterns import known
    from mpigauge.sequences import group_by

    def said(cell: Cell) -> tuple[str, ...]:
        return cell.pattern, cell.mode, *phrases_of(cell, DETAILS).values()

    for (pattern, mode, *factors), found in group_by(cells, said).items():
        pairs = len({cell.pair for cell in found if cell.pair})
        of_pairs = [f"{pairs} pairs of ranks" if pairs > 1 else f"between ranks {found[0].pair}"]
        sized = pattern not in known() or known()[pattern].sized
        sizes = [_sizes(sorted({cell.bytes for cell in found}))] if sized else []
        yield ", ".join([" ".join([pattern, mode, *sizes]), *(of_pairs if pairs else []), *factors])


def _sizes(sizes: list[int]) -> str:
    from mpigauge.units import format_size

    if len(sizes) <= SIZES_SHOWN:
        return ", ".join(map(format_size, sizes))
    return f"{format_size(sizes[0])} to {format_size(sizes[-1])} ({len(sizes)} sizes)"
