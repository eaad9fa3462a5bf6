#!/usr/bin/env bash
# The tests on other servers, compilers and processors: test/versions.sh [TARGET...]. Prints TAP, and writes what it found into
# the table of docs/versions.md. Targets:
#   host          this system's server and g++
#   SUITE         trixie, sid, ...: a chroot of Debian by debootstrap, with its own server, compiler and pgvector
#   experimental  the chroot of sid with the newest server of experimental, and pgvector of MARGIN_PGVECTOR_SOURCE
#   source:DIR    an unpacked source tree of PostgreSQL, built with assertions; default: those that MARGIN_PG_SOURCES lists
#   clang         this system's server and clang++, with GNU's library
#   libc++        the server and clang++ of trixie, with LLVM's library
#   i386          the line that refuses a 32-bit system
#   arm64         tests of the core, compiled across and run by qemu
# MARGIN_CORE_OBJECTS=1 compiles only what knows the server in a chroot, and links the objects of src/core that this tree has: half
# of the time, and the warnings are those of the other half.
# Root only: chroots, and packages that are missing here. Chroots and servers stay in MARGIN_VERSIONS_DIRECTORY (build/versions).
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

place_of_all=${MARGIN_VERSIONS_DIRECTORY:-${MARGIN_BUILD:-$root/build}/versions}
results=$place_of_all/results.tsv
export OPTFLAGS=${OPTFLAGS:-} # -O1 compiles in half of the time, and warns of less
scripts=${MARGIN_TAP:-}       # test/t/NUMBER...: some of the TAP tests
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo 'no commit')

# keep TARGET SERVER COMPILER WARNINGS REGRESS TAP PGVECTOR UPGRADE: a row of the table, in place of the target's last one
keep() {
  local IFS=$'\t' lock
  touch "$results"
  exec {lock}>"$results.lock"
  flock "$lock" # targets may run side by side
  grep -v "^$1"$'\t' "$results" >"$results.new" || true
  printf '%s\t%s\t%s\n' "$*" "$commit${OPTFLAGS:+ ($OPTFLAGS)}" "$(date -u +%F)" >>"$results.new"
  mv "$results.new" "$results"
  exec {lock}>&-
}

# of_file LOG NUMBER: "PASSED FAILED" of one TAP script
of_file() {
  awk -v script="(^| |/)t/$2_" '/^(\[[0-9:]+\] )?[^ ]*\.pl \.\./ {on = $0 ~ script} on && /^ok [0-9]/ {++ok} on && /^not ok [0-9]/ {++bad} END {print ok + 0, bad + 0}' "$1"
}

# tested TARGET SERVER COMPILER PREFIX PGVECTOR: reads the output of test/run.sh regress tap, whose scratch directory is below PREFIX
tested() {
  local target=$1 server=$2 compiler=$3 prefix=$4 pgvector=$5 log=$place_of_all/$1.log warnings regress tap kept file vector='not run' upgrade='not run' ok not_ok
  # PostgreSQL's own flags are those of the compiler that it was built with
  warnings=$(grep 'warning: ' "$log" | grep -vcE 'unknown warning option|optimization flag .* is not supported' || true)
  regress=$(sed -nE 's/^regress +([0-9]+ passed, [0-9]+ failed).*/\1/p' "$log" | tail -n 1)
  tap=$(sed -nE 's/^tap +([0-9]+ passed, [0-9]+ failed).*/\1/p' "$log" | tail -n 1)
  kept=$(sed -n 's/^kept: //p' "$log" | tail -n 1)
  if [ -n "$kept" ] && [ -f "$prefix$kept/tap.log" ]; then
    cp "$prefix$kept/tap.log" "$place_of_all/$target.tap.log"
    file=$place_of_all/$target.tap.log
    read -r ok not_ok < <(of_file "$file" 016)
    [ "$ok" -eq 0 ] || upgrade="$ok passed, $not_ok failed"
    read -r ok not_ok < <(of_file "$file" 008)
    if [ "$ok" -ne 0 ]; then vector="${pgvector:-layout only}: $ok passed, $not_ok failed"; fi
    rm -rf "$prefix${kept:?}"
  fi
  [ "$warnings" -eq 0 ] && warnings=none
  if [ -n "${moved:-}" ]; then
    upgrade+="; a dump of $(version_here): $moved"
    report "$([ "$moved" = restored ] && echo yes || echo no)" "$target: a dump of $(version_here) with models of both versions: $moved"
  fi
  if [ -n "${upgraded:-}" ]; then
    upgrade+="; pg_upgrade: $upgraded"
    report "$([ "$upgraded" = 'as before' ] && echo yes || echo no)" "$target: a cluster of $(version_here) by pg_upgrade: $upgraded"
  fi
  keep "$target" "$server" "$compiler" "$warnings" "${regress:-did not run}" "${tap:-did not run}${scripts:+ ($scripts)}" "$vector" "$upgrade"
  report "$([ "$warnings" = none ] && [ -n "$regress" ] && echo yes || echo no)" "$target: $compiler builds for $server without a warning"
  report "$([[ $regress == *' 0 failed' ]] && echo yes || echo no)" "$target: regress: ${regress:-did not run}"
  report "$([[ $tap == *' 0 failed' ]] && echo yes || echo no)" "$target: tap: ${tap:-did not run}"
  if [ "$bad" -ne 0 ]; then grep -vE '^ok ' "$log" | tail -n 40 | sed 's/^/# /'; fi
}

copy_tree() { # the files of the repository, without objects of another server
  rm -rf "$1"
  mkdir -p "$1"
  git -C "$root" ls-files -z | tar -C "$root" --null -T - -c | tar -x -C "$1"
}

core_objects() { # core_objects FROM TO: the objects of src/core of one tree for another of the same sources
  (cd "$1" && find objects/core \( -name '*.[od]' -o -name '*.cpp' \) -print0 | tar --null -T - -c) | tar -x -C "$2"
  # Older than they are, so that they stay: a precompiled header, which nothing that is compiled there reads.
  mkdir -p "$2/objects/core/base"
  touch -d '1 minute ago' "$2/objects/core/base/precompiled.hpp.gch"
  find "$2/objects/core" -name '*.o' -exec touch {} +
}

# --- chroots of Debian -----------------------------------------------------------------------------------------------------
inside() { # inside SUITE COMMAND...
  local suite=$1
  shift
  chroot "$place_of_all/$suite" /usr/bin/env -i PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    CCACHE_DIR=/ccache OPTFLAGS="$OPTFLAGS" MARGIN_TAP="$scripts" MARGIN_KEEP=1 MARGIN_JOBS="$jobs" MARGIN_REQUIRE_PGVECTOR="${require_pgvector:-}" "$@"
}
mounts() {
  local to=$place_of_all/$1
  mkdir -p "$to/dev/shm" "$to/ccache" "$place_of_all/ccache-$1"
  mountpoint -q "$to/proc" || mount -t proc proc "$to/proc"
  mountpoint -q "$to/dev/shm" || mount -t tmpfs tmpfs "$to/dev/shm"
  mountpoint -q "$to/ccache" || mount --bind "$place_of_all/ccache-$1" "$to/ccache"
}
unmounts() {
  local at
  for at in ccache dev/shm proc; do umount "$place_of_all/$1/$at" 2>/dev/null || true; done
}
chroot_of() { # chroot_of SUITE: makes it unless it is there
  local suite=$1 to=$place_of_all/$1 from security
  from=$(mirror)
  security=$(mirror debian-security)
  [ -n "$from" ] || die "no mirror of Debian in apt's sources"
  if [ ! -x "$to/usr/bin/apt-get" ]; then
    need_packages debootstrap
    say "# debootstrap $suite"
    debootstrap --variant=minbase "$suite" "$to" "$from" >"$place_of_all/$suite.debootstrap.log" 2>&1 || die "debootstrap failed: $place_of_all/$suite.debootstrap.log"
  fi
  if [ "$suite" != sid ] && [ -n "$security" ]; then echo "deb $security $suite-security main" >"$to/etc/apt/sources.list.d/security.list"; fi
  printf '#!/bin/sh\nexit 101\n' >"$to/usr/sbin/policy-rc.d" # packages start no server
  chmod +x "$to/usr/sbin/policy-rc.d"
  printf 'Acquire::Check-Valid-Until "false";\n' >"$to/etc/apt/apt.conf.d/80valid" # of sid the mirror may have an old state
  printf 'force-unsafe-io\n' >"$to/etc/dpkg/dpkg.cfg.d/unsafe-io"
  mounts "$suite"
}
# moves SUITE MAJOR: what becomes of a database of this system's server in that of the chroot; sets `moved` and `upgraded`
moves() {
  local dump=$place_of_all/kept.sql cluster=$place_of_all/kept-cluster here there
  here=$(MARGIN_TAP='' MARGIN_KEEP='' "$root/test/dump_restore.sh" make "$dump" "$cluster" 2>&1 | tail -n 1)
  cp "$dump" "$place_of_all/$1/margin/kept.sql"
  there=$(inside "$1" "${build[@]:-env}" MARGIN_KEEP= /margin/test/dump_restore.sh check /margin/kept.sql 2>&1 | tail -n 1) || true # a failure is a digest that differs
  moved=differs
  if [[ $here == digest:* && $here == "$there" ]]; then moved=restored; else printf '# %s\n' "$here" "$there"; fi
  [ "$2" -gt "$(version_here | sed 's/[^0-9].*//')" ] || return 0
  rm -rf "$place_of_all/$1/margin/kept-cluster"
  cp -a "$cluster" "$place_of_all/$1/margin/kept-cluster"
  there=$(inside "$1" "${build[@]:-env}" MARGIN_KEEP= /margin/test/dump_restore.sh upgrade /margin/kept-cluster 2>&1 | tee "$place_of_all/$1.upgrade.log" | tail -n 1) || true
  upgraded=differs
  if [[ $there == *'pg_upgrade failed' ]]; then upgraded='does not finish'; fi
  if [[ $here == digest:* && $here == "$there" ]]; then upgraded='as before'; else printf '# %s\n' "$here" "$there"; fi
}
vector_from_source() { # vector_from_source SUITE MAJOR: installs pgvector of MARGIN_PGVECTOR_SOURCE, and says its version
  [ -f "${MARGIN_PGVECTOR_SOURCE:-}/vector.control" ] || return 0
  rm -rf "$place_of_all/$1/pgvector"
  cp -r "$MARGIN_PGVECTOR_SOURCE" "$place_of_all/$1/pgvector"
  inside "$1" make -s -C /pgvector -j "$jobs" OPTFLAGS='' with_llvm=no PG_CONFIG="/usr/lib/postgresql/$2/bin/pg_config" install >"$place_of_all/$1.pgvector.log" 2>&1 || return 0
  sed -n "s/^default_version = '\(.*\)'/\1/p" "$MARGIN_PGVECTOR_SOURCE/vector.control"
}
# debian SUITE [libc++|experimental]: its own server and pgvector; its g++, or its clang++ with the library of LLVM, which has what is needed
# (std::pmr) from version 16 on
debian() {
  local suite=$1 variant=${2:-} target=$1${2:+-$2} major pgvector moved='' upgraded='' compiler build=() packages from=()
  chroot_of "$suite"
  if [ "$variant" = experimental ]; then
    target=experimental
    echo "deb $(mirror) experimental main" >"$place_of_all/$suite/etc/apt/sources.list.d/experimental.list"
    from=(-t experimental)
  fi
  inside "$suite" apt-get update -q >"$place_of_all/$target.apt.log" 2>&1
  major=$(inside "$suite" apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1)
  packages=(ccache)
  if [ "$variant" = experimental ]; then
    major=$(inside "$suite" apt-cache pkgnames postgresql-server-dev- | sed -n 's/^postgresql-server-dev-\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
  else
    packages+=("postgresql-$major-pgvector")
  fi
  packages+=("postgresql-$major" "postgresql-server-dev-$major")
  build=(env "PG_MAJOR=$major" "PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config")
  if [ "$variant" = libc++ ]; then
    packages+=(clang libc++-dev libc++abi-dev)
    build+=('MARGIN_CXX=clang++ -stdlib=libc++' 'MARGIN_STDLIB=-lc++ -lc++abi')
  fi
  inside "$suite" apt-get install -q -y --no-install-recommends "${from[@]}" "${packages[@]}" >>"$place_of_all/$target.apt.log" 2>&1 ||
    { report no "$target: packages"; tail -n 5 "$place_of_all/$target.apt.log" | sed 's/^/# /'; return; }
  if [ "$variant" = experimental ]; then
    pgvector=$(vector_from_source "$suite" "$major")
  else
    pgvector=$(inside "$suite" dpkg-query -W -f='${Version}' "postgresql-$major-pgvector" | sed 's/-.*//')
  fi
  copy_tree "$place_of_all/$suite/margin"
  [ -z "${MARGIN_CORE_OBJECTS:-}" ] || core_objects "$root" "$place_of_all/$suite/margin"
  require_pgvector=${pgvector:+1} inside "$suite" "${build[@]}" /margin/test/run.sh regress tap >"$place_of_all/$target.log" 2>&1 </dev/null || true
  if [ "$variant" = libc++ ]; then
    compiler="clang++ $(inside "$suite" clang++ -dumpversion), libc++"
  else
    compiler="g++ $(inside "$suite" g++ -dumpfullversion)"
    moves "$suite" "$major"
  fi
  [ -z "${MARGIN_CORE_OBJECTS:-}" ] || compiler+=" (src/core: g++ $(g++ -dumpfullversion))"
  tested "$target" "$(inside "$suite" "/usr/lib/postgresql/$major/bin/postgres" --version | grep -oE '[0-9]+[0-9.a-z]*' | head -n 1), Debian $suite" "$compiler" "$place_of_all/$suite" "$pgvector"
  unmounts "$suite"
}

# --- this system -------------------------------------------------------------------------------------------------------------
# here TARGET SERVER COMPILER [NAME=VALUE...]: test/run.sh of a copy of the tree
here() {
  local target=$1 server=$2 compiler=$3 pgvector
  shift 3
  copy_tree "$place_of_all/tree-$target"
  # the core knows no server: the objects of this system's compiler do, if they are of the same files
  if [[ $target == source-* ]] && diff -rq -x '*.o' -x '*.d' "$place_of_all/tree-host/src" "$place_of_all/tree-$target/src" >/dev/null 2>&1; then
    core_objects "$place_of_all/tree-host" "$place_of_all/tree-$target"
  fi
  env MARGIN_KEEP=1 MARGIN_TAP="$scripts" "$@" "$place_of_all/tree-$target/test/run.sh" regress tap >"$place_of_all/$target.log" 2>&1 </dev/null || true
  pgvector=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$("$pg_config" --sharedir)/extension/vector.control" 2>/dev/null || true)
  tested "$target" "$server" "$compiler" '' "$pgvector"
  [ "$target" = host ] || rm -rf "$place_of_all/tree-$target"
}
version_here() { "$pg_config" --version | grep -oE '[0-9]+[0-9.a-z]*' | head -n 1; }
source_tree() { # source_tree DIR: builds it with assertions unless MARGIN_VERSIONS_DIRECTORY has it already
  local from=$1 version server
  version=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$from/configure" | head -n 1)
  [ -n "$version" ] || { report no "$from is a source tree of PostgreSQL"; return; }
  server=$place_of_all/server-$version
  if [ ! -x "$server/bin/pg_config" ]; then
    need_packages libxml2-dev bison flex
    say "# building PostgreSQL $version with assertions"
    mkdir -p "$place_of_all/objects-$version"
    (cd "$place_of_all/objects-$version" &&
      "$from/configure" --prefix="$server" --enable-cassert --enable-tap-tests --with-libxml --without-readline --without-zlib $([ "${version%%.*}" -lt 16 ] || echo --without-icu) CFLAGS='-O1 -g1' &&
      make -s -j "$jobs" install && make -s -C contrib -j "$jobs" install) >"$place_of_all/server-$version.log" 2>&1 ||
      { report no "PostgreSQL $version builds"; tail -n 5 "$place_of_all/server-$version.log" | sed 's/^/# /'; return; }
    if [ -f "${MARGIN_PGVECTOR_SOURCE:-}/vector.control" ]; then
      cp -r "$MARGIN_PGVECTOR_SOURCE" "$place_of_all/pgvector-$version"
      make -s -C "$place_of_all/pgvector-$version" -j "$jobs" OPTFLAGS='' PG_CONFIG="$server/bin/pg_config" install >>"$place_of_all/server-$version.log" 2>&1
    fi
  fi
  pg_config=$server/bin/pg_config
  here "source-$version" "$(version_here), from source, with assertions" "g++ $(g++ -dumpfullversion)" PG_CONFIG="$pg_config" # not quoted by need: one word
  find_postgres
}
clang() {
  local compiler
  need_packages clang
  compiler="clang++ $(clang++ -dumpversion)"
  if [ "$(uname -m)" = x86_64 ]; then
    in_vectors clang objdump 'vfn?m(add|sub)[0-9]+pd.*ymm' avx2 clang++
    in_vectors clang objdump 'vfn?m(add|sub)[0-9]+pd.*[yz]mm' avx512 clang++
  fi
  here clang "$(version_here), this system" "$compiler" MARGIN_CXX=clang++
}

# --- other processors ----------------------------------------------------------------------------------------------------------
i386() {
  local said
  need_packages g++-i686-linux-gnu
  said=$(make -C "$root" -n CXX=i686-linux-gnu-g++ PG_CONFIG="$pg_config" 2>&1 | grep -v '^make: ' || true)
  report "$([[ $said == *64-bit* && $(wc -l <<<"$said") -eq 1 ]] && echo yes || echo no)" "i386: refused by one line: ${said#*[*] }"
  keep i386 '-' "g++ $(i686-linux-gnu-g++ -dumpfullversion), i686" 'refused by one line' - - - -
}
# in_vectors TARGET OBJDUMP PATTERN SET COMPILER...: the inner loops of one set, compiled as a package is, have instructions of that pattern
in_vectors() {
  local target=$1 objdump=$2 pattern=$3 set=$4 object=$place_of_all/loops-$1.o found name missing=''
  shift 4
  "$@" -std=c++17 -O3 -g0 -fopenmp-simd -I"$root/src" -c "$root/src/core/simd/loops.cpp" -o "$object" || { report no "$target: the loops compile"; return; }
  found=$("$objdump" -dC --no-show-raw-insn "$object" | awk -v pattern="$pattern" '/^[0-9a-f]+ </ {name = $0} $0 ~ pattern {print name}' | sort -u)
  # by the names of functions, or of those that have the inner loop where the compiler likes that
  for name in 'dot_(fd|of<float, double>)' 'dot_(dd|of<double, double>)' axpy_f axpy_d rotate '(rank_update|tile)_f' '(rank_update|tile)_d' 'tile_(dots_f|four<float>)' \
    panel_dot_f panel_dot_d logistic logistic_steps entropy power exp_negated pair_step pair_gain box_line; do
    grep -qE "::$set::$name\(" <<<"$found" || missing+=" $name"
  done
  report "$([ -z "$missing" ] && echo yes || echo no)" "$target: the loops of the set $set are in vectors${missing:+, but not$missing}"
}
# The core and some of its tests, with the googletest of this system's sources, by a processor that is emulated: it takes thirty
# times as long, and those that solve hundreds of problems are left out.
arm64() {
  local objects=$place_of_all/arm64 file tests said
  need_packages g++-aarch64-linux-gnu qemu-user libgtest-dev
  mkdir -p "$objects/test"
  cat >"$objects/Makefile" <<END
ROOT = $root
FLAGS = -std=c++17 -O1 -g0 -MMD -MP -fopenmp-simd -DEIGEN_DONT_PARALLELIZE -DEIGEN_MAX_ALIGN_BYTES=16 -include \$(ROOT)/src/core/base/precompiled.hpp -I\$(ROOT)/src -I\$(ROOT)/test/unit -I\$(ROOT) -isystem /usr/include/eigen3 -Wall -Wextra
CORE = \$(patsubst \$(ROOT)/src/%.cpp,%.o,\$(shell find \$(ROOT)/src/core -name '*.cpp'))
TESTS = $(printf 'test/%s.o ' ${MARGIN_ARM_TESTS:-dataset_test simd_loops_test certificate_test risk_certificate_test sdca_test loss_test pgvector_layout_test sparse_text_test min_norm_point_test newton_test kernel_test encoder_test})
CXX = \$(CCACHE) aarch64-linux-gnu-g++
all: tests
core/%.o: \$(ROOT)/src/core/%.cpp
	@mkdir -p \$(dir \$@)
	\$(CXX) \$(FLAGS) -c \$< -o \$@
test/%.o: \$(ROOT)/test/unit/%.cpp
	\$(CXX) \$(FLAGS) -isystem /usr/src/googletest/googletest/include -c \$< -o \$@
gtest.o gtest_main.o: %.o:
	\$(CXX) -std=c++17 -O1 -I/usr/src/googletest/googletest/include -I/usr/src/googletest/googletest -c /usr/src/googletest/googletest/src/\$(if \$(findstring main,\$*),gtest_main,gtest-all).cc -o \$@
tests: \$(CORE) \$(TESTS) gtest.o gtest_main.o
	\$(CXX) -o \$@ \$^ -lpthread
-include \$(CORE:.o=.d) \$(TESTS:.o=.d)
END
  in_vectors arm64 aarch64-linux-gnu-objdump '\\tfml[as]\\t.*v[0-9]+\\.2d' baseline aarch64-linux-gnu-g++
  make -C "$objects" -j "$jobs" CCACHE="$(command -v ccache || true)" >"$place_of_all/arm64.log" 2>&1 || { report no 'arm64: the core compiles'; grep -E 'error|Error' "$place_of_all/arm64.log" | head -n 5 | sed 's/^/# /'; return; }
  tests=$(qemu-aarch64 -L /usr/aarch64-linux-gnu "$objects/tests" --gtest_brief=1 --gtest_filter='-*RandomProblems*:*PollsAllTheTime*' 2>&1 | tee -a "$place_of_all/arm64.log" | tail -n 20)
  said=$(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?\..*/\1 passed/p' <<<"$tests")
  file=$(grep -c '^\[  FAILED  \]' <<<"$tests" || true)
  report "$([ "$(grep -c 'warning: ' "$place_of_all/arm64.log" || true)" -eq 0 ] && echo yes || echo no)" 'arm64: the core compiles without a warning'
  report "$([ -n "$said" ] && [ "$file" -eq 0 ] && echo yes || echo no)" "arm64: tests of the core: ${said:-none}"
  [ "$file" -eq 0 ] || sed 's/^/# /' <<<"$tests"
  keep arm64 'core only' "g++ $(aarch64-linux-gnu-g++ -dumpfullversion), aarch64, qemu" "$(grep -c 'warning: ' "$place_of_all/arm64.log" | sed 's/^0$/none/')" "unit tests of the core: ${said:-none}, $file failed" - - -
}

table() { # the rows of the table, in docs/versions.md between its marks
  local page=$root/docs/versions.md
  {
    sed '/^<!-- table -->$/q' "$page"
    say '| server | compiler | warnings | regress | TAP | pgvector (t/008) | upgrade (t/016) | commit, date |'
    say '|---|---|---|---|---|---|---|---|'
    sort "$results" | awk -F '\t' '{printf "| %s | %s | %s | %s | %s | %s | %s | %s, %s |\n", $2, $3, $4, $5, $6, $7, $8, $9, $10}'
    sed -n '/^<!-- end of the table -->$/,$p' "$page"
  } >"$results.page"
  cat "$results.page" >"$page"
  rm "$results.page"
}

[ "$(id -u)" -eq 0 ] || die 'root only: it makes chroots'
mkdir -p "$place_of_all"
find_postgres
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  targets=(host trixie sid experimental clang libc++ i386 arm64)
  for directory in ${MARGIN_PG_SOURCES:-}; do targets+=("source:$directory"); done
fi
for target in "${targets[@]}"; do
  case $target in
    host) here host "$(version_here), Debian $(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "g++ $(g++ -dumpfullversion)" ;;
    libc++) debian trixie libc++ ;;
    experimental) debian sid experimental ;;
    clang | i386 | arm64) "$target" ;;
    source:*) source_tree "${target#source:}" ;;
    *) debian "$target" ;;
  esac
done
table
say "1..$checks"
[ "$bad" -eq 0 ]
