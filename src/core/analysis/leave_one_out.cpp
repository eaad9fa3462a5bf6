#include "core/analysis/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/base/error.hpp"
#include "core/certificate/risk.hpp"
#include "core/consequences/left_out/left_out.hpp"
#include "core/loss/loss.hpp"
#include "core/model/products.hpp"
#include "core/solvers/plain_steps.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/compaction.hpp"
#include "core/train/train.hpp"

namespace margin {

namespace {

// Relative gaps. Curvature takes what is left of a gradient into account, kinks take exact dual values.
constexpr double smooth_tolerance = 1e-8, piecewise_tolerance = 1e-9;
constexpr double refit_tolerances[] = {1e-7, 1e-11};

enum class Answer { right, wrong, unknown };

/// A certified pair of vectors of every output, and what follows from it for rows that are left out.
class Proof {
 public:
  Proof(const Problem& problem, Weights weights, Eigen::VectorXd intercept, Weights dual, const Progress& progress)
      : problem_(problem), weights_(std::move(weights)), intercept_(std::move(intercept)), dual_(std::move(dual)) {
    const auto checked = [&](bool precisely) {
      auto check = std::make_unique<RiskCheck>(objective_of(problem), weights_.data(), intercept_.data(), true);
      if (precisely) check->sum_precisely();
      add_rows(*check, problem, dual_, nullptr, progress);
      return check;
    };
    // Where the ball is all that there is, it is as wide as the root of the gap, however small that is.
    auto check = checked(false);
    if (problem.loss->smooth() ? check->blurred() : check->blurred(0)) check = checked(true);
    outputs_.reserve(static_cast<std::size_t>(problem.outputs()));
    for (std::int32_t o = 0; o < problem.outputs(); ++o) {
      const double dual_value = check->dual(o);
      if (!(dual_value > 0)) dual_.col(o).setZero();  // 0 is the value of these, and the larger one
      outputs_.emplace_back(problem, o, weights_.row(o).data(), intercept_(o), dual_,
                            std::max(0.0, check->primal(o) - dual_value), progress);
    }
  }
  Proof(const Proof&) = delete;  // the outputs point into it
  Proof& operator=(const Proof&) = delete;

  Answer left_out(std::int64_t i) {
    const std::int32_t label = problem_.label[static_cast<std::size_t>(i)];
    if (outputs_.size() == 1) {
      const ScoreInterval s = outputs_[0].score(i, 0);
      if (s.lower > 0) return label == 1 ? Answer::right : Answer::wrong;
      if (s.upper < 0) return label == 0 ? Answer::right : Answer::wrong;
      return Answer::unknown;
    }
    const double any = std::numeric_limits<double>::quiet_NaN();
    const ScoreInterval own = outputs_[static_cast<std::size_t>(label)].score(i, any);
    bool right = true;
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      if (o == static_cast<std::size_t>(label)) continue;
      const ScoreInterval other = outputs_[o].score(i, any);
      if (other.lower > own.upper) return Answer::wrong;
      right &= own.lower > other.upper;
    }
    return right ? Answer::right : Answer::unknown;
  }

 private:
  const Problem& problem_;
  Weights weights_;
  Eigen::VectorXd intercept_;
  Weights dual_;
  std::vector<LeftOut> outputs_;
};

/// The weights of a model in all columns of its rows.
Weights all_columns(const Model& m, std::int32_t dimensions) {
  Weights out = Weights::Zero(m.outputs(), dimensions);
  for (std::int32_t j = 0; j < m.terms(); ++j) out.col(m.feature(j)) = m.weights.col(j);
  return out;
}

/// Trained without row i, from what the training with it found.
class Refits {
 public:
  Refits(const Problem& problem, const Model& found, Options options, const Progress& progress)
      : problem_(problem), options_(std::move(options)), progress_(progress) {
    InitialModel start = start_from(found);
    const Weights weights = all_columns(found, problem.dimensions());
    start.weights.assign(weights.data(), weights.data() + weights.size());
    start.columns.clear();
    start.dimensions = 0;
    options_.initial = std::move(start);
    const auto n = static_cast<std::size_t>(problem_.rows());
    if (!problem_.row_weight.empty()) return;
    problem_.row_weight.assign(n, 1.0);
  }

  Answer left_out(std::int64_t i) {
    double& weight = problem_.row_weight[static_cast<std::size_t>(i)];
    const double before = weight;
    weight = 0;  // W stays, and with it the cost of every other row
    Answer answer = Answer::unknown;
    for (const double tolerance : refit_tolerances) {
      options_.tolerance = tolerance;
      Solution s = choose_solver(problem_, options_).solve(problem_, options_, QuietProgress(progress_));
      if (!s.weights.allFinite() || !has_dual_weights(problem_, s.dual)) break;
      Proof proof(problem_, std::move(s.weights), std::move(s.intercept), std::move(s.dual), progress_);
      answer = proof.left_out(i);
      if (answer != Answer::unknown) break;
    }
    weight = before;
    return answer;
  }

 private:
  Problem problem_;
  Options options_;
  const Progress& progress_;
};

}  // namespace

LeaveOneOutOptions parse_leave_one_out(const Value::Object& options) {
  LeaveOneOutOptions out;
  for (const auto& [key, value] : options) {
    if (key != "refit") throw unknown_option(key, {"refit"});
    if (std::holds_alternative<std::monostate>(value.data)) continue;
    const bool* const refit = std::get_if<bool>(&value.data);
    if (refit == nullptr)
      throw Error(ErrorKind::invalid_option, "option \"refit\" must be true or false, not " + describe(value));
    out.refit = *refit;
  }
  return out;
}

void require_leave_one_out(const Model& m, const Options& s) {
  require_product(leave_one_out_product, m, s);
  if (s.free_intercept() && !make_loss(m.loss, s)->smooth())
    refuse_model(leave_one_out_product, "with the loss \"" + m.loss + "\" nothing bounds an intercept that is free",
                 "Train with intercept => 'penalized', or with a loss that has a derivative, such as logistic.");
}

LeaveOneOut leave_one_out(const Dataset& data, const Model& model, const Options& settings,
                          const LeaveOneOutOptions& options, const Progress& progress, MemoryBudget memory) {
  require_leave_one_out(model, settings);
  Options own = settings;
  own.lambda = model.lambda;  // what the model says is what was checked, whatever its options say
  own.loss = model.loss;
  own.norm = 2;
  own.sparse_norm = false;
  own.kernel.clear();
  own.learners = Learners::features;
  own.solver = "auto";
  own.tolerance = make_loss(own.loss, own)->smooth() ? smooth_tolerance : piecewise_tolerance;
  own.max_iterations.reset();
  own.max_seconds.reset();
  own.history = false;
  own.calibration = Calibrate::none;
  own.dual_weights = true;
  take_plain_steps(own);
  own.given.clear();
  InitialModel start = start_from(model);
  start.dual_weights.clear();  // of rows in an order of their own
  start.columns = model.columns;
  start.dimensions = model.dimensions;
  // The columns that the rows use: vectors here are as long as there are columns.
  const Compaction compact(data, own, progress, memory);
  const Dataset& rows = compact.rows();
  compact.take(start);
  compact.take(own);
  own.initial = std::move(start);
  const QuietProgress quiet(progress);
  Model found = train(rows, own, quiet, memory);
  if (found.classes != model.classes)
    throw Error(ErrorKind::invalid_value, "the rows do not have the classes of the model",
                "Leave-one-out takes the rows of the training.");
  own.initial.reset();
  const Problem problem = make_problem(rows, own, progress);
  if (!found.dual_weights.has_value() || found.dual_weights->rows() != problem.rows() ||
      found.dual_weights->cols() != problem.outputs())
    throw Error(ErrorKind::unsupported,
                "margin_leave_one_out needs dual weights of every row, and solver \"" + found.solver + "\" has none");
  // Vectors of every output, the duals, and the matrices of curvatures or of the rows at the kink.
  const double d = problem.dimensions(), n = static_cast<double>(rows.rows());
  const double matrices = !problem.loss->smooth() ? Exchange::workspace(d + 1)
                          : d <= 1024             ? 8 * (8 * d * d + 8 * n)
                                                  : 0;
  memory.require(problem.outputs() * (8 * (8 * d + 3 * n) + matrices), "margin_leave_one_out");
  LeaveOneOut out;
  std::vector<std::int64_t> unknown;
  {
    Proof proof(problem, all_columns(found, problem.dimensions()), found.intercept, *found.dual_weights, progress);
    const Scorer scorer = scorer_of(found);
    std::vector<double> scores(static_cast<std::size_t>(problem.outputs()));
    for (std::int64_t i = 0; i < problem.rows(); ++i) {
      if (!(problem.weight(i) > 0)) continue;
      ++out.rows;
      score(scorer, rows.row(i), problem.dimensions(), scores.data());
      out.errors += decide(problem.outputs(), scores.data()) != problem.label[static_cast<std::size_t>(i)];
      const Answer answer = proof.left_out(i);
      out.lower += answer == Answer::wrong;
      out.upper += answer != Answer::right;
      if (answer == Answer::unknown) unknown.push_back(i);
    }
  }
  if (options.refit) {
    Refits refits(problem, found, own, progress);
    for (const std::int64_t i : unknown) {
      const Answer answer = refits.left_out(i);
      out.lower += answer == Answer::wrong;
      out.upper -= answer == Answer::right;
      ++out.refitted;
    }
  }
  out.undecided = out.upper - out.lower;
  return out;
}

}  // namespace margin
