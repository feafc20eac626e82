#!/bin/bash
# Are messages between two ranks on this node as fast as they should be?
#
# Status 0: yes, or nobody can tell. Status 1: no; the last line on standard error says what, and Slurm drains
# the node if this is its Prolog. For slurm.conf, with a limit above what this takes:
#
#     Prolog=/etc/slurm/mpigauge-node-check
#     BatchStartTimeout=60
#
# A node that has passed is not measured again for FRESH_MINUTES, so most jobs begin at once.

MPIGAUGE=/opt/mpigauge/bin/mpigauge    # Slurm starts this without PATH and HOME: whole paths
MPI=/usr/bin/mpicc                     # what mpigauge run --mpi takes
EXPECT=/etc/mpigauge/node.toml         # what must hold: mpigauge check --expect-file
FOLDER=/var/lib/mpigauge               # of root alone; results, and kernels once they are built
BUDGET=20s
LIMIT_S=50                             # a HealthCheckProgram is killed after 60 s
FRESH_MINUTES=1440

export PATH=/usr/sbin:/usr/bin:/sbin:/bin XDG_CACHE_HOME="$FOLDER/cache"
host=$(hostname -s)
passed="$FOLDER/$host.jsonl"

say() { echo "mpigauge: $*" >&2; logger -t mpigauge -- "$*" 2>/dev/null; }

[ -z "$(find "$passed" -mmin "-$FRESH_MINUTES" 2>/dev/null)" ] || exit 0

if ! { mkdir -p "$FOLDER" && folder=$(mktemp -d "$FOLDER/check.XXXXXX"); }; then
    say "$FOLDER cannot be written"
    exit 1
fi
trap 'rm -rf "$folder"' EXIT

# The node is asked, not the job that waits: of Slurm's variables nothing is passed on.
env -i PATH="$PATH" XDG_CACHE_HOME="$XDG_CACHE_HOME" timeout --kill-after=5 "$LIMIT_S" \
    "$MPIGAUGE" run pingpong --mpi "$MPI" --sizes 8,1MiB --launches 5 --budget "$BUDGET" -q \
    -o "$folder/node.jsonl" >/dev/null 2>"$folder/words"
case $? in
    0) ;;
    2) say "not measured, wrong use: $(head -n 1 "$folder/words")"; exit 0 ;;    # of this script: no node's fault
    70) say "not measured, a fault of mpigauge: $(tail -n 3 "$folder/words" | head -n 1)"; exit 0 ;;
    *) say "MPI does not work on $host: $(head -n 1 "$folder/words")"; exit 1 ;;
esac

"$MPIGAUGE" check "$folder/node.jsonl" --expect-file "$EXPECT" >"$folder/words" 2>&1
case $? in
    0) mv "$folder/node.jsonl" "$passed"; exit 0 ;;
    1) say "$host: $(head -n 1 "$folder/words")"; exit 1 ;;
    # 5: a busy node is not a broken one, and a drained one would have to be released by hand.
    *) say "$host is undecided: $(head -n 1 "$folder/words")"; exit 0 ;;
esac
