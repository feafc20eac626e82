"""What the choices of a user are laid over: a plan file, or one of the built-in suites."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from mpigauge.errors import UsageError
from mpigauge.plan import suites
from mpigauge.plan.plan_file import with_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.plan.model import Plan
    from mpigauge.plan.plan_file import Options, PlanFile
    from mpigauge.vocabulary import SuiteName


def check_source(*, plan: bool, suite: SuiteName | None, quick: bool, thorough: bool) -> None:
    """That a plan comes from one place.

    Raises:
        UsageError: It is to come from two.
    """
    named = {"--plan": plan, "--suite": suite, "--quick": quick, "--thorough": thorough}
    said = [name for name, value in named.items() if value]
    if "--plan" in said and suite is None:
        said.remove("--plan")  # what is quick or thorough of it is its time
    if len(said) > 1:
        raise UsageError(f"{said[0]} and {said[1]} exclude each other", "use one of them")


def source_of(
    file: PlanFile | None, options: Options, suite: SuiteName | None, *, quick: bool, thorough: bool
) -> PlanFile:
    """A plan file, for as long as is asked for, or one of the suites.

    Args:
        file: None if nobody names one.
        options: What is laid over it.
    """
    if suite is not None:
        return suites.NAMED[suite]()
    usual = suites.QUICK if quick else suites.THOROUGH if thorough else suites.DEFAULT
    if file is not None:
        timed = {"budget": usual.budget, "precision": usual.precision, "launches": None}
        return replace(file, **timed) if quick or thorough else file
    names = options.patterns
    found = replace(usual, title=", ".join(names), measure=(), samples=None) if names else usual
    # The time of a suite is for intervals; a comparison takes what it takes.
    return replace(found, budget=None) if options.until == "decided" else found


class ChosenPlan(NamedTuple):
    """A plan as a user has chosen it.

    Attributes:
        where: What an error in it names.
        per_job: Whether its budget is the usual one, which each job has, since the user names none.
    """

    plan: Plan
    where: str
    per_job: bool


def new_seed() -> int:
    """Return a seed that nobody chose, for a plan that names none."""
    return random.SystemRandom().randrange(2**31)


def plan_of(
    file: PlanFile | None,
    options: Options,
    suite: SuiteName | None,
    where: str,
    *,
    quick: bool,
    thorough: bool,
    chosen: Callable[[PlanFile], PlanFile] = lambda source: source,
) -> ChosenPlan:
    """Return the plan of a file or a suite with options laid over it.

    Args:
        file: None if nobody names one.
        where: What an error in it names.
        chosen: Takes what is asked for out of the file or suite.

    Raises:
        UsageError: The plan or an option cannot be.
    """
    source = chosen(source_of(file, options, suite, quick=quick, thorough=thorough))
    plan = with_options(source, options, new_seed(), where)
    per_job = names_no_budget(plan, file, options, quick=quick, thorough=thorough)
    return ChosenPlan(with_usual_launches(plan, source, quick=quick), where, per_job)


def names_no_budget(
    plan: Plan, file: PlanFile | None, options: Options, *, quick: bool, thorough: bool
) -> bool:
    """Return whether a plan has the usual time to spend; what goes on until it is decided has its own.

    Args:
        file: The plan file of the user, if there is one.
    """
    of_file = file.budget if file is not None and not (quick or thorough) else None
    return options.budget is None and of_file is None and plan.until == "precise"


def with_usual_launches(plan: Plan, source: PlanFile, *, quick: bool) -> Plan:
    """Return a plan with as many launches as its source usually has, unless the user says how many.

    A first look has few, and the suite that nobody asks for ends before its result is large.

    Args:
        source: What options were laid over.
    """
    if plan.launches_min == plan.launches_max or plan.until != "precise":
        return plan
    if quick:
        return replace(plan, launches_min=suites.QUICK_LAUNCHES)
    return replace(plan, launches_max=suites.DEFAULT_LAUNCHES_MOST) if source is suites.DEFAULT else plan
