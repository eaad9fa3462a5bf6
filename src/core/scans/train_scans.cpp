#include "core/scans/train_scans.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/error.hpp"
#include "core/certificate/final_status.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/one_class.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/methods/methods.hpp"
#include "core/scans/methods/scan_start.hpp"
#include "core/scans/scan_groups.hpp"
#include "core/scans/scan_problem.hpp"
#include "core/train/bound_prices.hpp"
#include "core/train/model_parts.hpp"
#include "core/train/train.hpp"

namespace margin {

// All but these need all rows in memory, and a training by scans has few of them.
constexpr Consumer scan_training = {
    "train_margin_from",
    feature::regression | feature::several_classes | feature::hard_margin | feature::interpolation | feature::log_link |
        feature::standardize | feature::balanced_classes | feature::bounds | feature::constraints |
        feature::free_intercept | feature::l1_ratio | feature::lasso | feature::penalty_factor | feature::offset |
        feature::lambda_0 | feature::joint_classes | feature::initial | feature::calibration,
    "Train with train_margin.",
    {{{feature::dual_weights, "Train with train_margin, or leave the option out."},
      {feature::kernel, "Train with train_margin, or on features of margin_fourier."}}}};

constexpr Consumer one_class_scan_training = {
    "train_one_class_from",
    feature::one_class | feature::free_intercept,
    "Train with train_one_class.",
    {{{feature::dual_weights, "Train with train_one_class, or leave the option out."},
      {feature::kernel, "Train with train_one_class, or on features of margin_fourier."}}}};

namespace {

const Consumer& scan_training_of(const Options& options) {
  return is_one_class(options) ? one_class_scan_training : scan_training;
}

constexpr std::int32_t most_features = std::numeric_limits<std::int32_t>::max();
constexpr double least_sample = 1 << 20, most_sample = 16 << 20;  // bytes of rows that a scan may bring along
constexpr double share_of_memory = 1.0 / 16;
// Of so many rows as somebody asks for.
constexpr double most_wanted = 1 << 30, share_of_wanted = 1.0 / 4;
// More of 4,000,000 rows saved no scan, and made each a third slower: rows that come and go cost more than a gradient.
constexpr std::int64_t most_sample_rows = 20000;
// But of a loss with kinks a hundredth of the rows, up to so many: of 10,000,000 rows hinge took 3 scans in place of 4 to a
// tolerance of 1e-3, and 5 in place of 7 to 1e-6. 100,000 saved no scan more. Smooth losses, whose curvature the scans sum up,
// took as many as before.
constexpr std::int32_t most_of_kinks = 60000;

bool samples_more(const Options& options) {
  constexpr unsigned others =
      feature::hard_margin | feature::interpolation | feature::one_class | feature::joint_classes | feature::lambda_0;
  if ((features_of(options) & others) != 0) return false;
  return !make_loss(options.loss.empty() ? "hinge" : options.loss, options)->smooth();
}

/// A larger sample, for a scan more, where the first one has few rows for their features: what it is fitted to says little of
/// the others then. Of 60,000 rows with 2,000 features the 2,000 that have room left hinge at [0.01, 0.58] after 8 scans; of
/// 16,000 it came to [0.355, 0.356].
bool ask_for_more(const Options& options, Question& asked, const Answer& first, MemoryBudget memory) {
  constexpr std::int64_t few = 4, enough = 8;  // rows for each feature
  constexpr double most = 256 << 20;
  constexpr unsigned others = feature::hard_margin | feature::interpolation | feature::one_class | feature::lambda_0;
  if (options.sample_rows.has_value() || (features_of(options) & others) != 0 || asked.curvature) return false;
  const std::int64_t kept = first.bag(0).rows(), d = first.dimensions();
  const std::int64_t wanted = std::min(std::min(enough * d, most_sample_rows), first.rows());
  if (first.sparse_input() || d >= Answer::most_matrix_columns || kept >= few * d || 2 * kept > wanted) return false;
  const double bytes = static_cast<double>(first.bag(0).bytes()) / static_cast<double>(std::max<std::int64_t>(kept, 1)),
               room = std::min(most, share_of_memory * memory.left_or(most / share_of_memory));
  const double rows = std::min(static_cast<double>(wanted), room / bytes);
  if (!(rows >= 2.0 * static_cast<double>(kept))) return false;
  asked.bag_bytes = static_cast<std::int64_t>(rows * bytes * 1.01) + 4096;  // keys of rows that are dealt unevenly
  return true;
}

/// All rows, where the first scan could keep them: no method needs to ask again.
Model train_kept(const Question& asked, Answer& first, const Options& options, const Progress& progress,
                 MemoryBudget memory) {
  Dataset rows(asked.outcome);
  Bag& bag = first.bag(0);
  bag.sort();
  for (const auto& [name, seen] : first.classes()) {
    rows.classes().intern(name, seen.key);
    rows.classes().set_numbers(seen.number);
  }
  for (std::int64_t i = 0; i < bag.rows(); ++i) {
    KeptRow row = bag.row(i);
    if (row.x.indices != nullptr) row.x.dimensions = first.dimensions();
    progress.work(row.x.count + 64.0);
    if (asked.outcome == Dataset::Outcome::classes)
      rows.append(row.x, rows.classes().intern(row.label, row.label_key), row.weight);
    else if (asked.outcome == Dataset::Outcome::targets)
      rows.append(row.x, row.lower, row.weight);
    else
      rows.append(row.x, Label(row.lower, row.upper), row.weight);
  }
  require_classes(rows);
  memory.take(static_cast<double>(rows.bytes()), "the rows");
  Model model = train(rows, options, progress, memory);
  model.skipped = first.skipped();
  return model;
}

/// More weights than that are asked about by the columns in use, where these are few of all.
constexpr std::int64_t most_declared = 1 << 20;

/// The same question about the features that the rows have, where they declare far more than that. Nothing is to be
/// made for each of those.
bool ask_of_columns(const Options& options, Question& asked, const Answer& first) {
  const std::int64_t declared = first.dimensions();
  const auto classes = static_cast<std::int64_t>(first.classes().size());
  if (first.features().all() || declared * (classes > 2 ? classes : 1) <= most_declared) return false;
  std::vector<std::int32_t> used = first.features().features();
  if (static_cast<std::int64_t>(used.size()) > declared / 4) return false;
  // A weight that may have to be other than 0 counts, whatever the values of its feature.
  const std::optional<std::vector<std::int32_t>> bounded = weights_off_zero(options, first.dimensions());
  if (!bounded.has_value()) return false;
  const std::vector<std::int32_t> held = constrained_features(options, first.dimensions());
  used.insert(used.end(), bounded->begin(), bounded->end());
  used.insert(used.end(), held.begin(), held.end());
  if (const std::int32_t offset = offset_feature(options, first.dimensions()); offset >= 0) used.push_back(offset);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (used.empty()) used.push_back(0);  // rows of zeros: there is no problem without a column
  asked.columns = std::move(used);
  asked.dimensions = first.dimensions();
  if (asked.offset >= 0) asked.offset = offset_feature(options, asked.dimensions, &asked.columns);
  return true;
}

/// What bounds and constraints cost.
void price(const Problem& problem, const ScanSolution& s, Model& model, const Progress& progress) {
  Weights multipliers = Weights::Zero(s.weights.rows(), static_cast<Eigen::Index>(problem.constraints.count()));
  for (Eigen::Index o = 0; o < s.weights.rows() && !problem.constraints.empty(); ++o) {
    const std::vector<double> own = best_multipliers(problem, s.weights.row(o).data(), s.image.row(o), progress);
    multipliers.row(o) = Eigen::Map<const Eigen::RowVectorXd>(own.data(), multipliers.cols());
  }
  model.prices = bound_prices(problem, s.weights, s.image, multipliers);
  if (!problem.constraints.empty()) model.constraint_prices = -multipliers;
}

/// The mean loss of the best constant: of all rows, where the sampled ones leave a doubt that the model is better.
double constant_failure(const ScanProblem& problem, double failure, ScanRun& run) {
  constexpr double hardly = 0.1, deviations = 4;
  const Problem& p = problem.sample();
  const double doubt = std::max(hardly, deviations / std::sqrt(static_cast<double>(p.rows())));
  Status why;
  if (!problem.constant_sampled || !p.intercept || failure < (1 - doubt) * problem.constant_failure ||
      run.exhausted(why))
    return problem.constant_failure;
  Weights none = Weights::Zero(1, problem.dimensions);
  if (p.offset >= 0) none(0, p.offset) = p.offset_weight();
  const double constant = (p.target_constant - p.target_center) / p.target_scale;
  const Question q = problem.question(none, Eigen::VectorXd::Constant(1, constant));
  const Answer answer = run.ask(q);
  return answered_risk(q, answer, run.progress()).failure();
}

}  // namespace

Question first_question(const Options& options, MemoryBudget memory) {
  Question q;
  q.outcome = outcome_of(options);
  q.intercept = options.intercept;
  q.intercept_scale = options.intercept_scale;
  const bool of_targets = q.outcome == Dataset::Outcome::targets;
  q.curvature = of_targets && make_loss(options.loss, options)->quadratic() && !options.standardize;
  q.sums = q.curvature || options.standardize;
  // Counts less their offsets are none: their mean is asked for as it is.
  if (of_targets && !make_loss(options.loss, options)->log_link()) q.offset = offset_feature(options, most_features);
  q.seed = options.seed;
  q.bag_rows = options.sample_rows.value_or(most_sample_rows);
  const bool wanted = options.sample_rows.has_value();
  if (!wanted && samples_more(options)) q.bag_small = most_of_kinks;
  const double most = wanted ? most_wanted : most_sample, share = wanted ? share_of_wanted : share_of_memory;
  q.bag_bytes = static_cast<std::int64_t>(std::clamp(share * memory.left_or(most / share), least_sample, most));
  return q;
}

Model train_scans(RowSource& source, const Options& as_given, const Progress& progress, MemoryBudget memory) {
  const auto start = std::chrono::steady_clock::now();
  Options given = as_given;
  require_features(scan_training_of(given), features_of(given), "this training");
  if (given.calibration != Calibrate::none)
    throw Error(ErrorKind::unsupported, "a calibration by scans needs the fold of each row", "Give a column of folds.");
  if (given.lambda == 0.0) given.intercept_scale = 1;  // nothing is regularised
  // Scans read it. Of rows that all fit into memory there is none to save, and no solver of these problems that would.
  if ((features_of(given) & (feature::lambda_0 | feature::hard_margin)) != 0)
    given.given.erase(std::remove(given.given.begin(), given.given.end(), "initial"), given.given.end());
  Question asked = first_question(given, memory);
  asked.parts = source.parts();
  ScanRun run(source, given, progress);
  Answer first = run.ask(asked);
  if (first.rows() == 0)
    throw Error(ErrorKind::invalid_value, "there is no row to train on",
                "Rows without label or features do not count.");
  if (!first.arrived()) asked.parts = 1;  // whoever reads in many tasks adds up here all the same
  if (first.bag(0).complete()) return train_kept(asked, first, given, progress, memory);
  Status limit;
  const bool more = !run.exhausted(limit) && ask_for_more(given, asked, first, memory);
  if (more || ask_of_columns(given, asked, first)) first = run.ask(asked);
  if (more && first.bag(0).complete()) return train_kept(asked, first, given, progress, memory);
  std::vector<Fairness> parities = take_fairness(given, grouped_by_scans(asked, first, run));
  ScanProblem problem(given, asked, first, run, memory);
  memory.use(static_cast<double>(problem.sample_rows().bytes()));
  take_initial(problem, asked, given);
  ScanSolution s = solve_by_scans(problem, first, given, run, memory);

  Model model = begin_model(problem.sample(), given);
  model.solver = s.solver;
  model.certificate = s.certificate;
  model.certificate.constant_failure = constant_failure(problem, s.certificate.failure, run);
  model.certificate.constant_loss = problem.constant_loss;
  model.status = final_status(model.certificate, certified_problem(problem.sample()), given.tolerance, s.status);
  if (problem.confined()) price(problem.sample(), s, model, progress);
  to_label_units(problem.sample(), given, model, s.weights, s.intercepts);
  if (!problem.units.deviation.empty()) {
    to_user_units(problem.units, s.weights, s.intercepts);
    prices_to_user_units(problem.units, model.prices);
  }
  // In the user's own units alone. Answers tell W rounded; the first one's sum says how much.
  if (s.dual_point != nullptr && problem.units.deviation.empty() && problem.sample().target_scale == 1) {
    auto point = std::make_shared<DualPoint>(*s.dual_point);
    point->total_weight = problem.stored_weight;
    model.dual_point = std::move(point);
  }
  model.dimensions = asked.columns.empty() ? problem.dimensions : asked.dimensions;
  weight_bounds(given, model.dimensions, asked.columns.empty() ? nullptr : &asked.columns).settle(s.weights);
  model.columns = std::move(asked.columns);
  model.weights = std::move(s.weights);
  model.intercept = std::move(s.intercepts);
  model.parities = std::move(parities);
  model.iterations = run.scans();
  model.rows = problem.rows;
  model.skipped = problem.skipped;
  model.history = run.run().take_trace();
  model.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return model;
}

Model train_or_scan(const Dataset& rows, const Options& options, const Progress& progress, MemoryBudget memory) {
  // The folds of a calibration by scans are a column, which is not here.
  const unsigned not_taken = ~scan_training_of(options).takes | feature::calibration;
  const bool may_scan = rows.spilled() && options.solver == "auto" && (features_of(options) & not_taken) == 0;
  if (!may_scan) return train(rows, options, progress, memory);
  std::optional<Error> no_room;
  try {
    return train(rows, options, progress, memory);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::limit_exceeded) throw;
    no_room = e;
  }
  try {
    MemorySource source(rows);
    return train_scans(source, options, progress, memory);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::limit_exceeded && e.kind() != ErrorKind::unsupported) throw;
  }
  throw Error(*no_room);
}

}  // namespace margin
