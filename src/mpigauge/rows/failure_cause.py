"""Why a job died: the one line of its last words that says so, and what kind of cause it is."""

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from mpigauge.programs import end_of, signal_name
from mpigauge.result import journal
from mpigauge.result.records import Failure
from mpigauge.sequences import first_words
from mpigauge.vocabulary import ENDED_BY, ENDED_FIRST, GAP, LAUNCHER_ENDED, ORPHANED, REASON_MOST

OURS = "mpigauge:"
"""How lines begin that we add."""

SHELLS_SIGNALS = 128
"""What shells and launchers add to the signal that a program died of."""

KERNELS = re.compile(r"mpigauge-kernel: rank")
"""How lines begin that our kernel has said."""

ROW = re.compile(r"[\s\0]*-{10,}[\s\0]*")
"""Open MPI and PRRTE put each paragraph between two rows of dashes."""

SPEAKER = re.compile(r"[\0\s]*(\[[^\]]*\]|=|UCX\s|[\w./-]+(\[\d+\])?:\s)")
"""How lines begin whose speaker is named: `[host:pid]`, `srun:`; each is a whole."""

PROCESS = re.compile(r"[\0\s]*\[[^\]]*:\d+\]")
"""How lines of Open MPI and PRRTE begin that are in no paragraph."""

NOISE = re.compile(
    r"\[0x[0-9a-f]+\]$|^backtrace \(|\] \*\*\* (Process received|End of error)"
    r"|\] (Signal|Signal code|Failing at address): "
    r"|\(ignored\)$|: ignored\.?$|Warning: |UCX\s+WARN|error checking|aggregate error messages"
    r"|MPI startup\(\): (Intel|Copyright|library kind|libfabric|Load tuning|File )"
    r"|more process(es)? (has|have) sent help message|to see all help / error messages"
    r"|Forwarding signal|Sending Ctrl-C|Press Ctrl-C|write error \(Bad file descriptor\)"
    r"|^\*\*\* (on a|Unknown|reported)|\] \*\*\*\s+(on a|Unknown|reported|and )"
    r"|YOU CAN IGNORE|CLEANING UP|OSC UCX component priority set inside component query failed"
)
"""Backtraces, harmless warnings, and what follows from our own end of the job."""

MISSING = re.compile(
    r"not found\b|no such file|failed to load|could not resolve|cannot open shared object|unable to find"
    r"|permission denied|exec format error|execvp error|oom[-_]kill|out of memory|cannot allocate memory"
    r"|no space left|connection refused|no route to host|too many open files|resource temporarily unavailable"
    r"|file size limit|unrecognized argument|host key verification failed|read-only file system"
    r"|not enough memory|no usable transports",
    re.IGNORECASE,
)
"""Lines that name what is missing say more than those that only say "error"."""

LAUNCHERS_LOG = re.compile(
    r"\A(?>(?:.*OUT-OF-RES)?).*(ORTE_ERROR_LOG|PRTE ERROR|PMIX ERROR|OPAL ERROR|--> Returned)"
)
"""Where in its source a launcher gave up; it never says why, but for OUT-OF-RES behind it."""

CAUSE = re.compile("error|fatal|signal|has failed because|cannot be selected", re.IGNORECASE)

FATAL = re.compile(r"\b[Ff]atal:|\bERROR:|Assertion failed|OUT-OF-RESOURCE")
"""Slurm calls what comes before its end an error, and the end fatal; PMIx names a full disk so."""

OF_LAUNCHER = re.compile(r"\[(proxy|mpiexec|prterun|bstrap)\b")
"""How lines of a launcher about itself begin; what they say follows from the death of a rank."""

STACK = re.compile(r"(?P<where>[\w:~]+ ?\((\d+|unknown)\)(\(\))?)\.*:\s*(?P<what>.*)")
"""A line of the error stack of MPICH and its relatives, the call first and the cause last."""

STACK_BEGINS = re.compile(r"error stack:$")

EMPTY = re.compile(r"|Other MPI error|P?MPI_\w+\(.*\) failed")
"""What lines of it say that say nothing: how deep the call went, and which it was."""

FOLLOWS = re.compile(
    r"has exited due to process rank|exited with non-zero status|returned\s+a non-zero exit code"
    r"|^It looks like MPI_INIT failed|MPI_ABORT was invoked|^WARNING|listener thread failed to start"
    r"|^An? (ORTE|PRTE) daemon has unexpectedly failed|daemon failed to report back"
)
"""Paragraphs about what followed."""

NOTICED = re.compile(r"noticed that process rank \d+ .{0,300}?on node")
DIED = re.compile(r"RUNNING AT|^Remote host:")
"""Hydra on a rank that died, Open MPI on a host; the line after it says of what."""

OF_SIGNAL = re.compile(r"\(signal \d+\)|SIGNAL: \d+|on signal|EXIT CODE: ([4-9]|1[0-5]|2[45]|13[0-9])$")
CAUGHT = re.compile(r"Caught signal|OUT-OF-RESOURCE")
"""What UCX and PMIx say where the launcher names the signal, which says more."""

BY_KILL = re.compile(r"\b(SIGNAL:|signal) 9\b")
EXIT_STRING = re.compile(r"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (.*)")
OF_DEATH = re.compile(r"YOUR APPLICATION TERMINATED|KILLED BY SIGNAL|BAD TERMINATION")

EXIT_ORPHANED = 113
"""Exit status of our kernel where whoever started it is gone."""

OF_ORPHANS = re.compile(
    rf"(Errorcode: |errorcode |EXIT CODE: |MPI_Abort\(MPI_COMM_WORLD, ){EXIT_ORPHANED}\b"
    r"|started this job is gone$",
    re.MULTILINE,
)
"""Words of launchers for that."""

BY_OTHERS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL})
"""Signals by which no launcher ends itself."""

OF_OTHERS = re.compile(
    rf"^({LAUNCHER_ENDED}|{ENDED_FIRST})|(SIGNAL:|\(?signal) (1|2|15)\b|SIG(TERM|INT|HUP)\b"
    r"|\*\*\* .{0,300} CANCELLED"
)
"""Reasons of jobs that somebody else has ended; ranks that SIGKILL ended may have lacked memory."""

ENDED_FROM_OUTSIDE = re.compile(
    r"Job step aborted|\*\*\* (STEP|JOB) .{0,300}? (CANCELLED|DUE TO)|EXIT CODE: 15\b"
    r"|(SIGNAL:|\(?signal) 15\b"
)
"""What launchers say where a scheduler, or somebody else, ended ranks by SIGTERM."""

FIELD = re.compile(r"([A-Za-z][\w -]{1,24}):\s+(\S.*)")
"""Lines of a paragraph that say what it is about."""

FIELDS_TOLD = re.compile("Framework|Component|Error|Application name|BTLs attempted|Exit code|Peer host")
"""Those without which its first sentence says little."""

PLACE = re.compile(r"(?<=\] )\w+ \([^()]*\.c:\d+\): |^\[[\d.]+\] \[[^\]]*\]\s+\S+:\d+\s+(?=UCX)")
"""Where in its source a launcher or UCX says something, and when."""

PROGRAM = "/mpigauge-kernel"
"""What a launcher was to start; whoever reads its words knows."""

END_OF_SENTENCE = re.compile(r"[.:](?=\s|$)")
MIN_WRAPPED = 45
"""Lines of prose that another line goes on with are at least so long."""


@dataclass(frozen=True, slots=True)
class LastWords:
    """The last words of a job, told apart.

    Attributes:
        paragraphs: Between rows of dashes, each as its lines.
        stack: Lines of the first error stack, each as a match of STACK.
        lines: All others.
    """

    paragraphs: Sequence[Sequence[str]]
    stack: Sequence[re.Match[str]]
    lines: Sequence[str]


def line_of(failure: Failure) -> str:
    """Return the line that says why a job died, else how its launcher ended.

    Returns:
        Empty if the job said nothing and nothing is known of its launcher.
    """
    if line := telling_line(failure.words):
        return line
    is_ours = failure.kind != "crash"  # what we have ended ourselves ended as we asked
    return "" if is_ours or failure.status is None else launchers_end(failure.status)


def is_from_outside(line: str) -> bool:
    """Return whether a line that says why a job died says that somebody else ended it."""
    return OF_OTHERS.search(line) is not None


def telling_line(words: str) -> str:
    """Return the line of a job's last words that most likely says why, and which rank or host died.

    What is left of a line of its journal says nothing. Our kernel and we know best; then comes a line that
    names what is missing, the end of an error stack, the first paragraph of Open MPI that is not a
    consequence, and a line that says error. A line of more than REASON_MOST characters is cut.

    Returns:
        Empty if the job said nothing.
    """
    return first_words(_telling_line(words), REASON_MOST)


def _telling_line(words: str) -> str:
    words = "\n".join(line for line in words.splitlines() if not journal.is_kernel_line(line.encode()))
    told = _told_apart(words)
    said = (line.strip(" \0") for line in words.splitlines())
    if ours := next((line for line in said if KERNELS.search(line) or line.startswith(OURS)), ""):
        return _of_ours(ours, told)
    cause, death = _cause(told), _death(told)
    if death and CAUGHT.search(cause):
        return death
    if OF_ORPHANS.search(death):
        death = ""
    if cause and OF_SIGNAL.search(death) and cause not in death:
        return " ".join(f"{cause}; {death}".split())
    consequence = ORPHANED if OF_ORPHANS.search(words) else _consequence(told)
    return " ".join((cause or death or consequence).split())


def _of_ours(line: str, told: LastWords) -> str:
    """Return a line of ours; where it ends in an error stack of the library, with the end of that."""
    call = re.match(r"(?>(.*?: rank \d+: )).*?\b(MPI_\w+)\(", line)
    if STACK_BEGINS.search(line) and call and (deepest := _deepest(told)):
        return f"{call[1]}{call[2]}: {deepest}"
    return line.removeprefix(OURS).strip()


def _told_apart(words: str) -> LastWords:
    raw = words.splitlines()
    inside = sum(1 for line in raw if ROW.fullmatch(line)) % 2 == 1 and GAP not in raw
    paragraphs: list[list[str]] = [[]]
    stack: list[re.Match[str]] = []
    lines: list[str] = []
    in_stack = False
    for line in raw:
        text = PLACE.sub("", line.strip(" =\0"))
        if ROW.fullmatch(line) or line == GAP:
            inside = not inside and line != GAP
            in_stack = False
            paragraphs.append([])
        elif not re.search("[A-Za-z]{3}", text) or NOISE.search(text):
            continue
        elif in_stack and (entry := STACK.match(text)):
            stack.append(entry)
        elif inside and not (PROCESS.match(line) and not paragraphs[-1]) and not DIED.search(text):
            paragraphs[-1].append(text)
        else:
            in_stack = not stack and STACK_BEGINS.search(text) is not None
            lines.append(text)
    return LastWords([one for one in paragraphs if one], stack, lines)


# ---- Why -------------------------------------------------------------------------------------------


def _cause(told: LastWords) -> str:
    """Return the first of these that is there."""
    said = [line for line in told.lines if not OF_DEATH.match(line)]
    if missing := next(filter(_names_what_is_missing, [*said, *map(_of_stack, told.stack)]), ""):
        return _whole(said, missing)
    if deepest := _deepest(told):
        return deepest
    sentences = [_first_sentence(one) for one in told.paragraphs]
    if sentence := next((one for one in sentences if not (FOLLOWS.search(one) or NOTICED.search(one))), ""):
        return sentence
    errors = [line for line in said if CAUSE.search(line) and not LAUNCHERS_LOG.search(line)]
    errors = [line for line in errors if not OF_LAUNCHER.match(line)]
    error = next((line for line in errors if FATAL.search(line)), next(iter(errors), ""))
    return "" if DIED.search(error) else _whole(told.lines, error)


def _names_what_is_missing(line: str) -> bool:
    return bool(MISSING.search(line)) and not LAUNCHERS_LOG.search(line)


def _deepest(told: LastWords) -> str:
    """Return the last line of an error stack that says something; empty if it has the call alone."""
    behind = [entry for entry in told.stack if not EMPTY.fullmatch(entry["what"].strip())]
    return _of_stack(behind[-1]) if behind else ""


def _of_stack(entry: re.Match[str]) -> str:
    """Return a line of an error stack without its dots."""
    return f"{entry['where']}: {entry['what']}"


def _first_sentence(paragraph: Sequence[str]) -> str:
    """Return the first sentence of a paragraph, and what it is about where lines below it say so."""
    below = takewhile(lambda line: not FIELD.fullmatch(line), paragraph[1:])
    prose = " ".join(" ".join([*paragraph[:1], *below]).split())
    sentence = next(_sentences(prose), prose)
    about = [field for line in paragraph[1:] if (field := FIELD.fullmatch(line)) is not None]
    if sentence.endswith(":"):
        after = about[0][2] if about else next(iter(prose[len(sentence) :].split()), "")
        return sentence.rstrip(":") if after.endswith(PROGRAM) else f"{sentence} {after}".strip()
    named = ", ".join(f"{field[1]}: {field[2]}" for field in about if FIELDS_TOLD.fullmatch(field[1]))
    return f"{sentence.rstrip('.')} ({named})" if named else sentence


def _whole(lines: Sequence[str], line: str) -> str:
    """Return a line with those around it that belong to its sentence: prose is wrapped."""
    if not line or SPEAKER.match(line) or line not in lines:
        return line
    first = last = lines.index(line)
    while first and _goes_on(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and _goes_on(lines[last]):
        last += 1
    text = " ".join(" ".join(lines[first : last + 1]).split())
    return next((one.strip() for one in _sentences(text) if CAUSE.search(one) or MISSING.search(one)), text)


def _sentences(text: str) -> Iterator[str]:
    """Yield the whole sentences of a text."""
    begin = 0
    for end in END_OF_SENTENCE.finditer(text):
        yield text[begin : end.end()]
        begin = end.end()


def _goes_on(line: str) -> bool:
    """Return whether the sentence of a line ends in a later one."""
    return not SPEAKER.match(line) and len(line) >= MIN_WRAPPED and not line.endswith((".", ":", "!"))


# ---- Who -------------------------------------------------------------------------------------------


def _death(told: LastWords) -> str:
    """Return which rank or host died, and of what: first what did not die of the launcher's own SIGKILL."""
    found = [" ".join(" ".join(one).split()) for one in told.paragraphs if NOTICED.search(" ".join(one))]
    found = [one.partition("). ")[0] for one in found]
    said = next((match[1] for line in told.lines if (match := EXIT_STRING.match(line))), "")
    for line, after in pairwise([*told.lines, ""]):
        if DIED.search(line):
            found.append(" ".join(f"{line} {after}".split()) if not said else f"{line}: {said}")
    return next((one for one in found if not BY_KILL.search(one)), next(iter(found), ""))


def _consequence(told: LastWords) -> str:
    """Return what is neither cause nor death: a paragraph about what followed, or the last line."""
    errors = [line for line in told.lines if CAUSE.search(line)]
    errors = [line for line in errors if not LAUNCHERS_LOG.search(line)] or errors
    sentences = [_first_sentence(one) for one in told.paragraphs]
    if chosen := next(iter([*sentences, *errors]), ""):
        return chosen
    return _whole(told.lines, told.lines[-1]) if told.lines else ""


def launchers_end(status: int) -> str:
    """Return how a launcher ended by its exit status; empty where that says nothing."""
    if status == EXIT_ORPHANED:
        return ORPHANED
    if status == 0:
        return ENDED_FIRST
    number = -status if status < 0 else status - SHELLS_SIGNALS
    if number not in set(signal.Signals):
        return ""
    return ENDED_BY.format(signal_name(number)) if status < 0 and number in BY_OTHERS else end_of(-number)
