"""A report as PDF, by the browser that is here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.ask import VERBS
from tests import needs
from tests.made import written
from tests.reported import rich

if TYPE_CHECKING:
    from tests.conftest import Cli

pytestmark = pytest.mark.browser


@pytest.fixture
def chromium(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a browser, and with the programs that its script calls."""
    assert needs.program("chromium")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{needs.USUAL_PLACES}")


@pytest.mark.thorough
@pytest.mark.usefixtures("chromium")
def test_a_page_is_printed_with_its_title_and_text(cli: Cli) -> None:
    written("r.jsonl", *rich())
    done = cli(VERBS["report"].name, "r.jsonl", "-o", "page.pdf")
    assert (done.status, done.err) == (0, "report: page.pdf\n")
    content = Path("page.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert b"a report" in content
    assert content.count(b"/Type /Page\n") > 1
    assert sorted(path.name for path in Path().iterdir()) == ["page.pdf", "r.jsonl"]
