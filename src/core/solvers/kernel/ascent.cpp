#include "core/solvers/kernel/ascent.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/polled.hpp"
#include "core/kernel/support_vectors.hpp"
#include "core/loss/margin_loss.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/l2_margin/soft_min.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

double largest_norm(const KernelRows& rows) {
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) largest = std::max(largest, rows.diagonal(i));
  return std::sqrt(largest);
}

}  // namespace

double kernel_ascent_bytes(const Problem& p) {
  const double n = static_cast<double>(p.rows());
  return KernelRows::bytes(p.data, *p.kernel) + 8 * n * (6.0 * p.outputs() + 2 + 64);
}

std::string kernel_ascent_limit(const Problem& p) {
  return p.task == Task::multiclass && p.intercept ? "it has more than two classes, which need intercept => false" : "";
}

Weights KernelAscent::zeros() { return polled_zeros(problem_.rows(), problem_.outputs(), run_.progress()); }

KernelAscent::KernelAscent(const Problem& problem, const KernelRows& rows, KernelColumns& columns, Run& run)
    : problem_(problem),
      rows_(rows),
      columns_(columns),
      run_(run),
      logistic_(margin_loss(problem.loss_name) == MarginLoss::logistic),
      k_(problem.outputs()),
      radius_(largest_norm(rows)),
      pair_scale_(problem.outputs() > 1 ? std::sqrt(0.5) : 1.0),
      w_(zeros()),
      g_(zeros()),
      w_coefficients_(zeros()),
      g_coefficients_(zeros()),
      best_(zeros()),
      margin_(problem.rows()),
      weight_(problem.rows() * (problem.outputs() > 1 ? problem.outputs() : 1)) {
  refresh_margins();
}

double KernelAscent::margin_of(const Weights& scores, const Choice& c) const {
  if (k_ == 1) return problem_.sign(c.row) * scores(c.row, 0);
  return pair_scale_ * (scores(c.row, problem_.label[static_cast<std::size_t>(c.row)]) - scores(c.row, c.rival));
}

double KernelAscent::agreement(const Choice& a, const Choice& b) const {
  const std::int32_t of_a = problem_.label[static_cast<std::size_t>(a.row)],
                     of_b = problem_.label[static_cast<std::size_t>(b.row)];
  if (k_ == 1) return of_a == of_b ? 1 : -1;
  return pair_scale_ * pair_scale_ * ((of_a == of_b) - (of_a == b.rival) - (a.rival == of_b) + (a.rival == b.rival));
}

void KernelAscent::refresh_margins() {
  class_least_[0] = class_least_[1] = infinity;
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
    double margin = infinity;
    if (k_ == 1) {
      margin = own == 1 ? w_(i, 0) : -w_(i, 0);
    } else {
      for (std::int32_t c = 0; c < k_; ++c)
        if (c != own) margin = std::min(margin, pair_scale_ * (w_(i, own) - w_(i, c)));
    }
    margin_(i) = margin;
    double& least = class_least_[problem_.intercept ? own : 0];
    least = std::min(least, margin);
  }
}

std::array<KernelAscent::Sums, 2> KernelAscent::weigh() {
  const std::int64_t n = problem_.rows();
  const std::int32_t pairs = k_ == 1 ? 1 : k_;
  double ref[2];
  for (const int g : {0, 1}) ref[g] = logistic_ ? std::max(class_least_[g], 0.0) : class_least_[g];
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
    if (k_ == 1) {
      weight_(i) = margin_(i) - ref[group(i)];
      continue;
    }
    for (std::int32_t c = 0; c < k_; ++c) weight_(i * k_ + c) = c == own ? infinity : margin_of(w_, {i, c, 1}) - ref[0];
  }
  run_.work(static_cast<double>(weight_.size()) * 8);
  std::array<Sums, 2> sums;
  if (!logistic_) {
    simd().exp_negated(weight_.data(), static_cast<std::size_t>(weight_.size()));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int32_t c = 0; c < pairs; ++c) sums[group(i)].slopes += weight_(i * pairs + c);
    for (Sums& s : sums) s.divisor = s.slopes;
    return sums;
  }
  double values[2] = {0, 0};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t c = 0; c < pairs; ++c) {
      double& w = weight_(i * pairs + c);
      const std::int32_t g = group(i);
      if (w > soft_min_cut_off) {
        w = 0;
        continue;
      }
      const Soft s = soft(true, w + ref[g], ref[g]);
      w = s.slope;
      sums[g].slopes += s.slope;
      values[g] += s.value;
    }
  run_.work(static_cast<double>(weight_.size()) * 64);
  for (const std::size_t g : {0, 1}) sums[g].divisor = psi_divisor(true, values[g], ref[g]);
  return sums;
}

std::vector<KernelAscent::Choice> KernelAscent::soft_min(double& mass) {
  const std::array<Sums, 2> sums = weigh();
  const std::int32_t pairs = k_ == 1 ? 1 : k_;
  const double half = problem_.intercept ? 0.5 : 1.0;
  std::vector<Choice> all;
  mass = 0;
  for (std::int64_t i = 0; i < problem_.rows(); ++i)
    for (std::int32_t c = 0; c < pairs; ++c) {
      const double share = half * weight_(i * pairs + c) / sums[group(i)].divisor;
      if (!(share > 0)) continue;
      all.push_back({i, k_ == 1 ? 1 - problem_.label[static_cast<std::size_t>(i)] : c, share});
      mass += share;
    }
  return all;
}

std::vector<KernelAscent::Choice> KernelAscent::sample(Random& random) {
  const std::array<Sums, 2> sums = weigh();
  const std::int64_t n = problem_.rows();
  const std::int32_t pairs = k_ == 1 ? 1 : k_;
  std::vector<Choice> chosen;
  for (std::int32_t drawn = 0; drawn < (problem_.intercept ? 2 : 1); ++drawn) {
    double left = random.uniform() * sums[drawn].slopes;
    Choice last{-1, 0, problem_.intercept ? 0.5 : 1.0};
    for (std::int64_t i = 0; i < n && left >= 0; ++i) {
      if (group(i) != drawn) continue;
      for (std::int32_t c = 0; c < pairs && left >= 0; ++c) {
        const double weight = weight_(i * pairs + c);
        if (!(weight > 0)) continue;
        left -= weight;
        last.row = i;
        last.rival = k_ == 1 ? 1 - problem_.label[static_cast<std::size_t>(i)] : c;
      }
    }
    chosen.push_back(last);
  }
  return chosen;
}

std::vector<KernelAscent::Choice> KernelAscent::worst() const {
  std::vector<Choice> chosen;
  for (std::int32_t drawn = 0; drawn < (problem_.intercept ? 2 : 1); ++drawn) {
    Choice best{-1, 0, problem_.intercept ? 0.5 : 1.0};
    for (std::int64_t i = 0; i < problem_.rows(); ++i) {
      const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
      if (problem_.intercept && own != drawn) continue;
      if (best.row < 0 || margin_(i) < margin_(best.row)) best.row = i;
    }
    const std::int32_t own = problem_.label[static_cast<std::size_t>(best.row)];
    best.rival = k_ == 1 ? 1 - own : (own == 0 ? 1 : 0);
    for (std::int32_t c = 0; k_ > 1 && c < k_; ++c)
      if (c != own && w_(best.row, c) > w_(best.row, best.rival)) best.rival = c;
    chosen.push_back(best);
  }
  return chosen;
}

/// scores, coefficients += factor · share · z of the choice, whose kernel column this is.
void KernelAscent::add(const Choice& c, double factor, const double* column, Weights& scores, Weights& coefficients) {
  const double unit = 1 / (radius_ * radius_);
  const auto n = static_cast<std::size_t>(problem_.rows());
  auto add_to = [&](std::int32_t output, double a) {
    for (std::size_t i = 0; i < n; ++i) scores(static_cast<Eigen::Index>(i), output) += a * unit * column[i];
    coefficients(c.row, output) += a;
  };
  if (k_ == 1) {
    add_to(0, factor * c.share * problem_.sign(c.row));
  } else {
    add_to(problem_.label[static_cast<std::size_t>(c.row)], factor * c.share * pair_scale_);
    add_to(c.rival, -factor * c.share * pair_scale_);
  }
  run_.work(static_cast<double>(n) * (k_ == 1 ? 1.0 : 2.0));
}

void KernelAscent::step(const std::vector<Choice>& v, double beta, double theta) {
  // <w, v>, <g, v> and ‖v‖² from the scores, before they move.
  double wv = 0, gv = 0, vv = 0;
  for (const Choice& c : v) {
    wv += c.share * margin_of(w_, c);
    gv += c.share * margin_of(g_, c);
  }
  const double unit = 1 / (radius_ * radius_);
  std::vector<std::int64_t> which;
  for (const Choice& c : v) which.push_back(c.row);
  columns_.each(which, [&](std::size_t a, const double* column) {
    for (const Choice& other : v) vv += agreement(v[a], other) * column[other.row] * unit * v[a].share * other.share;
    add(v[a], 1, column, g_, g_coefficients_);  // g is g + v from here on
  });
  // With h = g + v: w' = w + θ (β h + v), g' = β h.
  const double hh = gg_ + 2 * gv + vv, wh = wg_ + wv;
  const double hv = gv + vv;
  const double moved = theta * theta * (beta * beta * hh + 2 * beta * hv + vv);
  const double wg = beta * (wh + theta * (beta * hh + hv));  // <w', g'>
  ww_ += 2 * theta * (beta * wh + wv) + moved;
  gg_ = beta * beta * hh;
  wg_ = wg;
  if (beta > 0) {
    w_ += (theta * beta) * g_;
    w_coefficients_ += (theta * beta) * g_coefficients_;
    run_.work(static_cast<double>(problem_.rows()) * k_ * 2);
  }
  columns_.each(which, [&](std::size_t a, const double* column) { add(v[a], theta, column, w_, w_coefficients_); });
  g_ *= beta;
  g_coefficients_ *= beta;
  refresh_margins();
  run_.work(static_cast<double>(problem_.rows()) * (k_ + 4.0));
}

double KernelAscent::lower() const {
  if (!(ww_ > 0)) return 0;
  const double least = problem_.intercept ? 0.5 * (class_least_[0] + class_least_[1]) : class_least_[0];
  return radius_ * least / (pair_scale_ * std::sqrt(ww_));
}

double KernelAscent::norm_of_weights() const { return radius_ * std::sqrt(std::max(0.0, ww_)) / pair_scale_; }
double KernelAscent::norm_of_momentum() const { return radius_ * std::sqrt(std::max(0.0, gg_)) / pair_scale_; }

void KernelAscent::remember() {
  best_ = w_coefficients_;
  best_norm_ = std::sqrt(std::max(0.0, ww_));
  best_intercept_ = problem_.intercept ? 0.5 * (class_least_[0] - class_least_[1]) : 0;
}

Solution KernelAscent::solution(bool dual_of_momentum) const {
  Solution s;
  // w = Σ c_i k(x_i, ·)/R has norm ‖w‖; in the rows' own units the coefficients are c/(R ‖w‖), scores R times larger.
  const double scale = best_norm_ > 0 ? 1 / (radius_ * best_norm_) : 0;
  SupportVectors support = support_vectors(problem_.data, rows_, best_ * scale, run_.progress());
  s.basis = std::move(support.basis);
  s.weights = std::move(support.weights);
  s.intercept = Eigen::VectorXd::Zero(k_);
  if (problem_.intercept && best_norm_ > 0) s.intercept(0) = best_intercept_ * radius_ / best_norm_;
  const Weights& dual = dual_of_momentum ? g_coefficients_ : w_coefficients_;
  // A pair (i, c) gives its weight to the class of i and takes it from c, which no other pair of row i does.
  s.dual = k_ == 1 ? Weights(dual.cwiseAbs()) : Weights((-dual).cwiseMax(0.0));
  return s;
}

Solution KernelAscent::zero_solution(std::string_view solver) const {
  Solution s = solution(false);
  s.dual.setOnes();
  s.solver = solver;
  s.status = Status::not_separable;
  return s;
}

Solution run_kernel_ascent(const Problem& problem, const Options& options, const Progress& progress,
                           std::string_view name, std::int64_t default_steps, const KernelStep& step) {
  const bool keep_best = output_of(options, name, {Output::last}) != Output::last;
  Run run(options, progress, name, default_steps);
  const KernelRows rows = kernel_rows(problem.data, problem.kernel, progress);
  KernelColumns columns(rows, options.workspace_limit - kernel_ascent_bytes(problem), progress);
  KernelAscent ascent(problem, rows, columns, run);
  if (ascent.radius() == 0) return ascent.zero_solution(name);

  MarginStop stop(options, run);
  MarginBounds bounds;
  Status status = Status::iteration_limit;
  UpperEnd upper;
  std::int64_t t = 0;
  do {
    upper = step(ascent, run, t++);
    bounds.upper = upper.value;
    if (!keep_best) bounds.lower = ascent.lower();
    if (!keep_best || bounds.raise(ascent.lower())) ascent.remember();
  } while (!stop(t, bounds, status));
  Solution s = ascent.solution(upper.of_momentum);
  s.solver = name;
  s.status = status;
  s.iterations = t;
  s.trace = run.take_trace();
  return s;
}

}  // namespace margin
