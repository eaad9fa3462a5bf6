# What test/run.sh, demo/run.sh and bench/run.sh share: packages, build, a private installation, a throw-away cluster.
# Sourced by bash scripts; it sets `root` (the repository) and changes nothing outside a directory of its own, except
# that it installs missing Debian packages. No running server and no other cluster is touched: the extension goes into
# a private copy of the server's directories, not into the system's.

set -euo pipefail
# Whatever they were: a bare system has none, and its clients speak SQL_ASCII. The server's own test modules take LC_ALL away.
export LC_ALL=C.UTF-8 LANG=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# The distribution's own server: 15 on Debian 12, 17 on Debian 13.
pg_major=${PG_MAJOR:-$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1)}
pg_major=${pg_major:-15}
# One for each processor, as far as a gigabyte of memory for each goes.
jobs=${MARGIN_JOBS:-$(awk -v processors="$(nproc)" '/^MemAvailable/ {most = int($2 / 1048576)} END {print most < 1 ? 1 : most < processors ? most : processors}' /proc/meminfo)}
# Where ccache is installed, what it has compiled before is not compiled again, in whatever directory the repository is.
if [ -d /usr/lib/ccache ]; then
  export PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi
python=/usr/bin/python3 # Debian's own: the one that has numpy, whatever else is on the PATH
scratch=''     # the directory of this run; removed at the end
stage_groups=() # process groups of the commands that run just now
built=$root    # the tree that is built and installed; bench/against.sh has two
place=''       # where its installation and its cluster go: in the scratch directory itself, or in this one below it

packages_build=(postgresql-"$pg_major" postgresql-server-dev-"$pg_major" g++ make pkg-config libeigen3-dev)
packages_server=(libipc-run-perl python3 python3-numpy python3-psycopg2 xz-utils) # what the tests in a server need
# clang-format of one version, which Debian 12 and 13 both have: each formats something in its own way
packages_test=("${packages_server[@]}" cmake libgtest-dev libmpfr-dev valgrind clang-format-19)
packages_bench=(cmake python3 python3-numpy python3-pandas python3-sklearn python3-xgboost r-cran-mgcv python3-matplotlib "postgresql-plpython3-$pg_major" xz-utils liblinear-dev libsvm-dev)

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# need_packages NAME...: install those that are missing, saying which.
need_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q '^install ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "please install: ${missing[*]}"
  become=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo; please install: ${missing[*]}"
    become=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  say '  from the mirrors of apt: up to some minutes'
  apt_get update -q
  case " ${missing[*]}" in
    *' postgresql-'[0-9]*) # its package would make a cluster and start it: ours are made when they are needed
      local settings=/etc/postgresql-common/createcluster.conf failed=''
      apt_get install -q -y --no-install-recommends postgresql-common
      "${become[@]}" sh -c "cp -p $settings $settings.margin && echo 'create_main_cluster = false' >>$settings"
      (apt_get install -q -y --no-install-recommends "${missing[@]}") || failed=yes
      "${become[@]}" mv "$settings.margin" "$settings"
      [ -z "$failed" ] || exit 1
      ;;
    *) apt_get install -q -y --no-install-recommends "${missing[@]}" ;;
  esac
}

# mirror [NAME]: of Debian (debian, debian-security), the one that this system's apt uses.
mirror() {
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
    sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +([^ ]*\/'"${1:-debian}"')\/?( .*)?$/\3/p' | head -n 1
}

# report yes|no NAME: a line of TAP
checks=0
bad=0
report() {
  checks=$((checks + 1))
  if [ "$1" = yes ]; then say "ok $checks - $2"; else
    bad=$((bad + 1))
    say "not ok $checks - $2"
  fi
}

# apt_get ARGUMENT...: every two or three seconds a line of what it says, and the last ones if it fails.
apt_get() {
  local log line last=$SECONDS
  log=$(mktemp)
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$log" 2>&1 </dev/null &
  while [ -n "$(jobs -r)" ]; do
    sleep 0.5
    [ $((SECONDS - last)) -ge 2 ] || continue
    last=$SECONDS
    line=$(tail -n 1 "$log")
    say "  ${line:0:76}"
  done
  wait $! || { tail -n 15 "$log" && rm -f "$log" && die "apt-get $1 failed"; }
  rm -f "$log"
}

find_postgres() {
  pg_config=${PG_CONFIG:-}
  if [ -z "$pg_config" ]; then
    pg_config=/usr/lib/postgresql/$pg_major/bin/pg_config
    [ -x "$pg_config" ] || pg_config=$(command -v pg_config) || die "no pg_config; set PG_CONFIG"
  fi
  pgxs_tests=$(dirname "$("$pg_config" --pgxs)")/../test
}

# as_server COMMAND...: run it as the user that owns the cluster. PostgreSQL refuses to run as root.
# From a directory that this user may not enter, such as a clone in /root, it starts in /.
as_server() {
  if [ "$(id -u)" -eq 0 ]; then
    (runuser -u postgres -- test -x "$PWD" || cd /; exec runuser -u postgres -- "$@")
  else "$@"; fi
}

# A directory for this run that the server's user can enter; short, because socket paths are limited to 107 bytes.
make_scratch() {
  scratch=$(mktemp -d -t margin.XXXXXX)
  chmod 755 "$scratch"
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  if ! as_server test -x "$scratch" || [ ${#scratch} -gt 60 ]; then
    rmdir "$scratch"
    scratch=$(TMPDIR='' mktemp -d -t margin.XXXXXX)
    chmod 755 "$scratch"
  fi
}

# server_directory NAME: a directory in the scratch space that the server's user owns.
server_directory() {
  local directory=${place:-$scratch}/$1
  mkdir -p "$directory"
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$directory"; fi
  printf '%s\n' "$directory"
}

clean_up() {
  local status=$? pid_file
  trap - EXIT INT TERM HUP
  set +e
  local group
  for group in "${stage_groups[@]}"; do kill -TERM -- "-$group" 2>/dev/null; done
  if [ -n "$scratch" ]; then
    # Every cluster below the scratch directory is ours: each is stopped through its own data directory.
    find "$scratch" -name postmaster.pid 2>/dev/null | while read -r pid_file; do
      as_server "${bin:-}/pg_ctl" -D "$(dirname "$pid_file")" -m immediate stop >/dev/null 2>&1
    done
    if [ -n "${MARGIN_KEEP:-}" ]; then
      say "kept: $scratch"
    else
      rm -rf "$scratch"
    fi
  fi
  exit "$status"
}

# Says now and then how far it is; all else that make and the compiler say is an error or a warning.
build_extension() {
  local parts strict=-Werror
  parts=$(find "$built/src" -name '*.cpp' -printf '%h\n' -o -name '*.c' -print | sort -u | wc -l) # directories, each compiled as one, and module.c
  # Later compilers take moved-from variants for uninitialised: their warnings are read, not obeyed.
  [ -z "${MARGIN_CXX:-}" ] && [ "$(g++ -dumpversion | cut -d . -f 1)" -le 12 ] || strict=''
  make -C "$built" -j"$jobs" PG_CONFIG="$pg_config" ${MARGIN_CXX:+CXX="$MARGIN_CXX"} ${MARGIN_STDLIB:+STDLIB="$MARGIN_STDLIB"} WARNINGS="-Wall -Wextra $strict" | {
    # Not awk: mawk reads in large blocks, and would say it all at the end.
    local line compiled=0 status=0 last=$SECONDS
    while IFS= read -t 1 -r line || { status=$? && [ "$status" -gt 128 ]; }; do # above 128: nothing to read for a second
      if [ "$status" -eq 0 ] && [[ $line == *' -c -o '* ]]; then compiled=$((compiled + 1)); fi
      status=0
      [ $((SECONDS - last)) -ge 2 ] || continue
      last=$SECONDS
      say "  compiling: part $compiled of $parts"
    done
  }
}

# A private copy of the server's installation with our extension in it. PostgreSQL finds its library and share
# directories relative to its own executable, so a copied bin directory is all that it takes.
install_privately() {
  local tree=${place:-$scratch}/install directory entry
  mkdir -p "$tree"
  make -C "$built" -s install PG_CONFIG="$pg_config" DESTDIR="$tree" >/dev/null
  bin=$tree$("$pg_config" --bindir)
  mkdir -p "$bin"
  cp "$("$pg_config" --bindir)"/* "$bin/"
  local library share
  library=$("$pg_config" --pkglibdir)
  share=$("$pg_config" --sharedir)
  mkdir -p "$tree$library/bitcode" "$tree$share/extension"
  for directory in "$library" "$library/bitcode" "$share" "$share/extension"; do
    for entry in "$directory"/*; do
      case $(basename "$entry") in
        margin | margin.* | margin--*) continue ;; # never a version of ours that the system may have
      esac
      [ -e "$entry" ] || continue # an empty directory
      [ -e "$tree$directory/$(basename "$entry")" ] || ln -s "$entry" "$tree$directory/"
    done
  done
  chmod -R u+rwX,go+rX "$tree"
}

# sanitize_installation LIBRARY: the private copy gets this margin.so, which was built with sanitizers, and their libraries
# are loaded before the server's own code. What they report goes to files in $reports. A report ends the process by a
# signal, as a crash does: exit() would be a session's ordinary end. Errors jump over frames (siglongjmp), which the
# sanitizer sees; a stack of its own for variables would never be given back then.
sanitize_installation() {
  local tree=${place:-$scratch}/install preload
  reports=$(server_directory reports)
  install -m 755 "$1" "$tree$("$pg_config" --pkglibdir)/margin.so"
  "${CC:-gcc}" -shared -fPIC -o "$tree/bindtextdomain.so" "$root/test/fuzz/bindtextdomain.c"
  preload="$("${CC:-gcc}" -print-file-name=libasan.so) $("${CC:-gcc}" -print-file-name=libubsan.so) $tree/bindtextdomain.so"
  mv "$bin/postgres" "$bin/postgres.plain"
  cat >"$bin/postgres" <<WRAPPER
#!/bin/sh
LD_PRELOAD='$preload'
ASAN_OPTIONS='log_path=$reports/address:abort_on_error=1:detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:quarantine_size_mb=32:malloc_context_size=12'
UBSAN_OPTIONS='log_path=$reports/undefined:abort_on_error=1:print_stacktrace=1'
export LD_PRELOAD ASAN_OPTIONS UBSAN_OPTIONS
exec '$bin/postgres.plain' "\$@"
WRAPPER
  chmod 755 "$bin/postgres"
}

# start_cluster [SETTING...]: a cluster on a unix socket only; `psql_ours` talks to it.
start_cluster() {
  data=$(server_directory server)/data
  socket=$(server_directory socket)
  as_server "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
  {
    printf "listen_addresses = ''\nunix_socket_directories = '%s'\nfsync = off\n" "$socket"
    [ $# -eq 0 ] || printf '%s\n' "$@"
  } | as_server tee -a "$data/postgresql.conf" >/dev/null
  as_server "$bin/pg_ctl" -D "$data" -l "$data/../log" -w start >/dev/null ||
    { cat "$data/../log" >&2; die "the cluster did not start"; }
}

stop_cluster() {
  as_server "$bin/pg_ctl" -D "$data" -m fast -w stop >/dev/null
  rm -rf "$data" # the next one starts from nothing
}

psql_ours() {
  PGOPTIONS="${PGOPTIONS:-}" "$bin/psql" -X -P pager=off -h "$socket" -U postgres -v ON_ERROR_STOP=1 "$@"
}
