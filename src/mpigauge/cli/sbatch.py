"""`mpigauge sbatch`: the script of a Slurm job, which the user reads and submits."""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from string import Template

import click

from mpigauge.cli import completers
from mpigauge.cli.run_options import TakesWordsOfRun, planned, words_of_run
from mpigauge.errors import EXIT_DONE, EnvironmentLacksError, UsageError

WARNING_S = 90
"""How long before its limit the job is told; Slurm may be a minute early."""

TIME_LEAST_S = 300.0
TIME_MOST_S = 366 * 86_400.0
MARGIN_S = 180.0
"""What a job needs beside its budget: the warning, Slurm's minute, and its start."""

PARTITION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,+-]*")

SCRIPT = Template(r"""#!/bin/bash
# A campaign of mpigauge, written by:
#   $command
# Submit it from the folder that it shall write to:  sbatch $name
# Go on with a result that a time limit cut short:   sbatch $name RESULT.jsonl
#
#SBATCH --job-name=mpigauge
#SBATCH --nodes=$nodes
#SBATCH --ntasks-per-node=$tasks
# Whoever shares a node is measured, too.
#SBATCH --exclusive
#SBATCH --time=$time
$more# After the loss of a node the job is queued again, and goes on where it was.
#SBATCH --requeue
#SBATCH --open-mode=append
# So many seconds before the limit this script is told, and mpigauge ends its visit and closes its file.
#SBATCH --signal=B:TERM@$warning

set -u
$plans
if [ -s "$$result" ]; then
    words=(resume "$$result" -q)
else
    words=(run $run -o "$$result")
fi
$program "$${words[@]}" &
child=$$!

# bash leaves wait whenever a signal comes, with a status that is not the child's: wait again.
trap 'told=1; kill -TERM "$$child" 2>/dev/null' TERM
told=1
status=127
while [ "$$told" ]; do
    told=
    wait "$$child"
    last=$$?
    [ "$$last" -eq 127 ] || status=$$last
done
exit "$$status"
""")

ONE = """result=${1:-mpigauge-$SLURM_JOB_ID.jsonl}
"""

ARRAY = Template(r"""# One plan a task.
plans=(
$plans
)
plan=$${plans[SLURM_ARRAY_TASK_ID]}
result=$${1:-mpigauge-$${SLURM_ARRAY_JOB_ID}_$$SLURM_ARRAY_TASK_ID.jsonl}
""")


@click.command("sbatch", cls=TakesWordsOfRun, context_settings={"ignore_unknown_options": True})
@words_of_run
@click.option("--nodes", type=click.IntRange(1), default=2, show_default=True, help="Hosts of the job.")
@click.option(
    "--tasks-per-node", "tasks", type=click.IntRange(1), default=1, show_default=True, help="Ranks on each."
)
@click.option("--time", "limit", default="30min", show_default=True, metavar="TIME", help="Limit of the job.")
@click.option("--partition", metavar="NAME", help="Where it is queued.  [default: Slurm's]")
@click.option(
    "--array",
    "plans",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PLAN",
    shell_complete=completers.tables,
    help="A plan file for one task of an array; repeatable.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="The script (job.sh).")
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
    """Write the script of a Slurm job that runs a campaign, and submit nothing.

    Words that are not its own are those of mpigauge run. Of ranks there are as many as tasks, unless
    --np or a plan says otherwise. A job that is queued again goes on with its result.

    \b
    mpigauge sbatch pingpong -o job.sh
    mpigauge sbatch --nodes 4 --time 1h allreduce bcast --sizes 8:1MiB -o job.sh
    mpigauge sbatch --nodes 2 --array modes.toml --array sizes.toml -o jobs.sh
    """
    time_s = _time_s(limit)
    words = _with_ranks(words, nodes * tasks, plans)
    _check_names([*words, *_own_words(context)], partition)
    _check_plans(words, plans, time_s)
    more = f"#SBATCH --partition={partition}\n" if partition else ""
    if plans:
        # One after the other: tasks that run at the same time would meet in the network.
        more += f"#SBATCH --array=0-{len(plans) - 1}%1\n"
    more += f"#SBATCH --output=mpigauge-{'%A_%a' if plans else '%j'}.log\n"
    text = SCRIPT.substitute(
        command=shlex.join(["mpigauge", "sbatch", *_own_words(context), *words]),
        name=shlex.quote(str(output or "job.sh")),
        nodes=nodes,
        tasks=tasks,
        time=_slurm_time(time_s),
        more=more,
        warning=WARNING_S,
        plans=_plans(plans),
        run=" ".join([*(['--plan "$plan"'] if plans else []), *map(_quoted, words), "-q"]),
        program=shlex.join([sys.executable, "-m", "mpigauge"]),
    )
    _write(text, output)
    return EXIT_DONE


def _own_words(context: click.Context) -> list[str]:
    """The options of this verb as they were given."""
    given: list[str] = []
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name == "words" or value is None or value == option.default:
            continue
        for one in value if isinstance(value, tuple) else (value,):
            given += [option.opts[0], str(one)]
    return given


def _with_ranks(words: Sequence[str], ranks: int, plans: Sequence[Path]) -> tuple[str, ...]:
    """The words of run, with the number of ranks if nobody else says it."""
    said = plans or any(word.partition("=")[0] in ("--np", "--plan") for word in words)
    return (*words,) if said else (*words, "--np", str(ranks))


def _check_names(names: Sequence[str], partition: str | None) -> None:
    """Nothing that could become a line of its own in a script."""
    for name in names:
        if not name.isprintable():
            raise UsageError(f"{name!r}: has a character that no script should have", "rename it")
    if partition is not None and not PARTITION.fullmatch(partition):
        raise UsageError(f"--partition: {partition!r} is no name of a partition", "sinfo lists them")


def _check_plans(words: Sequence[str], plans: Sequence[Path], time_s: float) -> None:
    """Refuses what would fail in the job only, after hours in a queue."""
    if plans and any(word.partition("=")[0] == "--plan" for word in words):
        raise UsageError("--array and --plan exclude each other", "give every plan file by --array")
    for plan_words in [["--plan", str(plan)] for plan in plans] or [[]]:
        plan, where = planned([*plan_words, *words])
        if plan.budget_s is not None and plan.budget_s + MARGIN_S > time_s:
            raise UsageError(
                f"{where}: a budget of {plan.budget_s:.0f} s does not fit a job of {time_s:.0f} s, of which "
                f"{MARGIN_S:.0f} s go to its start and end",
                "take a longer --time or a smaller --budget",
            )


def _time_s(limit: str) -> float:
    from mpigauge import units

    seconds = units.parse_duration(limit)
    if seconds > TIME_MOST_S:
        raise UsageError(f"--time: {limit} is more than a year", "write it with a unit: 30min, 12h")
    if seconds < TIME_LEAST_S:
        raise UsageError(
            f"--time: {limit} is too short: Slurm warns up to {WARNING_S + 60} s before the limit",
            f"take {TIME_LEAST_S / 60:.0f}min or more",
        )
    return seconds


def _slurm_time(seconds: float) -> str:
    """Hours, minutes and seconds; Slurm rounds up to minutes."""
    minutes = -(-int(seconds) // 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:00"


def _plans(plans: Sequence[Path]) -> str:
    if not plans:
        return ONE
    return ARRAY.substitute(plans="\n".join(f"    {_quoted(str(plan))}" for plan in plans))


def _quoted(word: str) -> str:
    """For the shell, also where a reader might take a comma for the end of a word."""
    return f"'{word}'" if shlex.quote(word) == word and "," in word else shlex.quote(word)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
        output.chmod(0o755)
    except FileExistsError:
        raise UsageError(f"{output}: exists already", "choose another name: -o FILE") from None
    except OSError as error:
        raise EnvironmentLacksError(
            f"{output}: cannot be written: {error.strerror}", "choose another place: -o FILE"
        ) from None
    click.echo(f"script: {output}", err=True)
    click.echo(f"  submit it with: sbatch {shlex.quote(str(output))}", err=True)
