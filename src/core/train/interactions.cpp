#include "core/train/interactions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.hpp"
#include "core/data/coded_rows.hpp"
#include "core/loss/loss.hpp"
#include "core/loss/margin_loss.hpp"
#include "core/problem/problem.hpp"
#include "core/solvers/solver.hpp"

namespace margin {

namespace {

/// Of a column in the search, besides that of missing values.
constexpr std::int32_t search_levels = 8;
/// What is left of the optimum of the columns by themselves is far below what pairs gain.
constexpr double search_tolerance = 1e-3;
/// Numbers of pairs that cross-validation compares.
constexpr std::size_t tried[] = {5, 10, 20, 40};

/// A column of the rows in coarse levels.
struct Levels {
  std::size_t column;
  std::int32_t count;
  std::vector<std::uint8_t> of;  // each row; `none` of a category in no level
};
constexpr std::uint8_t none = 255;

std::vector<Levels> coarse_levels(const RowTable& table, const Encoder& encoder, const std::vector<Column>& cut,
                                  std::int64_t rows, const Progress& progress) {
  std::vector<Levels> out;
  std::vector<PairSide> sides;
  for (std::size_t j = 0; j < cut.size(); ++j) {
    if (!pairs_with_others(cut[j])) continue;
    PairSide side = side_of(cut[j], search_levels);
    if (side.levels() < 2) continue;
    side.bind(encoder.columns());
    out.push_back({j, side.levels(), {}});
    out.back().of.reserve(static_cast<std::size_t>(rows));
    sides.push_back(std::move(side));
  }
  table.for_each_row(progress, [&](std::int64_t, const Cells& cells) {
    progress.work(8.0 * static_cast<double>(sides.size()));
    for (std::size_t k = 0; k < sides.size(); ++k) {
      const std::int32_t level = sides[k].level(cells.values[sides[k].at]);
      out[k].of.push_back(level < 0 ? none : static_cast<std::uint8_t>(level));
    }
  });
  return out;
}

/// The losses of all rows at the scores of a model, for one output: weighted slopes and curvatures.
struct Slopes {
  std::vector<double> slope, curvature;
};

/// The scores of all rows for one output.
std::vector<double> scores_of(const Dataset& rows, const Scorer& scorer, std::int32_t output,
                              const Progress& progress) {
  constexpr std::int64_t piece = 4096;
  std::vector<double> out(static_cast<std::size_t>(rows.rows())), all(static_cast<std::size_t>(scorer.outputs));
  std::optional<RowScores> coded;
  if (rows.codes() != nullptr && scorer.columns == nullptr)
    coded.emplace(*rows.codes(), scorer.weights + std::ptrdiff_t{output} * scorer.dimensions);
  for (std::int64_t i = 0; i < rows.rows();) {
    if (coded.has_value()) {
      const std::int64_t end = std::min(rows.rows(), i + piece);
      coded->write(i, end, scorer.intercept[output], out.data() + i);
      progress.work(RowScores::work(rows.codes()->layout()) * static_cast<double>(end - i));
      i = end;
      continue;
    }
    const Row x = rows.row(i);
    score(scorer, x, rows.dimensions(), all.data());
    out[static_cast<std::size_t>(i++)] = all[static_cast<std::size_t>(output)];
    progress.work(4.0 * x.count);
  }
  return out;
}

Slopes slopes_of(const Problem& problem, const Model& model, std::int32_t output, const Progress& progress) {
  Slopes out;
  const Loss& loss = *problem.loss;
  const std::vector<double> scores = scores_of(problem.data, scorer_of(model), output, progress);
  for (std::int64_t i = 0; i < problem.rows(); ++i) {
    progress.work(32);
    const double u = (scores[static_cast<std::size_t>(i)] - problem.target_center) / problem.target_scale;
    const double y = problem.target(i, output), c = problem.weight(i);
    out.slope.push_back(c * loss.derivative(u, y));
    out.curvature.push_back(c * (loss.smooth() ? loss.second_derivative(u, y) : 1));
  }
  return out;
}

/// The sums of the cells of two columns.
class CellSums {
 public:
  CellSums(const Levels& a, const Levels& b)
      : a_(a), b_(b), cells_(static_cast<std::size_t>(a.count) * static_cast<std::size_t>(b.count)) {}

  void add(const Slopes& rows, const Progress& progress) {
    constexpr std::size_t piece = 4096;
    for (std::size_t begin = 0; begin < a_.of.size(); begin += piece) {
      const std::size_t end = std::min(begin + piece, a_.of.size());
      progress.work(8.0 * static_cast<double>(end - begin));
      for (std::size_t i = begin; i < end; ++i) {
        if (a_.of[i] == none || b_.of[i] == none) continue;
        Cell& cell = cells_[static_cast<std::size_t>(a_.of[i]) * static_cast<std::size_t>(b_.count) + b_.of[i]];
        cell.slope += rows.slope[i];
        cell.curvature += rows.curvature[i];
        cell.square += rows.slope[i] * rows.slope[i];
      }
    }
  }

  /// Takes away what a function of the one and of the other column would, by turns.
  void leave_out_additive() {
    constexpr int rounds = 4;
    for (int round = 0; round < rounds; ++round) {
      for (std::int32_t i = 0; i < a_.count; ++i) step(i * b_.count, 1, b_.count);
      for (std::int32_t j = 0; j < b_.count; ++j) step(j, b_.count, a_.count);
    }
  }

  double gain(double ridge) const {
    const double noise = (1 - 1.0 / a_.count) * (1 - 1.0 / b_.count);
    double sum = 0;
    for (const Cell& c : cells_)
      if (c.curvature + ridge > 0) sum += (c.slope * c.slope - noise * c.square) / (c.curvature + ridge);
    return sum;
  }

 private:
  struct Cell {
    double slope = 0, curvature = 0, square = 0;
  };
  /// The best constant for `count` cells from `first` on.
  void step(std::int32_t first, std::int32_t stride, std::int32_t count) {
    double slope = 0, curvature = 0;
    const auto each = [&](auto f) {
      for (std::int32_t k = 0; k < count; ++k) f(cells_[static_cast<std::size_t>(first + k * stride)]);
    };
    each([&](const Cell& c) { slope += c.slope, curvature += c.curvature; });
    if (!(curvature > 0)) return;
    const double move = -slope / curvature;
    each([&](Cell& c) { c.slope += move * c.curvature; });
  }

  const Levels &a_, &b_;
  std::vector<Cell> cells_;
};

Options plain_settings(const Options& settings) {
  Options out = settings;
  out.interactions = {};
  out.tolerance = std::max(out.tolerance, search_tolerance);
  out.multiclass = Multiclass::one_vs_rest;  // what pairs gain of each class against the others
  out.calibration = Calibrate::none;
  out.history = out.dual_weights = false;
  out.initial.reset();
  return out;
}

/// The middle of the lambdas that are to be compared.
double middle_lambda(const SelectionOptions& options, const Dataset& rows, const Progress& progress) {
  std::vector<double> list = options.lambdas;
  for (const double cost : options.costs) list.push_back(1 / (cost * static_cast<double>(rows.rows())));
  if (list.empty()) list = default_lambdas(rows, options.settings, progress);
  std::sort(list.begin(), list.end());
  return list[list.size() / 2];
}

/// The best mean that cross-validation finds of some rows, and its lambda.
class BestMean {
 public:
  BestMean(SelectionOptions selection, const Progress& progress, const MemoryBudget& memory, const std::int32_t* fold)
      : selection_(std::move(selection)), progress_(progress), memory_(memory), fold_(fold) {}

  /// Of rows without pairs, at all lambdas of the selection.
  std::optional<double> without_pairs(const Dataset& rows) {
    const Selection found = compare(rows);
    if (!found.best.has_value() || !selection_.costs.empty()) return mean_of(found);
    for (const SettingScore& s : found.settings) lambdas_.push_back(s.lambda);
    std::sort(lambdas_.begin(), lambdas_.end());
    lambdas_.erase(std::unique(lambdas_.begin(), lambdas_.end()), lambdas_.end());
    best_ = at(found.settings[*found.best].lambda);
    return mean_of(found);
  }

  /// Of rows with pairs. These move the best lambda, upwards as a rule, but not by much: it is looked for from the last best one on,
  /// among its neighbours and, where one of them is better, the neighbours of that one.
  std::optional<double> with_pairs(const Dataset& rows) {
    if (lambdas_.empty()) return mean_of(compare(rows));
    std::optional<double> top;
    std::size_t first = best_ - std::min<std::size_t>(best_, 1), end = std::min(best_ + 2, lambdas_.size());
    for (;;) {
      const std::ptrdiff_t from = static_cast<std::ptrdiff_t>(first), to = static_cast<std::ptrdiff_t>(end);
      selection_.lambdas.assign(lambdas_.begin() + from, lambdas_.begin() + to);
      const Selection found = compare(rows);
      const std::optional<double> mean = mean_of(found);
      if (!mean.has_value() || (top.has_value() && !better(*mean, *top))) return top;
      top = mean;
      const std::size_t last = best_;
      best_ = at(found.settings[*found.best].lambda);
      if (best_ > last && end < lambdas_.size())
        first = end, ++end;
      else if (best_ < last && first > 0)
        end = first, --first;
      else
        return top;
    }
  }

  /// The best one so far; none of costs.
  std::optional<double> lambda() const {
    return lambdas_.empty() ? std::nullopt : std::optional<double>(lambdas_[best_]);
  }
  bool better(double mean, double than) const {
    return larger_is_better(selection_.metric) ? mean > than : mean < than;
  }

 private:
  Selection compare(const Dataset& rows) { return cross_validate(rows, selection_, progress_, memory_, fold_); }
  static std::optional<double> mean_of(const Selection& found) {
    return found.best.has_value() ? found.settings[*found.best].mean : std::nullopt;
  }
  std::size_t at(double lambda) const {
    return static_cast<std::size_t>(std::lower_bound(lambdas_.begin(), lambdas_.end(), lambda) - lambdas_.begin());
  }

  SelectionOptions selection_;
  const Progress& progress_;
  const MemoryBudget& memory_;
  const std::int32_t* fold_;
  std::vector<double> lambdas_;  // ascending; none where the selection has costs or no best
  std::size_t best_ = 0;         // of lambdas_
};

void require_soft(const Options& settings) {
  if (settings.lambda.has_value() && *settings.lambda > 0 && settings.loss != interpolate_loss &&
      settings.learners == Learners::features && settings.kernel.empty())
    return;
  throw Error(ErrorKind::unsupported,
              "option \"interactions\" searches pairs beside a linear model with a lambda above 0",
              "Give lambda, or name the pairs: interactions => '{age*income}'.");
}

}  // namespace

std::vector<PairGain> pair_gains(const RowTable& table, const Encoder& encoder, const std::vector<Column>& cut,
                                 const Dataset& rows, const Options& settings, const Progress& progress,
                                 MemoryBudget memory) {
  const auto n = static_cast<double>(rows.rows());
  memory.take(n * (static_cast<double>(cut.size()) + 16), "the search for pairs of columns");
  const Options plain = plain_settings(settings);
  const Model model = train(rows, plain, progress, memory);
  const Problem problem = make_problem(rows, plain, {}, progress);
  const std::vector<Levels> levels = coarse_levels(table, encoder, cut, rows.rows(), progress);
  std::vector<PairGain> out;
  for (std::size_t a = 0; a < levels.size(); ++a)
    for (std::size_t b = a + 1; b < levels.size(); ++b) out.push_back({{levels[a].column, levels[b].column}, 0});
  const double ridge = problem.lambda * problem.total_weight;
  for (std::int32_t o = 0; o < problem.outputs(); ++o) {
    const Slopes slopes = slopes_of(problem, model, o, progress);
    auto pair = out.begin();
    for (std::size_t a = 0; a < levels.size(); ++a)
      for (std::size_t b = a + 1; b < levels.size(); ++b, ++pair) {
        CellSums sums(levels[a], levels[b]);
        sums.add(slopes, progress);
        sums.leave_out_additive();
        pair->gain += sums.gain(ridge);
      }
  }
  out.erase(std::remove_if(out.begin(), out.end(), [](const PairGain& p) { return !(p.gain > 0); }), out.end());
  std::stable_sort(out.begin(), out.end(), [](const PairGain& a, const PairGain& b) { return a.gain > b.gain; });
  return out;
}

SelectionOptions one_selection(const Options& settings) {
  SelectionOptions out;
  out.settings = settings;
  if (settings.lambda.has_value()) out.lambdas = {*settings.lambda};
  out.losses = {settings.loss.empty() ? "hinge" : settings.loss};
  return out;
}

void complete_selection(SelectionOptions& s) {
  if (!s.grid.empty()) return;  // it is one of a cross-validation
  s.metric = usual_metric(s);
  if (s.metric == Metric::accuracy && make_loss(s.losses.front(), s.settings)->has_probability())
    s.metric = Metric::log_loss;
  Options settings = s.settings;
  settings.tolerance = std::max(settings.tolerance, search_tolerance);
  settings.history = settings.dual_weights = false;
  settings.calibration = Calibrate::none;
  s.grid.push_back({{}, std::move(settings)});
}

void name_pairs(Value::Object& options, const Encoder& encoder) {
  if (options.erase("interactions") == 0 || encoder.pairs().empty()) return;
  Value::Array names;
  for (const PairTerm& p : encoder.pairs()) names.emplace_back().data = p.name();
  options["interactions"].data = std::move(names);
}

EncodedTable with_interactions(const RowTable& table, const Encoder& encoder, const Dataset& rows,
                               const SelectionOptions& options, const Progress& progress, MemoryBudget memory,
                               const std::int32_t* fold) {
  Options settings = options.settings;
  const Interactions& wanted = settings.interactions;
  const bool codes = prefers_codes(options), several = options.lambdas.size() != 1;
  if (settings.lambda.has_value() && several) settings.lambda = middle_lambda(options, rows, progress);
  require_soft(settings);
  std::optional<BestMean> best_mean;
  std::optional<double> top;
  if (wanted.chosen) {
    SelectionOptions selection = options;
    complete_selection(selection);
    selection.certified.reset();
    selection.predictions = false;
    best_mean.emplace(std::move(selection), progress, memory, fold);
    top = best_mean->without_pairs(rows);
    if (several && best_mean->lambda().has_value()) settings.lambda = best_mean->lambda();
  }
  const std::vector<Column> cut = table.cut_columns(encoder, progress, memory);
  const std::vector<PairGain> gains = pair_gains(table, encoder, cut, rows, settings, progress, memory);
  const auto best = [&](std::size_t count) {
    std::vector<ColumnPair> pairs;
    for (std::size_t p = 0; p < std::min(count, gains.size()); ++p) pairs.push_back(gains[p].columns);
    EncodedTable out;
    if (pairs.empty()) return out;
    out.encoder = table.with_pairs(encoder, cut, pairs, progress);
    MemoryBudget own = memory;
    out.rows = table.encode(*out.encoder, progress, own, codes);
    return out;
  };
  if (!wanted.chosen) return best(static_cast<std::size_t>(wanted.screened));
  EncodedTable kept;
  std::size_t before = 0;
  for (const std::size_t count : tried) {
    if (before >= gains.size()) break;
    before = std::min(count, gains.size());
    EncodedTable more = best(before);
    const std::optional<double> mean = best_mean->with_pairs(*more.rows);
    if (!mean.has_value() || (top.has_value() && !best_mean->better(*mean, *top))) break;
    top = mean;
    kept = std::move(more);
  }
  return kept;
}

}  // namespace margin
