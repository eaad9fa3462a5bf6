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

#include "core/math/rounding.hpp"
#include "core/solvers/free_intercept.hpp"

namespace margin {

namespace {

constexpr double least_curvature = 1e-4;    // of the largest that the loss can have: what rows at its flat parts count
constexpr double smooth_curvature = 1e-10;  // the same where it falls without an end
constexpr std::size_t first_set = 64;       // features, before there are weights
constexpr std::size_t largest_matrix = 1500;
constexpr double most_rounds_by_columns = 60;
// What may be left of Σ c a, as a share of Σ c |a|: balancing the dual vector moves every sum by as much of its terms.
constexpr double balanced = 1e-13;

double curvature_floor(const Loss& loss) {
  return loss.self_concordance() == 0 ? 0 : loss.self_concordance() < 2 ? smooth_curvature : least_curvature;
}

}  // namespace

ElasticNet::ElasticNet(ColumnRisk& risk)
    : risk_(risk), matrix_(risk.problem(), risk.columns(), risk.constant(), risk.progress()) {}

void ElasticNet::restart() {
  summed_ = known_ = fresh_ = false;
  last_lambda_ = 0;
  set_.clear();
  face_.begin();
  face_set_.clear();
}

double ElasticNet::bytes(const Problem& problem) {
  const double m = std::min<double>(problem.dimensions(), largest_matrix);
  return ColumnRisk::bytes(problem) + WorkingMatrix::bytes(problem, m) +
         8 * ((m + 1) * (m + 1) + 2.0 * static_cast<double>(problem.rows())) + 64.0 * problem.dimensions();
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
    sum_up();
    summed_ = true;
  }
  return risk_.interval(lambda);
}

/// Few features are all in the working set.
void ElasticNet::sum_up() {
  if (narrow())
    risk_.combine();
  else
    risk_.combine_some();
}

void ElasticNet::choose_features(double lambda) {
  const std::size_t d = risk_.features();
  set_.clear();
  if (narrow()) {
    for (std::size_t j = 0; j < d; ++j) set_.push_back(j);
    return;
  }
  const std::vector<double>&w = risk_.w(), &v = risk_.sums();
  const double held = last_lambda_ > lambda ? std::max(0.5, 2 - last_lambda_ / lambda) : ColumnRisk::near_bound;
  for (const std::size_t j : risk_.support())
    if (risk_.penalizes(j)) set_.push_back(j);
  std::vector<std::pair<double, std::size_t>> others;
  for (const std::size_t j : risk_.near(lambda, held)) {
    if (w[j] != 0 || !risk_.penalizes(j)) continue;
    const double size = risk_.moving(j, v[j]) / risk_.l1(lambda, j);
    if (size >= held) others.emplace_back(-size, j);
  }
  const std::size_t most = std::max(first_set, 2 * set_.size());
  if (others.size() > most) {
    std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(most), others.end());
    others.resize(most);
  }
  for (const auto& [size, j] : others) set_.push_back(j);
  std::sort(set_.begin(), set_.end());
  risk_.progress().work(8.0 * static_cast<double>(set_.size()));
}

void ElasticNet::fill_matrix() {
  risk_.curvatures(curvature_floor(*risk_.problem().loss), h_);
  if (narrow())
    matrix_.fill_rows(h_);
  else
    matrix_.fill(set_, h_);
  known_ = fresh_ = true;
}

/// The matrix for a step: of all features it serves for as long as it is worth it, of some of them it follows the set.
void ElasticNet::bring_matrix(double gap, double wanted, bool first) {
  const bool constant_curvature = risk_.problem().loss->self_concordance() == 0;
  if (!known_ || !(narrow() || constant_curvature))
    fill_matrix();
  else if (!narrow())
    matrix_.change(set_, h_);
  else if (!constant_curvature && !fresh_ && pays(gap, wanted, first))
    fill_matrix();
}

/// Whether rounds by columns cost less than a matrix of the working set and rounds on that.
bool ElasticNet::by_columns(double lambda) {
  const std::size_t m = set_.size();
  if (narrow()) return false;
  if (m > largest_matrix) return true;
  double stored = 0;
  for (const std::size_t j : set_) stored += risk_.columns().column(static_cast<std::int32_t>(j)).count;
  const bool sparse = m > 0 && risk_.columns().column(0).indices != nullptr;
  const double n = static_cast<double>(risk_.rows()), size = static_cast<double>(m), rounds = 10;
  const double by_row = stored * stored / n, panels = n * size * size / 40;
  double matrix = (sparse ? std::min(by_row, panels) : panels) + 2 * stored + rounds * size * size / 6;
  double rounds_by_columns = most_rounds_by_columns;
  // Descent ends soon where the squares of the weights count beside the loss, and then saves the factors of faces as well.
  if (sparse && risk_.problem().l1_ratio < 1) {
    rounds_by_columns = std::min(most_rounds_by_columns, 10 + largest_share(lambda) / 8);
    if (rounds_by_columns < most_rounds_by_columns) matrix += size * size * size / 48;
  }
  return rounds_by_columns * stored * (sparse ? 2.0 : 0.3) < matrix;
}

/// The loss's largest curvature along a feature of the set over the penalty's.
double ElasticNet::largest_share(double lambda) {
  risk_.curvatures(curvature_floor(*risk_.problem().loss), h_);
  double largest = 0;
  for (const std::size_t j : set_) {
    const Row x = risk_.columns().column(static_cast<std::int32_t>(j));
    double curvature = 0;
    for (std::int32_t k = 0; k < x.count; ++k)
      curvature += x.value(k) * x.value(k) * h_[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)];
    largest = std::max(largest, curvature / risk_.l2(lambda, j));
    risk_.progress().work(x.count);
  }
  return largest;
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

/// The quadratic problem of a step from the point.
void ElasticNet::pose(double lambda) {
  const Problem& p = risk_.problem();
  for (std::vector<double>* const v : {&q_.z, &q_.g, &q_.l1, &q_.l2, &q_.low, &q_.high}) v->clear();
  for (std::size_t k = 0; k < set_.size(); ++k) {
    const std::size_t j = set_[k];
    const bool penalized = risk_.penalizes(j);
    q_.z.push_back(w_[k]);
    q_.g.push_back(penalized ? -risk_.sums()[j] : 0);
    q_.l1.push_back(penalized ? risk_.l1(lambda, j) : 0);
    q_.l2.push_back(penalized ? risk_.l2(lambda, j) : 0);
    if (p.bounds.empty()) continue;
    q_.low.push_back(penalized ? p.bounds.least(j) : -infinity);
    q_.high.push_back(penalized ? p.bounds.most(j) : infinity);
  }
  if (!p.intercept) return;
  q_.z.push_back(risk_.b() / risk_.constant());
  q_.g.push_back(-risk_.sum_of_constant());
  q_.l1.push_back(0);
  q_.l2.push_back(risk_.l2_of_constant(lambda));
  if (!p.bounds.empty()) q_.low.push_back(-infinity), q_.high.push_back(infinity);
}

/// A factor serves from step to step where neither curvatures nor lambda are in it.
void ElasticNet::carry_face() {
  if (risk_.problem().loss->self_concordance() != 0 || risk_.problem().l1_ratio < 1) return face_.begin();
  std::vector<std::int32_t> places;
  std::size_t k = 0;
  for (const std::size_t j : face_set_) {
    while (k < set_.size() && set_[k] < j) ++k;
    places.push_back(k < set_.size() && set_[k] == j ? static_cast<std::int32_t>(k) : -1);
  }
  places.push_back(static_cast<std::int32_t>(set_.size()));  // the intercept
  face_.renumber(places, risk_.progress());
  face_set_ = set_;
}

bool ElasticNet::step(double lambda, const ColumnRisk::Interval& at, double wanted) {
  const Problem& p = risk_.problem();
  const double gap = at.primal - at.dual;
  const bool first = lambda != last_lambda_;
  choose_features(lambda);
  const bool columns = by_columns(lambda);
  if (!columns) bring_matrix(gap, wanted, first);
  last_gap_ = gap;
  last_lambda_ = lambda;
  const double b = risk_.b(), constant = risk_.constant();
  const double enough = std::max(1e-3 * wanted, 1e-5 * gap);
  const std::size_t m = set_.size();
  w_.resize(m);
  to_.resize(m);
  for (std::size_t k = 0; k < m; ++k) w_[k] = risk_.w()[set_[k]];
  for (;;) {
    pose(lambda);
    if (columns) {
      std::vector<Row> rows;
      for (const std::size_t j : set_) rows.push_back(risk_.columns().column(static_cast<std::int32_t>(j)));
      if (p.intercept) rows.push_back({nullptr, nullptr, 0, false});
      risk_.curvatures(curvature_floor(*p.loss), h_);
      solve_with_columns(q_, rows, h_, constant, enough, risk_.progress());
    } else {
      carry_face();
      solve_with_matrix(q_, matrix_.values(), matrix_.stride(), enough, face_, risk_.progress());
    }
    const bool was_fresh = fresh_ || columns;
    for (double t = 1; t > 1e-9; t /= t == 1 ? 2 : 4) {
      for (std::size_t k = 0; k < m; ++k) {
        const std::size_t j = set_[k];
        to_[k] = t == 1 ? q_.z[k] : w_[k] + t * (q_.z[k] - w_[k]);
        if (!p.bounds.empty() && risk_.penalizes(j)) to_[k] = p.bounds.clip(to_[k], j);
      }
      risk_.move(set_, to_, p.intercept ? b + t * (q_.z[m] * constant - b) : 0);
      if (risk_.primal(lambda) <= at.primal * (1 + 1e-14)) {
        summed_ = false;
        fresh_ = p.loss->self_concordance() == 0;
        return to_ != w_ || risk_.b() != b;
      }
      if (!was_fresh) break;
    }
    risk_.move(set_, w_, b);
    sum_up();
    if (was_fresh) return false;
    fill_matrix();
  }
}

}  // namespace margin
