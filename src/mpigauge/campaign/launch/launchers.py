"""Launchers, which make a command line of a job. The one list of them.

To add one: a function from Job to Command under `@launcher`, the name in a kind of `mpi.kinds` if a
library's mpiexec understands it, and a row in docs/launchers.md and in
tests/unit/campaign/launch/test_launchers.py. Words, never a shell string: nothing needs quoting. Where ranks
are on several hosts, the hosts stand in a file: a word for each rank would soon be more than the system
takes, and every launch records its words.
"""

import re
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mpigauge.campaign.launch import custom_launcher
from mpigauge.campaign.launch.job import HOSTS, HOSTS_FILE, Command, Job
from mpigauge.errors import UsageError

Commands = Callable[[Job], Command]


@dataclass(frozen=True, slots=True)
class Ending:
    """The way to end a launcher and its job.

    Attributes:
        end_signal: The signal on which it ends the job and then itself.
        orphan_signal: The signal that it gets when we die first.
        patience_s: How long it may take to end after each of the two times that it is signalled.
    """

    end_signal: signal.Signals = signal.SIGINT
    orphan_signal: signal.Signals = signal.SIGKILL
    patience_s: float = 2.0


@dataclass(frozen=True, slots=True)
class TooFewSlots:
    """A launcher's refusal of a job for which it counts too few slots, and the options that help.

    Attributes:
        refusal: Regular expression for its message.
        options: Options to restart it with, one after the other while it refuses.
    """

    refusal: re.Pattern[str]
    options: tuple[str, ...]


FORCED = Ending(signal.SIGTERM, signal.SIGTERM, 5.0)
"""For schedulers' launchers. SIGINT ends a step of Slurm only if it comes twice within a second; and its
ranks are not our descendants, so that a killed srun may leave them behind."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """A way of starting MPI programs.

    Attributes:
        manager: Name in `campaign.allocations` of the scheduler whose allocation it needs; empty if none.
        fills_hosts: Whether it fills host after host, and cannot place ranks on hosts in turn.
        too_few_slots: How it refuses more ranks than slots; None if it does not, or if no option helps.
    """

    name: str
    about: str
    command: Commands
    manager: str = ""
    ending: Ending = Ending()
    fills_hosts: bool = False
    too_few_slots: TooFewSlots | None = None


LAUNCHERS: dict[str, Launcher] = {}

OPENMPI_BINDING = "PRTE_MCA_hwloc_default_binding_policy"
"""The variable for the binding policy of Open MPI 5."""

FORWARDED_PREFIXES = ("OMPI_", "PRTE_", "PMIX_")
"""Prefixes of variables that Open MPI's mpiexec forwards to other hosts by itself."""


def launcher(
    name: str,
    about: str,
    manager: str = "",
    ending: Ending | None = None,
    *,
    fills_hosts: bool = False,
    too_few_slots: TooFewSlots | None = None,
) -> Callable[[Commands], Commands]:
    """Return a decorator that enters a function into LAUNCHERS."""

    def enter(command: Commands) -> Commands:
        LAUNCHERS[name] = Launcher(
            name, about, command, manager, ending or Ending(), fills_hosts, too_few_slots
        )
        return command

    return enter


def manager_of(name: str) -> str:
    """Return the scheduler whose allocation a launcher needs; "" if none, or for a command template."""
    return LAUNCHERS[name].manager if name in LAUNCHERS else ""


def can_place_in_turn(name: str) -> bool:
    """Return whether a launcher can place ranks on hosts in turn, several times round."""
    return name not in LAUNCHERS or not LAUNCHERS[name].fills_hosts


def command_of(job: Job, name: str) -> Command:
    """Return the command that starts a job with the launcher of this name, or with this template.

    Raises:
        UsageError: The launcher does not support this placement, or the template is invalid.
    """
    return LAUNCHERS[name].command(job) if name in LAUNCHERS else custom_launcher.command_of(job, name)


def options_after_refusal(output: str, job: Job, name: str) -> tuple[str, ...]:
    """Return the options to restart a job with that the launcher of this name has refused.

    Args:
        output: The output of the job.

    Returns:
        Empty if it was not refused for lack of slots, or if all options have been tried.
    """
    refusals = LAUNCHERS[name].too_few_slots if name in LAUNCHERS else None
    if refusals is None or not refusals.refusal.search(output):
        return ()
    command = LAUNCHERS[name].command(job).words
    tried = [number for number, option in enumerate(refusals.options) if option in command]
    return refusals.options[max(tried, default=-1) + 1 :][:1]


def known_options(options: Iterable[str]) -> tuple[str, ...]:
    """Return those of some options that a job may be restarted with; a result may have any others."""
    known = {
        option for one in LAUNCHERS.values() if one.too_few_slots for option in one.too_few_slots.options
    }
    return tuple(option for option in options if option in known)


SECONDS_PER_RANK = 1 / 500


def ending_of(job: Job, name: str) -> Ending:
    """Return how to end a job that was started with the launcher of this name, or with this template.

    Many ranks get more time.
    """
    ending = LAUNCHERS[name].ending if name in LAUNCHERS else FORCED
    return replace(ending, patience_s=ending.patience_s + job.ranks * SECONDS_PER_RANK)


def _command(words: Iterable[str], job: Job, lines: Iterable[str] = ()) -> Command:
    """Return the command of words, options and program, with a file of hosts if there are lines for it."""
    text = "".join(f"{line}\n" for line in lines)
    return Command((*words, *job.options, *job.program), {HOSTS: text} if text else {})


# ---- The mpiexec of each library -----------------------------------------------------------------


HWTHREADS = "--use-hwthread-cpus"
OVERSUBSCRIBE = "--oversubscribe"
OVERCOMMIT = "--overcommit"

NO_SLOTS = TooFewSlots(
    re.compile(
        r"not\s+enough\s+(slots|CPUs\s+to\s+bind)|\bbind(ing)?\s[^.]{0,300}?\bmore\s+(processes|cpus)\s+than"
    ),
    (HWTHREADS, OVERSUBSCRIBE),
)
"""Open MPI counts physical cores or the slots of an allocation, and binds one rank per core."""

NO_CPUS = TooFewSlots(
    re.compile("More processors requested than permitted|Requested node configuration is not available"),
    (OVERCOMMIT,),
)
"""Slurm starts no more tasks than the job has processors, or cores where it allocates cores."""


@launcher("openmpi", "mpiexec of Open MPI", too_few_slots=NO_SLOTS)
def _openmpi(job: Job) -> Command:
    """Return Open MPI's command, with a file of each rank's host and the variables for other hosts."""
    words = [str(job.mpiexec), "-n", str(job.ranks)]
    words += ["--allow-run-as-root"] if job.as_root else []
    words += _slot_options(job)
    if not job.hosts:
        return _command(words, job)
    names = sorted({*job.inherited, *job.variables})
    words += [word for name in names if not name.startswith(FORWARDED_PREFIXES) for word in ("-x", name)]
    if len(job.ranks_on) == 1:
        return _command([*words, "--host", f"{job.hosts[0]}:{job.ranks}"], job)
    return _command([*words, "--hostfile", HOSTS_FILE, "--map-by", "seq"], job, job.hosts)


def _slot_options(job: Job) -> list[str]:
    """Return the options that make Open MPI count as many slots as a job needs.

    Version 5 then maps ranks to hardware threads, and binds none to a core unless told to map by core.
    """
    options = list(job.options_found)
    if not options and job.oversubscribed:
        options = [OVERSUBSCRIBE]
    elif not options and job.on_hardware_threads and not job.hosts:
        options = [HWTHREADS]
    bound = job.environment.get(OPENMPI_BINDING) == "core" and not job.hosts
    mapped = any(option.startswith("--map-by") for option in job.options)
    return [*options, *(("--map-by", "core") if HWTHREADS in options and bound and not mapped else ())]


@launcher("hydra", "mpiexec of MPICH")
def _hydra(job: Job) -> Command:
    """Return Hydra's command; it forwards the whole environment to all hosts."""
    words, ranks = [str(job.mpiexec)], ["-n", str(job.ranks)]
    if not job.hosts:
        return _command([*words, *ranks], job)
    if len(job.ranks_on) == 1:
        return _command([*words, "-hosts", f"{job.hosts[0]}:{job.ranks}", *ranks], job)
    return _command([*words, "-f", HOSTS_FILE, *ranks], job, _one_period(_host_lines(job)))


@launcher("intelmpi", "mpiexec of Intel MPI")
def _intelmpi(job: Job) -> Command:
    """Return Intel MPI's command: a Hydra that reads numbers of ranks from a machine file only."""
    words = [str(job.mpiexec)]
    if len(job.ranks_on) > 1:
        words += ["-machinefile", HOSTS_FILE, "-n", str(job.ranks)]
        return _command(words, job, _host_lines(job))
    words += ["-n", str(job.ranks), *(("-host", job.hosts[0]) if job.hosts else ())]
    return _command(words, job)


def _host_lines(job: Job) -> list[str]:
    return [f"{host}:{ranks}" for host, ranks in job.host_runs]


def _one_period(lines: list[str]) -> list[str]:
    """Return the lines up to where they repeat, if each host is there once: Hydra reads a file cyclically.

    A host named twice counts as two for Hydra, which then asks Slurm for more nodes than there are.
    """
    once = list(dict.fromkeys(lines))
    repeated = once * (len(lines) // len(once) + 1)
    hosts = {line.partition(":")[0] for line in once}
    return once if repeated[: len(lines)] == lines and len(hosts) == len(once) else lines


# ---- Launchers of schedulers ---------------------------------------------------------------------


@launcher("srun", "srun of Slurm, inside an allocation", "slurm", FORCED, too_few_slots=NO_CPUS)
def _srun(job: Job) -> Command:
    """Return srun's command: rank 0 alone gets the input, and output is not buffered."""
    plugin = [f"--mpi={job.pmi}"] if job.pmi else []
    words = ["srun", *plugin, f"--ntasks={job.ranks}", "--input=0", "--unbuffered"]
    words += ["--kill-on-bad-exit=1"]
    words += [OVERCOMMIT] if job.oversubscribed or OVERCOMMIT in job.options_found else []
    if len(job.ranks_on) == 1:
        words += ["--nodes=1", f"--nodelist={job.hosts[0]}"]
    if len(job.ranks_on) < 2:  # noqa: PLR2004 - several
        return _command(words, job)
    # Without --nodes, srun refuses a job of more hosts as having too few tasks for them.
    words += [f"--nodes={len(job.ranks_on)}", "--distribution=arbitrary", f"--nodelist={HOSTS_FILE}"]
    return _command(words, job, job.hosts)


@launcher("flux", "flux run, inside a Flux instance", "flux", FORCED)
def _flux(job: Job) -> Command:
    """Return Flux's command: hosts are requested as a set, and a file maps tasks to them."""
    words = ["flux", "run", f"--ntasks={job.ranks}", "--input=0", "--unbuffered"]
    if not job.hosts:
        return _command(words, job)
    words += [f"--nodes={len(job.ranks_on)}", f"--requires=hosts:{','.join(job.ranks_on)}"]
    if len(job.ranks_on) == 1:
        return _command(words, job)
    return _command([*words, f"--taskmap=hostfile:{HOSTS_FILE}"], job, job.hosts)


@launcher("pals", "mpiexec of HPE's PALS, on Cray systems", "", FORCED, fills_hosts=True)
def _pals(job: Job) -> Command:
    """Return the command of PALS, which fills host after host with the same number of ranks."""
    words = ["mpiexec", "-n", str(job.ranks)]
    if not job.hosts:
        return _command(words, job)
    words += ["--ppn", str(_ranks_per_host("pals", job))]
    if len(job.ranks_on) == 1:
        return _command([*words, "--hosts", job.hosts[0]], job)
    return _command([*words, "--hostfile", HOSTS_FILE], job, job.ranks_on)


@launcher("jsrun", "jsrun of IBM's JSM, inside an LSF job", "lsf", FORCED, fills_hosts=True)
def _jsrun(job: Job) -> Command:
    """Return jsrun's command: one resource set of one core per rank; jsrun chooses the hosts."""
    words = ["jsrun", "--nrs", str(job.ranks), "--tasks_per_rs", "1", "--cpu_per_rs", "1"]
    if job.hosts:
        words += ["--rs_per_host", str(_ranks_per_host("jsrun", job)), "--launch_distribution", "packed"]
    return _command(words, job)


def _ranks_per_host(name: str, job: Job) -> int:
    """Return the ranks per host; the last host may have fewer.

    Raises:
        UsageError: Ranks are not in blocks of one size.
    """
    sizes = [ranks for _, ranks in job.host_runs]
    blocks = len(sizes) == len(job.ranks_on) and len(set(sizes[:-1])) <= 1 and sizes[-1] <= sizes[0]
    if not blocks:
        hosts = ",".join(job.hosts[:8]) + (",..." if job.ranks > 8 else "")  # noqa: PLR2004 - enough to see it
        raise UsageError(
            f"{name} cannot place ranks on {hosts}: it fills host after host, with as many ranks on each",
            "use one slot per host, place ranks in blocks (h1,h1,h2,h2), or leave --launcher out",
        )
    return sizes[0]
