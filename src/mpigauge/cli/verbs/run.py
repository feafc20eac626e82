"""`mpigauge run`: measures, writes the result file as it goes, and prints the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.options.into import check_into, folder_request
from mpigauge.cli.options.option_groups import Chapters
from mpigauge.cli.options.run_options import CHAPTERS, plan_of_options, run_options
from mpigauge.cli.screen.streams import clean, note
from mpigauge.errors import EXIT_DONE

if TYPE_CHECKING:
    from pathlib import Path


@click.command("run", cls=Chapters, chapters=CHAPTERS)
@run_options
def command(
    *,
    output: Path | None,
    into: Path | None,
    overwrite: bool,
    dry_run: bool,
    quiet: bool,
    keep_baseline: bool,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str,
    **arguments: Any,
) -> int:
    """Measure the latency, bandwidth and collectives of MPI on this machine.

    Without arguments, in less than a minute, into a file of 1 MB: ping-pong, exchange and stream
    from 0 B to 4 MiB and the eager limit between two ranks; barrier, broadcast and allreduce; and memory
    copies for comparison.
    Patterns: mpigauge list. Names of OSU, IMB and MPI are understood, too.

    \b
    mpigauge run
    mpigauge run pingpong --mode all --sizes 8,1KiB,1MiB
    mpigauge run latency bw -n 2
    mpigauge run ring --np 2,4,8 --sizes 32:2MiB
    mpigauge run allreduce bcast --np 2,4 --sizes 8:1MiB --sync common,mpi_barrier
    mpigauge run pingpong --mpi openmpi --mpi mpich
    mpigauge run pingpong --hosts node1,node2
    mpigauge run --plan quick
    mpigauge run pingpong exchange --into report
    mpigauge run --plan examples/modes.toml --budget 5min
    """
    from mpigauge.campaign.prepare import lab_to_enter, prepare
    from mpigauge.cli.screen.tables import TableOptions, check
    from mpigauge.cli.sessions.dry_run import dry_run_text
    from mpigauge.cli.sessions.lab_runs import same_command_in
    from mpigauge.cli.sessions.session import measured_and_shown, waiting_for_kernel
    from mpigauge.result.writer import check_free

    check(unit_names, columns)
    if output is not None:
        check_free(output)
    if into is not None:
        output = check_into(into, [], {"-o": output}, overwrite=overwrite)
    plan, where, per_job = plan_of_options(**arguments)
    if (lab := lab_to_enter(plan, where)) is not None:
        return same_command_in(lab, where)
    session = prepare(plan, where, per_job=per_job, waited=waiting_for_kernel(quiet=quiet))
    if dry_run:
        click.echo(clean(dry_run_text(session)), nl=False)
        return EXIT_DONE
    if session.time_of_jobs and not quiet:
        note(f"mpigauge: {session.time_of_jobs}; --budget sets the time of all")
    table = TableOptions(None, form, unit_names, stat, columns)
    folder = None if into is None else folder_request(into, overwrite=overwrite)
    return measured_and_shown(session, output, table, quiet=quiet, folder=folder, keep=keep_baseline)
