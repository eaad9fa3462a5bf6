#!/usr/bin/env bash
# What people install, in bare systems: test/packages.sh [SUITE...] (default: bookworm trixie). For each suite of Debian, in chroots by
# debootstrap that have no package but the minimum, no locale, LANG unset. MARGIN_PACKAGES names the kinds (default: all):
#   deb     the commands of README.md that build and install the package; in another chroot apt installs it, the commands and the
#           statements of README.md's first screen give the answers that it shows, the owner of a database creates, updates and
#           uses the extension, purge leaves nothing
#   source  the commands of README.md that build from source, the same statements, `make uninstall`
#   image   the steps of packaging/Dockerfile by hand (a chroot with the server's package stands in for PostgreSQL's image): what the
#           last stage gets and is left with; the files of its stage `extension`, through extension_control_path where the server has it
#   rpm     packaging/margin.spec by rpmbuild, for Debian's server; installed beside it and removed by rpm
#   demo    demo/run.sh in a recorded terminal of 80 columns, as root and with sudo
# How long it takes from an empty chroot to the first model is part of what is printed, by the clock and in CPU time of the chroot's
# commands. MARGIN_CCACHE=1 compiles through ccache; with MARGIN_CORE_OBJECTS=1 the compiler of the chroots hands out the objects of
# src/core that this tree has, and those of src/pg as well where compiler and server are this system's: a fraction of the time, which
# is then no measure. Prints TAP. Root only.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

place_of_all=${MARGIN_VERSIONS_DIRECTORY:-${MARGIN_BUILD:-$root/build}/versions}
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$root/margin.control")
inside() { # inside CHROOT COMMAND...: no locale, a terminal that can do nothing
  local to=$place_of_all/$1
  shift
  chroot "$to" /usr/bin/env -i PATH=/core-objects/bin:/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root USER=root DEBIAN_FRONTEND=noninteractive TERM=dumb \
    CCACHE_DIR=/ccache OPTFLAGS="${OPTFLAGS:-}" DEB_BUILD_OPTIONS="parallel=$jobs" "$@"
}
# since: what the clock and the CPU say since the chroot was unpacked; a server in the background is not counted
since() { say "$((SECONDS - started)) s, $(($(awk '{print int(($16 + $17) / 100)}' /proc/$$/stat) - started_cpu)) s of CPU"; }
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
  [ -z "$(mirror debian-security)" ] || echo "deb $(mirror debian-security) $2-security main" >"$to/etc/apt/sources.list.d/security.list"
  printf '#!/bin/sh\nexit 101\n' >"$to/usr/sbin/policy-rc.d" # packages start no server
  chmod +x "$to/usr/sbin/policy-rc.d"
  printf 'force-unsafe-io\n' >"$to/etc/dpkg/dpkg.cfg.d/unsafe-io"
  printf 'APT::Get::Assume-Yes "true";\nAcquire::Check-Valid-Until "false";\n' >"$to/etc/apt/apt.conf.d/90yes" # commands as they are in README.md, no question
  mkdir -p "$to/proc" "$to/dev/shm" "$to/dev/pts" "$to/ccache" "$place_of_all/ccache-$2"
  mount -t proc proc "$to/proc"
  mount -t tmpfs tmpfs "$to/dev/shm"
  mount -t devpts devpts "$to/dev/pts"
  mount --bind "$place_of_all/ccache-$2" "$to/ccache"
  # What was downloaded once is not downloaded again; a newer version is.
  mkdir -p "$place_of_all/debs-$2"
  cp -ln "$place_of_all/debs-$2"/*.deb "$to/var/cache/apt/archives/" 2>/dev/null || true
  [ -z "${MARGIN_CORE_OBJECTS:-}" ] || core_objects "$to/core-objects"
  started=$SECONDS
  started_cpu=$(awk '{print int(($16 + $17) / 100)}' /proc/$$/stat)
}
core_objects() { # core_objects TO: objects that this tree has, and a g++ that gives them
  mkdir -p "$1/bin"
  (cd "$root/objects" && find core pg -name '*.o' ! -name module.o -print0 | tar --null -T - -c) | tar -x -C "$1"
  { "$pg_config" --version && g++ -dumpfullversion; } >"$1/pg/of"
  cat >"$1/bin/g++" <<'END'
#!/bin/bash
PATH=${PATH#/core-objects/bin:}
for ((i = 1; i <= $#; ++i)); do
  case ${!i} in
    *objects/core/*.cpp | *objects/pg/*.cpp) object=${!i##*objects/} && object=/core-objects/${object%.cpp}.o ;;
    -o) next=$((i + 1)) && to=${!next} ;;
  esac
done
if [ -n "${object:-}" ] && [ -n "${to:-}" ] && [ -f "$object" ] &&
  { [[ $object == /core-objects/core/* ]] || diff -q /core-objects/pg/of <("$(ls -d /usr/lib/postgresql/*/bin/pg_config | head -n 1)" --version; g++ -dumpfullversion) >/dev/null; }; then
  exec cp "$object" "$to"
fi
exec g++ "$@"
END
  chmod 755 "$1/bin/g++"
}
leave() { # leave CHROOT [SUITE]: unmounts what is mounted in a chroot, after ending the servers in it
  local to=$place_of_all/$1 at file
  [ -d "$to" ] || return 0
  [ -z "${2:-}" ] || cp -ln "$to"/var/cache/apt/archives/*.deb "$place_of_all/debs-$2/" 2>/dev/null || true
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
named_margin() { find "$1/usr" "$1/etc" "$1/var/lib" -xdev -name '*margin*' ! -path '*/var/lib/apt/*' 2>/dev/null | sort; }
major_of() { inside "$1" apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1; }

# readme LANGUAGE WORD [MAJOR]: the first block of README.md in that language with that word; commands for MAJOR, where they name another
readme() {
  awk -v language="$1" -v word="$2" '$0 == "```" language {inside = 1; text = ""; next} /^```/ {if (inside && text ~ word) {print text; exit} inside = 0} inside {text = text $0 "\n"}' "$root/README.md" |
    if [ -n "${3:-}" ]; then sed -E "s/(postgresql(-server-dev)?-)[0-9]+/\1$3/g"; else cat; fi
}
start() { # start CHROOT: the cluster that the package made, as README.md says
  inside "$1" service postgresql start >>"$log" 2>&1
}
answers() { # answers NUMBER: that block of README.md's answers
  awk -v number="$1" '$0 == "```text" {inside = ++seen == number; next} /^```/ {inside = 0} inside' "$root/README.md"
}
# first_screen CHROOT HOW: README.md's way into psql, and its first statements there, give the answers that follow them;
# psql fills its headings with spaces, which README.md does not
first_screen() {
  local said wanted
  wanted=$(answers 1)
  readme sh createuser >"$place_of_all/$1/root/into-psql"
  printf '\\set QUIET on\n\\set ON_ERROR_STOP on\n' >"$place_of_all/$1/root/.psqlrc" # no "SELECT 500" among the answers
  said=$(readme sql 'CREATE EXTENSION' | inside "$1" sh -e -c 'cd / && . /root/into-psql' 2>&1) || true
  report "$([ -n "$said" ] && diff -Z <(printf '%s' "$said") <(printf '%s' "$wanted") >/dev/null && echo yes || echo no)" "$suite, $2: the first screen of README.md gives its answers, $(since) after the empty system"
  diff -Z <(printf '%s' "$said") <(printf '%s' "$wanted") | head -n 20 | sed 's/^/# /' || true
}
# getting_started CHROOT HOW WHERE: its next statements, which read the demo's data, in that directory
getting_started() {
  local said wanted
  wanted=$(answers 2)
  said=$(readme sql 'copy abalone' | inside "$1" sh -c "cd '$3' && psql" 2>&1) || true
  report "$([ -n "$said" ] && diff -Z <(printf '%s' "$said") <(printf '%s' "$wanted") >/dev/null && echo yes || echo no)" "$suite, $2: so do those of its part \"Getting started\", in $3"
  diff -Z <(printf '%s' "$said") <(printf '%s' "$wanted") | head -n 20 | sed 's/^/# /' || true
}
owner_updates() { # owner_updates CHROOT HOW
  local said
  said=$(inside "$1" runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 2>&1 <<'SQL'
SET client_min_messages = error;
DROP DATABASE IF EXISTS theirs; DROP ROLE IF EXISTS someone;
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
  report "$([ "$said" = "$version|optimal|t" ] && echo yes || echo no)" "$suite, $2: the owner of a database creates, updates and uses the extension: $said"
}
nothing_left() { # nothing_left CHROOT HOW BEFORE
  local said
  said=$(diff <(printf '%s' "${3:+$3$'\n'}") <(named_margin "$place_of_all/$1") || true)
  report "$([ -z "$said" ] && echo yes || echo no)" "$suite, $2: nothing is left after the removal"
  [ -z "$said" ] || sed 's/^/# /' <<<"$said"
}

# older_minor CHROOT MAJOR: the library just installed, in the oldest minor release that apt has
older_minor() {
  local oldest installed
  oldest=$(inside "$1" apt-cache madison "postgresql-$2" | awk '{print $3}' | sort -V | head -n 1)
  installed=$(inside "$1" dpkg-query -W -f='${Version}' "postgresql-$2")
  [ "$oldest" != "$installed" ] || return 0
  inside "$1" sh -c "service postgresql stop; apt-get install -q --allow-downgrades 'postgresql-$2=$oldest' && service postgresql start" >>"$log" 2>&1
  owner_updates "$1" "the library of $installed in the server $(inside "$1" "/usr/lib/postgresql/$2/bin/postgres" --version | grep -oE '[0-9]+\.[0-9]+' | head -n 1)"
}
of_deb() {
  local builder=build-$suite bare=bare-$suite major package said before
  log=$place_of_all/packages-$suite-deb.log
  chroot_of "$builder" "$suite"
  copy_tree "$place_of_all/$builder/build/margin"
  inside "$builder" apt-get update -q >"$log" 2>&1
  [ -z "${MARGIN_CCACHE:-}" ] || inside "$builder" apt-get install -q ccache >>"$log" 2>&1
  said=0
  readme sh dpkg-buildpackage >"$place_of_all/$builder/build/commands"
  inside "$builder" sh -e -c 'cd /build/margin && . ../commands' >>"$log" 2>&1 || said=$?
  package=$(cd "$place_of_all/$builder/build" && ls postgresql-*-margin_"$version"*_*.deb 2>/dev/null | head -n 1)
  report "$([ "$said" -eq 0 ] && [ -n "$package" ] && [ -f "$place_of_all/$builder/build/margin/debian/files" ] && echo yes || echo no)" "$suite, deb: the commands of README.md make and install $package, $(since)"
  leave "$builder" "$suite"
  [ "$said" -eq 0 ] && [ -n "$package" ] || { tail -n 20 "$log" | sed 's/^/# /'; return; }
  major=$(sed -E 's/postgresql-([0-9]+)-.*/\1/' <<<"$package")

  chroot_of "$bare" "$suite"
  cp "$place_of_all/$builder/build/$package" "$place_of_all/$bare/tmp/"
  before=$(named_margin "$place_of_all/$bare")
  said=0
  inside "$bare" sh -c "apt-get update -q && apt-get install -q '/tmp/$package'" >>"$log" 2>&1 || said=$?
  report "$([ "$said" -eq 0 ] && [ -x "$place_of_all/$bare/usr/lib/postgresql/$major/bin/postgres" ] && echo yes || echo no)" "$suite, deb: apt installs it in a bare system, with postgresql-$major, $(since)"
  start "$bare"
  first_screen "$bare" deb
  getting_started "$bare" deb "/usr/share/doc/postgresql-$major-margin"
  inside "$bare" dpkg -L "postgresql-$major-margin" >"$place_of_all/$bare.files"
  report "$(! grep -E '/(include|bitcode)/|\.bc$' "$place_of_all/$bare.files" && echo yes || echo no)" "$suite, deb: it has $(grep -c . "$place_of_all/$bare.files") entries, no headers, no bitcode"
  owner_updates "$bare" deb
  older_minor "$bare" "$major"
  inside "$bare" service postgresql stop >>"$log" 2>&1 || true
  inside "$bare" apt-get purge -q "postgresql-$major-margin" >>"$log" 2>&1 || true # what it leaves is seen
  nothing_left "$bare" deb "$before"
  leave "$bare" "$suite"
}

of_source() {
  local place=source-$suite major said=0 before
  log=$place_of_all/packages-$suite-source.log
  chroot_of "$place" "$suite"
  before=$(named_margin "$place_of_all/$place")
  copy_tree "$place_of_all/$place/home/margin"
  inside "$place" apt-get update -q >"$log" 2>&1
  [ -z "${MARGIN_CCACHE:-}" ] || inside "$place" apt-get install -q ccache >>"$log" 2>&1
  major=$(major_of "$place")
  readme sh 'make install' "$major" >"$place_of_all/$place/home/commands"
  inside "$place" sh -e -c 'cd /home/margin && . ../commands' >>"$log" 2>&1 || said=$?
  report "$([ "$said" -eq 0 ] && ! grep -qE '^[^ ]+\.(cpp|hpp):[0-9:]+ warning: ' "$log" && echo yes || echo no)" "$suite, source: the commands of README.md install it without a warning, $(since)"
  [ "$said" -eq 0 ] || tail -n 20 "$log" | sed 's/^/# /'
  start "$place"
  first_screen "$place" source
  getting_started "$place" source /home/margin
  said=$(cd "$place_of_all/$place/usr" && find . -name '*margin*' ! -path './share/doc/*' -type f -print0 | du -cb --files0-from=- | awk 'END {printf "%.0f", $1 / 1e6}')
  report "$(tr '\n' ' ' <"$root/README.md" | grep -qE "installs ([0-9]+ or )?$said (or [0-9]+ )?MB" && echo yes || echo no)" "$suite, source: it installs $said MB, as README.md says"
  owner_updates "$place" source
  inside "$place" service postgresql stop >>"$log" 2>&1 || true
  inside "$place" make -C /home/margin uninstall >>"$log" 2>&1 || true
  nothing_left "$place" source "$before"
  leave "$place" "$suite"
}

# The steps of a Dockerfile between two of its FROMs: what RUN says, in WORKDIR.
steps() {
  awk -v stage="$1" '/^FROM / {++n} n == stage' "$root/packaging/Dockerfile" | sed -n -e ':a' -e '/\\$/{N;s/\\\n//;ba}' -e 's/^RUN //p' | sed 's/apt-get install/apt-get install -q/'
}
of_image() {
  local builder=imagebuild-$suite place=image-$suite major said=0 size before
  log=$place_of_all/packages-$suite-image.log
  chroot_of "$builder" "$suite"
  inside "$builder" apt-get update -q >"$log" 2>&1
  major=$(major_of "$builder")
  copy_tree "$place_of_all/$builder/usr/src/margin"
  [ -z "${MARGIN_CCACHE:-}" ] || inside "$builder" apt-get install -q -y --no-install-recommends ccache >>"$log" 2>&1
  steps 1 >"$place_of_all/$builder/steps"
  inside "$builder" env "PG_MAJOR=$major" sh -e -c 'cd /usr/src/margin && . /steps' >>"$log" 2>&1 || said=$?
  report "$([ "$said" -eq 0 ] && [ -d "$place_of_all/$builder/installed" ] && echo yes || echo no)" "$suite, image: the steps of the Dockerfile's first stage, in $((SECONDS - started)) s"
  [ "$said" -eq 0 ] || { tail -n 20 "$log" | sed 's/^/# /'; leave "$builder"; return; }
  leave "$builder" "$suite"
  chroot_of "$place" "$suite"
  inside "$place" sh -c "apt-get update -q && apt-get install -q -y --no-install-recommends postgresql-$major" >>"$log" 2>&1
  before=$(cd "$place_of_all/$place" && find . -xdev -type f | sort)
  cp -a "$place_of_all/$builder/installed/." "$place_of_all/$place/"
  said=$(cd "$place_of_all/$place" && find . -xdev -type f | sort | comm -13 <(printf '%s\n' "$before") - | grep -vE '/margin(\.so|\.control|--[^/]*\.sql)$|^\./usr/share/doc/' || true)
  size=$(du -sb "$place_of_all/$builder/installed" | cut -f 1)
  report "$([ -z "$said" ] && [ "$size" -le 10000000 ] && echo yes || echo no)" "$suite, image: the last layer has the library and its scripts, no sources, $((size / 1000)) kB"
  [ -z "$said" ] || sed 's/^/# /' <<<"$said"
  start "$place"
  first_screen "$place" image
  owner_updates "$place" image
  inside "$place" pg_ctlcluster "$major" main stop -m fast >>"$log" 2>&1 || true

  size=$(du -sb "$place_of_all/$builder/extension" | cut -f 1)
  report "$([ "$size" -le 10000000 ] && [ -f "$place_of_all/$builder/extension/lib/margin.so" ] && echo yes || echo no)" "$suite, image: the stage extension is $(cd "$place_of_all/$builder/extension" && find . -type f | wc -l) files, $((size / 1000)) kB"
  if [ "$major" -ge 18 ]; then
    (cd "$place_of_all/$builder/installed" && find . -type f -print0) | (cd "$place_of_all/$place" && xargs -0 rm -f)
    mkdir -p "$place_of_all/$place/extensions"
    cp -a "$place_of_all/$builder/extension" "$place_of_all/$place/extensions/margin"
    elsewhere "$place" "$major" /extensions/margin/share /extensions/margin/lib
    owner_updates "$place" 'extension image'
  fi
  leave "$place" "$suite"
}
# elsewhere CHROOT MAJOR SHARE LIB: a new cluster whose server looks there
elsewhere() {
  inside "$1" sh -c "pg_dropcluster --stop $2 main 2>/dev/null; pg_createcluster $2 main -o \"extension_control_path='$3:\\\$system'\" -o \"dynamic_library_path='$4:\\\$libdir'\" && pg_ctlcluster $2 main start" >>"$log" 2>&1
}

of_rpm() {
  local place=rpm-$suite major said=0 package before
  log=$place_of_all/packages-$suite-rpm.log
  chroot_of "$place" "$suite"
  inside "$place" apt-get update -q >"$log" 2>&1
  major=$(major_of "$place")
  inside "$place" apt-get install -q --no-install-recommends rpm "postgresql-$major" "postgresql-server-dev-$major" g++ make pkg-config libeigen3-dev ${MARGIN_CCACHE:+ccache} >>"$log" 2>&1
  mkdir -p "$place_of_all/$place/root/rpmbuild/SOURCES" "$place_of_all/$place/usr/pgsql-$major/bin"
  make -s -C "$place_of_all/$place/root/rpmbuild/SOURCES" -f "$root/Makefile" dist PG_CONFIG="$pg_config" >>"$log" 2>&1
  cp "$root/packaging/margin.spec" "$place_of_all/$place/root/"
  # The server is Debian's, the places are those of the spec. pg_config follows a link to itself, and would name Debian's.
  printf '#!/bin/sh\n/usr/lib/postgresql/%s/bin/pg_config "$@" | sed "s|^/usr/lib/postgresql/%s/lib\$|/usr/pgsql-%s/lib|; s|^/usr/share/postgresql/%s\$|/usr/pgsql-%s/share|"\n' \
    "$major" "$major" "$major" "$major" "$major" >"$place_of_all/$place/usr/pgsql-$major/bin/pg_config"
  chmod 755 "$place_of_all/$place/usr/pgsql-$major/bin/pg_config"
  inside "$place" sh -e -c "cd /root && rpmbuild -bb --nodeps --define 'pgmajor $major' --define '_smp_mflags -j$jobs' margin.spec" >>"$log" 2>&1 || said=$?
  package=$(cd "$place_of_all/$place" && find root/rpmbuild/RPMS -name "margin_$major-$version-*.rpm" | head -n 1)
  report "$([ "$said" -eq 0 ] && [ -n "$package" ] && echo yes || echo no)" "$suite, rpm: rpmbuild makes ${package##*/}, in $((SECONDS - started)) s"
  [ -n "$package" ] || { tail -n 20 "$log" | sed 's/^/# /'; leave "$place"; return; }
  said=$(inside "$place" rpm -qpR "/$package" 2>/dev/null | grep "^postgresql$major-server" || true)
  report "$([ "$said" = "postgresql$major-server" ] && echo yes || echo no)" "$suite, rpm: it depends on $said"
  rm -rf "$place_of_all/$place/root/rpmbuild/BUILD" "$place_of_all/$place/root/rpmbuild/BUILDROOT"
  before=$(named_margin "$place_of_all/$place")
  inside "$place" rpm -i --nodeps "/$package" >>"$log" 2>&1 || true
  report "$([ -f "$place_of_all/$place/usr/pgsql-$major/lib/margin.so" ] && echo yes || echo no)" "$suite, rpm: rpm installs it"
  if [ "$major" -ge 18 ]; then
    elsewhere "$place" "$major" "/usr/pgsql-$major/share" "/usr/pgsql-$major/lib"
  else
    cp "$place_of_all/$place/usr/pgsql-$major/lib/margin.so" "$place_of_all/$place/usr/lib/postgresql/$major/lib/"
    cp "$place_of_all/$place/usr/pgsql-$major"/share/extension/margin* "$place_of_all/$place/usr/share/postgresql/$major/extension/"
    start "$place"
  fi
  first_screen "$place" rpm
  owner_updates "$place" rpm
  inside "$place" pg_ctlcluster "$major" main stop -m fast >>"$log" 2>&1 || true
  [ "$major" -ge 18 ] || rm -f "$place_of_all/$place/usr/lib/postgresql/$major/lib/margin.so" "$place_of_all/$place/usr/share/postgresql/$major/extension"/margin*
  inside "$place" rpm -e "margin_$major" >>"$log" 2>&1 || true
  nothing_left "$place" rpm "$before"
  leave "$place" "$suite"
}

# demo/run.sh of a checkout in a terminal of 80 columns, in a bare system: nothing waits in a pager, something is said every few seconds
of_demo() {
  local who place said quiet
  for who in root sudo; do
    place=demo-$suite
    log=$place_of_all/packages-$suite-demo-$who.log
    chroot_of "$place" "$suite"
    copy_tree "$place_of_all/$place/home/checkout"
    if [ "$who" = sudo ]; then
      inside "$place" sh -c 'apt-get update -q && apt-get install -q -y --no-install-recommends sudo && useradd -m someone && echo "someone ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/someone && chown -R someone /home/checkout' >"$log" 2>&1
      started=$SECONDS
    fi
    said=0
    # shellcheck disable=SC2016  # $? is of the command in the chroot
    inside "$place" script -q -e -c "stty cols 80 rows 24; $([ "$who" = root ] || echo 'runuser -u someone -- env HOME=/home/someone ')/home/checkout/demo/run.sh" -T /tmp/times /tmp/terminal >/dev/null 2>>"$log" </dev/null || said=$?
    cp "$place_of_all/$place/tmp/terminal" "$place_of_all/packages-$suite-demo-$who.terminal"
    report "$([ "$said" -eq 0 ] && grep -q '^The demo is over' "$place_of_all/$place/tmp/terminal" && echo yes || echo no)" "$suite: demo/run.sh as $who, from a bare system, in $((SECONDS - started)) s"
    [ "$said" -eq 0 ] || tail -n 10 "$place_of_all/$place/tmp/terminal" | sed 's/^/# /'
    quiet=$(sort -n "$place_of_all/$place/tmp/times" | awk '{longest = $1} END {print longest + 0}')
    report "$(awk -v quiet="$quiet" 'BEGIN {exit !(quiet <= 5)}' && echo yes || echo no)" "$suite, demo as $who: never quiet for more than 5 s (the longest: $quiet s)"
    said=$(grep -aE -- '--More--|\(END\)|^(ERROR|FATAL|WARNING)|could not change directory|command not found' "$place_of_all/$place/tmp/terminal" || true)
    report "$([ -z "$said" ] && echo yes || echo no)" "$suite, demo as $who: no pager, no false alarm"
    [ -z "$said" ] || head -n 10 <<<"$said" | sed 's/^/# /'
    report "$([ ! -d "$place_of_all/$place/etc/postgresql" ] || [ -z "$(ls "$place_of_all/$place/etc/postgresql"/*/ 2>/dev/null)" ] && echo yes || echo no)" "$suite, demo as $who: no cluster of the system is left behind"
    leave "$place" "$suite"
  done
}

[ "$(id -u)" -eq 0 ] || die 'root only: it makes chroots'
mkdir -p "$place_of_all"
find_postgres
[ $# -gt 0 ] || set -- bookworm trixie
for suite in "$@"; do
  for kind in ${MARGIN_PACKAGES:-deb source image rpm demo}; do "of_$kind"; done
done
say "1..$checks"
[ "$bad" -eq 0 ]
