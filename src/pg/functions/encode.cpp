// margin_encoder(profile, options): what rows say of their columns, for a training on them. margin_encode(encoder, row),
// margin_encode(encoder, names, column, ...): a row as the numbers that a model trains on.
#include "core/profile/profile_encoder.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/named_columns.hpp"
#include "pg/functions/train_agg.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/features.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/recent.hpp"
#include "pg/values/scan_values.hpp"
#include "pg/values/state_object.hpp"

namespace margin::pg {
namespace {

/// The longest array that sparse features are written out as: a row is never as long as its encoder says it is.
constexpr std::int32_t most_written = 1 << 20;

/// An encoder as a call site keeps it.
struct Kept {
  std::unique_ptr<const Encoder> encoder;
  std::unique_ptr<EncodedRows> rows = std::make_unique<EncodedRows>();
};

/// The encoder of argument 0.
struct EncoderArgument {
  explicit EncoderArgument(FunctionCallInfo fcinfo) : constant(constant_argument(fcinfo)) {}

  Kept& read(FunctionCallInfo fcinfo) {
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
    return *last;
  }

  bool constant;
  Recent<Kept> encoders;
  Kept* last = nullptr;
};

struct EncodeCall {
  explicit EncodeCall(FunctionCallInfo fcinfo) : encoder(fcinfo), features(fcinfo, 1) {
    if (!features.named())
      throw Error(ErrorKind::wrong_type, "only rows with named columns are encoded, not arrays",
                  "Give a row of the table: margin_encode((model).encoder, t) FROM t.");
  }

  std::optional<FeatureRow> encoded(FunctionCallInfo fcinfo) {
    const Kept& kept = encoder.read(fcinfo);
    return features.encoded(*kept.encoder, *kept.rows, PG_GETARG_DATUM(1));
  }

  EncoderArgument encoder;
  FeatureReader features;
};

/// (encoder, names, columns...).
struct EncodeColumnsCall {
  explicit EncodeColumnsCall(FunctionCallInfo fcinfo) : encoder(fcinfo), columns(fcinfo, 1, "margin_encode") {}

  std::optional<FeatureRow> encoded(FunctionCallInfo fcinfo) {
    const Kept& kept = encoder.read(fcinfo);
    return kept.rows->read(*kept.encoder, columns.open(fcinfo));
  }

  EncoderArgument encoder;
  NamedColumns columns;
};

Datum dense_datum(const FeatureRow& x) {
  if (x.indices == nullptr) return float8_array(x.doubles(), static_cast<std::size_t>(x.count));
  if (x.dimensions > most_written)
    throw Error(ErrorKind::limit_exceeded,
                "an array of " + std::to_string(x.dimensions) + " features would be nearly all zeros",
                "Use margin_encode_sparse.");
  std::vector<double> values(static_cast<std::size_t>(x.dimensions), 0.0);
  for (std::int32_t k = 0; k < x.count; ++k) values[static_cast<std::size_t>(x.indices[k])] = x.value(k);
  return float8_array(values.data(), values.size());
}

Datum without_zeros(const FeatureRow& x) {
  SparseVector v;
  v.dimensions = x.dimensions;
  for (std::int32_t k = 0; k < x.count; ++k) {
    if (x.value(k) == 0) continue;
    v.indices.push_back(x.indices != nullptr ? x.indices[k] : k);
    v.values.push_back(x.value(k));
  }
  return sparse_datum(v);
}

/// NULL for a row that is skipped.
template <class Call>
Datum encode(FunctionCallInfo fcinfo, Datum (*datum)(const FeatureRow&)) {
  const std::optional<FeatureRow> x = query_state<Call>(fcinfo).encoded(fcinfo);
  if (!x.has_value()) PG_RETURN_NULL();
  return datum(*x);
}

/// The same of columns, which may be NULL: the function is not strict.
Datum encode_columns(FunctionCallInfo fcinfo, Datum (*datum)(const FeatureRow&)) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  return encode<EncodeColumnsCall>(fcinfo, datum);
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

MARGIN_FUNCTION(margin_encode) { return encode<EncodeCall>(fcinfo, dense_datum); }
MARGIN_FUNCTION(margin_encode_sparse) { return encode<EncodeCall>(fcinfo, without_zeros); }
MARGIN_FUNCTION(margin_encode_columns) { return encode_columns(fcinfo, dense_datum); }
MARGIN_FUNCTION(margin_encode_sparse_columns) { return encode_columns(fcinfo, without_zeros); }

/// (profile, options, label).
MARGIN_FUNCTION(margin_encoder) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  if (PG_ARGISNULL(1))
    throw margin::Error(margin::ErrorKind::null_value, "the options are NULL, expected a jsonb object",
                        "Leave them out for the defaults.");
  const margin::Options settings = margin::parse_options(options_from(PG_GETARG_DATUM(1)));
  InterruptProgress progress;
  margin::Profile profile;
  merge_state(PG_GETARG_DATUM(0), profile, progress);
  const std::string label = PG_ARGISNULL(2) ? std::string() : std::string(payload(PG_GETARG_DATUM(2)));
  const bool targets = outcome_of(settings) == margin::Dataset::Outcome::targets;
  return jsonb_from(encoder_of(profile, margin::encoder_rules(settings), label, targets, progress)->to_value());
}

/// The aggregate of train_margin_from over (label, features [, weight], options), where no profile says enough.
MARGIN_FUNCTION(margin_encoder_final) {
  const std::shared_ptr<const margin::Encoder> encoder = collected_encoder(fcinfo);
  if (encoder == nullptr) PG_RETURN_NULL();
  return jsonb_from(encoder->to_value());
}
