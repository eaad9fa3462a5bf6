#include "core/scans/scan_problem.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/bounds.hpp"
#include "core/problem/constraints.hpp"
#include "core/problem/offset.hpp"
#include "core/problem/one_class.hpp"
#include "core/problem/penalty.hpp"
#include "core/problem/range.hpp"
#include "core/problem/target_units.hpp"
#include "core/scans/answered_check.hpp"
#include "core/scans/target_search.hpp"
#include "core/solvers/solver.hpp"
#include "core/train/model_parts.hpp"

namespace margin {

namespace {

/// Of what later scans bring along, however large the first sample is: more of it made each scan slower. Of wide models it saves some:
/// of 60,000 rows with 2,000 features each scan brings 4,000, and 9 do in place of 14.
constexpr std::int64_t most_bag_bytes = std::int64_t{16} << 20, most_wide_bag_bytes = std::int64_t{32} << 20;

/// The numbers of a summary (scans/row_terms.cpp).
enum SummaryNumbers : std::size_t { weight, targets, squares, longest, heaviest, target_size };

void require_size(double value, const std::string& what, const std::string& hint) {
  if (value <= largest_norm && (value == 0 || value >= smallest_norm)) return;
  throw Error(ErrorKind::invalid_value,
              "the largest " + what + " is " + (std::isfinite(value) ? describe(Value{value}) : "Infinity") +
                  ", expected " + (value > largest_norm ? "at most 1e152" : "0 or at least 1e-152"),
              hint);
}

/// Of rows with the mean label `mean`: a sample without a count has no level to start from.
void require_counts(const Dataset& sample, double mean) {
  for (std::int64_t i = 0; i < sample.rows(); ++i)
    if (sample.target(i) > 0 && sample.weight(i) > 0) return;
  if (mean > 0)
    throw Error(ErrorKind::invalid_value,
                "none of the " + std::to_string(sample.rows()) + " sampled labels is above 0, and others are",
                "Raise sample_rows.");
}

const std::vector<std::int32_t>* columns_of(const Question& q) { return q.columns.empty() ? nullptr : &q.columns; }

}  // namespace

Answer ScanRun::ask(const Question& question) {
  Answer answer = source_.ask(question, run_.progress());
  if (++scans_ == 1) {
    rows_ = answer.rows();
    fingerprint_ = answer.fingerprint();
  }
  if (answer.rows() != rows_ || answer.fingerprint() != fingerprint_) {
    const std::string which = "scan " + std::to_string(scans_) + " found ", first = std::to_string(rows_);
    throw Error(ErrorKind::invalid_value,
                answer.rows() != rows_ ? which + std::to_string(answer.rows()) + " rows, the first one " + first
                                       : which + "other rows than the first one, " + first + " of them",
                "A training by scans reads its rows several times, and must find the same ones: no volatile function, "
                "no sample without REPEATABLE, no LIMIT without ORDER BY, no sum of floats whose order may change. "
                "Where others write to a distributed table meanwhile, train in a transaction that is REPEATABLE READ.");
  }
  return answer;
}

std::vector<std::string> sorted_classes(const Answer& summary) {
  ClassTable table(std::pmr::get_default_resource());
  for (const auto& [name, seen] : summary.classes()) table.intern(name, seen.key);
  const std::vector<std::int32_t> rank = table.ranks();
  std::vector<std::string> names(rank.size());
  for (std::size_t c = 0; c < rank.size(); ++c)
    names[static_cast<std::size_t>(rank[c])] = std::string(table.name(static_cast<std::int32_t>(c)));
  return names;
}

ScanProblem::ScanProblem(const Options& options, const Question& asked, Answer& first, ScanRun& run,
                         MemoryBudget memory)
    : rows(first.rows()),
      skipped(first.skipped()),
      dimensions(first.dimensions()),
      total_weight(first.number(weight)),
      stored_weight(first.sum(weight), static_cast<double>(first.rows()), total_weight),
      radius(first.number(longest)),
      bag_rows(asked.bag_rows),
      bag_bytes(std::min(asked.bag_bytes, most_bag_bytes)),
      wide_bag_bytes(std::min(asked.bag_bytes, most_wide_bag_bytes)),
      sparse_(first.sparse_input()) {
  const std::string hint = "Scale the features, or leave such rows out with WHERE.";
  require_size(radius, "norm of a row", hint);
  require_size(first.number(target_size), "size of a target", hint);
  require_size(first.number(heaviest), "row weight", "Only the ratios of row weights matter: scale them.");
  class_names = sorted_classes(first);
  for (const std::string& name : class_names) {
    const SeenClass& c = first.classes().find(name)->second;
    class_rows.push_back(c.rows);
    class_mass.push_back(c.weight.value());
    class_keys_.push_back(c.key);
    numbers_ |= c.number;
  }
  if (is_one_class(options)) {  // of the outliers there is no row
    class_names = {outlier, inlier};
    class_rows = {0, rows};
    class_mass = {0, total_weight};
    class_keys_ = {0, 0};
  } else {
    require_classes(numbers_, static_cast<std::int64_t>(class_names.size()), rows);
  }
  memory.require(3.0 * static_cast<double>(first.bag(0).bytes()), "the sample of the rows");
  if (options.standardize)
    standardize(options, asked, first, run);
  else if (options.lambda == 0.0 && dimensions < Answer::most_matrix_columns)
    take_units_of_sample(options, asked, first, run);
  take_sample(options, asked, first, run);
}

/// Means from the first scan; deviations from one more, of the centred columns, whose squares lose no digits.
void ScanProblem::standardize(const Options& options, const Question& asked, const Answer& first, ScanRun& run) {
  if (dimensions > Answer::most_matrix_columns)
    throw Error(ErrorKind::unsupported,
                "option \"standardize\" of a training by scans takes at most " +
                    std::to_string(Answer::most_matrix_columns) + " features, and the rows have " +
                    std::to_string(dimensions),
                "Scale the features in the query, or train in memory with train_margin.");
  const auto d = static_cast<std::size_t>(dimensions);
  const Weights sums = first.sums();
  std::vector<double> mean(d);
  for (std::size_t j = 0; j < d; ++j) mean[j] = sums(0, static_cast<Eigen::Index>(j)) / total_weight;
  Question q = asked;
  if (q.columns.empty()) q.dimensions = dimensions;
  q.column_center = mean;
  q.column_scale.assign(d, 1.0);
  q.curvature = true;
  q.sums = false;
  q.bag_rows = q.bag_bytes = q.bag_small = 0;
  q.offset = -1;  // of the sum of squares no part
  Answer centred = run.ask(q);
  const SymmetricMatrix& squares = centred.matrix(0, run.progress());
  const std::int32_t declared = asked.columns.empty() ? dimensions : asked.dimensions;
  units.mean.assign(d, 0.0);
  units.deviation.assign(d, 1.0);
  for (std::size_t j = 0; j < d; ++j) {
    const double deviation = std::sqrt(std::max(0.0, squares.row(j)[j]) / total_weight);
    if (deviation > 1e-12 * std::fabs(mean[j]) && std::isfinite(deviation)) units.deviation[j] = deviation;
    if (options.intercept && !sparse_) units.mean[j] = mean[j];
  }
  if (const std::int32_t offset = offset_feature(options, declared, columns_of(asked)); offset >= 0) {
    units.mean[static_cast<std::size_t>(offset)] = 0;
    units.deviation[static_cast<std::size_t>(offset)] = 1;
  }
  // In standard units no row is longer than this.
  const double shift = Eigen::Map<const Eigen::VectorXd>(units.mean.data(), dimensions).norm();
  radius = (radius + shift) / *std::min_element(units.deviation.begin(), units.deviation.end());
}

/// Without a penalty the optimum is the same in all units: those of the sampled rows keep the digits of columns that are far
/// from 0.
void ScanProblem::take_units_of_sample(const Options& options, const Question& asked, Answer& first, ScanRun& run) {
  const Bag& bag = first.bag(0);
  const std::int32_t declared = asked.columns.empty() ? dimensions : asked.dimensions;
  const std::int32_t offset = offset_feature(options, declared, columns_of(asked));
  const auto n = static_cast<double>(bag.rows());
  std::vector<double> dense(static_cast<std::size_t>(dimensions));
  const auto each_row = [&](auto use) {
    for (std::int64_t i = 0; i < bag.rows(); ++i) {
      const KeptRow row = bag.row(i);
      std::fill(dense.begin(), dense.end(), 0.0);
      margin::add(1.0, row.x, dense.data());
      for (std::size_t j = 0; j < dense.size(); ++j) use(j, dense[j]);
      run.progress().work(3.0 * static_cast<double>(dense.size()));
    }
  };
  units.mean.assign(dense.size(), 0.0);
  units.deviation.assign(dense.size(), 0.0);
  if (options.intercept && !sparse_) each_row([&](std::size_t j, double v) { units.mean[j] += v / n; });
  if (offset >= 0) units.mean[static_cast<std::size_t>(offset)] = 0;
  each_row([&](std::size_t j, double v) { units.deviation[j] += (v - units.mean[j]) * (v - units.mean[j]) / n; });
  for (std::size_t j = 0; j < dense.size(); ++j) {
    const double deviation = std::sqrt(units.deviation[j]);
    const bool spread = deviation > 1e-12 * std::fabs(units.mean[j]) && std::isfinite(deviation);
    units.deviation[j] = spread && static_cast<std::int32_t>(j) != offset ? deviation : 1.0;
  }
}

Dataset ScanProblem::empty_rows() const {
  const Dataset::Outcome outcome = class_names.empty() ? sample_->outcome() : Dataset::Outcome::classes;
  Dataset out(outcome);
  out.classes().set_numbers(numbers_);
  for (std::size_t c = 0; c < class_names.size(); ++c) out.classes().intern(class_names[c], class_keys_[c]);
  return out;
}

void ScanProblem::take_sample(const Options& options, const Question& asked, Answer& first, ScanRun& run) {
  Bag& bag = first.bag(0);
  bag.sort();
  sample_ = std::make_unique<Dataset>(outcome_of(options));
  if (!class_names.empty()) sample_ = std::make_unique<Dataset>(empty_rows());
  // The sampled rows, and the first ones of each class that are not among them.
  struct Kept {
    KeptRow row;
    std::size_t of;
  };
  std::vector<Kept> kept;
  const auto class_of = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(class_names.begin(), class_names.end(), name) - class_names.begin());
  };
  for (std::int64_t i = 0; i < bag.rows(); ++i) {
    const KeptRow row = bag.row(i);
    kept.push_back({row, class_names.empty() ? 0 : class_of(row.label)});
    run.progress().work(64);
  }
  const double last = bag.rows() > 0 ? bag.key(bag.rows() - 1) : -1;
  for (std::size_t c = 0; c < class_names.size(); ++c) {
    const auto seen_class = first.classes().find(class_names[c]);
    if (seen_class == first.classes().end()) continue;
    Bag& own = seen_class->second.first;
    own.sort();
    for (std::int64_t i = 0; i < own.rows(); ++i)
      if (own.key(i) > last) kept.push_back({own.row(i), c});
  }
  std::vector<double> seen(std::max<std::size_t>(1, class_names.size()), 0.0);
  for (const Kept& k : kept) ++seen[k.of];
  std::vector<double> values;
  const RowUnits in_units(units.mean, units.deviation);
  for (Kept& k : kept) {
    if (!in_units.empty()) k.row.x = in_units.row(k.row.x, values);
    k.row.label_class = class_names.empty() ? -1 : static_cast<std::int32_t>(k.of);
    const double all = static_cast<double>(class_names.empty() ? rows : class_rows[k.of]);
    const double stands_for = options.hard_margin() ? 1.0 : all / seen[k.of];
    append(*sample_, k.row, k.row.weight * stands_for);
    sample_identity.push_back(row_identity(k.row));
    sample_stands_for.push_back(stands_for);
    run.progress().work(k.row.x.count + 64.0);
  }
  Options of_sample = options;
  const std::int32_t declared = asked.columns.empty() ? dimensions : asked.dimensions;
  of_sample.penalty_factor = penalty_factors(options, declared, columns_of(asked));
  of_sample.named_penalty_factor.clear();
  list_bounds(of_sample, declared, columns_of(asked));
  list_constraints(of_sample, declared, columns_of(asked));
  if (const std::int32_t offset = offset_feature(options, declared, columns_of(asked)); offset >= 0)
    of_sample.offset = std::to_string(offset + 1);
  if (!units.deviation.empty()) to_standard_units(units, of_sample);
  const double mean = first.number(targets) / total_weight;
  const bool counts = class_names.empty() && !options.hard_margin() && make_loss(options.loss, options)->log_link();
  if (counts && options.intercept && options.free_intercept()) require_counts(*sample_, mean);
  const double variance = first.number(squares) / total_weight - mean * mean;
  if (class_names.empty() && options.standardize && !counts) {
    const double deviation = std::sqrt(std::max(0.0, variance));
    of_sample.target_scale = deviation > 1e-7 * std::fabs(mean) ? deviation : 1.0;
  }
  of_sample.standardize = false;
  problem_ = std::make_unique<Problem>(make_problem(*sample_, of_sample, run.progress()));
  Problem& p = *problem_;
  if (p.task == Task::regression && !p.interpolate) {
    if (p.loss->lipschitz() < std::numeric_limits<double>::infinity())
      p.target_constant = middle_target(asked, first, run);
    else if (std::isfinite(mean) && !(counts && p.offset >= 0))  // then that of the sample
      p.target_constant = counts ? std::log(mean) : mean;
    if (counts)
      p.mean_count = mean;
    else if (p.intercept)
      p.target_center = p.target_constant;
    target_constant = p.target_constant;
    // Of squared errors the variance of the targets tells it, where enough digits of that are left.
    constant_sampled = !p.loss->quadratic() || !(variance > 1e-8 * (mean * mean)) || !std::isfinite(variance);
    constant_failure = constant_sampled ? margin::constant_failure(p, run.progress())
                                        : p.loss->value(0, 1) * (variance / (p.target_scale * p.target_scale));
  }
  set_base(options, asked);
  if (!class_names.empty()) weigh_classes(options, run.progress());
}

/// The best constant of a loss that grows as the absolute error, of all rows: near that of the sample.
double ScanProblem::middle_target(const Question& asked, const Answer& first, ScanRun& run) const {
  constexpr double deviations = 4;
  const double share = share_below(*problem_->loss);
  std::vector<std::pair<double, double>> sampled;
  double all = 0;
  for (std::int64_t i = 0; i < sample_->rows(); ++i)
    if (sample_->weight(i) > 0) {
      sampled.emplace_back(sample_->target(i) - offset_of(sample_->row(i), problem_->offset) + 0.0, sample_->weight(i));
      all += sample_->weight(i);
    }
  std::sort(sampled.begin(), sampled.end());
  const auto at = [&](double part) {
    double below = 0;
    for (const auto& [target, weight] : sampled)
      if ((below += weight) >= part * all) return target;
    return sampled.back().first;
  };
  const double reach = deviations * std::sqrt(share * (1 - share) / static_cast<double>(sampled.size()));
  Question q = asked;
  if (q.columns.empty()) q.dimensions = dimensions;
  q.curvature = q.sums = false;
  q.bag_rows = q.bag_bytes = q.bag_small = 0;
  return quantile_by_scans(
      share, total_weight, first.number(target_size),
      {at(std::max(0.0, share - reach)), at(share), at(std::min(1.0, share + reach))}, first.reductions().size(),
      [&](const std::vector<double>& search) {
        q.search = search;
        return run.ask(q);
      },
      // One scan is left for the problem, whose centre the model tells.
      [&] {
        Status why;
        return !run.exhausted(why, 1);
      });
}

void ScanProblem::set_base(const Options& options, const Question& asked) {
  const Problem& p = *problem_;
  base_.outcome = sample_->outcome();
  base_.class_names = class_names;
  static_cast<Statement&>(base_) = p;
  base_.kind = p.interpolate   ? Question::Kind::interpolation
               : p.hard_margin ? Question::Kind::margin
                               : Question::Kind::risk;
  base_.column_center = units.mean;
  base_.column_scale = units.deviation;
  base_.dimensions = asked.columns.empty() ? dimensions : asked.dimensions;
  base_.columns = asked.columns;
  base_.seed = options.seed;
  base_.parts = asked.parts;
}

void ScanProblem::weigh_classes(const Options& options, const Progress& progress) {
  if (options.class_weight_balanced || !options.class_weight.empty())
    base_.class_weight = class_weights(options, class_names, class_mass);
  double all = 0, most = 0;
  for (std::size_t c = 0; c < class_names.size(); ++c) {
    const double mass = class_mass[c] * base_.weight_of_class(c);
    all += mass;
    most = std::max(most, mass);
  }
  constant_failure = all - most;
  std::vector<double> weighted = class_mass;
  for (std::size_t c = 0; c < weighted.size() && !base_.class_weight.empty(); ++c) weighted[c] *= base_.class_weight[c];
  if (problem_->offset < 0) {
    constant_loss = margin::constant_loss(*problem_, weighted) * problem_->total_weight / total_weight;
    return;
  }
  Certificate of_sample;  // what is best beside an offset only rows tell
  count_constant(*problem_, of_sample, progress);
  constant_loss = of_sample.constant_loss;
}

void ScanProblem::append(Dataset& to, const KeptRow& row, double weight) const {
  FeatureRow x = row.x;
  if (x.indices != nullptr) x.dimensions = dimensions;
  if (to.outcome() == Dataset::Outcome::classes)
    to.append(x, row.label_class, weight);
  else if (to.outcome() == Dataset::Outcome::targets)
    to.append(x, row.lower, weight);
  else
    to.append(x, Label(row.lower, row.upper), weight);
}

Problem ScanProblem::over(const Dataset& of) const {
  const Problem& all = *problem_;
  Problem p(of);
  static_cast<Statement&>(p) = all;
  p.class_names = all.class_names;
  p.hard_margin = all.hard_margin;
  p.loss_name = all.loss_name;
  p.target_constant = all.target_constant;
  p.total_weight = total_weight;
  const bool classes = of.outcome() == Dataset::Outcome::classes;
  for (std::int64_t i = 0; i < of.rows(); ++i) {
    if (classes) p.label.push_back(of.class_of(i));
    if (p.hard_margin) continue;
    p.row_weight.push_back(classes ? of.weight(i) * base_.weight_of_class(static_cast<std::size_t>(of.class_of(i)))
                                   : of.weight(i));
  }
  return p;
}

std::shared_ptr<const Loss> ScanProblem::exchange(std::shared_ptr<const Loss> loss) {
  problem_->loss = loss;
  problem_->loss_name = loss->name();
  std::swap(base_.loss, loss);
  return loss;
}

Question ScanProblem::question(const Weights& weights, const Eigen::VectorXd& intercepts) const {
  Question q = base_;
  q.weights = weights;
  q.intercepts = intercepts;
  // As the model will have them: their sum with the center is rounded, and an answer must not be about others.
  if (q.target_center != 0 && q.target_scale == 1)
    for (double& b : q.intercepts)
      for (int k = 0; k < 8; ++k) b = (b + q.target_center) - q.target_center;
  return q;
}

}  // namespace margin
