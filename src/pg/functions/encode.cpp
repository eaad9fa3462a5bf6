// margin_encoder(label, features, ...): what rows say of their columns, for a training elsewhere. margin_encode(encoder,
// row): a row as the numbers that a model trains on.
#include "pg/functions/group_errors.hpp"
#include "pg/functions/train_agg.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/recent.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

/// The longest array that sparse features are written out as: a row is never as long as its encoder says it is.
constexpr std::int32_t most_written = 1 << 20;

/// An encoder as a call site keeps it.
struct Kept {
  std::unique_ptr<const Encoder> encoder;
  std::unique_ptr<EncodedRows> rows = std::make_unique<EncodedRows>();
};

struct EncodeCall {
  explicit EncodeCall(FunctionCallInfo fcinfo) : features(fcinfo, 1), constant(constant_argument(fcinfo)) {
    if (!features.named())
      throw Error(ErrorKind::wrong_type, "only rows with named columns are encoded, not arrays",
                  "Give a row of the table: margin_encode((model).encoder, t) FROM t.");
  }

  std::optional<FeatureRow> encoded(FunctionCallInfo fcinfo) {
    if (!constant || last == nullptr) {
      Datum json = PG_GETARG_DATUM(0);
      const std::string_view key = argument_key(json);
      last = encoders.find(key);
      if (last == nullptr) {
        Kept fresh;
        fresh.encoder = Encoder::from_value(value_from(json));
        const double bytes = fresh.encoder->bytes() + static_cast<double>(key.size());
        last = &encoders.add(key, std::move(fresh), bytes);
      }
    }
    return features.encoded(*last->encoder, *last->rows, PG_GETARG_DATUM(1));
  }

  FeatureReader features;
  bool constant;
  Recent<Kept> encoders;
  Kept* last = nullptr;
};

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_encode) {
  auto& call = query_state<EncodeCall>(fcinfo);
  const std::optional<margin::FeatureRow> x = call.encoded(fcinfo);
  if (!x.has_value()) PG_RETURN_NULL();
  if (x->indices == nullptr) return float8_array(x->doubles(), static_cast<std::size_t>(x->count));
  if (x->dimensions > most_written)
    throw margin::Error(margin::ErrorKind::limit_exceeded,
                        "an array of " + std::to_string(x->dimensions) + " features would be nearly all zeros",
                        "Use margin_encode_sparse.");
  std::vector<double> values(static_cast<std::size_t>(x->dimensions), 0.0);
  for (std::int32_t k = 0; k < x->count; ++k) values[static_cast<std::size_t>(x->indices[k])] = x->value(k);
  return float8_array(values.data(), values.size());
}

MARGIN_FUNCTION(margin_encode_sparse) {
  auto& call = query_state<EncodeCall>(fcinfo);
  const std::optional<margin::FeatureRow> x = call.encoded(fcinfo);
  if (!x.has_value()) PG_RETURN_NULL();
  margin::SparseVector v;
  v.dimensions = x->dimensions;
  for (std::int32_t k = 0; k < x->count; ++k) {
    if (x->value(k) == 0) continue;
    v.indices.push_back(x->indices != nullptr ? x->indices[k] : k);
    v.values.push_back(x->value(k));
  }
  return sparse_datum(v);
}

MARGIN_FUNCTION(margin_encoder_final) {
  const std::shared_ptr<const margin::Encoder> encoder = collected_encoder(fcinfo);
  if (encoder == nullptr) PG_RETURN_NULL();
  return jsonb_from(encoder->to_value());
}
