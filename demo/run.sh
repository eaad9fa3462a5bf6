#!/usr/bin/env bash
# Shows the main job from start to end on two small real data sets, in a throw-away cluster: demo/run.sh
. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

need_packages "${packages_build[@]}"
find_postgres
make_scratch
say 'building the extension (the first time takes a minute or two) ...'
build_extension
install_privately
start_cluster
say "a throw-away PostgreSQL $("$bin/postgres" -V | grep -oE '[0-9]+\.[0-9]+' | head -n 1) is up; it lives until the end of this demo"
cd "$root/demo"
for part in iris breast_cancer; do
  say ''
  psql_ours -q -d postgres -P footer=off -P linestyle=unicode -P border=1 -f "$part.sql"
done
stop_cluster
say ''
say 'The demo is over: the cluster and its files are gone.'
