"""Makes what the pages show of the stored results: figures, tables and conclusions. `make docs` runs it.

Runs the commands that the pages print, as they stand there, and writes what they print into the pages. Every
figure is also made as PDF, and in grey into docs/_build/grey, to be looked at.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pages
from PIL import Image

from mpigauge.cli import status_of
from mpigauge.errors import EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNDECIDED

if TYPE_CHECKING:
    from pages import Command, Page

GREY = pages.DOCS / "_build" / "grey"
COLOURS = 256
"""Colours of a figure in the repository: indistinguishable, and half the size."""


class Failed(Exception):  # noqa: N818 - what it is
    """A command of a page that did not do what it should."""


def main() -> None:
    """Make figures, and rewrite the pages."""
    figures: dict[str, Path] = {}
    outputs: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        here = workshop(Path(folder))
        for page in pages.pages():
            text = fresh(page, here, outputs)
            page.path.write_text(text, encoding="utf-8")
            figures |= {name: here / name for name in page.shown}
        keep(figures)
    sys.stdout.write(f"{len(figures)} figures in {pages.FIGURES.name}/, in grey in {GREY}\n")


def workshop(folder: Path) -> Path:
    """Make a folder with the examples and all stored results, in which commands run as for readers."""
    (folder / "examples").symlink_to(pages.ROOT / "examples")
    for path in pages.stored():
        (folder / path.name.removesuffix(".gz")).write_bytes(gzip.decompress(path.read_bytes()))
    return folder


def fresh(page: Page, here: Path, outputs: dict[str, str], *, print_too: bool = True) -> str:
    """Return the text of a page with what its commands print now; make its figures, too.

    Args:
        outputs: Output of commands that were run for earlier pages; they are not run again.
        print_too: Whether figures are made as PDF as well.

    Raises:
        Failed: A command failed, or a result is missing.
    """
    for command in page.making():
        if command.text not in outputs:
            outputs[command.text] = run(command, here, print_too=print_too)
    printing = page.printing()
    text, last = [], 0
    for block in pages.BLOCK.finditer(page.text):
        kind, name = block[1], block[2]
        if kind == "output":
            body = "\n".join(_printed(command, outputs[command.text]) for command in printing[block.start()])
        else:
            body = _plan(pages.ROOT / name)
        text += [page.text[last : block.start(3)], body.strip("\n"), "\n"]
        last = block.end(3)
    return "".join([*text, page.text[last:]])


def _printed(command: Command, output: str) -> str:
    return output if "markdown" in command.words else f"```text\n{output}```"


def _plan(path: Path) -> str:
    """Return a plan without the comments at its head, which the page explains."""
    _, title, rest = path.read_text(encoding="utf-8").partition("\ntitle")
    return f"```toml{title}{rest}```"


def run(command: Command, here: Path, *, print_too: bool) -> str:
    """Run a command and return its output; of a figure, make the PDF as well if it is to be printed.

    Raises:
        Failed: It has no result to read, or ends with anything but 0 and verdicts.
    """
    missing = [name for name in command.reads if not (here / name).exists()]
    if missing:
        raise Failed(f"docs/results/{missing[0]}.gz is not there: make reports")
    for name in {command.makes, command.makes.replace(".png", ".pdf")} - {""}:
        (here / name).unlink(missing_ok=True)
    output = _run(command.words[1:], here, command.text)
    if command.verb == "plot" and print_too:
        _run([word.replace(".png", ".pdf") for word in command.words[1:]], here, command.text)
    return output


def run_words(words: list[str], here: Path) -> str:
    """Return what mpigauge prints for these words.

    Raises:
        Failed: It ends with anything but 0 and verdicts.
    """
    return _run(words, here, " ".join(words))


def _run(words: list[str], here: Path, text: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(here), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = status_of(words)
    verdicts = {EXIT_CHECK_FAILED, EXIT_UNDECIDED} if words[0] in pages.JUDGING else set()
    if status not in {EXIT_DONE, *verdicts}:
        raise Failed(f"{text}: status {status}: {err.getvalue()}")
    return out.getvalue()


def keep(figures: dict[str, Path]) -> None:
    """Move figures to where the pages look for them, with grey copies, and delete those of former pages."""
    GREY.mkdir(parents=True, exist_ok=True)
    pages.FIGURES.mkdir(exist_ok=True)
    for old in [*pages.FIGURES.iterdir(), *GREY.iterdir()]:
        old.unlink()
    for name, path in figures.items():
        with Image.open(path) as image:
            image.convert("RGB").quantize(COLOURS).save(pages.FIGURES / name, optimize=True)
            image.convert("L").save(GREY / name)
        shutil.copy(path.with_suffix(".pdf"), pages.FIGURES)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"draw.py: {error}")
