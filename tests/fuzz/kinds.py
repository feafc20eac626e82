"""What is fed with wrong inputs, and what must hold whatever they are.

Each kind makes an input of a random generator, gives it to the program, and says what is wrong with the
outcome; nothing is, if the program said one sentence with a status that is not 0, or showed what the input
really holds.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from mpigauge.cli import COMMANDS, mpigauge
from mpigauge.errors import UsageError
from mpigauge.importers.reading import recognised
from mpigauge.result.reader import load
from mpigauge.result.records import VERSION
from mpigauge.show.formats import FORMATS
from tests.fuzz import foreign, seeds
from tests.fuzz.border import Border, Done, run
from tests.fuzz.mutate import (
    all_changed,
    bytes_changed,
    lines_changed,
    odd,
    packed,
    text_changed,
    words_changed,
)
from tests.fuzz.truth import wrong_numbers
from tests.made import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    Change = Callable[[bytes, Random], bytes]

STATUSES = range(6)
RESULT = Path("r.jsonl")
TEXT = Path("printed.txt")
BASE = Path("base.jsonl")
TABLES = ("answer", "curves", "times", "rates", "summary", "latency", "ratios", "baselines")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
LISTS = ("launches", "clocks", "visits", "eager", "blocked", "imported", "failures", "done", "ends")
JSON = ("--format", "json")
EXPECTED = ("pingpong latency < 1s", "allreduce p99 time < 1ns", "stream bandwidth > 90% of 1GB/s")


@dataclass(frozen=True)
class Trial:
    """One input, given to the program.

    Attributes:
        words: The command line.
        done: How it ended.
        wrong: What must not be; empty if all is well.
    """

    words: Sequence[str]
    done: Done
    wrong: str = ""


def judged(words: Sequence[str], border: Border, *, may_start: bool = False) -> Trial:
    """Runs a command line and looks at what holds of every one of them."""
    border.started.clear()
    done = run(words)
    said = done.out + done.err
    control = "\x1b" in (COLOURS.sub("", said) if "always" in words else said)
    return Trial(words, done, "a control character" if control else _wrong(done, border, may_start=may_start))


def _wrong(done: Done, border: Border, *, may_start: bool) -> str:
    if done.status not in STATUSES and done.status <= 128:
        return f"status {done.status}"
    if border.started and not may_start:
        return f"started {border.started[0]}"
    if "Traceback" in done.err:
        return "a traceback"
    if "Warning: " in done.err:
        return "a warning of Python's"
    return "" if done.status == 0 or done.err or done.out else f"status {done.status} without a word"


# ---- Results -------------------------------------------------------------------------------------


def result(chance: Random, border: Border) -> Trial:
    """A result file, shown, drawn, as a map, or continued up to its first launch."""
    return _read(chance, border, lines_changed(chance.choice(seeds.results()), chance))


def result_bytes(chance: Random, border: Border) -> Trial:
    """A result file with wrong bytes, or compressed and so damaged."""
    changed = lines_changed(chance.choice(seeds.results()), chance)
    return _read(chance, border, chance.choice((packed, bytes_changed))(changed, chance))


def _read(chance: Random, border: Border, content: bytes) -> Trial:
    path = Path("r.jsonl.gz") if content.startswith(b"\x1f\x8b") else RESULT
    path.write_bytes(content)
    BASE.write_bytes(chance.choice(seeds.results()))
    words = chance.choices(_readings(path, chance), (8, 4, 3, 4, 2, 3, 4, 2, 3, 3, 3, 2))[0]
    trial = judged(words, border, may_start=words[0] == "resume")
    if not trial.wrong and trial.done.status == 0 and words[-2:] == JSON and words[0] == "show":
        return Trial(words, trial.done, wrong_numbers(trial.done.out, path))
    return trial


def _readings(path: Path, chance: Random) -> list[tuple[str, ...]]:
    """Command lines that read a result."""
    name = str(path)
    stat = chance.choice(("median", "mean", "min", "p99", "max"))
    return [
        ("show", name, "--stat", stat, *JSON),
        ("show", name, "--all", "--columns", "all", "--format", chance.choice(FORMATS)),
        ("show", name, "--format", chance.choice(("text", "markdown"))),
        ("show", name, "--table", chance.choice(TABLES)),
        ("map", name, "--format", chance.choice(FORMATS)),
        ("resume", name, "-q", *JSON),
        ("compare", name, "--format", chance.choice(FORMATS)),
        ("compare", str(BASE), name, "--force", "--all"),
        ("check", name, "--expect", chance.choice(EXPECTED), "--format", chance.choice(FORMATS)),
        ("check", name, "--guidelines", "--all", "--format", chance.choice(FORMATS)),
        ("history", str(BASE), name, "--format", chance.choice(FORMATS)),
        ("compare", name, "--baseline", ".", "--force"),
    ]


def numbers(chance: Random, border: Border) -> Trial:
    """A result file with one of its numbers, or its moments, changed wherever they stand."""
    return _read(chance, border, all_changed(chance.choice(seeds.results()), chance))


def names(chance: Random, border: Border) -> Trial:
    """A good result whose name is odd."""
    path = Path(chance.choice(ODD_NAMES))
    path.write_bytes(chance.choice(seeds.results()))
    BASE.write_bytes(seeds.results()[0])
    try:
        words = chance.choice((*_readings(path, chance), ("history", ".", "--all"), ("show", ".")))
        return judged(words, border, may_start=words[0] == "resume")
    finally:
        path.unlink(missing_ok=True)


def files(chance: Random, border: Border) -> Trial:
    """What is no file, wherever one is asked for: refused at once."""
    RESULT.write_bytes(seeds.results()[0])
    name = chance.choice((*_no_files(Path("no-files")), *DEVICES))
    words = [word.replace("FILE", name) for word in chance.choice(ASKING)]
    trial = judged(words, border, may_start=True)
    passed_over = words[0] == "history" and "skipped: " in trial.done.err
    replaced = "--overwrite" in words and Path(name).name.startswith("loop")  # as any link that leads nowhere
    refused = trial.done.status in (2, 3) or passed_over or replaced
    return trial if trial.wrong or refused else Trial(words, trial.done, "taken as a file")


DEVICES = ("/dev/zero", "/dev/full", "/dev/null")
ENDINGS = ("", ".jsonl", ".jsonl.gz", ".toml", ".csv", ".html", ".svg")
ODD_NAMES = tuple(
    f"{name}.jsonl"
    for name in (
        "\x1b]0;owned\x07",
        "\x1b[31m",
        "a\nb",
        "\r",
        "\x7f",
        "\u202e",
        "-x",
        "--all",
        "$\\frac{",
        "<b>",
        "=1",
    )
)
ASKING = (
    *((verb, "FILE") for verb in ("show", "explain", "model", "report", "plot", "resume", "map")),
    *((verb, str(RESULT), "FILE") for verb in ("compare", "history")),
    ("check", "FILE", "--expect", EXPECTED[0]),
    ("check", str(RESULT), "--expect-file", "./FILE"),
    ("explain", str(RESULT), "--claims", "FILE"),
    ("run", "--dry-run", "--plan", "FILE"),
    ("run", "--dry-run", "--hosts", "./FILE"),
    ("import", "osu", "FILE"),
    ("import", "journal", "FILE", "FILE"),
    ("import", "csv", str(RESULT), "--columns", "FILE"),
    ("run", "pingpong", "-o", "FILE"),
    ("show", str(RESULT), "--format", "csv", "-o", "FILE", "--overwrite"),
    ("report", str(RESULT), "-o", "FILE", "--overwrite"),
    ("sbatch", "--nodes", "2", "-o", "FILE"),
)


def _no_files(folder: Path) -> list[str]:
    """Names of what is there and is no file, with every ending that is asked for."""
    for ending in () if folder.exists() else ENDINGS:
        (folder / f"folder{ending}").mkdir(parents=True)
        os.mkfifo(folder / f"pipe{ending}")
        os.mknod(folder / f"socket{ending}", stat.S_IFSOCK | 0o600)
        (folder / f"loop{ending}").symlink_to(f"loop{ending}")
        (folder / f"device{ending}").symlink_to("/dev/zero")
    for ending in ENDINGS:  # an earlier input may have put a page in its place
        if not (loop := folder / f"loop{ending}").is_symlink():
            loop.unlink()
            loop.symlink_to(loop.name)
    return sorted(map(str, folder.iterdir()))


def reading(chance: Random, border: Border) -> Trial:
    """A result file that is only read: what was taken from it can be written, and read again as it was."""
    RESULT.write_bytes(lines_changed(chance.choice(seeds.results()), chance))
    border.started.clear()
    try:
        taken = load(RESULT)
    except UsageError as error:
        return Trial(("load",), Done(error.exit_code, "", error.sentence))
    records = [record for name in LISTS for record in getattr(taken, name)]
    RESULT.write_bytes(lines_of(replace(taken.campaign, version=VERSION), *records))
    again = load(RESULT)
    same = not again.damaged and all(getattr(again, name) == getattr(taken, name) for name in LISTS)
    wrong = _wrong(Done(0, "", ""), border, may_start=False)
    return Trial(("load",), Done(0, "", ""), wrong or ("" if same else "another result when read again"))


def figure(chance: Random, border: Border) -> Trial:
    """A result file, drawn."""
    # What draws is slow to import, and looks for fonts once.
    import matplotlib.font_manager  # noqa: PLC0415, F401

    from mpigauge.show.figures import KINDS  # noqa: PLC0415

    RESULT.write_bytes(lines_changed(chance.choice(seeds.results()), chance))
    return judged(("plot", str(RESULT), "--kind", chance.choice(list(KINDS)), "-o", "figure.svg"), border)


# ---- Plans, hosts and tables of others -----------------------------------------------------------


def plan(chance: Random, border: Border) -> Trial:
    """A plan file, up to the commands that it would run."""
    Path("plan.toml").write_bytes(text_changed(chance.choice(seeds.plans()), chance))
    words = chance.choice(
        (
            ("run", "--plan", "plan.toml", "--dry-run"),
            ("sbatch", "--nodes", "2", "--time", "1h", "--", "run", "--plan", "plan.toml"),
            ("kernel", "plan", "--plan", "plan.toml"),
        )
    )
    return judged(words, border, may_start=True)


def hosts(chance: Random, border: Border) -> Trial:
    """A machine file, or a list of hosts on the command line."""
    Path("hosts").write_bytes(text_changed(seeds.HOSTS, chance))
    given = "./hosts" if chance.random() < 0.7 else _line(text_changed(b"h1:2,node[1-3]:4,h2", chance))
    words = chance.choice((("run", "pingpong", "--sizes", "8"), ("map", "--sizes", "8")))
    return judged((*words, "--dry-run", "--hosts", given), border, may_start=True)


def table(chance: Random, border: Border) -> Trial:
    """A table of somebody else, or the file that tells of its columns."""
    csv, toml = chance.choice(seeds.tables())
    which = chance.randrange(3)
    Path("t.csv").write_bytes(text_changed(csv, chance) if which != 1 else csv)
    Path("t.toml").write_bytes(text_changed(toml, chance) if which != 0 else toml)
    RESULT.unlink(missing_ok=True)
    words = ("import", "csv", "t.csv", "--columns", "t.toml", "-o", str(RESULT), *JSON)
    return _imported(words, border)


def printed(chance: Random, border: Border) -> Trial:
    """Output of another benchmark: imported as what it was, or shown as what it seems to be."""
    _, content, text = foreign.changed(chance)
    TEXT.write_bytes(content)
    RESULT.unlink(missing_ok=True)
    names = recognised(content) or ("osu",)
    if chance.random() < 0.2:
        return judged(("show", str(TEXT), "--format", chance.choice(FORMATS)), border)
    words = ("import", names[0], str(TEXT), "-o", str(RESULT), *JSON)
    trial = _imported(words, border)
    if trial.wrong or not RESULT.exists():
        return trial
    return Trial(words, trial.done, foreign.wrong_in(load(RESULT), text))


def text(chance: Random, border: Border) -> Trial:
    """The same, only read: in a moment, and so many times."""
    border.started.clear()
    read = foreign.read(chance, Path())
    return Trial(("show", read.name), Done(0 if read.result else 2, "", ""), read.wrong)


# ---- Journals ------------------------------------------------------------------------------------


def handout(chance: Random, border: Border) -> Trial:
    """A kernel plan that was handed out and a journal that came back."""
    text, journal = seeds.handed_out()
    which = chance.randrange(4)
    Path("plan.txt").write_bytes(_changed_handout(text, chance) if which > 1 else text)
    Path("j").write_bytes(_changed_journal(journal, chance) if which != 2 else journal)
    RESULT.unlink(missing_ok=True)
    return _imported(("import", "journal", "plan.txt", "j", "-o", str(RESULT), *JSON), border)


def _changed_handout(text: bytes, chance: Random) -> bytes:
    return chance.choice((lines_changed, text_changed))(text, chance)


def _changed_journal(journal: bytes, chance: Random) -> bytes:
    return chance.choices((lines_changed, text_changed, bytes_changed), (6, 2, 1))[0](journal, chance)


def _imported(words: Sequence[str], border: Border) -> Trial:
    trial = judged(words, border)
    if trial.wrong or not RESULT.exists():
        return trial
    return Trial(words, trial.done, _wrong_file(trial.done))


def _wrong_file(done: Done) -> str:
    """What is wrong with the file that was written, or with what was shown of it."""
    if damaged := load(RESULT).damaged:
        return f"wrote line {damaged[0]}, which cannot be read"
    return wrong_numbers(done.out, RESULT) if done.status == 0 else ""


def job(chance: Random, border: Border) -> Trial:
    """A campaign whose kernel says what no kernel would."""
    RESULT.unlink(missing_ok=True)
    border.change = lambda journal: _changed_journal(journal, chance) if chance.random() < 0.5 else journal
    words = (*chance.choice(seeds.CAMPAIGNS), "-q", "-o", str(RESULT), *JSON)
    try:
        trial = judged(words, border, may_start=True)
    finally:
        border.change = None
    if trial.wrong or not RESULT.exists():
        return trial
    return Trial(words, trial.done, _wrong_file(trial.done))


# ---- Command lines -------------------------------------------------------------------------------


def options(chance: Random, border: Border) -> Trial:
    """Words of all verbs: their options with values that they take, or with any."""
    seeds.lay_out(Path())
    words = words_of(chance)
    for _ in range(chance.randrange(3)):
        words = words_changed(words, chance)
    if chance.random() < 0.3:
        border.change = lambda journal: journal
    try:
        return judged(words, border, may_start=True)
    finally:
        border.change = None


def words_of(chance: Random) -> list[str]:
    """A command line that the program's own parameters are asked for."""
    verb = chance.choice(list(COMMANDS))
    context = click.Context(mpigauge, info_name="mpigauge")
    command = mpigauge.get_command(context, verb)
    words = [verb]
    while isinstance(command, click.Group):
        name = chance.choice(command.list_commands(context))
        words.append(name)
        command = command.get_command(context, name)
    assert command is not None
    return [*words, *_given(command, chance)]


def _given(command: click.Command, chance: Random) -> Iterator[str]:
    """Some of the parameters of a command."""
    params = [one for one in command.params if isinstance(one, click.Option)]
    for option in chance.sample(params, chance.randrange(min(5, len(params) + 1))):
        yield chance.choice(option.opts)
        if not option.is_flag:
            yield _value(option.type, chance)
    yield from (_operand(chance) for _ in range(chance.randrange(3)))


def _value(kind: object, chance: Random) -> str:
    if isinstance(kind, click.Choice) and chance.random() < 0.8:
        return str(chance.choice(list(kind.choices)))
    return _operand(chance)


def _operand(chance: Random) -> str:
    known = (*seeds.FILES, "pingpong", "allreduce", "8,64", "2", "1s", "openmpi", "h1,h2", "h1:2")
    return chance.choice(known) if chance.random() < 0.6 else _line(str(odd(chance)).encode())


def _line(data: bytes) -> str:
    """As a shell can hand it over."""
    return data.decode("utf-8", "replace").replace("\0", "")


KINDS: dict[str, Callable[[Random, Border], Trial]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        reading,
        result,
        result_bytes,
        numbers,
        names,
        files,
        figure,
        plan,
        hosts,
        table,
        printed,
        text,
        handout,
        job,
        options,
    )
}
"""By name: each takes a generator and the closed border, and gives what came of one input."""
