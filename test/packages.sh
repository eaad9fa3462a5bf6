#!/usr/bin/env bash
# What people install, in bare systems: test/packages.sh [SUITE...] (default: bookworm trixie). For each suite of Debian, in two
# chroots by debootstrap: dpkg-buildpackage as debian/ says; then, in the bare one, apt installs the package, CREATE EXTENSION,
# a statement of the demo, an update of the package, a purge that leaves nothing. With MARGIN_COMMANDS, the commands of
# README.md as well, demo/run.sh as root and with sudo. Prints TAP. Root only.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

place_of_all=${MARGIN_VERSIONS_DIRECTORY:-${MARGIN_BUILD:-$root/build}/versions}
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$root/margin.control")
checks=0
bad=0
report() { # report OK NAME
  checks=$((checks + 1))
  if [ "$1" = yes ]; then say "ok $checks - $2"; else
    bad=$((bad + 1))
    say "not ok $checks - $2"
  fi
}
mirror() { # the one that this system's apt uses
  { cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
    sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +([^ ]*\/debian)\/?( .*)?$/\3/p' | head -n 1
}
inside() { # inside CHROOT COMMAND...
  local to=$place_of_all/$1
  shift
  chroot "$to" /usr/bin/env -i PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    CCACHE_DIR=/ccache OPTFLAGS="${OPTFLAGS:-}" DEB_BUILD_OPTIONS="parallel=$jobs" "$@"
}
# chroot_of CHROOT SUITE: makes it anew, mounted; the base of a suite is unpacked once
chroot_of() {
  local to=$place_of_all/$1 base=$place_of_all/base-$2.tar
  need_packages debootstrap
  leave "$1"
  rm -rf "$to"
  if [ ! -f "$base" ]; then
    say "# debootstrap $2"
    debootstrap --variant=minbase "$2" "$to" "$(mirror)" >"$place_of_all/base-$2.log" 2>&1 || die "debootstrap failed: $place_of_all/base-$2.log"
    tar -C "$to" --one-file-system -cf "$base" .
  else
    mkdir -p "$to"
    tar -C "$to" -xf "$base"
  fi
  printf '#!/bin/sh\nexit 101\n' >"$to/usr/sbin/policy-rc.d" # packages start no server
  chmod +x "$to/usr/sbin/policy-rc.d"
  printf 'force-unsafe-io\n' >"$to/etc/dpkg/dpkg.cfg.d/unsafe-io"
  mkdir -p "$to/dev/shm" "$to/dev/pts" "$to/ccache" "$place_of_all/ccache-$2"
  mount -t proc proc "$to/proc"
  mount -t tmpfs tmpfs "$to/dev/shm"
  mount -t devpts devpts "$to/dev/pts"
  mount --bind "$place_of_all/ccache-$2" "$to/ccache"
}
leave() { # unmounts what is mounted in a chroot, after ending the servers in it
  local to=$place_of_all/$1 at file
  [ -d "$to" ] || return 0
  for file in "$to"/var/lib/postgresql/*/main/postmaster.pid; do
    if [ -f "$file" ]; then kill -INT "$(head -n 1 "$file")" 2>/dev/null || true; fi
  done
  for at in ccache dev/pts dev/shm proc; do
    if mountpoint -q "$to/$at"; then umount "$to/$at"; fi
  done
  for at in ccache dev/pts dev/shm proc; do
    if mountpoint -q "$to/$at"; then die "$to/$at is still mounted"; fi
  done
}
copy_tree() {
  mkdir -p "$1"
  git -C "$root" ls-files -z | tar -C "$root" --null -T - -c | tar -x -C "$1"
}
named_margin() { find "$1/usr" "$1/etc" "$1/var/lib" -xdev -name '*margin*' ! -path '*/var/lib/apt/*' ! -path '*/margin-source/*' 2>/dev/null | sort; }

suite_packages() {
  local suite=$1 builder=build-$1 bare=bare-$1 major package log=$place_of_all/packages-$1.log started=$SECONDS said before
  chroot_of "$builder" "$suite"
  inside "$builder" apt-get update -q >"$log" 2>&1
  # postgresql-all of Build-Depends would bring every language's interpreter; -d below leaves it out
  inside "$builder" apt-get install -q -y --no-install-recommends build-essential debhelper ccache postgresql-server-dev-all libeigen3-dev pkg-config >>"$log" 2>&1 ||
    { report no "$suite: packages to build with"; return; }
  copy_tree "$place_of_all/$builder/build/margin"
  said=0
  inside "$builder" sh -c 'cd /build/margin && pg_buildext updatecontrol && dpkg-buildpackage -us -uc -b -d' >>"$log" 2>&1 || said=$?
  package=$(cd "$place_of_all/$builder/build" && ls postgresql-*-margin_"$version"*_*.deb 2>/dev/null | head -n 1)
  report "$([ "$said" -eq 0 ] && [ -n "$package" ] && echo yes || echo no)" "$suite: dpkg-buildpackage makes $package in $((SECONDS - started)) s"
  [ -n "$package" ] || { tail -n 20 "$log" | sed 's/^/# /'; leave "$builder"; return; }
  major=$(sed -E 's/postgresql-([0-9]+)-.*/\1/' <<<"$package")

  chroot_of "$bare" "$suite"
  inside "$bare" apt-get update -q >>"$log" 2>&1
  cp "$place_of_all/$builder/build/$package" "$place_of_all/$bare/tmp/"
  leave "$builder"
  before=$(named_margin "$place_of_all/$bare")
  said=0
  inside "$bare" apt-get install -q -y --no-install-recommends "/tmp/$package" >>"$log" 2>&1 || said=$?
  report "$([ "$said" -eq 0 ] && echo yes || echo no)" "$suite: apt installs it in a bare system, with postgresql-$major"
  inside "$bare" dpkg -L "postgresql-$major-margin" >"$place_of_all/$bare.files"
  report "$(! grep -E '/(include|bitcode)/|\.bc$' "$place_of_all/$bare.files" && echo yes || echo no)" "$suite: it has $(grep -c . "$place_of_all/$bare.files") entries, no headers, no bitcode"
  inside "$bare" pg_ctlcluster "$major" main start >>"$log" 2>&1 || true
  said=$(inside "$bare" runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 2>&1 <<'SQL'
CREATE ROLE someone; CREATE DATABASE theirs OWNER someone;
\c theirs
GRANT CREATE ON SCHEMA public TO someone;
SET ROLE someone;
CREATE EXTENSION margin VERSION '0.1.0';
ALTER EXTENSION margin UPDATE;
CREATE TABLE points AS SELECT i > 5 AS y, ARRAY[i, i % 3]::real[] AS x FROM generate_series(1, 10) AS i;
SELECT margin_version(), (m).status, (SELECT bool_and(margin_predict(m, x, NULL::boolean) = y) FROM points) FROM (SELECT train_margin(y, x) AS m FROM points) AS t;
DROP EXTENSION margin;
SQL
  ) || true
  report "$([ "$said" = "$version|optimal|t" ] && echo yes || echo no)" "$suite: the owner of a database creates, updates and uses the extension: $said"
  inside "$bare" pg_ctlcluster "$major" main stop -m fast >>"$log" 2>&1 || true
  inside "$bare" apt-get purge -q -y "postgresql-$major-margin" >>"$log" 2>&1
  said=$(diff <(printf '%s' "${before:+$before$'\n'}") <(named_margin "$place_of_all/$bare") || true)
  while read -r file; do
    if [ -f "$place_of_all/$bare$file" ]; then said+=$'\n'$file; fi
  done <"$place_of_all/$bare.files"
  report "$([ -z "$said" ] && echo yes || echo no)" "$suite: purge leaves nothing"
  [ -z "$said" ] || sed 's/^/# /' <<<"$said"
  leave "$bare"
}

# commands SUITE: demo/run.sh of a checkout, in a bare system as root, in another one with sudo
commands() {
  local suite=$1 who started said log place
  for who in root sudo; do
    place=commands-$suite
    chroot_of "$place" "$suite"
    log=$place_of_all/$place-$who.log
    copy_tree "$place_of_all/$place/home/checkout"
    started=$SECONDS
    said=0
    if [ "$who" = root ]; then
      inside "$place" /home/checkout/demo/run.sh >"$log" 2>&1 || said=$?
    else
      inside "$place" sh -c 'apt-get update -q && apt-get install -q -y --no-install-recommends sudo && useradd -m someone && echo "someone ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/someone && chown -R someone /home/checkout' >"$log" 2>&1
      started=$SECONDS
      inside "$place" runuser -u someone -- env HOME=/home/someone CCACHE_DISABLE=1 /home/checkout/demo/run.sh >>"$log" 2>&1 || said=$?
    fi
    report "$([ "$said" -eq 0 ] && grep -q '^The demo is over' "$log" && echo yes || echo no)" "$suite: demo/run.sh as $who, from a bare system, in $((SECONDS - started)) s"
    [ "$said" -eq 0 ] || tail -n 10 "$log" | sed 's/^/# /'
    leave "$place"
  done
}

[ "$(id -u)" -eq 0 ] || die 'root only: it makes chroots'
mkdir -p "$place_of_all"
[ $# -gt 0 ] || set -- bookworm trixie
for suite in "$@"; do
  suite_packages "$suite"
  [ -z "${MARGIN_COMMANDS:-}" ] || commands "$suite"
done
say "1..$checks"
[ "$bad" -eq 0 ]
