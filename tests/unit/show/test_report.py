"""The page of a report: what is in it, that its parts fit, and that names of strangers are text in it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace as replace_fields
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mpigauge.document.plain_signs import printable_lines
from mpigauge.errors import UsageError
from mpigauge.result import reader
from mpigauge.result.provenance import LibraryRecord
from mpigauge.result.records import Blocked, Done, End
from mpigauge.show.chart import Chart
from mpigauge.show.report import build, render, words
from mpigauge.show.report.page import (
    Entry,
    Heading,
    Key,
    Page,
    Picture,
    ReportLine,
    ReportTable,
    Section,
    Sentence,
    side_by_side,
)
from mpigauge.show.report.sections import SECTIONS
from mpigauge.units import format_factor, format_time
from tests.made import campaign, cell, launches_of, measured, result_of
from tests.reported import (
    EVIL,
    LAUNCHES,
    SIZES,
    Seen,
    changing,
    made,
    mapped,
    page,
    rich,
    samples_ns,
    seen,
)
from tests.stored import stored_results

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mpigauge.result.records import Record

MOST_BYTES = 900_000
LINKS = ("src", "href", "action", "data", "srcset", "poster", "background")


@pytest.fixture(scope="module")
def whole() -> Page:
    return made(rich())


@pytest.fixture(scope="module")
def parsed(whole: Page) -> Seen:
    return seen(whole)


@pytest.mark.thorough
def test_the_answer_has_a_picture_and_numbers_come_before_what_is_said_of_them(whole: Page) -> None:
    """Of modes, since charts of latency and bandwidth have one curve each."""
    names = [section.name for section in whole.sections]
    assert names[:3] == ["answer", "modes", "latency"]
    assert [picture.name for picture in section_of(whole, "answer").charts] == ["modes-0"]
    assert names[2:] == [name for name in SECTIONS if name in names[2:]]
    assert names.index("memory") < names.index("conclusions") < names.index("doubts") < names.index("models")
    assert names[-1] == "provenance"
    assert [section.name for section in whole.sections if section.whole_folded] == ["provenance"]
    assert len(section_of(whole, "conclusions").sentences) == 3
    assert section_of(whole, "conclusions").more
    assert {"answer", "provenance", "latency", "modes", "collectives", "memory", "comparison"} < {*names}
    assert {"models", "doubts", "failures", "reading"} < {*names}
    assert not {"map", "states"} & {*names}
    assert SECTIONS.keys() == words.TITLES.keys()


def test_every_number_of_a_chart_is_in_its_table(whole: Page) -> None:
    charts = [picture for section in whole.sections for picture in section.charts if picture.chart]
    found = [chart for chart in charts if chart.chart and chart.chart.quantity in ("time", "rate")]
    assert found
    for chart in found:
        assert chart.chart is not None
        drawn, below = (
            {number for curve in curves for number in curve.cells}
            for curves in (chart.chart.curves, chart.chart.below)
        )
        assert drawn
        assert drawn <= cells_in(numbers_of(whole, chart))
        assert chart.table is None or drawn | below <= cells_in(chart.table)


def cells_in(table: ReportTable) -> set[int]:
    return {number for line in table.lines for number in line.cells}


def numbers_of(page: Page, chart: Picture) -> ReportTable:
    """The numbers of a chart, which stand in the section that it was moved from with the answer."""
    grids = (grid for section in page.sections for grid in section.grids if grid.title == chart.title)
    return chart.numbers or next(grids)


def test_numbers_of_several_curves_are_a_line_per_size_with_their_intervals(whole: Page) -> None:
    table = numbers_of(whole, picture_of(whole, "modes-0"))
    assert [heading.text for heading in table.headings[1:]] == ["standard", "synchronous"]
    assert [line.entries[0].text for line in table.lines] == ["0 B", "8 B", "512 B", "64 KiB", "1 MiB"]
    (time, sure) = table.lines[1].entries[1].text.split("\n")
    point = points_of(picture_of(whole, "modes-0").drawings[0])[1]
    assert f"latency, one way: {time}\n" in said_by(point)
    assert re.fullmatch(r"\N{PLUS-MINUS SIGN}[\d.]+ %( \*)?", sure)
    assert all(len(line.cells) == 2 for line in table.lines)


TYPED = re.compile("--[a-z]|mpigauge [a-z]")
"""An option or a command."""


@pytest.mark.parametrize("records", [rich, changing, mapped], ids=lambda one: one.__name__)
def test_options_and_commands_stand_in_the_last_section_alone(records: Callable[[], list[Record]]) -> None:
    found = seen(made(records()))
    assert not TYPED.search(found.told)
    last = found.text.removeprefix(found.told)
    assert "mpigauge report " in last
    assert "mpigauge run PLAN" in last


@pytest.mark.parametrize("path", stored_results(), ids=lambda path: path.name.partition(".")[0])
def test_no_page_of_a_stored_result_tells_its_reader_what_to_type(path: Path) -> None:
    told = seen(page(reader.load(path))).told
    assert len(told) > 1000
    assert not TYPED.search(told)


def test_what_would_deadlock_is_planned_and_no_failure() -> None:
    blocked = [cell("exchange", size, "blocking") for size in (8192, 16384)]
    sent = cell("exchange", 8, "blocking")
    records: list[Record] = [
        campaign(sent, *blocked),
        *launches_of([sent], LAUNCHES),
        *measured([sent], LAUNCHES, samples_ns),
        *(Blocked(1, 900 + i, of, found=True, limit_bytes=4000) for i, of in enumerate(blocked)),
        *(Done(number, sent.job, 1.5) for number in LAUNCHES),
        End("launches", 9.0, "2026-01-01T00:00:00+00:00"),
    ]
    one = made(records)
    (sentence,) = section_of(one, "planned").sentences
    assert sentence.text == ("exchange from 8 KiB on: would deadlock, as planned; the eager limit is 4000 B")
    assert len(sentence.cells) == len(blocked)
    assert "failures" not in {section.name for section in one.sections}


def picture_of(page: Page, name: str) -> Picture:
    (found,) = (picture for section in page.sections for picture in section.charts if picture.name == name)
    return found


def section_of(page: Page, name: str) -> Section:
    (found,) = (section for section in page.sections if section.name == name)
    return found


def points_of(drawing: str) -> list[ET.Element]:
    """The marks of a drawing that say something."""
    return [one for one in ET.fromstring(drawing).iter("use") if one.find("title") is not None]  # noqa: S314 - ours


def said_by(point: ET.Element) -> str:
    return str(point.findtext("title"))


def test_every_point_says_size_value_interval_and_launches(whole: Page) -> None:
    (picture,) = section_of(whole, "latency").charts
    assert picture.chart is not None
    (drawing,) = picture.drawings
    points = points_of(drawing)[: len(SIZES)]  # and as many below, of the widths of the intervals
    assert len(points) == len(picture.chart.points) == len(SIZES)
    assert [said_by(point).split("\n")[0] for point in points] == [
        f"pingpong, standard, {size}" for size in ("0 B", "8 B", "512 B", "64 KiB", "1 MiB")
    ]
    for point, curve_point in zip(points, picture.chart.points, strict=True):
        assert whole.cells[int(point.attrib["data-c"])].cell.bytes == curve_point.x
        value, interval, launches, samples = said_by(point).split("\n")[1:5]
        assert value == f"latency, one way: {format_time(curve_point.y)}"
        assert interval.startswith("95 % interval: ")
        assert launches == f"launches: {len(LAUNCHES)}, {20 * len(LAUNCHES)} samples"
        assert samples.startswith("samples: min ")
    assert Seen(drawing).names <= {*("svg", "g", "path", "use", "title", "defs", "text", "clippath", "rect")}


def test_a_point_says_what_is_doubtful_about_it() -> None:
    few = [cell(size=size) for size in SIZES[1:]]
    two = range(1, 3)
    records: list[Record] = [campaign(*few), *launches_of(few, two), *measured(few, two, samples_ns)]
    picture = picture_of(made(records), "latency-0")
    assert all("doubts: " in said_by(point) for point in points_of(picture.drawings[0]))


def test_each_curve_has_its_key_and_its_parts(whole: Page) -> None:
    for section in whole.sections:
        for picture in section.charts:
            assert picture.chart is not None
            root = ET.fromstring(picture.drawings[0])  # noqa: S314 - ours
            parts = {one.attrib["data-k"] for one in root.iter() if "data-k" in one.attrib}
            assert parts == {str(number) for number in range(len(picture.keys))}
            assert [key.label for key in picture.keys] == [curve.label for curve in picture.chart.curves]


def test_sentences_name_cells_that_there_are(whole: Page) -> None:
    found = [one for section in whole.sections for one in (*section.sentences, *section.more)]
    assert any(one.cells for one in found)
    assert all(0 <= number < len(whole.cells) for one in found for number in one.cells)


def test_a_conclusion_rests_on_all_sizes_of_both_curves(whole: Page) -> None:
    (said,) = (
        one
        for section in whole.sections
        if section.name == "conclusions"
        for one in (*section.sentences, *section.more)
        if one.text.startswith("pingpong: MPI_Ssend takes ")
    )
    sizes = sorted(whole.cells[number].cell.bytes for number in said.cells)
    assert sizes == sorted([*SIZES, *SIZES])


def test_the_ratio_to_a_mode_is_the_simulated_one(whole: Page) -> None:
    charts = [chart for section in whole.sections for chart in section.charts]
    (picture,) = (chart for chart in charts if chart.name == "modes-0")  # it stands with the answer
    assert picture.chart is not None
    base, other = picture.chart.below
    assert base.points == []
    assert len(other.points) == len(SIZES)
    for point, words_of_it in zip(other.points, other.texts, strict=True):
        assert point.low is not None
        assert point.high is not None
        assert point.low <= point.y <= point.high
        assert point.y == pytest.approx(1.5, rel=0.03)
        assert f"times as long as standard: {format_factor(point.y)}" in words_of_it


def test_names_of_elements_are_unique_and_links_lead_somewhere(parsed: Seen) -> None:
    names = [attributes["id"] for _, attributes in parsed.elements if attributes.get("id")]
    assert len({*names}) == len(names)
    for _, attributes in parsed.elements:
        assert (attributes.get("href") or "#answer")[0] == "#"
        assert (attributes.get("href") or "#answer")[1:] in names
    used = re.findall(r"url\(#([^)]+)\)", str(parsed.elements))
    assert {*used} <= {*names}


def test_headings_descend_one_by_one_and_tables_have_headers(parsed: Seen) -> None:
    levels = [int(name[1]) for name, _ in parsed.elements if re.fullmatch(r"h[1-6]", name)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert {attributes["scope"] for name, attributes in parsed.elements if name == "th"} <= {
        "col",
        "row",
        "rowgroup",
    }


def test_nothing_is_asked_for_from_outside(parsed: Seen) -> None:
    for _, attributes in parsed.elements:
        for name in LINKS:
            assert (attributes.get(name) or "#")[0] == "#", attributes
    assert "link" not in parsed.names
    assert not re.search(r"@import|url\((?!#|\")", render._text(render.LOOK))


def test_only_the_scripts_of_the_page_may_run(parsed: Seen) -> None:
    (policy,) = (
        attributes["content"] or ""
        for name, attributes in parsed.elements
        if name == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    scripts = [text for kind, text in parsed.scripts if not kind]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts}
    assert len(scripts) == 1
    assert "default-src 'none'" in policy
    assert {*re.findall(r"'sha256-([^']+)'", policy)} == hashes
    assert "unsafe-eval" not in policy
    assert not [name for _, each in parsed.elements for name in each if name.startswith("on")]


@pytest.mark.thorough
def test_five_hundred_cells_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without models and a comparison, which take long."""
    monkeypatch.setattr(build, "models_of", _nothing)
    monkeypatch.setattr(build, "compare_sources", _nothing)
    cells = [cell(size=8 * size, mode=mode) for size in range(1, 126) for mode in MODES]
    records: list[Record] = [campaign(*cells), *launches_of(cells, LAUNCHES)]
    text = render.render(made([*records, *measured(cells, LAUNCHES, samples_ns)]))
    assert len(cells) == 500
    assert len(text.encode()) <= MOST_BYTES


def _nothing(*_: object) -> None:
    raise UsageError("nothing")


MODES = ("standard", "synchronous", "buffered", "nonblocking")


# ---- Names of strangers --------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30) | st.sampled_from(
    [
        EVIL,
        "</script>",
        "<!--<script>",
        "]]>",
        "{{ 7*7 }}",
        "\u2028",
        "&amp;",
        "a\"b'c",
        "<svg/onload=alert(1)>",
    ]
)


def model_of(name: str) -> Page:
    """A page in which all that a stranger may name is called so."""
    grid = ReportTable(
        name,
        name,
        [Heading(name, words=True), Heading(name)],
        [ReportLine([Entry(name), Entry(name)], (0,))],
        [name],
        name,
    )
    keys = [Key(name, 0, "o"), Key("b", 1, "X")]
    charts = [Picture(each, name, name, ["<svg></svg>"], keys, grid, notes=[name]) for each in ("one", "two")]
    section = Section(
        "answer", "Answer", [name], [Sentence(name, cells=(0,))], [Sentence(name)], charts, [grid], [grid]
    )
    return Page(name, [name], [section], [("", name), (name, name)], made="made")


USUAL = seen(model_of("usual"))


@pytest.mark.thorough
@given(name=NAMES)
def test_names_are_text_and_never_markup(name: str) -> None:
    found = seen(model_of(name))
    assert [one for one, _ in found.elements] == [one for one, _ in USUAL.elements]
    assert [{*each} for _, each in found.elements] == [{*each} for _, each in USUAL.elements]
    assert len(found.scripts) == len(USUAL.scripts) == 1
    shown = " ".join(printable_lines(name).split())
    assert " ".join(found.text.split()).count(shown) >= " ".join(USUAL.text.split()).count("usual")


def named(name: str) -> list[Record]:
    """A small result in which everything that a stranger may name is called so."""
    cells = [cell(size=size, mpi_version=name, placement=name) for size in SIZES[1:]]
    first = campaign(*cells, title=name)
    first = replace(
        first,
        environment=replace(
            first.environment, host=name, cpu=name, governor=name, variables={"OMPI_X": name}
        ),
        libraries=(LibraryRecord(name="openmpi", version=name, origin=name, show=name, label=name),),
    )
    launches = [
        replace(one, library=name, reported=name, command=(name,)) for one in launches_of(cells, LAUNCHES)
    ]
    return [first, *launches, *measured(cells, LAUNCHES, samples_ns)]


@pytest.mark.thorough
def test_names_of_a_result_are_text_in_the_page_and_its_pictures() -> None:
    found = seen(made(named(EVIL)))
    assert not {"img", "b"} & found.names
    assert len(found.scripts) == 1
    assert EVIL in found.text


# ---- States, several results ---------------------------------------------------------------------


@pytest.mark.thorough
def test_each_state_has_its_curves_of_which_one_is_shown() -> None:
    one = made(changing())
    assert [value for value, _ in one.variants] == ["", "cores near", "cores far", "all"]
    picture = picture_of(one, "latency-0")
    assert [(key.variant, key.hidden) for key in picture.keys] == [("cores near", False), ("cores far", True)]
    parts = [each for each in ET.fromstring(picture.drawings[0]).iter() if "data-k" in each.attrib]  # noqa: S314 - ours
    assert {each.attrib["data-k"] for each in parts if "hidden" in each.attrib} == {"1"}
    assert {each.attrib["data-k"] for each in parts if "hidden" not in each.attrib} == {"0"}
    assert "states" in {section.name for section in one.sections}


@pytest.mark.thorough
def test_two_results_are_compared_or_it_is_said_why_not() -> None:
    first, second = (result_of(*changing()) for _ in range(2))
    second.path = second.path.with_name("other.jsonl")
    both = page(first, second)
    (section,) = (section for section in both.sections if section.name == "comparison")
    assert section.lead
    assert section.folded
    assert any(one.link == "comparison" for one in both.sections[0].sentences)
    other = replace(second.campaign, environment=replace(second.campaign.environment, cpu="Another CPU"))
    second.campaign = other
    (section,) = (section for section in page(first, second).sections if section.name == "comparison")
    assert section.sentences[0].text.startswith(words.NOTHING_COMPARED)
    assert "Another CPU" in section.sentences[0].text


@pytest.mark.thorough
def test_the_answer_has_a_verdict_on_modes_only_if_it_was_asked_for() -> None:
    """Modes differ anyway: red above all numbers would say that something is wrong."""
    rich_one = result_of(*rich())
    for by, links in ((None, []), ("mode", ["comparison"])):
        one = page(rich_one, by=by)
        assert [said.link for said in one.sections[0].sentences if said.link] == links
        (section,) = (section for section in one.sections if section.name == "comparison")
        tones = {entry.tone for grid in section.grids for line in grid.lines for entry in line.entries}
        assert ("bad" in tones) == bool(links)


def test_the_first_picture_is_of_messages_where_their_charts_compare_something() -> None:
    places = [cell(size=size, placement=place) for place in ("h1,h2", "h1,h3") for size in SIZES[1:]]
    records: list[Record] = [campaign(*places), *launches_of(places, LAUNCHES)]
    one = made([*records, *measured(places, LAUNCHES, samples_ns)])
    assert [section.name for section in one.sections][:4] == ["answer", "latency", "bandwidth", "conclusions"]
    assert [section.name for section in one.sections if section.half] == ["latency", "bandwidth"]


def test_narrow_tables_of_two_sections_stand_beside_each_other_and_a_lone_chart_has_its_table() -> None:
    narrow, wide = (
        ReportTable(
            "t", "", [Heading("", words=True), Heading("time")], [ReportLine([Entry("a"), Entry(text)])]
        )
        for text in ("1 ns", 100 * "1")
    )
    broken = replace_fields(wide, lines=[ReportLine([Entry("a"), Entry(f"{60 * '1'}\n{60 * '1'}")])])
    assert [table.is_wide for table in (narrow, wide, broken)] == [False, True, False]
    small, large = (Section("s", "one table", grids=[table]) for table in (narrow, wide))
    halves = side_by_side([small, small, small, large])
    assert [section.half for section in halves] == [True, True, False, False]
    chart = Picture("c", "a chart", "", ["<svg></svg>"], chart=Chart([], "share", ""))
    assert Section("s", "charts", charts=[chart]).has_lone_chart
    assert not Section("s", "charts", charts=[chart, chart]).has_lone_chart
    assert not Section("s", "charts", charts=[replace_fields(chart, numbers=narrow)]).has_lone_chart


def test_notes_within_a_chart_are_known_as_text(whole: Page) -> None:
    (picture,) = section_of(whole, "latency").charts
    assert picture.notes == ["eager limit 4000 B"]


def test_numbers_with_neighbours_are_written_as_runs() -> None:
    assert render.runs([3, 9, 7, 8, 3]) == "3 7-9"
    assert render.runs([]) == ""
