"""Output of --dry-run: size of the campaign, its commands, and the cells that each of them measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.campaign.prepare import PreparedCampaign
    from mpigauge.plan.model import Cell, Plan

LINES_SHOWN = 16
"""Lines shown of a file with the hosts of the ranks."""

SIZES_SHOWN = 6
"""Sizes shown per line; of more only the ends."""


def dry_run_text(session: PreparedCampaign) -> str:
    """Return the size of the campaign, and a paragraph per job: command line, variables, cells."""
    from mpigauge.campaign.control import too_short_for_verdict
    from mpigauge.campaign.hosts import idle_hosts_sentence
    from mpigauge.campaign.jobs import oversubscribed_jobs
    from mpigauge.campaign.libraries import other_choices
    from mpigauge.campaign.measuring import left_out_sentence, one_pair_note, shared_cores_sentence

    plan = session.plan
    others = [f"! {words}" for words in other_choices(target.library for target in session.targets)]
    lab = [f"in a lab of {plan.lab.hosts} hosts:"] if plan.lab else []
    shared = [f"! {shared_cores_sentence(job)}" for job in oversubscribed_jobs(plan, session.targets)]
    idle = [f"! {line}" for line in [idle_hosts_sentence(plan)] if line]
    head = f"seed {plan.seed}, {plan.launches_min} to {plan.launches_max} launches of each of:"
    gone = [f"! {line}" for line in [left_out_sentence(session.targets)] if line]
    short = [f"! {line}" for line in [too_short_for_verdict(plan, session.targets)] if line]
    pairs = [f"! {line}" for line in [one_pair_note(session.targets)] if line]
    said = [*others, *gone, *short, *pairs, *shared, *idle]
    return "\n".join([*_amount(session), *said, *lab, head, *_jobs(session), ""])


def _amount(session: PreparedCampaign) -> Iterator[str]:
    """Return how many cells and jobs there are, and how long they may take."""
    from mpigauge.plan.left_out import number_asked_for
    from mpigauge.plan.model import by_job
    from mpigauge.units import counted

    cells = counted(sum(number_asked_for(target.cells) for target in session.targets), "cell")
    jobs = counted(sum(len(by_job(target.cells)) for target in session.targets), "job")
    duration = session.time_of_jobs if session.plan.over_s is None else ""
    yield f"{cells} in {duration or f'{jobs}, {_time(session.plan)}'}; nothing is run"


def _time(plan: Plan) -> str:
    if plan.over_s is not None:
        return f"spread over {plan.over_s:.0f} s"
    return "for as long as it takes" if plan.budget_s is None else f"at most {plan.budget_s:.0f} s"


def _jobs(session: PreparedCampaign) -> Iterator[str]:
    from mpigauge.campaign.jobs import command_of, job_of
    from mpigauge.mpi.environments import shell_command
    from mpigauge.plan.factors import is_control
    from mpigauge.plan.model import by_job
    from mpigauge.result.files import quoted

    for target in session.targets:
        for key, cells in by_job(target.cells).items():
            job = job_of(session.plan, target, key)
            of_modules = target.library.environment if target.library.loaded_by else {}
            variables = [
                f"{name}={quoted(value)}"
                for name, value in job.variables.items()
                if of_modules.get(name) != value
            ]
            command = command_of(session.plan, target, job)
            loading = [f"{shell_command(target.library.loaded_by)};"] if target.library.loaded_by else []
            yield "  " + " ".join([*loading, *variables, *map(_quoted, command.words)])
            if is_control(key):
                yield "    control arm: the same a second time, for mpigauge compare"
            yield from (f"    {_file(name, text)}" for name, text in command.files.items())
            yield from (f"    {line}" for line in _described(cells))


def _quoted(word: str) -> str:
    """Quote a word for a shell that expands the folder of the command's files."""
    from mpigauge.campaign.launch.job import FOLDER
    from mpigauge.result.files import quoted

    plain = quoted(word)
    return f'"{word}"' if FOLDER in word and plain == f"'{word}'" and word.count("$") == 1 else plain


def _file(name: str, text: str) -> str:
    """Return the contents of a file of the command, as far as they fit on a line."""
    from mpigauge.campaign.launch.job import FOLDER

    lines = text.splitlines()
    more = f" ... ({len(lines)} lines)" if len(lines) > LINES_SHOWN else ""
    return f"{FOLDER}/{name}: {' '.join(lines[:LINES_SHOWN])}{more}"


def _described(cells: Iterable[Cell]) -> Iterator[str]:
    """Return a line per group of cells that differ only in size and pair."""
    from mpigauge.document.phrases import DETAILS, phrases_of
    from mpigauge.plan.patterns import known
    from mpigauge.sequences import group_by

    def key_of(cell: Cell) -> tuple[str, ...]:
        return cell.pattern, cell.mode, *phrases_of(cell, DETAILS).values()

    for (pattern, mode, *factors), group in group_by(cells, key_of).items():
        pairs = len({cell.pair for cell in group if cell.pair})
        of_pairs = [f"{pairs} pairs of ranks" if pairs > 1 else f"between ranks {group[0].pair}"]
        sized = pattern not in known() or known()[pattern].sized
        sizes = [_sizes(sorted({cell.bytes for cell in group}))] if sized else []
        yield ", ".join([" ".join([pattern, mode, *sizes]), *(of_pairs if pairs else []), *factors])


def _sizes(sizes: list[int]) -> str:
    from mpigauge.document.size_words import range_and_count
    from mpigauge.units import format_size

    if len(sizes) <= SIZES_SHOWN:
        return ", ".join(map(format_size, sizes))
    return range_and_count(sizes[0], sizes[-1], len(sizes), len(sizes))
