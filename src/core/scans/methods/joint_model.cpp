#include "core/scans/methods/joint_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/rounding.hpp"
#include "core/scans/risk_terms.hpp"
#include "core/solvers/joint/ascent.hpp"

namespace margin {

namespace {

constexpr std::int64_t most_model_steps = 200;

/// The weights of a question, with the intercept's column.
Weights with_intercepts(const Weights& weights, const Eigen::VectorXd& intercepts, double constant) {
  Weights all(weights.rows(), weights.cols() + (constant != 0 ? 1 : 0));
  all.leftCols(weights.cols()) = weights;
  if (constant != 0) all.col(weights.cols()) = intercepts / constant;
  return all;
}

}  // namespace

void to_panels(const JointRows& rows, const Weights& from, LargeArray& to) {
  to.assign(rows.size(), 0.0);
  for (Eigen::Index c = 0; c < from.rows(); ++c)
    for (Eigen::Index j = 0; j < from.cols(); ++j)
      to[rows.at(static_cast<std::size_t>(j), static_cast<std::size_t>(c))] = from(c, j);
}

Weights from_panels(const JointRows& rows, const LargeArray& from) {
  Weights to(rows.classes(), static_cast<Eigen::Index>(rows.columns()));
  for (Eigen::Index c = 0; c < to.rows(); ++c)
    for (Eigen::Index j = 0; j < to.cols(); ++j)
      to(c, j) = from[rows.at(static_cast<std::size_t>(j), static_cast<std::size_t>(c))];
  return to;
}

/// The held rows at the best weights.
struct JointModel::Rows {
  Rows(const JointModel& model, const JointScanned& best, bool guess, ScanRun& run);

  const JointLoss& loss;
  double pull;                // F and a proximal term around the best weights, all of it over 1 + pull
  Problem problem;            // each with the weight that the model gives it
  std::vector<double> own;    // the weight of each for itself
  std::vector<double> key;    // as scans keep rows by
  LargeArray p;               // of the best weights, rows × classes
  std::vector<char> certain;  // rounding does not tell another p

 private:
  void weigh(const HeldRows& held, double reach, double all);
};

JointModel::Rows::Rows(const JointModel& model, const JointScanned& best, bool guess, ScanRun& run)
    : loss(*joint_of(model.p_.loss())),
      pull(guess ? model.proximal_ : 0.0),
      problem(model.p_.over(model.held_.rows())) {
  const Question& q = best.question;
  const std::size_t n = model.held_.size(), k = static_cast<std::size_t>(problem.classes);
  std::vector<double> s(k), from(k), scratch(k);
  p.assign(n * k, 0.0);
  certain.assign(n, 1);
  const double size = q.weights.norm();
  for (std::size_t i = 0; i < n; ++i) {
    const Row x = problem.data.row(static_cast<std::int64_t>(i));
    const std::int32_t y = problem.label[i];
    double largest = 0;
    for (std::size_t c = 0; c < k; ++c) {
      const auto o = static_cast<Eigen::Index>(c);
      s[c] = from[c] = dot(x, q.weights.row(o).data()) + (q.intercept ? q.intercepts(o) : 0.0);
      if (q.direction.size() > 0)
        from[c] -= dot(x, q.direction.row(o).data()) + (q.intercept ? q.intercept_direction(o) : 0.0);
      largest = std::max(largest, std::fabs(s[c]));
    }
    const double settled = loss.settled(s.data(), problem.classes, y, p.data() + i * k);
    key.push_back(q.direction.size() > 0
                      ? joint_key(loss.bend(from.data(), s.data(), problem.classes, y, scratch.data()), settled)
                      : settled);
    if (loss.form() == JointLoss::Form::crammer_singer) certain[i] = settled > 1e-12 * (1 + largest + norm(x) * size);
    run.run().work(static_cast<double>(2 * k) * x.count + 64.0);
  }
  own = problem.row_weight;
  for (std::size_t i = 0; i < n; ++i) own[i] /= model.held_.stands_for(i);
  if (guess) {
    const Bag& bag = best.answer.bag(0);
    weigh(model.held_,
          bag.complete()   ? infinity
          : bag.rows() > 0 ? bag.key(bag.rows() - 1)
                           : 0,
          static_cast<double>(model.p_.rows));
  } else {
    problem.row_weight = own;
  }
  for (double& c : problem.row_weight) c /= 1 + pull;
}

/// Held rows count each for itself; those of the sample that the scan would not have brought stand for all that are not held as well.
void JointModel::Rows::weigh(const HeldRows& held, double reach, double all) {
  double stood_for = 0;
  const auto stands = [&](std::size_t i) { return key[i] > reach && held.stands_for(i) > 1; };
  for (std::size_t i = 0; i < key.size(); ++i)
    if (stands(i))
      stood_for += held.stands_for(i);
    else
      --all;
  const double share = stood_for > 0 ? std::max(0.0, all) / stood_for : 0;
  for (std::size_t i = 0; i < key.size(); ++i)
    problem.row_weight[i] = stands(i) ? own[i] * std::max(1.0, share * held.stands_for(i)) : own[i];
}

JointModel::JointModel(const ScanProblem& problem, const Options& options)
    : p_(problem), max_seconds_(options.max_seconds), held_(problem) {}

void JointModel::hold(int rises, double curvature) {
  if (rises > 0)
    proximal_ = std::max(proximal_ == 0 ? 1.0 : 4 * proximal_, curvature);
  else
    proximal_ = proximal_ < 0.1 ? 0 : proximal_ / 4;
}

JointModel::Step JointModel::step(const JointScanned& best, double wanted, bool prove, ScanRun& run) {
  return solve(best, wanted, true, prove, run);
}

JointModel::Step JointModel::bound(const JointScanned& best, double wanted, ScanRun& run) {
  return solve(best, wanted, false, true, run);
}

JointModel::Step JointModel::solve(const JointScanned& best, double wanted, bool guess, bool proves, ScanRun& run) {
  const QuietProgress quiet(run.progress());
  Options limits;
  limits.max_iterations = most_model_steps;
  if (max_seconds_) limits.max_seconds = std::max(1e-3, *max_seconds_ - run.run().seconds());
  Run own(limits, quiet, "joint", most_model_steps);
  const Rows held(*this, best, guess, run);
  const JointRows rows(held.problem, own);
  const JointTerms terms(rows, held.loss.form());
  const std::size_t n = held_.size(), k = static_cast<std::size_t>(rows.classes()), stride = rows.stride();
  const Question& q = best.question;
  JointPoint point;
  point.s.assign(n * stride, 0.0);
  point.p = point.s;
  to_panels(rows, with_intercepts(q.weights, q.intercepts, rows.constant()), point.w);
  double at_best = 0;  // Σ cost g(p) of the held rows
  for (std::size_t i = 0; i < n; ++i) {
    const double* const p = held.p.data() + i * k;
    std::copy_n(p, k, point.p.data() + i * stride);
    at_best += rows.cost(static_cast<std::int64_t>(i)) *
               held.loss.dual_value(p, rows.classes(), rows.label(static_cast<std::int64_t>(i)));
  }
  // Of all rows less those that are held, at the best weights.
  std::int64_t steps = 0;
  JointNewton newton(held.problem, rows, terms, 0, own, steps);
  JointPieces pieces;
  LargeArray of_held(rows.size(), 0.0);
  newton.weights_of(point.p, of_held);
  const double unit = 1 / (q.lambda * p_.total_weight);
  Eigen::VectorXd constants(rows.classes());
  for (Eigen::Index c = 0; c < constants.size(); ++c)
    constants(c) = rows.constant() != 0 ? best.answer.constant_sum(static_cast<std::int32_t>(c)) : 0.0;
  to_panels(rows,
            unit * with_intercepts(best.answer.sums().topRows(rows.classes()), constants, rows.constant() != 0 ? 1 : 0),
            pieces.weights);
  // (ρ/2)‖W − C‖² is (ρ/2)‖W‖² − ρ<C, W> and a constant, but for what is not penalised.
  for (std::size_t j = 0; j < pieces.weights.size(); ++j)
    pieces.weights[j] = (pieces.weights[j] + held.pull * point.w[j]) / (1 + held.pull) - of_held[j];
  if (rows.free_intercept())
    for (std::size_t c = 0; c < k; ++c) {
      const std::size_t at = rows.at(rows.features(), c);
      pieces.weights[at] -= held.pull * point.w[at] / (1 + held.pull);
    }
  pieces.constant = (unit * best.check.dual_sum() + held.pull * newton.penalty(point.w)) / (1 + held.pull) - at_best;
  pieces.gap = wanted / q.lambda / (1 + held.pull);
  pieces.kappa = kappa_;
  newton.set_pieces(&pieces);
  if (terms.hinge()) {
    dual_.resize(n * k, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < n; ++i)
      if (!std::isnan(dual_[i * k])) std::copy_n(dual_.data() + i * k, k, point.p.data() + i * stride);
  }
  solve_joint(rows, terms, newton, q.seed, own, steps, point);
  Step found;
  found.weights = from_panels(rows, point.w);
  // A little wider than where the last model ended: rows that are new have far to go.
  kappa_ = std::min(1.0, 25 * pieces.kappa);
  if (terms.hinge())
    for (std::size_t i = 0; i < n; ++i) std::copy_n(point.p.data() + i * stride, k, dual_.data() + i * k);
  if (proves) found.lower = prove(best, held, point, run.progress());
  if (held_.too_many(best.question.bag_bytes)) forget(held.key, k);
  return found;
}

void JointModel::forget(const std::vector<double>& key, std::size_t classes) {
  const std::vector<std::int64_t> stay = held_.forget(key);
  if (dual_.empty()) return;
  std::vector<double> kept;
  for (const std::int64_t i : stay) {
    const auto from = dual_.begin() + i * static_cast<std::ptrdiff_t>(classes);
    kept.insert(kept.end(), from, from + static_cast<std::ptrdiff_t>(classes));
  }
  dual_ = std::move(kept);
}

/// The dual value of the held rows at their p, and of the others at those of the best weights.
double JointModel::prove(const JointScanned& best, const Rows& rows, const JointPoint& point,
                         const Progress& progress) const {
  JointCheck check = best.check;
  const std::size_t n = held_.size(), k = static_cast<std::size_t>(rows.problem.classes), stride = point.p.size() / n;
  std::vector<double> a(k);
  for (std::size_t i = 0; i < n; ++i) {
    if (rows.certain[i] == 0) continue;
    const double* const p = point.p.data() + i * stride;
    if (std::equal(p, p + k, rows.p.data() + i * k)) continue;
    CheckedRow row = checked_row(rows.problem, static_cast<std::int64_t>(i));
    row.loss_weight = rows.own[i];
    for (std::size_t c = 0; c < k; ++c) a[c] = -p[c];
    check.replace_dual(row, a.data());
    progress.work(static_cast<double>(2 * k) * (row.x.count + 16.0));
  }
  return check.dual(progress);
}

}  // namespace margin
