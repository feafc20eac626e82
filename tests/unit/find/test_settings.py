"""Variables and parameter files: which change what is measured, and which were asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from mpigauge.find.settings import choosing, settings_of
from mpigauge.plan.lab import Lab
from tests.made import LIBRARY, campaign, cell, launch, result_of

if TYPE_CHECKING:
    from mpigauge.result.reader import Result

CELL = cell()


def chosen(name: str, value: str = "x", library: str = "openmpi", *, several_hosts: bool = False) -> str:
    """What a variable chooses; empty of one that changes nothing."""
    found = [one.of for one in choosing({name: value}, {}, library, several_hosts=several_hosts)]
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("library", "name", "of"),
    [
        ("openmpi", "OMPI_MCA_btl", "transport"),
        ("openmpi", "OMPI_MCA_pml", "transport"),
        ("openmpi", "OMPI_MCA_mtl", "transport"),
        ("spectrum", "OMPI_MCA_pml", "transport"),
        ("openmpi", "UCX_TLS", "transport"),
        ("intelmpi", "I_MPI_FABRICS", "transport"),
        ("intelmpi", "FI_PROVIDER", "transport"),
        ("mpich", "MPIR_CVAR_NOLOCAL", "transport"),
        ("mpich", "MPIR_CVAR_CH4_NETMOD", "transport"),
        ("mvapich", "MV2_USE_SHARED_MEM", "transport"),
        ("anything-else", "OMPI_MCA_btl", "transport"),
        ("openmpi", "OMPI_MCA_coll_tuned_use_dynamic_rules", "algorithm"),
        ("openmpi", "OMPI_MCA_coll", "algorithm"),
        ("openmpi", "HCOLL_ENABLE_MCAST", "algorithm"),
        ("mpich", "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "algorithm"),
        ("intelmpi", "I_MPI_ADJUST_ALLREDUCE", "algorithm"),
        ("intelmpi", "I_MPI_TUNING_BIN", "algorithm"),
        ("openmpi", "OMPI_MCA_btl_sm_eager_limit", "protocol"),
        ("openmpi", "OMPI_MCA_btl_vader_single_copy_mechanism", "protocol"),
        ("openmpi", "UCX_RNDV_THRESH", "protocol"),
        ("intelmpi", "I_MPI_EAGER_THRESHOLD", "protocol"),
        ("mpich", "MPIR_CVAR_CH4_CMA_ENABLE", "protocol"),
        ("openmpi", "OMPI_MCA_hwloc_base_binding_policy", "binding"),
        ("openmpi", "PRTE_MCA_hwloc_default_binding_policy", "binding"),
        ("openmpi", "OMPI_MCA_rmaps_base_mapping_policy", "binding"),
        ("mpich", "HYDRA_BINDING", "binding"),
        ("intelmpi", "I_MPI_PIN_PROCESSOR_LIST", "binding"),
        ("intelmpi", "I_MPI_PIN", "binding"),
        ("openmpi", "SLURM_CPU_BIND", "binding"),
        ("openmpi", "HWLOC_SYNTHETIC", "binding"),
        ("openmpi", "OMPI_MCA_mpi_yield_when_idle", "waiting"),
        ("mpich", "MPICH_ASYNC_PROGRESS", "waiting"),
        ("intelmpi", "I_MPI_ASYNC_PROGRESS", "waiting"),
        ("mpich", "LD_PRELOAD", "preload"),
        ("openmpi", "LD_AUDIT", "preload"),
        ("openmpi", "GLIBC_TUNABLES", "allocator"),
        ("openmpi", "MALLOC_ARENA_MAX", "allocator"),
    ],
)
def test_variables_that_change_what_is_measured(library: str, name: str, of: str) -> None:
    assert chosen(name, "1", library) == of


@pytest.mark.parametrize(
    ("library", "name", "value"),
    [
        ("openmpi", "SLURM_JOB_ID", "17"),
        ("openmpi", "LD_LIBRARY_PATH", "/opt/lib"),
        ("openmpi", "OPAL_PREFIX", "/opt"),
        ("openmpi", "OMPI_MCA_btl_base_verbose", "30"),
        ("openmpi", "OMPI_MCA_btl_base_warn_component_unused", "0"),
        ("openmpi", "OMPI_MCA_plm_rsh_agent", "ssh"),
        ("openmpi", "OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("openmpi", "OMP_NUM_THREADS", "4"),
        ("openmpi", "KMP_AFFINITY", "compact"),
        ("openmpi", "MPIR_CVAR_NOLOCAL", "1"),
        ("mpich", "OMPI_MCA_btl", "tcp,self"),
        ("mpich", "I_MPI_FABRICS", "ofi"),
        ("openmpi", "LD_PRELOAD", ""),
        ("mpich", "MPIR_CVAR_NOLOCAL", "0"),
        ("intelmpi", "I_MPI_ASYNC_PROGRESS", "disable"),
        ("openmpi", "OMPI_MCA_btl", "^ofi"),
        ("openmpi", "OMPI_MCA_btl", "^uct,openib,ofi"),
        ("openmpi", "OMPI_MCA_pml", "^ucx"),
        ("openmpi", "UCX_NET_DEVICES", "mlx5_0:1"),
        ("openmpi", "UCX_LOG_LEVEL", "info"),
        ("openmpi", "DARSHAN_LOGPATH", "/x"),
        ("intelmpi", "I_MPI_ROOT", "/opt"),
        ("intelmpi", "I_MPI_DEBUG", "5"),
    ],
)
def test_variables_that_only_tell_are_none(library: str, name: str, value: str) -> None:
    assert chosen(name, value, library) == ""


def test_shared_memory_that_is_left_out_is_a_choice() -> None:
    assert chosen("OMPI_MCA_btl", "^vader") == chosen("OMPI_MCA_btl", "^ofi,sm") == "transport"


def test_cards_are_a_choice_between_hosts() -> None:
    for name in ("UCX_NET_DEVICES", "OMPI_MCA_btl_tcp_if_include", "FI_TCP_IFACE"):
        assert chosen(name, several_hosts=True) == "interface"
        assert chosen(name) == ""


def test_lines_of_files_are_variables_without_their_begin() -> None:
    files = {
        "~/.openmpi/mca-params.conf": {"btl": "tcp,self", "mpi_show_handle_leaks": "1"},
        "~/.prte/mca-params.conf": {"hwloc_default_binding_policy": "none"},
    }
    assert [(one.of, one.name, one.file) for one in choosing({}, files, "openmpi")] == [
        ("transport", "btl", "~/.openmpi/mca-params.conf"),
        ("binding", "hwloc_default_binding_policy", "~/.prte/mca-params.conf"),
    ]
    (one,) = choosing({"OMPI_MCA_btl": "self,sm"}, {"file": {"btl": "tcp,self"}}, "openmpi")
    assert (one.value, one.file) == ("self,sm", "")
    hydra = {"~/.mpiexec.hydra.conf": {"MPIR_CVAR_NOLOCAL": "1", "-bind-to": "core"}}
    assert [one.of for one in choosing({}, hydra, "mpich")] == ["transport", "binding"]


# ---- Of a result -------------------------------------------------------------------------------


def result(
    variables: dict[str, str],
    set_for_launch: dict[str, str] | None = None,
    files: dict[str, dict[str, str]] | None = None,
    lab: Lab | None = None,
    launches: int = 2,
) -> Result:
    """A result of Open MPI whose user had these variables and files, and whose launches were given others."""
    first = campaign(CELL)
    first = replace(
        first,
        environment=replace(first.environment, variables=variables),
        libraries=(replace(LIBRARY, parameter_files=files or {}),),
        plan=replace(first.plan, lab=lab),
    )
    numbers = range(1, launches + 1)
    return result_of(first, *(replace(launch(n), variables=set_for_launch or {}) for n in numbers))


def names(of: Result) -> list[str]:
    """The settings of a result."""
    return [one.name for one in settings_of(of)]


def test_the_worst_setting_comes_first() -> None:
    found = names(result({"GLIBC_TUNABLES": "x", "OMPI_MCA_coll": "basic", "OMPI_MCA_btl": "tcp,self"}))
    assert found == ["OMPI_MCA_btl", "OMPI_MCA_coll", "GLIBC_TUNABLES"]


def test_what_one_library_reads_comes_before_what_all_read() -> None:
    found = names(result({"FI_PROVIDER": "tcp", "OMPI_MCA_pml": "cm", "UCX_TLS": "tcp"}))
    assert found == ["OMPI_MCA_pml", "FI_PROVIDER", "UCX_TLS"]


def test_what_is_asked_for_is_no_doubt() -> None:
    """By --env, --transport, --bind or --vary: the launch then sets it, whatever the user's shell has."""
    tcp = {"OMPI_MCA_btl": "tcp,self"}
    assert names(result(tcp)) == ["OMPI_MCA_btl"]
    assert names(result(tcp, set_for_launch=tcp)) == []
    assert names(result({}, set_for_launch=tcp)) == []
    assert names(result({}, set_for_launch=tcp, files={"~/x": {"btl": "self,sm"}})) == []
    assert names(result({}, files={"~/x": {"btl": "self,sm"}})) == ["btl"]


def test_what_modules_set_is_a_doubt_and_what_they_remove_is_none() -> None:
    module = "module:openmpi/5.0.8"
    first = result({"UCX_TLS": "tcp"}, set_for_launch={"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ob1"})
    changes = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_pml": "ucx", "UCX_TLS": None}
    library = replace(first.campaign.libraries[0], loaded_by=module, environment=changes)
    of = result_of(replace(first.campaign, libraries=(library,)), *first.launches)
    (setting,) = settings_of(of)
    assert (setting.name, setting.file, setting.short_file) == ("OMPI_MCA_btl", module, module)


def test_of_a_lab_binding_is_its_own() -> None:
    bound = {"PRTE_MCA_hwloc_default_binding_policy": "none", "I_MPI_PIN": "off", "OMPI_MCA_pml": "ob1"}
    assert names(result(bound, lab=Lab(hosts=2))) == ["OMPI_MCA_pml"]


def test_what_srun_says_of_our_own_step_is_no_choice() -> None:
    assert names(result({"SLURM_CPU_BIND": "quiet"})) == ["SLURM_CPU_BIND"]
    assert names(result({"SLURM_CPU_BIND": "quiet", "SLURM_STEP_ID": "0"})) == []


def test_where_nothing_could_be_launched_settings_are_known_all_the_same() -> None:
    assert names(result({"OMPI_MCA_pml": "ucx"}, launches=0)) == ["OMPI_MCA_pml"]
