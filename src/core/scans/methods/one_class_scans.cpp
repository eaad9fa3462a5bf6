// One-class machines that are linear in the features, by scans.
//
// Problem    min ½‖w‖² + b + (1/νW) Σ c_i max(0, −w·x_i − b) (problem/one_class.hpp), the rows somewhere else.
// Update     that of scans/methods/band.cpp: what the objective has besides a risk with a free intercept, b, is linear, so
//            that the model of the rows in memory and the linear pieces of the others has it as it is. In units in which
//            scores are about 1: with λ ≈ the mean of ‖x‖² for a lambda, λw, λb and λP are those of lambda 1. Start:
//            the machine of the sample. ν below half of the lightest row's share bounds no dual weight: the bands have
//            that half, and one more scan moves b by as much as any row may then lie outside, for ν itself. A ν of 1 has
//            every row at its bound, and w is their mean.
// Stop       P − D ≤ tolerance · |D|, or D says that no plane parts the rows from the origin.
// Source     B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson, Estimating the support of a
//            high-dimensional distribution, Neural Computation 13 (2001); as for bands.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/loss/one_class.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/methods/methods.hpp"

namespace margin {

namespace {

constexpr double loose_tolerance = 1e-3;  // of the start

/// A power of two near the mean of ‖x‖² of the sampled rows, so that to count in it rounds nothing.
double size_of_scores(const ScanProblem& problem, const Progress& progress) {
  const Problem& p = problem.sample();
  double sum = 0, all = 0;
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const double size = norm(p.data.row(i)) / problem.radius;
    sum += p.weight(i) * size * size;
    all += p.weight(i);
    progress.work(p.data.row(i).count + 8.0);
  }
  const double mean = all > 0 && problem.radius > 0 ? sum / all : 0;
  const double scale = mean > 0 ? std::sqrt(mean) * problem.radius : 1;
  return std::exp2(2 * std::round(std::log2(scale)));
}

/// The share of all weight of the lightest row that is sampled.
double lightest_share(const ScanProblem& problem) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < problem.sample_stands_for.size(); ++i) {
    const double c = problem.sample().weight(static_cast<std::int64_t>(i)) / problem.sample_stands_for[i];
    if (c > 0) least = std::min(least, c);
  }
  return least / problem.total_weight;
}

class OneClassScans {
 public:
  OneClassScans(ScanProblem& problem, const Options& options, ScanRun& run)
      : p_(problem),
        options_(options),
        run_(run),
        unit_(size_of_scores(problem, run.progress())),
        given_(problem.sample().loss) {
    p_.exchange_lambda(unit_);
    run_.count_in(unit_);
  }
  ScanSolution solve();

 private:
  ScanSolution solve_for_all();
  ScanSolution solve_bands(double nu);
  RiskCheck ask(const Weights& w, double b, Question& asked, Answer& answer);
  void move_boundary(ScanSolution& s, double loss);

  ScanProblem& p_;
  const Options& options_;
  ScanRun& run_;
  double unit_;
  std::shared_ptr<const Loss> given_;
};

RiskCheck OneClassScans::ask(const Weights& w, double b, Question& asked, Answer& answer) {
  asked = p_.question(w, Eigen::VectorXd::Constant(1, b));
  answer = run_.ask(asked);
  return answered_risk(asked, answer, run_.progress());
}

/// A ν of 1: one scan with all rows outside tells their mean, one more what it proves.
ScanSolution OneClassScans::solve_for_all() {
  ScanSolution s;
  Question q;
  Answer answer;
  s.weights = Weights::Zero(1, p_.dimensions);
  s.weights.row(0) = ask(s.weights, -1, q, answer).image(0).transpose() / unit_;
  const double far = 2 * p_.radius * lp_norm(s.weights.data(), s.weights.size(), 2);
  s.intercepts = Eigen::VectorXd::Constant(1, -far);
  s.certificate = ask(s.weights, -far, q, answer).certificate(run_.progress());
  run_.record(s.certificate.lower, s.certificate.upper);
  s.status = Status::optimal;
  return s;
}

/// From the machine of the sample, whose solver knows no lambda but 1.
ScanSolution OneClassScans::solve_bands(double nu) {
  Solution start = solve_sample(p_, options_, run_, loose_tolerance);
  start.weights /= unit_;
  start.intercept /= unit_;
  Options own = options_;
  own.nu = nu;
  p_.exchange(make_loss(OneClass::id, own));
  ScanSolution s = solve_by_bands(p_, options_, run_, {}, &start);
  p_.exchange(given_);
  return s;
}

/// For a ν that bounds no dual weight: no row may be outside. One that costs as much as all rows do together is outside by at
/// most half of their mean loss.
void OneClassScans::move_boundary(ScanSolution& s, double loss) {
  const double rounding =
      8 * epsilon * (p_.dimensions + 8.0) * p_.radius * lp_norm(s.weights.data(), s.weights.size(), 2);
  Question q;
  Answer answer;
  s.intercepts(0) += loss + rounding;
  const Certificate moved = ask(s.weights, s.intercepts(0), q, answer).certificate(run_.progress());
  s.certificate.upper = moved.upper;
  s.certificate.errors = moved.errors;
  run_.record(s.certificate.lower, s.certificate.upper);
}

ScanSolution OneClassScans::solve() {
  const double given = one_class_of(given_.get())->nu(), nu = std::max(given, std::min(0.5, 0.5 * lightest_share(p_)));
  ScanSolution s;
  if (given < 1) {
    s = solve_bands(nu);
    if (nu > given) {
      const double square = 0.5 * unit_ * s.weights.squaredNorm();
      move_boundary(s, std::max(0.0, s.certificate.upper - square - s.intercepts(0)));
    }
  } else {
    s = solve_for_all();
  }
  s.solver = "one_class";
  s.weights *= unit_;
  s.intercepts *= unit_;
  s.certificate.upper = s.certificate.upper * unit_ + tiny;
  s.certificate.lower = s.certificate.lower * unit_ - tiny;
  if (!(s.certificate.upper < 0)) {  // weights of 0 have the value 0
    s.weights.setZero();
    s.intercepts.setZero();
    s.certificate.upper = 0;
    s.certificate.errors = p_.rows;
  }
  set_minimum_gap(s.certificate);
  p_.exchange_lambda(1);
  run_.count_in(1);
  return s;
}

}  // namespace

ScanSolution solve_one_class_scans(ScanProblem& problem, const Options& options, ScanRun& run) {
  return OneClassScans(problem, options, run).solve();
}

}  // namespace margin
