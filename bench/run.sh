#!/usr/bin/env bash
# Measures the extension against its peers and writes the tables of docs/benchmarks/: bench/run.sh [NAME...].
# The names are those that `bench/run.sh list` prints; without a name all are run. Needs ../shared/data (README there).
# To compare the tree with an earlier commit of itself instead: bench/against.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}" "${packages_bench[@]}"
find_postgres
make_scratch
export MARGIN_BENCH_BUILD=${MARGIN_BUILD:-$root/build}/bench
# What is measured, named before it is built: HEAD may move on, and the tree may differ from it (the tables of an earlier
# run do not count).
MARGIN_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD -- . ':!docs/benchmarks.md' ':!docs/benchmarks' || MARGIN_COMMIT+=-dirty
export MARGIN_COMMIT
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # of every Python: one thread against one thread
build_extension
cmake -S "$root/bench/peers" -B "$MARGIN_BENCH_BUILD" >/dev/null
cmake --build "$MARGIN_BENCH_BUILD" -j "$jobs" >"$scratch/peers.log" 2>&1 || { cat "$scratch/peers.log"; die 'the peers do not build'; }
install_privately
start_cluster 'shared_buffers = 2GB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0'
psql_ours -q -d postgres -c 'CREATE EXTENSION margin' >/dev/null
MARGIN_BIN=$bin MARGIN_SOCKET=$socket "$python" "$root/bench/run.py" "$@"
