#include "pg/values/model_terms.hpp"

#include "core/data/stump_basis.hpp"
#include "pg/values/kernel_model.hpp"

namespace margin::pg {

namespace {

/// One row per weight. Of a stump: feature from 1, threshold. Of a tree: those of its split, then of the stump on either side,
/// below the split first; the number of a feature is negative where the stump is -1 above its threshold, and 0 where the
/// side says the same of all rows, 1 or -1, which stands in place of the threshold.
void read_stumps(const CompositeReader& reader, const Matrix& table, Model& model) {
  const auto stated = reader.int4("dimensions");
  if (!stated.has_value() || *stated < 1) reader.refuse("dimensions", "must be 1 or more in a model of stumps");
  model.dimensions = *stated;
  if ((table.columns != 2 && table.columns != 6) || table.rows != static_cast<std::size_t>(model.terms()))
    reader.refuse("stumps", "must have " + std::to_string(model.terms()) +
                                " rows of feature and threshold, or of these three times");
  const auto feature_of = [&](double number) {
    if (!(number >= 1 && number <= model.dimensions) || number != std::floor(number))
      reader.refuse("stumps", "names a feature that is not one of 1 to " + std::to_string(model.dimensions));
    return static_cast<std::int32_t>(number) - 1;
  };
  const auto side_of = [&](const double* at) {
    const double above = at[0] == 0 ? at[1] : at[0] < 0 ? -1 : 1;
    if (above != 1 && above != -1)
      reader.refuse("stumps", "has a side of a split that is neither a feature nor 1 or -1");
    if (at[0] == 0) return TreeSide{-1, 0, above};
    return TreeSide{feature_of(std::fabs(at[0])), at[1], above};
  };
  std::vector<Tree> trees;
  for (std::size_t s = 0; s < table.rows; ++s) {
    const double* const row = table.values.data() + table.columns * s;
    trees.push_back({{feature_of(row[0]), row[1]}});
    if (table.columns == 6) trees.back().below = side_of(row + 2), trees.back().above = side_of(row + 4);
  }
  model.basis = std::make_shared<StumpBasis>(std::move(trees), table.columns == 2 ? 1 : 2, model.dimensions);
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
