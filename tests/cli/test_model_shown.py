"""What `mpigauge model` and `plot --model` show of results whose times follow laws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace

from mpigauge.errors import EXIT_DONE, EXIT_USAGE
from tests.made import ENVIRONMENT, campaign, cell, collective, launches_of, measured, written

if TYPE_CHECKING:
    from mpigauge.plan.model import Cell
    from tests.conftest import Cli

RESULTS = Path(__file__).parents[2] / "docs" / "results"

SIZES = (8, 64, 512, 4096, 32768, 262144)
NUMBERS = range(1, 6)


def message_ns(size: float) -> float:
    return 1000 + size / 5


def law_ns(of: Cell, number: int) -> list[int]:
    """A ping-pong of one line, broadcasts by a binomial tree, reductions by a ring."""
    chance = np.random.default_rng([number, of.bytes, of.ranks])
    steps = (of.ranks - 1).bit_length()
    ring_ns = 2 * (of.ranks - 1) * message_ns(of.bytes / of.ranks)
    one_way_ns = {"bcast": steps * message_ns(of.bytes), "allreduce": ring_ns}.get(
        of.pattern, message_ns(of.bytes)
    )
    calls = 1 if of.sync else 2
    return [round(calls * one_way_ns * float(np.exp(0.01 * chance.normal())))] * 5


def cells_of(ranks: tuple[int, ...]) -> list[Cell]:
    messages = [cell(size=size) for size in SIZES]
    together = [
        collective(name, size, ranks=count)
        for name in ("bcast", "allreduce")
        for count in ranks
        for size in SIZES
    ]
    return [*messages, *together]


def result_of_ranks(*ranks: int, cores: int = 64) -> Path:
    cells = cells_of(ranks)
    first = replace(campaign(*cells), environment=replace(ENVIRONMENT, cores=cores))
    return written("r.jsonl", first, *launches_of(cells, NUMBERS), *measured(cells, NUMBERS, law_ns))


@pytest.mark.thorough
def test_collectives_have_the_name_of_their_algorithm(cli: Cli, machine: Path) -> None:
    path = result_of_ranks(2, 4, 8, 16)
    done = cli("model", path)
    assert done.status == EXIT_DONE, done.err
    assert "binomial tree (error" in done.out
    assert "ring of blocks (error" in done.out
    assert ", next " in done.out
    found = json.loads(cli("model", path, "--format", "json").out)["collectives"]
    best = {one["label"]: one["segments"][0]["algorithms"][0] for one in found}
    assert {one["name"] for one in best.values()} == {"binomial", "ring-of-blocks"}
    assert all(one["error"] < 0.05 for one in best.values())
    assert all(one["factor"]["value"] == pytest.approx(1, abs=0.05) for one in best.values())


def test_a_collective_of_messages_that_are_too_large_is_named(cli: Cli, machine: Path) -> None:
    cells = [one for one in cells_of((2, 4, 8, 16)) if one.pattern != "pingpong" or one.bytes < SIZES[-1]]
    first = replace(campaign(*cells), environment=replace(ENVIRONMENT, cores=64))
    path = written("r.jsonl", first, *launches_of(cells, NUMBERS), *measured(cells, NUMBERS, law_ns))
    text = cli("model", path).out
    said = "messages beyond twice the largest that was measured, so the factor has no interval: bcast"
    assert said in " ".join(text.split())


@pytest.mark.parametrize(("ranks", "cores"), [((2, 4, 8), 64), ((2, 4, 8, 16), 8)])
def test_three_numbers_of_ranks_with_cores_have_none(
    cli: Cli, machine: Path, ranks: tuple[int, ...], cores: int
) -> None:
    """Ranks that share cores show their scheduler, and count for nothing."""
    done = cli("model", result_of_ranks(*ranks, cores=cores))
    assert done.status == EXIT_DONE, done.err
    assert "behaves like" not in done.out
    assert "fewer than 4 numbers of ranks with a core for each, so no algorithm is named: bcast" in done.out


def test_without_messages_no_collective_is_explained(cli: Cli, machine: Path) -> None:
    done = cli("model", result_of_ranks(2, 4, 8, 16), "--series", "bcast")
    assert done.status == EXIT_DONE, done.err
    assert "no model of messages of the same library and place" in done.out


def test_the_break_of_the_curve_of_the_readme_is_found(cli: Cli) -> None:
    """Its rate falls by half beyond 512 KiB, where it has three sizes."""
    done = cli("model", RESULTS / "messages.jsonl.gz", "--series", "pingpong standard", "--format", "json")
    assert done.status == EXIT_DONE, done.err
    (one,) = json.loads(done.out)["curves"]
    kinds = {each["above_bytes"]: each["kind"] for each in one["breaks"]}
    assert kinds[4016] == "eager-limit"
    assert kinds[2**19] == "found"
    assert one["misfit"] < 0.15


# ---- Figures -------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["time", "rate"])
def test_a_model_is_drawn_over_its_points(cli: Cli, machine: Path, kind: str) -> None:
    """Lines of the model alone; a break that was found is a mark."""

    def broken_ns(of: Cell, number: int) -> list[int]:
        return [each * (1 if of.bytes <= 4096 else 3) for each in law_ns(of, number)]

    cells = [cell(size=2**power) for power in range(22)]
    visits = measured(cells, NUMBERS, broken_ns)
    path = written("r.jsonl", campaign(*cells), *launches_of(cells, NUMBERS), *visits)
    done = cli("plot", path, "--kind", kind, "--model", "-o", "figure.svg")
    assert done.status == EXIT_DONE, done.err
    text = (machine / "work" / "figure.svg").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in text for name in ("model-0-0", "model-0-1", "break-0-4096", "points-0"))
    assert 'id="model-0-2"' not in text
    assert 'id="line-0-0"' not in text
    assert "lines: model" in text


def test_other_figures_have_no_place_for_a_model(cli: Cli, machine: Path) -> None:
    done = cli("plot", result_of_ranks(2, 4), "--kind", "mean", "--model", "-o", "figure.svg")
    assert done.status == EXIT_USAGE
    assert "--kind mean does not take --model" in done.err
