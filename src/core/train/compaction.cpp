#include "core/train/compaction.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/progress.hpp"
#include "core/data/column_map.hpp"
#include "core/data/stump_basis.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/penalty.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

// Below that width nothing is slow because of it; and where most columns are in use there is little to spare.
constexpr std::int32_t narrow = 1024;
constexpr std::int32_t worthwhile_share = 4;

/// How many of these zeros and ones are ones: bytes are added up, as many as a byte can count.
std::int64_t count_marks(const std::vector<char>& marks) {
  std::int64_t all = 0;
  for (std::size_t at = 0; at < marks.size(); at += 255 * 64) {
    std::uint8_t sums[64] = {};
    for (std::size_t k = at; k < std::min(marks.size(), at + 255 * 64); k += 64)
      for (std::size_t j = 0; j < 64; ++j) sums[j] = static_cast<std::uint8_t>(sums[j] + marks[k + j]);
    for (const std::uint8_t sum : sums) all += sum;
  }
  return all;
}

/// Adds the columns that rows use, by a mark for each column that may come; false when they are more than `most`.
bool insert_marked(const Dataset& data, std::int32_t most, ColumnMap& used, const Progress& progress) {
  std::vector<char> marks((static_cast<std::size_t>(data.dimensions()) + 63) / 64 * 64, 0);
  char* const mark = marks.data();
  std::int64_t since = 0;  // values since the marks were counted
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    const Row x = data.row(i);
    if (x.indices != nullptr) {
      for (std::int32_t k = 0; k < x.count; ++k) mark[x.indices[k]] = 1;
    } else {
      for (std::int32_t j = 0; j < x.count; ++j)
        if (x.value(j) != 0) mark[j] = 1;
    }
    progress.work(x.count + 8.0);
    since += x.count;
    if (since < data.dimensions()) continue;
    if (count_marks(marks) > most) return false;
    since = 0;
  }
  used.insert(marks);
  return used.size() <= most;
}

/// The columns that rows use, and the offset's, which has a weight whatever they are; nullopt when they are too many.
std::optional<ColumnMap> columns_in_use(const Dataset& data, const Options& options, const Progress& progress) {
  const std::int32_t most = data.dimensions() / worthwhile_share;
  ColumnMap used(data.dimensions());
  if (const std::int32_t offset = offset_feature(options, data.dimensions()); offset >= 0) used.insert(offset);
  // A weight that may not be 0 counts, whatever the values of its feature.
  const std::optional<std::vector<std::int32_t>> bounded = weights_off_zero(options, data.dimensions());
  if (!bounded.has_value()) return std::nullopt;
  for (const std::int32_t j : *bounded) used.insert(j);
  for (const std::int32_t j : constrained_features(options, data.dimensions())) used.insert(j);
  // Where marks for all columns are little beside the rows.
  const bool marked = ColumnMap::listable(data.dimensions(), data.feature_bytes());
  if (marked && !insert_marked(data, most, used, progress)) return std::nullopt;
  for (std::int64_t i = 0; !marked && i < data.rows() && used.size() <= most; ++i) {
    const Row x = data.row(i);
    if (x.indices != nullptr) {
      for (std::int32_t k = 0; k < x.count; ++k) used.insert(x.indices[k]);
    } else {
      for (std::int32_t j = 0; j < x.count; ++j)
        if (x.value(j) != 0) used.insert(j);
    }
    progress.work(x.count + 8.0);
  }
  if (used.size() > most) return std::nullopt;
  if (used.size() == 0) used.insert(0);  // rows of zeros: there is no problem without a column
  used.rank();
  return used;
}

bool may_compact(const Dataset& data, const Options& s) {
  if (!data.sparse_input() || data.dimensions() < narrow) return false;
  const bool kernel = (!s.kernel.empty() && s.kernel != "linear") || method_of(s).takes_kernels;
  return !kernel;
}

[[noreturn]] void refuse_initial(const std::string& what) {
  throw Error(ErrorKind::wrong_dimensions, "the initial model " + what,
              "Start from a model trained on the same features and classes.");
}

}  // namespace

std::int32_t solved_width(const Dataset& data, const Options& options, const Progress& progress) {
  if (!may_compact(data, options)) return data.dimensions();
  const std::optional<ColumnMap> used = columns_in_use(data, options, progress);
  return used.has_value() ? used->size() : data.dimensions();
}

Compaction::Compaction(const Dataset& data, const Options& options, const Progress& progress, MemoryBudget& memory)
    : data_(data) {
  if (!may_compact(data, options)) return;
  // No row of the copy takes more bytes than it takes here.
  const auto arrays = static_cast<double>(data.array_bytes()), features = static_cast<double>(data.feature_bytes());
  const bool in_memory = !data.spilled() && memory.allows(arrays + features);
  if (!in_memory && (data.store() == nullptr || !memory.allows(arrays))) return;
  const std::optional<ColumnMap> used = columns_in_use(data, options, progress);
  if (!used.has_value()) return;
  copy_.emplace(data.with_columns(*used, progress, !in_memory));
  columns_ = used->columns();
  memory.use(static_cast<double>(copy_->bytes()));
}

void take_columns(InitialModel& model, std::int32_t declared, const std::vector<std::int32_t>& columns) {
  if (columns.empty() && model.columns.empty()) return;  // who reads it compares the numbers of features
  if (model.dimensions > 0 && model.dimensions != declared)
    refuse_initial("has " + std::to_string(model.dimensions) + " features, the rows have " + std::to_string(declared));
  if (!model.columns.empty() && model.columns.back() >= declared)
    refuse_initial("has feature " + std::to_string(model.columns.back() + 1) + ", the rows have " +
                   std::to_string(declared) + " features");
  const std::size_t from = model.columns.empty() ? static_cast<std::size_t>(declared) : model.columns.size();
  const std::size_t to = columns.empty() ? static_cast<std::size_t>(declared) : columns.size();
  const std::size_t outputs = model.weights.size() / from;
  if (outputs * from != model.weights.size())
    refuse_initial("has " + std::to_string(model.weights.size()) + " weights, expected a multiple of " +
                   std::to_string(from));
  std::vector<double> weights(outputs * to, 0.0);
  std::size_t k = 0;  // among the model's columns, which ascend as the rows' do
  for (std::size_t j = 0; j < to; ++j) {
    const std::int32_t feature = columns.empty() ? static_cast<std::int32_t>(j) : columns[j];
    if (model.columns.empty()) {
      k = static_cast<std::size_t>(feature);
    } else {
      while (k < from && model.columns[k] < feature) ++k;
      if (k == from) break;
      if (model.columns[k] != feature) continue;
    }
    for (std::size_t o = 0; o < outputs; ++o) weights[o * to + j] = model.weights[o * from + k];
  }
  model.weights = std::move(weights);
  model.columns.clear();
  model.dimensions = 0;
}

void Compaction::take(Options& options) const {
  options.penalty_factor = penalty_factors(options, data_.dimensions(), copy_.has_value() ? &columns_ : nullptr);
  options.named_penalty_factor.clear();
  list_bounds(options, data_.dimensions(), copy_.has_value() ? &columns_ : nullptr);
  list_constraints(options, data_.dimensions(), copy_.has_value() ? &columns_ : nullptr);
  const std::int32_t offset = offset_feature(options, data_.dimensions(), copy_.has_value() ? &columns_ : nullptr);
  if (offset >= 0) options.offset = std::to_string(offset + 1);
}

void Compaction::give_back(Model& model) const {
  if (!copy_.has_value()) return;
  model.dimensions = data_.dimensions();
  if (const auto* basis = stumps_of(model.basis.get())) {
    std::vector<Tree> trees = basis->trees();
    for (Tree& tree : trees)
      for (std::int32_t* const feature : {&tree.split.feature, &tree.below.feature, &tree.above.feature})
        if (*feature >= 0) *feature = columns_[static_cast<std::size_t>(*feature)];
    model.basis = std::make_shared<StumpBasis>(std::move(trees), basis->depth(), model.dimensions);
    return;
  }
  if (model.columns.empty()) {
    model.columns = columns_;
    return;
  }
  for (std::int32_t& j : model.columns) j = columns_[static_cast<std::size_t>(j)];
}

}  // namespace margin
