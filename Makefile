# Builds and installs the extension. The core also builds alone, with its unit tests, through CMakeLists.txt.
EXTENSION = margin
MODULE_big = margin

# Packages build outside of the source tree: make -f /the/source/Makefile. PGXS finds its own files then, and we ours.
here := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
DATA = $(patsubst $(here)/%,%,$(wildcard $(here)/sql/margin--*.sql))

# margin.control is the only place that states the version.
MARGIN_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(here)/margin.control)

# A directory is compiled as one: what its files include and instantiate is most of the time that they take each on its own.
# So a name without linkage is one name in all files of a directory.
DIRECTORIES := $(patsubst $(here)/src/%/,%,$(sort $(dir $(wildcard $(addprefix $(here)/src/,core/*/*.cpp core/*/*/*.cpp pg/*/*.cpp)))))
OBJS = $(DIRECTORIES:%=objects/%.o) objects/pg/server/module.o
EXPORTS = $(here)/src/pg/server/exports.map

# Bitcode would let the JIT inline our functions into query code: they are far too large to gain from it, and their
# frames would have to carry C++ unwind tables there.
override with_llvm := no

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifeq ($(wildcard $(PGXS)),)
$(error $(PG_CONFIG) names no build files of a PostgreSQL server: install its development package (Debian: postgresql-server-dev-NN), or say make PG_CONFIG=/path/to/pg_config)
endif

# The server's headers are system headers here, so that -Wextra speaks only of our own files.
PG_CPPFLAGS = -Iobjects -I$(here)/src -isystem $(shell $(PG_CONFIG) --includedir-server) \
              $(patsubst -I%,-isystem %,$(shell pkg-config --cflags eigen3 2>/dev/null)) \
              -DEIGEN_DONT_PARALLELIZE -DEIGEN_MAX_ALIGN_BYTES=16 -DMARGIN_VERSION='"$(MARGIN_VERSION)"' -MMD -MP
# The tests add -Werror: what a later compiler warns of is no reason not to build.
WARNINGS = -Wall -Wextra
PG_CFLAGS = $(WARNINGS) -g0
# PostgreSQL is built with -g, and so would we be: 80 MB of debug information, and a third of the time to build. Whoever
# wants it says OPTFLAGS=-g. The names of functions stay in the library, so that stacks can be read without.
# The server's own flags are those of the compiler that it was built with; clang would speak of the foreign ones in every file.
foreign := $(if $(findstring clang,$(shell $(CXX) --version 2>/dev/null)),-Wno-unknown-warning-option -Wno-ignored-optimization-argument)
PG_CXXFLAGS = -std=c++17 -O3 -g0 -pthread -fopenmp-simd $(WARNINGS) $(foreign) $(OPTFLAGS)

# PGXS links with the C compiler. The version script hides everything but the SQL entry points: the weak symbols of
# the C++ library would otherwise be shared with every other C++ extension in the process.
STDLIB = -lstdc++
SHLIB_LINK = $(STDLIB) -lm -pthread -Wl,--version-script=$(EXPORTS)

REGRESS = $(patsubst $(here)/sql/%.sql,%,$(wildcard $(here)/sql/regress/*.sql))
REGRESS_OPTS = --load-extension=margin
REGRESS_PREP = results/regress
# What the files of the core, and those of the glue, include first. GCC reads it once for all of them.
PRECOMPILED = $(if $(foreign),,objects/core/base/precompiled.hpp.gch objects/pg/server/precompiled.hpp.gch)
EXTRA_CLEAN = $(OBJS:.o=.d) $(DIRECTORIES:%=objects/%.cpp) $(PRECOMPILED) $(PRECOMPILED:.gch=.d)
$(shell mkdir -p $(sort $(dir $(OBJS) $(PRECOMPILED))))
# The files of each directory, written where there is another list of them.
$(shell for at in $(DIRECTORIES); do \
  files=$$(cd $(here)/src && printf '\043include "%s"\n' $$at/*.cpp); \
  [ "$$files" = "$$(cat objects/$$at.cpp 2>/dev/null)" ] || printf '%s\n' "$$files" >objects/$$at.cpp; done)

include $(PGXS)

# One line instead of an error in every file, and of pkg-config (core/base/large_array.hpp has the first, too).
hash := \#
found := $(shell printf '%s\n' '__FLT_EVAL_METHOD__' '$(hash)if __has_include(<Eigen/Core>)' 'Eigen' '$(hash)endif' | $(CXX) $(OPTFLAGS) $(filter-out -MMD -MP,$(PG_CPPFLAGS)) -E -P -x c++ - 2>/dev/null)
ifeq ($(firstword $(found)),2)
$(error margin needs sums of doubles in double precision (a 64-bit system, or OPTFLAGS='-msse2 -mfpmath=sse'): those in x87 registers would not be what the certificates assume)
endif
ifeq ($(words $(found)),1)
$(error margin needs Eigen 3.4 (headers only): install it (Debian: libeigen3-dev), and pkg-config to find it)
endif

$(PRECOMPILED): objects/%.gch:
	$(COMPILE.cc) -x c++-header -MF $(@:.gch=.d) -o $@ $(here)/src/$*
objects/core/%.o: private override CXXFLAGS += -include core/base/precompiled.hpp
objects/pg/%.o: private override CXXFLAGS += -include pg/server/precompiled.hpp
$(filter objects/core/%,$(OBJS)): $(filter objects/core/%,$(PRECOMPILED))
$(filter objects/pg/%,$(OBJS)): $(filter objects/pg/%,$(PRECOMPILED))
objects/pg/server/module.o: $(here)/src/pg/server/module.c
	$(COMPILE.c) -o $@ $<

margin.so: $(EXPORTS)
# Where the installation tracks no headers (most packages), the compiler's own notes do. The version is compiled in.
objects/pg/functions.o: $(here)/margin.control
-include $(OBJS:.o=.d) $(PRECOMPILED:.gch=.d)

# pg_regress does not create sub-directories of its results.
.PHONY: results/regress
results/regress:
	mkdir -p $@

# The archives that packages are made of, from what is committed: the same bits everywhere (zip has local times).
.PHONY: dist
dist:
	git -C $(here) archive --format=tar.gz --prefix=margin-$(MARGIN_VERSION)/ -o $(CURDIR)/margin-$(MARGIN_VERSION).tar.gz HEAD
	TZ=UTC git -C $(here) archive --format=zip --prefix=margin-$(MARGIN_VERSION)/ -o $(CURDIR)/margin-$(MARGIN_VERSION).zip HEAD
EXTRA_CLEAN += margin-$(MARGIN_VERSION).tar.gz margin-$(MARGIN_VERSION).zip
