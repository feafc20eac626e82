"""Programs that install a wheel into a folder: uv, pip, or the pip of an environment made for it.

Never `pip install --target`: it drops lib/, where the libraries are. To add one: a function that gives
the words of its command, in INSTALLERS.
"""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from mpigauge.errors import EnvironmentLacksError, MpigaugeError, UsageError, remedy
from mpigauge.mpi.install.prefixes import folder
from mpigauge.programs import Ended, run, which
from mpigauge.sequences import first_words
from mpigauge.vocabulary import REASON_MOST

Words = list[str]

WHEELS_ONLY = "--only-binary=:all:"
"""Sources are no use: the indexes hold empty ones under these names, to keep them from others."""


def _uv(target: Path, _: Path) -> Words | None:
    """Return the command of uv; `uv pip install --target` keeps the whole wheel."""
    uv = which("uv")
    if uv is None:
        return None
    return [uv, "pip", "install", "-q", "--python", sys.executable, "--target", str(target)]


def _own_pip(target: Path, _: Path) -> Words | None:
    """Return the command of the pip in our environment; one made by uv has none."""
    return _pip(Path(sys.executable), target) if find_spec("pip") else None


def _pip_of_an_environment(target: Path, scratch: Path) -> Words | None:
    """Make an environment with the pip of the standard library."""
    environment = scratch / "environment"
    done = _run([sys.executable, "-P", "-m", "venv", str(environment)], scratch)
    return _pip(environment / "bin" / "python", target) if done.status == 0 else None


def _pip(python: Path, target: Path) -> Words:
    # One retry, since only the retry says that there is no network.
    settings = ["-q", "--no-input", "--disable-pip-version-check", "--retries", "1"]
    place = ["--no-user", "--ignore-installed", "--no-warn-script-location", "--prefix", str(target)]
    return [str(python), "-P", "-m", "pip", "install", *settings, *place]


INSTALLERS: tuple[Callable[[Path, Path], Words | None], ...] = (_uv, _own_pip, _pip_of_an_environment)
"""In the order of preference; each gives the beginning of a command, or None where it is not there."""


def install(requirement: str, target: Path, scratch: Path, wheels: Path | None, keep: Sequence[int]) -> None:
    """Install a package and its dependencies into a folder.

    Args:
        requirement: As pip has it: `mpich==5.0.2`.
        scratch: An empty folder for whatever the installer needs meanwhile.
        wheels: A folder to take the packages from, instead of the index.
        keep: File descriptors that the installer holds, too.

    Raises:
        EnvironmentLacksError: There is no installer, no network, no space, or it failed.
        UsageError: The index has no such version.
    """
    command = next(filter(None, (installer(target, scratch) for installer in INSTALLERS)), None)
    if command is None:
        raise EnvironmentLacksError(
            f"{sys.executable}: has neither uv nor pip, and cannot create an environment with pip",
            "install uv, or Debian's package python3-venv, or use an installed library: --mpi /path",
        )
    offline = ["--no-index", "--find-links", str(wheels.resolve())] if wheels is not None else []
    done = _run([*command, WHEELS_ONLY, *offline, "--", requirement], scratch, keep)
    if done.status != 0:
        raise explain(requirement, wheels, done.err + done.out)


def _run(words: Words, scratch: Path, keep: Sequence[int] = ()) -> Ended:
    """Run an installer in a folder of ours, since it reads settings and modules of the current folder.

    For as long as it takes: nobody knows how slow the network is, and an interrupt ends it.
    """
    try:
        return run(words, _environment(os.environ), folder=scratch, keep=keep)
    except OSError as error:
        raise EnvironmentLacksError(
            f"{words[0]}: cannot be run: {error.strerror}",
            remedy(error, "repair it, or remove it from PATH"),
        ) from None


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that redirect packages or bind pip to an environment."""
    elsewhere = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV")
    return {name: value for name, value in environment.items() if name not in elsewhere}


# ---- What a failed installer means ---------------------------------------------------------------

NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded", re.IGNORECASE)
NO_TRUST = re.compile(r"certificate|CERTIFICATE_VERIFY_FAILED|UnknownIssuer")
NO_NETWORK = (
    "Connection refused",
    "Network is unreachable",
    "No route to host",
    "Name or service not known",
    "Temporary failure in name resolution",
    "network was disabled",
    "timed out",
    "dns error",
    "connection broken",
    "error sending request",
    "Request failed",
)
"""What the installers say, the most telling first."""

VERSIONS = re.compile(r"\(from versions: ([^()]*)\)")
PREFACE = re.compile(r"^\W*((cause|error|warning):\s*)?", re.IGNORECASE)
PLACEHOLDER = "0.0.0"
"""The version of the empty packages that hold the names of libraries."""


def explain(requirement: str, wheels: Path | None, words: str) -> MpigaugeError:
    """Return the error for an installer's last output."""
    line = telling_line(words)
    if NO_SPACE.search(words):
        return EnvironmentLacksError(
            f"{requirement}: no space left in {folder()}",
            "free some space there or in $TMPDIR, or set XDG_DATA_HOME to a folder on another disk",
        )
    if NO_TRUST.search(words):
        return EnvironmentLacksError(
            f"{requirement}: the certificate of the package index is not trusted: {line}",
            "use the system's certificates: UV_SYSTEM_CERTS=1 for uv, PIP_CERT=FILE for pip",
        )
    reason = next((one for one in NO_NETWORK if one.lower() in words.lower()), None)
    if wheels is None and reason is not None:
        return EnvironmentLacksError(
            f"{requirement}: the package index cannot be reached: {reason}",
            f"on a machine with a network: pip download -d wheels {requirement}; then here: "
            "mpigauge mpi add --wheels wheels, with the same name",
        )
    if _has_none(requirement, words):
        return UsageError(f"{wheels or 'the package index'}: has no {requirement}", _choice(words))
    return EnvironmentLacksError(f"{requirement}: cannot be installed: {line}", "try another version")


def _has_none(requirement: str, words: str) -> bool:
    """Whether the package itself is not available, and not a dependency."""
    name = requirement.partition("==")[0]
    says = (
        f"satisfies the requirement {requirement} (from versions",
        f"no version of {requirement} ",
        f"Because {name} was not found in ",
    )
    return any(sentence in words for sentence in says)


def _choice(words: str) -> str:
    """Return which versions there are; only pip lists them."""
    found = VERSIONS.search(words)
    versions = found[1].split(", ") if found else []
    there = ", ".join(version for version in versions if version not in ("none", PLACEHOLDER))
    return f"choose from {there}" if there else "without a version, the newest that installs is chosen"


def telling_line(words: str) -> str:
    """Return the line with the reason: that of uv's resolver, else the first error."""
    lines = [PREFACE.sub("", line) for line in words.splitlines()]
    reasons = [line for line in lines if line.startswith("Because ")]
    errors = [line for line in lines if re.search(r"error|could not|failed|no space", line, re.IGNORECASE)]
    rest = [line for line in lines if line]
    return first_words(next(iter([*reasons, *errors, *rest]), "it does not say why"), REASON_MOST)
