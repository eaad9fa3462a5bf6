#!/usr/bin/env bash
# Measures soft margins with a free intercept and writes the tables into docs/benchmarks/: bench/free_intercept.sh
# [NAME...], by default all of: agrees, random, cost. Starts a throw-away server. Needs ../shared/data.
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}" python3 python3-numpy python3-scipy python3-sklearn xz-utils
[ -n "${MARGIN_PEERS_ROOT-}" ] || need_packages r-cran-quantreg
find_postgres
make_scratch
MARGIN_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD -- . ':!docs/benchmarks.md' ':!docs/benchmarks' || MARGIN_COMMIT+=-dirty
export MARGIN_COMMIT OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
build_extension
install_privately
start_cluster 'shared_buffers = 512MB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0' 'jit = off'
psql_ours -q -d postgres -c 'CREATE EXTENSION margin' >/dev/null
MARGIN_BIN=$bin MARGIN_SOCKET=$socket "$python" "$root/bench/free_intercept.py" "$@"
