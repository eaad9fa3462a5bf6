#!/usr/bin/env bash
# margin for PGlite, PostgreSQL in WebAssembly, from a clean clone: packaging/pglite/build.sh makes margin.tar.gz and the npm package, in
# MARGIN_PGLITE_DIRECTORY/package.
# Root: compilers and headers are those of a chroot of Debian sid. What is downloaded and built stays in MARGIN_PGLITE_DIRECTORY
# (build/pglite): 3 GB. Node.js 20 and npm are to be there. MARGIN_JOBS (2) files are compiled at a time.
. "$(dirname "${BASH_SOURCE[0]}")/../../test/lib.sh"

here=$root/packaging/pglite
place=${MARGIN_PGLITE_DIRECTORY:-${MARGIN_BUILD:-$root/build}/pglite}
chroot=$place/chroot
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$root/margin.control")
# What of musl, the C library, the main module does not export.
maths='math/erf.o math/expm1.o math/fma.o math/ilogb.o math/log1p.o math/nearbyint.o'
others='signal/sigfillset.o string/strnlen.o thread/pthread_equal.o'

inside() { # inside COMMAND...
  chroot "$chroot" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    EM_CACHE=/margin/cache EMCC_CORES="$jobs" "$@"
}

from_registry() { # PGlite of the version that package.json names
  mkdir -p "$place"
  cp "$here"/package.json "$here"/*.mjs "$place/"
  [ -e "$place/npm.done" ] && cmp -s "$place/npm.done" "$here/package.json" && return
  (cd "$place" && npm install --silent --ignore-scripts --no-audit --no-fund --no-package-lock --legacy-peer-deps "$@")
  cp "$here/package.json" "$place/npm.done"
}

make_chroot() {
  [ "$(id -u)" -eq 0 ] || die 'only root can make a chroot'
  need_packages debootstrap
  if [ ! -e "$chroot/made" ]; then
    local from
    from=$(mirror)
    [ -n "$from" ] || die "no mirror of Debian in apt's sources"
    say "a chroot of Debian sid in $chroot: some minutes"
    debootstrap --variant=minbase sid "$chroot" "$from" >"$place/debootstrap.log" 2>&1 || die "debootstrap failed: $place/debootstrap.log"
    printf 'Acquire::Check-Valid-Until "false";\n' >"$chroot/etc/apt/apt.conf.d/80valid" # of sid the mirror may have an old state
    inside apt-get install -q -y --no-install-recommends emscripten make libeigen3-dev postgresql-server-dev-18 >"$place/apt.log" 2>&1 ||
      die "apt-get failed: $place/apt.log"
    touch "$chroot/made"
  fi
  [ -e "$chroot/margin/cache/sysroot_install.stamp" ] || inside embuilder build sysroot >"$place/sysroot.log" 2>&1 || die "embuilder failed: $place/sysroot.log"
  # The server's headers for 32 bits.
  rm -rf "$chroot/margin/headers"
  cp -r "$chroot/usr/include/postgresql/18/server" "$chroot/margin/headers"
  sed -i -E 's/^#define (ALIGNOF_LONG|SIZEOF_LONG|SIZEOF_SIZE_T|SIZEOF_VOID_P) 8$/#define \1 4/' "$chroot/margin/headers/pg_config.h"
  [ "$(grep -cE '^#define (ALIGNOF_LONG|SIZEOF_LONG|SIZEOF_SIZE_T|SIZEOF_VOID_P) 4$' "$chroot/margin/headers/pg_config.h")" -eq 4 ] ||
    die 'pg_config.h has not the four sizes that differ'
  rm -rf "$chroot/margin/source"
  mkdir -p "$chroot/margin/source" "$chroot/margin/build"
  (cd "$root" && find src packaging/pglite -type f -regex '.*[.]\(c\|h\|cpp\|hpp\|inc\|mk\)' -print0 | tar --null -T - -c) | tar -x -C "$chroot/margin/source"
}

in_chroot_make() { # in_chroot_make ARGUMENT...
  inside make -s -C /margin/build -f /margin/source/packaging/pglite/wasm.mk VERSION="$version" MUSL="$maths $others" "$@"
}

link_module() {
  local objects features='--enable-simd --enable-exception-handling --enable-bulk-memory --enable-bulk-memory-opt --enable-mutable-globals --enable-sign-ext --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types'
  objects=$(in_chroot_make list)
  inside sh -c "cd /margin/build && wasm-ld -shared --experimental-pic -Bsymbolic --unresolved-symbols=import-dynamic --strip-all --gc-sections -o linked.wasm $objects"
  # Weak symbols of the C++ library are bound inside, not to the main module's.
  inside sh -c "cd /margin/build && wasm-merge $features linked.wasm env -o merged.wasm && wasm-opt $features -O2 merged.wasm -o margin.so"
}

build_package() {
  from_registry
  make_chroot
  say 'compiling: five minutes of one core'
  in_chroot_make -j"$jobs" all
  link_module
  node "$place/check_imports.mjs" "$chroot/margin/build/margin.so" "$place/node_modules/@electric-sql/pglite/dist/pglite.wasm" ||
    die 'the module does not fit this version of PGlite'
  local tree=$place/tree
  rm -rf "$tree" "$place/package"
  mkdir -p "$tree/lib/postgresql" "$tree/share/postgresql/extension"
  cp "$chroot/margin/build/margin.so" "$tree/lib/postgresql/"
  cp "$root/margin.control" "$root"/sql/margin--*.sql "$tree/share/postgresql/extension/"
  cp -r "$here/package" "$place/package"
  cp "$root/LICENSE" "$place/package/"
  tar -C "$tree" --sort=name --mtime='@0' --owner=0 --group=0 --numeric-owner -cf - lib share | gzip -9n >"$place/package/margin.tar.gz"
  (cd "$place/package" && npm pack --silent --pack-destination "$place" >/dev/null)
  say "margin.so: $(stat -c %s "$tree/lib/postgresql/margin.so") bytes; margin.tar.gz: $(stat -c %s "$place/package/margin.tar.gz")"
}

build_package
