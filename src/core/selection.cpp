// A path starts each lambda from the solution of the one before. The dual vector stays feasible, as its domain does not
// depend on lambda, and near the optimum, as most rows stay on their side of the margin. The folds of a
// cross-validation start afresh: nothing of a held-out row reaches a model.
#include "selection.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "error.hpp"
#include "loss.hpp"
#include "metrics.hpp"
#include "random.hpp"
#include "standardize.hpp"

namespace margin {

namespace {

InitialModel start_at(const Model& model) {
  InitialModel start;
  start.weights.assign(model.weights.data(), model.weights.data() + model.weights.size());
  start.intercept.assign(model.intercept.data(), model.intercept.data() + model.intercept.size());
  if (model.dual_weights.has_value())
    start.dual_weights.assign(model.dual_weights->data(), model.dual_weights->data() + model.dual_weights->size());
  return start;
}

void require_memory(double needed, double left, const char* what) {
  if (left >= 0 && needed > left)
    throw Error(ErrorKind::limit_exceeded,
                std::string(what) + " needs about " + std::to_string(static_cast<long long>(needed / 1048576) + 1) +
                    " MB more than margin.memory_limit leaves",
                "Raise margin.memory_limit, or use fewer rows.");
}

/// Falling order of lambda; equals keep the order of the list.
std::vector<std::size_t> falling(const std::vector<double>& lambdas) {
  std::vector<std::size_t> order(lambdas.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lambdas[a] > lambdas[b]; });
  return order;
}

/// A model on rows that it has not seen.
class HeldOut {
 public:
  HeldOut(const Dataset& data, Monitor& monitor) : data_(data), rank_(data.classes().ranks()), poller_(&monitor) {}

  std::optional<double> measure(const Model& model, const std::vector<std::int64_t>& rows, Metric metric) {
    const Scorer scorer{static_cast<std::int32_t>(model.weights.rows()),
                        static_cast<std::int32_t>(model.weights.cols()), model.weights.data(), model.intercept.data()};
    std::vector<double> scores(static_cast<std::size_t>(scorer.outputs));
    const auto each_row = [&](const auto& count) {
      for (const std::int64_t i : rows) {
        const Row x = data_.row(i);
        score(scorer, x, scorer.dimensions, scores.data());
        count(i);
        poller_.work(static_cast<double>(x.count) * scorer.outputs + 32);
      }
    };
    if (model.task == Task::regression) {
      RegressionMetrics counters;
      each_row([&](std::int64_t i) { counters.add(data_.target(i), scores[0]); });
      if (metric == Metric::r2) return counters.r_squared();
      return metric == Metric::mse ? counters.mean_squared_error() : counters.mean_absolute_error();
    }
    ClassificationMetrics counters(static_cast<std::int32_t>(rank_.size()), 0, metric == Metric::log_loss);
    each_row([&](std::int64_t i) {
      counters.add(rank_[static_cast<std::size_t>(data_.class_of(i))], decide(scorer, scores.data()), scores.data());
    });
    if (metric == Metric::auc) return counters.auc();
    if (metric == Metric::log_loss) return counters.log_loss();
    return counters.accuracy();
  }

 private:
  const Dataset& data_;
  const std::vector<std::int32_t> rank_;
  Poller poller_;
};

void summarize(SettingScore& s) {
  double sum = 0, squares = 0, n = 0;
  for (const auto& v : s.folds)
    if (v.has_value()) sum += *v, n += 1;
  if (n == 0) return;
  s.mean = sum / n;
  for (const auto& v : s.folds)
    if (v.has_value()) squares += (*v - *s.mean) * (*v - *s.mean);
  if (n > 1) s.deviation = std::sqrt(squares / (n - 1));
}

std::optional<std::size_t> best_of(const Selection& selection) {
  std::optional<std::size_t> best;
  const double sign = larger_is_better(selection.metric) ? 1 : -1;
  for (std::size_t k = 0; k < selection.settings.size(); ++k) {
    const SettingScore& s = selection.settings[k];
    if (!s.mean.has_value() || !std::isfinite(*s.mean)) continue;
    if (!best.has_value()) {
      best = k;
      continue;
    }
    const SettingScore& b = selection.settings[*best];
    const double lead = sign * (*s.mean - *b.mean);
    if (lead > 0 || (lead == 0 && s.lambda > b.lambda)) best = k;
  }
  return best;
}

}  // namespace

std::vector<double> default_lambdas(const Dataset& data, const Settings& settings, Monitor& monitor) {
  double size = 0;
  Poller poller(&monitor);
  if (settings.standardize) {
    size = data.dimensions();
  } else {
    for (std::int64_t i = 0; i < data.rows(); ++i) {
      const Row x = data.row(i);
      size += squared_norm(x) / static_cast<double>(data.rows());
      poller.work(x.count);
    }
  }
  if (settings.intercept) size += settings.intercept_scale * settings.intercept_scale;
  const int power = size > 0 && std::isfinite(size) ? static_cast<int>(std::lround(std::log10(size))) : 0;
  std::vector<double> lambdas;
  for (int k = 1; k <= 5; ++k) lambdas.push_back(std::strtod(("1e" + std::to_string(power - k)).c_str(), nullptr));
  return lambdas;
}

void follow_path(const Dataset& data, const Settings& given, const std::vector<double>& lambdas, Monitor& monitor,
                 double memory_left, const std::function<void(std::size_t, Model&&)>& visit) {
  Settings settings = given;
  std::optional<Standardization> standard;
  std::optional<Dataset> copy;
  if (given.standardize) {
    // Once for all models, which start from each other in these units.
    require_memory(8.0 * data.density() * static_cast<double>(data.rows()) * data.dimensions(), memory_left,
                   "the standardised copy of the rows");
    standard = measure(data, given.intercept, &monitor);
    copy.emplace(standardized(data, *standard, &monitor));
    if (memory_left >= 0) memory_left = std::max(0.0, memory_left - static_cast<double>(copy->bytes()));
    settings.standardize = false;
  }
  settings.dual_weights = true;
  for (const std::size_t k : falling(lambdas)) {
    settings.lambda = lambdas[k];
    Model model = train(copy ? *copy : data, settings, monitor, memory_left);
    settings.initial = start_at(model);
    if (!given.dual_weights) model.dual_weights.reset();
    if (standard) to_user_units(*standard, model.weights, model.intercept);
    visit(k, std::move(model));
  }
}

std::vector<Model> train_path(const Dataset& data, const SelectionOptions& options, Monitor& monitor,
                              double memory_left) {
  Settings settings = options.settings;
  settings.loss = options.losses.front();
  const std::vector<double> lambdas =
      options.lambdas.empty() ? default_lambdas(data, settings, monitor) : options.lambdas;
  std::vector<Model> models(lambdas.size());
  follow_path(data, settings, lambdas, monitor, memory_left,
              [&](std::size_t k, Model&& model) { models[k] = std::move(model); });
  return models;
}

std::vector<std::int32_t> stratified_folds(const Dataset& data, std::int32_t folds, std::uint64_t seed) {
  const std::int64_t n = data.rows();
  if (n < folds)
    throw Error(ErrorKind::invalid_value,
                "cross-validation has " + std::to_string(n) + " rows for " + std::to_string(folds) + " folds",
                "Give fewer folds, or more rows.");
  const bool classes = data.outcome() == Dataset::Outcome::classes;
  const std::vector<std::int32_t> rank = data.classes().ranks();
  std::vector<std::vector<std::int64_t>> strata(classes ? rank.size() : 1);
  for (std::int64_t i = 0; i < n; ++i)
    strata[classes ? static_cast<std::size_t>(rank[static_cast<std::size_t>(data.class_of(i))]) : 0].push_back(i);
  Random random(seed);
  std::vector<std::int32_t> fold(static_cast<std::size_t>(n));
  std::int32_t next = 0;
  for (std::vector<std::int64_t>& rows : strata) {
    if (classes && rows.size() < 2)
      throw Error(ErrorKind::invalid_value,
                  "class \"" + std::string(data.classes().name(data.class_of(rows.front()))) +
                      "\" has one row, cross-validation needs two or more of every class",
                  "Leave out rare classes with FILTER (WHERE ...).");
    for (std::size_t k = rows.size(); k > 1; --k) std::swap(rows[k - 1], rows[random.below(k)]);
    for (const std::int64_t i : rows) {
      fold[static_cast<std::size_t>(i)] = next;
      next = next + 1 == folds ? 0 : next + 1;
    }
  }
  return fold;
}

Selection cross_validate(const Dataset& data, const SelectionOptions& options, Monitor& monitor, double memory_left) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::int32_t> fold = stratified_folds(data, options.folds, options.settings.seed);
  if (options.metric == Metric::auc && data.classes().size() != 2)
    throw Error(ErrorKind::unsupported,
                "metric \"auc\" needs two classes, not " + std::to_string(data.classes().size()),
                "Use accuracy, or log_loss with the loss logistic.");
  const double lists = 40.0 * static_cast<double>(data.rows());  // row numbers, and a subset's addresses and labels
  require_memory(lists, memory_left, "cross-validation");
  if (memory_left >= 0) memory_left -= lists;

  Settings settings = options.settings;
  const std::vector<double> lambdas =
      options.lambdas.empty() ? default_lambdas(data, settings, monitor) : options.lambdas;
  Selection out;
  out.metric = options.metric;
  for (const std::string& loss : options.losses)
    for (const double lambda : lambdas)
      out.settings.push_back(
          {lambda, loss, std::vector<std::optional<double>>(static_cast<std::size_t>(options.folds)), {}, {}});
  HeldOut held_out(data, monitor);
  std::vector<std::int64_t> kept, left_out;
  for (std::int32_t f = 0; f < options.folds; ++f) {
    kept.clear();
    left_out.clear();
    for (std::int64_t i = 0; i < data.rows(); ++i)
      (fold[static_cast<std::size_t>(i)] == f ? left_out : kept).push_back(i);
    const Dataset part = data.subset(kept);
    for (std::size_t l = 0; l < options.losses.size(); ++l) {
      settings.loss = options.losses[l];
      follow_path(part, settings, lambdas, monitor, memory_left, [&](std::size_t k, Model&& model) {
        out.unfinished += model.status != Status::optimal;
        out.settings[l * lambdas.size() + k].folds[static_cast<std::size_t>(f)] =
            held_out.measure(model, left_out, options.metric);
      });
    }
  }
  for (SettingScore& s : out.settings) summarize(s);
  out.best = best_of(out);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace margin
