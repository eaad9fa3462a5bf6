#!/usr/bin/env bash
# margin in PGlite, built by packaging/pglite/build.sh and tested: test/pglite.sh. Prints TAP. Root (a chroot); MARGIN_PGLITE_DIRECTORY
# says where the build is kept (build/pglite).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kept=${MARGIN_PGLITE_DIRECTORY:-${MARGIN_BUILD:-$root/build}/pglite}
objects=$kept/chroot/margin/build
# counted COMMAND...: TAP of a program, renumbered
counted() {
  local line log=$scratch/tap status=0
  "$@" >"$log" 2>&1 || status=$?
  while IFS= read -r line; do
    case $line in
      'ok '* | 'not ok '*) report "$([[ $line == ok* ]] && echo yes || echo no)" "${line#* - }" ;;
      '#'*) say "$line" ;;
      *) say "# $line" ;;
    esac
  done <"$log"
  if [ "$status" -ne 0 ] && ! grep -q '^not ok' "$log"; then report no "$1 ${2##*/} ended with status $status"; fi
}

find_postgres
make_scratch
need_packages chromium libmpfr-dev
"$root/packaging/pglite/build.sh" || die 'the build failed'
"$root/packaging/pglite/build.sh" tests || die 'the build of the tests failed'
# at_most BYTES FILE NAME
at_most() { report "$([ "$(stat -c %s "$2")" -le "$1" ] && echo yes || echo no)" "$3 has $(stat -c %s "$2") bytes"; }
at_most 4500000 "$kept/tree/lib/postgresql/margin.so" 'the module'
at_most 1500000 "$kept/package/margin.tar.gz" 'the package'

# Programs import packages from where they lie.
cp "$root"/test/pglite/*.mjs "$root"/test/pglite/*.sql "$kept/"
cd "$kept"
kept=$PWD
counted node sql.mjs package
g++ -O1 -o "$scratch/libm" "$root/test/pglite/libm.cpp" -lmpfr -lgmp
# shellcheck disable=SC2016  # the inner shell's
counted sh -c 'node libm.mjs node_modules/@electric-sql/pglite/dist/pglite.wasm chroot/margin/build/maths.wasm | "$0"' "$scratch/libm"
counted node regress.mjs package "$root" "$kept/regress" "$root/test/pglite/exceptions.txt"
counted node page.mjs site "$kept/pictures"

# Certificates against exact numbers, and the unit tests: the same objects as the module's.
counted node "$objects/exact.js" "${MARGIN_EXACT:-5000}" 1
node "$objects/unit.js" --gtest_brief=1 --gtest_filter="-$(grep -v '^#' "$root/test/pglite/left_out.txt" | cut -d : -f 1 | paste -sd :)" >"$scratch/unit" 2>&1 || true
report "$(grep -q '^\[  PASSED  \] [1-9]' "$scratch/unit" && ! grep -q '^\[  FAILED  \]' "$scratch/unit" && echo yes || echo no)" \
  "unit tests: $(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?.*/\1/p' "$scratch/unit") passed"
grep -vE '^(\[|$|warning: unsupported syscall)' "$scratch/unit" | head -n 40 | sed 's/^/# /' || true

# The same trainings by this system's server, by one thread as well.
built=$root
build_extension
install_privately
start_cluster 'max_parallel_workers_per_gather = 0' 'jit = off' 'margin.threads = 1'
psql_ours -qc 'CREATE EXTENSION margin'
node speed.mjs package 8 >"$scratch/wasm"
"$python" -B "$root/test/pglite/speed.py" "$bin/psql" "$socket" "$root/test/pglite/speed.sql" 8 >"$scratch/native"
while IFS=$'\t' read -r name seconds native; do
  report "$(awk -v a="$seconds" -v b="$native" 'BEGIN {print a <= 4 * b ? "yes" : "no"}')" "$name: $seconds s, a server takes $native s"
done < <(paste "$scratch/wasm" <(cut -f 2 "$scratch/native"))
stop_cluster
say "1..$checks"
say "checks: $((checks - bad)) of $checks hold"
[ "$bad" -eq 0 ]
