// Regularised risks of piecewise linear losses by scans.
//
// Problem    min P(w) of certificate/risk.hpp, no elastic net, the rows somewhere else; one output or k of them (one
//            against the rest), which share every scan.
// Update     a scan at w brings the rows for which the last model was most wrong, as they crossed a kink of the loss on
//            the way to w, and then those nearest to a kink: the band. They join the rows of earlier bands in memory. All
//            other rows are replaced by their linear piece at the best weights so far, whose sum the scan has told, or, near
//            a kink, by the means of groups (scans/rings.hpp): where very many rows are tied at a kink, no piece is a bound
//            of use. It is a lower model of P, solved in memory by the augmented Lagrangian of the solver newton, for the bound. For the
//            next w it is solved again with those sampled rows that are far from a kink in place of their share of the
//            linear pieces, so that rows which nobody keeps can turn as well. Where P rose, a proximal term keeps the
//            next w nearer to the best. Start: solve_sample().
// Stop       P − D ≤ tolerance · max(|P|, |D|). P is the best that a scan told; D is the dual value of the model's own
//            dual weights, those of the pieces for rows that are not in memory: the check of the scan with the rows in
//            memory replaced, hence a bound for all rows. Where two scans prove little of a value that no longer falls, D is
//            that of a smoothed hinge (bound_by_smoothing() of methods.cpp).
// Source     bundle methods: Hiriart-Urruty & Lemaréchal (1993), Chapter XV; the rows in memory make the model exact
//            where it matters, as the rounds of solvers/newton/piecewise.cpp do.
#include <algorithm>
#include <cmath>

#include "core/certificate/check.hpp"
#include "core/math/rounding.hpp"
#include "core/problem/thresholds.hpp"
#include "core/scans/methods/band_output.hpp"
#include "core/scans/methods/methods.hpp"
#include "core/solvers/interval.hpp"

namespace margin {

namespace {

using Vector = std::vector<double>;

constexpr double start_tolerance = 1e-3;
// Of wide models, the share of columns / sampled rows: what a sample of few rows for each feature tells errs by more than that.
constexpr double wide_start = 0.1;
// What the model's own solution may leave of the gap, and of the gap that is asked for.
constexpr double gap_share = 0.002, wanted_share = 0.2;
// Of the gap, where steps of a model take as long as a scan: those that solve it to fewer digits save no scan.
constexpr double wide_gap_share = 0.1;
// What is left of a gap after one more scan, which share of it a value falls by, and how many times what is wanted it is, where two
// such scans say that more of them do not help.
constexpr double poor_progress = 0.5, poor_gain = 0.1, far_gap = 4;
constexpr int most_poor = 2;
// A band has at least so many rows: at the minimum about as many as there are features lie at a kink.
constexpr std::int64_t rows_per_column = 4, least_rows = 16;
// From 50 sampled rows of 20,000 with 6 features a one-class machine took 11 to 29 scans by bands as small, at most 8 by these.
constexpr std::int64_t least_rows_of_one_class = 4096;

/// Half of what a one-class machine's value may be for it to be none (certificate/final_status.cpp).
double negligible_value(const ScanProblem& p) {
  const double norm = negligible_kernel_margin * p.radius;
  return 0.25 * norm * norm / p.sample().lambda;
}

class BandScans {
 public:
  BandScans(const ScanProblem& problem, const Options& options, ScanRun& run)
      : p_(problem),
        options_(options),
        run_(run),
        constant_(problem.sample().intercept_column()),
        nothing_(problem.sample().one_class() ? negligible_value(problem) : -1),
        columns_(static_cast<std::size_t>(problem.dimensions) + (constant_ != 0 ? 1 : 0)),
        wide_(wide_model(columns_)) {
    for (std::int32_t o = 0; o < problem.outputs(); ++o)
      outputs_.push_back(std::make_unique<BandOutput>(problem, o, columns_, constant_));
  }
  ScanSolution solve(const OtherBound& other_bound, const Solution* given);

 private:
  void start(const Solution* given);
  double wanted_gap(double lower, double upper) const;
  Question question() const;
  ScanSolution result(Status status, double lower, double upper) const;

  const ScanProblem& p_;
  const Options& options_;
  ScanRun& run_;
  double constant_;
  double nothing_;  // half of a value that counts as 0; −1: none does
  std::size_t columns_;
  bool wide_;  // a model takes longer than a scan
  std::vector<std::unique_ptr<BandOutput>> outputs_;
};

void BandScans::start(const Solution* given) {
  const double rows = static_cast<double>(std::max<std::int64_t>(1, p_.sample().rows())),
               loose = wide_ ? wide_start * std::min(1.0, static_cast<double>(columns_) / rows) : 0;
  const Solution s = given != nullptr ? *given : solve_sample(p_, options_, run_, std::max(start_tolerance, loose));
  for (std::size_t o = 0; o < outputs_.size(); ++o) take_start(s, o, constant_, outputs_[o]->w);
}

/// The values of a one-class machine are below 0: of none, where rows are around the origin.
double BandScans::wanted_gap(double lower, double upper) const {
  return std::max(options_.tolerance * std::max(upper, -lower), nothing_);
}

Question BandScans::question() const {
  const auto k = static_cast<Eigen::Index>(outputs_.size());
  Weights weights(k, p_.dimensions);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(k);
  for (Eigen::Index o = 0; o < k; ++o) {
    const Vector& w = outputs_[static_cast<std::size_t>(o)]->w;
    for (std::int32_t j = 0; j < p_.dimensions; ++j) weights(o, j) = w[static_cast<std::size_t>(j)];
    if (constant_ != 0) b(o) = w.back() * constant_;
  }
  Question q = p_.question(weights, b);
  if (outputs_[0]->best != nullptr) {
    q.direction = -weights;
    q.intercept_direction = -b;
    for (Eigen::Index o = 0; o < k; ++o) {
      const Question& best = outputs_[static_cast<std::size_t>(o)]->best->question;
      q.direction.row(o) += best.weights.row(o);
      q.intercept_direction(o) += best.intercepts(o);
    }
  }
  for (const auto& o : outputs_) {
    const std::vector<double> edges = o->edges(q, run_.progress());
    q.rings.insert(q.rings.end(), edges.begin(), edges.end());
  }
  q.bag_rows = std::max({p_.bag_rows, rows_per_column * p_.dimensions + least_rows,
                         p_.sample().one_class() ? least_rows_of_one_class : 0});
  q.bag_bytes = std::max<std::int64_t>(
      1 << 16, (wide_ ? p_.wide_bag_bytes : p_.bag_bytes) / static_cast<std::int64_t>(outputs_.size()));
  return q;
}

ScanSolution BandScans::solve(const OtherBound& other_bound, const Solution* given) {
  start(given);
  double gap = infinity, last = infinity;
  double other = 0;
  int idle = 0, poor = 0;
  Status status = Status::iteration_limit;
  for (;;) {
    Question q = question();
    Answer answer = run_.ask(q);
    const auto scanned = std::make_shared<Scanned>(std::move(q), std::move(answer), run_.progress());
    double lower = 0, upper = 0;
    for (const auto& o : outputs_) {
      o->take(scanned, run_.progress());
      upper += o->primal;
      lower += o->dual;
    }
    double wanted = wanted_gap(lower, upper);
    const double before = std::min(upper - lower, std::fabs(upper));
    const bool known = wide_ && upper - lower <= certifiable * wanted;  // no model would be asked about
    for (const auto& o : outputs_) {
      if (known) break;
      const double share =
          std::max(wanted_share * wanted, (wide_ ? wide_gap_share : gap_share) * std::max(0.0, before)) /
          static_cast<double>(outputs_.size());
      o->solve_model(share, certifiable * wanted / static_cast<double>(outputs_.size()), run_);
    }
    lower = 0;
    for (const auto& o : outputs_) lower += std::min(o->dual, o->primal);
    if (other_bound) lower = std::max(lower, other);
    wanted = wanted_gap(lower, upper);
    run_.record(lower, upper);
    const bool slow = upper > last - poor_gain * (upper - lower) && upper - lower > poor_progress * gap &&
                      upper - lower > far_gap * wanted;
    poor = slow ? poor + 1 : 0;
    idle = upper - lower < 0.9 * gap || upper < last - 1e-3 * gap ? 0 : idle + 1;
    last = upper;
    gap = std::min(gap, upper - lower);
    const bool reached = upper - lower <= certifiable * wanted;
    const bool none = nothing_ >= 0 && -lower <= std::max(1.99 * nothing_, tiny);
    if (stops(run_.run(), run_.scans(), reached, none, status) || idle >= most_idle)
      return result(status, lower, upper);
    if (other_bound && other == 0 && poor == most_poor) {
      other = other_bound(lower, upper);
      require_bound(other, upper);
      other = std::min(other, upper);
      if (upper - other <= certifiable * wanted) return result(Status::optimal, other, upper);
    }
  }
}

ScanSolution BandScans::result(Status status, double lower, double upper) const {
  ScanSolution s;
  s.solver = "newton";
  s.status = status;
  s.weights = Weights(p_.outputs(), p_.dimensions);
  s.intercepts = Eigen::VectorXd::Zero(p_.outputs());
  s.image = Weights(p_.outputs(), p_.dimensions);
  s.certificate = outputs_[0]->best->check.certificate(run_.progress());
  std::vector<OutputPoint> points;
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const auto at = static_cast<Eigen::Index>(o);
    const Question& q = outputs_[o]->best->question;
    s.weights.row(at) = q.weights.row(at);
    s.intercepts(at) = q.intercepts(at);
    const RiskCheck* const proof = outputs_[o]->proof.get();
    if (proof != nullptr) s.certificate.support = proof->support();
    const RiskCheck& check = proof != nullptr ? *proof : outputs_[o]->best->check;
    const auto output = static_cast<std::int32_t>(o);
    s.image.row(at) = check.image(output);
    points.push_back(check.output_point(output, q.weights.row(at).data(), q.intercepts(at), outputs_[o]->primal));
  }
  if (!p_.sample().one_class())
    s.dual_point = stored_dual_point(outputs_[0]->best->question.objective(), p_.stored_weight, points);
  s.certificate.lower = lower;
  s.certificate.upper = upper;
  set_minimum_gap(s.certificate);
  return s;
}

}  // namespace

ScanSolution solve_by_bands(const ScanProblem& problem, const Options& options, ScanRun& run,
                            const OtherBound& other_bound, const Solution* start) {
  return BandScans(problem, options, run).solve(other_bound, start);
}

}  // namespace margin
