#!/bin/bash
# A Slurm array of 300 tasks, each judging one shard of study.judgenet:
#   sbatch examples/slurm-array.sh
# Watched and steered meanwhile, anywhere: judgenet status study.judgenet --watch (also --pause, --resume, --stop).
# Slurm starts a task again that is preempted, or whose node fails. Others that ended early are named by judgenet status
# and submitted again: sbatch --array=17,203 examples/slurm-array.sh. Both go on from their own store: no answer that was
# copied back is paid for again.
# Afterwards: judgenet metrics study.judgenet, or one store of all shards: judgenet merge study.judgenet
#SBATCH --job-name=judgenet
#SBATCH --array=1-300%40
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --signal=B:TERM@120
set -euo pipefail
# SQLite's journal must not lie on a network file system: the shard is judged on the node's own disk, and copied back.
# Budgets are those of one shard: a 300th of the whole.
shards=300
shard=$(printf '%04d-of-%04d' "$SLURM_ARRAY_TASK_ID" "$shards")
local=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/judgenet-$SLURM_JOB_ID
from=$local/study.shards/$shard
to=$PWD/study.shards/$shard
mkdir -p "$from" "$to"
cp study.judgenet pairs.jsonl "$local"
# The manifest comes last, and goes first: where it is, everything is there.
store='run.judgenet run.judgenet.db run.judgenet.db-wal'
for file in $store; do
    if [ -e "$to/$file" ]; then cp "$to/$file" "$from/$file"; fi
done
keep() {
    rm -f "$to/manifest.json" "$to/run.judgenet.db-wal"
    for file in $store pairs.parquet matrix.parquet manifest.json; do
        if [ ! -e "$from/$file" ]; then continue; fi
        cp "$from/$file" "$to/.$file" || exit 1
        mv "$to/.$file" "$to/$file" || exit 1
    done
}
trap keep EXIT
tell=$PWD/study.shards
cd "$local"
judgenet run study.judgenet --shard "$SLURM_ARRAY_TASK_ID/$shards" --tell "$tell" --budget 2 --quiet &
judging=$!
# Slurm tells this script alone that time is up. judgenet ends within seconds of it, and what is finished is kept.
trap 'kill -TERM "$judging"' TERM
code=0
wait "$judging" || code=$?
while kill -0 "$judging" 2>/dev/null; do
    code=0
    wait "$judging" || code=$?
done
exit "$code"
