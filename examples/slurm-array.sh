#!/bin/bash
# A Slurm array of 300 tasks, each judging one shard of study.judgenet:
#   sbatch examples/slurm-array.sh
# A task that fails or is preempted is started again by Slurm and goes on from its own store; nothing is paid twice.
# Afterwards, anywhere: judgenet merge study.judgenet
#SBATCH --job-name=judgenet
#SBATCH --array=1-300%40
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=02:00:00
#SBATCH --requeue
set -euo pipefail
# SQLite's journal must not lie on a network file system: the shard is judged on the node's own disk, and copied back.
# Budgets are those of one shard: a 300th of the whole.
here=$PWD
local=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/judgenet-$SLURM_JOB_ID
shard=$(printf '%04d-of-0300' "$SLURM_ARRAY_TASK_ID")
mkdir -p "$local/study.shards" "$here/study.shards"
cp study.judgenet pairs.jsonl "$local"
if [ -d "$here/study.shards/$shard" ]; then cp -r "$here/study.shards/$shard" "$local/study.shards/"; fi
keep() { cp -r "$local/study.shards/$shard" "$here/study.shards/"; }
trap keep EXIT
cd "$local"
judgenet run study.judgenet --shard "$SLURM_ARRAY_TASK_ID/300" --budget 2 --quiet
