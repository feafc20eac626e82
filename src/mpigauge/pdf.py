"""Pages as PDF, printed by a browser of this machine: Chromium or Chrome, without a window."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.atomic_file import cannot_write, open_output
from mpigauge.errors import EnvironmentLacksError, remedy
from mpigauge.inputs import check_output
from mpigauge.programs import which

if TYPE_CHECKING:
    from collections.abc import Mapping

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Names of browsers that print without a window, in the order in which they are tried."""

LETTER = frozenset(["BZ", "CA", "CL", "CO", "CR", "GT", "MX", "NI", "PA", "PH", "PR", "SV", "US", "VE"])
"""Territories of locales whose paper is letter, by CLDR; that of all others is A4."""

LOCALE = ("LC_ALL", "LC_PAPER", "LANG")
"""Variables that say a locale, of which the first one that is set holds."""

MAX_PRINTING_S = 120.0

MAX_FOLDER_BYTES = 32
SHORT_FOLDER = "/tmp"  # noqa: S108 - the name in it is random

HINT = "write the page and print it with any browser: -o page.html"

NOISE = "dbus"
"""In lines of a browser on a machine without a desktop, which say nothing of the page."""


def browser() -> str:
    """Return the path of a browser that can print a page.

    Raises:
        EnvironmentLacksError: None is installed.
    """
    path = next(filter(None, map(which, BROWSERS)), None)
    if path is None:
        raise EnvironmentLacksError(
            "a PDF is printed by Chromium or Chrome, and neither is on PATH", f"install chromium, or {HINT}"
        )
    return path


def paper(environment: Mapping[str, str]) -> str:
    """Return the size of paper where a locale is used, as style sheets call it."""
    locale = next(filter(None, (environment.get(name) for name in LOCALE)), "")
    territory = locale.partition("_")[2].partition(".")[0].partition("@")[0]
    return "letter" if territory in LETTER else "A4"


def write(page: str, path: Path, *, overwrite: bool = False) -> None:
    """Print a page of HTML to a PDF file, which appears whole or not at all.

    Raises:
        UsageError: The file exists already.
        EnvironmentLacksError: There is no browser, it does not print the page, or the file cannot be written.
    """
    program = browser()
    check_output(path)
    try:
        # Browsers in a snap see the user's folders, and not those of other programs below /tmp.
        scratch = tempfile.TemporaryDirectory(prefix="mpigauge-pdf-", dir=path.absolute().parent)
    except OSError as error:
        raise cannot_write(path, error, "choose another place: -o FILE") from None
    with scratch as folder:
        source, printed = Path(folder, "page.html"), Path(folder, "page.pdf")
        sized = f"{page}<style>@page {{ size: {paper(os.environ)} }}</style>\n"
        source.write_text(sized, encoding="utf-8")
        said = _print(program, source, printed)
        if not printed.is_file():
            raise EnvironmentLacksError(f"{program} printed no PDF{said and f': {said}'}", HINT)
        with open_output(path, overwrite=overwrite) as file:
            file.write(printed.read_bytes())


def _print(program: str, source: Path, printed: Path) -> str:
    """Run a browser; return the last line in which it complains.

    Raises:
        EnvironmentLacksError: It cannot be started, or does not end.
    """
    # Profiles are written until the last process of a browser has ended.
    with tempfile.TemporaryDirectory(
        prefix="mpigauge-", dir=_short_folder(), ignore_cleanup_errors=True
    ) as profile:
        command = [
            program,
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--no-pdf-header-footer",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),  # root has no sandbox in these browsers
            f"--user-data-dir={profile}",
            f"--print-to-pdf={printed}",
            source.as_uri(),
        ]
        try:
            words = _words_of(command, os.environ | {"TMPDIR": profile})
        except OSError as error:
            raise EnvironmentLacksError(
                f"{program} cannot be started: {error.strerror}", remedy(error, HINT)
            ) from None
        except subprocess.TimeoutExpired:
            raise EnvironmentLacksError(
                f"{program} has not printed the page within {MAX_PRINTING_S:.0f} s", HINT
            ) from None
    lines = [line.strip() for line in words.decode(errors="replace").splitlines() if NOISE not in line]
    return next(filter(None, reversed(lines)), "")


def _short_folder() -> str:
    """Return a folder for temporary files in which names of sockets, of at most 107 bytes, are possible."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= MAX_FOLDER_BYTES else SHORT_FOLDER


def _words_of(command: list[str], environment: dict[str, str]) -> bytes:
    """Return what a command prints to standard error; none of its processes outlives the call."""
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as running:
        try:
            return running.communicate(timeout=MAX_PRINTING_S)[1]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
