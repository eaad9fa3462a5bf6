#include "core/scans/methods/band_output.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/scans/methods/box_ascent.hpp"
#include "core/solvers/newton/augmented_lagrangian.hpp"

namespace margin {

namespace {

using Vector = std::vector<double>;

// The first smoothing of a model: of its width, and as a share of the distance to the nearest row that is not in memory.
constexpr double first_kappa = 0.4, first_width = 0.2;
// How much sharper the last smoothing of a wide model is than the first one of the next. From that last one on, a scan's new rows took
// 60 to 120 steps of 0.2 s, 30 of them in vain; of softer ones there are 15 to 30.
constexpr double softer = 25;
constexpr double unbalanced = 1e-3;  // of the dual values
constexpr int most_steps = 400, most_epochs = 4000;

}  // namespace

void require_bound(double lower, double value) {
  if (lower > value + 1e-9 * std::fabs(value))
    throw Error(ErrorKind::invalid_value,
                "the scans contradict each other: a bound of the optimum lies above a value that was reached",
                "Do the rows change between the scans, as those of a foreign table without a snapshot may?");
}

BandOutput::BandOutput(const ScanProblem& problem, std::int32_t output, std::size_t columns, double constant)
    : w(columns, 0.0),
      p_(problem),
      output_(output),
      constant_(constant),
      rows_(problem),
      a_(rows_.size(), std::numeric_limits<double>::quiet_NaN()),
      group_a_(rings_of_output * Rings::sides, std::numeric_limits<double>::quiet_NaN()) {
  if (p_.sample().one_class()) dual = -infinity;
}

void BandOutput::take(const std::shared_ptr<Scanned>& scanned, const Progress& progress) {
  if (best != nullptr && rows_.too_many(scanned->question.bag_bytes)) forget();
  rows_.take(scanned->answer.bag(output_), progress);
  a_.resize(rows_.size(), std::numeric_limits<double>::quiet_NaN());
  const double value = scanned->check.primal(output_);
  if (p_.sample().one_class()) dual = std::max(dual, scanned->check.dual(output_));
  if (value > primal) {
    proximal = proximal == 0 ? 1 : 4 * proximal;
    return;
  }
  proximal = proximal < 0.1 ? 0 : proximal / 4;
  primal = value;
  best = scanned;
}

/// Those rows stay that are nearest to a kink at the best weights.
void BandOutput::forget() {
  const Question& q = best->question;
  const Problem problem = p_.over(rows_.rows());
  const Loss& loss = *problem.loss;
  Vector distance(rows_.size()), a;
  for (std::size_t i = 0; i < distance.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const double y = problem.target(row, output_);
    const double u = dot(rows_.rows().row(row), q.weights.row(output_).data()) + q.intercepts(output_);
    distance[i] = std::fabs(loss.slack(u, y, -loss.derivative(u, y)));
  }
  for (const std::int64_t i : rows_.forget(distance)) a.push_back(a_[static_cast<std::size_t>(i)]);
  a_ = std::move(a);
}

/// The rows in memory, and the others as linear pieces, at the best weights. Behind those rows, one for each group of
/// rows near a kink (scans/rings.hpp), which has the mean features and target of those that are not in memory: as losses
/// are convex, its loss is at most theirs, wherever they are.
struct BandOutput::Pieces {
  Pieces(const BandOutput& output, ScanRun& run);

  struct Group {
    std::int32_t index;
    double slope;     ///< the dual value that the scan gave all of its rows
    RingSums sums;    ///< of all
    RingSums others;  ///< of those that are not in memory
  };
  void place(const BandOutput& output, const Progress& progress);
  void take_groups(const BandOutput& output, const Progress& progress);
  Dataset with_groups(const BandOutput& output) const;

  const Question& question;
  Problem held;                     ///< the rows in memory
  Vector center, side;              ///< the best weights; the dual values that the scan gave the rows
  std::vector<std::int64_t> which;  ///< those that leave their piece
  std::vector<std::int32_t> group;  ///< of each row: its index in `groups`, −1 for none
  std::vector<char> far;            ///< sampled ones that are too far from a kink for all like them to be in memory
  std::vector<Group> groups;
  Dataset data;  ///< rows and groups
  Problem problem;
  NewtonProblem all;
  Vector linear;  ///< Σ cost a x of all rows but `which`
};

BandOutput::Pieces::Pieces(const BandOutput& o, ScanRun& run)
    : question(o.best->question),
      held(o.p_.over(o.rows_.rows())),
      center(o.w.size()),
      side(o.rows_.size()),
      group(o.rows_.size(), -1),
      far(o.rows_.size(), 0),
      data((place(o, run.progress()), take_groups(o, run.progress()), with_groups(o))),
      problem(o.p_.over(data)),
      all(o.rows_.newton(problem, o.output_,
                         o.w.size() <= static_cast<std::size_t>(Answer::most_matrix_columns)
                             ? NewtonProblem::Systems::cholesky
                             : NewtonProblem::Systems::conjugate_gradients,
                         run.run())),
      linear(o.w.size()) {
  const double unit = 1 / (question.lambda * problem.total_weight);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const RingSums& others = groups[g].others;
    all.cost[o.rows_.size() + g] = unit * others.weight;
    all.y[o.rows_.size() + g] = problem.one_class() ? 0 : others.target;
  }
  const auto d = static_cast<std::size_t>(problem.dimensions());
  Vector coefficient(all.y.size(), 0.0);
  for (const std::int64_t row : which) {
    const auto i = static_cast<std::size_t>(row);
    coefficient[i] = all.cost[i] * side[i];
  }
  all.rows.combine(coefficient.data(), linear.data());
  const Weights sums = o.best->answer.sums();
  for (std::size_t j = 0; j < d; ++j) linear[j] = unit * sums(o.output_, static_cast<Eigen::Index>(j)) - linear[j];
  if (o.constant_ != 0) linear[d] = unit * o.best->answer.constant_sum(o.output_) - linear[d];
  if (problem.one_class()) linear[d] -= 1 / question.lambda;  // its objective has b besides
}

/// Which rows leave their piece, and where they lie.
void BandOutput::Pieces::place(const BandOutput& o, const Progress& progress) {
  const Loss& loss = *held.loss;
  const double reach = o.best->reach(o.output_);
  const auto d = static_cast<std::size_t>(held.dimensions());
  const Rings rings(question.rings, question.outputs());
  for (std::size_t j = 0; j < d; ++j) center[j] = question.weights(o.output_, static_cast<Eigen::Index>(j));
  if (o.constant_ != 0) center[d] = question.intercepts(o.output_) / o.constant_;
  const double size = std::sqrt(simd().dot_dd(center.data(), center.data(), d));
  for (std::size_t i = 0; i < side.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const Row x = o.rows_.rows().row(row);
    const double y = held.target(row, o.output_), u = dot(x, center.data()) + question.intercepts(o.output_);
    side[i] = settled_dual(loss, u, y);
    progress.work(3.0 * x.count + 64);
    // Where rounding might tell on which piece the scan saw a row, or in which group, it stays there.
    const double hair = 1e-12 * (std::fabs(u) + std::fabs(y) + norm(x) * size);
    if (settled_dual(loss, u - hair, y) != settled_dual(loss, u + hair, y)) continue;
    group[i] = rings.group_of(loss, o.output_, u, y);
    if (rings.group_of(loss, o.output_, u - hair, y) != group[i] ||
        rings.group_of(loss, o.output_, u + hair, y) != group[i])
      continue;
    which.push_back(row);
    if (o.rows_.stands_for(i) > 1) far[i] = std::fabs(loss.slack(u, y, -loss.derivative(u, y))) > reach;
  }
}

/// The groups of which most is not in memory.
void BandOutput::Pieces::take_groups(const BandOutput& o, const Progress& progress) {
  constexpr double least_share = 1e-6;
  const Rings rings(question.rings, question.outputs());
  const auto count = static_cast<std::size_t>(rings.groups());
  std::vector<RingSums> sums = ring_sums(o.best->answer, o.output_, question.outputs(), rings.groups());
  std::vector<RingSums> others(sums);
  const auto scale = [](RingSums& of, double factor) {
    for (double& v : of.x) v *= factor;
    of.target *= factor;
  };
  for (RingSums& left : others) scale(left, left.weight);
  for (const std::int64_t row : which) {
    const auto i = static_cast<std::size_t>(row);
    if (group[i] < 0) continue;
    RingSums& left = others[static_cast<std::size_t>(group[i])];
    const double c = held.weight(row) / o.rows_.stands_for(i);
    if (!(c > 0) || left.x.empty()) continue;
    const Row x = o.rows_.rows().row(row);
    left.weight -= c;
    add(-c, x, left.x.data());
    left.target -= c * held.target(row, o.output_);
    progress.work(x.count + 16.0);
  }
  std::vector<std::int32_t> place_of(count, -1);
  for (std::size_t g = 0; g < count; ++g) {
    if (!(others[g].weight > least_share * sums[g].weight)) continue;
    scale(others[g], 1 / others[g].weight);
    place_of[g] = static_cast<std::int32_t>(groups.size());
    groups.push_back({static_cast<std::int32_t>(g), Rings::slope(*held.loss, static_cast<std::int32_t>(g)),
                      std::move(sums[g]), std::move(others[g])});
  }
  for (std::int32_t& g : group)
    if (g >= 0) g = place_of[static_cast<std::size_t>(g)];
}

Dataset BandOutput::Pieces::with_groups(const BandOutput& o) const {
  std::vector<std::int64_t> rows(o.rows_.size());
  std::iota(rows.begin(), rows.end(), 0);
  Dataset all = o.rows_.rows().subset(rows);
  for (const Group& g : groups) {
    const FeatureRow x = dense_row(g.others.x.data(), static_cast<std::int32_t>(g.others.x.size()));
    if (held.task == Task::regression)
      all.append(x, g.others.target, 1.0);
    else
      all.append(x, o.label_of(g.others.target > 0), 1.0);
  }
  return all;
}

/// The minimum of the model. `guess`: sampled rows far from a kink stand for others like them, too, with a linear term
/// that leaves the gradient as it is: no bound of P then, but a better idea of where its minimum is.
void BandOutput::minimise(Pieces& pieces, bool guess, double wanted, ScanRun& run) {
  const BoxLoss box(*pieces.problem.loss);
  std::vector<std::int64_t> which = pieces.which;
  Vector fixed = pieces.linear;
  if (!guess) add_groups(pieces, which, fixed);
  const double pull = guess ? proximal : 0;
  // A free intercept is pulled to the best one as well: as one that is penalised, by its distance from there.
  std::optional<Problem> anchored;
  std::optional<NewtonProblem> pulled;
  if (pull > 0 && pieces.problem.free_intercept && constant_ != 0) {
    anchored.emplace(pieces.problem);
    anchored->free_intercept = false;
    anchored->intercept_scale = 1;
    pulled.emplace(rows_.newton(*anchored, output_, pieces.all.systems, run.run()));
  }
  NewtonProblem part(pulled.has_value() ? *pulled : pieces.all, which, 1.0);
  if (guess) {
    Vector moved(pieces.all.y.size(), 0.0), sum(w.size());
    for (std::size_t k = 0; k < pieces.which.size(); ++k) {
      const auto i = static_cast<std::size_t>(pieces.which[k]);
      if (pieces.far[i] == 0) continue;
      moved[i] = (rows_.stands_for(i) - 1) * part.cost[k] * pieces.side[i];
      part.cost[k] *= rows_.stands_for(i);
    }
    pieces.all.rows.combine(moved.data(), sum.data());
    for (std::size_t j = 0; j < w.size(); ++j) fixed[j] -= sum[j];
    for (double& c : part.cost) c /= 1 + pull;
    for (std::size_t j = 0; j < w.size(); ++j)
      fixed[j] = (fixed[j] + (part.rows.penalizes(j) ? pull * pieces.center[j] : 0)) / (1 + pull);
    if (pulled.has_value()) fixed.back() += pieces.center.back() / (1 + pull);
  }
  const Vector start = kappa_ > 0 ? w : pieces.center;
  Vector u(part.y.size()), a(part.y.size());
  part.rows.scores(start.data(), u.data());
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double y = part.y[k], low = box.low(y), high = box.high(y);
    const double known = dual_of(pieces, which[k]);
    a[k] = !std::isnan(known) ? known : box.epsilon > 0 ? 0.5 * (y > u[k] ? high : low) : 0.5 * (low + high);
  }
  Vector found;
  const double before = kappa_;
  double off = fixed.back(), mass = std::fabs(off);
  if (part.systems == NewtonProblem::Systems::cholesky) {
    kappa_ = smoothing(part, u);
    AugmentedLagrangian model(part, box, std::move(fixed));
    model.largest_kappa /= residual_scale(part, u);
    model.w = start;
    model.u = std::move(u);
    model.a = std::move(a);
    model.kappa = kappa_;
    model.solve(wanted / pieces.question.lambda, most_steps, 0, 0, nullptr);
    kappa_ = model.kappa;
    found = model.w;
    a = std::move(model.a);
  } else {
    kappa_ = 1;
    found = box_ascent(part, fixed, a, wanted / pieces.question.lambda, most_epochs, pieces.question.seed);
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    dual_of(pieces, which[k]) = a[k];
    off += part.cost[k] * a[k];
    mass += std::fabs(part.cost[k] * a[k]);
  }
  // Where nothing balances a free intercept, the model falls along it without end: it says nothing of where to go.
  if (part.rows.free_intercept() && std::fabs(off) > unbalanced * mass) {
    kappa_ = before;
    if (guess) proximal = 1;
    if (guess) minimise(pieces, true, wanted, run);
    return;
  }
  // Where guesses failed again and again, the bound's own minimum is the next one.
  if (guess || proximal > 4) w = std::move(found);
}

/// Each group leaves its piece as one more row.
void BandOutput::add_groups(const Pieces& pieces, std::vector<std::int64_t>& which, Vector& fixed) const {
  Vector pieces_of(pieces.all.y.size(), 0.0), sum(fixed.size());
  for (std::size_t g = 0; g < pieces.groups.size(); ++g) {
    const std::size_t i = rows_.size() + g;
    which.push_back(static_cast<std::int64_t>(i));
    pieces_of[i] = pieces.all.cost[i] * pieces.groups[g].slope;
  }
  pieces.all.rows.combine(pieces_of.data(), sum.data());
  for (std::size_t j = 0; j < fixed.size(); ++j) fixed[j] -= sum[j];
}

/// The dual value of a row, or of a group, whose last one is that of the group at its place before.
double& BandOutput::dual_of(const Pieces& pieces, std::int64_t row) {
  const auto i = static_cast<std::size_t>(row);
  return i < rows_.size() ? a_[i] : group_a_[static_cast<std::size_t>(pieces.groups[i - rows_.size()].index)];
}

/// κ to begin a model with. Of the first one: as wide a smoothing as the rows in memory reach; of the next one: the last.
/// Of a wide model a smoothing that few steps solve, however few of the rows near a kink are in memory.
double BandOutput::smoothing(const NewtonProblem& part, const Vector& u) const {
  const bool wide = wide_model(w.size());
  if (kappa_ > 0 && !wide) return kappa_;
  const double scale = residual_scale(part, u);
  const double softest = first_kappa / scale;
  if (wide) return kappa_ > 0 ? std::min(kappa_, std::max(softest, kappa_ / softer)) : softest;
  return std::max(softest, 1 / (first_width * std::clamp(best->reach(output_), 1e-6 * scale, scale)));
}

/// The dual value of the rows in memory at their own dual values, and of the others on their pieces or, with `groups`, at
/// the value of their group.
void BandOutput::prove(const Pieces& pieces, bool groups, const Progress& progress) {
  auto check = std::make_shared<RiskCheck>(best->check);
  for (std::size_t g = 0; groups && g < pieces.groups.size(); ++g) {
    const Pieces::Group& of = pieces.groups[g];
    const double a = group_a_[static_cast<std::size_t>(of.index)];
    if (a == of.slope) continue;
    CheckedRow mean{};
    const Row x = dense_row(of.sums.x.data(), static_cast<std::int32_t>(of.sums.x.size()));
    mean.x = x;
    mean.label = p_.class_names.empty() ? -1 : label_of(of.sums.target > 0);
    mean.target = of.sums.target;
    mean.loss_weight = of.sums.weight;
    check->replace_duals(mean, {of.sums.rows, of.sums.length, of.sums.target_size}, output_, of.slope, a);
  }
  for (const std::int64_t row : pieces.which) {
    const auto i = static_cast<std::size_t>(row);
    CheckedRow checked = checked_row(pieces.held, row);
    checked.loss_weight /= rows_.stands_for(i);
    const double before =
        groups && pieces.group[i] >= 0
            ? group_a_[static_cast<std::size_t>(pieces.groups[static_cast<std::size_t>(pieces.group[i])].index)]
            : pieces.side[i];
    if (a_[i] != before) check->replace_dual(checked, output_, before, a_[i]);
    progress.work(checked.x.count + 32.0);
  }
  check->find_multipliers(progress);
  const double found = check->dual(output_);
  require_bound(found, primal);
  if (!(found > dual)) return;
  dual = found;
  proof = std::move(check);
}

/// A class whose rows have the target 1, or −1, in this output.
std::int32_t BandOutput::label_of(bool positive) const {
  if (p_.outputs() == 1) return positive ? 1 : 0;
  return positive ? output_ : (output_ + 1) % p_.outputs();
}

/// Where the next scan draws its rings: by the sampled rows' distances from a kink. None where the sums of the groups would
/// be longer than what scans may keep of rows.
std::vector<double> BandOutput::edges(const Question& asked, const Progress& progress) const {
  const double groups = 16.0 * p_.outputs() * rings_of_output * Rings::sides;
  if (groups * asked.width() > static_cast<double>(p_.bag_bytes)) return {};
  const Problem& sample = p_.sample();
  const double size = asked.weights.row(output_).norm();
  double scale = 1;
  Vector distances;
  for (std::int64_t i = 0; i < sample.rows(); ++i) {
    if (!(sample.weight(i) > 0)) continue;
    const Row x = sample.data.row(i);
    const double u = dot(x, asked.weights.row(output_).data()) + asked.intercepts(output_),
                 y = sample.target(i, output_);
    distances.push_back(kink_distance(*sample.loss, u, y));
    progress.work(2.0 * x.count + 32);
    scale = std::max(scale, std::fabs(u) + std::fabs(y) + norm(x) * size);
  }
  return ring_edges(std::move(distances), scale);
}

void BandOutput::solve_model(double wanted, double enough, ScanRun& run) {
  Pieces pieces(*this, run);
  minimise(pieces, true, wanted, run);
  prove(pieces, false, run.progress());
  if (primal - dual <= enough) return;
  minimise(pieces, false, wanted, run);
  prove(pieces, true, run.progress());
}

}  // namespace margin
