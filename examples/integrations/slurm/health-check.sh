#!/bin/bash
# Drains this node if messages on it are slow. For slurm.conf:
#
#     HealthCheckProgram=/etc/slurm/mpigauge-health-check
#     HealthCheckInterval=3600
#     HealthCheckNodeState=IDLE,CYCLE
#
# On idle nodes alone: beside a job both would be disturbed. Slurm kills it after 60 s and ignores its status,
# so it says itself what is wrong; whoever has repaired the node: scontrol update nodename=NODE state=resume.

CHECK=/etc/slurm/mpigauge-node-check
SCONTROL=/usr/bin/scontrol

why=$("$CHECK" 2>&1 >/dev/null) && exit 0
exec "$SCONTROL" update "nodename=$(/bin/hostname -s)" state=drain "reason=${why##*$'\n'}"
