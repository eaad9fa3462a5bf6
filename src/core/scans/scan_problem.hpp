// What is to be solved, when the rows are somewhere else: Problem for scans. It knows of the rows what the first scan
// told: classes, sums, and a sample in memory.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/memory_limit.hpp"
#include "core/certificate/ball.hpp"
#include "core/problem/problem.hpp"
#include "core/problem/standardize.hpp"
#include "core/scans/row_source.hpp"
#include "core/scans/wire/answer.hpp"
#include "core/scans/wire/question.hpp"
#include "core/solvers/run.hpp"

namespace margin {

/// Asks the source, and counts. What passes over rows in memory report to, as well.
class ScanRun {
 public:
  ScanRun(RowSource& source, const Options& options, const Progress& progress)
      : source_(source), run_(options, progress, "scans", 100) {}

  /// Throws Error(invalid_value) where it has other rows than at the first scan.
  Answer ask(const Question& question);
  /// The interval after a scan.
  void record(double lower, double upper) {
    run_.record(scans_, unit_ * std::max(lower, lower_),
                unit_ * (upper_ < std::numeric_limits<double>::infinity() ? upper_ : upper));
  }
  /// From now on values are in this unit.
  void count_in(double unit) { unit_ = unit; }
  /// From now on scans are about a loss that is nowhere above the one to be minimised: their upper ends say nothing of that, until
  /// it is called with an infinite one.
  void bound_below(double lower, double upper) {
    lower_ = lower;
    upper_ = upper;
  }
  std::int64_t scans() const { return scans_; }
  /// No more scans, so many from now: the option max_iterations counts them, and max_seconds ends them.
  bool exhausted(Status& why, std::int64_t after = 0) const { return run_.exhausted(scans_ + after, why); }
  Run& run() { return run_; }
  const Progress& progress() const { return run_.progress(); }

 private:
  RowSource& source_;
  Run run_;
  std::int64_t scans_ = 0, rows_ = 0;
  double unit_ = 1;
  double lower_ = -std::numeric_limits<double>::infinity(), upper_ = std::numeric_limits<double>::infinity();
  Fingerprint fingerprint_;
};

/// The classes of a summary, in their order.
std::vector<std::string> sorted_classes(const Answer& summary);

class ScanProblem {
 public:
  /// From the answer to first_question(), perhaps about the columns in use, which has rows; may scan once more (the option standardize). Throws Error as
  /// make_problem() does.
  ScanProblem(const Options& options, const Question& asked, Answer& first, ScanRun& run, MemoryBudget memory);
  ScanProblem(const ScanProblem&) = delete;
  ScanProblem& operator=(const ScanProblem&) = delete;

  std::int64_t rows = 0, skipped = 0;
  std::int32_t dimensions = 0;           ///< of the questions: Question::width()
  double total_weight = 0;               ///< W
  StoredSum stored_weight;               ///< the same with what rounding took
  double radius = 0;                     ///< the largest ‖x‖, as the questions will see x
  std::vector<std::string> class_names;  ///< sorted
  std::vector<std::int64_t> class_rows;  ///< in that order
  std::vector<double> class_mass;        ///< row weights of each class, without class weights
  double target_constant = 0;            ///< of a soft regression: the best constant prediction
  double constant_failure = 0;           ///< what it would have for Certificate::failure
  bool constant_sampled = false;         ///< and that is of the sampled rows alone
  double constant_loss = std::numeric_limits<double>::infinity();  ///< Certificate::constant_loss
  Standardization units;                     ///< empty without the option standardize or a lambda of 0
  std::int64_t bag_rows = 0, bag_bytes = 0;  ///< what later questions may keep of rows
  std::int64_t wide_bag_bytes = 0;           ///< the same where a model takes longer than a scan

  /// Sampled rows and a few of each class, in the units of the questions. For a soft margin each row weighs as much as
  /// the rows of its class that it stands for.
  const Dataset& sample_rows() const { return *sample_; }
  /// Of each of them: for how many rows of the table it stands, and the row_identity() of its kept row.
  std::vector<double> sample_stands_for;
  std::vector<std::uint64_t> sample_identity;
  const Problem& sample() const { return *problem_; }
  const Loss* loss() const { return problem_->loss.get(); }
  Task task() const { return problem_->task; }
  /// The weights have bounds, or meet constraints.
  bool confined() const { return !problem_->bounds.empty() || !problem_->constraints.empty(); }
  std::int32_t outputs() const { return problem_->outputs(); }

  /// A question about an iterate, with everything that it needs of the problem.
  Question question(const Weights& weights, const Eigen::VectorXd& intercepts) const;
  /// No rows yet, with the classes of the problem in their order.
  Dataset empty_rows() const;
  /// The same with another loss for the same labels, also of sample(); returns the one before.
  std::shared_ptr<const Loss> exchange(std::shared_ptr<const Loss> loss);
  /// The same with another lambda; returns the one before.
  double exchange_lambda(double lambda) {
    problem_->lambda = lambda;
    std::swap(base_.lambda, lambda);
    return lambda;
  }
  /// One kept row of an answer to question(), which has its units, with another weight.
  void append(Dataset& rows, const KeptRow& row, double weight) const;
  /// The problem with these rows, which came from empty_rows(), in place of all; the weights of its objective are still
  /// shares of W. `rows` must outlive it.
  Problem over(const Dataset& rows) const;

 private:
  void standardize(const Options& options, const Question& asked, const Answer& first, ScanRun& run);
  void take_units_of_sample(const Options& options, const Question& asked, Answer& first, ScanRun& run);
  void take_sample(const Options& options, const Question& asked, Answer& first, ScanRun& run);
  double middle_target(const Question& asked, const Answer& first, ScanRun& run) const;
  /// What every question after the first begins with.
  void set_base(const Options& options, const Question& asked);
  void weigh_classes(const Options& options, const Progress& progress);

  Question base_;
  std::vector<double> class_keys_;
  bool numbers_ = false, sparse_ = false;
  std::unique_ptr<Dataset> sample_;
  std::unique_ptr<Problem> problem_;
};

/// What a method hands back, in the units of its questions; hard margins with norm 1.
struct ScanSolution {
  Weights weights;
  Eigen::VectorXd intercepts;
  Certificate certificate;  ///< from what the rows answered, and rows in memory
  Status status = Status::iteration_limit;
  std::string solver;
  std::shared_ptr<const DualPoint> dual_point;  ///< of the weights and some dual weights; null: not known
  Weights image;  ///< Σ c a x/W of the dual weights, per output; of a risk under bounds or constraints
};

}  // namespace margin
