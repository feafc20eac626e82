"""`mpigauge resume`: continues a result file with the same plan, seed and order."""

from pathlib import Path

import click

from mpigauge.cli.options import completers
from mpigauge.cli.options.common import table_options, trust_options
from mpigauge.cli.screen.streams import note
from mpigauge.errors import EXIT_DONE


@click.command("resume")
@click.argument("result", type=click.Path(path_type=Path), shell_complete=completers.results)
@trust_options("Run what the file names, though somebody else has begun it.")
@click.option(
    "--anyway", is_flag=True, help="Go on though machine, kernel or mpigauge differ; marks the rows."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@table_options
def command(
    result: Path,
    *,
    trust: bool,
    digest: str,
    anyway: bool,
    quiet: bool,
    form: str,
    unit_names: tuple[str, ...],
    stat: str,
    columns: str,
) -> int:
    """Continue a RESULT file that was cut short by a signal, a kill or a full disk.

    It runs the libraries, the remote shell and the options that the file names.

    \b
    mpigauge resume results/node1.jsonl
    """
    from mpigauge.campaign.prepare import check_outlives_lab, lab_to_enter, prepare_resumed
    from mpigauge.campaign.trusted_results import check_trusted
    from mpigauge.cli.screen.tables import TableOptions, check
    from mpigauge.cli.sessions.lab_runs import same_command_in
    from mpigauge.cli.sessions.session import measured_and_shown
    from mpigauge.result import reader
    from mpigauge.result.files import as_written

    check(unit_names, columns)
    result = as_written(result)
    before = reader.load(result)
    if not before.is_resumable:
        note(f"{result}: is complete, nothing is left to do")
        return EXIT_DONE
    check_trusted([before], ("mpigauge", "resume"), trust=trust, digest=digest)
    if (lab := lab_to_enter(before.campaign.plan, str(result))) is not None:
        check_outlives_lab(result)
        return same_command_in(lab, str(result))
    session = prepare_resumed(before, str(result), anyway=anyway)
    table = TableOptions(None, form, unit_names, stat, columns)
    return measured_and_shown(session, None, table, quiet=quiet)
