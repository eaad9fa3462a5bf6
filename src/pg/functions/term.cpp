// margin_term(question, label, features [, weight]): what one row adds to the answer of a question.
#include "pg/functions/group_errors.hpp"
#include "pg/server/memory.hpp"
#include "pg/values/features.hpp"
#include "pg/values/labels.hpp"
#include "pg/values/model_datum.hpp"
#include "pg/values/recent.hpp"
#include "pg/values/row_weight.hpp"
#include "pg/values/scan_values.hpp"

namespace margin::pg {
namespace {

/// A question as a call site keeps it.
struct Asked {
  std::unique_ptr<RowTerms> terms;
  std::unique_ptr<LabelCache> labels = std::make_unique<LabelCache>();
  struct Name {
    std::string text;
    double key;
  };
  std::vector<Name> names;  // of a summary, which knows no classes yet: those that the cache has met
};

struct TermCall {
  explicit TermCall(FunctionCallInfo fcinfo)
      : label(get_fn_expr_argtype(fcinfo->flinfo, 1)), features(fcinfo, 2), constant(constant_argument(fcinfo)) {}

  Asked& asked(Datum question) {
    if (constant && last != nullptr) return *last;
    const std::string_view key = argument_key(question);
    last = questions.find(key);
    if (last == nullptr) {
      Asked fresh;
      fresh.terms = std::make_unique<RowTerms>(Question::from_bytes(scan_bytes(question)));
      last = &questions.add(key, std::move(fresh), 3.0 * static_cast<double>(VARSIZE_ANY(DatumGetPointer(question))));
    }
    return *last;
  }

  LabelReader label;
  FeatureReader features;
  bool constant;
  Recent<Asked> questions;
  Asked* last = nullptr;
};

constexpr std::size_t most_names = 4096;

/// The label of a row, in memory of the Datum, of the current memory context or of `asked`.
RowLabel label_of(const TermCall& call, Asked& asked, Datum value, std::int32_t& index) {
  RowLabel label;
  index = -1;
  const Question& question = asked.terms->question();
  if (question.outcome == Dataset::Outcome::intervals) {
    const LabelReader::Interval target = call.label.interval(value);
    label.lower = target.lower;
    label.upper = target.upper;
  } else if (question.outcome == Dataset::Outcome::targets) {
    label.lower = label.upper = call.label.number(value);
  } else if (question.kind != Question::Kind::summary) {
    index = asked.labels->find(call.label, value,
                               [&](const LabelReader::ClassName& name) { return asked.terms->class_index(name.text); });
  } else {
    if (asked.names.size() >= most_names) {  // the sum refuses so many; alone, terms need no more memory for them
      asked.names.clear();
      asked.labels = std::make_unique<LabelCache>();
    }
    const std::int32_t at = asked.labels->find(call.label, value, [&](const LabelReader::ClassName& name) {
      asked.names.push_back({std::string(name.text), name.key});
      return static_cast<std::int32_t>(asked.names.size()) - 1;
    });
    const Asked::Name& name = asked.names[static_cast<std::size_t>(at)];
    label = {name.text, name.key, call.label.numbers(), 0, 0};
  }
  return label;
}

/// Which row it was, as far as it can be read.
Error with_row(const Error& e, const TermCall& call, Datum label, Datum features) {
  std::string name;
  std::optional<FeatureRow> x;
  row_error([&] { name = std::string(call.label.name(label).text); });
  row_error([&] { x = call.features.read(features); });
  const std::string text = row_text(name, x.has_value() ? &*x : nullptr);
  if (text.empty()) return e;
  return {e.kind(), e.message(), e.hint(), (e.detail().empty() ? "" : e.detail() + " ") + "The row has " + text + "."};
}

const Term& term_of(FunctionCallInfo fcinfo, TermCall& call, Asked& asked) {
  if (PG_ARGISNULL(1) || PG_ARGISNULL(2)) return asked.terms->skipped();
  const Datum label = PG_GETARG_DATUM(1), features = PG_GETARG_DATUM(2);
  const Term* term = nullptr;
  const std::optional<Error> error = row_error([&] {
    const double weight = PG_NARGS() > 3 ? row_weight(fcinfo, 3) : 1.0;
    const FeatureRow x = call.features.read(features);
    std::int32_t index;
    const RowLabel read = label_of(call, asked, label, index);
    term = &asked.terms->term(x, read, index, weight);
  });
  if (error.has_value()) throw with_row(*error, call, label, features);
  return *term;
}

}  // namespace
}  // namespace margin::pg

using namespace margin::pg;

// Not strict: a row without label or features is counted as skipped.
MARGIN_FUNCTION(margin_term) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  auto& call = query_state<TermCall>(fcinfo);
  return term_datum(term_of(fcinfo, call, call.asked(PG_GETARG_DATUM(0))));
}
