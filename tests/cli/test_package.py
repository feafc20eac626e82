"""What a user installs: wheel and source archive, whole, small, the same from every clone, and usable."""

from __future__ import annotations

import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge import __version__
from mpigauge.cli import mpigauge
from mpigauge.cli.verbs import completion, manual
from mpigauge.errors import EXIT_USAGE
from mpigauge.plan import shipped
from tests.places import DOCS, ROOT

sys.path.insert(0, str(ROOT))

import hatch_build

if TYPE_CHECKING:
    from email.message import Message

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = [one for group in PROJECT["optional-dependencies"].values() for one in group]
MOST_BYTES = 1_500_000
"""Of the archive."""

ABOUT = f"mpigauge-{__version__}.dist-info/"
SHARED = f"mpigauge-{__version__}.data/data/"
BESIDE = (
    *("CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "PKG-INFO", "README.md", ".gitignore"),
    *("hatch_build.py", "pyproject.toml", "requirements.lock", "docs/schema.json", "docs/schema-show.json"),
)
"""Files of the archive beside `src` and `examples`."""

RELATIVE = re.compile(r"\]\((?!https?://)[^)]*\)|(?:src|href)=\"(?!https?://)")


def build(tree: Path, folder: Path, *words: str, umask: int = 0o022) -> None:
    """What `python -m build` makes, with the back end that is installed here."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *words]
    subprocess.run(command, cwd=tree, check=True, capture_output=True, umask=umask)


def digests(folder: Path) -> dict[str, str]:
    """The files of a folder by their contents."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and a source archive."""
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel is installed, without what it needs."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)  # noqa: S202 - ours
    return folder


@pytest.fixture(scope="module")
def unpacked(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive as a user has it."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"mpigauge-{__version__}"


# ---- The wheel -----------------------------------------------------------------------------------


def ours(folder: str) -> set[str]:
    """The files below a folder of the checkout, by their path in it, without what Python keeps there."""
    found = (ROOT / folder).rglob("*")
    return {str(one.relative_to(ROOT / folder)) for one in found if one.is_file() and one.suffix != ".pyc"}


def test_the_wheel_has_the_package_and_what_is_added_to_it_and_no_more(wheel: Path) -> None:
    added = {f"examples/{name}" for name in ours("examples")}
    package = {"schema.json", "schema-show.json", "CITATION.cff", *added, *ours("src/mpigauge")}
    shared = {*completion.PLACES.values(), *(f"share/man/man1/{name}" for name in manual.pages(mpigauge))}
    about = {"METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", "RECORD"}
    assert set(zipfile.ZipFile(wheel).namelist()) == {
        *(f"mpigauge/{name}" for name in package),
        *(f"{SHARED}{name}" for name in shared),
        *(f"{ABOUT}{name}" for name in about),
    }
    assert {"py.typed", "kernel/ranks/orphan.c", "campaign/lab/relay.c"} <= package
    assert wheel.name == f"mpigauge-{__version__}-py3-none-any.whl"


def test_schema_and_citation_of_the_wheel_are_those_of_the_checkout(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    for schema in ("schema.json", "schema-show.json"):
        assert archive.read(f"mpigauge/{schema}") == (DOCS / schema).read_bytes()
    assert archive.read("mpigauge/CITATION.cff") == (ROOT / "CITATION.cff").read_bytes()


def test_an_installed_wheel_knows_the_plans_by_name(site: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mpigauge", "list", "plans", "--format", "json"]
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(words, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True)
    listed = json.loads(done.stdout)["plans"]
    assert [one["name"] for one in listed] == list(shipped.plans())
    assert all(Path(one["path"]).is_relative_to(site / "mpigauge") for one in listed)


@pytest.mark.thorough
def test_an_installed_wheel_knows_claims_and_printed_tables_by_name(site: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(site)}
    for words in (
        ["import", "csv", "--columns", "exchange-agh-2020", "-o", "printed.jsonl"],
        ["explain", "printed.jsonl", "--claims", "exchange-agh-2020", "-o", "claims.json"],
    ):
        command = [sys.executable, "-m", "mpigauge", *words]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    assert json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    assert str(site / "mpigauge") in (tmp_path / "printed.jsonl").read_text(encoding="utf-8")


def test_the_wheel_carries_a_page_of_the_manual_for_every_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    for words, command in manual.commands(mpigauge, ("mpigauge",)):
        page = archive.read(f"{SHARED}share/man/man1/{'-'.join(words)}.1").decode()
        said = re.sub(r"\\(?:f[BR]|:|&)", "", page).replace("\\-", "-")
        for one in command.params:
            assert all(re.search(rf"(?<![\w-]){name}(?![\w-])", said) for name in one.opts if name[0] == "-")
    assert {SHARED + place for place in completion.PLACES.values()} <= set(archive.namelist())


@pytest.mark.thorough
@pytest.mark.needs("man")
def test_man_reads_every_page_without_a_warning(tmp_path: Path) -> None:
    for name, text in manual.pages(mpigauge).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = ["man", "--warnings", "-l", *(str(path) for path in sorted(tmp_path.iterdir()))]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "PAGER": "cat"}
    done = subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert "mpigauge list plans" in done.stdout


def test_roff_makes_nothing_of_what_a_help_says() -> None:
    assert manual.escaped(".so /etc/passwd") == "\\&.so /etc/passwd"
    assert manual.escaped("'br \\n(.$ --np") == "\\(aqbr \\en(.$ \\-\\-np"


@pytest.mark.thorough
@pytest.mark.mpi
def test_the_kernel_builds_from_an_installed_wheel(site: Path, tmp_path: Path) -> None:
    environment = os.environ | {
        "PYTHONPATH": str(site),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    words = [sys.executable, "-m", "mpigauge", "kernel", "describe"]
    done = subprocess.run(words, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["patterns"]
    assert list((tmp_path / "cache").rglob("mpigauge-kernel"))


# ---- What an index shows -------------------------------------------------------------------------


def metadata(wheel: Path) -> Message:
    return email.message_from_bytes(zipfile.ZipFile(wheel).read(f"{ABOUT}METADATA"))


def test_the_readme_of_an_index_has_no_relative_link(wheel: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert RELATIVE.search(text)
    shown = metadata(wheel).get_payload()
    assert isinstance(shown, str)
    assert RELATIVE.findall(shown) == []
    assert "## Start" in shown
    assert "mpigauge run" in shown


@pytest.mark.parametrize(
    ("text", "without", "within"),
    [
        ("see [it](CITATION.cff#b).", "see it.", "see [it](https://host/us/blob/HEAD/CITATION.cff#b)."),
        ("![A curve](docs/a.png)", "*A curve*", "![A curve](https://host/us/raw/HEAD/docs/a.png)"),
        ("[uv](https://docs.astral.sh)", "[uv](https://docs.astral.sh)", "[uv](https://docs.astral.sh)"),
        ("`[default: 2]` (so)", "`[default: 2]` (so)", "`[default: 2]` (so)"),
    ],
)
def test_links_of_the_readme_lead_into_the_repository_once_it_has_an_address(
    text: str, without: str, within: str
) -> None:
    assert hatch_build.elsewhere(text, "") == without
    assert hatch_build.elsewhere(text, "https://host/us") == within


def test_every_python_that_is_named_is_one_that_installs(wheel: Path) -> None:
    named = re.findall(r"^Classifier: .* Python :: 3\.(\d+)$", metadata(wheel).as_string(), re.MULTILINE)
    assert metadata(wheel)["Requires-Python"] == f">=3.{min(map(int, named))}"


def test_the_metadata_say_all_that_an_index_shows(built: Path, wheel: Path) -> None:
    """In a version of the format that indexes and installers have known for years; alike in both files."""
    found = metadata(wheel)
    assert (found["Metadata-Version"], found["Name"], found["Version"]) == ("2.4", "mpigauge", __version__)
    assert (found["License-Expression"], found["License-File"]) == ("BSD-3-Clause", "LICENSE")
    assert found["Description-Content-Type"] == "text/markdown"
    assert found["Summary"] == PROJECT["description"]
    assert {"Operating System :: POSIX :: Linux", "Typing :: Typed"} <= {*found.get_all("Classifier", [])}
    needed = {one.partition(";")[0] for one in found.get_all("Requires-Dist", [])}
    assert needed == {one.partition(";")[0] for one in [*PROJECT["dependencies"], *OPTIONAL]}
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        about = archive.extractfile(f"mpigauge-{__version__}/PKG-INFO")
        assert about is not None
        assert about.read() == zipfile.ZipFile(wheel).read(f"{ABOUT}METADATA")


# ---- The source archive --------------------------------------------------------------------------


def test_the_archive_is_small_and_has_what_builds_and_runs_and_no_more(built: Path, unpacked: Path) -> None:
    archive = next(built.glob("*.tar.gz"))
    assert (archive.name, archive.stat().st_size < MOST_BYTES) == (f"mpigauge-{__version__}.tar.gz", True)
    of_tree = {f"{folder}/{name}" for folder in ("src", "examples") for name in ours(folder)}
    found = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    assert found == {*of_tree, *BESIDE}


def test_make_run_of_the_archive_finds_all_that_it_needs(unpacked: Path) -> None:
    done = subprocess.run(["make", "-n", "run"], cwd=unpacked, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--require-hashes -r requirements.lock" in done.stdout


def test_make_test_of_the_archive_says_what_is_not_in_it(unpacked: Path) -> None:
    (unpacked / ".venv" / "bin").mkdir(parents=True)
    for name in ("bin/python", ".run"):
        (unpacked / ".venv" / name).touch()
    done = subprocess.run(["make", "test"], cwd=unpacked, check=False, capture_output=True, text=True)
    shutil.rmtree(unpacked / ".venv")
    assert done.returncode == EXIT_USAGE
    assert "make test" in done.stderr
    assert "in the repository" in done.stderr


# ---- The same from every clone -------------------------------------------------------------------


def copied(folder: Path, time_s: float) -> Path:
    """What git would have checked out somewhere else, at another time."""
    for name in ("src", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "docs").mkdir()
    for path in [*ROOT.glob("*.*"), ROOT / "LICENSE", ROOT / "Makefile", *DOCS.glob("*.*")]:
        if path.is_file() and path.name != ".git":
            shutil.copy(path, folder / path.relative_to(ROOT))
    for path in folder.rglob("*"):
        os.utime(path, (time_s, time_s))
        # Of modes, git keeps whether a file can be run.
        path.chmod(0o700 if path.is_dir() or path.stat().st_mode & 0o100 else 0o600)
    return folder


@pytest.mark.thorough
def test_two_clones_build_the_same_files(built: Path, unpacked: Path, tmp_path: Path) -> None:
    """Whatever the folder, the times of the files, their modes and the umask; and so does the archive."""
    tree = copied(tmp_path / "elsewhere", 1e9)
    build(tree, tmp_path / "other", umask=0o077)
    assert digests(tmp_path / "other") == digests(built)
    assert len(digests(built)) == 2
    build(unpacked, tmp_path / "again", "-t", "wheel")
    (name, digest), *_ = digests(tmp_path / "again").items()
    assert digests(built)[name] == digest
