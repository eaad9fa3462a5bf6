# Inside of the chroot that build.sh makes: the parts of margin.so for PGlite.
#   make -C BUILD -f packaging/pglite/wasm.mk VERSION=...
SOURCE = /margin/source
HEADERS = /margin/headers
SYSTEM = /usr/share/emscripten/system/lib
OPT = -O1
core/simd.o: private OPT = -O3
# What reads and writes no rows is as small as it can be.
SMALL = -Oz
small = $(addsuffix .o,$(addprefix core/,analysis formats model options report train) pg/functions)
$(small) small.core.pch small.pg.pch: private OPT = $(SMALL)
$(small): private PCH = small.

# A directory is compiled as one, as in the Makefile.
directories := $(patsubst $(SOURCE)/src/%/,%,$(sort $(dir $(wildcard $(addprefix $(SOURCE)/src/,core/*/*.cpp core/*/*/*.cpp pg/*/*.cpp)))))
$(shell for at in $(directories); do \
  files=$$(cd $(SOURCE)/src && printf '\043include "%s"\n' $$at/*.cpp | grep -vE 'pg/server/(spill|poll_trace)[.]cpp'); mkdir -p $$(dirname $$at); \
  [ "$$files" = "$$(cat $$at.cpp 2>/dev/null)" ] || printf '%s\n' "$$files" >$$at.cpp; done)
core := $(patsubst %,%.o,$(filter core/%,$(directories)))
glue := $(patsubst %,%.o,$(filter pg/%,$(directories))) pglite/server.o
in_c = pg/server/module.o pglite/jump.o pglite/shims.o
# Of the C++ library what the core and the glue need, with native exceptions: those of the main module are JavaScript's, and dead.
cxx = $(addprefix libcxx/src/,algorithm.o call_once.o charconv.o chrono.o condition_variable.o condition_variable_destructor.o error_category.o exception.o future.o \
  functional.o hash.o memory.o memory_resource.o mutex.o mutex_destructor.o new.o new_handler.o new_helpers.o optional.o stdexcept.o string.o \
  system_error.o thread.o typeinfo.o variant.o vector.o verbose_abort.o ryu/d2fixed.o ryu/d2s.o ryu/f2s.o)
abi = $(addprefix libcxxabi/src/,abort_message.o cxa_aux_runtime.o cxa_default_handlers.o cxa_exception.o cxa_exception_storage.o cxa_guard.o \
  cxa_handlers.o cxa_personality.o cxa_thread_atexit.o cxa_virtual.o fallback_malloc.o private_typeinfo.o stdlib_exception.o stdlib_new_delete.o \
  stdlib_stdexcept.o stdlib_typeinfo.o __cpp_exception.o)
unwind = libunwind/src/Unwind-wasm.o
# Of musl, the C library, what the main module does not export.
maths = $(addprefix libc/musl/src/math/,erf.o expm1.o fma.o ilogb.o log1p.o nearbyint.o)
musl = $(maths) $(addprefix libc/musl/src/,signal/sigfillset.o string/strnlen.o thread/pthread_equal.o)
objects = $(core) $(glue) $(in_c) $(cxx) $(abi) $(unwind) $(musl)

# Fused operations would round otherwise than the bounds assume.
COMMON = $(OPT) -fPIC -fvisibility=hidden -ffp-contract=off -msimd128
OURS = $(COMMON) -fno-strict-aliasing -fwrapv -MMD -MP -DMARGIN_VERSION='"$(VERSION)"' -I$(SOURCE)/src
OURS_CXX = $(OURS) -std=c++17 -fwasm-exceptions -fopenmp-simd -DEIGEN_DONT_PARALLELIZE -DEIGEN_MAX_ALIGN_BYTES=8 -isystem /usr/include/eigen3 -Wall -Wextra
SERVER = -isystem $(HEADERS)
# What emcc adds; asked once, as it takes longer to start than most of the server's files to compile.
TARGET := -target wasm32-unknown-emscripten --sysroot=/margin/cache/sysroot -Xclang -iwithsysroot/include/compat -mllvm -combiner-global-alias-analysis=false -mllvm -disable-lsr
# By its number, where Debian has no other name for it.
newest = $(lastword $(sort $(wildcard /usr/bin/$1-[0-9][0-9])) $(wildcard /usr/bin/$1))
CXX = $(call newest,clang++) $(TARGET) -mllvm -wasm-enable-sjlj -mllvm -wasm-use-legacy-eh
CC = $(call newest,clang) $(TARGET) -mllvm -enable-emscripten-sjlj

FEATURES = $(patsubst %,--enable-%,simd exception-handling bulk-memory bulk-memory-opt mutable-globals sign-ext nontrapping-float-to-int multivalue reference-types)

# wasm-merge binds weak symbols of the C++ library inside, not to the main module's.
margin.so: $(objects)
	$(call newest,wasm-ld) -shared --experimental-pic -Bsymbolic --unresolved-symbols=import-dynamic --strip-all --gc-sections -o linked.wasm $^
	wasm-merge $(FEATURES) linked.wasm env -o merged.wasm
	wasm-opt $(FEATURES) -Oz merged.wasm -o $@
# For the tests: what the package brings of mathematics, on its own.
maths.wasm: $(maths)
	$(call newest,wasm-ld) --no-entry --allow-undefined $(patsubst %,--export=%,log1p expm1 erfc fma) -o $@ $^

core.pch small.core.pch: $(SOURCE)/src/core/base/precompiled.hpp
	$(CXX) $(OURS_CXX) -x c++-header -o $@ $<
pg.pch small.pg.pch: $(SOURCE)/src/pg/server/precompiled.hpp
	$(CXX) $(OURS_CXX) $(SERVER) -x c++-header -o $@ $<
$(core): core.pch small.core.pch
$(glue): pg.pch small.pg.pch
core/%.o: core/%.cpp
	$(CXX) $(OURS_CXX) -include-pch $(PCH)core.pch -c -o $@ $<
pg/%.o: pg/%.cpp
	$(CXX) $(OURS_CXX) $(SERVER) -include-pch $(PCH)pg.pch -c -o $@ $<
pglite/%.o: $(SOURCE)/packaging/pglite/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(OURS_CXX) $(SERVER) -include-pch pg.pch -Wno-unused-private-field -c -o $@ $<
pg/%.o: $(SOURCE)/src/pg/%.c
	@mkdir -p $(@D)
	$(CC) $(OURS) $(SERVER) -c -o $@ $<
pglite/%.o: $(SOURCE)/packaging/pglite/%.c
	@mkdir -p $(@D)
	$(CC) $(OURS) $(SERVER) -Wall -c -o $@ $<

LIBRARY = $(COMMON) -Oz -DNDEBUG -DEMSCRIPTEN_DYNAMIC_LINKING -D_LIBCPP_BUILDING_LIBRARY -std=c++23 -w -fwasm-exceptions -I$(SYSTEM)/libcxx/src -I$(SYSTEM)/llvm-libc
libcxx/%.o: $(SYSTEM)/libcxx/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(LIBRARY) -DLIBCXX_BUILDING_LIBCXXABI=1 -D_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS -DLIBC_NAMESPACE=__llvm_libc -c -o $@ $<
libcxxabi/%.o: $(SYSTEM)/libcxxabi/%.cpp
	@mkdir -p $(@D)
	$(CXX) $(LIBRARY) -D_LIBCXXABI_USE_FUTEX -D_LIBCXXABI_BUILDING_LIBRARY -DLIBCXXABI_NON_DEMANGLING_TERMINATE -D_LIBCXXABI_HAS_NO_THREADS -c -o $@ $<
libcxxabi/%.o: $(SYSTEM)/libcxxabi/%.S
	@mkdir -p $(@D)
	$(call newest,clang) -target wasm32-unknown-emscripten -fPIC -fwasm-exceptions -c -o $@ $<
libunwind/%.o: $(SYSTEM)/libunwind/%.c
	@mkdir -p $(@D)
	$(CXX) -x c $(COMMON) -Oz -DNDEBUG -D_LIBUNWIND_HIDE_SYMBOLS -D_LIBUNWIND_HAS_NO_THREADS -w -fwasm-exceptions -I$(SYSTEM)/libunwind/include -c -o $@ $<
libc/%.o: $(SYSTEM)/libc/%.c
	@mkdir -p $(@D)
	$(CC) $(COMMON) -std=gnu99 -w $(patsubst %,-I$(SYSTEM)/libc/musl/%,src/internal src/include arch/emscripten arch/generic include) -c -o $@ $<

# --- the tests of the core in Node.js: the same objects, with a main program of emscripten's ----------------------------------
# The sizes beyond all memory of eigen_check_test are numbers of 64 bits.
unit := $(filter-out unit/eigen_check_test.o,$(patsubst $(SOURCE)/test/%.cpp,%.o,$(wildcard $(SOURCE)/test/unit/*.cpp))) gtest-all.o gtest_main.o
# All but what tells how MPFR was configured.
mpfr := $(addprefix numbers/mpfr/src/,$(shell sed -n '/^libmpfr_la_SOURCES/,/^$$/p' numbers/mpfr/src/Makefile.am 2>/dev/null | grep -o '[a-z0-9_-]*[.]c' | grep -v buildopt | sed 's/c$$/o/')) \
  numbers/gmp/mini-gmp/mini-gmp.o
exact := $(patsubst $(SOURCE)/test/%.cpp,%.o,$(wildcard $(SOURCE)/test/exact/*.cpp)) $(mpfr)
GTEST = /margin/googletest/googletest
# MPFR on the small GMP, without either's configure, which would link some hundred programs of emscripten's to learn this. Nothing here
# draws random numbers, but mpfr.h names the type of their state.
NUMBERS = -Inumbers/gmp/mini-gmp -Inumbers/mpfr/src -DMPFR_USE_MINI_GMP -DMINI_GMP_LIMB_TYPE='long long' -DGMP_NUMB_BITS=64 -Dgmp_randstate_t='long int*'
PROGRAM = -fwasm-exceptions -sWASM_LEGACY_EXCEPTIONS=1 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=2GB -sSTACK_SIZE=8MB -sEXIT_RUNTIME=1 -sENVIRONMENT=node -sNODERAWFS=1

unit.js: $(core) $(unit)
exact.js: $(core) $(exact)
unit.js exact.js:
	em++ $(PROGRAM) -o $@ $^
	echo '{"type": "commonjs"}' >package.json
unit.hpp: $(SOURCE)/src/core/base/precompiled.hpp
	echo '#include "core/base/precompiled.hpp"\n#include <gtest/gtest.h>\n#include <random>' >$@
unit.pch: unit.hpp
	$(CXX) $(OURS_CXX) -isystem $(GTEST)/include -x c++-header -o $@ $<
unit/%.o: $(SOURCE)/test/unit/%.cpp unit.pch
	@mkdir -p $(@D)
	$(CXX) $(OURS_CXX) -isystem $(GTEST)/include -include-pch unit.pch -c -o $@ $<
gtest-all.o gtest_main.o: %.o: $(GTEST)/src/%.cc
	$(CXX) $(OURS_CXX) -w -I$(GTEST)/include -I$(GTEST) -c -o $@ $<
exact/%.o: $(SOURCE)/test/exact/%.cpp core.pch
	@mkdir -p $(@D)
	$(CXX) $(OURS_CXX) $(NUMBERS) -include-pch core.pch -c -o $@ $<
numbers/%.o: numbers/%.c
	$(CC) -O2 -w $(NUMBERS) -D__MPFR_WITHIN_MPFR -DHAVE_STDARG -DHAVE_STDINT_H -DHAVE_INTTYPES_H -DHAVE_LITTLE_ENDIAN -Inumbers/mpfr/src/generic -c -o $@ $<

-include core.d pg.d small.core.d small.pg.d unit.d $(shell find core pg pglite unit exact -name '*.d' 2>/dev/null)
