"""The plain copies of the kernel: where their loops lie does not depend on what else is linked."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = ROOT / "src" / "mpigauge" / "kernel"
LINE_BYTES = 64


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_a_plain_copy_begins_on_a_cache_line_whatever_stands_before_it(before: int, tmp_path: Path) -> None:
    other = tmp_path / "other.c"
    other.write_text("\n".join(f"int f{n}(int x) {{ return x * {n + 3}; }}" for n in range(before + 1)))
    library = tmp_path / "copies.so"
    sources = [str(other), str(KERNEL / "memory" / "plain_copy.c")]
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{KERNEL}", *sources, "-o", str(library)], check=True)
    names = subprocess.run(["nm", str(library)], capture_output=True, text=True, check=True).stdout
    places = [int(address, 16) for address in re.findall(r"^(\w+) T mg_copy_o[03]$", names, re.MULTILINE)]
    assert len(places) == 2
    assert [place % LINE_BYTES for place in places] == [0, 0]
