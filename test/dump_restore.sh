#!/usr/bin/env bash
# A database from one server to another: dump_restore.sh make FILE [DIRECTORY], here, and dump_restore.sh check FILE there, or
# dump_restore.sh upgrade DIRECTORY. Each builds, starts a throw-away cluster, and prints what the database holds as one line,
# which must be the same. `make` fills a database by 0.1.0's script and fixtures, updates it, adds what that version did not have,
# and dumps it; into DIRECTORY go its cluster and the server that reads it, for pg_upgrade.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mode=$1 file=$2 kept=${3:-}
need_packages "${packages_build[@]}"
find_postgres
make_scratch
build_extension >/dev/null
install_privately
# upgrade DIRECTORY: the new cluster, by pg_upgrade from the one there
upgrade_cluster() {
  local from=$1 old checksums='' file name
  old=$from/server$(cat "$from/bindir")
  data=$(server_directory server)/data
  socket=$(server_directory socket)
  # libraries of the other system that this one does not have, and what they need in turn
  mkdir -p "$from/needed"
  for file in "$old"/postgres "$old"/pg_ctl; do
    while name=$(LD_LIBRARY_PATH=$from/needed ldd "$file" | sed -nE 's/^[[:space:]]*([^ ]*) => not found$/\1/p') && [ -n "$name" ]; do
      for name in $name; do cp "$from/lib/$name" "$from/needed/"; done
    done
  done
  if [ "$(id -u)" -eq 0 ]; then chown -R postgres "$from"; fi
  if grep -q no-data-checksums <<<"$("$bin/initdb" --help)"; then checksums=--no-data-checksums; fi # 18 would have them, the old one has none
  as_server "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C --no-sync $checksums >/dev/null
  (cd "$(dirname "$data")" && as_server env LD_LIBRARY_PATH="$from/needed" "$bin/pg_upgrade" -b "$old" -B "$bin" -d "$from/data" -D "$data" -U postgres -s "$socket") >"$scratch/pg_upgrade.log" 2>&1 ||
    {
      tail -n 20 "$scratch/pg_upgrade.log" >&2
      find "$data/pg_upgrade_output.d" -name '*.log' -exec grep -hE 'ERROR|error:|FATAL' {} + >&2 || true
      die 'pg_upgrade failed'
    }
  printf "listen_addresses = ''\nunix_socket_directories = '%s'\nfsync = off\n" "$socket" | as_server tee -a "$data/postgresql.conf" >/dev/null
  as_server "$bin/pg_ctl" -D "$data" -l "$data/../log" -w start >/dev/null || { cat "$data/../log" >&2; die 'the upgraded cluster did not start'; }
}
if [ "$mode" = upgrade ]; then upgrade_cluster "$file"; else start_cluster; fi
ours() { PGOPTIONS='-c client_min_messages=error -c search_path=public,learning' psql_ours -Atq -d kept "$@"; }

[ "$mode" = upgrade ] || psql_ours -qc 'CREATE DATABASE kept'
if [ "$mode" = make ]; then
  ours -c 'CREATE SCHEMA learning' -c "CREATE EXTENSION margin SCHEMA learning VERSION '0.1.0'"
  ours -f "$root/test/fixtures/models-0.1.0.sql"
  ours <<'SQL'
ALTER EXTENSION margin UPDATE;
CREATE TABLE named (id integer, colour text, size numeric, sold boolean);
INSERT INTO named SELECT i, (ARRAY['red', 'green', 'blue'])[1 + i % 3], i % 7 + 0.5, i % 3 = 0 OR i % 7 > 4 FROM generate_series(1, 60) AS i;
INSERT INTO old_models SELECT 'rows', 'sold', train_margin(sold, n, margin_options(lambda => 0.1, exclude => '{id, sold}') ORDER BY id) FROM named AS n;
INSERT INTO old_models SELECT 'ridge, centred', 'target', train_margin(1900 + target, x, margin_options(lambda => 0.1, loss => 'squared', history => true) ORDER BY id) FROM old_rows;
CREATE DOMAIN good AS margin_model CHECK ((VALUE).status = 'optimal');
CREATE TABLE sparse (id integer, v margin_sparse, w margin_sparse GENERATED ALWAYS AS (v) STORED, m good);
INSERT INTO sparse (id, v, m) SELECT id, x::margin_sparse, (SELECT model FROM old_models WHERE name = 'hinge') FROM old_rows;
CREATE UNIQUE INDEX ON sparse (v, id);
CREATE INDEX ON sparse USING hash (w);
CREATE VIEW predicted AS SELECT s.id, m.name, margin_predict(m.model, s.v) AS p FROM sparse AS s, old_models AS m WHERE m.label = 'side' AND m.name !~ 'wide';
CREATE MATERIALIZED VIEW kept_predictions AS SELECT * FROM predicted;
SQL
elif [ "$mode" = check ]; then
  ours -f "$file" >/dev/null
fi
ours <<'SQL' >"$scratch/digest"
SET enable_seqscan = off;
SELECT (SELECT md5(string_agg(name || model::text, ';' ORDER BY name COLLATE "C")) FROM old_models), (SELECT md5(string_agg(s::text || v::text || models::text, ';')) FROM old_selections),
       (SELECT md5(string_agg(id || name || p, ';' ORDER BY id, name COLLATE "C")) FROM predicted), (SELECT count(*) FROM kept_predictions JOIN predicted USING (id, name) WHERE kept_predictions.p = predicted.p),
       (SELECT string_agg(round(margin_score(model, n)::numeric, 9)::text, ',' ORDER BY id) FROM old_models, named AS n WHERE name = 'rows' AND id < 6),
       (SELECT count(*) FROM sparse AS a JOIN sparse AS b ON a.w = b.w WHERE b.v = (SELECT x::margin_sparse FROM old_rows WHERE id = 3)),
       (SELECT (margin_verify(model, side, x ORDER BY id)).errors FROM old_models, old_rows WHERE name = 'hard'), (SELECT (train_margin(side, x)).status FROM old_rows);
SQL
if [ "$mode" = make ]; then as_server "$bin/pg_dump" -h "$socket" -U postgres kept >"$file"; fi
if [ -n "$kept" ]; then
  rm -rf "$kept"
  mkdir -p "$kept/lib"
  cp -rL "${place:-$scratch}/install" "$kept/server"
  "$pg_config" --bindir >"$kept/bindir"
  ldd "$bin/postgres" "$bin/pg_ctl" | sed -nE 's/.* => (\/[^ ]*) .*/\1/p' | sort -u | xargs cp -L -t "$kept/lib"
  as_server "$bin/pg_ctl" -D "$data" -m fast -w stop >/dev/null
  cp -a "$data" "$kept/data"
  rm -rf "$data"
else
  stop_cluster
fi
say "digest: $(cat "$scratch/digest")"
