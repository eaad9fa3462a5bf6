#include "core/math/l1_simplex.hpp"

#include <Eigen/LU>
#include <cmath>

#include "core/math/rounding.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {
using Eigen::Index;
// In units where |z| ≤ 1 and Σ q = 1.
constexpr double rounding = 4e-15;        // of a margin, an edge or a weight
constexpr double lost = 1e-11;            // below −this t, which is 0 at least, is of no use
constexpr double smallest_pivot = 1e-10;  // a rate below this is rounding
constexpr int refactor_after = 64;        // pivots between two factorisations from scratch, or the kernel size

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
}  // namespace

L1Simplex::L1Simplex(const PayoffMatrix& game, bool intercept, const std::vector<Index>& start, std::uint64_t seed)
    : game_(game), intercept_(intercept), first_(intercept ? 2 : 1), random_(seed), rows_(start) {
  take_new();
  for (const Index row : rows_) row_inside_[at(row)] = 1;
  const auto count = static_cast<Index>(rows_.size());
  q_ = Eigen::VectorXd::Constant(count + 1, 1.0 / static_cast<double>(count));
  x_ = Eigen::VectorXd::Zero(first_);
  read_edges();
  Index best = 0;
  t_ = edges_.size() > 0 ? edges_.cwiseAbs().maxCoeff(&best) : 0;
  if (!(t_ > 0)) return;
  learners_.push_back(best);
  signs_.push_back(edges_(best) < 0 ? -1.0 : 1.0);
  entries_.push_back(column_of(best));
  learner_inside_[at(best)] = 1;
  refactor();
}

std::vector<double> L1Simplex::column_of(Index learner) const {
  std::vector<double> column(at(game_.rows()));
  for (Index i = 0; i < game_.rows(); ++i) column[at(i)] = game_.entry(i, learner);
  return column;
}

Eigen::RowVectorXd L1Simplex::kernel_row(Index row) const {
  Eigen::RowVectorXd a(first_ + static_cast<Index>(learners_.size()));
  a(0) = -1;
  if (intercept_) a(1) = game_.label(row);
  for (std::size_t c = 0; c < learners_.size(); ++c) a(first_ + static_cast<Index>(c)) = entries_[c][at(row)];
  return a;
}

Eigen::VectorXd L1Simplex::kernel_column(Index learner, double sign) const {
  Eigen::VectorXd u(static_cast<Index>(rows_.size()) + 1);
  u(0) = sign;
  for (std::size_t r = 0; r < rows_.size(); ++r) u(static_cast<Index>(r) + 1) = game_.entry(rows_[r], learner);
  return u;
}

/// Rows and learners that the game gained since the last solve.
void L1Simplex::take_new() {
  row_inside_.resize(at(game_.rows()), 0);
  learner_inside_.resize(at(game_.learners()), 0);
  for (std::size_t c = 0; c < learners_.size(); ++c)
    for (Index i = static_cast<Index>(entries_[c].size()); i < game_.rows(); ++i)
      entries_[c].push_back(game_.entry(i, learners_[c]));
}

bool L1Simplex::refactor() {
  const auto size = static_cast<Index>(rows_.size()) + 1;
  Eigen::MatrixXd kernel(size, size);
  kernel.row(0).setZero();
  for (std::size_t c = 0; c < signs_.size(); ++c) kernel(0, first_ + static_cast<Index>(c)) = signs_[c];
  for (std::size_t r = 0; r < rows_.size(); ++r) kernel.row(static_cast<Index>(r) + 1) = kernel_row(rows_[r]);
  inverse_ = kernel.partialPivLu().inverse();
  since_refactor_ = 0;
  if (!inverse_.allFinite()) return false;
  read_vertex();
  return true;
}

void L1Simplex::read_vertex() {
  x_ = inverse_.col(0);
  q_ = -inverse_.row(0).transpose();
  t_ = q_(0) = x_(0);
}

/// edges += factor · Σ coefficients(p) z of the kernel's rows p ≥ 1.
void L1Simplex::add_kernel_rows(const Eigen::VectorXd& coefficients, double factor, Eigen::VectorXd& edges) const {
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const double weight = factor * coefficients(static_cast<Index>(r) + 1);
    if (weight != 0) game_.add_row(weight, rows_[r], edges.data());
  }
}

void L1Simplex::read_edges() {
  edges_ = Eigen::VectorXd::Zero(game_.learners());
  add_kernel_rows(q_, 1.0, edges_);
}

void L1Simplex::read_slacks() {
  slacks_ = Eigen::VectorXd::Constant(game_.rows(), -t_);
  if (intercept_)
    for (Index i = 0; i < slacks_.size(); ++i) slacks_(i) += x_(1) * game_.label(i);
  for (std::size_t c = 0; c < learners_.size(); ++c)
    simd().axpy_d(x_(first_ + static_cast<Index>(c)), entries_[c].data(), slacks_.data(), entries_[c].size());
}

/// The row below the margin, or the λ of the wrong sign, that is furthest off; any of them while the pivots stall.
L1Simplex::Side L1Simplex::violated(double tolerance) {
  read_slacks();
  Side found;
  double worst = 0;
  std::uint64_t seen = 0;
  const auto offer = [&](double by, double allowed, Side::Kind kind, Index which, Index position) {
    if (!(by > allowed)) return;
    const bool take = stalled_ > 20 ? random_.below(++seen) == 0 : by > worst;
    if (!take) return;
    worst = by;
    found = {kind, which, position, 1};
  };
  for (Index i = 0; i < slacks_.size(); ++i)
    if (row_inside_[at(i)] == 0) offer(-slacks_(i), tolerance, Side::Kind::row, i, -1);
  for (std::size_t c = 0; c < learners_.size(); ++c) {
    const auto position = static_cast<Index>(c);
    offer(-signs_[c] * x_(first_ + position), 1e-13, Side::Kind::learner, learners_[c], position);
  }
  if (found.kind == Side::Kind::learner) found.sign = signs_[at(found.position)];
  return found;
}

/// The learner whose edge exceeds t, or the row of negative weight, that is furthest off.
L1Simplex::Side L1Simplex::improving(double tolerance) {
  Side found;
  double worst = 0;
  for (Index j = 0; j < edges_.size(); ++j) {
    if (learner_inside_[at(j)] != 0) continue;
    const double by = std::fabs(edges_(j)) - t_;
    if (by > tolerance && by > worst) {
      worst = by;
      found = {Side::Kind::learner, j, -1, edges_(j) < 0 ? -1.0 : 1.0};
    }
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const double by = -q_(static_cast<Index>(r) + 1);
    if (by > 1e-12 && by > worst) {
      worst = by;
      found = {Side::Kind::row, rows_[r], static_cast<Index>(r), 1};
    }
  }
  return found;
}

/// Harris: of the limits that end the step within their tolerance the one with the largest pivot.
L1Simplex::Side L1Simplex::choose(const std::vector<Limit>& limits, double tolerance, double& step) {
  double longest = infinity;
  for (const Limit& l : limits) longest = std::min(longest, (std::max(l.value, 0.0) + tolerance) / l.rate);
  const Limit* best = nullptr;
  std::uint64_t seen = 0;
  for (const Limit& l : limits) {
    if (l.value > longest * l.rate) continue;
    const bool take =
        stalled_ > 20 ? l.rate > 1e-6 && random_.below(++seen) == 0 : best == nullptr || l.rate > best->rate;
    if (take || best == nullptr) best = &l;
  }
  step = best == nullptr ? 0.0 : std::max(0.0, best->value / best->rate);
  return best == nullptr ? Side{} : best->side;
}

/// The weight of a violated row rises from 0, or the edge of a learner with the wrong sign leaves t, until another
/// weight is 0 or another edge reaches t. t falls.
bool L1Simplex::dual_pivot(const Side& leaving, bool& at_zero) {
  const bool by_row = leaving.kind == Side::Kind::row;
  const Eigen::VectorXd rho = by_row
                                  ? Eigen::VectorXd((kernel_row(leaving.which) * inverse_).transpose())
                                  : Eigen::VectorXd(leaving.sign * inverse_.row(first_ + leaving.position).transpose());
  rates_ = Eigen::VectorXd::Zero(game_.learners());
  if (by_row) game_.add_row(1.0, leaving.which, rates_.data());
  add_kernel_rows(rho, -1.0, rates_);

  std::vector<Limit> limits;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto p = static_cast<Index>(r);
    if (rho(p + 1) > smallest_pivot) limits.push_back({{Side::Kind::row, rows_[r], p, 1}, q_(p + 1), rho(p + 1)});
  }
  for (Index j = 0; j < edges_.size(); ++j) {
    const bool itself = !by_row && j == leaving.which;
    if (learner_inside_[at(j)] != 0 && !itself) continue;
    for (const double side : {1.0, -1.0}) {
      if (itself && side == leaving.sign) continue;
      const double rate = side * rates_(j) - rho(0);
      if (rate > smallest_pivot) limits.push_back({{Side::Kind::learner, j, -1, side}, t_ - side * edges_(j), rate});
    }
  }
  const double to_zero = rho(0) < 0 ? t_ / -rho(0) : infinity;
  double step;
  const Side entering = choose(limits, rounding, step);
  at_zero = entering.kind == Side::Kind::none || step >= to_zero * (1 - 1e-12);
  if (at_zero) {
    if (!std::isfinite(to_zero)) return false;
    // t = 0 needs no vertex: the row weights are the proof. The new row takes the place of one that ends at 0.
    q_ -= to_zero * rho;
    if (by_row) {
      rows_.push_back(leaving.which);
      q_.conservativeResize(q_.size() + 1);
      q_(q_.size() - 1) = to_zero;
    }
    t_ = 0;
    return true;
  }
  stalled_ = step * -rho(0) > 1e-15 + 1e-13 * t_ ? 0 : stalled_ + 1;
  bool done;
  if (by_row)
    done = entering.kind == Side::Kind::row ? replace_row(entering.position, leaving.which)
                                            : grow(leaving.which, entering.which, entering.sign);
  else
    done = entering.kind == Side::Kind::row ? shrink(entering.position, leaving.position)
                                            : replace_learner(leaving.position, entering.which, entering.sign);
  return done;
}

/// The λ of a learner with too large an edge, or the slack of a row with a negative weight, rises from 0 until another
/// λ is 0 or another row is as close as γ. γ rises.
bool L1Simplex::primal_pivot(const Side& entering) {
  const bool by_learner = entering.kind == Side::Kind::learner;
  const Eigen::VectorXd w =
      by_learner ? Eigen::VectorXd(inverse_ * (entering.sign * kernel_column(entering.which, entering.sign)))
                 : Eigen::VectorXd(-inverse_.col(entering.position + 1));
  std::vector<Limit> limits;
  for (std::size_t c = 0; c < learners_.size(); ++c) {
    const auto p = static_cast<Index>(c);
    const double rate = signs_[c] * w(first_ + p);
    if (rate > smallest_pivot)
      limits.push_back({{Side::Kind::learner, learners_[c], p, 1}, signs_[c] * x_(first_ + p), rate});
  }
  read_slacks();
  for (Index i = 0; i < slacks_.size(); ++i) {
    if (row_inside_[at(i)] != 0) continue;
    double rate = kernel_row(i) * w;
    if (by_learner) rate -= entering.sign * game_.entry(i, entering.which);
    if (rate > smallest_pivot) limits.push_back({{Side::Kind::row, i, -1, 1}, slacks_(i), rate});
  }
  double step;
  const Side leaving = choose(limits, rounding, step);
  if (leaving.kind == Side::Kind::none) return false;
  stalled_ = step * std::fabs(w(0)) > 1e-15 + 1e-13 * t_ ? 0 : stalled_ + 1;
  bool done;
  if (by_learner)
    done = leaving.kind == Side::Kind::learner ? replace_learner(leaving.position, entering.which, entering.sign)
                                               : grow(leaving.which, entering.which, entering.sign);
  else
    done = leaving.kind == Side::Kind::learner ? shrink(entering.position, leaving.position)
                                               : replace_row(entering.position, leaving.which);
  return done;
}

bool L1Simplex::replace_row(Index position, Index row) {
  const Index p = position + 1;
  const Eigen::RowVectorXd rho = kernel_row(row) * inverse_;
  row_inside_[at(rows_[at(position)])] = 0;
  row_inside_[at(row)] = 1;
  rows_[at(position)] = row;
  if (std::fabs(rho(p)) < smallest_pivot) return refactor();
  const Eigen::VectorXd column = inverse_.col(p) / rho(p);
  inverse_.noalias() -= column * rho;
  inverse_.col(p) = column;
  return true;
}

bool L1Simplex::replace_learner(Index position, Index learner, double sign) {
  const Index p = first_ + position;
  const Eigen::VectorXd w = inverse_ * kernel_column(learner, sign);
  learner_inside_[at(learners_[at(position)])] = 0;
  learner_inside_[at(learner)] = 1;
  if (learners_[at(position)] != learner) entries_[at(position)] = column_of(learner);
  learners_[at(position)] = learner;
  signs_[at(position)] = sign;
  if (std::fabs(w(p)) < smallest_pivot) return refactor();
  const Eigen::RowVectorXd row = inverse_.row(p) / w(p);
  inverse_.noalias() -= w * row;
  inverse_.row(p) = row;
  return true;
}

bool L1Simplex::grow(Index row, Index learner, double sign) {
  const Index k = inverse_.rows();
  const Eigen::VectorXd w = inverse_ * kernel_column(learner, sign);
  const Eigen::RowVectorXd a = kernel_row(row), rho = a * inverse_;
  const double pivot = game_.entry(row, learner) - a.dot(w);
  row_inside_[at(row)] = learner_inside_[at(learner)] = 1;
  rows_.push_back(row);
  learners_.push_back(learner);
  signs_.push_back(sign);
  entries_.push_back(column_of(learner));
  if (std::fabs(pivot) < smallest_pivot) return refactor();
  inverse_.conservativeResize(k + 1, k + 1);
  inverse_.topLeftCorner(k, k).noalias() += w * (rho / pivot);
  inverse_.block(0, k, k, 1) = -w / pivot;
  inverse_.block(k, 0, 1, k) = -rho / pivot;
  inverse_(k, k) = 1 / pivot;
  return true;
}

bool L1Simplex::shrink(Index row_position, Index learner_position) {
  const Index k = inverse_.rows() - 1, last_row = static_cast<Index>(rows_.size()) - 1,
              last_learner = static_cast<Index>(learners_.size()) - 1;
  row_inside_[at(rows_[at(row_position)])] = 0;
  learner_inside_[at(learners_[at(learner_position)])] = 0;
  // The last one moves into the gap; a kernel row is a column of the inverse.
  inverse_.col(row_position + 1).swap(inverse_.col(last_row + 1));
  inverse_.row(first_ + learner_position).swap(inverse_.row(first_ + last_learner));
  std::swap(rows_[at(row_position)], rows_.back());
  std::swap(learners_[at(learner_position)], learners_.back());
  std::swap(signs_[at(learner_position)], signs_.back());
  std::swap(entries_[at(learner_position)], entries_.back());
  rows_.pop_back();
  learners_.pop_back();
  signs_.pop_back();
  entries_.pop_back();
  if (learners_.empty()) return false;
  const double pivot = inverse_(k, k);
  if (std::fabs(pivot) < smallest_pivot) return refactor();
  const Eigen::VectorXd column = inverse_.block(0, k, k, 1) / pivot;
  const Eigen::RowVectorXd row = inverse_.block(k, 0, 1, k);
  inverse_.topLeftCorner(k, k).noalias() -= column * row;
  inverse_.conservativeResize(k, k);
  return true;
}

L1Simplex::Ending L1Simplex::solve(double accuracy, const Progress& progress, const std::function<bool()>& stop) {
  take_new();
  if (learners_.empty()) return Ending::no_margin;
  if (edges_.size() != game_.learners()) read_edges();
  stalled_ = 0;
  bool checked = false;
  const std::int64_t last = pivots_ + 50 * (game_.rows() + static_cast<std::int64_t>(rows_.size()) + 100);
  while (pivots_ < last) {
    const double tolerance = std::max(rounding, accuracy * t_);
    const double k = static_cast<double>(rows_.size());
    progress.work(k * (3 * k + static_cast<double>(game_.rows()) + 2 * game_.row_cost()));
    if (stop()) return Ending::stopped;
    const Side leaving = violated(tolerance);
    bool done = true, at_zero = false;
    if (leaving.kind != Side::Kind::none) {
      done = dual_pivot(leaving, at_zero);
    } else {
      const Side entering = improving(tolerance);
      if (entering.kind != Side::Kind::none) {
        done = primal_pivot(entering);
      } else if (checked || since_refactor_ == 0) {
        return Ending::optimal;
      } else {  // the updates looked right; believe it only from a fresh inverse
        checked = true;
        if (!refactor()) return Ending::stuck;
        read_edges();
        continue;
      }
    }
    if (at_zero && done) return Ending::no_margin;
    if (!done) return Ending::stuck;
    checked = false;
    ++pivots_;
    if (++since_refactor_ >= std::max(refactor_after, static_cast<int>(rows_.size())) && !refactor())
      return Ending::stuck;
    read_vertex();
    read_edges();  // anew: carried along by their rates, errors would grow like a power of the pivots
    if (!std::isfinite(t_) || t_ < -lost) return Ending::stuck;
    if (t_ <= rounding) return Ending::no_margin;
  }
  return Ending::stuck;
}

}  // namespace margin
