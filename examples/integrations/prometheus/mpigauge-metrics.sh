#!/bin/bash
# Measures, and leaves the numbers where the node exporter's textfile collector finds them:
#
#     prometheus-node-exporter --collector.textfile.directory=/var/lib/prometheus/node-exporter
#
# It is started by mpigauge-metrics.timer, or by cron:
#
#     17 */6 * * * root /usr/local/sbin/mpigauge-metrics

MPIGAUGE=${MPIGAUGE:-/opt/mpigauge/bin/mpigauge}
MPI=${MPI:-/usr/bin/mpicc}                      # what mpigauge run --mpi takes
EXPECT=${EXPECT:-/etc/mpigauge/node.toml}       # what must hold: mpigauge check --expect-file
TEXTFILES=${TEXTFILES:-/var/lib/prometheus/node-exporter}
FOLDER=${FOLDER:-/var/lib/mpigauge}
export XDG_CACHE_HOME=$FOLDER/cache

mkdir -p "$FOLDER" && folder=$(mktemp -d "$FOLDER/metrics.XXXXXX") || exit 3
trap 'rm -rf "$folder"' EXIT
metrics="$folder/metrics"

"$MPIGAUGE" run pingpong stream allreduce --mpi "$MPI" --sizes 8,1MiB --launches 5 --budget 40s -q \
    -o "$folder/now.jsonl" >/dev/null
run=$?
"$MPIGAUGE" show "$folder/now.jsonl" --all --format prometheus >"$metrics" 2>/dev/null || : >"$metrics"
"$MPIGAUGE" check "$folder/now.jsonl" --expect-file "$EXPECT" >/dev/null 2>&1
check=$?

# Also where nothing was measured: times that stay away would be seen by nobody.
cat >>"$metrics" <<END
# HELP mpigauge_run_status Exit status of mpigauge run: 0 measured.
# TYPE mpigauge_run_status gauge
mpigauge_run_status $run
# HELP mpigauge_check_status Exit status of mpigauge check: 0 as expected, 1 not, 5 undecided.
# TYPE mpigauge_check_status gauge
mpigauge_check_status $check
# HELP mpigauge_finished_timestamp_seconds When this measurement ended.
# TYPE mpigauge_finished_timestamp_seconds gauge
mpigauge_finished_timestamp_seconds $(date +%s)
END

# The collector reads at any time, and only names that end in .prom: it finds the old file, or the whole new one.
chmod 644 "$metrics" && cp "$metrics" "$TEXTFILES/mpigauge.prom.$$" && mv "$TEXTFILES/mpigauge.prom.$$" "$TEXTFILES/mpigauge.prom"
