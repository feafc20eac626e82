"""tools/goldens.py: what counts as a difference, and that one is found between two commits of a program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import golden_canonical  # noqa: E402
import golden_cases  # noqa: E402
import goldens  # noqa: E402

PROGRAM = """
import json, os, sys

def main(words):
    print(json.dumps({said}))
    open("out.csv", "w").write("size,time\\n8,1\\n")
    print(os.getcwd(), sys.stdout.isatty(), os.environ.get("COLUMNS"), file=sys.stderr)
    sys.exit(5)
"""
ONE, REORDERED, OTHER = "{'a': 1, 'b': [1, 2]}", "{'b': [1, 2], 'a': 1}", "{'a': 1, 'b': [1, 3]}"
CASES = (
    golden_cases.Case("show", ("show x.jsonl",)),
    golden_cases.Case("show", ("show x.jsonl",), width=80),
)


def form(name: str, text: str) -> str:
    return golden_canonical.canonical(name, text.encode(), {"/place/xyz": "<here>"})


class Program:
    """A repository with a program that prints something of ours."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for part in goldens.PARTS:
            (root / part / "mpigauge" / "cli").mkdir(parents=True)
            (root / part / "kept").touch()
        self.git("init", "-q")

    def git(self, *words: str) -> str:
        about = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(self.root))
        return subprocess.run(
            ["git", *about, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    def say(self, said: str) -> None:
        for package in ("mpigauge", "mpigauge/cli"):
            (self.root / "src" / package / "__init__.py").touch()
        (self.root / "src" / "mpigauge" / "cli" / "__init__.py").write_text(PROGRAM.replace("{said}", said))

    def commit(self, said: str) -> str:
        self.say(said)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr(goldens, "ROOT", tmp_path / "root")
    monkeypatch.setattr(goldens, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(goldens, "found_inputs", lambda _: {})
    monkeypatch.setattr(goldens, "lay_out", lambda *_: None)
    monkeypatch.setattr(golden_cases, "cases", lambda _: list(CASES))
    return Program(tmp_path / "root")


def test_a_planted_difference_is_found_and_shown(program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    one, other = program.commit(ONE), program.commit(OTHER)
    assert goldens.main([one, other]) == 1
    said = capfd.readouterr().out
    assert "-b: [1, 2]" in said
    assert "+b: [1, 3]" in said
    assert "== mpigauge COLUMNS=80 show x.jsonl" in said
    assert "2 cases, 2 differ" in said


def test_the_order_of_keys_is_none_and_both_are_run(
    program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    one, other = program.commit(ONE), program.commit(REORDERED)
    assert goldens.main([one, other]) == 0
    assert "2 cases, 0 differ" in capfd.readouterr().out
    assert len(list(goldens.CACHE.iterdir())) == 2


def test_what_a_commit_has_said_is_kept_and_said_again(program: Program) -> None:
    question = goldens.Question(CASES, {}, jobs=1)
    commit = program.commit(ONE)
    first = goldens.said_by(goldens.tree_of(commit), question)
    store = next(goldens.CACHE.iterdir())
    before = store.stat().st_mtime_ns
    assert goldens.said_by(goldens.tree_of(commit), question) == first
    assert store.stat().st_mtime_ns == before
    assert goldens.said_by_both(commit, commit, goldens.Question(CASES, {}, 2, fresh=True)) == (first, first)


def test_streams_status_and_files_are_kept_and_a_case_with_a_width_has_a_terminal(program: Program) -> None:
    said = goldens.said_by(goldens.tree_of(program.commit(ONE)), goldens.Question(CASES, {}))
    piped, shown = (said[case.name] for case in CASES)
    assert piped["status"] == "5"
    assert piped["out.csv"] == "size,time\n8,1"
    assert piped["stderr"] == "<here> False None\n"
    assert shown["stderr"] == "<here> True 80\n"


def test_the_working_tree_is_taken_as_it_is(program: Program) -> None:
    program.commit(ONE)
    assert goldens.main(["HEAD", "WORK"]) == 0
    program.say(OTHER)
    assert goldens.main(["HEAD", "."]) == 1


def test_a_program_that_does_not_run_or_is_not_there_is_no_difference(
    program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    commit = program.commit(ONE)
    assert goldens.main([commit, "nonsense"]) == 2
    assert goldens.main([commit, commit, "--grep", "nonsense"]) == 2
    assert "there is no such case" in capfd.readouterr().err


def test_every_verb_and_every_input_has_cases() -> None:
    inputs = goldens.found_inputs(goldens.ROOT)
    cases = golden_cases.cases(inputs)
    assert {f"version_{number}.jsonl" for number in range(1, 6)} <= inputs.keys()
    assert {name for case in cases for name in case.inputs} >= inputs.keys()
    assert {case.verb for case in cases} >= set(golden_cases.READERS) | {"run", "resume", "usage", "list"}
    assert any(case.quick for case in cases)
    assert len({case.name for case in cases}) == len(cases)


def test_json_is_a_line_per_value_and_a_list_has_no_numbers() -> None:
    said = form("stdout", json.dumps({"b": [{"x": 1.5}, {"x": None}], "a": "/place/xyz/r.jsonl"}))
    assert said.splitlines() == ['a: "<here>/r.jsonl"', "b[]", "b[].x: 1.5", "b[]", "b[].x: null"]


def test_records_are_compared_without_when_and_how_long() -> None:
    one = '{"type":"visit","elapsed_s":0.1,"samples_ns":[1,2]}\n{"torn'
    assert form("r.jsonl", one) == form("r.jsonl", one.replace("0.1", "0.2"))
    assert form("r.jsonl", one) != form("r.jsonl", one.replace("[1,2]", "[1,3]"))
    assert form("r.jsonl", one).endswith('{"torn')


def test_the_last_digits_of_a_long_number_are_none() -> None:
    assert (
        form("stdout", "x 0.05191564089612296")
        == form("stdout", "x 0.05191564089612295")
        == "x 0.0519156408961"
    )
    assert form("stdout", '{"x": 1.23456789e-07}') != form("stdout", '{"x": 1.23456788e-07}')


def test_columns_of_csv_may_change_places_and_numbers_may_not() -> None:
    assert form("o.csv", "a,b\n1,2\n") == form("o.csv", "b,a\n2,1\n") != form("o.csv", "a,b\n2,1\n")


def test_a_page_is_its_text_and_a_drawing_its_text_and_shapes() -> None:
    page = "<h1>A <b>word</b></h1><style>x{}</style><script>f()</script><img alt='Rates'>"
    assert form("p.html", page).splitlines() == ["A", "word", "[alt] Rates"]
    drawing = '<svg><path id="m0123456789" d="M 0 0"/><text>8 B</text></svg>'
    assert form("x.svg", drawing) == form("x.svg", drawing.replace("m0123456789", "m1123456789"))
    assert form("x.svg", drawing) != form("x.svg", drawing.replace("M 0 0", "M 0 1"))
    assert form("x.svg", drawing).startswith("8 B\n")


@pytest.mark.thorough
def test_the_program_itself_says_the_same_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goldens, "CACHE", tmp_path)
    assert goldens.main(["WORK", "WORK", "--fresh", "--grep", "list tables"]) == 0
