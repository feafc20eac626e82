"""Both C programs of a lab under ASan and UBSan, which a compiler of that name puts into them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.real.lab.conftest import client

if TYPE_CHECKING:
    from pathlib import Path

    from tests.real.lab.conftest import Lab

pytestmark = pytest.mark.lab

COMPILER = """#!/bin/sh
exec {cc} -g -fsanitize=address,undefined -fno-sanitize-recover=all "$@"
"""


@pytest.fixture
def sanitized(folder: Path) -> dict[str, str]:
    """The environment in which a lab builds its programs anew, with sanitizers that write into files."""
    cc = folder / "bin" / "cc"
    cc.parent.mkdir()
    cc.write_text(COMPILER.format(cc=shutil.which("cc")), encoding="ascii")
    cc.chmod(0o755)
    log = f"log_path={folder / 'found'}"
    return {
        "PATH": f"{cc.parent}{os.pathsep}{os.environ['PATH']}",
        "MPIGAUGE_KERNEL_DIR": str(folder / "cache"),
        "ASAN_OPTIONS": log,
        "UBSAN_OPTIONS": f"{log}:print_stacktrace=1",
        "LD_PRELOAD": "",
    }


def test_they_find_nothing(lab: Lab, tcp: Path, folder: Path, sanitized: dict[str, str]) -> None:
    """While packets go between three hosts through lanes, delays and a cable, and one lane overflows."""
    script = f"{client(tcp, 'ping', 50)}; {client(tcp, 'rate', 1, 3).replace('served', 'others')}"
    options = ("--hosts", "3", "--rate", "20mbit", "--delay", "200us", "--link", "h1-h2:rate=none,delay=1ms")
    done = lab("sh", "-c", script, options=options, env=sanitized)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 1
    assert [path.read_text(encoding="utf-8") for path in folder.glob("found*")] == []
    assert len(list((folder / "cache").glob("lab-*/mpigauge-lab-*"))) == 2
