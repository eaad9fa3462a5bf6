#include "core/solvers/kernel/smo_output.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/base/polled.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {
constexpr std::size_t most_new_rows = 1024;
}  // namespace

SmoOutput::SmoOutput(const Problem& problem, std::int32_t output, const KernelRows& rows, KernelColumns& columns,
                     std::size_t largest_pool, Run& run)
    : problem_(problem),
      columns_(columns),
      largest_pool_(largest_pool),
      run_(run),
      variables_(problem, output, largest_diagonal(rows)),
      weight_(variables_.size(), 0.0),
      score_(rows.size(), 0.0),
      in_pool_(variables_.size(), 0),
      working_set_(problem.intercept, std::max(1e-12 * largest_diagonal(rows), 1e-290), largest_pool, run),
      radius_(std::sqrt(largest_diagonal(rows))) {
  for (const double most : variables_.high) total_high_ += most;
  value_error_ = largest_value_error(rows) + 2.3e-16 * static_cast<double>(rows.size() + 8) * radius_ * radius_;
  if (variables_.sum > 0)
    start_with_sum();
  else
    start_from_some_of_each_class();
}

std::vector<double> SmoOutput::weights() const {
  std::vector<double> out(score_.size(), 0.0);
  for (std::size_t v = 0; v < weight_.size(); ++v) out[static_cast<std::size_t>(variables_.row[v])] += weight_[v];
  return out;
}

/// Variables that gain when they rise, and that gain when they fall, evenly spaced, so that neither the order of the
/// table nor a rare class matters.
void SmoOutput::start_from_some_of_each_class() {
  std::vector<std::int64_t> first;
  for (const double sign : {-1.0, 1.0}) {
    std::vector<std::int64_t> own;
    for (std::size_t v = 0; v < variables_.size(); ++v)
      if (sign * variables_.target[v] > 0 && (sign > 0 ? high(v) > 0 : low(v) < 0))
        own.push_back(static_cast<std::int64_t>(v));
    const std::size_t count = std::min(own.size(), std::min(first_pool, largest_pool_) / 2);
    for (std::size_t k = 0; k < count; ++k) first.push_back(own[k * own.size() / count]);
  }
  enter(first);
}

/// The same problem of some rows alone, evenly spaced, whose bounds are raised to what they stand for: their weights.
std::vector<double> SmoOutput::weights_of_a_sample() {
  std::vector<std::int64_t> rows;
  for (std::size_t v = 0; v < variables_.size(); ++v)
    if (high(v) > 0) rows.push_back(static_cast<std::int64_t>(v));
  const std::size_t count = std::min({rows.size(), 2 * first_pool, largest_pool_});
  double mass = 0;
  for (std::size_t k = 0; k < count; ++k) {
    rows[k] = rows[k * rows.size() / count];
    mass += high(static_cast<std::size_t>(rows[k]));
  }
  rows.resize(count);
  SmoWorkingSet sample(true, std::max(1e-12 * radius_ * radius_, 1e-290), largest_pool_, run_);
  const double raised = total_high_ / mass, share = variables_.sum / total_high_;
  for (const std::int64_t v : rows) {
    const double most = raised * high(static_cast<std::size_t>(v));
    sample.add({v, variables_.row[static_cast<std::size_t>(v)], 0, most, share * most, 0});
  }
  std::vector<std::int64_t> of_members;
  for (std::size_t p = 0; p < sample.size(); ++p) of_members.push_back(sample.row(p));
  std::vector<double> error(sample.size(), 0.0);
  columns_.each(of_members, [&](std::size_t p, const double* column) {
    sample.set_column(p, column);
    for (std::size_t q = 0; q < error.size(); ++q) error[q] -= sample.weight(p) * column[sample.row(q)];
  });
  for (std::size_t p = 0; p < error.size(); ++p) sample.set_error(p, error[p]);
  sample.solve(1e-3 * variables_.unit, [] { return false; });
  std::vector<double> weights(variables_.size(), 0.0);
  for (std::size_t p = 0; p < sample.size(); ++p)
    weights[static_cast<std::size_t>(sample.variable(p))] = sample.weight(p);
  return weights;
}

/// A one-class machine's weights add up to 1 from the start: the rows that the machine of a sample leaves furthest
/// outside have as much as they may.
void SmoOutput::start_with_sum() {
  const std::size_t m = variables_.size();
  std::vector<std::pair<std::int64_t, double>> moved;
  {
    const std::vector<double> of_sample = weights_of_a_sample();
    for (std::size_t v = 0; v < m; ++v)
      if (of_sample[v] > 0) moved.emplace_back(variables_.row[v], of_sample[v]);
  }
  add_columns(std::move(moved));
  std::vector<std::int64_t> order(m);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto by_score = [&](std::int64_t a, std::int64_t b) {
    const double first = error(static_cast<std::size_t>(a)), second = error(static_cast<std::size_t>(b));
    return first != second ? first > second : a < b;
  };
  polled_sort(order.begin(), order.end(), by_score, run_);
  moved.clear();
  double left = variables_.sum;
  std::size_t boundary = 0;
  for (; boundary < m && left > 0; ++boundary) {
    const auto v = static_cast<std::size_t>(order[boundary]);
    weight_[v] = std::min(left, high(v));
    left -= weight_[v];
    if (weight_[v] > 0) moved.emplace_back(variables_.row[v], weight_[v]);
  }
  std::fill(score_.begin(), score_.end(), 0.0);
  add_columns(std::move(moved));
  const std::size_t count = std::min({m, first_pool, largest_pool_});
  const std::size_t from = std::min(boundary - std::min(boundary, count / 2), m - count);
  enter({order.begin() + static_cast<std::ptrdiff_t>(from), order.begin() + static_cast<std::ptrdiff_t>(from + count)});
}

void SmoOutput::enter(const std::vector<std::int64_t>& variables) {
  const std::size_t before = working_set_.size();
  std::vector<std::pair<std::int64_t, std::size_t>> members;  // row, place
  for (const std::int64_t variable : variables) {
    const auto v = static_cast<std::size_t>(variable);
    members.emplace_back(variables_.row[v], working_set_.size());
    working_set_.add({variable, variables_.row[v], low(v), high(v), weight_[v], error(v)});
    in_pool_[v] = 1;
  }
  // Both variables of a row may come at once: its column is asked for once.
  std::sort(members.begin(), members.end());
  std::vector<std::int64_t> rows;
  std::vector<std::size_t> first;  // place of each row among `members`
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (k > 0 && members[k].first == members[k - 1].first) continue;
    rows.push_back(members[k].first);
    first.push_back(k);
  }
  first.push_back(members.size());
  columns_.each(rows, [&](std::size_t r, const double* column) {
    for (std::size_t k = first[r]; k < first[r + 1]; ++k) working_set_.set_column(members[k].second, column);
  });
  working_set_.share_columns(before);
}

/// Members that sit at a bound and far from the margin leave first.
void SmoOutput::make_room(std::size_t newcomers) {
  if (working_set_.size() + newcomers <= largest_pool_) return;
  std::vector<std::size_t> order(working_set_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto distance = [&](std::size_t p) {
    return working_set_.free(p) ? -1.0
                                : std::fabs(error(static_cast<std::size_t>(working_set_.variable(p))) - intercept_);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  const std::size_t stay = std::min(order.size(), std::max(largest_pool_ / 2, largest_pool_ - newcomers));
  for (std::size_t k = stay; k < order.size(); ++k)
    in_pool_[static_cast<std::size_t>(working_set_.variable(order[k]))] = 0;
  order.resize(stay);
  std::sort(order.begin(), order.end());
  working_set_.keep(order);
}

/// The upper bound that the working set's weights prove is negligible.
bool SmoOutput::pool_is_inseparable() const {
  if (!problem_.hard_margin) return false;
  double mass = 0, dual = 0;  // Σ|β| and βᵀKβ = Σ β (y − e)
  for (std::size_t p = 0; p < working_set_.size(); ++p) {
    mass += std::fabs(working_set_.weight(p));
    dual += working_set_.weight(p) *
            (variables_.target[static_cast<std::size_t>(working_set_.variable(p))] - working_set_.error(p));
  }
  return mass > 0 && std::sqrt(std::max(0.0, dual)) <= 0.3 * negligible_kernel_margin * radius_ * mass;
}

/// Weights of all variables and scores of all rows after the working set has been solved.
void SmoOutput::collect_changes() {
  std::vector<std::pair<std::int64_t, double>> moved;
  for (std::size_t p = 0; p < working_set_.size(); ++p) {
    double& weight = weight_[static_cast<std::size_t>(working_set_.variable(p))];
    if (working_set_.weight(p) == weight) continue;
    moved.emplace_back(working_set_.row(p), working_set_.weight(p) - weight);
    weight = working_set_.weight(p);
  }
  add_columns(std::move(moved));
  for (std::size_t p = 0; p < working_set_.size(); ++p)
    working_set_.set_error(p, error(static_cast<std::size_t>(working_set_.variable(p))));
}

/// Scores after the weights of these rows have moved by so much.
void SmoOutput::add_columns(std::vector<std::pair<std::int64_t, double>> moved) {
  std::sort(moved.begin(), moved.end());
  std::vector<std::int64_t> rows;
  std::vector<double> by;
  for (const auto& [row, change] : moved) {
    if (!rows.empty() && rows.back() == row) {
      by.back() += change;
      continue;
    }
    rows.push_back(row);
    by.push_back(change);
  }
  columns_.add_to(rows, by, score_.data());
}

/// The b that makes the objective smallest: Σ high max(0, e − b) − low max(0, b − e) + sum b has its minimum at a
/// weighted quantile of the errors.
void SmoOutput::best_soft_intercept() {
  std::vector<std::pair<double, double>> by_error;
  for (std::size_t v = 0; v < variables_.size(); ++v)
    if (high(v) > low(v)) by_error.emplace_back(error(v), high(v) - low(v));
  polled_sort(by_error.begin(), by_error.end(), std::less<>(), run_);
  const double wanted = total_high_ - variables_.sum;
  double below = 0;
  for (std::size_t k = 0; k < by_error.size(); ++k) {
    below += by_error[k].second;
    if (below < wanted * (1 - 1e-14) && k + 1 < by_error.size()) continue;
    intercept_ = by_error[k].first;
    // The slope is 0 up to the next error: the middle, as good as any, favours no class.
    if (below <= wanted * (1 + 1e-14) && k + 1 < by_error.size())
      intercept_ = 0.5 * (intercept_ + by_error[k + 1].first);
    return;
  }
}

/// P/λ at `scale` times w and b, each score off by `rounding` to its disadvantage.
double SmoOutput::primal_value(double scale, double square, double rounding) const {
  double loss = 0;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const double t = variables_.target[v], short_of = t - scale * (t - (error(v) - intercept_));
    if (high(v) > 0) loss += high(v) * std::max(0.0, short_of + rounding);
    if (low(v) < 0) loss -= low(v) * std::max(0.0, rounding - short_of);
  }
  run_.work(2 * static_cast<double>(variables_.size()));
  return 0.5 * scale * scale * square + loss + scale * variables_.sum * intercept_;
}

/// Both ends of the interval, and how far the worst variables are from optimal.
void SmoOutput::measure() {
  double square = 0, linear = 0, mass = 0;
  double top = problem_.intercept ? -infinity : 0, bottom = problem_.intercept ? infinity : 0;
  double positive = -infinity, negative = infinity;  // hard: largest error of the class +1, smallest of −1
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    const double e = error(v), w = weight_[v];
    square += w * (variables_.target[v] - e);
    linear += w * variables_.target[v];
    mass += std::fabs(w);
    if (w < high(v)) top = std::max(top, e);
    if (w > low(v)) bottom = std::min(bottom, e);
    if (variables_.target[v] > 0)
      positive = std::max(positive, e);
    else
      negative = std::min(negative, e);
  }
  run_.work(4 * static_cast<double>(variables_.size()));
  square = std::max(square, 0.0);
  squared_norm_ = square;
  top_ = top;
  bottom_ = bottom;
  worst_ = problem_.intercept ? top - bottom : std::max(top, -bottom);
  if (problem_.hard_margin)
    measure_hard(mass, 1 - positive, 1 + negative);
  else
    measure_soft(mass, linear);
}

/// The interval of the margin, from the smallest margins of both classes without b and mass = Σ|w|.
void SmoOutput::measure_hard(double mass, double least_positive, double least_negative) {
  const double norm = std::sqrt(squared_norm_);
  intercept_ = problem_.intercept ? 0.5 * (least_negative - least_positive) : 0;
  const double least =
      problem_.intercept ? 0.5 * (least_positive + least_negative) : std::min(least_positive, least_negative);
  interval_.lower = norm > 0 ? least / norm : 0;
  interval_.upper = mass > 0 ? norm / mass : radius_;
  interval_.relative = interval_.upper > 0 ? (interval_.upper - interval_.lower) / interval_.upper : 0;
  interval_.inseparable = interval_.lower <= 0 && interval_.upper <= 0.5 * negligible_kernel_margin * radius_;
}

/// The values of primal and dual, from mass = Σ|w| and linear = Σ w y.
void SmoOutput::measure_soft(double mass, double linear) {
  const double square = squared_norm_;
  if (problem_.intercept) best_soft_intercept();
  scale_ = 1;
  const double rounding = 1.1 * mass * value_error_;  // of a score, as the certificate will bound it
  if (variables_.sum > 0) intercept_ += rounding;  // where nu is small, a row on the boundary had better not be outside
  double primal = primal_value(1, square, 0);
  const double dual = linear - 0.5 * square;
  if (primal - dual < 0.01 * std::max(primal, -dual)) {
    // A cost of 1e6 makes every free row pay for the last digits of its margin: a w longer by that much costs less.
    double least = primal_value(1, square, rounding);
    for (double longer = 1e-13; longer < 1e-2; longer *= 4) {
      const double value = primal_value(1 + longer, square, rounding);
      if (!(value < least)) continue;
      least = value;
      scale_ = 1 + longer;
    }
    primal = primal_value(scale_, square, 0);
  }
  interval_.upper = problem_.lambda * primal;
  interval_.lower = problem_.lambda * dual;
  interval_.relative = (interval_.upper - interval_.lower) / std::max({interval_.upper, -interval_.lower, 1e-300});
  // A one-class machine whose hull reaches the origin: no w has a value below 0.
  const double negligible = 0.5 * negligible_kernel_margin * radius_;
  interval_.inseparable = variables_.sum > 0 && 2 * -dual <= negligible * negligible;
}

/// Variables outside of the working set that violate the conditions of optimality by more than `threshold`, the worst
/// first.
std::vector<std::int64_t> SmoOutput::violators(double threshold) {
  std::vector<Violation> rise, fall;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    if (in_pool_[v] != 0) continue;
    const double e = error(v) - intercept_;
    const auto variable = static_cast<std::int64_t>(v);
    if (weight_[v] < high(v) && e > threshold) rise.push_back({e, variable});
    if (weight_[v] > low(v) && -e > threshold) fall.push_back({-e, variable});
  }
  run_.work(2 * static_cast<double>(variables_.size()));
  const std::size_t found = rise.size() + fall.size();
  // The best intercept may lie at a kink outside, away from the members that are free: pairs tell.
  if (found == 0 && problem_.intercept && worst_ > threshold)
    return pairs_of_violators(threshold, std::max<std::size_t>(2, largest_pool_ / 4));
  const std::size_t most = std::min({found, most_new_rows, std::max<std::size_t>(64, working_set_.size() / 2),
                                     std::max<std::size_t>(1, largest_pool_ / 4)});
  if (problem_.intercept && working_set_.size() + most > largest_pool_) return pairs_of_violators(threshold, most);
  rise.insert(rise.end(), fall.begin(), fall.end());
  return worst(std::move(rise), most);
}

/// The same for a full working set: the members that could move against the variables that violate most, by the
/// intercept at hand, may long have left it. So it takes as many that may rise as that may fall, far enough apart.
std::vector<std::int64_t> SmoOutput::pairs_of_violators(double threshold, std::size_t most) {
  std::vector<Violation> rise, fall;
  for (std::size_t v = 0; v < variables_.size(); ++v) {
    if (in_pool_[v] != 0) continue;
    const auto variable = static_cast<std::int64_t>(v);
    const double above = error(v) - bottom_, below = top_ - error(v);
    // One that may do both is taken where it is further off.
    const bool rises = weight_[v] < high(v) && above > threshold, falls = weight_[v] > low(v) && below > threshold;
    if (rises && !(falls && below > above))
      rise.push_back({above, variable});
    else if (falls)
      fall.push_back({below, variable});
  }
  const std::size_t half = std::max<std::size_t>(1, most / 2);
  std::vector<std::int64_t> variables = worst(std::move(rise), half);
  const std::vector<std::int64_t> others = worst(std::move(fall), half);
  variables.insert(variables.end(), others.begin(), others.end());
  return variables;
}

std::vector<std::int64_t> SmoOutput::worst(std::vector<Violation> found, std::size_t most) {
  most = std::min(most, found.size());
  std::partial_sort(
      found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
      [](const Violation& a, const Violation& b) { return a.by != b.by ? a.by > b.by : a.variable < b.variable; });
  std::vector<std::int64_t> variables;
  for (std::size_t k = 0; k < most; ++k) variables.push_back(found[k].variable);
  return variables;
}

bool SmoOutput::advance(double tolerance) {
  const double unit = variables_.unit, wanted = std::max(std::min(0.1 * worst_, 0.1 * unit), 1e-13 * unit);
  working_set_.solve(wanted, [&] { return pool_is_inseparable(); });
  collect_changes();
  measure();
  if (interval_.relative <= tolerance || interval_.inseparable) return true;
  const std::vector<std::int64_t> newcomers = violators(std::min(0.01 * wanted, 1e-10 * unit));
  if (newcomers.empty()) {
    // The working set holds all that matters and its own conditions hold as well as rounding lets them.
    const bool stuck = worst_ <= 1e-13 * unit || worst_ > 0.5 * reached_;
    reached_ = std::min(reached_, worst_);
    return !stuck;
  }
  reached_ = infinity;
  make_room(newcomers.size());
  enter(newcomers);
  return true;
}

}  // namespace margin
