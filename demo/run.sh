#!/usr/bin/env bash
# Shows the main job from start to end on three small real data sets, in throw-away clusters: demo/run.sh
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}"
find_postgres
make_scratch
say 'building the extension (the first time takes a minute or two) ...'
build_extension
say 'installing it in a directory of its own ...'
install_privately
say 'starting a PostgreSQL there ...'
start_cluster
say "a throw-away PostgreSQL $("$bin/postgres" -V | grep -oE '[0-9]+\.[0-9]+' | head -n 1) is up; it lives until the end of this demo"
cd "$root/demo"
show() { # show PART [PSQL-OPTION...]
  local part=$1
  shift
  say ''
  psql_ours -q -d postgres -P footer=off -P linestyle=unicode -P border=1 "$@" -f "$part.sql"
}
show abalone
show iris
show breast_cancer
north=$socket north_data=$data
place=$scratch/south start_cluster
south=$socket south_data=$data
for socket in "$south" "$north"; do
  psql_ours -q -d postgres -c 'CREATE EXTENSION IF NOT EXISTS margin' \
    -c 'CREATE TABLE patients_of_site (site int, diagnosis text, x float8[])' 2>/dev/null
done
show two_servers -v north="$north" -v south="$south"
for data in "$south_data" "$north_data"; do stop_cluster; done
say ''
say 'The demo is over: the clusters and their files are gone.'
