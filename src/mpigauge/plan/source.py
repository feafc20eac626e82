"""The base of a plan that options override: a plan file, or one of the built-in suites."""

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


def source_of(
    file: PlanFile | None, options: Options, suite: SuiteName | None, *, quick: bool, thorough: bool
) -> PlanFile:
    """Return the base of a plan: a plan file, with the time asked for, or one of the suites.

    Args:
        file: The user's plan file; None if there is none.
        options: Options that will override the base.
    """
    if suite is not None:
        return suites.SUITES[suite]()
    suite_plan = suites.QUICK if quick else suites.THOROUGH if thorough else suites.DEFAULT
    if file is not None:
        timed = {"budget": suite_plan.budget, "precision": suite_plan.precision, "launches": None}
        return replace(file, **timed) if quick or thorough else file
    names = options.patterns
    plan = replace(suite_plan, title=", ".join(names), measure=(), samples=None) if names else suite_plan
    # The budget of a suite is for intervals; a comparison has its own.
    return replace(plan, budget=None) if options.until == "decided" else plan


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
    return ChosenPlan(with_usual_launches(plan, source), where, per_job)


def names_no_budget(
    plan: Plan, file: PlanFile | None, options: Options, *, quick: bool, thorough: bool
) -> bool:
    """Return whether a plan has the default budget; plans until a comparison is decided have their own.

    Args:
        file: The user's plan file; None if there is none.
    """
    of_file = file.budget if file is not None and not (quick or thorough) else None
    return options.budget is None and of_file is None and plan.until == "precise"


def with_usual_launches(plan: Plan, source: PlanFile) -> Plan:
    """Return a plan with the usual number of launches of its base, unless the user gives a number.

    The default suite ends before its result is large.

    Args:
        source: The base of the plan.
    """
    if plan.launches_min == plan.launches_max or plan.until != "precise":
        return plan
    return replace(plan, launches_max=suites.DEFAULT_MAX_LAUNCHES) if source is suites.DEFAULT else plan
