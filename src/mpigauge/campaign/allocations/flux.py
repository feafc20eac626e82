"""The allocation of a Flux instance, which is asked, since its environment names no hosts."""

from collections.abc import Mapping

from mpigauge.campaign.allocations.allocation import Allocation, Node, nodes_named
from mpigauge.errors import EnvironmentLacksError, UsageError, remedy
from mpigauge.programs import end_of, run, which

QUESTION = ("resource", "list", "--states=up", "--no-header", "--format={ncores} {nodelist}")
ANSWER_WAIT_S = 15.0
HINT = "start it by flux alloc or flux batch; outside of an instance, unset FLUX_URI"


def allocation(environ: Mapping[str, str]) -> Allocation:
    """Return the hosts that are up, with one slot per core.

    Raises:
        EnvironmentLacksError: The instance does not answer, or not as expected.
    """
    cores, _, names = _answer(environ).strip().partition(" ")
    try:
        hosts = nodes_named(names.strip())
    except UsageError as error:
        raise EnvironmentLacksError(f"flux resource list: {error.sentence}", HINT) from None
    if not cores.isdigit():
        raise EnvironmentLacksError(f"flux resource list: {cores[:20]!r} is no number of cores", HINT)
    each = max(1, int(cores) // len(hosts))
    return Allocation(
        environ.get("FLUX_ENCLOSING_ID") or environ["FLUX_URI"],
        tuple(Node(name, each, each) for name in hosts),
    )


def _answer(environ: Mapping[str, str]) -> str:
    program = which("flux", path=environ.get("PATH"))
    if program is None:
        raise EnvironmentLacksError("FLUX_URI is set, but there is no flux on PATH", HINT)
    try:
        done = run([program, *QUESTION], environ, ANSWER_WAIT_S)
    except TimeoutError:
        raise EnvironmentLacksError(f"{program}: gave no answer in {ANSWER_WAIT_S:.0f} s", HINT) from None
    except OSError as error:
        raise EnvironmentLacksError(
            f"{program}: cannot be started: {error.strerror}", remedy(error, HINT)
        ) from None
    if done.status != 0:
        lines = done.err.strip().splitlines() or [f"ended with {end_of(done.status)}"]
        raise EnvironmentLacksError(f"{program}: {lines[-1]}", HINT)
    return done.out
