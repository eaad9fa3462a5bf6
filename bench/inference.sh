#!/usr/bin/env bash
# Measures lambda 0 and margin_inference against statsmodels and writes the tables into docs/benchmarks/: bench/inference.sh
# [NAME...], by default same and speed. Starts a throw-away server. Needs ../shared/data for `same`.
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}" python3 python3-numpy xz-utils
[ -n "${MARGIN_PEERS_ROOT-}" ] || need_packages python3-statsmodels python3-sklearn
find_postgres
make_scratch
MARGIN_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD -- . ':!docs/benchmarks.md' ':!docs/benchmarks' || MARGIN_COMMIT+=-dirty
export MARGIN_COMMIT OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
build_extension
install_privately
start_cluster 'shared_buffers = 128MB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0' 'jit = off'
psql_ours -q -d postgres -c 'CREATE EXTENSION margin' >/dev/null
MARGIN_BIN=$bin MARGIN_SOCKET=$socket "$python" "$root/bench/inference.py" "$@"
