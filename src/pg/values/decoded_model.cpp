// A model once it is decoded: what it says of its problem, what it takes, and when it need not be decoded again.
#include "core/data/stump_basis.hpp"
#include "pg/values/model_datum.hpp"

namespace margin::pg {

ProblemFields StoredModel::fields() const {
  ProblemFields fields{!regression(), loss, lambda.has_value(), norm};
  fields.stumps = stumps_of(basis.get()) != nullptr;
  fields.kernel = basis != nullptr && !fields.stumps;
  return fields;
}

Options settings_of(const StoredModel& model) {
  Options settings = parse_options(model.options);
  const bool intercept = std::any_of(model.intercept.begin(), model.intercept.end(), [](double b) { return b != 0; });
  const auto* vectors = support_vectors_of(model.basis.get());
  const std::string_view kernel = vectors == nullptr ? "" : vectors->rows().kernel().name();
  const auto found = margin::refusal_of(model.fields(), settings, model.lambda.value_or(0), kernel, intercept);
  if (found.has_value())
    throw Error(ErrorKind::malformed,
                "malformed margin_model: field \"" + std::string(found->field) + "\" " + found->problem,
                "Use models as train_margin returned them.");
  return settings;
}

std::string_view argument_key(Datum& value) {
  auto* raw = reinterpret_cast<varlena*>(DatumGetPointer(value));
  // Anything else that is external is a pointer into memory, whose content may change under the same pointer.
  if (VARATT_IS_EXTERNAL(raw) && !VARATT_IS_EXTERNAL_ONDISK(raw)) {
    raw = backend([=] { return pg_detoast_datum(raw); });
    value = PointerGetDatum(raw);
  }
  return {reinterpret_cast<const char*>(raw), VARSIZE_ANY(raw)};
}

std::unique_ptr<StoredModel> decoded(Datum composite) {
  MemoryContext caller = CurrentMemoryContext;
  MemoryContext temporary =
      backend([] { return AllocSetContextCreate(CurrentMemoryContext, "margin model", ALLOCSET_DEFAULT_SIZES); });
  MemoryContextSwitchTo(temporary);
  auto model = std::make_unique<StoredModel>();
  read_model(composite, *model);
  MemoryContextSwitchTo(caller);
  MemoryContextDelete(temporary);
  return model;
}

double bytes_of(const StoredModel& m) {
  double bytes = 8.0 * static_cast<double>(m.weights.size() + m.intercept.size() + m.dual_weights.size());
  for (const std::string& name : m.classes) bytes += 128 + static_cast<double>(name.size());
  if (const auto* vectors = support_vectors_of(m.basis.get()))
    bytes += vectors->rows().bytes() + vectors->rows().kernel().bytes();
  return bytes;
}

}  // namespace margin::pg
