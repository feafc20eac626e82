"""The doctor on a terminal and in every other form: what it found is grouped, marked and summed up."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from mpigauge.doctor import table as doctor_table
from mpigauge.doctor.table import DoctorFinding
from mpigauge.show import formats
from mpigauge.show.formats.terminal import render
from tests.unit.show.console import console

repeatable = settings(derandomize=True, deadline=None)
FINDINGS = {
    "MPI": [
        DoctorFinding("ok", "MPI library", "Open MPI 5.0.11, /opt/" + 40 * "x" + "/bin/mpicc (PATH)"),
        DoctorFinding("ok", "C compiler", "/usr/bin/cc"),
    ],
    "what may disturb": [DoctorFinding("note", "load", "8.40", "other work runs here: wait for it")],
}


def summary(*findings: DoctorFinding) -> str:
    """The last line of the doctor."""
    return doctor_table.document({"all": findings}, {}).foot[-1].text


@given(width=st.integers(40, 160), encoding=st.sampled_from(["utf-8", "ascii"]))
@repeatable
def test_the_doctor_fits(width: int, encoding: str) -> None:
    lines = render(doctor_table.document(FINDINGS, {}), console(width, encoding)).splitlines()
    assert max(map(cell_len, lines)) <= width
    squeezed = re.sub(r"\s+", "", "".join(lines))
    for group in FINDINGS.values():
        for one in group:
            for words in (one.what, one.value, one.remedy):
                assert re.sub(r"\s+", "", words) in squeezed


def test_the_doctor_groups_marks_and_sums_up() -> None:
    lines = render(doctor_table.document(FINDINGS, {}), console(120)).splitlines()
    assert [line for line in lines if line and line[0] != " "][:-1] == ["MPI", "what may disturb"]
    states = {words[1]: words[0] for line in lines if len(words := re.split(r" {2,}", line.strip())) > 2}
    assert states == {"MPI library": "ok", "C compiler": "ok", "load": "note"}
    assert lines[-1] == "ready to measure: 1 library; 1 note"


def test_the_summary_names_what_is_missing() -> None:
    lacking = [DoctorFinding("lacks", "MPI library", "none"), DoctorFinding("lacks", "C compiler", "none")]
    assert summary(*lacking) == "not ready to measure: MPI library and C compiler missing"
    three = [DoctorFinding("ok", "MPI library", str(number)) for number in range(3)]
    assert summary(*three) == "ready to measure: 3 libraries; no problems found"


def test_the_plain_form_of_the_doctor_is_for_grep() -> None:
    lines = formats.render(doctor_table.document(FINDINGS, {}), "text").splitlines()
    findings = [one for group in FINDINGS.values() for one in group]
    assert len([line for line in lines if re.match(r" *(ok|note|lacks) +", line)]) == len(findings)


@pytest.mark.parametrize("form", formats.GENERAL)
def test_every_format_serves_the_doctor(form: str) -> None:
    text = formats.render(doctor_table.document(FINDINGS, {"cores": 2}), form)
    for group in FINDINGS.values():
        assert all(one.what in text and one.value in text and one.remedy in text for one in group)
