"""Plan files in TOML, and plans made of them with the options of the command line.

A plan file has the keys of PlanFile at its top and one `[[measure]]` table per pattern.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from mpigauge import units
from mpigauge.errors import UsageError
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
    Positive,
    VariableName,
    VariableValue,
)
from mpigauge.plan.sizes import USUAL_SIZES
from mpigauge.plan.strings import LongText
from mpigauge.stats.limits import ENOUGH_LAUNCHES
from mpigauge.vocabulary import AUTO, Binding, CheckHosts, Control, Transport, Until

MAX_LAUNCHES = 10_000
MAX_SAMPLES = 1_000_000
MAX_BUDGET_S = 7 * 86_400.0
MAX_OVER_S = 28 * 86_400.0
MAX_PATIENCE_S = 86_400.0
BUDGET = "45s"
PATIENCE = "60s"
BUDGET_OF: Mapping[Until, str] = {"precise": BUDGET, "decided": "5min"}
RANKS = (2,)


class PlanFile(FactorValues, frozen=True, forbid_unknown_fields=True):
    """The keys of a plan file; those of FactorValues are defaults for its tables.

    Attributes:
        about: The purpose of the plan; for people only.
        launches: The exact number; otherwise as many as the precision needs, within the budget.
        samples: Maximum per cell and launch.
        patience: How long a start may take without a line of the kernel; 60 s by default.
        over: The time that launches are spread over; without it they follow each other.
        hosts: A list or the path of a machine file, as plan.hosts reads them.
        lab: Emulated hosts to run on.
        abi: Whether one kernel, built against the ABI of MPI 5, is for all libraries.
        until: The goal at which launches stop.
        control: Whether the base of a comparison is measured twice.
    """

    measure: tuple[Measure, ...]
    title: LongText = ""
    about: LongText = ""
    mpi: tuple[LongText, ...] = ()
    transports: tuple[Transport, ...] = (AUTO,)
    hosts: str = ""
    placements: tuple[LongText, ...] = ()
    binding: Binding = AUTO
    launcher: LongText = AUTO
    mpiexec: LongText = ""
    remote_shell: LongText = ""
    check_hosts: CheckHosts = AUTO
    skip_dead: bool = False
    variables: dict[LongText, LongText] = msgspec.field(default_factory=dict)
    mpi_options: tuple[LongText, ...] = ()
    launches: int | None = None
    samples: Positive | None = None
    precision: str | float = "3%"
    budget: str | None = None
    patience: str = PATIENCE
    over: str | None = None
    seed: int | None = None
    lab: Lab | None = None
    vary: dict[VariableName, tuple[VariableValue, ...]] = msgspec.field(default_factory=dict)
    abi: bool = False
    until: Until | None = None
    control: Control | None = None


class Options(FactorValues, frozen=True):
    """The options of the command line; None and empty values are unset."""

    patterns: tuple[str, ...] = ()
    mpi: tuple[str, ...] = ()
    transports: tuple[Transport, ...] = ()
    hosts: str = ""
    placements: tuple[str, ...] = ()
    binding: Binding | None = None
    launcher: str = ""
    mpiexec: str = ""
    remote_shell: str = ""
    check_hosts: CheckHosts | None = None
    skip_dead: bool = False
    variables: dict[str, str] = msgspec.field(default_factory=dict)
    mpi_options: tuple[str, ...] = ()
    launches: int | None = None
    samples: int | None = None
    precision: str | None = None
    budget: str | None = None
    patience: str | None = None
    over: str | None = None
    seed: int | None = None
    vary: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    abi: bool = False
    until: Until | None = None
    control: Control | None = None


MAX_DEPTH = 32
"""Deepest nesting of tables; plans of mpigauge have four levels."""

_TOKEN = re.compile(
    r""""{3}(?:[^"\\]++|\\.|"{1,2}(?!"))*+(?:"{3,5})?|"(?:[^"\\\n]++|\\.)*+"?"""
    r"""|'{3}(?:[^']++|'{1,2}(?!'))*+(?:'{3,5})?|'[^'\n]*+'?|#[^\n]*+|[^"'#.\[\]{},=\n]++|.""",
    re.DOTALL,
)
"""A string, a comment, words without a sign of TOML, or one of these signs."""

_ENDS_OF_KEYS = frozenset("[]{},=\n")


def read_file(path: Path) -> PlanFile:
    """Read and check a plan file.

    Raises:
        UsageError: It is invalid; names the file and the key, or the line that is not TOML.
    """
    shipped.check_there(path)
    return file_of(read_toml(path, "a plan", ", or a name: mpigauge list plans"), str(path))


def file_of(values: Mapping[str, Any], where: str) -> PlanFile:
    """Return the checked keys of a plan file.

    Args:
        where: The source named in errors: the file, or who gave the values.

    Raises:
        UsageError: A key is invalid; names it.
    """
    try:
        return msgspec.convert(values, PlanFile)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{where}: {_in_toml_words(error)}", "docs/formats.md lists the keys of a plan"
        ) from None


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


def _in_toml_words(error: msgspec.ValidationError) -> str:
    return str(error).replace("Object", "the plan").replace(" - at `$.", " - at `").replace("`$`", "its top")


def with_options(file: PlanFile, options: Options, default_seed: int, where: str) -> Plan:
    """Return the plan of a plan file, overridden by the options of the command line.

    Args:
        default_seed: Seed if neither names one.
        where: The source named in errors: the file, or "the command line".

    Raises:
        UsageError: A number is out of its range, or a word is not a time, share or size.
    """
    launches = options.launches if options.launches is not None else file.launches
    budget = options.budget if options.budget is not None else file.budget
    until = options.until or file.until or "precise"
    seed = next((s for s in (options.seed, file.seed) if s is not None), default_seed)
    plan = Plan(
        title=file.title,
        measure=tuple(_measure(table, file, options) for table in _tables(file, options)),
        mpi=options.mpi or file.mpi,
        transports=options.transports or file.transports,
        hosts=hosts_of(options.hosts or file.hosts) if options.hosts or file.hosts else (),
        placements=options.placements or file.placements,
        binding=options.binding or file.binding,
        launcher=options.launcher or file.launcher,
        mpiexec=options.mpiexec or file.mpiexec,
        remote_shell=options.remote_shell or file.remote_shell,
        check_hosts=options.check_hosts or file.check_hosts,
        skip_dead=options.skip_dead or file.skip_dead,
        hosts_skipped=(),
        variables={**file.variables, **options.variables},
        mpi_options=(*file.mpi_options, *options.mpi_options),
        vary={**file.vary, **options.vary},
        ranks=options.ranks or file.ranks or RANKS,
        all_ranks=not (options.ranks or file.ranks),
        precision=_precision(options.precision or file.precision),
        seed=seed,
        abi=options.abi or file.abi,
        **_launches(launches, until, where),
        until=until,
        control=options.control or file.control or AUTO,
        **_samples(options.samples if options.samples is not None else file.samples, where),
        patience_s=_patience(options.patience or file.patience, where),
        budget_s=_budget(budget, launches, until, where),
        over_s=_over(options.over if options.over is not None else file.over, where),
        lab=None if options.hosts else file.lab,
    )
    _check_numbers(plan, where)
    return plan


def _tables(file: PlanFile, options: Options) -> tuple[Measure, ...]:
    if not options.patterns:
        return file.measure
    chosen: list[Measure] = []
    for name in dict.fromkeys(options.patterns):
        tables = [measure for measure in file.measure if measure.pattern == name]
        chosen += tables or [Measure(name)]
    return tuple(chosen)


def _measure(measure: Measure, file: PlanFile, options: Options) -> Measure:
    """Return a table with values from the options, else the table itself, else the top of the file."""
    # The plan has the ranks.
    everywhere = msgspec.structs.replace(file, ranks=(), sizes=file.sizes or USUAL_SIZES)
    sources = (options, measure, everywhere)
    chosen = {
        name: next(
            (value for source in sources if _is_set(value := getattr(source, name))), getattr(measure, name)
        )
        for name in FactorValues.__struct_fields__
    }
    return msgspec.structs.replace(measure, **chosen)


def _is_set(value: object) -> bool:
    return value is not None and value is not False and value not in ((), "")


def _precision(value: str | float) -> float:
    return units.parse_fraction(str(value))


def _launches(launches: int | None, until: Until, where: str) -> dict[str, int]:
    """Return the limits of launches: exactly so many, or at most so many until a comparison is decided."""
    if launches is None:
        return {}
    if not 1 <= launches <= MAX_LAUNCHES:
        raise UsageError(
            f"{where}: {launches} launches are out of range",
            f"use 1 to {MAX_LAUNCHES}; an interval needs at least 2, a good one {ENOUGH_LAUNCHES} or more",
        )
    return {"launches_min": 1 if until == "decided" else launches, "launches_max": launches}


def _samples(samples: int | None, where: str) -> dict[str, int]:
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


def _patience(patience: str, where: str) -> float:
    seconds = units.parse_duration(patience)
    if not 1 <= seconds <= MAX_PATIENCE_S:
        raise UsageError(f"{where}: a patience of {patience} is out of range", "use 1s to 24h")
    return seconds


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
