"""Is a place what it says? Transports on one host; rates and delays of a lab beside iperf3 and plain TCP."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import tools

from mpigauge import units
from mpigauge.errors import EnvironmentLacksError, JobError
from mpigauge.mpi.library import Library
from mpigauge.result.reader import load
from mpigauge.rows.rows import Row, rows

SMALL, LARGE = 8, 1 << 20
TRANSPORTS = ("shm", "tcp")
SIZES = {10: 1 << 18, 100: 1 << 20, 1000: 1 << 20}
"""Message sizes by Mbit/s: so long that latency is negligible."""

DELAYS = ("20us", "500us", "5ms")
LAUNCHES = 5
LAUNCHES_QUICK = 2
PAYLOAD_SHARE = 1448 / 1538
"""Share of an Ethernet frame with preamble and gap that TCP with time stamps carries for its user."""

PINGS = 500
PORT = "7000"
SOURCE = Path(__file__).parents[1] / "tests" / "real" / "lab" / "tcp.c"
IPERF = (
    "ssh -n h2 'iperf3 -s -D'; while iperf3 -c h2 -R -t 4 -J > iperf.json; "
    "! grep -q sum_received iperf.json; do sleep 0.1; done; cat iperf.json"
)
PING = (
    "rm -f served; ssh -n h2 '{0} serve {1}' > served & "
    "while ! grep -q listening served; do sleep 0.02; done; "
    "{0} ping 10.77.0.2 {1} {2}"
)


def main() -> None:
    """Print the sections."""
    arguments = tools.options("transports, rates and delays").parse_args()
    print(
        section(
            tools.libraries(arguments.mpi), LAUNCHES_QUICK if arguments.quick else LAUNCHES, arguments.seed
        )
    )


def section(libraries: Sequence[Library], launches: int, seed: int) -> str:
    """Measure, and return the section in Markdown.

    Raises:
        EnvironmentLacksError: There is no compiler.
        JobError: A lab or a launch failed.
    """
    options = ["--launches", str(launches), "--seed", str(seed)]
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        tables = [
            _transports(libraries, options, Path(folder)),
            _rates(libraries, options, Path(folder)),
            _delays(libraries, options, Path(folder)),
        ]
    return "\n\n".join(tables)


# ---- On one host ---------------------------------------------------------------------------------


def _transports(libraries: Sequence[Library], options: Sequence[str], folder: Path) -> str:
    words = [word for library in libraries for word in ("--mpi", str(library.mpicc))]
    words += [word for transport in TRANSPORTS for word in ("--transport", transport)]
    tools.say("transports on one host")
    found = _measured([], [*words, "--sizes", f"{SMALL},{LARGE}", *options], folder / "transports.jsonl")
    body = []
    for library in libraries:
        for transport in TRANSPORTS:
            library_rows = [r for r in found if (r.cell.mpi, r.cell.transport) == (library.name, transport)]
            small, large = (next(r for r in library_rows if r.cell.bytes == size) for size in (SMALL, LARGE))
            shares = [units.format_percent(row.net_share or 0) for row in (small, large)]
            body.append([library.label, transport, _interval(small), _rate(large), *shares])
    headings = ["library", "transport", "8 B, one way", "1 MiB", "8 B on the network", "1 MiB on the network"]
    return (
        "## Transports on one host\n\n" + tools.markdown(headings, body) + "\n\n"
        "*on the network*: bytes that the network interfaces carried over bytes that ranks sent, counted "
        "while the cell was measured. Nothing and all of it are what labels promise; headers add to 8 B."
    )


# ---- In the lab ----------------------------------------------------------------------------------


def _rates(libraries: Sequence[Library], options: Sequence[str], folder: Path) -> str:
    body = []
    for mbit, size in SIZES.items():
        lab = ["--rate", f"{mbit}mbit"]
        allowed = mbit * 1e6 / 8 * PAYLOAD_SHARE
        tools.say(f"{mbit} Mbit/s: iperf3")
        output = json.loads(_in_lab(lab, ["sh", "-c", IPERF], folder))
        iperf = output["end"]["sum_received"]["bits_per_second"] / 8
        row = [f"{mbit} Mbit/s", _megabytes(allowed), f"{_megabytes(iperf)} ({iperf / allowed:.3f})"]
        for found in _measure_each(libraries, lab, size, options, folder / f"{mbit}"):
            rate = found.rate_bytes_per_s or 0.0
            row.append(f"{_megabytes(rate)} ({rate / allowed:.3f})")
        body.append(row)
    headings = ["link", "TCP payload, MB/s", "iperf3", *(library.label for library in libraries)]
    return (
        "## Rates of the lab\n\n" + tools.markdown(headings, body) + "\n\n"
        "MB/s of 1 MiB one way (of 256 KiB at 10 Mbit/s), and in parentheses over what the link allows: its "
        "rate times 1448 of 1538 bytes, the share of a full Ethernet frame with preamble and gap that TCP "
        "with time stamps carries."
    )


def _delays(libraries: Sequence[Library], options: Sequence[str], folder: Path) -> str:
    body = []
    program = _build(folder)
    for delay in DELAYS:
        lab = ["--delay", delay]
        tools.say(f"{delay}: plain TCP")
        output = _in_lab(lab, ["sh", "-c", PING.format(program, PORT, PINGS)], folder)
        plain_s = median(float(line) for line in output.split()) * 1e-9 / 2
        row = [delay, units.format_time(plain_s)]
        for found in _measure_each(libraries, lab, SMALL, options, folder / delay):
            time_s = found.time.estimate if found.time else 0.0
            row.append(f"{units.format_time(time_s)} ({time_s / plain_s:.3f})")
        body.append(row)
    headings = ["delay", "plain TCP", *(library.label for library in libraries)]
    return (
        "## Delays of the lab\n\n" + tools.markdown(headings, body) + "\n\n"
        "8 B one way at 1 Gbit/s, and in parentheses over that of a plain TCP ping-pong in C, in a lab of "
        "the same words."
    )


def _measure_each(
    libraries: Sequence[Library], lab: Sequence[str], size: int, options: Sequence[str], path: Path
) -> Iterator[Row]:
    """Measure each library in a lab of the same words; return a row of each."""
    for library in libraries:
        tools.say(f"{' '.join(lab)}: {library.label}")
        words = ["--mpi", str(library.mpicc), "--sizes", str(size), *options]
        yield from _measured(lab, words, path.with_name(f"{path.name}{library.name}"))


def _build(folder: Path) -> Path:
    program = folder / "tcp"
    done = tools.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", str(program), str(SOURCE)], os.environ)
    if done.returncode:
        raise EnvironmentLacksError(f"{SOURCE.name}: does not compile: {done.stderr.strip()}")
    return program


def _in_lab(lab: Sequence[str], words: Sequence[str], folder: Path) -> str:
    command = [sys.executable, "-m", "mpigauge", "lab", *lab, "--", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise JobError(f"a lab {' '.join(lab)} failed: {done.stderr.strip()}")
    return done.stdout


def _measured(lab: Sequence[str], words: Sequence[str], path: Path) -> list[Row]:
    """Measure ping-pongs, in a lab if it has words; return the rows."""
    run = [sys.executable, "-m", "mpigauge", "run", "pingpong", *words, "-q", "-o", str(path)]
    command = [sys.executable, "-m", "mpigauge", "lab", *lab, "--", *run] if lab else run
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise JobError(f"mpigauge failed: {done.stderr.strip()}")
    return [row for row in rows(load(path)) if row.cell.pattern == "pingpong"]


# ---- Words ---------------------------------------------------------------------------------------


def _interval(row: Row) -> str:
    if row.time is None or row.time.low is None or row.time.high is None:
        return "-"
    low, high = units.format_time(row.time.low), units.format_time(row.time.high)
    return f"{units.format_time(row.time.estimate)} ({low} to {high})"


def _rate(row: Row) -> str:
    return units.format_rate(row.rate_bytes_per_s)


def _megabytes(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e6:.4g}"


if __name__ == "__main__":
    sys.exit(tools.ending(main))
