#include "core/math/normal_equations.hpp"

#include <algorithm>
#include <cmath>

namespace margin {

namespace {

// Of a column's spread: what is left of it beside the columns before.
constexpr double negligible_rest = 1e-11;
// Of a column's square: its spread. Less than this is what sums of squares round away.
constexpr double negligible_spread = 1e-13;
// Of the size of the dependent column: a share in it.
constexpr double negligible_share = 1e-6;

}  // namespace

NormalEquations::NormalEquations(const SymmetricMatrix& gram, bool constant_last, const Progress& progress)
    : size_(gram.size()), constant_(constant_last), factor_(size_), order_(size_), scale_(size_, 1.0), right_(size_) {
  for (std::size_t j = 0; j < size_; ++j) order_[j] = constant_ ? (j + 1) % size_ : j;
  std::vector<double> diagonal(size_);
  for (std::size_t j = 0; j < size_; ++j) {
    const double square = gram.row(j)[j];
    if (square > 0 && std::isfinite(square)) scale_[order_[j]] = std::ldexp(1.0, -std::ilogb(square) / 2);
  }
  for (std::size_t j = 0; j < size_; ++j) {
    for (std::size_t k = j; k < size_; ++k) {
      const std::size_t a = std::min(order_[j], order_[k]), b = std::max(order_[j], order_[k]);
      factor_.row(a)[b] = gram.row(j)[k] * scale_[a] * scale_[b];
    }
    progress.work(4.0 * static_cast<double>(size_ - j));
  }
  for (std::size_t j = 0; j < size_; ++j) diagonal[j] = factor_.row(j)[j];
  factorise(factor_, progress, true);
  find_dependent(diagonal);
}

void NormalEquations::find_dependent(const std::vector<double>& diagonal) {
  std::vector<bool> missing(size_, false);
  std::size_t first = size_;
  for (std::size_t j = size_; j-- > 0;) {
    const double root = factor_.row(j)[j], along = constant_ && j > 0 ? factor_.row(0)[j] : 0.0;
    const double spread = diagonal[j] - along * along;
    missing[j] = !(root * root > negligible_rest * spread) || !(spread > negligible_spread * diagonal[j]);
    if (missing[j]) first = j;
  }
  if (first == size_) return;
  // The combination of the columns before: all of them are regular.
  std::vector<double> share(first);
  for (std::size_t i = first; i-- > 0;) {
    double rest = factor_.row(i)[first];
    for (std::size_t k = i + 1; k < first; ++k) rest -= factor_.row(i)[k] * share[k];
    share[i] = rest / factor_.row(i)[i];
  }
  for (std::size_t j = 0; j < size_; ++j) {
    const std::size_t at = order_[j];
    const bool takes_part =
        at < first && std::fabs(share[at]) * std::sqrt(diagonal[at]) > negligible_share * std::sqrt(diagonal[first]);
    if (at == first || takes_part) dependent_.push_back(j);
  }
}

void NormalEquations::solve(double* b, const Progress& progress) const {
  for (std::size_t j = 0; j < size_; ++j) right_[order_[j]] = b[j] * scale_[order_[j]];
  solve_factored(factor_, right_.data(), &progress);
  for (std::size_t j = 0; j < size_; ++j) b[j] = right_[order_[j]] * scale_[order_[j]];
}

namespace {

std::string describe_dependent(const std::vector<std::size_t>& columns, std::int32_t features,
                               const FeatureName& name) {
  std::vector<std::string> names;
  bool constant = false;
  for (const std::size_t column : columns)
    if (column >= static_cast<std::size_t>(features))
      constant = true;
    else if (name)
      names.push_back("\"" + name(static_cast<std::int32_t>(column)) + "\"");
    else
      names.push_back(std::to_string(column + 1));
  if (names.size() == 1)
    return "feature " + names[0] +
           (constant ? " is constant, as the intercept is, or varies by less than 3e-7 of its mean"
                     : " is 0 in every row");
  constexpr std::size_t most = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    list += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  if (names.size() > most) list += " and " + std::to_string(names.size() - most) + " more";
  return "the features " + list + " are collinear" + (constant ? ", together with the intercept" : "");
}

}  // namespace

DependentFeatures::DependentFeatures(const std::string& beginning, const std::vector<std::size_t>& columns,
                                     std::int32_t features, const std::string& hint, const FeatureName& name)
    : Error(ErrorKind::invalid_value, beginning + describe_dependent(columns, features, name), hint),
      beginning_(beginning),
      columns_(columns),
      features_(features) {}

void move_gram(SymmetricMatrix& gram, const std::vector<double>& delta) {
  const std::size_t d = delta.size();
  const double mass = gram.row(d)[d];
  for (std::size_t j = 0; j < d; ++j)
    for (std::size_t k = j; k < d; ++k)
      gram.row(j)[k] += gram.row(j)[d] * delta[k] + delta[j] * gram.row(k)[d] + mass * delta[j] * delta[k];
  for (std::size_t j = 0; j < d; ++j) gram.row(j)[d] += mass * delta[j];
}

void move_sum(double* sum, const std::vector<double>& delta) {
  for (std::size_t j = 0; j < delta.size(); ++j) sum[j] += sum[delta.size()] * delta[j];
}

}  // namespace margin
