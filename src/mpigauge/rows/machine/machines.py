"""Which machine a result is of: not always the one that its campaign was started on."""

from mpigauge.result.provenance import Environment
from mpigauge.result.reader import Result


def measured_machine(result: Result) -> Environment:
    """Return the machine that was measured, as far as the result knows it.

    Started from a login node, ranks run elsewhere: then it is the host of the first of them, of which only
    its name, its processor and its system are known. Emulated hosts are all on the machine of the campaign.
    """
    here = result.campaign.environment
    if not is_elsewhere(result):
        return here
    first = next(machine for launch in result.launches for machine in launch.machines)
    return Environment(host=first.host, cpu=first.cpu, kernel=first.kernel)


def is_elsewhere(result: Result) -> bool:
    """Return whether no rank ran on the machine that the campaign was started on."""
    hosts = {_short(machine.host) for launch in result.launches for machine in launch.machines}
    here = result.campaign.environment.host
    return bool(hosts) and result.campaign.plan.lab is None and bool(here) and _short(here) not in hosts


def _short(host: str) -> str:
    """Return a host without its domain, which it may or may not tell."""
    return host.partition(".")[0].lower()
