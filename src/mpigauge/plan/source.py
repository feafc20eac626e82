"""The base of a plan that options override: a plan file, or one of the built-in suites."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.plan import plan_file, suites
from mpigauge.plan.model import Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.plan.model import Plan
    from mpigauge.plan.plan_file import Asked
    from mpigauge.vocabulary import SuiteName


def check_source(*, plan: bool, suite: SuiteName | None, quick: bool, thorough: bool) -> None:
    """Check that a plan has one base.

    Raises:
        UsageError: It has several.
    """
    named = {"--plan": plan, "--suite": suite, "--quick": quick, "--thorough": thorough}
    chosen = [name for name, value in named.items() if value]
    if "--plan" in chosen and suite is None:
        chosen.remove("--plan")  # --quick and --thorough then choose its time
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} exclude each other", "use one of them")


Named = tuple[str, str]
"""A pattern that is named, and its mode; "" for the modes of its tables."""


def source_of(
    file: Asked | None,
    over: Asked,
    suite: SuiteName | None,
    named: Sequence[Named],
    *,
    quick: bool,
    thorough: bool,
) -> Asked:
    """Return the base of a plan: a plan file, with the time asked for, or one of the suites.

    Args:
        file: The user's plan file; None if there is none.
        over: What goes before the base.
        named: The patterns that alone are measured; none for all of the base.
    """
    if suite is not None:
        return _only(suites.SUITES[suite](), named)
    suite_plan = suites.QUICK if quick else suites.THOROUGH if thorough else suites.DEFAULT
    if file is not None:
        timed = {"budget": suite_plan.budget, "precision": suite_plan.precision, "launches": None}
        return _only(replace(file, **timed) if quick or thorough else file, named)
    if names := dict.fromkeys(pattern for pattern, _ in named):
        suite_plan = replace(suite_plan, title=", ".join(names), measure=(), samples=None)
    # The budget of a suite is for intervals; a comparison has its own.
    return _only(replace(suite_plan, budget=None) if over.until == "decided" else suite_plan, named)


def _only(source: Asked, named: Iterable[Named]) -> Asked:
    """Return a source with its tables of the patterns that are named, or of all if none is."""
    modes: dict[str, dict[str, None]] = defaultdict(dict)
    for pattern, mode in named:
        modes[pattern][mode] = None
    if not modes:
        return source
    chosen: list[Measure] = []
    for pattern, of_pattern in modes.items():
        tables = [table for table in source.measure if table.pattern == pattern] or [Measure(pattern)]
        for mode in of_pattern:
            chosen += [replace(table, modes=(mode,)) for table in tables] if mode else tables
    return replace(source, measure=tuple(chosen))


class ChosenPlan(NamedTuple):
    """A plan as chosen by the user.

    Attributes:
        where: The source named in errors.
        per_job: Whether its budget is per job, as it is the default and not the user's.
    """

    plan: Plan
    where: str
    per_job: bool


def new_seed() -> int:
    """Return a seed that nobody chose, for a plan that names none."""
    return random.SystemRandom().randrange(2**31)


def plan_of(
    file: Asked | None,
    over: Asked,
    suite: SuiteName | None,
    where: str,
    named: Sequence[Named] = (),
    *,
    quick: bool,
    thorough: bool,
    chosen: Callable[[Asked], Asked] = lambda source: source,
) -> ChosenPlan:
    """Return the plan of a file or a suite with options laid over it.

    Args:
        file: None if nobody names one.
        where: What an error in it names.
        named: The patterns that alone are measured; none for all of the file or suite.
        chosen: Takes what is asked for out of the file or suite.

    Raises:
        UsageError: The plan or an option cannot be.
    """
    source = chosen(source_of(file, over, suite, named, quick=quick, thorough=thorough))
    plan = plan_file.plan_of(source, over, new_seed(), where)
    # Plans until a comparison is decided have a budget of their own.
    of_file = file.budget if file is not None and not (quick or thorough) else None
    names_no_budget = over.budget is None and of_file is None and plan.until == "precise"
    return ChosenPlan(with_usual_launches(plan, source), where, names_no_budget)


def with_usual_launches(plan: Plan, source: Asked) -> Plan:
    """Return a plan with the usual number of launches of its base, unless the user gives a number.

    The default suite ends before its result is large.

    Args:
        source: The base of the plan.
    """
    if plan.launches_min == plan.launches_max or plan.until != "precise":
        return plan
    return replace(plan, launches_max=suites.DEFAULT_MAX_LAUNCHES) if source is suites.DEFAULT else plan
