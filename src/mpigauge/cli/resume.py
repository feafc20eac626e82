"""`mpigauge resume`: continues a result file with the same plan, seed and order."""

from pathlib import Path

import click

from mpigauge.cli import completers
from mpigauge.cli.options import table_options
from mpigauge.errors import EXIT_DONE, UsageError
from mpigauge.vocabulary import RESUMABLE


@click.command("resume")
@click.argument("result", type=click.Path(path_type=Path), shell_complete=completers.results)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@table_options
def command(
    result: Path, *, quiet: bool, form: str, unit_names: tuple[str, ...], stat: str, columns: str
) -> int:
    """Continue a RESULT file that was cut short by a signal, a kill or a full disk.

    \b
    mpigauge resume results/node1.jsonl
    """
    from mpigauge.campaign.hosts import check_reachable, with_hosts_again
    from mpigauge.campaign.targets import targets_again
    from mpigauge.cli.lab import again_in
    from mpigauge.cli.run import ended, stopped
    from mpigauge.cli.session import measure
    from mpigauge.cli.show import check, tabulate
    from mpigauge.result import reader, writer

    check(unit_names, columns)
    before = reader.load(result)
    if before.ends and before.ends[-1].reason not in RESUMABLE:
        click.echo(f"{result}: is complete, nothing is left to do", err=True)
        return EXIT_DONE
    plan, status = again_in(before.campaign.plan, str(result))
    if status is not None:
        return status
    if plan != before.campaign.plan:
        raise UsageError(f"{result}: was not begun in a lab", "leave the lab to continue it")
    targets = targets_again(before.campaign)
    plan = with_hosts_again(plan)
    check_reachable(plan, targets)
    with writer.reopen(result) as file:
        number = measure(plan, targets, file, before, quiet=quiet)
    if number is not None:
        return stopped(result, number)
    text, rows = tabulate(result, form, unit_names, stat, columns)
    click.echo(text, nl=False)
    return ended(result, rows)
