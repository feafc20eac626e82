"""Debian's chromium, driven by Playwright."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.show.report.render import render
from tests import needs
from tests.made import result_of
from tests.reported import EVIL, changing, many, mapped, page, rich

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from mpigauge.result.records import Record

RESULTS: Mapping[str, Callable[[], list[Record]]] = {
    "rich": rich,
    "states": changing,
    "hostile": lambda: rich(mpi_version=EVIL, placement=EVIL),
    "map": mapped,
    "many": many,
}
"""Of many sections, of two states, of hostile names, of all pairs, of many cells."""

SIZE = {"width": 1280, "height": 900}
PATIENCE_MS = 120_000
"""For a machine that does much else; no test waits for it unless it fails."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser."""
    api = pytest.importorskip("playwright.sync_api")
    program = needs.program("chromium")
    with api.sync_playwright() as playwright:
        words = ["--no-sandbox"]
        started = playwright.chromium.launch(executable_path=program, args=words, timeout=PATIENCE_MS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for pages of made results."""
    return tmp_path_factory.mktemp("pages")


def written(folder: Path, name: str) -> Path:
    """One of RESULTS as a page, made when it is first asked for."""
    path = folder / f"{name}.html"
    if not path.exists():
        path.write_text(render(page(result_of(*RESULTS[name]()))), encoding="utf-8")
    return path


class Opened:
    """A page in the browser.

    Attributes:
        page: Playwright's.
        asked: Addresses that it asked for, its own left out.
        errors: What the console and scripts complained of.
        dialogs: Windows that scripts opened.
    """

    def __init__(self, page: Any, path: Path, fragment: str = "") -> None:
        self.page = page
        self.asked: list[str] = []
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        own = path.as_uri()
        self._own = (own, "data:")
        page.on("request", self._ask)
        page.on("console", self._complain)
        page.on("pageerror", lambda one: self.errors.append(str(one)))
        page.on("dialog", self._dismiss)
        page.goto(own + fragment)

    def _ask(self, request: Any) -> None:
        if not request.url.startswith(self._own):
            self.asked.append(request.url)

    def _complain(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def ready(self) -> Opened:
        """Once its script has run."""
        self.page.wait_for_selector("html[data-ready]", state="attached")
        return self

    def drawn(self, name: str) -> Any:
        """A chart, scrolled to."""
        figure = self.page.locator(f"#{name}")
        figure.scroll_into_view_if_needed()
        return figure


@pytest.fixture
def show(browser: Any, pages: Path) -> Iterator[Any]:
    """Opens one of the pages."""
    contexts = []

    def opened(name: str, fragment: str = "", **settings: Any) -> Opened:
        context = browser.new_context(**({"viewport": SIZE} | settings))
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        found = Opened(context.new_page(), written(pages, name), fragment)
        return found if settings.get("java_script_enabled") is False else found.ready()

    yield opened
    for context in contexts:
        context.close()
