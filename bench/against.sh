#!/usr/bin/env bash
# Compares this tree, uncommitted changes and all, with a commit of the same repository: bench/against.sh COMMIT [PART...].
#   bits    trains the same models with both and says which attributes, verifications, evaluations and scores differ in any bit
#   times   times the statements of some sections of docs/benchmarks/ with both, A B B A ..., and prints the ratios of CPU seconds
# Without a name both. The exit status is 1 where bits differ. Builds both from nothing: ccache on the PATH saves minutes.
# Compares on the sets of demo/data, and where ../shared/data is there (README there) on larger ones; times needs it.
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

usage='usage: bench/against.sh COMMIT [bits|times]...'
[ $# -gt 0 ] || die "$usage"
commit=$(git -C "$root" rev-parse --verify --quiet "$1^{commit}") || die "no commit $1 in this repository; $usage"
shift
[ $# -gt 0 ] || set -- bits times
for part in "$@"; do
  case $part in bits | times) ;; *) die "unknown part $part; $usage" ;; esac
done

# The tree as git would commit it now. Index and objects of its own: nothing is written to the repository.
tree_as_it_is() {
  mkdir "$scratch/objects"
  cp "$(git -C "$root" rev-parse --path-format=absolute --git-path index)" "$scratch/index"
  GIT_ALTERNATE_OBJECT_DIRECTORIES=$(git -C "$root" rev-parse --path-format=absolute --git-path objects)
  export GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_OBJECT_DIRECTORY=$scratch/objects GIT_INDEX_FILE=$scratch/index
  git -C "$root" add --all
  mine=$(git -C "$root" write-tree)
}

# raise NAME TREE: builds it, installs it and starts its server, all in the directory NAME of the scratch space.
raise() {
  place=$scratch/$1 built=$scratch/$1/tree
  mkdir -m 755 "$place" "$built"
  git -C "$root" archive "$2" | tar -x -C "$built"
  build_extension
  install_privately
  start_cluster 'shared_buffers = 1GB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0'
  psql_ours -q -d postgres -c 'CREATE EXTENSION margin' >/dev/null
  servers+=("$bin" "$socket")
}

need_packages "${packages_build[@]}" python3 python3-numpy xz-utils
find_postgres
make_scratch
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
servers=()
tree_as_it_is
say "A: the tree at $(git -C "$root" rev-parse --short HEAD)$(git -C "$root" diff --quiet "$mine" HEAD -- || echo ' with changes')"
raise A "$mine"
say "B: $(git -C "$root" log -1 --format='%h %s' "$commit")"
raise B "$commit"
set -m # a process group of its own, so that an interrupt ends it at once
"$python" -B "$root/bench/against.py" "${servers[@]}" "$@" &
stage_groups=($!)
set +m
status=0
wait "${stage_groups[0]}" || status=$?
stage_groups=()
exit "$status"
