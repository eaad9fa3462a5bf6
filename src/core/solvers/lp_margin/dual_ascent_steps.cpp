// dual_ascent by coordinate steps over all rows (Raj & Bach 2021, Algorithms 1 and 2).
//
// Problem    max Σ α_i − ½‖u‖_r², u = Σ α_i z_i, over α ≥ 0 (the paper's α is n times ours).
// Update     plain: a row after the other in random order, α_i to the exact maximum along its coordinate (p = 2: Lemma
//            1; below, Lemma 1 is only a bound, and Newton's method goes on), or, with step 'quadratic', to the maximum
//            of that bound, as the paper prints it. With a free intercept Σ α_i y_i = 0 must stay: pairs of rows, one
//            of each class, move together, which reaches every optimum (at a point where no pair can rise, the margins
//            of each class's carriers are equal and no other row's is smaller). accelerated: APCG (Lin, Lu, Xiao 2015)
//            with steps of Lemma 1 at y = γ²g + z, where z and g change in one coordinate per step (Fercoq, Richtárik
//            2015); it starts anew whenever an epoch lowered the dual value, with step 'quadratic' never, as the paper prints it. Lemma 1 bounds the curvature along a row
//            by (r−1)‖z‖_r², which u hardly ever meets: the steps begin with ‖z‖_r² and double it, up to the bound, at
//            each such restart; with step 'quadratic' the bound is all.
// Stop       the interval is measured after every epoch. It does not depend on the scale of α, so the optimal scaling
//            Σα/‖u‖² of the dual value is implied.
#include "core/solvers/lp_margin/dual_ascent_steps.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/math/norm.hpp"
#include "core/solvers/lp_margin/epochs.hpp"
#include "core/solvers/output.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

/// To the maximum along a direction, or of Lemma 1's bound.
double step_along(const LpDirection& z, double c, bool bounded, LpAscent& ascent) {
  return bounded ? ascent.bound_maximum(z, c) : ascent.line_maximum(z, c);
}

/// One plain epoch without intercept.
void ascend(RowOrder& order, bool bounded, Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
  LpDirection z;
  if (order.needs_lengths()) order.set_lengths(ascent, run);
  order.shuffle();
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::int64_t i = order[k];
    ascent.load(i, z);
    run.work(3.0 * static_cast<double>(z.values.size()));
    if (alpha(i) == 0 && ascent.product(z) >= 1) continue;
    const double delta = std::max(-alpha(i), step_along(z, 1, bounded, ascent));
    run.work(100.0 * static_cast<double>(z.values.size()));
    alpha(i) = std::max(0.0, alpha(i) + delta);
    ascent.move(z, delta);
  }
}

/// Plain epochs with a free intercept: every row meets one of the other class that carries weight, because few do, and
/// a pair of which neither does can rarely move.
class Pairs {
 public:
  Pairs(const Problem& problem, const Options& options)
      : problem_(problem),
        order_(rows_of(problem), options),
        random_(options.seed + 1),
        bounded_(options.step == Step::quadratic) {
    for (int c = 0; c < 2; ++c) rows_[c] = rows_of(problem, c);
  }

  void epoch(Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
    for (int c = 0; c < 2; ++c) {
      carriers_[c].clear();
      for (const std::int64_t i : rows_[c])
        if (alpha(i) > 0) carriers_[c].push_back(i);
    }
    if (order_.needs_lengths()) order_.set_lengths(ascent, run);
    order_.shuffle();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const std::int64_t i = order_[k];
      const int own = problem_.label[static_cast<std::size_t>(i)];
      const std::vector<std::int64_t>& others = carriers_[1 - own].empty() ? rows_[1 - own] : carriers_[1 - own];
      step(i, others[random_.below(others.size())], alpha, ascent, run);
    }
  }

 private:
  void step(std::int64_t i, std::int64_t j, Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
    ascent.load_pair(i, j, z_);
    run.work(5.0 * static_cast<double>(z_.values.size()));
    const double least = -std::min(alpha(i), alpha(j));
    if (least == 0 && ascent.product(z_) >= 2) return;
    const double delta = std::max(least, step_along(z_, 2, bounded_, ascent));
    run.work(100.0 * static_cast<double>(z_.values.size()));
    for (const std::int64_t row : {i, j}) {
      if (alpha(row) == 0 && delta > 0) carriers_[problem_.label[static_cast<std::size_t>(row)]].push_back(row);
      alpha(row) = std::max(0.0, alpha(row) + delta);
    }
    ascent.move(z_, delta);
  }

  const Problem& problem_;
  RowOrder order_;
  Random random_;
  bool bounded_;
  std::vector<std::int64_t> rows_[2], carriers_[2];  // carriers: those of the epoch's start, and what came since
  LpDirection z_;
};

/// The accelerated sequence. α = γ²g + z, with γ of the step before.
class Accelerated {
 public:
  Accelerated(const Problem& problem, const Options& options)
      : order_(rows_of(problem), options),
        n_(static_cast<double>(problem.rows())),
        bounded_(options.step == Step::quadratic) {}

  void epoch(Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
    if (z_.size() == 0) {
      caution_ = bounded_ ? 1.0 : 1 / (ascent.dual_exponent() - 1);
      restart(alpha, ascent, run);
    }
    order_.shuffle();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      step(order_[k], ascent);
      run.work(20.0 * static_cast<double>(ascent.dimensions()));
    }
    const double square = last_gamma_ * last_gamma_;
    alpha = (square * g_ + z_).cwiseMax(0.0);
    ascent.reset(alpha, run);
    const double size = lp_norm(ascent.point().data(), ascent.dimensions(), ascent.dual_exponent());
    const double value = alpha.sum() - 0.5 * size * size;
    if (!bounded_ && value < best_) {
      caution_ = std::min(1.0, 2 * caution_);
      restart(alpha, ascent, run);
    }
    best_ = value;
  }

 private:
  void restart(const Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
    z_ = alpha;
    g_ = Eigen::VectorXd::Zero(alpha.size());
    ascent.reset(alpha, run);
    uz_ = ascent.point();
    ug_ = Eigen::VectorXd::Zero(uz_.size());
    gamma_ = last_gamma_ = 1 / n_;
  }

  void step(std::int64_t i, LpAscent& ascent) {
    ascent.set(gamma_ * gamma_ * ug_ + uz_);
    ascent.load(i, direction_);
    if (!(direction_.length > 0)) return;
    const double lipschitz = caution_ * (ascent.dual_exponent() - 1) * direction_.length * direction_.length;
    const double to = std::max(0.0, z_(i) + (1 - ascent.product(direction_)) / (n_ * gamma_ * lipschitz));
    const double delta = to - z_(i), back = -(1 - n_ * gamma_) / (gamma_ * gamma_) * delta;
    z_(i) = to;
    g_(i) += back;
    for (std::size_t k = 0; k < direction_.values.size(); ++k) {
      const Eigen::Index j = direction_.indices.empty() ? static_cast<Eigen::Index>(k) : direction_.indices[k];
      uz_(j) += delta * direction_.values[k];
      ug_(j) += back * direction_.values[k];
    }
    last_gamma_ = gamma_;
    const double square = gamma_ * gamma_;
    gamma_ = 0.5 * (std::sqrt(square * square + 4 * square) - square);
  }

  RowOrder order_;
  double n_, gamma_ = 1, last_gamma_ = 1, best_ = -std::numeric_limits<double>::infinity();
  bool bounded_;
  double caution_ = 1;  // share of Lemma 1's bound on the curvature that is believed
  Eigen::VectorXd z_, g_, uz_, ug_;
  LpDirection direction_;
};

}  // namespace

Solution solve_coordinate_ascent(const Problem& problem, const Options& options, const Progress& progress) {
  if (options.step != Step::automatic && options.step != Step::quadratic && options.step != Step::optimal)
    throw Error(ErrorKind::unsupported, "dual_ascent takes optimal or quadratic steps",
                "Its steps: optimal, quadratic.");
  output_of(options, "dual_ascent", {Output::last});
  if (options.accelerated.value_or(false)) {
    if (options.order == Order::proportional)
      throw Error(ErrorKind::unsupported, "accelerated steps draw every row with the same probability",
                  "Give order => 'random', or leave accelerated out.");
    if (problem.intercept)
      throw Error(ErrorKind::unsupported,
                  "accelerated steps move one row weight at a time and cannot keep the balance that a free intercept "
                  "asks for",
                  "Give intercept => false, or leave accelerated out.");
    Accelerated accelerated(problem, options);
    const auto epoch = [&](Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
      accelerated.epoch(alpha, ascent, run);
    };
    return run_epochs(problem, options, progress, {"dual_ascent+accelerated", false, epoch});
  }
  if (problem.intercept) {
    Pairs pairs(problem, options);
    const auto epoch = [&](Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) { pairs.epoch(alpha, ascent, run); };
    return run_epochs(problem, options, progress, {"dual_ascent", false, epoch});
  }
  RowOrder order(rows_of(problem), options);
  const bool bounded = options.step == Step::quadratic;
  const auto epoch = [&](Eigen::VectorXd& alpha, LpAscent& ascent, Run& run) {
    ascend(order, bounded, alpha, ascent, run);
  };
  return run_epochs(problem, options, progress, {"dual_ascent", false, epoch});
}

}  // namespace margin
