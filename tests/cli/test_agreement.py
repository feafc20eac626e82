"""One quantity of one cell is one number on every screen, in every stored result; and so is each word.

The numbers of `show` are taken for given: what they must be is tested where they are made. All else is held
against them, and every ratio against what `compare` says of the same two cells.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge import units
from mpigauge.ask import VERBS, Request
from mpigauge.cli import status_of
from mpigauge.errors import UsageError
from mpigauge.importers import loading
from mpigauge.mpi.kinds import GIVES_WAY
from mpigauge.plan.factors import COMPARED_BY
from mpigauge.plan.model import Cell
from mpigauge.query.query import Query, source_of
from mpigauge.query.series import against_size, pieces_of, rate_point, time_point
from mpigauge.rows.baselines import YARDSTICKS
from mpigauge.rows.rows import rows
from mpigauge.show.figures import KINDS, curves, ratios
from mpigauge.show.figures.ratios import Ratios
from mpigauge.show.report.build import page_of
from mpigauge.show.report.cells import Cells
from mpigauge.stats.decision import MARGIN
from tests.conftest import isolate
from tests.places import DOCS
from tests.printed import FILES
from tests.stored import name_of, stored_results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mpigauge.query.query import Source
    from mpigauge.query.series import Series
    from mpigauge.result.reader import Result
    from mpigauge.rows.rows import Row
    from mpigauge.show.figures.widths import Widths
    from tests.conftest import Cli

RESULTS = [*stored_results(), *FILES]
FACTORS = Cell.__struct_fields__
ENDS = ("estimate", "low", "high")
DASH = "\N{EN DASH}"
TURNED = {"slower": "faster", "faster": "slower", "longer": "shorter", "shorter": "longer"}
PIVOTS = ("times", "rates")
MAX_REPORTED = 130
"""Rows of a result whose page is made here: that of libraries.jsonl takes as long as all others."""

ALL_SERIES = 1 << 20

Key = tuple[object, ...]
Record = dict[str, Any]


def key_of(record: Record, **more: object) -> Key:
    return tuple((record | more)[name] for name in FACTORS)


def cell_key(cell: Cell) -> Key:
    return tuple(getattr(cell, name) for name in FACTORS)


def same(one: float | None, other: float | None, rel: float = 1e-9) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=rel)


def turned(record: Record) -> Record:
    """What is said of (b, a), of what is said of (a, b)."""
    estimate, low, high = (record[name] and 1 / record[name] for name in ENDS)
    return {
        "estimate": estimate,
        "low": high,
        "high": low,
        "verdict": TURNED.get(record["verdict"], record["verdict"]),
    }


class Said:
    """All that is said of one result; each verb is asked once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.result = loading.load(path)

    def text(self, *words: str) -> tuple[int, str]:
        """Exit status and standard output."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = status_of([*words, str(self.path)])
        return status, out.getvalue()

    @functools.cache  # noqa: B019 - as long as the result
    def json(self, *words: str) -> Record:
        """Of a verb that may have nothing to say: then empty."""
        _, out = self.text(*words, "--format", "json")
        found: Record = json.loads(out) if out else {}
        return found

    @functools.cached_property
    def shown(self) -> Record:
        return self.json("show", "--table", "curves")

    @functools.cached_property
    def rows(self) -> dict[tuple[Key, str | None], Record]:
        """By cell and state of the machine."""
        every = (
            self.json("show", "--table", "curves", "--state", "all") if self.shown["states"] else self.shown
        )
        return {(key_of(row), row["state"]): row for row in (*every["rows"], *self.shown["rows"])}

    @functools.cached_property
    def states(self) -> list[str]:
        return sorted({state for _, state in self.rows if state is not None})

    @functools.cached_property
    def comparisons(self) -> dict[str, Record]:
        """By each factor of which the result has several values."""
        cells = [dict(zip(FACTORS, key, strict=True)) for key, _ in self.rows]
        varies = [name for name in COMPARED_BY if len({cell[name] for cell in cells}) > 1]
        found = {name: self.json("compare", "--by", name) for name in varies}
        return {name: one for name, one in found.items() if one}

    @functools.cached_property
    def compared(self) -> dict[tuple[Key, Key, str | None], Record]:
        """What is said of two cells, in either order, in each state of the machine that is shown."""
        found: dict[tuple[Key, Key, str | None], Record] = {}
        for shown in self.comparisons.values():
            for one in (*shown["cells"], *shown["controls"]):
                if one["low"] is not None:
                    pair, mine = (
                        (key_of(one), key_of(one, **one["other"])),
                        one | {"estimate": one["ratio"]},
                    )
                    found[*pair, one["state"]] = mine
                    found[*pair[::-1], one["state"]] = mine | turned(mine)
        return found

    @functools.cached_property
    def explained(self) -> list[Record]:
        found: list[Record] = self.json("explain", "--all")["conclusions"]
        return found

    def of(self, kind: str) -> Iterator[tuple[Record, Record, str | None]]:
        """Of a topic each conclusion: its first cell, its fact, and the state that it is of."""
        for one in self.explained:
            if one["kind"] == kind:
                yield one["cells"][0], one["value"], one["value"].get("state")

    def row(self, cell: Record, state: str | None, **more: object) -> Record:
        """The row that a conclusion is about; its window may be another, or it is of no state."""
        for where in (state, None):
            if (exact := self.rows.get((key_of(cell, **more), where))) is not None:
                return exact
        wanted = key_of(cell, **more, window=0)
        (found,) = (
            row for (_, at), row in self.rows.items() if at == state and key_of(row, window=0) == wanted
        )
        return found


def once(of: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
    """Rows of one result, for all verbs."""
    known: dict[tuple[object, ...], list[Row]] = {}

    def rows_of(result: Result, *asked: Any) -> list[Row]:
        key = (id(result), *asked[:2])
        if key not in known:
            known[key] = of(result, *asked)
        return known[key]

    return rows_of


@pytest.fixture(scope="module", params=RESULTS, ids=name_of)
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Said]:
    known = functools.cache(loading.load)
    with pytest.MonkeyPatch.context() as patch:
        isolate(tmp_path_factory.mktemp("agreement"), patch)
        patch.setattr(loading, "load", known)
        patch.setattr("mpigauge.query.query.rows", once(rows))
        patch.setattr("mpigauge.compare.comparison.rates_of", lambda *_: ())
        yield Said(request.param)


def assert_of_time(record: Record, row: Record) -> None:
    """Value and interval of a time."""
    time = row["time_s"] or dict.fromkeys(ENDS)
    assert [record["value"], record["low"], record["high"]] == [time[name] for name in ENDS], row


def assert_of_rate(
    record: Record, row: Record, names: tuple[str, str, str] = ("value", "low", "high")
) -> None:
    """Bytes over the time; the ends of the interval the other way round."""
    rate, low, high = (record[name] for name in names)
    assert same(rate, row["rate_bytes_per_s"]), row
    if rate is not None and low is not None:
        moved, time = rate * row["time_s"]["estimate"], row["time_s"]
        assert same(low, moved / time["high"]), row
        assert same(high, moved / time["low"]), row


def curves_of(query: Query) -> list[Series]:
    """None of a result without sizes."""
    try:
        return against_size(query, most=ALL_SERIES)
    except UsageError:
        return []


def entries(found: object) -> Iterator[Record]:
    """Values of pivot tables, however deep."""
    if isinstance(found, dict):
        if "quantity" in found and "value" in found:
            yield found
        found = list(found.values())
    if isinstance(found, list):
        for one in found:
            yield from entries(one)


# ---- Numbers of one cell -------------------------------------------------------------------------


def test_an_interval_holds_its_centre_and_its_width_is_half_its_length(said: Said) -> None:
    for row in said.rows.values():
        if (time := row["time_s"]) and time["half_width"] is not None:
            assert time["low"] <= time["estimate"] <= time["high"]
            assert same(1 + time["half_width"], math.sqrt(time["high"] / time["low"]), 1e-6), row


def test_tables_have_the_numbers_of_the_rows(said: Said) -> None:
    for table in PIVOTS:
        for entry in entries(said.json("show", "--table", table).get("tables", [])):
            row = said.rows[key_of(entry), entry["state"]]
            if entry["quantity"] == "time":
                assert_of_time(entry, row)
            elif entry["quantity"] == "rate":
                assert_of_rate(entry, row)


def test_the_answer_quotes_rows(said: Said) -> None:
    for quote in said.shown["answer"]:
        named = {name for name in quote if name in FACTORS}
        rows = [
            row
            for row in said.shown["rows"]
            if all(row[name] == quote[name] for name in named) and quote["state"] in (None, row["state"])
        ]
        match quote["unit"]:
            case "s":
                known = [row["time_s"] and row["time_s"]["estimate"] for row in rows]
            case "B/s":
                known = [row["rate_bytes_per_s"] for row in rows]
            case "1/s":
                known = [row["messages_per_s"] for row in rows]
            case "B":
                known = [row["limit_bytes"] for row in rows]
            case _:
                known = [row[stick]["estimate"] for row in rows for stick in YARDSTICKS if row[stick]]
        assert quote["value"] in known, quote


def test_text_has_the_numbers_of_json(said: Said) -> None:
    _, text = said.text("show", "--all")
    for row in said.shown["rows"]:
        time = row["time_s"]
        if time and row["pattern"] != "null":
            assert units.format_time(time["estimate"]) in text, row


def test_expectations_are_of_the_numbers_that_are_shown(said: Said) -> None:
    rated = {row["pattern"]: bool(row["rate_bytes_per_s"]) for row in said.rows.values()}
    wanted = [f"{pattern} latency < 1s" for pattern in rated]
    wanted += [f"{pattern} bandwidth > 1MB/s" for pattern, rate in rated.items() if rate]
    found = said.json("check", *(word for one in wanted for word in ("--expect", one)))["expectations"]
    assert len(found) > len(wanted) / 2
    for one in found:
        row = said.rows[key_of(one), one["state"]]
        if one["value"] is None:
            assert not row["time_s"] or one["quantity"] == "bandwidth"
        elif one["quantity"] == "latency":
            assert_of_time(one, row)
            assert (one["verdict"] == "holds") == (one["high"] is not None and one["high"] < 1)
        else:
            assert_of_rate(one, row)


def test_a_history_has_the_times_of_the_rows(said: Said) -> None:
    for one in said.json("history").get("cells", []):
        if one["pattern"] and not said.states and one["times_s"] != [None]:
            (time_s,) = one["times_s"]
            assert same(time_s, said.rows[key_of(one), None]["time_s"]["estimate"]), one


def test_a_map_has_the_times_of_the_rows(said: Said) -> None:
    for pair in (said.shown["map"] or {"pairs": []})["pairs"]:
        ranks = "-".join(map(str, pair["ranks"]))
        mine = [row for row in said.shown["rows"] if row["pair"] == ranks and row["time_s"]]
        times = [tuple(row["time_s"][name] for name in ENDS) for row in mine]
        assert tuple(pair[f"latency{end}_s"] for end in ("", "_low", "_high")) in times, pair
        names = ("rate_bytes_per_s", "rate_low_bytes_per_s", "rate_high_bytes_per_s")
        (row,) = (row for row in mine if row["bytes"] == said.shown["map"]["rate_bytes"])
        assert_of_rate(pair, row, names)


QUOTED = re.compile(
    r"([\d.]+) times \(([\d.]+) \S ([\d.]+)\) as long(?: at ([^,;]*B))?, ([^,;]*?) against ([^,;]*),"
)
"""`1.27 times (1.25 - 1.29) as long at 32 B, 131 ns against 103 ns, `."""


# ---- Conclusions ---------------------------------------------------------------------------------


def test_conclusions_have_the_times_of_the_rows(said: Said) -> None:
    for cell, fact, state in said.of("copies"):
        for point in (fact["first"], fact["least"]):
            row = said.row(cell, state, bytes=point["bytes"])
            assert [point["ratio"][name] for name in ENDS] == [row[fact["name"]][name] for name in ENDS]
            assert point["message_s"] == row["time_s"]["estimate"]
    for cell, fact, state in said.of("plateau"):
        for point in (fact["best"], fact["largest"]):
            assert_of_rate(point, said.row(cell, state, bytes=point["bytes"]), ENDS)
    for cell, fact, state in said.of("first"):
        for point in fact["points"]:
            row = said.row(cell, state, bytes=point["bytes"])
            assert point["typical_s"] == row["time_s"]["estimate"]
            assert same(point["first_s"], row["first_s"])
    for cell, fact, state in said.of("ranks"):
        for size in fact["at"]:
            counts = [size["fewest"], *([size["fitting"]] if size["fitting"] else []), *size["crowded"]]
            for one in counts:
                row = said.row(cell, state, bytes=size["bytes"], ranks=one["ranks"])
                assert one["time_s"] == row["time_s"]["estimate"]


def test_what_a_message_costs_in_copies_is_one_sentence_for_all(said: Said) -> None:
    for one in said.explained:
        if one["kind"] == "copies":
            assert one["text"] in said.shown["notes"]
            assert one["details"].startswith(one["text"])


def test_sentences_quote_their_facts(said: Said) -> None:
    for one in said.explained:
        fact = one["value"]
        if {"points", "runs", "factors"} <= fact.keys():
            sizes = {units.format_size(point["bytes"]): point for point in fact["points"]}
            for *ratio, size, other, base in QUOTED.findall(one["text"]):
                point = sizes[size] if size else fact["points"][0]
                assert [float(part) for part in ratio] == pytest.approx(
                    [point["ratio"][name] for name in ENDS], rel=6e-3
                )
                times = [units.format_time(point[name]) for name in ("other_s", "base_s")]
                assert [other, base] == times, one["text"]


# ---- Ratios --------------------------------------------------------------------------------------


def test_a_conclusion_says_of_two_cells_what_compare_says(said: Said) -> None:
    for one in said.explained:
        fact = one["value"]
        if not {"points", "runs", "factors"} <= fact.keys():
            continue
        base, other = one["cells"][:2]
        for run in fact["runs"]:
            for point in run["at"]:
                assert point["verdict"] == run["verdict"] == point["ratio"]["verdict"]
        for point in fact["points"]:
            size = point["bytes"]
            for cell, name in ((base, "base_s"), (other, "other_s")):
                assert point[name] == said.row(cell, fact["state"], bytes=size)["time_s"]["estimate"]
            known = said.compared.get((key_of(base, bytes=size), key_of(other, bytes=size), fact["state"]))
            if known is not None:  # of one factor alone, and of launches enough for a verdict
                assert all(same(point["ratio"][name], known[name]) for name in ENDS), (point, known)
                assert point["verdict"] == known["verdict"], (point, known)


def test_the_first_lines_of_an_answer_say_what_explain_and_compare_say(said: Said) -> None:
    text = " ".join(said.text("show")[1].split())
    known: dict[Any, Any] = {}
    for one in said.explained:
        # Of more than two values each is told at one size, as the table and `compare` have it.
        points = (
            {**point["ratio"], "sizes_bytes": [point["bytes"]]} for point in one["value"].get("points", ())
        )
        of_one_size = [{**point, "pooled": point} for point in points]
        for piece in (*of_one_size, *one["value"].get("pieces", ())):
            both = (key_of(cell, bytes=piece["sizes_bytes"][0]) for cell in one["cells"][:2])
            known[*both, one["value"]["state"], tuple(piece["sizes_bytes"])] = piece
    for line in said.json("show").get("headline", ()):
        assert line["text"] in text
        for ratio in line["ratios"]:
            pair = key_of(ratio["base"]), key_of(ratio["other"]), ratio["state"]
            sizes = tuple(ratio["sizes_bytes"])
            explained = known[*pair, sizes] if line["factor"] != "ranks" else {**ratio, "pooled": ratio}
            assert ratio["verdict"] == explained["verdict"], pair
            alone = said.compared.get(pair, ratio) if len(sizes) == 1 else ratio
            for found in (explained["pooled"], alone):
                assert all(same(ratio[name], found[name]) for name in ENDS), pair


def test_a_figure_draws_what_compare_says(said: Said) -> None:
    for kind, of in (("ratio", lambda _, found: ratios.to_first(found)), ("time", ratios.like_with_like)):
        query = Query(KINDS[kind], [source_of(said.result, "median")])
        if not (series := curves_of(query)):
            continue
        shown = of(query, series)
        for one, base, pieces in zip(shown.series, shown.bases, shown.pieces, strict=True):
            rows_ = [{row.cell.bytes: row for row in side.rows} for side in (base, one) if side is not None]
            for point in (point for piece in pieces for point in piece):
                under, over = (side[int(point.x)] for side in rows_)
                known = said.compared.get((cell_key(under.cell), cell_key(over.cell), over.state))
                if known is not None and under.state == over.state:
                    assert all(map(same, point[1:], (known[name] for name in ENDS))), (point, known)


def test_figures_draw_the_numbers_of_the_rows(said: Said) -> None:
    query = Query(KINDS["time"], [source_of(said.result, "median")])
    for one in curves_of(query):
        for point_of, field in ((time_point, "time_s"), (rate_point, "rate_bytes_per_s")):
            points = {point.x: point for piece in pieces_of(one, point_of) for point in piece}
            for row in one.rows:
                if (point := points.get(row.cell.bytes)) is None:
                    continue
                known = said.rows[cell_key(row.cell), row.state]
                if field == "time_s":
                    assert [*point[1:]] == [known["time_s"][name] for name in ENDS]
                else:
                    assert_of_rate(dict(zip(ENDS, point[1:], strict=True)), known, ENDS)


def test_compare_has_one_rule_for_its_words_and_one_margin(said: Said) -> None:
    for shown in said.comparisons.values():
        assert shown["margin"] == MARGIN
        for one in (*shown["cells"], *shown["controls"]):
            if one["low"] is None:
                assert one["verdict"] == "undecided"
                continue
            assert one["low"] <= one["ratio"] <= one["high"]
            for key, name in ((key_of(one), "base_s"), (key_of(one, **one["other"]), "other_s")):
                row = said.rows.get((key, one["state"])) or said.rows[key, None]
                assert one[name] == row["time_s"]["estimate"]
            away = abs(math.log(one["ratio"])) >= math.log1p(MARGIN)
            if one["verdict"] == "slower":
                assert one["low"] > 1
                assert away
            if one["verdict"] == "faster":
                assert one["high"] < 1
                assert away
            if one["small"]:
                assert not away


def test_times_do_not_contradict_the_ratio_beside_them(said: Said) -> None:
    for shown in said.comparisons.values():
        for one in (one for one in shown["cells"] if one["low"] is not None):
            quotient = one["other_s"] / one["base_s"]
            if one["verdict"] in TURNED:
                assert (quotient > 1) == (one["verdict"] == "slower")


def test_compare_says_of_a_state_that_is_chosen_what_it_says_of_each(said: Said) -> None:
    for factor, shown in said.comparisons.items():
        for state in {one["state"] for one in shown["cells"]} - {None}:
            chosen = said.json("compare", "--by", factor, "--state", state)
            known = {
                (key_of(one), key_of(one, **one["other"])): one
                for one in chosen["cells"]
                if one["state"] == state
            }
            for one in (one for one in shown["cells"] if one["state"] == state):
                alone = known[key_of(one), key_of(one, **one["other"])]
                assert alone["verdict"] == one["verdict"]
                assert all(same(alone[name], one[name]) for name in ("ratio", "low", "high"))


def test_text_of_compare_has_its_words_and_counts(said: Said) -> None:
    for factor, shown in said.comparisons.items():
        _, text = said.text("compare", "--by", factor, "--all")
        lines = text.splitlines()
        counted = Counter(one["said"].partition(",")[0] for one in shown["cells"])
        counted["the same"] = counted.pop("no difference", 0)
        if "imported" in counted:
            continue
        moved = {"slower": "longer", "faster": "shorter"} if shown["verdict"] == "machine" else {}
        for word in (moved.get(one, one) for one in ("slower", "faster", "the same")):
            told = (f"{counted[word]} {word}", f"{word}: {counted[word]} of")
            assert any(each in lines[0] for each in told) or not shown["cells"], (lines[0], counted)
        for one in shown["cells"]:
            if one["low"] is not None:
                ratio, low, high = (units.format_factor(one[name]) for name in ("ratio", "low", "high"))
                words = f"{ratio} ({low} {DASH} {high})"
                assert any(words in line and line.endswith(one["said"]) for line in lines), (words, one)


def test_runs_of_sizes_say_of_what_they_are(said: Said) -> None:
    for factor, shown in said.comparisons.items():
        lines = said.text("compare", "--by", factor)[1].splitlines()
        told = [line for line in lines if " together: " in line]
        assert len(told) == len(shown["together"])
        sides = len({json.dumps(one["other"]) for one in shown["cells"]})
        for line, one in zip(told, shown["together"], strict=True):
            ratio, low, high = (units.format_factor(one[name]) for name in ("ratio", "low", "high"))
            assert f"{ratio} ({low} {DASH} {high}) times as long" in line
            assert line.startswith(f"{one['verdict']} together: {one['pattern']} ")
            assert sides == 1 or any(str(each) in line for each in one["other"].values()), line


def test_guidelines_have_the_times_of_the_rows(said: Said) -> None:
    """Where there were several states of the machine, a guideline is of all of them together."""
    found = said.json("check", "--guidelines") if not said.states else {}
    for one in (one for records in found.values() if isinstance(records, list) for one in records):
        if "against_s" in one:
            time = said.rows[key_of(one), None]["time_s"]
            assert one["time_s"] == (time and time["estimate"])
            if one["ratio"] is not None:
                assert one["low"] <= one["ratio"] <= one["high"]


# ---- The report ----------------------------------------------------------------------------------


def test_a_report_has_the_numbers_of_the_rows_and_the_ratios_of_compare(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pictures, models and sentences, which take most time."""
    if len(said.rows) > MAX_REPORTED:
        return
    monkeypatch.setattr("mpigauge.show.report.build._models", lambda _: None)
    monkeypatch.setattr("mpigauge.show.report.build._conclusions", lambda *_: [])
    monkeypatch.setattr("mpigauge.show.report.pictures.fit.fit", lambda _: None)
    monkeypatch.setattr("mpigauge.show.report.pictures.inline", lambda *_, **__: "")
    named: dict[int, Row] = {}
    number = Cells.number

    def numbered(self: Cells, source: Source, row: Row) -> int:
        found = number(self, source, row)
        named[found] = row
        return found

    found_ratios: list[Ratios] = []

    def below(*words: Any) -> Ratios | Widths | None:
        found = curves.below(*words)
        found_ratios.extend([found] if isinstance(found, Ratios) else [])
        return found

    monkeypatch.setattr(Cells, "number", numbered)
    monkeypatch.setattr("mpigauge.show.report.curves.below", below)
    request = Request(VERBS["report"])
    query = request.query([said.result])
    each = request.all_states(query)
    page = page_of(query, each, GIVES_WAY)
    charts = [each.chart for section in page.sections for each in section.charts if each.chart is not None]
    for curve in (curve for chart in charts if chart.quantity == "time" for curve in chart.curves):
        for cell, point in zip(curve.cells, curve.points, strict=bool(curve.cells)):
            time = said.rows[cell_key(named[cell].cell), named[cell].state]["time_s"]
            assert all(same(of, time and time[name]) for name, of in zip(ENDS, point[1:], strict=True))
    for over in found_ratios:
        for one, base, pieces in zip(over.series, over.bases, over.pieces, strict=True):
            tops = {row.cell.bytes: row for row in one.rows}
            bottoms = {row.cell.bytes: row for row in base.rows} if base else {}
            for point in (point for piece in pieces for point in piece):
                top, bottom = tops[int(point.x)], bottoms[int(point.x)]
                known = said.compared.get((cell_key(bottom.cell), cell_key(top.cell), top.state))
                if known is not None and top.state == bottom.state:
                    pairs = zip(ENDS, point[1:], strict=True)
                    assert all(same(of, known[name], 1e-3) for name, of in pairs), known


# ---- Two results ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "other"), [("fast-gigabit", "pairs"), ("modes-lan", "modes")])
def test_what_is_said_of_two_results_is_the_inverse_the_other_way_round(
    cli: Cli, one: str, other: str
) -> None:
    paths = [DOCS / "results" / f"{name}.jsonl.gz" for name in (one, other)]
    there, back = (
        json.loads(cli("compare", *order, "--force", "--format", "json").out)
        for order in (paths, paths[::-1])
    )
    known = {(key_of(each, **each["other"]), key_of(each)): each for each in back["cells"]}
    assert len(known) == len(there["cells"]) > 0
    for each in there["cells"]:
        mirror = known[key_of(each), key_of(each, **each["other"])]
        expected = turned(mirror | {"estimate": mirror["ratio"]})
        assert same(each["ratio"], expected["estimate"])
        assert same(each["low"], expected["low"], 1e-6)
        assert same(each["high"], expected["high"], 1e-6)
        assert each["verdict"] == expected["verdict"]
    assert {(each["side"], key_of(each)) for each in there["unmatched"]} == {
        ("other" if each["side"] == "base" else "base", key_of(each)) for each in back["unmatched"]
    }
