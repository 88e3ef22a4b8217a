#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Slurm on this machine alone, for tests: munged, slurmctld and two slurmd (nodes n1 and n2) on ports of their own, all their files in one
# folder. As root. Nothing is started by a build or a plain test run: slurm_test starts it where ENCORE_TEST_SLURM=1 is set.
#   daemons.sh start FOLDER [LINE_OF_SLURM_CONF]...   starts them; a line replaces an earlier one with the same name
#   daemons.sh node FOLDER n1 [HIDDEN]                starts a slurmd again; the folder HIDDEN is empty for it and its jobs, as if it were not shared
#   daemons.sh stop FOLDER                            ends them, and all processes that their jobs have left
# The commands of Slurm find them by SLURM_CONF=FOLDER/slurm.conf. The ids of the processes lie in FOLDER/*.pid.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
command=${1:?start, node or stop} folder=${2:?a folder} ; shift 2

wait_for() { # at most N tenths of a second for a command
  local left=$1; shift
  until "$@" >/dev/null 2>&1; do
    left=$((left - 1)); [ "$left" -gt 0 ] || return 1
    sleep 0.1
  done
}
is_gone() { ! kill -0 "$1" 2>/dev/null || [ "$(cut -d " " -f 3 "/proc/$1/stat" 2>/dev/null)" = Z ]; }

end_process() { # the file with its id
  [ -f "$1" ] || return 0
  local id; id=$(cat "$1")
  rm -f "$1"
  [ -n "$id" ] && kill -TERM "$id" 2>/dev/null || return 0
  wait_for 50 is_gone "$id" || kill -KILL "$id" 2>/dev/null || true
}

# Jobs and slurmstepd processes may outlive their slurmd. A job has the folder in its environment; a slurmstepd has a folder of it as its
# working directory.
end_leftovers() {
  local process
  for process in /proc/[0-9]*; do
    [ "${process#/proc/}" != $$ ] && grep -qzxF "SLURM_CONF=$folder/slurm.conf" "$process/environ" 2>/dev/null &&
      grep -qz '^SLURM_JOB_ID=' "$process/environ" 2>/dev/null && kill -KILL "${process#/proc/}" 2>/dev/null || true
    grep -qaF slurmstepd "$process/cmdline" 2>/dev/null && [ "$(readlink "$process/cwd" 2>/dev/null)" = "$folder/spool.n1" -o \
      "$(readlink "$process/cwd" 2>/dev/null)" = "$folder/spool.n2" ] && kill -KILL "${process#/proc/}" 2>/dev/null || true
  done
}

start_node() { # its name, and what it does not see
  local within=()
  [ -z "${2:-}" ] || within=(unshare --mount sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$2")
  rm -f "$folder/$1.pid"
  "${within[@]}" slurmd -f "$folder/slurm.conf" -N "$1" -L "$folder/$1.log"
  wait_for 300 test -s "$folder/$1.pid" && return
  echo "daemons.sh: slurmd did not start as $1" >&2
  tail -n 20 "$folder/$1.log" >&2
  return 1
}

case $command in
start)
  [ "$(id -u)" = 0 ] || { echo "daemons.sh: Slurm's daemons are started as root" >&2; exit 1; }
  for program in munged slurmctld slurmd sbatch; do
    command -v $program >/dev/null || { echo "daemons.sh: $program is missing (slurmctld slurmd slurm-client munge)" >&2; exit 1; }
  done
  mkdir -p "$folder" "$folder/state" "$folder/spool.n1" "$folder/spool.n2"
  folder=$(cd "$folder" && pwd)
  chmod 755 "$folder"
  # Three ports in a row on which no process listens.
  port=$((20000 + RANDOM % 20000))
  while for k in 0 1 2; do (exec 3<>/dev/tcp/127.0.0.1/$((port + k))) 2>/dev/null && break; done; do port=$((port + 10)); done
  head -c 1024 /dev/urandom >"$folder/munge.key"; chmod 400 "$folder/munge.key"
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" 2>"$folder/munged.errors"
  host=$(hostname -s)
  declare -A lines
  order=()
  put() { local name=${1%%=*}; [ -n "${lines[$name]+x}" ] || order+=("$name"); lines[$name]=$1; }
  for line in ClusterName=test "SlurmctldHost=$host(127.0.0.1)" "SlurmctldPort=$port" SlurmUser=root SlurmdUser=root \
    AuthType=auth/munge CryptoType=crypto/munge "AuthInfo=socket=$folder/munge.socket,cred_expire=5" MpiDefault=none \
    ProctrackType=proctrack/linuxproc TaskPlugin=task/none SelectType=select/cons_tres SelectTypeParameters=CR_Core_Memory DefMemPerCPU=100 \
    "StateSaveLocation=$folder/state" "SlurmdSpoolDir=$folder/spool.%n" "SlurmctldPidFile=$folder/slurmctld.pid" \
    "SlurmdPidFile=$folder/%n.pid" "SlurmctldLogFile=$folder/slurmctld.log" "SlurmdLogFile=$folder/%n.log" SwitchType=switch/none SlurmdParameters=config_overrides \
    ReturnToService=2 SlurmdTimeout=10 KillWait=5 MinJobAge=300 JobRequeue=1 BatchStartTimeout=10 MessageTimeout=10 \
    SchedulerType=sched/backfill SchedulerParameters=bf_interval=2,sched_interval=2 PriorityType=priority/basic \
    AccountingStorageType=accounting_storage/none JobAcctGatherType=jobacct_gather/none MaxArraySize=1001 MaxJobCount=10000 "$@"; do
    put "$line"
  done
  {
    for name in "${order[@]}"; do echo "${lines[$name]}"; done
    for k in 1 2; do
      echo "NodeName=n$k NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + k)) CPUs=4 RealMemory=2000 State=UNKNOWN"
    done
    echo "PartitionName=work Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"
  } >"$folder/slurm.conf"
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -f "$SLURM_CONF" -c
  start_node n1
  start_node n2
  both_idle() { [ "$(sinfo -h -N -o %T | sort -u)" = idle ]; }
  wait_for 300 both_idle || { echo "daemons.sh: the nodes did not come up" >&2; tail -n 20 "$folder"/*.log >&2; exit 1; }
  ;;
node)
  folder=$(cd "$folder" && pwd)
  end_process "$folder/${1:?n1 or n2}.pid"
  start_node "$@"
  ;;
stop)
  [ -d "$folder" ] || exit 0
  folder=$(cd "$folder" && pwd)
  end_process "$folder/slurmctld.pid"
  end_process "$folder/n1.pid"
  end_process "$folder/n2.pid"
  end_leftovers
  end_process "$folder/munged.pid"
  ;;
*)
  echo "daemons.sh: start, node or stop" >&2
  exit 2
  ;;
esac
