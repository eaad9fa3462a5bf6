#include "core/consequences/between/kinks_between.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/gram_block.hpp"
#include "core/loss/loss.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/math/symmetric_matrix.hpp"

namespace margin {

namespace {

constexpr double least_share = 1e-3;  // of c/W: rows closer to an end than that are not worth it
constexpr double most_columns = 1024;
// At one lambda, not many more rows than columns are between both ends, but duplicates of each other.
constexpr std::size_t rows_per_column = 3;

double product(const Row& x, double constant, const std::vector<double>& v) {
  return dot(x, v.data()) + (constant != 0 ? constant * v.back() : 0.0);
}

}  // namespace

PathPoint kink_point(const Problem& p, double constant, double lambda, const double* weights, double intercept,
                     std::vector<double>& dual, const Progress& progress) {
  const auto n = static_cast<std::size_t>(p.rows());
  const auto d = static_cast<std::size_t>(p.dimensions());
  constexpr std::size_t block = 256;
  PathPoint out;
  out.lambda = lambda;
  out.weights.assign(weights, weights + d);
  if (constant != 0) out.weights.push_back(intercept / constant);
  const double own = norm_above(out.weights), longest = std::hypot(p.data.radius(), constant);
  std::vector<double> total(out.weights.size(), 0.0), part(out.weights.size(), 0.0);
  double slack = 0, mass = 0, all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Row x = p.data.row(static_cast<std::int64_t>(i));
    const double y = p.target(static_cast<std::int64_t>(i), 0),
                 c = p.weight(static_cast<std::int64_t>(i)) / p.total_weight;
    const double beta = std::isfinite(dual[i]) ? std::clamp(dual[i] * y, 0.0, 1.0) : 0.0;
    dual[i] = beta * y;
    all += c;
    const double below = 1 - y * product(x, constant, out.weights);
    slack += c * (below > 0 ? (1 - beta) * below : -beta * below);
    if (beta > 0) {
      add(c * beta * y, x, part.data());
      if (constant != 0) part.back() += c * beta * y * constant;
      mass += c * beta;
    }
    progress.work(4.0 * x.count + 16);
    if ((i + 1) % block != 0 && i + 1 < n) continue;
    for (std::size_t j = 0; j < part.size(); ++j) total[j] += part[j], part[j] = 0;
  }
  // s of the header; F is 1-Lipschitz in the score.
  out.slack = (slack + all * rounding_of(d) * (1 + longest * own)) * (1 + rounding_of(n));
  out.offset.resize(total.size());
  for (std::size_t j = 0; j < total.size(); ++j) out.offset[j] = total[j] / lambda - out.weights[j];
  const double between = norm_above(out.offset);
  out.size = 2 * own + between;
  out.error = rounding_of(block + n / block) * mass * longest / lambda + rounding_of(d) * out.size;
  return out;
}

bool KinksBetween::knows(const Problem& problem, double constant) {
  const double columns = problem.dimensions() + (constant != 0 ? 1.0 : 0.0);
  return problem.loss->classification() && problem.loss->kinks() == 1 && !problem.free_intercept &&
         columns <= most_columns;
}

double KinksBetween::bytes(const Problem& problem) {
  const double columns = problem.dimensions() + 1.0;
  return 8 * columns * ((2 * rows_per_column + 3) * columns + (rows_per_column + 4) * static_cast<double>(group));
}

KinksBetween::KinksBetween(const Problem& problem, double constant, const PathPoint& a,
                           const std::vector<double>& dual_a, const PathPoint& b, const std::vector<double>& dual_b,
                           std::vector<double> borders, const Progress& progress)
    : p_(problem),
      constant_(constant),
      a_(a),
      b_(b),
      borders_(std::move(borders)),
      progress_(progress),
      ball_(a, b),
      columns_(a.weights.size()) {
  const std::size_t ranges = borders_.size() - 1;
  double most = 0, error = 0;
  for (std::size_t r = 0; r < ranges; ++r) {
    const LambdaRange range{borders_[r], borders_[r + 1]};
    budget_.push_back(ball_.budget(range));
    error_.push_back(ball_.error(range));
    most = std::max(most, budget_.back());
    error = std::max(error, error_.back());
  }
  size_ = (a.size + b.size) * b.lambda / a.lambda + std::sqrt(most / a.lambda) + error;
  const auto share = [&](double lambda) {
    return std::clamp((lambda - a_.lambda) / (b_.lambda - a_.lambda), 0.0, 1.0);
  };
  const auto inside = [&](std::size_t i, double theta) {
    const double mixed = std::fabs((1 - theta) * dual_a[i] + theta * dual_b[i]);
    return std::min(mixed, 1 - mixed);
  };
  const double first = share(borders_.front()), last = share(borders_.back());
  for (std::size_t i = 0; i < dual_a.size(); ++i) {
    const double at_first = inside(i, first), at_last = inside(i, last);
    if (!(std::min(at_first, at_last) > least_share)) continue;
    const auto at = static_cast<std::int64_t>(i);
    const double m = p_.weight(at) / p_.total_weight * (at_first + at_last) / 2;
    basic_.push_back({i, p_.target(at, 0), m * m / most});
  }
  progress_.work(4.0 * static_cast<double>(dual_a.size()));
  const std::size_t most_rows = rows_per_column * columns_;
  if (basic_.size() > most_rows) {
    std::nth_element(basic_.begin(), basic_.begin() + static_cast<std::ptrdiff_t>(most_rows), basic_.end(),
                     [](const Basic& one, const Basic& other) { return one.weight > other.weight; });
    basic_.resize(most_rows);
  }
  const std::size_t n = columns_, count = basic_.size();
  tile_.assign(n * group, 0.0);
  rest_ = tile_;
  if (count == 0) return;
  rows_.assign(count * n, 0.0);
  turned_.resize(count * n);
  SymmetricMatrix factor(n);
  GramBlock block(n, 0);
  for (std::size_t k = 0; k < count; ++k) {
    double* const row = rows_.data() + k * n;
    const auto i = static_cast<std::int64_t>(basic_[k].row);
    add(1, p_.data.row(i), row);
    if (constant_ != 0) row[n - 1] = constant_;
    row_at_.push_back(row);
    for (std::size_t j = 0; j < n; ++j) turned_[j * count + k] = row[j];
    block.add(Row{row, nullptr, static_cast<std::int32_t>(n), true}, basic_[k].weight, 1.0, factor, progress_);
    const double weight = p_.weight(i) / p_.total_weight * (1 - 1e-10);
    const auto m = [&](double lambda) {
      return weight * std::max(0.0, inside(basic_[k].row, share(lambda)) - 8 * epsilon);
    };
    for (std::size_t r = 0; r < ranges; ++r)
      steepness_.push_back((1 + 4 * epsilon) / std::min(m(borders_[r]), m(borders_[r + 1])));
  }
  block.flush(1.0, factor, progress_);
  for (std::size_t j = 0; j < n; ++j) {
    factor.row(j)[j] += borders_.front();
    column_at_.push_back(turned_.data() + j * count);
  }
  if (!factorise(factor, progress_)) {
    basic_.clear();
    return;
  }
  lower_.resize(n * n);
  upper_.resize(n * n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t l = j; l < n; ++l) upper_[j * n + l] = lower_[l * n + j] = factor.row(j)[l];
  for (std::size_t j = 0; j < n; ++j) pivots_.push_back(1 / factor.row(j)[j]);
}

void KinksBetween::take(std::size_t place, const Row& x) {
  for (std::size_t j = 0; j < columns_; ++j) tile_[j * group + place] = 0;
  for (std::int32_t k = 0; k < x.count; ++k)
    tile_[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k) * group + place] = x.value(k);
  if (constant_ != 0) tile_[(columns_ - 1) * group + place] = constant_;
}

void KinksBetween::split() {
  const std::size_t n = columns_, count = basic_.size();
  const SimdLoops& loops = simd();
  std::fill_n(met_, group, 0.0);
  double total[group] = {}, length[group] = {}, sums[group];
  const std::size_t ranges = borders_.size() - 1;
  steepest_.assign(ranges * group, 0.0);
  rest_ = tile_;
  if (count > 0) {
    way_ = tile_;
    const auto solve = [&](std::size_t j, const double* terms, std::size_t from, std::size_t of) {
      const double* const at[] = {terms};
      loops.tile_dots_d(way_.data() + from * group, at, 1, of, sums);
      double* const to = way_.data() + j * group;
      for (std::size_t r = 0; r < group; ++r) to[r] = (to[r] - sums[r]) * pivots_[j];
    };
    for (std::size_t j = 0; j < n; ++j) solve(j, lower_.data() + j * n, 0, j);
    for (std::size_t j = n; j-- > 0;) solve(j, upper_.data() + j * n + j + 1, j + 1, n - j - 1);
    share_.resize(count * group);
    loops.tile_dots_d(way_.data(), row_at_.data(), count, n, share_.data());
    for (std::size_t k = 0; k < count; ++k) {
      double* const own = share_.data() + k * group;
      double size[group];
      for (std::size_t r = 0; r < group; ++r) {
        own[r] *= basic_[k].weight;
        met_[r] += own[r] * basic_[k].y;
        size[r] = std::fabs(own[r]);
        total[r] += size[r];
      }
      for (std::size_t range = 0; range < ranges; ++range) {
        double* const most = steepest_.data() + range * group;
        const double by = steepness_[k * ranges + range];
        for (std::size_t r = 0; r < group; ++r) most[r] = std::max(most[r], size[r] * by);
      }
    }
    loops.tile_dots_d(share_.data(), column_at_.data(), n, count, way_.data());
    for (std::size_t j = 0; j < n * group; ++j) rest_[j] -= way_[j];
  }
  std::fill_n(length_, group, 0.0);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t r = 0; r < group; ++r) {
      length_[r] += rest_[j * group + r] * rest_[j * group + r];
      length[r] += tile_[j * group + r] * tile_[j * group + r];
    }
  const double* const ends[] = {a_.weights.data(), a_.offset.data(), b_.weights.data(), b_.offset.data()};
  double products[4 * group];
  loops.tile_dots_d(rest_.data(), ends, 4, n, products);
  // What the rest is off, times the norms of points and optima; what the sum of shares is.
  const double longest = std::hypot(p_.data.radius(), constant_), off = rounding_of(n + count);
  const double vanished = tiny * (static_cast<double>(n + count) + 16);  // of sums of products
  for (std::size_t r = 0; r < group; ++r) {
    at_a_[r] = {products[r], products[r] + products[group + r]};
    at_b_[r] = {products[2 * group + r], products[2 * group + r] + products[3 * group + r]};
    length_[r] = std::sqrt(length_[r] + vanished) * (1 + off);
    rounding_[r] = off * ((std::sqrt(length[r] + vanished) + total[r] * longest) * size_ + total[r]) + vanished;
  }
  progress_.work(static_cast<double>(n * (n + 2 * count + 4)));
}

/// The bound of the header: Σ k y + r·(w + v)/2 + max over E, with h = `steepest` and R = `budget`.
double KinksBetween::highest(std::size_t place, double sign, std::size_t range) const {
  const LambdaRange at{borders_[range], borders_[range + 1]};
  const double budget = budget_[range], steepest = steepest_[range * group + place];
  const double by_length = length_[place] / std::sqrt(at.low);
  const double reach = by_length * by_length < 4 * steepest * steepest * budget
                           ? steepest * budget + by_length * by_length / (4 * steepest)
                           : by_length * std::sqrt(budget);
  return sign * met_[place] + ball_.highest(at_a_[place], at_b_[place], sign, at) +
         (reach + length_[place] * error_[range]) * (1 + 1e-9) + rounding_[place];
}

}  // namespace margin
