# Builds and installs the extension. The core also builds alone, with its unit tests, through CMakeLists.txt.
EXTENSION = margin
MODULE_big = margin
DATA = $(wildcard $(srcdir)/sql/margin--*.sql)

# margin.control is the only place that states the version.
MARGIN_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(or $(srcdir),.)/margin.control)

OBJS = $(patsubst $(or $(srcdir),.)/%.cpp,%.o,$(wildcard $(addprefix $(or $(srcdir),.)/src/,core/*/*.cpp core/*/*/*.cpp pg/*/*.cpp))) \
       src/pg/server/module.o
EXPORTS = $(or $(srcdir),.)/src/pg/server/exports.map

# Bitcode would let the JIT inline our functions into query code: they are far too large to gain from it, and their
# frames would have to carry C++ unwind tables there.
override with_llvm := no

PG_CONFIG = pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)

# The server's headers are system headers here, so that -Wextra speaks only of our own files.
PG_CPPFLAGS = -I$(or $(srcdir),.)/src -isystem $(shell $(PG_CONFIG) --includedir-server) \
              $(patsubst -I%,-isystem %,$(shell pkg-config --cflags eigen3)) \
              -DEIGEN_DONT_PARALLELIZE -DEIGEN_MAX_ALIGN_BYTES=16 -DMARGIN_VERSION='"$(MARGIN_VERSION)"' -MMD -MP
WARNINGS = -Wall -Wextra -Werror
PG_CFLAGS = $(WARNINGS) -g0
# PostgreSQL is built with -g, and so would we be: 80 MB of debug information, and a third of the time to build. Whoever
# wants it says OPTFLAGS=-g. The names of functions stay in the library, so that stacks can be read without.
PG_CXXFLAGS = -std=c++17 -O3 -g0 -fopenmp-simd -include $(or $(srcdir),.)/src/core/base/eigen_check.hpp $(WARNINGS) $(OPTFLAGS)

# PGXS links with the C compiler. The version script hides everything but the SQL entry points: the weak symbols of
# the C++ library would otherwise be shared with every other C++ extension in the process.
SHLIB_LINK = -lstdc++ -lm -Wl,--version-script=$(EXPORTS)

REGRESS = $(patsubst $(or $(srcdir),.)/sql/%.sql,%,$(wildcard $(or $(srcdir),.)/sql/regress/*.sql))
REGRESS_OPTS = --load-extension=margin
REGRESS_PREP = results/regress
EXTRA_CLEAN = $(OBJS:.o=.d)

include $(PGXS)

margin.so: $(EXPORTS)
# Where the installation tracks no headers (most packages), the compiler's own notes do. The version is compiled in.
src/pg/functions/catalog.o: margin.control
-include $(OBJS:.o=.d)

# pg_regress does not create sub-directories of its results.
.PHONY: results/regress
results/regress:
	mkdir -p $@
