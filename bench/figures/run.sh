#!/usr/bin/env bash
# Reproduces the papers' figures through SQL: bench/figures/run.sh [FIGURE...], by default all. `run.sh list` names them.
#
# Each figure is one SQL script beside this file. It trains with train_margin and nothing else, stores what is drawn in
# the tables of prepare.sql, and states the paper's claims as rows that are true or not. The pictures go to
# docs/figures/NAME.svg, and as PNG to the build directory. A claim that does not hold, or a figure that cannot be drawn,
# makes this script fail. Needs ../shared/data (README there); what is missing there is said and skipped.
. "$(dirname "${BASH_SOURCE[0]}")/../../test/lib.sh"

here=$root/bench/figures
shared=${MARGIN_SHARED:-$root/../shared/data}
pictures=${MARGIN_FIGURES:-$root/docs/figures}
png=${MARGIN_BUILD:-$root/build}/figures
mapfile -t all < <(cd "$here" && for script in *[0-9].sql; do printf '%s\n' "${script%.sql}"; done)

what_of() { sed -nE '1s/^-- //p' "$here/$1.sql"; }
list_of() { sed -nE "s/^-- $2: //p" "$here/$1.sql"; } # list_of FIGURE data|files

if [ "${1:-}" = list ]; then
  for name in "${all[@]}"; do printf '%-12s %s\n' "$name" "$(what_of "$name")"; done
  exit 0
fi
wanted=("$@")
[ ${#wanted[@]} -gt 0 ] || wanted=("${all[@]}")
for name in "${wanted[@]}"; do [ -f "$here/$name.sql" ] || die "no figure '$name'; $0 list names them"; done

need_packages "${packages_build[@]}" python3 python3-numpy python3-matplotlib xz-utils
find_postgres
make_scratch
say 'building the extension ...'
build_extension
install_privately
start_cluster 'shared_buffers = 1GB' 'max_wal_size = 8GB' 'autovacuum = off' 'max_parallel_workers_per_gather = 0' \
  'client_min_messages = error'
mkdir -p "$pictures" "$png"
psql_figures() { psql_ours -q -d postgres "$@"; }
psql_figures -f "$here/prepare.sql"

# Dense sets by bench/datasets.py; sparse ones are LIBSVM files, which margin_sparse reads as they are.
table_name() { printf '%s' "$1" | tr -c 'a-z0-9\n' _; }
is_loaded() { [ "$(psql_figures -At -c "SELECT to_regclass('$(table_name "$1")') IS NOT NULL")" = t ]; }
load_dense() {
  is_loaded "$1" && return
  psql_figures -c "CREATE TABLE $(table_name "$1") (id int, y int, x real[])"
  MARGIN_SHARED=$shared "$python" "$root/bench/datasets.py" copy "$1" |
    psql_figures -c "COPY $(table_name "$1") FROM STDIN (FORMAT binary)"
  psql_figures -c "ANALYZE $(table_name "$1")"
}
load_libsvm() {
  is_loaded "$1" && return
  psql_figures -c "CREATE TABLE $(table_name "$1") (id serial, y int, x margin_sparse)"
  xzcat "$shared/$1.libsvm.xz" | sed 's/ *$//; / /!s/$/\t/; s/ /\t/' | psql_figures -c "COPY $(table_name "$1") (y, x) FROM STDIN"
  psql_figures -c "ANALYZE $(table_name "$1")"
}
load_generated() { # by a script beside this file, from what shared has
  is_loaded "$1" && return
  psql_figures -c "CREATE TABLE $1 (seed int, epoch int, id int, part text, y boolean, x real[])"
  "$python" "$here/$1.py" "$shared" | psql_figures -c "COPY $1 FROM STDIN CSV"
  psql_figures -c "ANALYZE $1"
}
input_of() { # input_of FIGURE: the table that its script reads
  local name
  for name in $(list_of "$1" stdin); do xzcat "$shared/$name"; done
}
load_all() { # load_all FIGURE: fails, saying what is missing
  local name
  for name in $(list_of "$1" needs); do
    [ "$(psql_figures -At -c "SELECT count(*) FROM margin_solvers() WHERE name = '$name'")" = 1 ] ||
      { say "  skipped: this build has no solver $name"; return 1; }
  done
  for name in $(list_of "$1" files) $(list_of "$1" stdin); do
    [ -r "$shared/$name" ] || { say "  skipped: no $shared/$name"; return 1; }
  done
  for name in $(list_of "$1" libsvm); do
    [ -r "$shared/$name.libsvm.xz" ] || { say "  skipped: no $shared/$name.libsvm.xz"; return 1; }
    load_libsvm "$name"
  done
  for name in $(list_of "$1" data); do load_dense "$name"; done
  for name in $(list_of "$1" generated); do load_generated "$name"; done
}

failed=0 skipped=0 started=$SECONDS
for name in "${wanted[@]}"; do
  began=$SECONDS
  say "$name: $(what_of "$name")"
  if ! load_all "$name"; then
    skipped=$((skipped + 1))
    continue
  fi
  if ! input_of "$name" | psql_figures -v figure="$name" -f "$here/$name.sql" >"$scratch/output" 2>&1; then
    sed 's/^/  /' "$scratch/output"
    say "  FAILED: the script"
    failed=$((failed + 1))
    continue
  fi
  psql_figures -At -F ' | ' -c "SELECT CASE WHEN holds THEN '  holds:' ELSE '  FAILED:' END || ' ' || claim || ' (' || measured || ')'
                                  FROM claims WHERE figure = '$name' ORDER BY n"
  counts=$(psql_figures -At -F ' ' -c "SELECT count(*), count(*) FILTER (WHERE holds IS NOT TRUE) FROM claims WHERE figure = '$name'")
  [ "${counts% *}" -gt 0 ] || { say '  FAILED: nothing is claimed'; failed=$((failed + 1)); }
  failed=$((failed + ${counts#* }))
  psql_figures -c "COPY (SELECT panel, title, x_label, y_label, x_log, y_log FROM panels WHERE figure = '$name' ORDER BY panel) TO STDOUT CSV" >"$scratch/panels"
  psql_figures -c "COPY (SELECT panel, series, x, y FROM curves WHERE figure = '$name' ORDER BY panel, series, x) TO STDOUT CSV" >"$scratch/curves"
  "$python" "$here/draw.py" "$name" "$(what_of "$name")" "$scratch/panels" "$scratch/curves" "$pictures/$name.svg" "$png/$name.png" ||
    { say '  FAILED: the drawing'; failed=$((failed + 1)); }
  say "  $((SECONDS - began)) s"
done
stop_cluster
say "figures: $((${#wanted[@]} - skipped)) drawn into $pictures, $skipped skipped, $failed failures; $((SECONDS - started)) s"
[ "$failed" -eq 0 ]
