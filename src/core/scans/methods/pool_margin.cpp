// solve_margin_by_pool: the largest margin of rows that are somewhere else.
//
// Update     solve the rows of the pool; ask all rows for the smallest margins of its weights, and for the rows that
//            have them; put these into the pool; repeat. In other norms than l2, k classes are k problems, one against
//            the rest, which share pool and scans. The first weights may be those of the option `initial`.
// Bounds     The pool's dual weights bound the margin of all rows from above, because these have no more room than some
//            of them. The answer bounds it from below, at the intercepts that are best for the weights asked about.
// Stop       when both agree to the tolerance; when the pool proves that nothing separates its rows, hence all rows;
//            when a scan brings no new row, and the pool is solved to the last digit.
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/certificate/check.hpp"
#include "core/math/class_intercepts.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/scans/methods/pool.hpp"
#include "core/solvers/interval.hpp"
#include "core/solvers/one_vs_rest.hpp"

namespace margin {

namespace {

constexpr double share_of_tolerance = 0.2, least_tolerance = 1e-12;
// So many scans in a row without progress, a move of a bound by this share, are the last: memory or rounding is.
constexpr int patience = 8;
constexpr double progress_share = 0.01;

/// Weights and intercepts of some outputs.
struct Iterate {
  Weights weights;
  Eigen::VectorXd intercepts;
};

/// One problem of those that share the scans: all outputs together, or one of them.
struct Part {
  std::int32_t first = 0, outputs = 1;
  MarginBounds bounds;                 // certified
  MarginBounds before;                 // what they were when there was progress last
  Iterate best, asked;                 // of bounds.lower; of the question at hand
  std::vector<std::uint64_t> support;  // of bounds.upper: the rows with a dual weight
  std::string solver;
  double accuracy = 1;  // the tolerance that the pool was solved to
  bool inseparable = false, finished = false;
  Status status = Status::iteration_limit;
};

/// A hard margin's weights have norm 1 before they are asked about, as the certificate is one of theirs.
void normalize(Iterate& it, double p) {
  const double top = it.weights.cwiseAbs().maxCoeff();
  if (!(top > 0)) return;
  const double scale = unit_scale(top);  // a power of two first, so that the norm neither overflows nor vanishes
  it.weights *= scale;
  it.intercepts *= scale;
  const double norm = lp_norm(it.weights.data(), it.weights.size(), p);
  it.weights /= norm;
  it.intercepts /= norm;
}

/// What a scan told, by name (scans/row_terms.cpp).
class Told {
 public:
  Told(const Question& question, const Answer& answer)
      : l2_(question.norm == 2),
        outputs_(question.outputs()),
        classes_(static_cast<std::int32_t>(question.class_names.size())),
        numbers_(answer.numbers()) {}

  double rows() const { return numbers_[0]; }
  double errors() const { return numbers_[1]; }
  double radius() const { return numbers_[l2_ ? 3 : 2]; }
  /// The smallest margin at the intercepts of the question.
  double smallest(const Part& part) const { return numbers_[l2_ ? 2 : at(3 + part.first)]; }
  /// (a, c): the smallest score_a − score_c of rows of class a, without intercepts. Where the part is one output, its
  /// class is 1 and the rest 0.
  Eigen::MatrixXd pairs(const Part& part) const {
    const std::int32_t k = l2_ ? classes_ : 2;
    Eigen::MatrixXd m = Eigen::MatrixXd::Constant(k, k, infinity);
    for (std::int32_t a = 0; a < k; ++a)
      for (std::int32_t c = 0; c < k; ++c)
        if (a != c) m(a, c) = numbers_[l2_ ? at(4 + a * k + c) : at(3 + outputs_ + 2 * part.first + a)];
    return m;
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  bool l2_;
  std::int32_t outputs_, classes_;
  std::vector<double> numbers_;
};

class MarginByPool {
 public:
  MarginByPool(const ScanProblem& problem, const Options& options, ScanRun& run, MemoryBudget memory);
  ScanSolution solve();

 private:
  void solve_pool(const Problem& pool, Part& part);
  void start(Part& part) const;
  Certificate judge(const Iterate& iterate, const Told& told, double smallest) const;
  void take(Part& part, const Told& told);
  bool decide(Part& part) const;
  Iterate gather(bool best) const;
  ScanSolution finish(const Told& told, const Iterate& asked, Status why);

  const ScanProblem& problem_;
  const Options& options_;
  ScanRun& run_;
  PoolSolver pool_;
  double norm_;
  std::vector<Part> parts_;
};

MarginByPool::MarginByPool(const ScanProblem& problem, const Options& options, ScanRun& run, MemoryBudget memory)
    : problem_(problem),
      options_(options),
      run_(run),
      pool_(problem, options, run, memory),
      norm_(problem.sample().norm) {
  const bool each = problem.sample().one_vs_rest();
  parts_.resize(each ? static_cast<std::size_t>(problem.outputs()) : 1);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    parts_[k].first = static_cast<std::int32_t>(k);
    parts_[k].outputs = each ? 1 : problem.outputs();
  }
}

/// New vectors to ask about, and what the dual weights prove.
void MarginByPool::solve_pool(const Problem& pool, Part& part) {
  const bool each = parts_.size() > 1;
  const Problem own = each ? against_the_rest(pool, part.first) : pool;
  part.accuracy = std::min(part.accuracy, std::max(least_tolerance, share_of_tolerance * options_.tolerance));
  Solution s = pool_.solve(own, part.accuracy);
  std::vector<std::uint64_t> support = pool_.support(s);
  const Certificate c = certify(own, s.weights, s.intercept, s.dual, nullptr, run_.progress());
  if (part.bounds.reduce(c.upper)) part.support = std::move(support);
  part.inseparable = !(part.bounds.lower > 0) && part.bounds.upper <= no_margin * problem_.radius;
  if (part.inseparable && pool.rows() < problem_.rows / 2)  // a pool of most rows is the better sample
    pool_.take_weights_of_sample(each ? against_the_rest(problem_.sample(), part.first) : problem_.sample(), s);
  part.asked = {std::move(s.weights), std::move(s.intercept)};
  normalize(part.asked, norm_);
  part.solver = s.solver;
}

/// The option `initial`, where it separates the sampled rows, is asked about first: the rows that hold its margin are not far from those
/// that hold the largest one.
void MarginByPool::start(Part& part) const {
  const InitialModel& model = *options_.initial;
  const Eigen::Map<const Weights> weights(model.weights.data(), problem_.outputs(), problem_.dimensions);
  Iterate given{weights.middleRows(part.first, part.outputs), Eigen::VectorXd::Zero(part.outputs)};
  const Problem& all = problem_.sample();
  for (Eigen::Index o = 0; all.intercept && !model.intercept.empty() && o < part.outputs; ++o)
    given.intercepts(o) = model.intercept[static_cast<std::size_t>(part.first + o)];
  normalize(given, norm_);
  const Problem own = parts_.size() > 1 ? against_the_rest(all, part.first) : all;
  const Certificate c = certify(own, given.weights, given.intercepts, Weights(), nullptr, run_.progress());
  if (c.lower > 0) part.asked = std::move(given);
}

/// What all rows prove of an iterate whose smallest margin is known.
Certificate MarginByPool::judge(const Iterate& iterate, const Told& told, double smallest) const {
  Objective o = objective_of(problem_.sample());
  if (parts_.size() > 1) {
    o.task = Task::binary;
    o.classes = 2;
  }
  const auto check =
      make_check(o, {iterate.weights.data(), o.intercept ? iterate.intercepts.data() : nullptr, nullptr}, false);
  const bool sound = check->merge(norm_ == 2 ? std::vector<double>{told.rows(), 0, smallest, told.radius()}
                                             : std::vector<double>{told.rows(), 0, told.radius(), smallest});
  if (!sound) throw Error(ErrorKind::malformed, "the margin_state is not an answer to this question");
  return check->certificate(run_.progress());
}

/// The smallest margin at other intercepts, rounded as rarely as that of a row.
double smallest_at(const Eigen::MatrixXd& pairs, const Eigen::VectorXd& offsets) {
  double smallest = infinity;
  for (Eigen::Index a = 0; a < pairs.rows(); ++a)
    for (Eigen::Index c = 0; c < pairs.cols(); ++c)
      if (a != c) smallest = std::min(smallest, pairs(a, c) + (offsets(a) - offsets(c)));
  return smallest;
}

void MarginByPool::take(Part& part, const Told& told) {
  Iterate seen = part.asked;
  double smallest = told.smallest(part);
  if (problem_.sample().intercept && !part.inseparable) {
    const Eigen::MatrixXd pairs = told.pairs(part);
    const Offsets best = best_offsets(pairs, run_.progress());
    const double value = smallest_at(pairs, best.offset);
    if (value > 0 && value > smallest) {
      smallest = value;
      seen.intercepts = part.outputs > 1 ? best.offset : Eigen::VectorXd::Constant(1, best.offset(1) - best.offset(0));
    }
  }
  const double lower = judge(seen, told, smallest).lower;
  if (part.bounds.raise(lower) || part.best.weights.size() == 0) part.best = std::move(seen);
}

/// Whether nothing is left to do for a part.
bool MarginByPool::decide(Part& part) const {
  if (part.finished) return true;
  const bool reached = part.bounds.within(certifiable * options_.tolerance);
  if (!reached && !part.inseparable) return false;
  part.finished = true;
  part.status = reached ? Status::optimal : Status::not_separable;
  if (reached) part.asked = part.best;
  return true;
}

/// Whether the interval is clearly narrower than when this was last true.
bool progressed(Part& part) {
  const double width = part.before.upper - part.before.lower, step = progress_share * width;
  const double fall = part.before.upper - part.bounds.upper, rise = part.bounds.lower - part.before.lower;
  if (width < infinity && rise < step && fall < std::min(step, progress_share * part.before.upper)) return false;
  part.before = part.bounds;
  return true;
}

Iterate MarginByPool::gather(bool best) const {
  Iterate all{Weights::Zero(problem_.outputs(), problem_.dimensions), Eigen::VectorXd::Zero(problem_.outputs())};
  for (const Part& part : parts_) {
    const Iterate& own = best ? part.best : part.asked;
    all.weights.middleRows(part.first, part.outputs) = own.weights;
    all.intercepts.segment(part.first, part.outputs) = own.intercepts;
  }
  return all;
}

ScanSolution MarginByPool::solve() {
  const std::int32_t bags =
      norm_ == 2 ? static_cast<std::int32_t>(problem_.class_names.size()) : 2 * problem_.outputs();
  for (int idle = 0;; ++idle) {
    {
      const Problem pool = problem_.over(pool_.pool().rows());
      for (Part& part : parts_)
        if (!part.finished) solve_pool(pool, part);
    }
    if (options_.initial.has_value() && parts_[0].best.weights.size() == 0)
      for (Part& part : parts_) start(part);
    const Iterate asked = gather(false);
    Question question = problem_.question(asked.weights, asked.intercepts);
    pool_.ask_for_rows(question, bags);
    Answer answer = run_.ask(question);
    const Told told(question, answer);
    Status why = Status::optimal;
    double lower = infinity, upper = infinity;
    bool finished = true;
    for (Part& part : parts_) {
      if (!part.finished) take(part, told);
      if (!part.finished && progressed(part)) idle = 0;
      finished &= decide(part);
      lower = std::min(lower, part.bounds.lower);
      upper = std::min(upper, part.bounds.upper);
    }
    run_.record(lower, upper);
    if (finished || run_.exhausted(why) || idle >= patience) return finish(told, asked, why);
    if (pool_.grow(answer, bags)) continue;
    bool more_digits = false;
    for (Part& part : parts_) {
      more_digits |= !part.finished && part.accuracy > least_tolerance;
      part.accuracy = std::max(least_tolerance, 0.01 * part.accuracy);
    }
    if (!more_digits) return finish(told, asked, Status::iteration_limit);
  }
}

/// `asked` and `told`: the last scan. `why`: what ended the parts that are not finished.
ScanSolution MarginByPool::finish(const Told& told, const Iterate& asked, Status why) {
  ScanSolution s;
  s.status = Status::optimal;
  Certificate& c = s.certificate;
  c.lower = c.upper = infinity;
  std::unordered_set<std::uint64_t> support;
  bool separated = true;
  for (Part& part : parts_) {
    s.status = merged(s.status, part.finished ? part.status : why);
    if (!(part.bounds.lower > 0)) {  // one that the last scan counted the errors of
      part.best = part.asked;
      part.bounds.lower = judge(part.asked, told, told.smallest(part)).lower;
    }
    separated &= part.bounds.lower > 0;
    c.lower = std::min(c.lower, part.bounds.lower);
    c.upper = std::min(c.upper, part.bounds.upper);
    if (part.bounds.upper > 0)
      c.relative_gap = std::max(c.relative_gap, (part.bounds.upper - part.bounds.lower) / part.bounds.upper);
    support.insert(part.support.begin(), part.support.end());
    if (s.solver.size() < part.solver.size()) s.solver = part.solver;
  }
  c.gap = c.upper - c.lower;
  if (!(c.upper < infinity)) c.relative_gap = infinity;
  c.support = static_cast<std::int64_t>(support.size());
  c.radius = judge(parts_[0].best, told, told.smallest(parts_[0])).radius;
  Iterate model = gather(true);
  if (!separated) {
    double errors = told.errors();
    if (model.weights != asked.weights || model.intercepts != asked.intercepts) {
      Question question = problem_.question(model.weights, model.intercepts);
      question.bag_rows = question.bag_bytes = 0;
      errors = Told(question, run_.ask(question)).errors();
    }
    c.errors = static_cast<std::int64_t>(errors);
  }
  c.failure = static_cast<double>(c.errors);
  s.weights = std::move(model.weights);
  s.intercepts = std::move(model.intercepts);
  return s;
}

}  // namespace

ScanSolution solve_margin_by_pool(const ScanProblem& problem, const Options& options, ScanRun& run,
                                  MemoryBudget memory) {
  return MarginByPool(problem, options, run, memory).solve();
}

}  // namespace margin
