"""`mpigauge sbatch`: writes the script of a Slurm job, which the user reads and submits."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import click

from mpigauge import atomic_file
from mpigauge.cli.options.map_options import asked_map, typed_options
from mpigauge.cli.options.run_options import CommandWithRunOptions, planned, run_arguments
from mpigauge.cli.options.shipped_option import PLAN_PATH
from mpigauge.cli.screen.streams import note
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, UsageError
from mpigauge.result.files import as_argument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.plan.model import Plan

WARNING_S = 90
"""Seconds before its time limit at which the job is warned; Slurm may be a minute early."""

TIME_LEAST_S = 300.0
TIME_MOST_S = 366 * 86_400.0
MARGIN_S = 180.0
"""Seconds that a job needs besides its budget: the warning, Slurm's minute, and its start."""

RUN, MAP = "run", "map"
"""Verbs that a script may run."""

STANDARD_OUTPUT = Path("-")
"""Other programs write to standard output for `-o -`, so it cannot be a script's name."""

PARTITION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,+-]*")

SAYS_RANKS = re.compile(r"(--np|-np|--ranks|--plan)(=|$)|-n\s*\d*$")
"""Arguments of run that set the number of ranks."""

SCRIPT = Template(r"""#!/bin/bash
# A campaign of mpigauge, written by:
#   $command
# Submit it from the folder that results belong in:        sbatch $name
# Continue a result that a time limit has interrupted:     sbatch $name RESULT.jsonl
#
#SBATCH --job-name=mpigauge
#SBATCH --nodes=$nodes
#SBATCH --ntasks-per-node=$tasks
# Other jobs on the same nodes would disturb the measurement.
#SBATCH --exclusive
#SBATCH --time=$time
$more# If a node fails, the job is queued again and continues where it stopped.
#SBATCH --requeue
#SBATCH --open-mode=append
# Slurm signals this script that many seconds before the limit; mpigauge then closes its result file.
#SBATCH --signal=B:TERM@$warning

set -u
$plans
# The trap is set before there is a child: a signal that comes in between is passed on afterwards.
child=
told=
trap 'told=1; [ -z "$$child" ] || kill -TERM "$$child" 2>/dev/null' TERM

# Runs mpigauge with these words, and leaves its status behind.
mpigauge() {
    $program "$$@" &
    child=$$!
    [ -z "$$told" ] || kill -TERM "$$child"

    # A signal interrupts bash's wait, which then returns another status than the child's: wait again.
    told=1
    status=127
    while [ "$$told" ]; do
        told=
        wait "$$child"
        last=$$?
        [ "$$last" -eq 127 ] || status=$$last
    done
}

if [ "$$(head -n 1 "$$result" 2>/dev/null | wc -l)" -gt 0 ]; then  # begun: it has a whole first line
    mpigauge resume "$$result" -q
${judged}else
    mpigauge $verb $words -o "$$result"
fi
exit "$$status"
""")

ONE = """result=${1:-mpigauge-$SLURM_JOB_ID.jsonl}
"""

ARRAY = Template(r"""# One plan per task.
plans=(
$plans
)
plan=$${plans[SLURM_ARRAY_TASK_ID]}
result=$${1:-mpigauge-$${SLURM_ARRAY_JOB_ID}_$$SLURM_ARRAY_TASK_ID.jsonl}
""")


@click.command("sbatch", cls=CommandWithRunOptions, context_settings={"ignore_unknown_options": True})
@run_arguments
@click.option("--nodes", type=click.IntRange(1), default=2, show_default=True, help="Number of nodes.")
@click.option(
    "--tasks-per-node", "tasks", type=click.IntRange(1), default=1, show_default=True, help="Ranks per node."
)
@click.option(
    "--time", "limit", default="30min", show_default=True, metavar="TIME", help="Time limit of the job."
)
@click.option("--partition", metavar="NAME", help="Slurm partition.  [default: Slurm's]")
@click.option(
    "--array",
    "plans",
    multiple=True,
    type=PLAN_PATH,
    metavar="PLAN",
    help="Plan of one array task, by its name or as a file; repeatable.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Script to write (job.sh), or -.  [default: standard output]",
)
@click.pass_context
def command(
    context: click.Context,
    words: tuple[str, ...],
    *,
    nodes: int,
    tasks: int,
    limit: str,
    partition: str | None,
    plans: tuple[Path, ...],
    output: Path | None,
) -> int:
    """Write a Slurm script that runs a campaign; nothing is submitted.

    Patterns and all other options are those of mpigauge run, or after the word map those of mpigauge map.
    There is one rank per task unless --np or a plan says otherwise. A job that is queued again continues its
    result. It ends with the exit status of what it has run.

    \b
    mpigauge sbatch pingpong -o job.sh
    mpigauge sbatch --nodes 4 --time 1h allreduce bcast --sizes 8:1MiB -o job.sh
    mpigauge sbatch --nodes 2 --array modes.toml --array sizes.toml -o jobs.sh
    mpigauge sbatch --nodes 16 map -o map.sh
    """
    time_s = _time_s(limit)
    output = None if output == STANDARD_OUTPUT else output
    verb, words = _verb_of(words)
    words = _with_ranks(words, nodes * tasks, plans)
    options = [str(option.name) for option in context.command.params if isinstance(option, click.Option)]
    own = [*typed_options(context, options)]
    _check_names([*words, *own], partition)
    judged = ""
    if verb == MAP:
        judged = _judged(_check_map(words, plans, time_s))
    else:
        for sentence in _checked_plans(words, plans, time_s, nodes):
            note(f"mpigauge: {sentence}")
    more = f"#SBATCH --partition={partition}\n" if partition else ""
    if plans:
        # One after the other: tasks that run at the same time would share the network.
        more += f"#SBATCH --array=0-{len(plans) - 1}%1\n"
    more += f"#SBATCH --output=mpigauge-{'%A_%a' if plans else '%j'}.log\n"
    text = SCRIPT.substitute(
        command=shlex.join(["mpigauge", "sbatch", *own, *([MAP] if verb == MAP else []), *words]),
        name=as_argument(output or Path("job.sh")),
        nodes=nodes,
        tasks=tasks,
        time=_slurm_time(time_s),
        more=more,
        warning=WARNING_S,
        plans=_plans(plans),
        verb=verb,
        words=" ".join([*(['--plan "$plan"'] if plans else []), *map(_quoted, words), "-q"]),
        judged=judged,
        program=shlex.join([sys.executable, "-P", "-m", "mpigauge"]),
    )
    _write(text, output)
    return EXIT_DONE


def _verb_of(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the verb that measures, and the words that it is given."""
    named = words[:1] in ((RUN,), (MAP,))
    return (words[0], (*words[1:],)) if named else (RUN, (*words,))


def _with_ranks(words: Sequence[str], ranks: int, plans: Sequence[Path]) -> tuple[str, ...]:
    """Return the arguments of run, with the number of ranks unless it is set already."""
    is_set = plans or any(SAYS_RANKS.match(word) for word in words)
    return (*words,) if is_set else (*words, "--np", str(ranks))


def _check_names(names: Sequence[str], partition: str | None) -> None:
    """Refuse names that could become another line of the script."""
    for name in names:
        if not name.isprintable():
            raise UsageError(
                f"{name!r}: contains a control character, which a script cannot have", "rename it"
            )
    if partition is not None and not PARTITION.fullmatch(partition):
        raise UsageError(f"--partition: {partition!r} is not the name of a partition", "sinfo lists them")


def _checked_plans(words: Sequence[str], plans: Sequence[Path], time_s: float, nodes: int) -> Iterator[str]:
    """Refuse what would fail only in the job, after hours in a queue; yield what would leave nodes idle."""
    from mpigauge.plan.idle_nodes import idle_nodes_sentence

    if plans and any(word.partition("=")[0] == "--plan" for word in words):
        raise UsageError("--array and --plan exclude each other", "use --array for every plan file")
    for plan_words in [["--plan", str(plan)] for plan in plans] or [[]]:
        plan, where, _ = planned([*plan_words, *words])
        _check_time(plan, where, time_s)
        if idle := idle_nodes_sentence(plan, nodes):
            yield f"{where}: {idle}" if plans else idle


def _check_map(words: Sequence[str], plans: Sequence[Path], time_s: float) -> Sequence[str]:
    """Return the words that show a map; refuse what would fail only in the job."""
    if plans:
        raise UsageError("--array: a map has no plan file", "leave it out, or write a script for each map")
    plan, showing = asked_map(words)
    _check_time(plan, "the command line", time_s)
    return showing


def _check_time(plan: Plan, where: str, time_s: float) -> None:
    """Refuse a plan that does not fit the time of its job."""
    if plan.budget_s is not None and plan.budget_s + MARGIN_S > time_s:
        raise UsageError(
            f"{where}: a budget of {plan.budget_s:.0f} s does not fit a job of {time_s:.0f} s, of which "
            f"{MARGIN_S:.0f} s are needed to start and end it",
            "raise --time or lower --budget",
        )
    if plan.over_s is not None and plan.over_s + MARGIN_S > time_s:
        raise UsageError(
            f"{where}: launches spread over {plan.over_s:.0f} s do not fit a job of {time_s:.0f} s",
            "raise --time or lower --over",
        )


def _judged(showing: Sequence[str]) -> str:
    """Return the lines that end the job with the verdict on a map, also where a job before began it."""
    words = " ".join(["-q", *map(_quoted, showing)])
    return f"""    # A map that is whole is judged; one that was stopped again, or could not go on, is not.
    [ "$status" -gt {EXIT_CHECK_FAILED} ] || mpigauge {MAP} "$result" {words}
"""


def _time_s(limit: str) -> float:
    from mpigauge import units

    seconds = units.parse_duration(limit)
    if seconds > TIME_MOST_S:
        raise UsageError(f"--time: {limit} is more than a year", "give it a unit: 30min, 12h")
    if seconds < TIME_LEAST_S:
        raise UsageError(
            f"--time: {limit} is too short: Slurm warns up to {WARNING_S + 60} s before the limit",
            f"use {TIME_LEAST_S / 60:.0f}min or more",
        )
    return seconds


def _slurm_time(seconds: float) -> str:
    """Return hours, minutes and seconds; Slurm rounds up to minutes."""
    minutes = -(-int(seconds) // 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:00"


def _plans(plans: Sequence[Path]) -> str:
    if not plans:
        return ONE
    return ARRAY.substitute(plans="\n".join(f"    {_quoted(str(plan))}" for plan in plans))


def _quoted(word: str) -> str:
    """Quote a word for the shell, also where a reader might take a comma for the end of a word."""
    return f"'{word}'" if shlex.quote(word) == word and "," in word else shlex.quote(word)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    mode = atomic_file.PROGRAM_MODE
    with atomic_file.open_output(output, mode=mode, other_name="choose another name: -o FILE") as file:
        file.write(text.encode())
    note(f"script: {output}")
    note(f"  submit it with: sbatch {as_argument(output)}")
