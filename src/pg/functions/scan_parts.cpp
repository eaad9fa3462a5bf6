// The parts of a scan by hand: the question of a model, what is in a state. What a state proves: inspect.cpp.
#include "core/scans/model_question.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/values/composite.hpp"
#include "pg/values/jsonb.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

Value whole(std::int64_t n) { return {static_cast<double>(n)}; }

/// jsonb has no infinity: a smallest or largest number of no rows is null.
Value finite(double x) { return std::isfinite(x) ? Value{x} : Value{}; }

Value::Object info_of(Answer& answer) {
  Value::Object info;
  info["rows"] = whole(answer.rows());
  info["skipped"] = whole(answer.skipped());
  info["dimensions"] = whole(answer.dimensions());
  info["sparse"] = Value{answer.sparse_input()};
  Value::Array numbers, classes, kept;
  for (const double x : answer.numbers()) numbers.push_back(finite(x));
  for (const auto& [name, seen] : answer.classes()) {
    Value::Object c;
    c["label"] = Value{name};
    c["rows"] = whole(seen.rows);
    c["weight"] = finite(seen.weight.value());
    classes.emplace_back().data = std::move(c);
  }
  for (std::int32_t k = 0; k < answer.bags(); ++k) kept.push_back(whole(answer.bag(k).rows()));
  info["numbers"] = {std::move(numbers)};
  if (!classes.empty()) info["classes"] = {std::move(classes)};
  info["kept"] = {std::move(kept)};
  return info;
}

/// The options of the model, with those given in their place.
Options options_of(const Model& model, Value::Object given) {
  Value::Object all = model.options;
  for (auto& [name, value] : given) all[name] = std::move(value);
  Options options = parse_options(all);
  if (const auto found = settle(model, options))
    throw Error(ErrorKind::invalid_option,
                "the options contradict the model: its field \"" + std::string(found->field) + "\" " + found->problem,
                "Give no options: those of the model hold.");
  return options;
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

/// (options, model). Without options those of the model hold.
MARGIN_FUNCTION(margin_question_of_model) {
  if (PG_ARGISNULL(1)) PG_RETURN_NULL();
  const margin::Model model = decoded(PG_GETARG_DATUM(1));
  margin::Value::Object given;
  if (!PG_ARGISNULL(0)) given = options_from(PG_GETARG_DATUM(0));
  const margin::Options options = options_of(model, std::move(given));
  return scan_value(margin::model_question(model, options).bytes(), question_type);
}

MARGIN_FUNCTION(margin_state_info) {
  margin::Answer answer = margin::Answer::from_bytes(scan_bytes(PG_GETARG_DATUM(0)), InterruptProgress());
  return jsonb_from(info_of(answer));
}
