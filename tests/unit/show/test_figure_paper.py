"""What a figure is on: its width, its title, and what its metadata say to whoever finds the file alone."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from mpigauge import __version__
from mpigauge.query.query import Paper
from mpigauge.show.figures import figure
from tests.unit.show.drawing import query, svg, texts

if TYPE_CHECKING:
    from tests.conftest import Cli

NARROW = ("--kind", "time", "--series", "pingpong shm")
TITLE = "<script>$x^2$</script>\x1b[31m & \N{GREEK SMALL LETTER ALPHA}"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["overview", "time", "ratio", "placements"])
def test_a_narrow_figure_is_narrow_and_nothing_in_it_is_wider(result: Path, kind: str) -> None:
    drawn = figure(query(kind, result, paper=Paper(width_in=3.3)))
    assert drawn.get_figwidth() == pytest.approx(3.3)
    drawn.canvas.draw()
    box = drawn.get_tightbbox()
    assert box is not None
    assert box.width <= 3.4
    labels = [label for label in drawn.axes[-1].get_xticklabels() if label.get_text()]
    assert 2 <= len(labels) <= 7
    assert figure(query(kind, result)).get_figwidth() > 6


@pytest.mark.thorough
def test_a_title_is_text_whatever_is_in_it(result: Path, cli: Cli) -> None:
    svg(cli, result, *NARROW, "--title", TITLE)
    (title,) = [text for text in texts() if "script" in text]
    assert "<script>$x^2$</script>" in title
    assert "\x1b" not in Path("figure.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("width", "sentence"),
    [
        ("3.3", "is not a width"),
        ("wide", "is not a width"),
        ("1in", "out of range"),
        ("3m", "is not a width"),
    ],
)
def test_a_width_that_cannot_be_is_refused(result: Path, cli: Cli, width: str, sentence: str) -> None:
    done = cli("plot", result, "--width", width, "-o", "figure.png")
    assert (done.status, Path("figure.png").exists()) == (2, False)
    assert sentence in done.err


@pytest.mark.thorough
def test_units_of_widths_agree(result: Path, cli: Cli) -> None:
    sizes = []
    for width in ("4in", "101.6mm", "10.16cm"):
        assert cli("plot", result, *NARROW, "--width", width, "-o", "figure.png").status == 0
        with Image.open("figure.png") as image:
            sizes.append(image.size)
    assert len(set(sizes)) == 1


@pytest.mark.thorough
def test_metadata_name_result_command_and_version(result: Path, cli: Cli) -> None:
    folder = Path("secret folder")
    folder.mkdir()
    path = result.rename(folder / "mine.jsonl")
    words = (path.absolute(), *NARROW, "--title", TITLE)
    told: dict[str, str] = {}
    for ending in ("png", "svg", "pdf"):
        assert cli("plot", *words, "-o", f"figure.{ending}").status == 0
    with Image.open("figure.png") as image:
        told["png"] = str(image.info["Description"])
        assert image.info["Software"] == f"mpigauge {__version__}"
    root = ET.parse("figure.svg").getroot()  # noqa: S314 - our own file
    told["svg"] = next(one.text or "" for one in root.iter("{http://purl.org/dc/elements/1.1/}description"))
    pdf = Path("figure.pdf").read_bytes()
    assert f"/Creator (mpigauge {__version__})".encode() in pdf
    assert told["png"] == told["svg"]
    assert "mpigauge plot mine.jsonl --kind time" in told["png"]
    assert told["png"].startswith("mine.jsonl: ")
    assert "secret" not in told["png"]
    assert "\x1b" not in told["png"]


@pytest.mark.thorough
def test_the_same_result_gives_the_same_file_under_any_name(result: Path, cli: Cli) -> None:
    for name in ("one.pdf", "two.pdf"):
        assert cli("plot", result, *NARROW, "-o", name).status == 0
    assert Path("one.pdf").read_bytes() == Path("two.pdf").read_bytes()
