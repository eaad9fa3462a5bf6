// Problem:  min P(w, b) of solvers/elastic_net/column_risk.hpp for a smooth loss, at one lambda after another.
// Update:   w += t (z − w), z the minimum of the loss's second-order expansion plus the penalty over a working set: the
//           features that have a weight, and those whose sum v comes near or passes what the penalty holds.
//           t = 1 unless P asks for less. The matrix of the expansion is kept while it still brings the gap down.
// Set:      at a new lambda the sequential strong rule (Tibshirani and others 2012) guesses it; as every interval looks
//           at all features, a wrong guess costs a step and is never an error.
// Stops:    gap ≤ tolerance · max(P, |D|), with the dual vector of the gap safe rules (Ndiaye and others 2017).
// Source:   Friedman, Hastie, Tibshirani (2010), glmnet; Lee, Sun, Saunders (2014), proximal Newton; Massias, Gramfort,
//           Salmon (2018), celer, for the growth of the working set.
#include "core/solvers/elastic_net/elastic_net.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/gram_block.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/free_intercept.hpp"

namespace margin {

namespace {

constexpr double least_curvature = 1e-4;    // of the largest that the loss can have: what rows at its flat parts count
constexpr double smooth_curvature = 1e-10;  // the same where it falls without an end
constexpr double near_bound = 0.98;         // of what the penalty holds
constexpr std::size_t first_set = 64;       // features, before there are weights
constexpr std::size_t largest_matrix = 1500;
// What may be left of Σ c a, as a share of Σ c |a|: balancing the dual vector moves every sum by as much of its terms.
constexpr double balanced = 1e-13;

double curvature_floor(const Loss& loss) {
  return loss.self_concordance() == 0 ? 0 : loss.self_concordance() < 2 ? smooth_curvature : least_curvature;
}

}  // namespace

ElasticNet::ElasticNet(ColumnRisk& risk) : risk_(risk) {}

void ElasticNet::restart() {
  summed_ = known_ = fresh_ = false;
  last_lambda_ = 0;
  set_.clear();
}

double ElasticNet::bytes(const Problem& problem) {
  const double m = std::min<double>(problem.dimensions(), largest_matrix) + 1;
  return ColumnRisk::bytes(problem) + 8 * (3 * m * m + 2.0 * static_cast<double>(problem.rows())) +
         64.0 * problem.dimensions();
}

void ElasticNet::balance_intercept(double lambda, double accuracy) {
  const Problem& p = risk_.problem();
  const double ridge = risk_.l2_of_constant(lambda) * p.total_weight / (risk_.constant() * risk_.constant());
  const double b = risk_.b();
  const double t = balanced_shift(
      [&](double shift) {
        const ColumnRisk::Slope s = risk_.slope_at(shift);
        return SlopeAt{s.value + ridge * (b + shift), s.size + ridge * std::fabs(b + shift), s.curvature + ridge};
      },
      p.loss->classification() || p.loss->log_link() ? 1.0 : 0.0, 0, accuracy);
  if (t != 0) risk_.shift(t);
}

double ElasticNet::largest_lambda() {
  const Problem& p = risk_.problem();
  risk_.move(risk_.nothing(), risk_.b());
  double lambda = 0;
  // A penalised intercept depends on lambda itself.
  for (int round = 0; round < 30; ++round) {
    if (p.intercept) balance_intercept(lambda, 1e-14);
    risk_.combine();
    double largest = 0;
    for (std::size_t j = 0; j < risk_.features(); ++j) {
      const double v = risk_.penalizes(j) ? risk_.sums()[j] : 0.0;
      largest = std::max(largest, risk_.moving(j, v) / risk_.l1(1, j));
    }
    const bool settled = !p.intercept || p.free_intercept || std::fabs(largest - lambda) <= 1e-9 * largest;
    lambda = largest;
    if (settled) break;
  }
  restart();
  summed_ = true;
  return lambda;
}

ColumnRisk::Interval ElasticNet::interval(double lambda) {
  if (!summed_) {
    if (risk_.problem().free_intercept && risk_.imbalance() > balanced) balance_intercept(lambda, balanced);
    risk_.combine();
    summed_ = true;
  }
  return risk_.interval(lambda);
}

void ElasticNet::choose_features(double lambda) {
  const std::size_t d = risk_.features();
  set_.clear();
  if (narrow()) {
    for (std::size_t j = 0; j < d; ++j) set_.push_back(j);
    return;
  }
  const std::vector<double>&w = risk_.w(), &v = risk_.sums();
  const double held = last_lambda_ > lambda ? std::max(0.5, 2 - last_lambda_ / lambda) : near_bound;
  std::vector<std::pair<double, std::size_t>> others;
  for (std::size_t j = 0; j < d; ++j) {
    if (!risk_.penalizes(j)) continue;
    const double size = risk_.moving(j, v[j]) / risk_.l1(lambda, j);
    if (w[j] != 0)
      set_.push_back(j);
    else if (size >= held)
      others.emplace_back(-size, j);
  }
  const std::size_t most = std::max(first_set, 2 * set_.size());
  if (others.size() > most) {
    std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(most), others.end());
    others.resize(most);
  }
  for (const auto& [size, j] : others) set_.push_back(j);
  std::sort(set_.begin(), set_.end());
  risk_.progress().work(4.0 * static_cast<double>(d));
}

void ElasticNet::fill_matrix() {
  const Problem& p = risk_.problem();
  const std::size_t m = set_.size(), size = m + (p.intercept ? 1 : 0);
  risk_.curvatures(curvature_floor(*p.loss), h_);
  SymmetricMatrix sum(size);
  sum.set_zero();
  GramBlock block(m, risk_.constant());
  const Progress& progress = risk_.progress();
  const auto n = static_cast<std::int64_t>(risk_.rows());
  if (narrow()) {
    for (std::int64_t i = 0; i < n; ++i)
      if (const double h = h_[static_cast<std::size_t>(i)]; h > 0) block.add(p.data.row(i), h, 1, sum, progress);
  } else {
    // The rows of the working set's columns.
    std::vector<std::size_t> end(static_cast<std::size_t>(n) + 1, 0);
    std::vector<Row> columns;
    for (const std::size_t j : set_) columns.push_back(risk_.columns().column(static_cast<std::int32_t>(j)));
    const bool sparse = !columns.empty() && columns[0].indices != nullptr;
    if (sparse) {
      for (const Row& x : columns)
        for (std::int32_t k = 0; k < x.count; ++k) ++end[static_cast<std::size_t>(x.indices[k]) + 1];
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) end[i + 1] += end[i];
      std::vector<std::int32_t> indices(end.back());
      std::vector<double> values(end.back());
      std::vector<std::size_t> next(end.begin(), end.end() - 1);
      for (std::size_t k = 0; k < m; ++k)
        for (std::int32_t l = 0; l < columns[k].count; ++l) {
          const std::size_t to = next[static_cast<std::size_t>(columns[k].indices[l])]++;
          indices[to] = static_cast<std::int32_t>(k);
          values[to] = columns[k].value(l);
        }
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        if (h_[i] > 0)
          block.add(sparse_row(indices.data() + end[i], values.data() + end[i],
                               static_cast<std::int32_t>(end[i + 1] - end[i]), static_cast<std::int32_t>(m)),
                    h_[i], 1, sum, progress);
    } else {
      std::vector<double> values(m);
      for (std::int32_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < m; ++k) values[k] = columns[k].value(i);
        block.add(dense_row(values.data(), static_cast<std::int32_t>(m)), h_[static_cast<std::size_t>(i)], 1, sum,
                  progress);
      }
    }
  }
  block.flush(1, sum, progress);
  // All features are in a narrow set: an offset, whose weight nothing moves, stands apart there.
  if (narrow() && p.offset >= 0) decouple(sum, static_cast<std::size_t>(p.offset));
  stride_ = (size + 7) / 8 * 8;
  matrix_.assign(stride_ * size, 0.0);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i; j < size; ++j) matrix_[i * stride_ + j] = matrix_[j * stride_ + i] = sum.row(i)[j];
  progress.work(2.0 * static_cast<double>(size * size));
  known_ = fresh_ = true;
}

/// Whether rounds by columns cost less than a matrix of the working set and rounds on that.
bool ElasticNet::by_columns() const {
  const std::size_t m = set_.size();
  if (narrow()) return false;
  if (m > largest_matrix) return true;
  double stored = 0;
  for (const std::size_t j : set_) stored += risk_.columns().column(static_cast<std::int32_t>(j)).count;
  const bool sparse = m > 0 && risk_.columns().column(0).indices != nullptr;
  const double n = static_cast<double>(risk_.rows()), size = static_cast<double>(m), rounds = 10,
               rounds_by_columns = 60;
  const double by_row = stored * stored / n, panels = n * size * size / 40;
  const double matrix = (sparse ? std::min(by_row, panels) : panels) + 2 * stored + rounds * size * size / 6;
  return rounds_by_columns * stored * (sparse ? 2.0 : 0.3) < matrix;
}

/// Whether a matrix of the point is worth its cost: a step with it should do, one without leaves as much of the gap as
/// the last one did.
bool ElasticNet::pays(double gap, double wanted, bool first) const {
  const Problem& p = risk_.problem();
  const double stored = p.data.density() * p.dimensions(), size = static_cast<double>(set_.size() + 1);
  const bool sparse = p.data.density() < 0.25;
  // Nanoseconds a row.
  const double matrix = std::min(sparse ? stored * stored : 1e300, size * size / 80 + size / 4);
  const double step = 30 + stored * (sparse ? 2.5 : 0.4), ratio = matrix / step;
  if (ratio < 0.4) return true;
  if (first || !(gap > wanted)) return false;
  const double decay = std::log(last_gap_ / gap);
  return !(decay > 0) || std::log(gap / wanted) / decay > 1 + ratio;
}

bool ElasticNet::step(double lambda, const ColumnRisk::Interval& at, double wanted) {
  const Problem& p = risk_.problem();
  const double gap = at.primal - at.dual;
  const bool first = lambda != last_lambda_;
  choose_features(lambda);
  const bool columns = by_columns();
  if (!columns) {
    const bool constant_curvature = p.loss->self_concordance() == 0;
    if (!known_ || !narrow() || (!constant_curvature && !fresh_ && pays(gap, wanted, first))) fill_matrix();
  }
  last_gap_ = gap;
  last_lambda_ = lambda;
  const std::vector<double> w = risk_.w();
  const double b = risk_.b(), constant = risk_.constant();
  const double enough = std::max(1e-3 * wanted, 1e-5 * gap);
  const std::size_t m = set_.size();
  for (;;) {
    L1Coordinates q;
    for (const std::size_t j : set_) {
      const bool penalized = risk_.penalizes(j);
      q.z.push_back(w[j]);
      q.g.push_back(penalized ? -risk_.sums()[j] : 0);
      q.l1.push_back(penalized ? risk_.l1(lambda, j) : 0);
      q.l2.push_back(penalized ? risk_.l2(lambda, j) : 0);
      if (p.bounds.empty()) continue;
      q.low.push_back(penalized ? p.bounds.least(j) : -infinity);
      q.high.push_back(penalized ? p.bounds.most(j) : infinity);
    }
    if (p.intercept) {
      q.z.push_back(b / constant);
      q.g.push_back(-risk_.sum_of_constant());
      q.l1.push_back(0);
      q.l2.push_back(risk_.l2_of_constant(lambda));
      if (!p.bounds.empty()) q.low.push_back(-infinity), q.high.push_back(infinity);
    }
    if (columns) {
      std::vector<Row> rows;
      for (const std::size_t j : set_) rows.push_back(risk_.columns().column(static_cast<std::int32_t>(j)));
      if (p.intercept) rows.push_back({nullptr, nullptr, 0, false});
      risk_.curvatures(curvature_floor(*p.loss), h_);
      solve_with_columns(q, rows, h_, constant, enough, risk_.progress());
    } else {
      solve_with_matrix(q, matrix_.data(), stride_, enough, risk_.progress());
    }
    const bool was_fresh = fresh_ || columns;
    std::vector<double> to(w);
    for (double t = 1; t > 1e-9; t /= t == 1 ? 2 : 4) {
      for (std::size_t k = 0; k < m; ++k) {
        const std::size_t j = set_[k];
        to[j] = t == 1 ? q.z[k] : w[j] + t * (q.z[k] - w[j]);
        if (!p.bounds.empty() && risk_.penalizes(j)) to[j] = p.bounds.clip(to[j], j);
      }
      risk_.move(to, p.intercept ? b + t * (q.z[m] * constant - b) : 0);
      if (risk_.primal(lambda) <= at.primal * (1 + 1e-14)) {
        summed_ = false;
        fresh_ = p.loss->self_concordance() == 0;
        return to != w || risk_.b() != b;
      }
      if (!was_fresh) break;
    }
    risk_.move(w, b);
    risk_.combine();
    if (was_fresh) return false;
    fill_matrix();
  }
}

}  // namespace margin
