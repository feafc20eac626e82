"""A fake MPI library in a folder: an mpicc and an mpiexec that need no MPI, no compiler and no time.

mpicc says the macros of a chosen kind and version, and "compiles" by writing a program that runs
tests/fakes/kernel.py; mpiexec starts that program once, as rank 0, in a session of its own. So all of
mpigauge runs as it is, from finding a library to the table.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from tests.fakes.law import describe

ROOT = Path(__file__).parents[2]
SHEBANG = f"#!{sys.executable} -IS\n"
SHELL = "#!/bin/sh\n"
STANDARDS = {"openmpi": "3.1", "mpich": "4.1", "intelmpi": "4.0"}
OTHERS = "3.1"
"""The standard of all others."""

PRINTS = {
    "openmpi": "Open MPI v{0}, package: Open MPI fake@host Distribution, ident: {0}, repo rev: v{0}",
    "mpich": "MPICH Version:      {0}\nMPICH Release date: Thu Jan  1 00:00:00 UTC 1970\nMPICH ABI: 17:0:5\n",
    "intelmpi": "Intel(R) MPI Library {0} for Linux* OS\n",
    "cray-mpich": "MPI VERSION    : CRAY MPICH version {0} (ANL base 3.4a2)\nMPI BUILD INFO : fake\n",
    "mvapich": "MVAPICH Version      :\t{0}\nMVAPICH Release date : fake\n",
    "parastation": "MPICH Version:\t4.1.1\n=== ParaStation MPI {0} ===\nVersion(PSMPI): {0} (fake)\n",
    "spectrum": "Open MPI v{0}, package: IBM Spectrum MPI, ident: IBM Spectrum MPI",
    "fujitsu": "FUJITSU MPI Library {0} (4.0.1fj{0})",
    "mpt": "HPE MPT {0}  08/26/20 02:54:49-root",
    "fancy-mpi": "Fancy MPI {0} of nobody",
}
"""What MPI_Get_library_version says: of those that were never here, as others have printed it."""

HEADERS = {"spectrum": "openmpi", "fujitsu": "openmpi", "parastation": "mpich"}
"""Whose mpi.h a library has that has none of its own."""

MPICC = """
{checks}
case " $* " in
*" {show} "*) echo "gcc -I{prefix}/include -L{prefix}/lib -lmpi" ;;
*" -E -dM -x c -include "*"/mpi_macros.h /dev/null "*) printf '%s\\n' {macros} ;;
*)
    {fails}
    output=/dev/null  # with -c, as nobody looks into its objects
    while [ $# -gt 0 ]; do
        case "$1" in
        -o) output=$2 ;;
        *.c) [ -f "$1" ] || exit 1 ;;
        esac
        shift
    done
    printf %s {kernel} > "$output"
    [ "$output" = /dev/null ] || /bin/chmod 755 "$output"
    ;;
esac
"""
KERNEL = """#!/bin/sh
# {program}
[ "$1" != --describe ] || exec /bin/cat {description}
exec {python} -IS {program} "$@"
"""
"""Python starts slowly, so it is left out where it can be: in describing, and below the launcher."""

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.fakes import kernel
kernel.main({library!r}, {standard!r}, {latency_ns})
"""
LINKER = """
# As ld does, which resolves what a library needs by this path before any other.
case "${{LD_LIBRARY_PATH:-{prefix}}}" in
"{prefix}"*) ;;
*) echo "collect2: error: ld returned 1 exit status" >&2; exit 1 ;;
esac
"""
ABI_KERNEL = """{shebang}
import os, sys
sys.path.insert(0, {root!r})
from tests.fakes import kernel
for folder in [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), {prefix!r} + "/lib"]:
    if folder and os.path.isfile(folder + "/libmpi_abi.so.1"):
        library, standard, latency_ns = open(folder + "/libmpi_abi.so.1").read().split("\\0")
        kernel.main(library, standard, int(latency_ns))
        sys.exit()
sys.exit("error while loading shared libraries: libmpi_abi.so.1: cannot open shared object file")
"""
MPIEXEC = """
import sys
sys.path.insert(0, {root!r})
from tests.fakes import mpiexec
mpiexec.main({kind!r})
"""


@dataclass(frozen=True, slots=True)
class FakeMpi:
    """An installed fake.

    Attributes:
        latency_ns: What its fastest message takes.
    """

    prefix: Path
    kind: str
    version: str
    latency_ns: int

    @property
    def bin(self) -> Path:
        """Where its programs are."""
        return self.prefix / "bin"

    @property
    def mpicc(self) -> Path:
        """Its compiler wrapper."""
        return self.bin / "mpicc"

    @property
    def standard(self) -> str:
        """The version of MPI that it is of."""
        return STANDARDS.get(self.kind, OTHERS)

    @property
    def says(self) -> str:
        """What MPI_Get_library_version says."""
        return PRINTS[self.kind].format(self.version)


def install(
    prefix: Path,
    kind: str = "openmpi",
    version: str = "5.0.11",
    *,
    latency_ns: int = 100,
    compile_error: str = "",
    suffix: str = "",
    abi: bool = False,
) -> FakeMpi:
    """Writes a library into a folder.

    Args:
        compile_error: What mpicc says instead of compiling the kernel.
        suffix: Of the programs' names, as Debian has them: ".mpich".
        abi: Whether it has the ABI of MPI 5, which of these libraries MPICH can compile for.
    """
    fake = FakeMpi(prefix, kind, version, latency_ns)
    fake.bin.mkdir(parents=True, exist_ok=True)
    kernel = _kernel(fake)
    asks = 'if [ -z "$I_MPI_ROOT" ]; then echo I_MPI_ROOT is not set >&2; exit 1; fi'
    write_program(
        fake.bin / f"mpicc{suffix}",
        mpicc(
            prefix,
            kernel,
            macros=macros_of(kind, version),
            checks=asks if kind == "intelmpi" else "",
            fails=f"echo {quote(compile_error)} >&2; exit 1" if compile_error else "",
            show="--cray-print-opts=all" if kind == "cray-mpich" else "-show",
        ),
        SHELL,
    )
    if abi:
        _add_abi(fake)
    if kind != "cray-mpich":  # whose jobs srun starts
        write_program(fake.bin / f"mpiexec{suffix}", launcher_text(kind))
    return fake


def _kernel(fake: FakeMpi) -> str:
    """What its mpicc makes of our sources."""
    program, description = fake.prefix / "share" / "kernel.py", fake.prefix / "share" / "describe.json"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        PROGRAM.format(
            root=str(ROOT),
            library=fake.says,
            standard=fake.standard,
            latency_ns=fake.latency_ns,
        ),
        encoding="utf-8",
    )
    description.write_text(json.dumps(describe(fake.says)), encoding="utf-8")
    return kernel_text(program)


def kernel_text(program: Path) -> str:
    """The executable of this program."""
    description = program.with_name("describe.json")
    return KERNEL.format(python=sys.executable, program=program, description=description)


def launcher_text(kind: str) -> str:
    """The mpiexec of a kind of library, below its first line."""
    return MPIEXEC.format(root=str(ROOT), kind=kind)


def _add_abi(fake: FakeMpi) -> None:
    """The library file tells the common kernel which library it is, as the loader would find it."""
    (fake.prefix / "lib").mkdir()
    said = "\0".join([fake.says, STANDARDS[fake.kind], str(fake.latency_ns)])
    (fake.prefix / "lib" / "libmpi_abi.so.1").write_text(said, encoding="ascii")
    if fake.kind == "mpich":
        kernel = ABI_KERNEL.format(shebang=SHEBANG, root=str(ROOT), prefix=str(fake.prefix))
        linker = LINKER.format(prefix=fake.prefix)
        write_program(fake.bin / "mpicc_abi", mpicc(fake.prefix, kernel, checks=linker), SHELL)


def mpicc(
    prefix: Path, kernel: str, macros: str = "", checks: str = "", fails: str = "", show: str = "-show"
) -> str:
    """The compiler wrapper: a shell script, since a campaign asks it often and Python starts slowly."""
    return MPICC.format(
        prefix=prefix, kernel=quote(kernel), macros=quote(macros), checks=checks, fails=fails, show=show
    )


def macros_of(kind: str, version: str) -> str:
    """What the preprocessor says of its mpi.h, as far as anybody looks."""
    standard, substandard = STANDARDS.get(kind, OTHERS).split(".")
    lines = [
        f"#define MPI_VERSION {standard}",
        f"#define MPI_SUBVERSION {substandard}",
        "#define __linux__ 1",
    ]
    kind = HEADERS.get(kind, kind)
    if kind == "openmpi":
        parts = zip(("MAJOR", "MINOR", "RELEASE"), version.split("."), strict=False)
        lines += [f"#define OMPI_{part}_VERSION {number}" for part, number in parts]
    if kind == "intelmpi":
        lines += [f'#define I_MPI_VERSION "{version}"', '#define MPICH_VERSION "4.1.2"']
    if kind == "mpich":
        lines += [f'#define MPICH_VERSION "{version}"']
    if kind == "cray-mpich":
        lines += ['#define MPICH_VERSION "3.4a2"', f"#define CRAY_MPICH_VERSION {version}"]
    if kind == "mvapich":
        lines += ['#define MPICH_VERSION "3.4a2"', f'#define MVAPICH_VERSION "{version}"']
    return "\n".join(lines)


def write_program(path: Path, text: str, shebang: str = SHEBANG) -> Path:
    """An executable program, of Python that needs nothing but this Python unless told otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(shebang + text, encoding="utf-8")
    path.chmod(0o755)
    return path
