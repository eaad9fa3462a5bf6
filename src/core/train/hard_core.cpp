#include "core/train/hard_core.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.hpp"
#include "core/math/rounding.hpp"
#include "core/train/train.hpp"

namespace margin {

namespace {

// Of a margin whose mean is 1: what is more than rounding.
constexpr double positive = 1e-7;

/// The rows that are left, of norm 1, and their sum.
class Remaining {
 public:
  Remaining(const Dataset& data, const std::vector<std::int64_t>& rows, const Progress& progress)
      : intervals_(Dataset::Outcome::intervals) {
    std::map<std::int32_t, double> sum;
    for (const std::int64_t i : rows) {
      const Row x = data.row(i);
      const double length = margin::norm(x), sign = sign_of(data, i);
      columns_.clear();
      values_.clear();
      for (std::int32_t k = 0; k < x.count; ++k) {
        if (x.value(k) == 0) continue;
        columns_.push_back(x.indices != nullptr ? x.indices[k] : k);
        values_.push_back(sign * x.value(k) / length);
        sum[columns_.back()] += values_.back();
      }
      progress.work(64.0 * x.count + 64.0);
      append(data.dimensions(), Label(0.0, infinity));
    }
    columns_.clear();
    values_.clear();
    for (const auto& [column, value] : sum) {
      columns_.push_back(column);
      values_.push_back(value);
    }
    append(data.dimensions(), Label(static_cast<double>(rows.size()), infinity));
  }
  const Dataset& rows() const { return intervals_; }

  static double sign_of(const Dataset& data, std::int64_t i) { return data.class_of(i) == data.class_of(0) ? 1 : -1; }

 private:
  void append(std::int32_t dimensions, const Label& label) {
    intervals_.append(
        sparse_row(columns_.data(), values_.data(), static_cast<std::int32_t>(values_.size()), dimensions), label);
  }

  Dataset intervals_;
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
};

}  // namespace

std::vector<double> hard_core(const Dataset& data, const Progress& progress, MemoryBudget memory) {
  if (data.classes().size() != 2)
    throw Error(ErrorKind::invalid_value,
                "a hard core is one of two classes, and the labels are " + std::to_string(data.classes().size()),
                "Tell one class from the rest: margin_hard_core(label = 'a', features).");
  memory.take(12 * static_cast<double>(data.feature_bytes()), "a copy of the rows");
  Options options;
  options.loss = "interpolate";
  options.intercept = false;
  options.dual_weights = true;
  std::vector<double> core(static_cast<std::size_t>(data.rows()), 0.0);
  std::vector<std::int64_t> left(core.size());
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty()) {
    const Remaining remaining(data, left, progress);
    const Model model = train(remaining.rows(), options, progress, memory);
    const auto last = static_cast<Eigen::Index>(left.size());
    if (model.status == Status::not_separable) {
      const Weights& dual = *model.dual_weights;
      double sum = 0;
      for (std::size_t k = 0; k < left.size(); ++k) {
        const double length = margin::norm(data.row(left[k]));
        double& q = core[static_cast<std::size_t>(left[k])];
        q = (std::max(0.0, dual(static_cast<Eigen::Index>(k), 0)) + std::max(0.0, dual(last, 0))) /
            (length > 0 ? length : 1);
        sum += q;
      }
      for (double& q : core) q /= sum;
      return core;
    }
    const Scorer scorer = scorer_of(model);
    const std::size_t before = left.size();
    std::size_t kept = 0;
    for (std::size_t k = 0; k < before; ++k) {
      double m = 0;
      score(scorer, remaining.rows().row(static_cast<std::int64_t>(k)), data.dimensions(), &m);
      progress.work(64);
      if (!(m > positive)) left[kept++] = left[k];
    }
    left.resize(kept);
    if (kept == before)
      throw Error(ErrorKind::unsupported, "rounding decides which rows are on the hard core",
                  "Standardize the features, or leave out rows that differ in their last digits alone.");
  }
  return core;
}

}  // namespace margin
