"""What is said of the machine: all of it optional, none of it secret."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.result import control_groups
from mpigauge.result import environment as about
from mpigauge.result.provenance import Environment
from mpigauge.result.system_files import read

if TYPE_CHECKING:
    from pathlib import Path


def test_this_machine_can_be_described_and_written_down() -> None:
    machine = about.environment()
    assert msgspec.json.decode(msgspec.json.encode(machine), type=Environment) == machine
    assert 1 <= machine.cores <= machine.cores_online
    assert machine.host
    assert all(size > 0 for size in machine.caches.values())


def test_a_machine_without_any_of_the_files_can_be_described(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(about, "read", lambda _: "")
    monkeypatch.setattr(about, "CPU", tmp_path / "nothing")
    machine = about.environment()
    assert (machine.memory_bytes, machine.caches, machine.governor) == (0, {}, "")
    assert about.steal_s() == 0
    assert about.memory_available_bytes() > 0


def test_memory_is_what_the_control_groups_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    meminfo = "MemTotal:       8000000 kB\nMemAvailable:   4000000 kB"
    monkeypatch.setattr(about, "read", {"/proc/meminfo": meminfo}.get)
    assert about.memory_bytes() == 8_000_000 * 1024
    for left, available in ((600_000, 600_000), (None, 4_000_000 * 1024), (2**40, 4_000_000 * 1024)):
        monkeypatch.setattr(control_groups, "memory_left_bytes", lambda left=left: left)
        assert about.memory_available_bytes() == available


@pytest.mark.parametrize(
    ("may", "of_groups", "quota", "environ", "limit"),
    [
        (4, None, 0.0, {}, ""),
        (4, 4, 8.0, {"OMPI_COMM_WORLD_RANK": "0"}, ""),
        (4, 4, 1.5, {}, "quota"),
        (1, None, 0.0, {}, "affinity"),
        (1, 4, 0.0, {}, "affinity"),
        (1, 1, 0.0, {}, "cgroup"),
        (1, 1, 0.0, {"OMPI_COMM_WORLD_RANK": "0"}, "cgroup"),
        (1, 2, 0.0, {"OMPI_COMM_WORLD_RANK": "0"}, "mpirun"),
        (1, 4, 0.0, {"PMI_RANK": "0"}, "mpirun"),
        (1, 4, 0.0, {"SLURM_STEP_ID": "0", "PMIX_RANK": "0"}, "srun"),
    ],
)
def test_what_keeps_us_from_some_of_the_cores_is_found(
    may: int,
    of_groups: int | None,
    quota: float,
    environ: dict[str, str],
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(may)))
    monkeypatch.setattr(control_groups, "cpu_quota", lambda: quota)
    monkeypatch.setattr(control_groups, "cpus", lambda: of_groups)
    assert about.cores_limit(environ) == limit


@pytest.mark.parametrize(
    ("quota", "may", "cores"), [(0.0, 64, 64), (2.0, 64, 2), (2.5, 64, 2), (0.5, 64, 1), (8.0, 4, 4)]
)
def test_cores_are_limited_by_the_quota(
    monkeypatch: pytest.MonkeyPatch, quota: float, may: int, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(may)))
    monkeypatch.setattr(control_groups, "cpu_quota", lambda: quota)
    assert about.cores_allowed() == cores


def test_variables_that_change_an_mpi_library_are_kept_and_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in os.environ:
        if about.VARIABLES.match(name):
            monkeypatch.delenv(name)
    kept = {
        "OMPI_MCA_btl": "self,sm",
        "UCX_TLS": "shm",
        "I_MPI_FABRICS": "shm",
        "MPICH_ASYNC_PROGRESS": "1",
        "FI_PROVIDER": "tcp",
        "SLURM_NTASKS": "2",
        "LD_PRELOAD": "",
        "LD_AUDIT": "/opt/audit.so",
        "OPAL_PREFIX": "/opt/hpcx/ompi",
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",
        "MALLOC_ARENA_MAX": "1",
        "HWLOC_SYNTHETIC": "pack:1 core:1 pu:2",
        "HCOLL_MAIN_IB": "mlx5_0:1",
        "UCC_TLS": "ucp",
        "SHARP_COLL_ENABLE_SAT": "1",
        "MPIEXEC_TIMEOUT": "60",
        "MV2_ENABLE_AFFINITY": "0",
        "KMP_AFFINITY": "compact",
        "DARSHAN_LOGPATH": "/logs",
        "SCOREP_EXPERIMENT_DIRECTORY": "x",
    }
    secret = {
        "SLURM_JWT": "x",
        "OMPI_API_TOKEN": "x",
        "UCX_PASSWORD": "x",
        "I_MPI_SECRET_KEY": "x",
        "PMIX_SECURITY_COOKIE": "x",
        "OMPI_PASSPHRASE": "x",
        "UCX_AUTH": "x",
        "SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_image": "docker://user:token@registry/image",
    }
    others = {
        "HOME": "/root",
        "LD_PRELOAD_OTHER": "x",
        "FIREFOX_PROFILE": "x",
        "FISH_VERSION": "4",
        "PSMALL": "x",
    }
    for name, value in {**kept, **secret, **others}.items():
        monkeypatch.setenv(name, value)
    assert about.environment().variables == kept


def test_a_file_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    assert read(tmp_path / "missing") == ""
    assert read(tmp_path) == ""
    (tmp_path / "binary").write_bytes(b"\xff\n")
    assert read(tmp_path / "binary") == "\N{REPLACEMENT CHARACTER}"


def test_passwords_in_addresses_are_left_out(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_server", "https://me:pass@node1:80/x https://node2/a@b")
    assert about.environment().variables["OMPI_MCA_server"] == "https://...@node1:80/x https://node2/a@b"


SECRET = "hunter2"  # noqa: S105 - of nothing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PWD", SECRET),
        ("DBPWD", SECRET),
        ("SMTP_PASS", SECRET),
        ("PGPASSWORD", SECRET),
        ("PROXY_PASS", SECRET),
        ("AWS_ACCESS", SECRET),
        ("AZURE_SAS_SIG", SECRET),
        ("GITHUB_PAT", SECRET),
        ("SLACK_WEBHOOK", f"https://hooks.example.org/{SECRET}"),
        ("SENTRY_DSN", f"https://example.org/{SECRET}"),
        ("CONNECT_SID", SECRET),
        ("DJANGO_SESSION", SECRET),
        ("ConnectionString", SECRET),
        ("registryLogin", SECRET),
        ("DATABASE", f"postgres://u:{SECRET}@h/x"),
        ("DATABASE", f"postgres://u:a/{SECRET}@b@h/x"),
        ("MIRROR", f"https://{SECRET}@example.org"),
        ("RSYNC", f"me:{SECRET}@example.org::files"),
        ("NOTIFY", f"https://hooks.slack.com/services/T0/B0/{SECRET}"),
        ("ARTIFACTS", f"https://example.org/x?api_token={SECRET}&y=1"),
        ("UPLOAD", f"https://example.org/x?sv=1&sig={SECRET}"),
        ("GIT", f"ghp_{SECRET}{SECRET}{SECRET}"),
        ("CLOUD", "AKIAIOSFODNN7EXAMPLE"),
        ("BEARING", f"eyJhbGciOiJIUzI1NiJ9.{SECRET}"),
        ("PEM", f"-----BEGIN PRIVATE KEY-----{SECRET}"),
        ("NESTED", f"A=B=MY_PASSWORD={SECRET}"),
        ("LIST", f"A=1;DB_PASS={SECRET},B=2"),
        ("LIST", f"User Id=u;pw={SECRET}"),
        ("QUOTED", f"pass='x {SECRET}'"),
        ("JSON", f'{{"auths":{{"h":{{"auth":"{SECRET}"}}}}}}'),
        ("PYTHON", f"{{'client_secret': '{SECRET}'}}"),
        ("HEADER", f"X-Api-Key: {SECRET}"),
        ("HEADER", f"Authorization: token {SECRET}"),
        ("HEADER", f'{{"Authorization":"Bearer {SECRET}"}}'),
        ("HEADER", f"cookie: {SECRET}"),
        ("INI", f"aws_secret_access_key = {SECRET}"),
        ("COMMAND", f"x --api-key {SECRET}"),
        ("COMMAND", f"curl -u me:{SECRET} https://example.org"),
        ("COMMAND", f"curl --user 'me:{SECRET}'"),
        ("SHELL", f'ssh -o ProxyCommand="sshpass -p {SECRET} ssh gate"'),
        ("KIND", f"npm_{SECRET}{SECRET}{SECRET}"),
        ("KIND", f"pypi-AgEIcHlwaS5vcmc{SECRET}"),
        ("KIND", f"dckr_pat_{SECRET}"),
        ("KIND", f"sk-proj-{SECRET}_{SECRET}{SECRET}"),
        ("KIND", f"sk_live_{SECRET}{SECRET}{SECRET}"),
        ("KIND", f"AIza{SECRET}{SECRET}{SECRET}"),
        ("PEM64", f"LS0tLS1CRUdJTiBSU0Eg{SECRET}"),
    ],
    ids=lambda word: word[:30],
)
@pytest.mark.parametrize("prefix", ["", "SLURM_", "OMPI_MCA_x_", "UCX_"])
def test_what_may_be_a_secret_is_not_recorded_wherever_it_stands(
    monkeypatch: pytest.MonkeyPatch, prefix: str, name: str, value: str
) -> None:
    """Neither found in the environment, nor given by --env, nor set by a module, nor varied."""
    monkeypatch.setenv(prefix + name, value)
    recorded = [about.variables(), about.without_secrets({prefix + name: value})]
    recorded += [about.changes_recorded({prefix + name: value})]  # type: ignore[list-item]
    for secret in (SECRET, "IOSFODNN7"):
        assert secret not in str(recorded)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("I_MPI_PIN_DOMAIN", "core"),
        ("I_MPI_PIN", "1"),
        ("UCX_IB_GPU_DIRECT_RDMA", "yes"),
        ("OMPI_MCA_hook_comm_method_brief", "1"),
        ("OMPI_MCA_osc_rdma_bypass", "1"),
        ("PMIX_SERVER_URI41", "prterun-node1-1234@0.0;tcp4://127.0.0.1:40001"),
        ("SLURM_JOB_NODELIST", "node[1-4]"),
        ("SLURM_STEP_RESV_PORTS", "12000-12001"),
        ("FI_PROVIDER_PATH", "/opt/prov"),
        ("MPICH_ASYNC_PROGRESS", "1"),
        ("OMPI_MCA_coll_tuned_passive", "1"),
        ("UCX_X", "="),
        ("UCX_X", "a==b"),
        ("UCX_X", "a=" * 5000),
        ("UCX_X", "x=,=y;z= 1=2"),
    ],
)
def test_what_changes_an_mpi_library_is_no_secret(name: str, value: str) -> None:
    assert about.changes_recorded({name: value}) == {name: value}


@given(st.text(max_size=40), st.text(alphabet="aA=:@/;,.\"'- \n0", max_size=60))
def test_any_name_value_and_text_can_be_judged(name: str, value: str) -> None:
    assert about.without_secrets({name: value})[name] in (value, about.HIDDEN)
    assert isinstance(about.text_without_secrets(value), str)
    assert len(about.words_without_secrets([name, value])) == len([name, value])


@pytest.mark.parametrize(
    "text",
    [
        "No basic transport could be found for this job.",
        "MCA coll basic component failed",
        "[proxy:0@node1] launch_procs (proxy/pmip_cb.c:869): cannot start",
        "[proxy:0:0@node1] HYD_pmcd_pmip_control_cmd_cb (cb.c:480): assert failed",
        "ib0:mlx5_0:1@x rkey=0x12345678 is not valid",
        "PMIX ERROR: invalid token at byte 3",
        "processes: 4 at most (ulimit -u): No network interfaces were found",
        "docker run -u 1000:1000 image",
    ],
)
def test_what_jobs_say_before_they_die_stays_as_it_is(text: str) -> None:
    assert about.text_without_secrets(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN RSA KEY-----\nProc-Type: 4\nMII{SECRET}\n{SECRET}/+=\n-----END RSA KEY-----",
        f"-----BEGIN PRIVATE KEY-----\n[node1] {SECRET}",
        f"cannot log in with --password 'x {SECRET}'",
        f'gcc -DAPI_KEY="{SECRET}" -DTOKEN=\\"{SECRET}\\" x.c',
        f"ERROR {{'password': '{SECRET}'}}",
        f'{{\\"password\\": \\"{SECRET}\\"}}',
        f"+ curl -u me:{SECRET} https://example.org/x: could not connect",
        f"error: Authorization: token {SECRET} was refused",
        f"AWS_SECRET_ACCESS_KEY: {SECRET} is not valid",
    ],
)
def test_of_a_text_all_of_a_secret_is_left_out(text: str) -> None:
    assert SECRET not in about.text_without_secrets(f"error: {text}\n-- end\n")
    assert about.text_without_secrets(f"{text}\n-- end").endswith("end")


@pytest.mark.parametrize(
    "words",
    [
        ("--container-image=docker://ubuntu@sha256:abcdef",),
        ("-o", "StrictHostKeyChecking=accept-new"),
        ("-o", "HostKeyAlgorithms=ssh-ed25519"),
        ("-genv", "UCX_IB_PKEY=0x8001"),
        ("-genv", "I_MPI_EAGER_CREDITS=12345"),
        ("-x", "HF_TOKEN", "-x", "UCX_TLS", "/opt/program"),
        ("--cert=/etc/cert.pem", "--key", "/etc/key.pem"),
    ],
)
def test_words_of_launchers_stay_as_they_are(words: tuple[str, ...]) -> None:
    assert about.words_without_secrets(words) == words


@pytest.mark.parametrize(
    "words",
    [
        ("-genv", "MY_TOKEN", SECRET),
        ("--mca", "my_token", SECRET),
        (f"--export=A=1,DB_PWD={SECRET}",),
        (f"--env=A=1;DB_PWD={SECRET}",),
        ("--password", SECRET),
    ],
)
def test_secrets_of_two_words_and_of_lists_are_not_recorded(words: tuple[str, ...]) -> None:
    assert SECRET not in " ".join(about.words_without_secrets(words))


def test_of_a_script_all_names_are_recorded_and_few_values() -> None:
    """A site's script sets licences, proxies, folders of people: they are nobody's business."""
    changes = {
        "UCX_TLS": "sm,self",
        "PATH": "/opt/mpi/bin:/usr/bin",
        "MODULES_OF_SITE": "x",
        "LM_LICENSE_FILE": "27000@licences",
        "OMPI_API_TOKEN": "x",
        "SECRET_PATH": "x",
        "OMPI_MCA_btl": None,
    }
    assert about.changes_recorded(changes) == {
        **dict.fromkeys(changes, about.HIDDEN),
        "UCX_TLS": "sm,self",
        "PATH": "/opt/mpi/bin:/usr/bin",
        "OMPI_MCA_btl": None,
    }


def test_hardware_threads_of_a_core_are_one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{siblings}\n")
    monkeypatch.setattr(about, "CPU", tmp_path)
    for allowed, cores in (({0, 1, 2, 3}, 2), ({0, 2}, 1), ({0, 1}, 2), ({1}, 1), ({7}, 0)):
        monkeypatch.setattr("os.sched_getaffinity", lambda _pid, allowed=allowed: allowed)
        assert about.physical_cores_allowed() == cores
