"""Replacements for names of hosts, users and folders, the same for the same name everywhere in a result.

A name is replaced wherever it stands between characters that are no letters and no digits: `node7` also in
`node7-ib0` and in `node7.site.org`. A text of commands and variables keeps words that programs share, which
are nobody's, such as `--map-by core`, numbers and sizes; every other word of it is replaced, known or not.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from mpigauge.plan.hosts import short
from mpigauge.result.environment import HIDDEN, is_read

LEFT_OUT = "(left out)"
"""Replacement for a text in which unknown names may be."""

LONGEST_NUMBER = 9
"""Digits of a number that may be a setting of a library."""

LONGEST_COUNT = 4
"""Digits of a number that may be none of a job or a user, as in commands."""

PROGRAMS = """
mpiexec mpirun mpiexec.hydra mpiexec.slurm mpiexec.openmpi mpirun.openmpi mpiexec.mpich mpirun_rsh orterun
prterun prun prte prted srun jsrun lrun aprun ibrun flux run palsrun qsub pbsdsh lsf sge slurm pbs pjm ssh
rsh sh bash env taskset numactl mpicc mpicc.openmpi mpicc.mpich mpiicc mpiicx mpifccpx mpifcc mpixlc cc
c++ gcc g++ clang clang++ icc icx nvc craycc gfortran ifort ifx flang nvfortran fcc mpigauge-kernel
mpigauge hosts hostfile machinefile rankfile include lib lib64 bin ompi_info openmpi-mca-params.conf
prte-mca-params.conf pmix-mca-params.conf ucx.conf .mpiexec.conf mpiexec.conf libmpi.so libmpi_abi.so.1
"""
"""Launchers, compilers, files of both, and the tools that they need."""

LIBRARIES = """
mpi openmpi ompi mpich intelmpi impi intel mvapich mvapich2 cray-mpich cray parastation spectrum fujitsu
opal orte prrte pmix pmi pmi1 pmi2 pmi-1 pmi-2 hydra gforker ucx ucc ofi libfabric hcoll sharp knem xpmem
cma hwloc libevent internal external wheel main control unknown
"""
"""Kinds of library and what they consist of."""

TRANSPORTS = """
tcp udp shm sm self vader ob1 cm uct ugni usnic portals4 smcuda psm psm2 psm3 verbs rc rc_x rc_v rc_mlx5
ud ud_x ud_v ud_mlx5 dc dc_x dc_mlx5 mm posix sysv ib rdma rdmacm rxm rxd ofi_rxm ofi_rxd cxi efa
efa-direct opx mlx sockets gni bgq net lnx shmem memory cuda cuda_copy cuda_ipc rocm rocm_copy rocm_ipc ze
ch3 ch4 nemesis on-host off-host most mostly provider mpi_init pt2pt ring binomial linear tree bruck
pairwise rabenseifner recursive_doubling recursive-doubling eager rndv rendezvous zcopy bcopy get_zcopy
put_zcopy am adaptive tuned basic libnbc han adapt inter threadcomm lo
"""
"""Transports, protocols and algorithms."""

POLICIES = """
yes no on off true false enable enabled disable disabled auto default none any all inf max min first last
core cores hwthread hwthreads socket sockets package numa node nodes board slot slots l1cache l2cache
l3cache thread threads rank rank_ldom ldom machine cluster seq ppr pe span cyclic block fcyclic compact
scatter spread bunch map_cpu mask_cpu verbose quiet overcommit oversubscribe omp lightweight poll yield
sleep native generic x86_64 aarch64 ppc64le linux localhost same-host different-hosts
"""
"""Switches and policies."""

OPTIONS = """
-np -ppn -host -hosts -hostfile -machinefile -mca -gmca -genv -genvlist -genvall -genvnone -env -envlist
-envall -envnone -launcher -launcher-exec -bootstrap -rmk -iface -bind-to -map-by -binding -rr -perhost
-pthread -lmpi -lmpi_abi -lopen-rte -lopen-pal -lmpich -lm -lrt -ldl -lutil -lz -lc -lpthread -shared
-static -std c11 gnu11 c99 gnu99 c17 -d_gnu_source -dndebug -pipe -g3 -g2 -ggdb -rpath -soname
-enable-new-dtags
"""
"""Options with one dash."""

SHARED_WORDS = frozenset(f"{PROGRAMS}{LIBRARIES}{TRANSPORTS}{POLICIES}{OPTIONS}".split())
"""Words that programs share, in small letters."""

SHARED_SHAPES = re.compile(
    r"[0-9]{1,3}(\.[0-9]{1,6})?([kmgt]i?)?b?|[0-9]{1,4}(\.[0-9]{1,4}){2}|--?[A-Za-z]"
    r"|--[a-z]{2,20}(-[a-z]{1,20}){0,5}|-O([0-3sgz]|fast)|-(W|Wl|Wa|Wp|Wno|Wall|Wextra|fPIC|fpic)|-(f|m|W)[a-z]{2,16}(-[a-z]{1,16}){1,5}|0x[0-9a-f]{1,4}|\W{0,8}",
    re.ASCII,
)
"""Words of other shapes that programs share: small numbers and sizes, options, punctuation."""

CARDS = re.compile(
    r"lo|(eth|ib|hsn|bond|opa|ens|eno)[0-9]{1,3}|en[ps][0-9]{1,4}(s[0-9]{1,3})?(f[0-9]{1,2})?(np[0-9]{1,2})?"
    r"|(mlx[45]_|cxi|hfi1_|irdma|bnxt_re|efa_|qedr|usnic_|rxe|siw)(bond_)?[0-9]{1,3}([/:][0-9]{1,3})?|docker0",
    re.ASCII,
)
"""Names that systems give network cards by their places, without an address in them."""

SCHEDULERS = re.compile(r"(SLURM|PBS|LSB|LSF|SGE|FLUX|COBALT|PMI|PALS)_")
"""Beginnings of the names of variables that tell of a job: whose it is, where it runs, from where it came."""

NAMING = re.compile(
    r"(USER|LOGNAME|ACCOUNT|PARTITION|CLUSTER|CLUSTER_NAME|RESERVATION|QOS|JOB_NAME|JOB_?ID)$"
)
"""Ends of the names of variables whose values are names, wherever else they stand."""

SEARCH_PATHS = frozenset(
    {
        "PATH",
        "LD_LIBRARY_PATH",
        "LIBRARY_PATH",
        "CPATH",
        "C_INCLUDE_PATH",
        "MANPATH",
        "INFOPATH",
        "PKG_CONFIG_PATH",
        "ACLOCAL_PATH",
        "CMAKE_PREFIX_PATH",
        "PYTHONPATH",
        "MODULEPATH",
    }
)
"""Search paths that are called alike everywhere."""

UNITS = re.compile(r"(int|[kKMGT]?i?(B|bit|b|Bytes))/(s|sec)")
"""Words with a slash that are no paths."""

WORD = re.compile(r"[^\s\"'`,;()<>{}\[\]|]+")
"""A word of a sentence, a path or an address in it."""

SEPARATORS = re.compile(r"([\s,;|&<>()\[\]{}'\"`]+)")
"""Separators between the words of a command or a value."""

INSIDE = re.compile(r"([:=^])")
"""Separators inside of words: in lists of folders, assignments and exclusions."""

ONE_WORD = re.compile(r"[\w.+-]{0,128}")
"""A version, or the name of a thing."""

GLUED = re.compile(r"(-{1,2}[A-Za-z]{1,16}=?)([~./$].*)", re.DOTALL)
"""A path behind its option: -I/opt/include."""

PARTS = re.compile(r"[^\W_]+|[\W_]+")
"""Letters and digits, and what is between them."""

IPV4 = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", re.ASCII)
COLONS = re.compile(r"([0-9a-f]{0,4}[:-]){2,19}[0-9a-f]{0,4}(%\w{1,16})?", re.ASCII | re.IGNORECASE)
"""Addresses of IPv6 and of network cards, and times of a day."""

LEAST_COLONS = 5
"""Fewest separators of an address in which no group is left out."""

HOMES = re.compile(r"/(?:home|Users|users)/([^/\s:;,'\"]{1,255})")
"""The user whose home a path is in."""

AT = re.compile(r"([\w.+-]{1,64})@[A-Za-z0-9]")
"""The user of an address of mail, or of a host."""


class Replacements:
    """Names of a result with what stands in their place.

    Args:
        own: Names that mpigauge itself has given, such as those of the hosts of a lab: they stay.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        self._own = frozenset(own)
        self._by_kind: dict[str, dict[str, str]] = defaultdict(dict)
        self._known: dict[str, str] = {}
        self._most_parts: dict[str, int] = {}
        self._texts: dict[str, str] = {}

    # ---- What is known --------------------------------------------------------------------------

    def learn_hosts(self, names: Iterable[str]) -> None:
        """Take the names of hosts, in the order in which they get numbers, which all have as many digits."""
        hosts = [name for name in dict.fromkeys(names) if name and name not in self._own]
        firsts = dict.fromkeys(short(name) for name in hosts if name.casefold() not in SHARED_WORDS)
        digits = len(str(len(firsts)))
        for number, first in enumerate(firsts, start=1):
            self._by_kind["host"][first] = f"host{number:0{digits}}"
        for name in hosts:
            self._learn(name, self.host(name))
            self._learn(short(name), self.host(short(name)))

    def learn_users_of(self, text: str) -> None:
        """Take the users whose homes and addresses are in a text."""
        for pattern, has in ((HOMES, "/"), (AT, "@")):
            if has in text:
                for name in pattern.findall(text):
                    self._learn(name, self._of("user", name))

    def learn_values(self, variables: Mapping[str, str | None]) -> None:
        """Take the values of variables that name a user, an account, a job and the like."""
        for name, value in variables.items():
            if value and NAMING.search(name):
                is_user = name.endswith(("USER", "LOGNAME"))
                self._learn(value, self._of("user" if is_user else "value", value))

    def _learn(self, name: str, replacement: str) -> None:
        """Take a name that is replaced wherever it stands; numbers are what much else is."""
        parts = PARTS.findall(name.casefold().strip("._- "))
        words = [part for part in parts if part[0].isalnum()]
        is_count = len(words) == 1 and words[0].isdigit() and len(words[0]) <= LONGEST_COUNT
        if not words or is_count or "".join(parts) in SHARED_WORDS or name in self._own:
            return
        self._known.setdefault("".join(parts), replacement)
        self._most_parts[parts[0]] = max(len(parts), self._most_parts.get(parts[0], 0))
        self._texts.clear()

    def _of(self, kind: str, name: str) -> str:
        named = self._by_kind[kind]
        return named.setdefault(name, f"{kind}{len(named) + 1}")

    # ---- What stands in its place -----------------------------------------------------------------

    def host(self, name: str) -> str:
        """Return the replacement of a host's name: one with a domain keeps that it has one."""
        if not name or name in self._own or name.casefold() in SHARED_WORDS:
            return name
        first = short(name)
        domain = name.partition(".")[2] if first != name.lower() else ""
        if first in SHARED_WORDS:
            return self._of("host", name)
        return self._of("host", first) + (f".{self._of('domain', domain.lower())}" if domain else "")

    def known(self, text: str) -> str:
        """Return a text with the replacements of all names that are known, the longest first."""
        parts = PARTS.findall(text)
        folded = [part.casefold() for part in parts]
        changed: list[str] = []
        at = 0
        while at < len(parts):
            most = min(self._most_parts.get(folded[at], 0), len(parts) - at)
            for count in range(most, 0, -1):
                if replacement := self._known.get("".join(folded[at : at + count])):
                    changed.append(replacement)
                    at += count
                    break
            else:
                changed.append(parts[at])
                at += 1
        return "".join(changed)

    def text(self, text: str) -> str:
        """Return a sentence without paths, addresses and names that are known."""
        if (changed := self._texts.get(text)) is None:
            changed = self._texts[text] = WORD.sub(lambda found: self._word(found[0]), text)
        return changed

    def term(self, text: str) -> str:
        """Return a version, a model or the like: one word of it may look like an address, and is none."""
        return self.known(text) if ONE_WORD.fullmatch(text) else self.text(text)

    def _word(self, word: str) -> str:
        if _is_address(word):
            return self._known.get(word.casefold()) or self._of("address", word)
        if "=" in word or ":" in word:
            return "".join(one if one in ":=" else self._word(one) for one in re.split("([=:])", word) if one)
        if AT.match(word):
            user, _, host = word.partition("@")
            return f"{self._of('user', user)}@{self.host(host)}"
        if UNITS.fullmatch(word):
            return word
        return self.path(word) if "/" in word else self.known(word)

    def path(self, path: str) -> str:
        """Return the replacement of a path: a folder's, and the name of a program that many have."""
        if not path.strip("~/."):
            return path
        folder, slash, name = path.rstrip("/").rpartition("/")
        if not name:
            return path
        name = name if name.casefold() in SHARED_WORDS else self._of("file", name)
        within = f"/{self._of('path', folder)}" if folder else ""
        return f"{within}{slash}{name}"

    def words(self, text: str, longest: int = LONGEST_COUNT) -> str:
        """Return a command or a value with the words that programs share; all others are replaced.

        Args:
            longest: Digits of a number that stays.
        """
        if text in (HIDDEN, LEFT_OUT):
            return text
        return "".join(
            "".join(self._shared(one, longest) for one in self._inside(piece)) if number % 2 == 0 else piece
            for number, piece in enumerate(SEPARATORS.split(text))
        )

    def _inside(self, word: str) -> list[str]:
        return [word] if _is_address(word) else INSIDE.split(word)

    def _shared(self, word: str, longest: int) -> str:
        if not word or word.casefold() in SHARED_WORDS:
            return word
        if glued := GLUED.fullmatch(word):
            return glued[1] + self.path(glued[2])
        if "/" in word and "://" not in word:
            return self.path(word)
        if known := self._known.get(word.casefold()):
            return known
        is_number = word.isascii() and word.isdigit() and len(word) <= longest
        if is_number or SHARED_SHAPES.fullmatch(word) or is_read(word):
            return self.known(word)
        return self._of("address" if _is_address(word) else "value", word)

    def variable(self, name: str) -> str:
        """Return the replacement of the name of a variable that a module sets, maybe one of its site."""
        return self.known(name) if is_read(name) or name in SEARCH_PATHS else self._of("VARIABLE", name)

    def value(self, name: str, value: str) -> str:
        """Return the replacement of the value of a variable: switches and sizes for a library stay."""
        if value in ("", HIDDEN):
            return value
        if SCHEDULERS.match(name) or NAMING.search(name):
            return self._known.get(value.casefold()) or self._of("value", value)
        return self.words(value, LONGEST_NUMBER if is_read(name) else LONGEST_COUNT)

    def card(self, name: str) -> str:
        """Return the replacement of the name of a network card, but for a name by its place."""
        return name if CARDS.fullmatch(name) else self._of("card", name)


def _is_address(word: str) -> bool:
    """Return whether a word is an address of a host, of a network card or of a page."""
    if COLONS.fullmatch(word):
        return "::" in word or sum(map(word.count, ":-")) >= LEAST_COLONS
    return "://" in word or IPV4.fullmatch(word) is not None
