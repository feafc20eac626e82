"""Plan files in TOML, and plans made of them with the options of the command line.

A plan file has the fields of Asked at its top and one `[[measure]]` table per pattern.
"""

import contextlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mpigauge import units
from mpigauge.errors import UsageError, nearest
from mpigauge.inputs import text_of
from mpigauge.plan import shipped
from mpigauge.plan.hosts import hosts_of
from mpigauge.plan.lab import Lab, topology
from mpigauge.plan.model import (
    MAX_WINDOW,
    MIN_ROUNDS,
    FactorValues,
    Measure,
    Plan,
    VariableName,
    VariableValue,
)
from mpigauge.plan.patterns import usual_sizes
from mpigauge.plan.strings import LongText
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from mpigauge.vocabulary import Binding, CheckHosts, Control, Transport, Until

MAX_LAUNCHES = 10_000
MAX_SAMPLES = 1_000_000
MAX_BUDGET_S = 7 * 86_400.0
MAX_OVER_S = 28 * 86_400.0
MAX_PATIENCE_S = 86_400.0
BUDGET = "45s"
BUDGET_OF: Mapping[Until, str] = {"precise": BUDGET, "decided": "5min"}


class Asked(FactorValues, frozen=True, forbid_unknown_fields=True):
    """The wishes of one source: a suite, a plan file, the command line or a script. None and empty are unset.

    The fields are the keys of a plan file; those of FactorValues are defaults for its tables.

    Attributes:
        about: The purpose of the plan; for people only.
        launches: The exact number; otherwise as many as the precision needs, within the budget.
        samples: Maximum per cell and launch.
        patience: How long a start may take without a line of the kernel.
        over: The time that launches are spread over; without it they follow each other.
        hosts: A list or the path of a machine file, as plan.hosts reads them.
        lab: Emulated hosts to run on.
        abi: Whether one kernel, built against the ABI of MPI 5, is for all libraries.
        until: The goal at which launches stop.
        control: Whether the base of a comparison is measured twice.
    """

    measure: tuple[Measure, ...] = ()
    title: LongText = ""
    about: LongText = ""
    mpi: tuple[LongText, ...] = ()
    transports: tuple[Transport, ...] = ()
    hosts: str = ""
    placements: tuple[LongText, ...] = ()
    binding: Binding | None = None
    launcher: LongText = ""
    mpiexec: LongText = ""
    remote_shell: LongText = ""
    check_hosts: CheckHosts | None = None
    skip_dead: bool = False
    variables: dict[LongText, LongText] = msgspec.field(default_factory=dict)
    mpi_options: tuple[LongText, ...] = ()
    launches: int | None = None
    samples: int | None = None
    precision: str | float | None = None
    budget: str | None = None
    patience: str | None = None
    over: str | None = None
    seed: int | None = None
    lab: Lab | None = None
    vary: dict[VariableName, tuple[VariableValue, ...]] = msgspec.field(default_factory=dict)
    abi: bool = False
    until: Until | None = None
    control: Control | None = None


UNSET = msgspec.structs.asdict(Asked())

OF_A_FILE = ("measure", "title", "about", "lab")
"""Keys that only a plan file has: no option stands for them."""


KEYS_HINT = "docs/formats.md lists the keys of a plan"

MAX_DEPTH = 32
"""Deepest nesting of tables; plans of mpigauge have four levels."""

_TOKEN = re.compile(
    r""""{3}(?:[^"\\]++|\\.|"{1,2}(?!"))*+(?:"{3,5})?|"(?:[^"\\\n]++|\\.)*+"?"""
    r"""|'{3}(?:[^']++|'{1,2}(?!'))*+(?:'{3,5})?|'[^'\n]*+'?|#[^\n]*+|[^"'#.\[\]{},=\n]++|.""",
    re.DOTALL,
)
"""A string, a comment, words without a sign of TOML, or one of these signs."""

_ENDS_OF_KEYS = frozenset("[]{},=\n")


def read_file(path: Path) -> Asked:
    """Read and check a plan file.

    Raises:
        UsageError: It is invalid; names the file and the key, or the line that is not TOML.
    """
    shipped.check_there(path)
    values = read_toml(path, "a plan", ", or a name: mpigauge list plans")
    return file_of(values, str(path), path)


def file_of(values: Mapping[str, Any], where: str, path: Path | None = None) -> Asked:
    """Return the checked keys of a plan file.

    Args:
        where: The source named in errors: the file, or who gave the values.
        path: The file, of which errors name the line; None if there is none.

    Raises:
        UsageError: A key is invalid; names it.
    """
    try:
        asked = msgspec.convert(values, Asked)
    except msgspec.ValidationError as error:
        raise _invalid(error, values, where, path) from None
    if "measure" not in values:
        raise UsageError(f"{where}: the plan missing required field `measure`", KEYS_HINT)
    return asked


def read_toml(path: Path, what: str, also: str = "") -> dict[str, Any]:
    """Return the tables of a TOML file that a user has written.

    Args:
        also: A further hint if there is no such file.

    Raises:
        UsageError: It cannot be read; names the file, and the line that is not TOML.
    """
    try:
        text = text_of(path, f"use the path of {what}{also}")
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not UTF-8 text", f"{what} is a TOML file: see examples/") from None
    try:
        _check_depth(text)
        values = tomllib.loads(text)
        has_nul = any("\0" in text for text in _texts(values))
    except RecursionError:
        raise UsageError(f"{path}: is nested too deeply", "see examples/ for files that work") from None
    except ValueError as error:
        raise UsageError(f"{path}: is not TOML: {error}", "see examples/ for files that work") from None
    if has_nul:
        raise UsageError(f"{path}: contains the character NUL", "delete it: no program or file accepts it")
    return values


def _check_depth(text: str) -> None:
    """Check that no key has more than MAX_DEPTH dots, and that brackets are nested no deeper.

    The parser needs time and memory for the square of the parts of a key.

    Raises:
        RecursionError: One has, or they are.
    """
    dots = brackets = 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == ".":
            dots += 1
        elif sign in _ENDS_OF_KEYS:
            dots = 0
            brackets += (sign in "[{") - (sign in "]}")
        if max(dots, brackets) > MAX_DEPTH:
            raise RecursionError


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Yield all strings of a file, with the keys.

    Raises:
        RecursionError: It is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for item in pair for text in _texts(item, depth + 1))
    elif isinstance(value, list):
        yield from (text for item in value for text in _texts(item, depth + 1))


_UNKNOWN = re.compile(r"unknown field `([^`]*)`(?: - at `\$\.measure\[\d+\]`)?$")
_NO_LIST = re.compile(
    r"Expected `array`, got `(?:str|int|float|bool)` - at `\$\.(?:measure\[\d+\]\.)?((?!measure`)\w+)`"
)
_TABLE = re.compile(r"measure\[(\d+)\]")


def _invalid(
    error: msgspec.ValidationError, values: Mapping[str, Any], where: str, path: Path | None
) -> UsageError:
    """Return the error of an invalid key: its line, what is wrong, and what was probably meant."""
    table = _TABLE.search(str(error))
    of_table = f"{table[0]}." if table else ""
    if match := _UNKNOWN.search(str(error)):
        key, near = match[1], nearest(match[1], (Measure if table else Asked).__struct_fields__)
        said, hint = "unknown key `{}`", f"did you mean {near}?" if near else KEYS_HINT
    elif match := _NO_LIST.search(str(error)):
        key = match[1]
        value = (values["measure"][int(table[1])] if table else values)[key]
        said, hint = "`{}` is a list", f"write {key} = [{json.dumps(value)}]"
    else:
        return UsageError(f"{where}: {_in_toml_words(error)}", KEYS_HINT)
    return UsageError(f"{where}: {_line_of(key, path)}{said.format(of_table + key)}", hint)


def _line_of(key: str, path: Path | None) -> str:
    """Return `line 3: `, where a key stands once at the beginning of a line; else nothing."""
    text = ""
    with contextlib.suppress(OSError, ValueError):  # it may have gone meanwhile
        text = path.read_text(encoding="utf-8") if path is not None and path.is_file() else ""
    numbers = [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.partition("=")[0].strip().strip("\"'") == key or line.strip().strip("[]") == key
    ]
    return f"line {numbers[0]}: " if len(numbers) == 1 else ""


def _in_toml_words(error: msgspec.ValidationError) -> str:
    return str(error).replace("Object", "the plan").replace(" - at `$.", " - at `").replace("`$`", "its top")


def plan_of(file: Asked, over: Asked, default_seed: int, where: str) -> Plan:
    """Return the plan of what two sources ask for, of which the second goes before the first.

    Args:
        file: A plan file or a suite.
        over: The options of the command line, or of a script.
        default_seed: Seed if neither names one.
        where: The source named in errors: the file, or "the command line".

    Raises:
        UsageError: A number is out of its range, or a word is not a time, share or size.
    """
    asked = _first_set(over, file)
    launches, until = asked.launches, asked.until or "precise"
    plan = Plan(
        **{name: value for name in UNCHANGED if (value := getattr(asked, name)) != UNSET[name]},
        measure=tuple(_measure(table, file, over) for table in file.measure),
        hosts=hosts_of(asked.hosts) if asked.hosts else (),
        variables={**file.variables, **over.variables},
        mpi_options=(*file.mpi_options, *over.mpi_options),
        vary={**file.vary, **over.vary},
        all_ranks=not asked.ranks,
        seed=default_seed if asked.seed is None else asked.seed,
        until=until,
        **_precision(asked.precision),
        **_launches(launches, until, where),
        **_samples(asked.samples, where),
        **_patience(asked.patience, where),
        budget_s=_budget(asked.budget, launches, until, where),
        over_s=_over(asked.over, where),
        lab=None if over.hosts else file.lab,
    )
    _check_numbers(plan, where)
    return plan


UNCHANGED = (
    "title",
    "mpi",
    "transports",
    "placements",
    "binding",
    "launcher",
    "mpiexec",
    "remote_shell",
    "check_hosts",
    "skip_dead",
    "ranks",
    "abi",
    "control",
)
"""Fields that a plan has as they were asked for; unset ones are as is usual."""


def _first_set(*sources: Asked) -> Asked:
    """Return what the first source asks for, the second where that one is silent, and so on."""
    return msgspec.structs.replace(
        sources[-1],
        **{
            name: value
            for asked in reversed(sources)
            for name, unset in UNSET.items()
            if (value := getattr(asked, name)) != unset
        },
    )


def _measure(measure: Measure, file: Asked, over: Asked) -> Measure:
    """Return a table with values from the options, else the table itself, else the top of the file.

    Sizes that none of them names are those of the pattern, if it has its own.
    """
    # The plan has the ranks.
    everywhere = msgspec.structs.replace(file, ranks=(), sizes=file.sizes or usual_sizes(measure.pattern))
    sources = (over, measure, everywhere)
    chosen = {
        name: next(
            (value for source in sources if _is_set(value := getattr(source, name))), getattr(measure, name)
        )
        for name in FactorValues.__struct_fields__
    }
    return msgspec.structs.replace(measure, **chosen)


def _is_set(value: object) -> bool:
    return value is not None and value is not False and value not in ((), "")


def _precision(precision: str | float | None) -> dict[str, Any]:
    return {} if precision is None else {"precision": units.parse_fraction(str(precision))}


def _launches(launches: int | None, until: Until, where: str) -> dict[str, Any]:
    """Return the limits of launches: exactly so many, or at most so many until a comparison is decided."""
    if launches is None:
        return {}
    if not 1 <= launches <= MAX_LAUNCHES:
        raise UsageError(
            f"{where}: {launches} launches are out of range",
            f"use 1 to {MAX_LAUNCHES}; an interval needs at least 2, a good one {ENOUGH_LAUNCHES} or more",
        )
    return {"launches_min": 1 if until == "decided" else launches, "launches_max": launches}


def _samples(samples: int | None, where: str) -> dict[str, Any]:
    if samples is None:
        return {}
    if not 1 <= samples <= MAX_SAMPLES:
        raise UsageError(
            f"{where}: {samples} samples per cell and launch are out of range", f"use 1 to {MAX_SAMPLES}"
        )
    return {"rounds_min": min(MIN_ROUNDS, samples), "rounds_max": samples}


def _budget(budget: str | None, launches: int | None, until: Until, where: str) -> float | None:
    if budget is None:
        if launches is not None:
            return None
        budget = BUDGET_OF[until]
    seconds = units.parse_duration(budget)
    if not 1 <= seconds <= MAX_BUDGET_S:
        raise UsageError(f"{where}: a budget of {budget} is out of range", "use 1s to 168h")
    return seconds


def _patience(patience: str | None, where: str) -> dict[str, Any]:
    if patience is None:
        return {}
    seconds = units.parse_duration(patience)
    if not 1 <= seconds <= MAX_PATIENCE_S:
        raise UsageError(f"{where}: a patience of {patience} is out of range", "use 1s to 24h")
    return {"patience_s": seconds}


def _over(over: str | None, where: str) -> float | None:
    if over is None:
        return None
    seconds = units.parse_duration(over)
    if not 1 <= seconds <= MAX_OVER_S:
        raise UsageError(f"{where}: launches cannot be spread over {over}", "use 1s to 672h")
    return seconds


def _check_varied(plan: Plan, where: str) -> None:
    for name, values in plan.vary.items():
        if len(set(values)) != len(values) or not values:
            raise UsageError(f"{where}: {name} needs values that differ", f"write them once: {name}=A,B")
        if name in plan.variables:
            raise UsageError(f"{where}: {name} is set and varied", "leave one of both out")


def _check_numbers(plan: Plan, where: str) -> None:
    if not plan.measure:
        raise UsageError(
            f"{where}: there is nothing to measure", "name a pattern, or add a [[measure]] table"
        )
    for name, value in plan.variables.items():
        if not name or "=" in name or "\0" in name + value:
            raise UsageError(
                f"{where}: {name!r} is not the name of an environment variable", "write NAME=VALUE"
            )
    _check_varied(plan, where)
    for measure in plan.measure:
        if measure.window is not None and not 1 <= measure.window <= MAX_WINDOW:
            raise UsageError(
                f"{where}: a window of {measure.window} messages is out of range", f"use 1 to {MAX_WINDOW}"
            )
    if plan.lab is not None:
        topology(plan.lab, where)
    if not 0 <= plan.seed < 2**63:
        raise UsageError(
            f"{where}: the seed {plan.seed} is out of range", "use a whole number from 0 to 2**63 - 1"
        )
