"""A browser that prints a page: its PDF is the text of the page behind a first line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fakes.mpi import write_program

if TYPE_CHECKING:
    from pathlib import Path

PRINTS = """
for word in "$@"; do
  case $word in
    --print-to-pdf=*) out=${word#--print-to-pdf=} ;;
    file://*) page=${word#file://} ;;
  esac
done
{ echo '%PDF'; while read -r line; do echo "$line"; done < "$page"; } > "$out"
"""


def install_browser(folder: Path, text: str = PRINTS, name: str = "chromium") -> None:
    """Put a browser into a folder of PATH; its text needs no other program."""
    write_program(folder / name, text, "#!/bin/sh\n")
