#!/usr/bin/env bash
# margin for PGlite, PostgreSQL in WebAssembly, from a clean clone: packaging/pglite/build.sh [package|site|tests]
#   package  (default: package, then site) margin.tar.gz and the npm package, in MARGIN_PGLITE_DIRECTORY/package
#   site     the page of demo/browser with all that it needs: python3 -m http.server -d MARGIN_PGLITE_DIRECTORY/site
#   tests    the unit tests and the exact checker of certificates, for Node.js (test/pglite.sh)
# Root: compilers and headers are those of a chroot of Debian sid. What is downloaded and built stays in MARGIN_PGLITE_DIRECTORY
# (build/pglite): 3 GB. Node.js 20 and npm are to be there. MARGIN_JOBS files are compiled at a time (as many as there are processors).
. "$(dirname "${BASH_SOURCE[0]}")/../../test/lib.sh"

here=$root/packaging/pglite
place=${MARGIN_PGLITE_DIRECTORY:-${MARGIN_BUILD:-$root/build}/pglite}
chroot=$place/chroot
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$root/margin.control")

inside() { # inside COMMAND...
  chroot "$chroot" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    EM_CACHE=/margin/cache EMCC_CORES="$jobs" "$@"
}

from_registry() { # PGlite of the version that package.json names
  mkdir -p "$place"
  cp "$here"/package.json "$here"/*.mjs "$place/"
  [ -e "$place/npm.done" ] && cmp -s "$place/npm.done" "$here/package.json" && return
  (cd "$place" && npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock --legacy-peer-deps)
  cp "$here/package.json" "$place/npm.done"
}

make_chroot() {
  [ "$(id -u)" -eq 0 ] || die 'only root can make a chroot'
  need_packages debootstrap
  if [ ! -e "$chroot/made" ]; then
    local from installed=''
    from=$(mirror)
    [ -n "$from" ] || die "no mirror of Debian in apt's sources"
    say "a chroot of Debian sid in $chroot: some minutes"
    debootstrap --variant=minbase sid "$chroot" "$from" >"$place/debootstrap.log" 2>&1 || die "debootstrap failed: $place/debootstrap.log"
    printf 'Acquire::Check-Valid-Until "false";\n' >"$chroot/etc/apt/apt.conf.d/80valid" # of sid the mirror may have an old state
    mount -t proc proc "$chroot/proc" # which a package's script asks for
    inside apt-get install -q -y --no-install-recommends emscripten make libeigen3-dev postgresql-server-dev-18 >"$place/apt.log" 2>&1 || installed=no
    umount "$chroot/proc"
    [ -z "$installed" ] || die "apt-get failed: $place/apt.log"
    touch "$chroot/made"
  fi
  [ -e "$chroot/margin/cache/sysroot_install.stamp" ] || inside embuilder build sysroot >"$place/sysroot.log" 2>&1 || die "embuilder failed: $place/sysroot.log"
  # The server's headers for 32 bits.
  local headers=$chroot/margin/headers
  if [ ! -e "$headers/made" ]; then
    rm -rf "$headers"
    mkdir -p "$chroot/margin"
    cp -r "$chroot/usr/include/postgresql/18/server" "$headers"
    sed -i -E 's/^#define (ALIGNOF_LONG|SIZEOF_LONG|SIZEOF_SIZE_T|SIZEOF_VOID_P) 8$/#define \1 4/' "$headers/pg_config.h"
    [ "$(grep -cE '^#define (ALIGNOF_LONG|SIZEOF_LONG|SIZEOF_SIZE_T|SIZEOF_VOID_P) 4$' "$headers/pg_config.h")" -eq 4 ] ||
      die 'pg_config.h has not the four sizes that differ'
    touch "$headers/made"
  fi
  same_sources "$chroot/margin/source"
}

# same_sources TO: the repository's, of which those that changed are new, whatever their time was: make compiles these again.
same_sources() {
  local to=$1 new=$1.new file
  rm -rf "$new"
  mkdir -p "$new" "$to" "$chroot/margin/build"
  (cd "$root" && find src packaging/pglite test/unit test/exact -type f -regex '.*[.]\(c\|h\|cpp\|hpp\|inc\|mk\)' -print0 | tar --null -T - -c) | tar -x -m -C "$new"
  (cd "$new" && find . -type f) | while IFS= read -r file; do
    cmp -s "$new/$file" "$to/$file" || { mkdir -p "$to/$(dirname "$file")" && mv "$new/$file" "$to/$file"; }
  done
  (cd "$to" && find . -type f) | while IFS= read -r file; do
    [ -e "$root/$file" ] || rm "$to/$file"
  done
  rm -rf "$new"
}

in_chroot_make() { # in_chroot_make ARGUMENT...
  inside make -s -C /margin/build -f /margin/source/packaging/pglite/wasm.mk VERSION="$version" "$@"
}

build_package() {
  from_registry
  make_chroot
  say 'compiling: five minutes of one core'
  in_chroot_make -j"$jobs" margin.so maths.wasm || die 'the compiler failed'
  node "$place/check_imports.mjs" "$chroot/margin/build/margin.so" "$place/node_modules/@electric-sql/pglite/dist/pglite.wasm" ||
    die 'the module does not fit this version of PGlite'
  local tree=$place/tree script
  rm -rf "$tree" "$place/package"
  mkdir -p "$tree/lib/postgresql" "$tree/share/postgresql/extension"
  cp "$chroot/margin/build/margin.so" "$tree/lib/postgresql/"
  cp "$root/margin.control" "$tree/share/postgresql/extension/"
  for script in "$root"/sql/margin--*.sql; do # no database of PGlite's was ever of 0.1.0
    case $script in *--0.1.0*) ;; *) cp "$script" "$tree/share/postgresql/extension/" ;; esac
  done
  cp -r "$here/package" "$place/package"
  cp "$root/LICENSE" "$place/package/"
  tar -C "$tree" --sort=name --mtime='@0' --owner=0 --group=0 --numeric-owner -cf - lib share | gzip -9n >"$place/package/margin.tar.gz"
  (cd "$place/package" && npm pack --silent --pack-destination "$place" >/dev/null)
  say "margin.so: $(stat -c %s "$tree/lib/postgresql/margin.so") bytes; margin.tar.gz: $(stat -c %s "$place/package/margin.tar.gz")"
}

build_site() {
  local site=$place/site
  [ -e "$place/package/margin.tar.gz" ] || build_package
  rm -rf "$site"
  mkdir -p "$site/pglite" "$site/data"
  cp "$root"/demo/browser/* "$root/docs/tutorial.md" "$place/package/margin.tar.gz" "$site/"
  cp "$root"/demo/data/*.csv "$site/data/"
  (cd "$place/node_modules/@electric-sql/pglite/dist" && cp index.js chunk-*.js pglite.wasm pglite.data initdb.wasm "$site/pglite/")
  cp "$place/node_modules/@electric-sql/pglite/LICENSE" "$site/pglite/" 2>/dev/null || true
  (cd "$place" && node data_directory.mjs package "$site/data-directory.tar.gz")
  # What the page needs without a network.
  (cd "$site" && find . -type f ! -name files.json -printf '"%P"\n' | sort | paste -sd, | sed 's|.*|["./", &]|' >files.json)
  say "the page: python3 -m http.server -d $site"
}

# MPFR and the small GMP of GMP's sources are Debian's; googletest is this system's.
numbers() {
  local name
  [ ! -e "$chroot/margin/build/numbers/done" ] || return 0
  mkdir -p "$chroot/margin/sources"
  if ! compgen -G "$chroot/margin/sources/mpfr4_*.orig.tar.xz" >/dev/null; then
    echo "deb-src $(mirror) sid main" >"$chroot/etc/apt/sources.list.d/source.list"
    inside apt-get update -q >"$place/sources.log" 2>&1 || die "apt-get failed: $place/sources.log"
    inside sh -c 'cd /margin/sources && apt-get source -q --download-only gmp mpfr4' >>"$place/sources.log" 2>&1 || true # the archives are enough
  fi
  for name in gmp mpfr; do
    rm -rf "$chroot/margin/build/numbers/$name"
    mkdir -p "$chroot/margin/build/numbers/$name"
    tar -xJf "$chroot"/margin/sources/"$name"*.orig.tar.xz -C "$chroot/margin/build/numbers/$name" --strip-components=1 || die "no sources of $name: $place/sources.log"
  done
  touch "$chroot/margin/build/numbers/done"
}

build_tests() {
  need_packages googletest xz-utils
  make_chroot
  numbers
  rm -rf "$chroot/margin/googletest"
  cp -rp /usr/src/googletest "$chroot/margin/googletest"
  say 'compiling the tests: ten minutes of one core'
  in_chroot_make -j"$jobs" exact.js unit.js
}

case ${1:-all} in
  all)
    build_package
    build_site
    ;;
  package) build_package ;;
  site) build_site ;;
  tests) build_tests ;;
  *) die "unknown: $1" ;;
esac
