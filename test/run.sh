#!/usr/bin/env bash
# Runs every test of the project: test/run.sh [STAGE...]. Without arguments all stages, in the order of the list below.
# Installs missing Debian packages, builds, and works in a directory of its own (see test/lib.sh). The last line is
# `tests: N passed, N failed`, counted from what the runners themselves report; the exit status says the same.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

all_stages=(format rules unit exact mutants sanitize tap valgrind sanitize-server regress fuzz docs)
one_processor=' valgrind sanitize-server regress fuzz docs ' # side by side, where these follow each other
more_stages=(assert versions packages pglite citus) # not part of a run without arguments
build=${MARGIN_BUILD:-$root/build}
shared=${MARGIN_SHARED:-$root/../shared/data}
passed=0
failed=0
closing=()

usage() {
  say "usage: test/run.sh [STAGE...]    stages: ${all_stages[*]}; by name only: ${more_stages[*]}"
  say "environment: PG_MAJOR (the distribution's), PG_CONFIG, MARGIN_JOBS (processors), MARGIN_BUILD (build), MARGIN_SHARED (../shared/data), MARGIN_EXACT (5000), MARGIN_EXACT_PRODUCTS (1000), MARGIN_KEEP"
  say "             MARGIN_FUZZ_SECONDS (40), MARGIN_FUZZ_SEED, MARGIN_MUTANT_FILES (parts of paths, all), MARGIN_ALLOCATION_FAILURES (6000), MARGIN_ASSERT_SOURCE, MARGIN_ASSERT_SERVER"
  say "             MARGIN_TAP (numbers of test/t, all), MARGIN_PMML_XSD (the schema of PMML 4.4, for test/t/023), MARGIN_CXX, MARGIN_STDLIB, MARGIN_PG_SOURCES, MARGIN_PGVECTOR_SOURCE, MARGIN_VERSIONS (test/versions.sh), MARGIN_VERSIONS_DIRECTORY, MARGIN_PGLITE_DIRECTORY (test/pglite.sh), MARGIN_CITUS_SOURCE, MARGIN_CITUS_RUNS (test/citus.sh)"
}

# What is shown while a stage runs: what it does, and how long that takes on two cores with nothing else to do.
declare -A about=(
  [format]='clang-format-19 over all C++: seconds'
  [rules]='the structure of the code, as greps: seconds'
  [unit]='building the tests of the core, and running them: 7 minutes'
  [exact]='certificates and what follows from them against exact arithmetic: 2 minutes'
  [mutants]='certificates made wrong in one place after another, which a test must find: 3 minutes'
  [sanitize]='the same under sanitizers, fuzzers, failing allocations: 11 minutes'
  [sanitize-server]='a server with the extension under sanitizers: pg_regress and random statements: 5 minutes'
  [regress]='pg_regress: half a minute'
  [tap]='sessions, signals, plans, restarts: 6 minutes'
  [fuzz]='random statements over all SQL functions: a minute'
  [valgrind]='one backend under memcheck: 3 minutes'
  [docs]='the documents against the catalogue and psql: half a minute'
  [versions]='other servers, compilers and processors: 15 minutes for each of seven'
  [packages]='the Debian package, and the commands of README.md, in bare systems: 15 minutes'
  [citus]='training by scans on Citus, a coordinator and two workers: a minute, and 5 more to build it'
  [pglite]='WebAssembly: the build in a chroot, its tests in Node.js, a page in Chromium: 20 minutes'
  [assert]='a server with assertions, then regress and tap on it: 15 minutes'
)

# failures LOG: the tests that failed and what they said, first of all: `not ok` with its comments, FAILED of the others.
failures() {
  awk '/^[[:space:]]*not ok /  {print; told = 1; next}
       told && /^[[:space:]]*#/ {print; next}
       {told = 0}
       /FAILED|[*][*][*]Failed|: error: |^# +Failed test/ {print}' "$1"
}

# begin NAME: runs stage_NAME with its output in a log and its servers in a directory of its own.
begin() {
  say "$1: ${about[$1]}"
  since[$1]=$SECONDS
  set -m # a process group of its own, so that an interrupt ends all of it
  (place=$scratch/$1 && mkdir -p "$place" && "stage_$1") >"$scratch/$1.log" 2>&1 </dev/null &
  process[$1]=$!
  stage_groups[$!]=$!
  set +m
}
# end NAME: waits for it, counts its tests, prints one line (and the log's end on failure).
end() {
  local name=$1 log=$scratch/$1.log status=0 ok not_ok
  wait "${process[$name]}" || status=$?
  unset "stage_groups[${process[$name]}]"
  read -r ok not_ok < <("count_${counter[$name]}" "$log")
  if [ "$status" -ne 0 ] && [ "$not_ok" -eq 0 ]; then not_ok=1; fi                 # died without naming a test
  if [ "$status" -eq 0 ] && [ $((ok + not_ok)) -eq 0 ]; then not_ok=1; status=1; fi # a stage without a test is a failure
  passed=$((passed + ok))
  failed=$((failed + not_ok))
  printf '%-15s %5d passed, %d failed, %4d s\n' "$name" "$ok" "$not_ok" $((SECONDS - since[$name]))
  closing+=("$name: $(grep -E "${last_line[${counter[$name]}]}" "$log" | tail -n 1 | sed 's/^ *//' || true)")
  if [ "$status" -ne 0 ] || [ "$not_ok" -ne 0 ]; then
    failures "$log" | head -n 60 | sed 's/^/    /'
    say "    ... the end of the log:"
    grep -vE '^ok ' "$log" | tail -n 30 | sed 's/^/    /'
  fi
}

# side_by_side NAME...: stages that use one processor each, as many at a time as there are.
side_by_side() {
  local running=() left name
  while [ $# -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
    while [ $# -gt 0 ] && [ ${#running[@]} -lt "$jobs" ]; do
      begin "$1"
      running+=("$1")
      shift
    done
    sleep 0.2
    left=()
    for name in "${running[@]}"; do
      if kill -0 "${process[$name]}" 2>/dev/null; then left+=("$name"); else end "$name"; fi
    done
    running=("${left[@]}")
  done
}

declare -A since process counter=([format]=tap [rules]=tap [unit]=shards [exact]=tap [mutants]=tap [sanitize]=shards [sanitize-server]=tap [regress]=regress [tap]=tap [fuzz]=tap [valgrind]=tap [docs]=tap [versions]=tap [packages]=tap [pglite]=tap [citus]=tap [assert]=own)
declare -A last_line=([tap]='^(Result:|checks:)' [own]='^tests: ' [shards]='tests passed' [regress]='^(# | )?(All )?[0-9]+ (of [0-9]+ )?tests (passed|failed)')

# Each prints "PASSED FAILED" from the words of the runner.
count_tap() { printf '%d %d\n' "$(grep -cE '^ok [0-9]' "$1")" "$(grep -cE '^not ok [0-9]' "$1")"; }
count_shards() { # of googletest's processes the tests; of all others the processes
  awk 'match($0, /\[  PASSED  \] [0-9]+ test/) {ok += $5; ++processes}
       match($0, /\[  FAILED  \] [0-9]+ tests?, listed/) {bad += $5; --processes}
       /% tests passed, [0-9]+ tests? failed out of [0-9]+$/ {failed += $4; all += $NF}
       END {print ok + all - failed - processes, (bad > failed ? bad : failed) + 0}' "$1"
}
count_regress() {
  sed -nE 's/^(# | )?All ([0-9]+) tests passed\. *$/\2 0/p; s/^(# | )?([0-9]+) of ([0-9]+) tests failed\. *$/\3 -\2/p' "$1" |
    awk '{if ($2 < 0) {ok += $1 + $2; bad -= $2} else ok += $1} END {print ok + 0, bad + 0}'
}

count_own() { sed -nE 's/^tests: ([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$1" | grep . || echo '0 0'; }

# check NAME COMMAND...: one TAP line; passes when the command prints nothing and succeeds (the rules' convention).
check() {
  local name=$1 found
  shift
  if found=$("$@" 2>&1) && [ -z "$found" ]; then report yes "$name"; else
    report no "$name"
    printf '%s\n' "$found" | head -n 20 | sed 's/^/# /'
  fi
}
end_checks() {
  say "checks: $((checks - bad)) of $checks hold"
  [ "$bad" -eq 0 ]
}

# --- format: every C++ file as .clang-format has it (pg/server/module.c keeps PostgreSQL's own style) -------------------------------------------------------------
badly_formatted() {
  find "$1" \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' \) -exec clang-format-19 --dry-run -Werror {} +
}
stage_format() {
  local room
  cd "$root"
  for room in src/core src/pg test bench; do check "$room is formatted" badly_formatted "$room"; done
  end_checks
}

# --- rules: the structure of the code, as greps (docs/architecture.md) -------------------------------------------
nothing_matches() { # nothing_matches PATTERN PATH...
  local pattern=$1 status=0
  shift
  grep -rnE --exclude='*.o' --exclude='*.gch' --exclude='*.bc' --exclude='*.d' --exclude='*.so' -e "$pattern" "$@" || status=$?
  [ "$status" -eq 1 ] # 0: something was found, 2: grep itself failed
}
nothing_but() { # nothing_but ALLOWED PATTERN PATH...: matches only in files whose path matches ALLOWED
  local allowed=$1 pattern=$2 hits
  shift 2
  hits=$(grep -rnE --include='*.cpp' --include='*.hpp' --include='*.c' --include='*.h' -e "$pattern" "$@" || [ $? -eq 1 ])
  ! grep -vE "$allowed" <<<"$hits" | grep .
}
longer_than() { # longer_than LINES PATH...
  local limit=$1
  shift
  find "$@" \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' -o -name '*.c' \) -exec wc -l {} + |
    awk -v limit="$limit" '$2 != "total" && $1 > limit {print $2 ": " $1 " lines"}'
}
svg_lines() { # svg_lines LIMIT
  find docs -name '*.svg' -exec cat {} + | awk -v limit="$1" 'END {if (NR == 0 || NR > limit) print NR " lines of SVG in docs"}'
}
defined_twice() { # types of the namespace margin that two headers define: each program that sees both is ill-formed
  find "$1" -name '*.hpp' -exec grep -oHE '^(struct|(enum )?class) [A-Za-z_]+( final)?( :.*)? \{' {} + |
    sed -E 's/:(struct|enum class|class) ([A-Za-z_]+).*/ \2/' | sort -u |
    awk '{where[$2] = where[$2] " " $1; ++count[$2]} END {for (name in count) if (count[name] > 1) print name ":" where[name]}'
}
# The rooms of src/core and src/pg in the order in which a file may include them, and the pairs that do not know each other
# although the order would allow it. docs/architecture.md has the picture.
core_rooms='base simd math data options encoder profile loss kernel problem certificate consequences solvers model metrics formats train analysis scans report'
pg_rooms='server values functions'
strangers='solvers:certificate solvers:consequences formats:solvers report:solvers report:train report:scans'
includes_backwards() { # includes_backwards SIDE ROOMS: includes of a later room, or of a stranger
  grep -rnoE --include='*.cpp' --include='*.hpp' --include='*.inc' "^#[[:space:]]*include[[:space:]]*\"$1/[^\"]+" "src/$1" |
    awk -F'[:"]' -v side="$1" -v rooms="$2" -v strangers="$strangers" '
      BEGIN {n = split(rooms, list, " "); for (i = 1; i <= n; ++i) rank[list[i]] = i
             m = split(strangers, list, " "); for (i = 1; i <= m; ++i) apart[list[i]] = 1}
      {split($1, from, "/"); split($4, to, "/"); a = from[3]; b = to[2]
       if (!(a in rank) || !(b in rank) || rank[b] > rank[a] || (a ":" b) in apart)
         print $1 ":" $2 ": room \"" a "\" includes \"" $4 "\""}'
}
includes_without_room() { # an include of ours says which room the file is in
  grep -rnE --include='*.cpp' --include='*.hpp' --include='*.inc' '^#[[:space:]]*include[[:space:]]*"' src | grep -vE 'include[[:space:]]*"(core|pg)/[a-z0-9_]+/' || true
}
rooms_disagree() { # the rooms of the rule, of the tree and of the picture
  local side rooms tree picture
  for side in core pg; do
    rooms=$([ "$side" = core ] && printf '%s' "$core_rooms" || printf '%s' "$pg_rooms")
    tree=$(find "src/$side" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort | paste -sd' ')
    picture=$(awk -v side="src/$side" '$1 == side {on = 1; next} on && /^(src|```)/ {exit} on && /^  [a-z]+\// {sub("/.*", ""); print $1}' docs/architecture.md | paste -sd' ')
    [ "$tree" = "$(tr ' ' '\n' <<<"$rooms" | sort | paste -sd' ')" ] || say "src/$side has the rooms $tree; the rule knows $rooms"
    [ "$picture" = "$rooms" ] || say "docs/architecture.md shows for src/$side the rooms $picture; the rule knows $rooms"
  done
}
solver_names() { # comparisons with one solver, by its address or its name
  local names
  names=$(sed -n 's/^extern const Solver& \([a-z_]*\);/\1/p' src/core/solvers/registry.cpp | paste -sd'|')
  printf '%s' "[!=]= *&($names)\\b|(->|\\.)name\\(\\) *[!=]= *\"($names)\""
}
headless_solvers() { # files that define a solver and do not open with its problem, update, stopping rule and source
  local file word
  for file in $(grep -rlE --include='*.cpp' '\bfinal : public Solver\b' src/core/solvers); do
    [ "$file" != src/core/solvers/auto.cpp ] || continue # no method of its own
    for word in Problem Update Stop Source; do
      awk '!/^\/\// {exit} {print}' "$file" | grep -qE "^// $word  " || say "$file: its head lacks \"$word\""
    done
  done
}
# Functions in SQL have a body that the server parses when they are made (RETURN ...); there are none in PL/pgSQL.
bound_early() {
  awk '/LANGUAGE[[:space:]]+.?(sql|plpgsql)/ { held = FNR ": " $0; if (/plpgsql/) { print held; bad = 1 } next }
       held != "" { if ($1 != "RETURN") { print held; bad = 1 } held = "" }
       END { exit bad }' "$@"
}

released_changed() { # install scripts that are no longer as they were released
  sha256sum --quiet -c test/fixtures/released.sha256 ||
    say "a released script stays as it is: change sql/margin--$(sed -n "s/^default_version = '\(.*\)'/\1/p" margin.control).sql, then the upgrade scripts (next rule)"
}
silent_make() { # what make says where something is missing: one line that names the package
  local said
  said=$(make -C "$root" -n PG_CONFIG=/nowhere/pg_config 2>&1) && say 'without pg_config: no error'
  [[ $(grep -v '^make: ' <<<"$said") == *'install its development package (Debian: postgresql-server-dev-NN)'* && $(wc -l <<<"$said") -le 3 ]] || say "without pg_config: $said"
  said=$(PKG_CONFIG_LIBDIR=/nowhere make -C "$root" -n PG_CONFIG="$pg_config" 2>&1) && say 'without Eigen: no error'
  [[ $(grep -v '^make: ' <<<"$said") == *'needs Eigen 3.4'*libeigen3-dev* && $(wc -l <<<"$said") -le 3 ]] || say "without Eigen: $said"
}
dist_differs() { # archives of two runs, in other time zones, under other masks, that differ; what they have that is not committed
  local first=$scratch/dist/first second=$scratch/dist/second
  mkdir -p "$first" "$second"
  (umask 022 && TZ=Asia/Tokyo make -s -C "$first" -f "$root/Makefile" PG_CONFIG="$pg_config" dist)
  sleep 1.1 # another second of the clock
  (umask 077 && TZ=America/Lima make -s -C "$second" -f "$root/Makefile" PG_CONFIG="$pg_config" dist)
  diff <(cd "$first" && sha256sum margin-*) <(cd "$second" && sha256sum margin-*)
  [ "$(find "$first" -name 'margin-*.tar.gz' -size +100k -o -name 'margin-*.zip' -size +100k | wc -l)" -eq 2 ] || say "not two archives: $(ls "$first")"
  diff <(tar -tzf "$first"/margin-*.tar.gz | sed -n 's,^margin-[^/]*/\(.*[^/]\)$,\1,p' | sort) <(git ls-tree -r --name-only HEAD | sort)
}
upgrades_differ() { # upgrade scripts that are not what their install scripts say; released versions without one
  local script old new current
  current=$(sed -n "s/^default_version = '\(.*\)'/\1/p" margin.control)
  for script in sql/margin--*--*.sql; do
    old=${script#sql/margin--} old=${old%%--*} new=${script##*--} new=${new%.sql}
    "$python" -B test/upgrade_script.py "sql/margin--$old.sql" "sql/margin--$new.sql" -c "$script" 2>&1
  done
  for script in sql/margin--*.sql; do
    old=${script#sql/margin--} old=${old%.sql}
    case $old in *--* | "$current") continue ;; esac
    ls sql/margin--"$old"--*.sql >/dev/null || say "no upgrade script leads on from $old"
  done
}

untested_stems() { # files of src/core that no unit test is named after, nor test/unit/stems.txt tells the tests of; lines of it that are out of date
  local stem tests test
  find src/core -name '*.cpp' -printf '%f\n' | sort -u | while read -r stem; do
    stem=${stem%.cpp}
    if [ -e "test/unit/${stem}_test.cpp" ]; then
      ! grep -q "^$stem:" test/unit/stems.txt || say "$stem has a test of its name, and a line in test/unit/stems.txt"
    else
      grep -q "^$stem:" test/unit/stems.txt || say "src/core: $stem has neither a test of its name nor a line in test/unit/stems.txt"
    fi
  done
  grep -vE '^(#|$)' test/unit/stems.txt | sed 's/(.*)//' | while IFS=': ' read -r stem tests; do
    find src/core -name "$stem.cpp" | grep -q . || say "test/unit/stems.txt: no file is named $stem"
    for test in $tests; do [ -e "test/unit/${test}_test.cpp" ] || say "test/unit/stems.txt: no test is named $test"; done
  done
}

stage_rules() {
  cd "$root"
  check 'src/core includes no PostgreSQL header' \
    nothing_matches '#[[:space:]]*include[[:space:]]*[<"](postgres|c\.h|fmgr|utils/|catalog/|executor/|nodes/|access/|funcapi)' src/core
  check 'src/core never prints' nothing_matches '\b(printf|fprintf|puts|std::cout|std::cerr|iostream)\b[^"]*\(' src/core
  check 'only src/pg/server/postgres.hpp includes postgres.h' nothing_but '^src/pg/server/(postgres\.hpp|module\.c):' '#[[:space:]]*include[[:space:]]*[<"]postgres\.h[">]' src
  check 'errors cross the boundary in one place' \
    nothing_but '^src/pg/server/boundary\.(hpp|cpp):' 'ereport\(ERROR|elog\(ERROR|sigsetjmp|PG_TRY|\bcatch[[:space:]]*\(' src/pg
  check 'interrupts are served where margin.poll_trace sees it' nothing_but '^src/pg/server/interrupts\.cpp:' '\bCHECK_FOR_INTERRUPTS\b' src/pg
  check 'every include says its room' includes_without_room
  check 'what travels between scans knows no method of training by them' nothing_matches '#[[:space:]]*include[[:space:]]*"core/scans/(methods/|[^/"]+")' src/core/scans/wire
  check 'no file of src/core includes a later room, no solver a certificate, no report a solver or a training' includes_backwards core "$core_rooms"
  check 'checks read what test/fixtures/check_reads.txt lists: statement, rows and vectors, and no type of a solver' "$python" -B test/check_reads.py
  check 'texts of nodes are read in one place, as 14 has another macro for them' nothing_but '^src/pg/server/postgres\.hpp:' '\bstrVal\(' src/pg
  check 'no file of src/pg includes a later room' includes_backwards pg "$pg_rooms"
  check 'the picture of docs/architecture.md shows the rooms of the tree in the order of the rule' rooms_disagree
  check 'SQL functions are in src/pg/functions' nothing_but '^src/pg/(functions/|server/boundary\.hpp:)' '\b(MARGIN_FUNCTION|PG_FUNCTION_INFO_V1)\b' src/pg
  check 'server headers come through src/pg/server' nothing_but '^src/pg/server/' '#[[:space:]]*include[[:space:]]*<(postgres|fmgr|funcapi|miscadmin|utils/|catalog/|executor/|nodes/|access/|parser/|libpq/|commands/|storage/)' src/pg
  check 'each solver opens with its problem, update, stopping rule and source' headless_solvers
  check 'losses are told apart by their traits, by name in src/core/loss alone' nothing_matches '(->|\.)name\(\) *[!=]= *"(hinge|logistic|squared|absolute|huber|quantile|poisson|exponential|one_class|interpolate)|loss(_name)? *[!=]= *"[a-z]' \
    src/core/{problem,certificate,consequences,solvers,metrics,formats,train,analysis,scans,report} src/pg
  check 'solvers are told apart by their records, by name or address nowhere' nothing_matches "$(solver_names)" src/core src/pg
  check 'no two headers define a type of the same name' defined_twice src
  check 'no file of src/core above 400 lines' longer_than 400 src/core
  check 'no file of src/pg above 300 lines' longer_than 300 src/pg
  check 'no function above 80 lines, or of more than 9 parameters' \
    find src \( -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' -o -name '*.c' \) -exec "$python" test/function_sizes.py 80 9 {} +
  check 'the pictures of docs are small: 4,000 lines of SVG in all (bench/figures/thin.py)' svg_lines 4000
  check 'no path of one machine' nothing_matches '(^|[^A-Za-z0-9_.])/(work|farm|home|root)/|/tmp/[a-z]' \
    --exclude-dir=build --exclude-dir='build-*' src sql expected demo bench docs Makefile CMakeLists.txt test/t test/unit test/fuzz
  check 'nothing allocates while the library is loaded, where a failure would end the server' nothing_matches '^(inline |static |const )*std::(string|vector|map|set|unordered_map|function)[ <][^()]*[={]' src
  check 'no unfinished place' nothing_matches '\b(TODO|FIXME|XXX)\b|not implemented' \
    --exclude=run.sh src sql test demo bench Makefile CMakeLists.txt
  check 'no test that is switched off' nothing_matches 'GTEST_SKIP|DISABLED_|EXPECT_TRUE\(true\)|SUCCEED\(\)' test --exclude=run.sh
  check 'no unsafe arithmetic flags' nothing_matches '^[^/#]*-(ffast-math|march=native)' Makefile CMakeLists.txt src
  check '.ci/run is a script that runs this one' bash -c 'test -x .ci/run && head -n 1 .ci/run | grep -q "^#!" && grep -q "/test/run\.sh" .ci/run && bash -n .ci/run'
  check 'no function of an install script looks names up when it runs' bound_early sql/margin--*.sql
  check 'released install scripts are as they were released' released_changed
  check 'each upgrade script makes of one install script the other' upgrades_differ
  check 'the scripts of a trusted extension make objects, replace none, and call nothing by a name that others could take' "$python" -B test/script_review.py sql/margin--*.sql
  check 'each file of the core has a unit test of its name, or a line that names its tests' untested_stems
  check 'META.json is as the meta spec of PGXN says, and true' "$python" -B test/meta_check.py
  check 'make says what is missing: pg_config, Eigen' silent_make
  if git rev-parse -q --verify HEAD >/dev/null 2>&1; then check 'make dist makes the same archives wherever and whenever' dist_differs; fi # of a clone
  end_checks
}

# --- unit, sanitize: the core's tests, optimised and under address + undefined-behaviour sanitizers -----------------
# The objects of margin.so are the core that is tested.
unit_tests() { # builds them
  cmake -S "$root" -B "$build/release" -DCMAKE_BUILD_TYPE=Release -DMARGIN_OBJECTS=ON
  cmake --build "$build/release" -j "$jobs"
}
stage_unit() {
  unit_tests
  ctest --test-dir "$build/release" -j "$jobs" --verbose
}
stage_exact() { # certificates of small hard problems against exact arithmetic; the seed is fixed
  cmake -S "$root" -B "$build/release" -DCMAKE_BUILD_TYPE=Release -DMARGIN_OBJECTS=ON -DMARGIN_EXACT=ON
  cmake --build "$build/release" -j "$jobs" --target margin_exact
  "$build/release/margin_exact" "${MARGIN_EXACT:-5000}" 1 "${MARGIN_EXACT_PRODUCTS:-1000}" "$jobs"
}
stage_mutants() { # what certificates claim, made wrong in one place after another: a test finds each
  local copies=$build/release/mutants
  "$python" -B "$root/test/mutants/generate.py" "$root/test/mutants/mutants.txt" "$root/src" "$copies"
  cmake -S "$root" -B "$build/release" -DCMAKE_BUILD_TYPE=Release -DMARGIN_OBJECTS=ON -DMARGIN_EXACT=ON -DMARGIN_MUTANTS="$copies"
  cmake --build "$build/release" -j "$jobs" --target margin_mutant_tests margin_mutant_exact
  "$python" -B "$root/test/mutants/run.py" "$root/test/mutants/mutants.txt" "$build/release/margin_mutant_tests" "$build/release/margin_mutant_exact" \
    --jobs "$jobs" ${MARGIN_MUTANT_FILES:+--files $MARGIN_MUTANT_FILES}
}
stage_sanitize() { # the unit tests and the fuzzers' smoke runs, on a core that is compiled with sanitizers
  unit_tests
  local server=() # compiled now, by all processors, where its stage follows
  [[ " ${stages[*]} " != *' sanitize-server '* ]] || server=(-DMARGIN_SERVER="$("$pg_config" --includedir-server)")
  cmake -S "$root/test/fuzz" -B "$build/sanitize" -DCMAKE_BUILD_TYPE=Release -DMARGIN_SANITIZE=ON -DMARGIN_TEST_OBJECTS="$build/release" "${server[@]}"
  cmake --build "$build/sanitize" -j "$jobs"
  ctest --test-dir "$build/sanitize" -j "$jobs" --verbose
}

# --- sanitize-server: margin.so of the core above and the glue, in the distribution's server (test/lib.sh) ------------
stage_sanitize-server() {
  cmake -S "$root/test/fuzz" -B "$build/sanitize" -DCMAKE_BUILD_TYPE=Release -DMARGIN_SANITIZE=ON -DMARGIN_SERVER="$("$pg_config" --includedir-server)"
  cmake --build "$build/sanitize" -j "$jobs" --target margin_server
  install_privately
  sanitize_installation "$build/sanitize/margin/margin.so"
  check 'the regress suite says what it says without sanitizers' silent_regress
  start_cluster 'shared_buffers = 16MB' 'autovacuum = off' 'jit = off'
  "$python" -B "$root/test/fuzz/sql.py" --socket "$socket" --seconds "${MARGIN_FUZZ_SECONDS:-40}" --reports "$reports" --log "$data/../log" ||
    report no 'random statements'
  as_server "$bin/pg_ctl" -D "$data" -m fast -w stop >/dev/null
  check 'no report of a sanitizer' sanitizer_reports
  end_checks
}
sanitizer_reports() {
  find "$reports" -type f -exec cat {} +
  grep -hA 20 'runtime error: ' "$data/../log" "$place/regress/out/log/postmaster.log" || [ $? -eq 1 ]
}
silent_regress() {
  local said
  printf 'max_stack_depth = 6MB\n' >"$place/regress.conf" # frames are larger; the statements that are refused need more still
  said=$(regress_suite --temp-config="$place/regress.conf" 2>&1) || printf '%s\n' "$said" | tail -n 100
}

# --- regress: the Makefile's REGRESS list on a temporary instance ------------------------------------------------------
makefile_value() {
  make -C "$root" -s --no-print-directory PG_CONFIG="$pg_config" --eval='show-value: ; @echo $($(name))' show-value name="$1"
}
stage_regress() { regress_suite; }
regress_suite() { # regress_suite [OPTION...]: of pg_regress
  local area tests options
  area=$(server_directory regress)
  mkdir -p "$area/in" "$area/out/results/regress"
  cp -r "$root/sql" "$root/expected" "$area/in/"
  if [ "$(id -u)" -eq 0 ]; then chown -R postgres "$area"; fi
  tests=$(makefile_value REGRESS)
  options=$(makefile_value REGRESS_OPTS | grep -oE -- '--load-extension=\S+' || true)
  # shellcheck disable=SC2086  # both are lists of words
  (cd "$area/out" && as_server "$pgxs_tests/regress/pg_regress" --temp-instance="$area/instance" --bindir="$bin" \
    --inputdir="$area/in" --outputdir="$area/out" "$@" $options $tests) ||
    { cat "$area/out/regression.diffs" 2>/dev/null | head -n 200; return 1; }
}

# --- tap: what needs sessions, signals, plans, restarts (test/t) -----------------------------------------------------
tap_environment() { # tap_environment COMMAND...: as the server's user, where the scripts are
  as_server env PATH="$bin:$PATH" PG_REGRESS="$pgxs_tests/regress/pg_regress" TESTDIR="$area" TESTDATADIR="$area/tmp_check" TESTLOGDIR="$area/tmp_check/log" \
    PERL5LIB="$pgxs_tests/perl:$area/t" MARGIN_DATASETS="$area/datasets.py" MARGIN_SHARED="$sets" \
    MARGIN_DEMO_DATA="$area/demo-data" PG_SERVER_INCLUDE="$("$pg_config" --includedir-server)" PG_TEST_TIMEOUT_DEFAULT=180 "$@"
}
stage_tap() {
  local area sets
  area=$(server_directory tap)
  cp -r "$root/test/t" "$root/test/papers" "$root/test/fixtures" "$root/packaging" "$root/LICENSE" "$root/bench/datasets.py" "$root/sql" "$root/docs/checker.sql" "$area/"
  sets=''
  if [ -d "$shared" ]; then
    sets=$shared
    if ! as_server test -r "$shared/README.md"; then # a place that the server's user cannot enter
      cp -r "$shared" "$area/shared"
      sets=$area/shared
    fi
  else
    say "no $shared: tests on real data run on the demo's sets only"
  fi
  cp -r "$root/demo/data" "$area/demo-data"
  cp -r "$root/demo/jobs" "$area/"
  if [ "$(id -u)" -eq 0 ]; then chown -R postgres "$area"; fi
  local number scripts=() side_by_side=() alone=()
  for number in ${MARGIN_TAP:-}; do scripts+=("$root/test/t/$number"_*.pl); done
  [ ${#scripts[@]} -gt 0 ] || scripts=("$root"/test/t/*.pl)
  for number in "${scripts[@]##*/}"; do
    case $number in
      001* | 009* | 012* | 018* | 021*) alone+=("t/$number") ;; # these measure times
      011*) side_by_side=("t/$number" "${side_by_side[@]}") ;;  # the longest begins
      *) side_by_side+=("t/$number") ;;
    esac
  done
  local status=0
  (cd "$area" && { printf '%s\n' "${side_by_side[@]}" | tap_environment xargs -r -P "$jobs" -I% sh -c 'prove -v --timer % >%.log 2>&1'; }) || status=1
  for number in "${side_by_side[@]}"; do cat "$area/$number.log"; done
  [ ${#alone[@]} -eq 0 ] || (cd "$area" && tap_environment prove -v --timer "${alone[@]}") || status=1
  say "checks: $((${#side_by_side[@]} + ${#alone[@]})) scripts, of which $([ "$status" -eq 0 ] && echo none || echo some) failed"
  [ "$status" -eq 0 ] ||
    { # a script that died before its end left the reason in its log
      grep -LE '1\.\.[0-9]+$' "$area"/tmp_check/log/regress_log_* | xargs -r tail -v -n 15
      return 1
    }
}

# --- fuzz: random statements over all SQL functions, as a role without privileges -------------------------------------
stage_fuzz() {
  # malloc gives back what is free, so that what a session keeps is what it holds
  export MALLOC_TRIM_THRESHOLD_=131072 MALLOC_MMAP_THRESHOLD_=65536
  start_cluster 'shared_buffers = 16MB' 'autovacuum = off' 'jit = off'
  "$python" -B "$root/test/fuzz/sql.py" --socket "$socket" --seconds "${MARGIN_FUZZ_SECONDS:-40}"
  stop_cluster
}

# --- assert: regress and tap on a server built with --enable-cassert ----------------------------------------------------
# MARGIN_ASSERT_SOURCE is an unpacked source tree of PostgreSQL, which is built beside it, in build/assert, unless
# MARGIN_ASSERT_SERVER says where such a server is installed.
stage_assert() {
  local server=${MARGIN_ASSERT_SERVER:-$build/assert/server} tree part
  if [ ! -x "$server/bin/pg_config" ]; then
    [ -f "${MARGIN_ASSERT_SOURCE:-}/configure" ] ||
      { say "not ok 1 - MARGIN_ASSERT_SOURCE names an unpacked source tree of PostgreSQL (or MARGIN_ASSERT_SERVER an installed server with assertions)"; return 1; }
    need_packages libxml2-dev # what the tests of charts and PMML read XML with
    mkdir -p "$build/assert/objects"
    (cd "$build/assert/objects" &&
      "$MARGIN_ASSERT_SOURCE/configure" --prefix="$server" --enable-cassert --enable-tap-tests --with-libxml --without-readline --without-zlib CFLAGS='-O1 -g1' &&
      make -s -j "$jobs" install && make -s -C contrib -j "$jobs" install)
  fi
  "$server/bin/pg_config" --configure | grep -q -- --enable-cassert || { say "not ok 1 - $server was built with --enable-cassert"; return 1; }
  tree=$scratch/assert # a tree of its own: the objects beside the sources belong to another server
  mkdir -p "$tree"
  for part in Makefile CMakeLists.txt margin.control META.json src sql expected test demo bench; do cp -r "$root/$part" "$tree/"; done
  PG_CONFIG=$server/bin/pg_config MARGIN_SHARED=$shared MARGIN_BUILD=$tree/build "$tree/test/run.sh" regress tap
}

# --- versions, packages: other systems, in chroots ----------------------------------------------------------------------
stage_versions() {
  # shellcheck disable=SC2086  # a list of targets
  "$root/test/versions.sh" ${MARGIN_VERSIONS:-}
}
stage_packages() { "$root/test/packages.sh"; }
stage_citus() { "$root/test/citus.sh"; }
stage_pglite() {
  if [ "$(id -u)" -ne 0 ]; then say 'ok 1 - skipped: only root can make the chroot that compiles for WebAssembly' && say 'checks: skipped' && return; fi
  "$root/test/pglite.sh"
}

# --- valgrind: one backend under memcheck; an error counts when our library is on its stack ----------------------------
stage_valgrind() {
  local area report errors
  area=$(server_directory valgrind)
  cp "$root/test/valgrind.sql" "$area/"
  as_server "$bin/initdb" -D "$area/data" -U postgres -A trust --locale=C -E UTF8 --no-sync >/dev/null
  report=$area/report.xml
  as_server valgrind --quiet --leak-check=no --num-callers=40 --xml=yes --xml-file="$report" \
    "$bin/postgres" --single -j -D "$area/data" -c log_error_verbosity=verbose postgres <"$area/valgrind.sql" >"$area/output" 2>&1 ||
    { tail -n 40 "$area/output"; return 1; }
  errors=$(perl -0777 -ne 'print scalar grep { m{<obj>[^<]*/margin\.so</obj>} } m{<error>.*?</error>}gs' "$report")
  grep -E 'ERROR|FATAL|PANIC' "$area/output" || true
  check 'the script ran to its end' grep -qE 'finished = "yes"' "$area/output"
  check 'every error of the script is an expected one' nothing_matches '(FATAL|PANIC|XX000)' "$area/output"
  check 'what is marked as refused is, and nothing else' \
    test "$(grep -c 'ERROR: ' "$area/output")" -eq "$(grep -c '^/\* refused \*/' "$area/valgrind.sql")"
  check "memcheck reports nothing in margin.so ($errors errors)" test "$errors" -eq 0
  [ "$errors" -eq 0 ] || head -c 20000 "$report"
  end_checks
}

# --- docs: the reference against the catalogue, the statements of README.md against psql's answers -----------------------
stage_docs() {
  start_cluster
  cd "$root"
  "$python" test/docs_check.py "$bin/psql" -X -h "$socket" -U postgres
  stop_cluster
}

stages=()
for argument in "$@"; do
  if [ "$argument" = help ] || [ "$argument" = --help ]; then usage; exit 0; fi
  case " ${all_stages[*]} ${more_stages[*]} " in
    *" $argument "*) stages+=("$argument") ;;
    *)
      usage
      case $argument in help | -h | --help) exit 0 ;; *) exit 2 ;; esac
      ;;
  esac
done
[ ${#stages[@]} -gt 0 ] || stages=("${all_stages[@]}")

needed=("${packages_test[@]}")
case " ${stages[*]} " in
  *' format '* | *' rules '* | *' unit '* | *' exact '* | *' mutants '* | *' sanitize '* | *' sanitize-server '* | *' fuzz '* | *' valgrind '* | *' docs '*) ;;
  *) needed=("${packages_server[@]}") ;;
esac
need_packages "${packages_build[@]}" "${needed[@]}"
find_postgres
make_scratch
TMPDIR=$(server_directory tmp) # the runners' own temporary directories go with ours
export TMPDIR
started=$SECONDS
case " ${stages[*]} " in
  *' unit '* | *' exact '* | *' mutants '* | *' sanitize '* | *' sanitize-server '* | *' regress '* | *' tap '* | *' fuzz '* | *' valgrind '* | *' docs '*)
    say "building margin.so for PostgreSQL $("$pg_config" --version | grep -oE '[0-9.]+' | head -n 1): 5 minutes"
    build_extension
    install_privately
    ;;
esac
light=()
for name in "${stages[@]}"; do
  if [[ $one_processor == *" $name "* ]]; then
    light+=("$name")
    continue
  fi
  side_by_side "${light[@]}"
  light=()
  begin "$name"
  end "$name"
done
side_by_side "${light[@]}"
say ''
printf '%s\n' "${closing[@]}"
say "time: $((SECONDS - started)) s"
say "tests: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
