#include "core/scans/methods/band_output.hpp"

#include <algorithm>
#include <cmath>

#include "core/scans/methods/box_ascent.hpp"
#include "core/solvers/newton/augmented_lagrangian.hpp"

namespace margin {

namespace {

using Vector = std::vector<double>;

// The first smoothing of a model: of its width, and as a share of the distance to the nearest row that is not in memory.
constexpr double first_kappa = 0.4, first_width = 0.2;
constexpr int most_steps = 400, most_epochs = 4000;

}  // namespace

BandOutput::BandOutput(const ScanProblem& problem, std::int32_t output, std::size_t columns, double constant)
    : w(columns, 0.0),
      p_(problem),
      output_(output),
      constant_(constant),
      rows_(problem),
      a_(rows_.size(), std::numeric_limits<double>::quiet_NaN()) {}

void BandOutput::take(const std::shared_ptr<Scanned>& scanned) {
  if (best != nullptr && rows_.too_many(scanned->question.bag_bytes)) forget();
  rows_.take(scanned->answer.bag(output_));
  a_.resize(rows_.size(), std::numeric_limits<double>::quiet_NaN());
  const double value = scanned->check.primal(output_);
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

/// The rows in memory, and the others as linear pieces, at the best weights.
struct BandOutput::Pieces {
  Pieces(const BandOutput& output, ScanRun& run);

  const Question& question;
  Problem problem;
  NewtonProblem all;                ///< the rows in memory
  Vector center, side;              ///< the best weights; the dual values that the scan gave the rows
  std::vector<std::int64_t> which;  ///< those that leave their piece
  std::vector<char> far;            ///< sampled ones that are too far from a kink for all like them to be in memory
  Vector linear;                    ///< Σ cost a x of all rows but `which`
};

BandOutput::Pieces::Pieces(const BandOutput& o, ScanRun& run)
    : question(o.best->question),
      problem(o.p_.over(o.rows_.rows())),
      all(o.rows_.newton(problem, o.output_,
                         o.w.size() <= static_cast<std::size_t>(Answer::most_matrix_columns)
                             ? NewtonProblem::Systems::cholesky
                             : NewtonProblem::Systems::conjugate_gradients,
                         run.run())),
      center(o.w.size()),
      side(all.y.size()),
      far(all.y.size(), 0),
      linear(o.w.size()) {
  const Loss& loss = *problem.loss;
  const double reach = o.best->reach(o.output_);
  const auto d = static_cast<std::size_t>(problem.dimensions());
  for (std::size_t j = 0; j < d; ++j) center[j] = question.weights(o.output_, static_cast<Eigen::Index>(j));
  if (o.constant_ != 0) center[d] = question.intercepts(o.output_) / o.constant_;
  const double size = std::sqrt(simd().dot_dd(center.data(), center.data(), d));
  Vector coefficient(all.y.size(), 0.0);
  for (std::size_t i = 0; i < all.y.size(); ++i) {
    const Row x = o.rows_.rows().row(static_cast<std::int64_t>(i));
    const double y = all.y[i], u = dot(x, center.data()) + question.intercepts(o.output_);
    side[i] = settled_dual(loss, u, y);
    // Where rounding might tell on which piece the scan saw a row, it stays there.
    const double hair = 1e-12 * (1 + std::fabs(u) + std::fabs(y) + norm(x) * size);
    if (settled_dual(loss, u - hair, y) != settled_dual(loss, u + hair, y)) continue;
    which.push_back(static_cast<std::int64_t>(i));
    if (o.rows_.stands_for(i) > 1) far[i] = std::fabs(loss.slack(u, y, -loss.derivative(u, y))) > reach;
    coefficient[i] = all.cost[i] * side[i];
  }
  all.rows.combine(coefficient.data(), linear.data());
  const double unit = 1 / (question.lambda * problem.total_weight);
  const Weights sums = o.best->answer.sums();
  for (std::size_t j = 0; j < d; ++j) linear[j] = unit * sums(o.output_, static_cast<Eigen::Index>(j)) - linear[j];
  if (o.constant_ != 0) linear[d] = unit * o.best->answer.constant_sum(o.output_) - linear[d];
}

/// The minimum of the model. `guess`: sampled rows far from a kink stand for others like them, too, with a linear term
/// that leaves the gradient as it is: no bound of P then, but a better idea of where its minimum is.
void BandOutput::minimise(Pieces& pieces, bool guess, double wanted) {
  const Loss& loss = *pieces.problem.loss;
  const BoxLoss box(loss);
  NewtonProblem part(pieces.all, pieces.which, 1.0);
  Vector fixed = pieces.linear;
  const double pull = guess ? proximal : 0;
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
    for (std::size_t j = 0; j < w.size(); ++j) fixed[j] = (fixed[j] + pull * pieces.center[j]) / (1 + pull);
  }
  const Vector start = kappa_ > 0 ? w : pieces.center;
  Vector u(part.y.size()), a(part.y.size());
  part.rows.scores(start.data(), u.data());
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double y = part.y[k], low = box.low(y), high = box.high(y);
    const double before = a_[static_cast<std::size_t>(pieces.which[k])];
    a[k] = !std::isnan(before) ? before : box.epsilon > 0 ? 0.5 * (y > u[k] ? high : low) : 0.5 * (low + high);
  }
  Vector found;
  if (part.systems == NewtonProblem::Systems::cholesky) {
    if (kappa_ == 0) kappa_ = first_smoothing(part, u);
    AugmentedLagrangian model(part, box, std::move(fixed));
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
  for (std::size_t k = 0; k < a.size(); ++k) a_[static_cast<std::size_t>(pieces.which[k])] = a[k];
  if (guess) w = std::move(found);
}

/// κ of the first model: as wide a smoothing as the rows in memory reach.
double BandOutput::first_smoothing(const NewtonProblem& part, const Vector& u) const {
  double scale = 1;
  if (!part.loss.classification()) {
    double sum = 0;
    for (std::size_t k = 0; k < u.size(); ++k) sum += std::fabs(part.y[k] - u[k]);
    if (sum > 0) scale = sum / static_cast<double>(u.size());
  }
  return std::max(first_kappa / scale, 1 / (first_width * std::clamp(best->reach(output_), 1e-6 * scale, scale)));
}

/// The dual value of the rows in memory at their own dual values, and of the others on their pieces.
void BandOutput::prove(const Pieces& pieces, const Progress& progress) {
  auto check = std::make_shared<RiskCheck>(best->check);
  for (const std::int64_t row : pieces.which) {
    const auto i = static_cast<std::size_t>(row);
    CheckedRow checked = checked_row(pieces.problem, row);
    checked.loss_weight /= rows_.stands_for(i);
    if (a_[i] != pieces.side[i]) check->replace_dual(checked, output_, pieces.side[i], a_[i]);
    progress.work(checked.x.count + 32.0);
  }
  const double found = check->dual(output_);
  // Each is a bound of the optimum from its side, for the same rows.
  if (found > primal * (1 + 1e-9))
    throw Error(ErrorKind::invalid_value,
                "the scans contradict each other: a bound of the optimum lies above a value that was reached",
                "Do the rows change between the scans, as those of a foreign table without a snapshot may?");
  if (!(found > dual)) return;
  dual = found;
  proof = std::move(check);
}

void BandOutput::solve_model(double wanted, double enough, ScanRun& run) {
  Pieces pieces(*this, run);
  minimise(pieces, true, wanted);
  prove(pieces, run.progress());
  if (primal - dual <= enough) return;
  minimise(pieces, false, wanted);
  prove(pieces, run.progress());
}

}  // namespace margin
