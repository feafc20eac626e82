#!/bin/bash
#SBATCH --job-name=mpigauge-map
#SBATCH --exclusive
#SBATCH --ntasks-per-node=1
#SBATCH --time=00:10:00
# Measures all pairs of the job's hosts, and drains those that are slow:
#
#     sbatch --nodes=16 drain-slow.sh
#
# As a user who may run scontrol update. It ends as mpigauge map does: 0 nothing is slow, 1 something is,
# 5 undecided. More than MOST slow hosts are rather a slow network, for somebody to look at.

MPIGAUGE=${MPIGAUGE:-mpigauge}
SCONTROL=${SCONTROL:-scontrol}
MOST=${MOST:-2}
RESULT=${RESULT:-map-${SLURM_JOB_ID:-$$}.jsonl}

"$MPIGAUGE" map -q --budget 40s -o "$RESULT"
status=$?
[ "$status" = 1 ] || exit "$status"

# Host, factor and when of each slow host, by the fields of docs/map.md.
slow=$("$MPIGAUGE" map "$RESULT" --format json | python3 -c '
import json, sys
for one in json.load(sys.stdin)["slow_hosts"]:
    print(one["host"], format(one["factor"], ".1f"), "as usual, in some launches" if one["flaky"] else "as usual")
')
if [ "$(grep -c . <<<"$slow")" -gt "$MOST" ]; then
    echo "more than $MOST hosts are slow: none is drained" >&2
    exit "$status"
fi
while read -r host factor usual; do
    [ -z "$host" ] && continue
    "$SCONTROL" update "nodename=$host" state=drain "reason=mpigauge: messages take $factor times as long $usual"
done <<<"$slow"
exit "$status"
