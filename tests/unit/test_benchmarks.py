"""Programs of benchmarks/: what fails under them ends them with its sentence."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from mpigauge.errors import EXIT_DONE
from tests.places import ROOT

if TYPE_CHECKING:
    from tests.fakes.mpi import FakeMpi


def test_a_loop_that_is_not_compiled_is_no_empty_table(openmpi: FakeMpi) -> None:
    words = ["benchmarks/pairs.py", "--quick", "--rounds", "1", "--mpi", str(openmpi.prefix)]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != EXIT_DONE
    assert done.stdout == ""
    assert done.stderr.startswith("pairs.py: "), done.stderr
