#!/usr/bin/env bash
# Measures training by scans (train_margin_from) and writes its tables into docs/benchmarks/: bench/scans.sh [NAME...],
# by default all of: same, kinds, classes, memory, cores, step, shards. Starts two throw-away servers. Needs ../shared/data for the first
# three, and some 12 GB of disk for the others.
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}" python3 python3-numpy xz-utils
find_postgres
make_scratch
MARGIN_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD -- . ':!docs/benchmarks.md' ':!docs/benchmarks' || MARGIN_COMMIT+=-dirty
export MARGIN_COMMIT
build_extension
install_privately
settings=('shared_buffers = 128MB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0' 'jit = off')
for place in "$scratch/other" ''; do
  start_cluster "${settings[@]}"
  psql_ours -q -d postgres -c 'CREATE EXTENSION margin; CREATE EXTENSION postgres_fdw' >/dev/null
  [ -z "$place" ] || export MARGIN_OTHER_SOCKET=$socket
done
MARGIN_BIN=$bin MARGIN_SOCKET=$socket "$python" "$root/bench/scans.py" "$@"
