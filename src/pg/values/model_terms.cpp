#include "pg/values/model_terms.hpp"

#include "core/data/stump_basis.hpp"
#include "pg/values/kernel_model.hpp"

namespace margin::pg {

namespace {

/// One row (feature from 1, threshold) per weight.
void read_stumps(const CompositeReader& reader, const Matrix& table, Model& model) {
  const auto stated = reader.int4("dimensions");
  if (!stated.has_value() || *stated < 1) reader.refuse("dimensions", "must be 1 or more in a model of stumps");
  model.dimensions = *stated;
  if (table.columns != 2 || table.rows != static_cast<std::size_t>(model.terms()))
    reader.refuse("stumps", "must have " + std::to_string(model.terms()) + " rows of feature and threshold");
  std::vector<Stump> stumps;
  for (std::size_t s = 0; s < table.rows; ++s) {
    const double feature = table.values[2 * s];
    if (!(feature >= 1 && feature <= model.dimensions) || feature != std::floor(feature))
      reader.refuse("stumps", "names a feature that is not one of 1 to " + std::to_string(model.dimensions));
    stumps.push_back({static_cast<std::int32_t>(feature) - 1, table.values[2 * s + 1]});
  }
  model.basis = std::make_shared<StumpBasis>(std::move(stumps), model.dimensions);
}

/// The features that a model of wide rows has weights of.
void read_columns(const CompositeReader& reader, std::vector<std::int32_t>&& columns, Model& model) {
  const auto stated = reader.int4("dimensions");
  if (!stated.has_value() || *stated < 1) reader.refuse("dimensions", "must be 1 or more in a model with columns");
  read_kernel(reader, model.terms(), stated);  // there is none, and there must be no support vectors either
  if (columns.size() != static_cast<std::size_t>(model.terms()))
    reader.refuse("columns", "has " + std::to_string(columns.size()) + " features, but weights has " +
                                 std::to_string(model.terms()));
  model.dimensions = static_cast<std::int32_t>(*stated);
  std::int32_t last = 0;
  for (std::int32_t& feature : columns) {
    if (feature <= last || feature > model.dimensions)
      reader.refuse("columns", "has " + std::to_string(feature) + " after " + std::to_string(last) +
                                   ", expected ascending features from 1 to " + std::to_string(model.dimensions));
    last = feature--;
  }
  model.columns = std::move(columns);
}

}  // namespace

void read_terms(const CompositeReader& reader, Model& model) {
  auto columns = reader.integers("columns");
  if (columns.has_value() && (reader.numbers("stumps").has_value() || reader.string("kernel").has_value()))
    reader.refuse("columns", "must be NULL in a model of stumps or with a kernel");
  if (columns.has_value()) return read_columns(reader, std::move(*columns), model);
  if (const auto stumps = reader.numbers("stumps")) {
    if (reader.string("kernel").has_value()) reader.refuse("kernel", "must be NULL in a model of stumps");
    return read_stumps(reader, *stumps, model);
  }
  const auto stated = reader.int4("dimensions");
  model.basis = read_kernel(reader, model.terms(), stated);
  if (model.basis != nullptr) {
    model.dimensions = model.basis->dimensions();
    return;
  }
  model.dimensions = model.terms();
  if (stated.has_value() && *stated != model.dimensions)
    reader.refuse("dimensions",
                  "is " + std::to_string(*stated) + ", but weights has " + std::to_string(model.dimensions));
}

}  // namespace margin::pg
