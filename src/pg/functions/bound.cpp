// margin_bound: how many iterations a theorem promises to be enough.
#include "core/math/iteration_bound.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"

using namespace margin::pg;

MARGIN_FUNCTION(margin_bound) {
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2)) PG_RETURN_NULL();
  text* const name = backend([=] { return PG_GETARG_TEXT_PP(0); });
  margin::BoundSettings settings;
  settings.rows = static_cast<double>(PG_GETARG_INT64(1));
  settings.gap = PG_GETARG_FLOAT8(2);
  std::optional<double>* const given[] = {&settings.lambda, &settings.smoothing, &settings.lipschitz, &settings.margin,
                                          &settings.failure};
  for (int i = 0; i < 5; ++i)
    if (!PG_ARGISNULL(3 + i)) *given[i] = PG_GETARG_FLOAT8(3 + i);
  if (!PG_ARGISNULL(8)) {
    const margin::FeatureRow distances = array_reader(FLOAT8ARRAYOID)(PG_GETARG_DATUM(8));
    settings.distances.assign(distances.doubles(), distances.doubles() + distances.count);
  }
  const std::string_view theorem(VARDATA_ANY(name), static_cast<std::size_t>(VARSIZE_ANY_EXHDR(name)));
  PG_RETURN_FLOAT8(margin::iterations_promised(theorem, settings, InterruptProgress()));
}
