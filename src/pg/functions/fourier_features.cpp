// margin_fourier(features, dimensions, gamma, seed): features whose inner products approximate the Gaussian kernel.
#include "pg/server/interrupts.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"

namespace margin::pg {
namespace {

/// What a call site keeps for the query: the reader of its features, and the frequencies of the last seed.
struct FourierCall {
  explicit FourierCall(FunctionCallInfo fcinfo) : features(fcinfo, 0) {}

  FourierFeatures& map(std::int32_t dimensions, std::uint64_t seed) {
    if (!known.has_value() || known->dimensions() != dimensions || known->seed() != seed) {
      constexpr double most = 256 << 20;
      const double limit = memory_limit();
      known.emplace(dimensions, seed, limit < 0 ? most : std::min(most, limit));
    }
    return *known;
  }

  FeatureReader features;
  ThreadedProgress progress;
  std::optional<FourierFeatures> known;
};

void require(bool holds, const std::string& name, const std::string& found, const std::string& expected) {
  if (!holds) throw Error(ErrorKind::invalid_option, name + " is " + found + ", expected " + expected);
}

/// An array of `n` floats, and where they go.
std::pair<Datum, float*> new_float4_array(std::int32_t n) {
  const std::size_t bytes = ARR_OVERHEAD_NONULLS(1) + static_cast<std::size_t>(n) * sizeof(float);
  auto* array = static_cast<ArrayType*>(allocate_in(CurrentMemoryContext, bytes));
  SET_VARSIZE(array, bytes);
  array->ndim = 1;
  array->dataoffset = 0;
  array->elemtype = FLOAT4OID;
  ARR_DIMS(array)[0] = n;
  ARR_LBOUND(array)[0] = 1;
  return {PointerGetDatum(array), reinterpret_cast<float*>(ARR_DATA_PTR(array))};
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_fourier) {
  const std::int32_t dimensions = PG_GETARG_INT32(1);
  const double gamma = PG_GETARG_FLOAT8(2);
  const std::int64_t seed = PG_GETARG_INT64(3);
  constexpr std::int32_t most = margin::FourierFeatures::most_dimensions;
  require(dimensions >= 1 && dimensions <= most, "dimensions", std::to_string(dimensions),
          "1 to " + std::to_string(most));
  require(gamma > 0 && std::isfinite(gamma), "gamma", number_text(gamma), "a finite number above 0");
  require(seed >= 0 && seed <= std::int64_t{1} << 53, "seed", std::to_string(seed), "a whole number from 0 to 2^53");
  auto& call = query_state<FourierCall>(fcinfo);
  const margin::Row x = call.features.read(PG_GETARG_DATUM(0));
  require_finite(x, "WHERE");
  const auto [result, values] = new_float4_array(dimensions);
  call.map(dimensions, static_cast<std::uint64_t>(seed)).transform(x, gamma, call.progress, values);
  return result;
}
