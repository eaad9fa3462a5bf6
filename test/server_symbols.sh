#!/usr/bin/env bash
# What margin.so asks of the server, and which majors have it: server_symbols.sh MAJOR=POSTGRES... -- LIBRARY... prints the text of
# test/fixtures/server_symbols.txt. POSTGRES is the server binary of the oldest minor release of MAJOR at hand, LIBRARY a margin.so
# that was built for some server. test/t/027_server_symbols.pl compares each build with it.
set -euo pipefail
declare -A has
majors=()
while [ "${1:---}" != -- ]; do
  majors+=("${1%%=*}")
  while read -r name; do has[$name]+=" ${1%%=*}"; done < <(nm -D --defined-only "${1#*=}" | awk '{sub(/@.*/, "", $3); print $3}' | sort -u)
  shift
done
[ ${#majors[@]} -gt 0 ] && [ $# -gt 1 ] || { sed -n 2,4p "$0" >&2; exit 2; }
shift
nm -D --undefined-only "$@" | awk '$1 == "U" && $2 !~ /@/ {print $2}' | sort -u | while read -r name; do printf '%s%s\n' "$name" "${has[$name]:-}"; done
