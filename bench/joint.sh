#!/usr/bin/env bash
# Measures classes trained jointly against scikit-learn and LIBLINEAR and writes the tables into docs/benchmarks/:
# bench/joint.sh [NAME...], by default softmax, nnet, crammer_singer and unseen. Names of data sets among them (digits8x8): these
# alone, printed instead of written. Starts a throw-away server. Needs ../shared/data.
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}" cmake python3 python3-numpy xz-utils
[ -n "${MARGIN_PEERS_ROOT-}" ] || need_packages python3-scipy python3-sklearn r-base-core r-cran-nnet
[ -n "${MARGIN_LIBLINEAR-}" ] || need_packages liblinear-dev
find_postgres
make_scratch
MARGIN_COMMIT=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
git -C "$root" diff --quiet HEAD -- . ':!docs/benchmarks.md' ':!docs/benchmarks' || MARGIN_COMMIT+=-dirty
export MARGIN_COMMIT OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MARGIN_BENCH_BUILD=$scratch
build_extension
cmake -S "$root/bench/peers" -B "$scratch" >/dev/null
cmake --build "$scratch" -j "$jobs" --target peer_liblinear >"$scratch/peers.log" 2>&1 || { cat "$scratch/peers.log"; die 'the peers do not build'; }
install_privately
start_cluster 'shared_buffers = 128MB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0' 'jit = off'
psql_ours -q -d postgres -c 'CREATE EXTENSION margin' >/dev/null
MARGIN_BIN=$bin MARGIN_SOCKET=$socket "$python" "$root/bench/joint.py" "$@"
