#!/usr/bin/env bash
# Measures paths of sparse models against glmnet and writes the tables into docs/benchmarks/: bench/paths.sh [SET...];
# with names of data sets (colon-cancer) these alone, printed instead of written. Starts a throw-away server. Needs
# ../shared/data. MARGIN_PEERS_ROOT: see docs/benchmarks.md.
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}" python3 python3-numpy xz-utils
[ -n "${MARGIN_PEERS_ROOT-}" ] || need_packages r-cran-glmnet
find_postgres
make_scratch
MARGIN_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD -- . ':!docs/benchmarks.md' ':!docs/benchmarks' || MARGIN_COMMIT+=-dirty
export MARGIN_COMMIT OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
build_extension
install_privately
start_cluster 'shared_buffers = 128MB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0' 'jit = off'
psql_ours -q -d postgres -c 'CREATE EXTENSION margin' >/dev/null
MARGIN_BIN=$bin MARGIN_SOCKET=$socket "$python" "$root/bench/paths.py" "$@"
