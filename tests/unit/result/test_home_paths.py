"""~ for the home of the user: in what is written, and back in what is run."""

from __future__ import annotations

import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.result.home_paths import command_line, expanded, may_name_home, shell_word, shortened
from mpigauge.result.records import Failure, Launch
from mpigauge.result.writer import line_of
from tests.made import campaign, cell

if TYPE_CHECKING:
    from pathlib import Path

HOME = "/home/ann"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    """The home of a user who does not exist."""
    monkeypatch.setenv("HOME", HOME)


@pytest.mark.parametrize(
    ("whole", "short"),
    [
        ("/home/ann", "~"),
        ("/home/ann/", "~/"),
        ("/home/ann/mpi/bin/mpicc", "~/mpi/bin/mpicc"),
        ("/home/ann//mpi", "~//mpi"),
        ("X=/home/ann/y", "X=~/y"),
        ("/home/ann/a:/opt:/home/ann:/home/ann/b", "~/a:/opt:~:~/b"),
        (
            "gcc -I/home/ann/include -L/home/ann/lib -Wl,-rpath,/home/ann/lib",
            "gcc -I~/include -L~/lib -Wl,-rpath,~/lib",
        ),
        ("--prefix=/home/ann/mpi", "--prefix=~/mpi"),
        ("sh -c 'cd \"/home/ann\" && x'", "sh -c 'cd \"~\" && x'"),
        ("source:'/home/ann/a b.sh' x", "source:'~/a b.sh' x"),
        ("cannot open /home/ann.\nIn /home/ann/x.c:", "cannot open ~.\nIn ~/x.c:"),
        ("\u2018/home/ann/x.c\u2019 (\u201c/home/ann\u201d)", "\u2018~/x.c\u2019 (\u201c~\u201d)"),
        ("file:///home/ann/x", "file://~/x"),
        *((f"{one}/home/ann/x.c:3", f"{one}~/x.c:3") for one in ("\x1b[m\x1b[K", "\x1b[01m", "\x1b[1;31m")),
        ('{"log":"a\\n/home/ann/b\\t/home/ann"}', '{"log":"a\\n~/b\\t~"}'),
        ("/home/ann/home/ann/x", "~/home/ann/x"),
    ],
)
def test_the_home_is_named_by_a_tilde_and_found_by_it(whole: str, short: str) -> None:
    assert shortened(whole) == short == shortened(short)
    assert expanded(short) == whole == expanded(whole)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "/home/annette/x",
            "/home/ann-old",
            "/home/ann.old/x",
            "/home/ann_2",
            "/home/anné",
            "/home/ann~",
            "/home/ann@x",
        ),
        *(
            "/data/home/ann/x",
            "/data/10m/home/ann/x",
            "./home/ann",
            "home/ann",
            "x/home/ann/y",
            "/home",
            "/home/",
            "~bob/x",
            "~ann",
            "a~",
            "a~/b",
        ),
        *("./~/x", "/~/x", "x.c~", "~~/x", "~+", "~-", "${~}x~y", "12%~", "https://example.org/~ann/x", ""),
    ],
)
def test_other_names_stay_as_they_are(text: str) -> None:
    assert shortened(text) == text
    assert expanded(text.replace("${~}", "")) == text.replace("${~}", "")


@pytest.mark.parametrize("home", ["/", "//", "", "home", "."])
def test_without_a_folder_of_ones_own_nothing_is_replaced(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", home)
    for text in ("/", "/usr/bin", "~", "~/x", "/x:/y", "home/x", "./x", ""):
        assert shortened(text) == text == expanded(text)
    assert not may_name_home(b'{"command":["/usr/bin/mpiexec"]}')


def test_a_home_that_is_a_link_is_known_by_both_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, link = tmp_path / "data" / "ann", tmp_path / "ann"
    real.mkdir(parents=True)
    link.symlink_to(real)
    monkeypatch.setenv("HOME", f"{link}/")
    assert shortened(f"{real}/x:{link}/y") == "~/x:~/y"
    assert expanded("~/x") == f"{link}/x"
    assert may_name_home(f'"{real}/x"'.encode())
    assert may_name_home(f'"{link}/x"'.encode())


homes = st.from_regex(r"(/[\w.+\- '\"\\é]*[\w])+", fullmatch=True)
pieces = st.one_of(
    st.sampled_from(
        [
            *"/:=,;'\"()-. \n@",
            "HOME",
            "HOME/x",
            "X=HOME",
            "-I",
            "--opt=",
            "HOMEette",
            "a",
            "é",
            "://",
            "\\",
            "\u2018",
        ]
    ),
    st.text(max_size=4),
)
texts = st.lists(pieces, max_size=8).map("".join)


@given(home=homes, text=texts)
def test_what_was_replaced_comes_back(home: str, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", home)
        # A ~ that was typed is the home from the beginning: see prepare.
        whole = expanded(text.replace("HOME", home))
        short = shortened(whole)
        assert expanded(short) == whole
        assert shortened(short) == short
        line = line_of(Failure(1, "crash", whole))
        assert line == line_of(Failure(1, "crash", short))
        assert not may_name_home(line_of(Failure(1, "crash", f"{home}/x")))


def test_records_have_no_home_at_any_depth() -> None:
    made = Launch(
        1, 1, cell(setting="X=/home/ann/a").job, "", ("/home/ann/k", "-n"), "", "", "", (), None, None, None
    )
    short = shortened(made)
    assert (short.job.setting, short.command) == ("X=~/a", ("~/k", "-n"))
    assert expanded(short) == made
    assert shortened({"/home/ann/x": {"a": None, "b": "/home/ann"}}) == {"~/x": {"a": None, "b": "~"}}
    untouched = campaign(cell())
    assert shortened(untouched) is untouched


@pytest.mark.parametrize(
    "word",
    [
        "/home/ann/a b",
        "/home/ann/it's",
        "/home/ann",
        "X=/home/ann/y:/home/ann",
        "-n",
        "",
        "a b",
        "$x",
        "~bob",
        "a~b",
        "/home/ann/a\nb",
        "\x1b[31m\x7f",
    ],
)
def test_a_shell_finds_the_home_again(word: str) -> None:
    """All of it that a shell puts in place of ~: at the beginning of a word, and in an assignment."""
    line = command_line(["printf", "%s", word])
    assert HOME not in line
    assert line.isprintable()
    said = subprocess.run(["bash", "-c", line], capture_output=True, check=True, text=True)
    assert said.stdout == word


def test_a_word_without_a_home_is_quoted_as_usual() -> None:
    for word in ("a", "a b", "it's", "$HOME", "", "--x=y"):
        assert shell_word(word) == shlex.quote(word)
