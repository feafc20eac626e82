"""Launchers: a job becomes the words of a command. The one list of them.

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
    """How a launcher ends, and its job with it.

    Attributes:
        asked: The signal after which it ends the job and then itself.
        orphaned: What it is sent when we die without a word.
        patience_s: How long it may take, each of the two times that it is asked.
    """

    asked: signal.Signals = signal.SIGINT
    orphaned: signal.Signals = signal.SIGKILL
    patience_s: float = 2.0


@dataclass(frozen=True, slots=True)
class TooFewPlaces:
    """How a launcher refuses a job for which it counts too few places, and what can be answered.

    Attributes:
        refusal: What it says then.
        answers: Options to start it with again, one after the other while it refuses.
    """

    refusal: re.Pattern[str]
    answers: tuple[str, ...]


FORCED = Ending(signal.SIGTERM, signal.SIGTERM, 5.0)
"""Two interrupts must come within a second of each other to end a step of Slurm; and its ranks are nobody's
children here, so that a killed srun may leave them behind. So it may be with any scheduler's launcher."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """A way of starting MPI programs.

    Attributes:
        manager: Whose allocation it needs, by the name in `campaign.allocations`; empty if it needs none.
        fills: Whether it fills host after host, and cannot deal ranks out one by one.
        too_few_places: How it refuses more ranks than places; None if it does not, or if nothing helps then.
    """

    name: str
    about: str
    command: Commands
    manager: str = ""
    ending: Ending = Ending()
    fills: bool = False
    too_few_places: TooFewPlaces | None = None


LAUNCHERS: dict[str, Launcher] = {}

OPENMPI_BINDING = "PRTE_MCA_hwloc_default_binding_policy"
"""The variable by which version 5 of Open MPI is told where ranks may run."""

OWN = ("OMPI_", "PRTE_", "PMIX_")
"""What Open MPI's mpiexec carries to other hosts unasked."""


def launcher(
    name: str,
    about: str,
    manager: str = "",
    ending: Ending | None = None,
    *,
    fills: bool = False,
    too_few_places: TooFewPlaces | None = None,
) -> Callable[[Commands], Commands]:
    """Enters a function into LAUNCHERS."""

    def enter(command: Commands) -> Commands:
        LAUNCHERS[name] = Launcher(name, about, command, manager, ending or Ending(), fills, too_few_places)
        return command

    return enter


def manager_of(name: str) -> str:
    """Whose allocation a launcher needs; of one in the user's own words nobody knows."""
    return LAUNCHERS[name].manager if name in LAUNCHERS else ""


def can_deal(name: str) -> bool:
    """Return whether a launcher can put rank after rank on the next host, several times round."""
    return name not in LAUNCHERS or not LAUNCHERS[name].fills


def command_of(job: Job, name: str) -> Command:
    """The command that starts a job with the launcher of this name, or of these words.

    Raises:
        UsageError: The launcher cannot place ranks so, or the words are none.
    """
    return LAUNCHERS[name].command(job) if name in LAUNCHERS else custom_launcher.command_of(job, name)


def answer_to(words: str, job: Job, name: str) -> tuple[str, ...]:
    """Return the options with which to start a job again that the launcher of this name has refused.

    Args:
        words: What the job said last.

    Returns:
        Empty if it is no refusal for want of places, or if nothing is left to be answered.
    """
    known = LAUNCHERS[name].too_few_places if name in LAUNCHERS else None
    if known is None or not known.refusal.search(words):
        return ()
    words_told = LAUNCHERS[name].command(job).words
    told = [place for place, option in enumerate(known.answers) if option in words_told]
    return known.answers[max(told, default=-1) + 1 :][:1]


SECONDS_PER_RANK = 1 / 500


def ending_of(job: Job, name: str) -> Ending:
    """How a job ends that was started with the launcher of this name, or of these words.

    Many ranks take longer.
    """
    ending = LAUNCHERS[name].ending if name in LAUNCHERS else FORCED
    return replace(ending, patience_s=ending.patience_s + job.ranks * SECONDS_PER_RANK)


def _command(words: Iterable[str], job: Job, lines: Iterable[str] = ()) -> Command:
    """Words, options and program; and the file of hosts, if there are lines for it."""
    text = "".join(f"{line}\n" for line in lines)
    return Command((*words, *job.options, *job.program), {HOSTS: text} if text else {})


# ---- The mpiexec of each library -----------------------------------------------------------------


HWTHREADS = "--use-hwthread-cpus"
OVERSUBSCRIBE = "--oversubscribe"
OVERCOMMIT = "--overcommit"

NO_SLOTS = TooFewPlaces(
    re.compile(
        r"not\s+enough\s+(slots|CPUs\s+to\s+bind)|\bbind(ing)?\s[^.]*?\bmore\s+(processes|cpus)\s+than"
    ),
    (HWTHREADS, OVERSUBSCRIBE),
)
"""Open MPI counts cores, no hardware threads, or what an allocation says, and binds one rank to a core."""

NO_CPUS = TooFewPlaces(
    re.compile("More processors requested than permitted|Requested node configuration is not available"),
    (OVERCOMMIT,),
)
"""Slurm starts no more tasks than the job has processors, or cores where those are what it allocates."""


@launcher("openmpi", "mpiexec of Open MPI", too_few_places=NO_SLOTS)
def _openmpi(job: Job) -> Command:
    """It takes the host of each rank from a file; on other hosts, only variables that are named are known."""
    words = [str(job.mpiexec), "-n", str(job.ranks)]
    words += ["--allow-run-as-root"] if job.as_root else []
    words += _places(job)
    if not job.hosts:
        return _command(words, job)
    names = sorted({*job.inherited, *job.environment})
    words += [word for name in names if not name.startswith(OWN) for word in ("-x", name)]
    if len(job.ranks_on) == 1:
        return _command([*words, "--host", f"{job.hosts[0]}:{job.ranks}"], job)
    return _command([*words, "--hostfile", HOSTS_FILE, "--map-by", "seq"], job, job.hosts)


def _places(job: Job) -> list[str]:
    """Return what makes Open MPI count as many slots as a job needs.

    Its version 5 then maps ranks to hardware threads, and binds none to a core unless told to map to cores.
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
    """Its ranks have the whole environment, wherever they are."""
    words, ranks = [str(job.mpiexec)], ["-n", str(job.ranks)]
    if not job.hosts:
        return _command([*words, *ranks], job)
    if len(job.ranks_on) == 1:
        return _command([*words, "-hosts", f"{job.hosts[0]}:{job.ranks}", *ranks], job)
    return _command([*words, "-f", HOSTS_FILE, *ranks], job, _period(_runs(job)))


@launcher("intelmpi", "mpiexec of Intel MPI")
def _intelmpi(job: Job) -> Command:
    """Hydra again, but numbers of ranks stand in a file of machines only, neither in -hosts nor in -f."""
    words = [str(job.mpiexec)]
    if len(job.ranks_on) > 1:
        words += ["-machinefile", HOSTS_FILE, "-n", str(job.ranks)]
        return _command(words, job, _runs(job))
    words += ["-n", str(job.ranks), *(("-host", job.hosts[0]) if job.hosts else ())]
    return _command(words, job)


def _runs(job: Job) -> list[str]:
    return [f"{host}:{ranks}" for host, ranks in job.host_runs]


def _period(lines: list[str]) -> list[str]:
    """What the lines repeat, if each of its hosts is in it once: at its end, Hydra begins the file again.

    Of a host that stands in the file twice, it makes two, and so asks Slurm for more nodes than there are.
    """
    once = list(dict.fromkeys(lines))
    repeated = once * (len(lines) // len(once) + 1)
    hosts = {line.partition(":")[0] for line in once}
    return once if repeated[: len(lines)] == lines and len(hosts) == len(once) else lines


# ---- Launchers of schedulers ---------------------------------------------------------------------


@launcher("srun", "srun of Slurm, inside an allocation", "slurm", FORCED, too_few_places=NO_CPUS)
def _srun(job: Job) -> Command:
    """Rank 0 alone has the input; lines come as they are written."""
    plugin = [f"--mpi={job.pmi}"] if job.pmi else []
    words = ["srun", *plugin, f"--ntasks={job.ranks}", "--input=0", "--unbuffered"]
    words += ["--kill-on-bad-exit=1"]
    words += [OVERCOMMIT] if job.oversubscribed or OVERCOMMIT in job.options_found else []
    if len(job.ranks_on) == 1:
        words += ["--nodes=1", f"--nodelist={job.hosts[0]}"]
    if len(job.ranks_on) < 2:  # noqa: PLR2004 - several
        return _command(words, job)
    # Without their number, a job of more hosts would be told that it has too few tasks for them.
    words += [f"--nodes={len(job.ranks_on)}", "--distribution=arbitrary", f"--nodelist={HOSTS_FILE}"]
    return _command(words, job, job.hosts)


@launcher("flux", "flux run, inside a Flux instance", "flux", FORCED)
def _flux(job: Job) -> Command:
    """Hosts are asked for as a set; which task goes where is said by a file that the first of them reads."""
    words = ["flux", "run", f"--ntasks={job.ranks}", "--input=0", "--unbuffered"]
    if not job.hosts:
        return _command(words, job)
    words += [f"--nodes={len(job.ranks_on)}", f"--requires=hosts:{','.join(job.ranks_on)}"]
    if len(job.ranks_on) == 1:
        return _command(words, job)
    return _command([*words, f"--taskmap=hostfile:{HOSTS_FILE}"], job, job.hosts)


@launcher("pals", "mpiexec of HPE's PALS, on Cray systems", "", FORCED, fills=True)
def _pals(job: Job) -> Command:
    """It fills host after host, with the same number of ranks on each."""
    words = ["mpiexec", "-n", str(job.ranks)]
    if not job.hosts:
        return _command(words, job)
    words += ["--ppn", str(_each("pals", job))]
    if len(job.ranks_on) == 1:
        return _command([*words, "--hosts", job.hosts[0]], job)
    return _command([*words, "--hostfile", HOSTS_FILE], job, job.ranks_on)


@launcher("jsrun", "jsrun of IBM's JSM, inside an LSF job", "lsf", FORCED, fills=True)
def _jsrun(job: Job) -> Command:
    """A resource set of one core for each rank; which hosts they are on is jsrun's choice."""
    words = ["jsrun", "--nrs", str(job.ranks), "--tasks_per_rs", "1", "--cpu_per_rs", "1"]
    if job.hosts:
        words += ["--rs_per_host", str(_each("jsrun", job)), "--launch_distribution", "packed"]
    return _command(words, job)


def _each(name: str, job: Job) -> int:
    """Ranks of every host but the last, which may have fewer.

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
