"""A Slurm cluster on one machine, every node a host of its own; the first process of its own namespaces.

    unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc python hosts.py FOLDER NODES

The namespaces that it is started in are the head's. Every node has a network, a name, shared memory and
mounts of its own beside it, joined by a bridge. It says `up`, reads its input to the end, and ends; with it
the kernel ends every process and network of the cluster, so that nothing is to be cleaned up.

Needs root, iproute2 and slurm-wlm; no munge, no cgroups of Slurm's own, no DNS.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

NETWORK = "10.77.0"
HEAD = "head"
CPUS = 2
UP_WITHIN_S = 300.0

CONF = """\
ClusterName=gauge
SlurmctldHost={head}({network}.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobcomp.txt
JobRequeue=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=1,bf_interval=1
ReturnToService=2
SlurmdTimeout=5
InactiveLimit=0
KillWait=30
MinJobAge=300
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName=node[0-{last}] CPUs={cpus} SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory=500
PartitionName=main Nodes=node[0-{last}] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def run(*words: str) -> None:
    """A command that must end well."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")


def write_files(folder: Path, nodes: int) -> None:
    """What the daemons read, and where they write."""
    conf = CONF.format(head=HEAD, network=NETWORK, folder=folder, last=nodes - 1, cpus=CPUS)
    (folder / "slurm.conf").write_text(conf, encoding="ascii")
    lines = ["127.0.0.1 localhost", f"{NETWORK}.254 {HEAD}"]
    lines += [f"{NETWORK}.{number + 1} node{number}" for number in range(nodes)]
    (folder / "hosts").write_text("\n".join([*lines, ""]), encoding="ascii")
    (folder / "state").mkdir()
    (folder / "cgroup").mkdir()
    for number in range(nodes):
        (folder / f"spool.node{number}").mkdir()
        (folder / f"tmp.node{number}").mkdir(mode=0o777)


def settle(name: str, folder: Path) -> None:
    """Makes the namespaces that we are in a host of this name.

    A fresh /sys shows the network of these namespaces, which MPI libraries look at; Slurm wants to find
    control groups in it.
    """
    run("hostname", name)
    run("mount", "--bind", f"{folder}/hosts", "/etc/hosts")
    run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm")  # noqa: S108 - it is mounted
    run("mount", "--rbind", "/sys/fs/cgroup", f"{folder}/cgroup")
    run("mount", "-t", "sysfs", "sysfs", "/sys")
    run("mount", "--rbind", f"{folder}/cgroup", "/sys/fs/cgroup")
    run("umount", "-l", f"{folder}/cgroup")
    run("ip", "link", "set", "lo", "up")


def begin_head(folder: Path) -> None:
    """The bridge, and the controller."""
    # Names of networks are ours alone, and gone with us.
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    settle(HEAD, folder)
    run("ip", "link", "add", "br0", "type", "bridge", "forward_delay", "0")
    run("ip", "addr", "add", f"{NETWORK}.254/24", "dev", "br0")
    run("ip", "link", "set", "br0", "up")
    run("slurmctld", "-f", f"{folder}/slurm.conf", "-c")


def begin_node(folder: Path, number: int) -> None:
    """A node's network, and its daemon in namespaces of their own."""
    name, port = f"node{number}", f"port{number}"
    run("ip", "netns", "add", name)
    run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "link", "set", port, "master", "br0", "up")
    run("ip", "-n", name, "addr", "add", f"{NETWORK}.{number + 1}/24", "dev", "eth0")
    run("ip", "-n", name, "link", "set", "eth0", "up")
    enter = ("nsenter", f"--net=/run/netns/{name}", "unshare", "--uts", "--ipc", "--mount")
    run(*enter, sys.executable, __file__, "--node", name, str(folder))


def wait_until_up(folder: Path, nodes: int) -> None:
    """Until every node is idle."""
    deadline = time.monotonic() + UP_WITHIN_S
    words = ("sinfo", "-h", "-t", "idle", "-o", "%D")
    while subprocess.run(words, capture_output=True, text=True, check=False).stdout.split() != [str(nodes)]:
        if time.monotonic() > deadline:
            logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in folder.glob("*.log"))
            sys.exit(f"not all nodes came up:\n{logs}")
        time.sleep(0.05)


def main(folder: Path, nodes: int) -> None:
    """Begins the cluster, and lives as long as its input."""
    os.environ["SLURM_CONF"] = f"{folder}/slurm.conf"
    write_files(folder, nodes)
    begin_head(folder)
    for number in range(nodes):
        begin_node(folder, number)
    wait_until_up(folder, nodes)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans come to us and are to leave no zombies
    print("up", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1] == "--node":
        settle(sys.argv[2], Path(sys.argv[3]))
        os.execvp("slurmd", ["slurmd", "-f", f"{sys.argv[3]}/slurm.conf", "-N", sys.argv[2]])  # noqa: S606
    main(Path(sys.argv[1]), int(sys.argv[2]))
