#include "core/consequences/audit/audit.hpp"

#include <algorithm>
#include <cmath>

#include "core/consequences/audit/audit_dual.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"

namespace margin {

namespace {

constexpr double most_columns = 512;                                                   // of a Newton step
constexpr double most_matrix_values = 1 << 23;                                         // of all of them
constexpr double thin = 0.25;                                                          // of a row's values are not 0
constexpr std::int32_t long_row = 32;                                                  // its zeros are worth a look
constexpr std::size_t most_kept_rows = 4096, most_kept_values = std::size_t{1} << 18;  // of all outputs

}  // namespace

RowSum::RowSum(std::int32_t dimensions)
    : total_(Eigen::VectorXd::Zero(dimensions)), block_(Eigen::VectorXd::Zero(dimensions)) {}

void RowSum::add(double coefficient, const Row& x) {
  if (coefficient == 0) return;
  margin::add(coefficient, x, block_.data());
  ++rows_;
  work_ += x.count;
  if (rows_ < 512 || work_ < 8 * block_.size()) return;
  total_ += block_;
  block_.setZero();
  depth_ = std::max(depth_, static_cast<double>(rows_)) + 1;
  rows_ = work_ = 0;
}

void RowSum::add(const Eigen::VectorXd& sum, double depth) {
  total_ += sum;
  depth_ = std::max(depth_, depth) + 1;
}

void RowSum::widen(std::int32_t dimensions) {
  for (Eigen::VectorXd* const v : {&total_, &block_}) {
    const Eigen::Index before = v->size();
    v->conservativeResize(dimensions);
    v->tail(dimensions - before).setZero();
  }
}

DualCurve::DualCurve(double reach, std::size_t features, double constant)
    : tau(reach), block(features, constant), hessian(features + (constant != 0 ? 1 : 0)) {}

Audit::Audit(const Objective& objective, const double* weights, const double* intercept, bool curves)
    : objective_(objective), weights_(weights), intercept_(intercept), primal_(objective, weights, intercept, false) {
  const Loss& loss = *objective.loss;
  const auto k = static_cast<std::size_t>(objective.outputs()), d = static_cast<std::size_t>(objective.dimensions);
  widths_ = loss.smooth() ? std::vector<double>{0} : std::vector<double>{0.01, 0.1, 1};
  if (!loss.smooth() && !loss.classification()) widths_.insert(widths_.end(), {10, 100});
  numbers_.resize(primal_.state().size());
  coefficients_.resize(k);
  duals_.resize(widths_.size());
  for (std::size_t o = 0; o < k; ++o) norms_.push_back(lp_norm(weights + o * d, objective.dimensions, 2));
  std::vector<double> steps;  // τ
  // h can be read off at the ends of an interval: φ'' rises, falls, or does the one and then the other.
  if (loss.curvature_form() != CurvatureForm::unknown) steps = {loss.quadratic() ? infinity : 0.2};
  const double values = static_cast<double>(columns() * columns() * steps.size() * k);
  const bool quadratic = objective.l1_ratio == 0 && objective.bounds.empty();
  if (!curves || !quadratic || static_cast<double>(columns()) > most_columns || values > most_matrix_values)
    steps.clear();
  if (!steps.empty()) largest_.assign(d, 0.0);
  const double constant = objective.free_intercept ? 1.0 : objective.constant_feature();
  for (std::size_t o = 0; o < k; ++o) {
    const bool keeps = !loss.smooth() && quadratic;
    outputs_.push_back({{}, {keeps ? most_kept_rows / k + 1 : 0, keeps ? most_kept_values / k + 1 : 0}, {}});
    Output& output = outputs_.back();
    output.sides.reserve(2 * widths_.size());
    for (std::size_t s = 0; s < 2 * widths_.size(); ++s) output.sides.emplace_back(objective.dimensions);
    output.curves.reserve(steps.size());
    for (const double tau : steps) output.curves.emplace_back(tau, d, constant);
  }
}

/// Features, and the constant one.
std::size_t Audit::columns() const {
  const bool constant = objective_.free_intercept || objective_.constant_feature() > 0;
  return static_cast<std::size_t>(objective_.dimensions) + (constant ? 1 : 0);
}

double Audit::bytes() const {
  double bytes = 0;
  for (const Output& o : outputs_) {
    bytes += 16.0 * static_cast<double>(o.sides.size()) * objective_.dimensions + o.kept.bytes();
    bytes +=
        static_cast<double>(o.curves.size()) *
        (SymmetricMatrix::bytes(columns()) + 8.0 * static_cast<double>(columns() * (GramBlock::rows_per_block + 1)));
  }
  return bytes;
}

void Audit::add(const CheckedRow& given) {
  CheckedRow row = given;
  if (given.x.count >= long_row) row.x = nonzeros_.of(given.x, thin);
  primal_.add(row);
  const double c = row.loss_weight;
  if (!(c > 0)) return;
  const double norm = primal_.norm();
  const std::vector<double>& scores = primal_.scores();
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const double y =
        objective_.task == Task::regression ? row.target : objective_.target(row.label, static_cast<std::int32_t>(o));
    const double b = intercept_ != nullptr ? intercept_[o] : 0.0;
    const double rounding = epsilon * ((row.x.count + 4.0) * (norm * norms_[o]) + 4 * (std::fabs(b) + std::fabs(y)));
    if (std::isfinite(scores[o])) add_dual(outputs_[o], row, norm, scores[o], y, rounding);
  }
  if (largest_.empty()) return;
  const auto reach = [&](const auto* values) {
    const auto take = [](double& largest, double value) { largest = std::max(largest, std::fabs(value)); };
    if (row.x.indices == nullptr)
      for (std::int32_t k = 0; k < row.x.count; ++k) take(largest_[static_cast<std::size_t>(k)], values[k]);
    else
      for (std::int32_t k = 0; k < row.x.count; ++k)
        take(largest_[static_cast<std::size_t>(row.x.indices[k])], values[k]);
  };
  row.x.wide ? reach(row.x.doubles()) : reach(row.x.floats());
}

/// Smoothing of the header: a_γ of every width, by signs; and the rows next to a kink.
void Audit::add_dual(Output& output, const CheckedRow& row, double norm, double u, double y, double rounding) {
  const Loss& loss = *objective_.loss;
  const double c = row.loss_weight, length = norm + objective_.constant_feature();
  for (std::size_t s = 0; s < widths_.size(); ++s) {
    const double free = widths_[s] > 0 ? loss.dual_step(u, y, 0, widths_[s]) : settled_dual(loss, u, y);
    const double a = loss.project(std::isnan(free) ? 0.0 : free, y);
    duals_[s] = a;
    for (const bool negative : {false, true}) {
      const double own = (negative ? a < 0 : a > 0) ? a : 0;
      DualSide& side = output.sides[2 * s + (negative ? 1 : 0)];
      const double shared = s > 0 && (negative ? duals_[0] < 0 : duals_[0] > 0) ? duals_[0] : 0.0;
      if (own == 0 && shared == 0) continue;
      side.rows.add(c * own - c * shared, row.x);
      side.mass += c * (std::fabs(own) + 2 * std::fabs(shared)) * length;
      side.unseen += length + row.x.count + c + 4;
      if (own == 0) continue;
      const double conjugate = loss.conjugate(own, y);
      side.sum_of_conjugates.add(-c * conjugate);
      side.size += c * loss.conjugate_size(own, y, conjugate);
      side.coefficient.add(c * own);
    }
  }
  if (!loss.smooth()) {
    const double away = loss.slack(u, y, loss.project(-loss.derivative(u, y), y)) / (length + 1e-300);
    if (output.kept.wants(away)) output.kept.add(row.x, {away, c, y, duals_[0], norm, 0, 0});
  }
  for (DualCurve& curve : output.curves)
    if (rounding <= 1e-8 * std::min(1.0, curve.tau)) add_curve(curve, row, norm, u, y);
}

/// h of the header's Newton step: ≤ φ'' within τ of u.
double Audit::least_curvature(const DualCurve& curve, double u, double y) const {
  const Loss& loss = *objective_.loss;
  constexpr double safe = 1 - 1e-7;
  if (!(curve.tau < infinity)) return loss.second_derivative(u, y) * safe;
  return std::min(loss.second_derivative(u - curve.tau, y), loss.second_derivative(u + curve.tau, y)) * safe;
}

void Audit::add_curve(DualCurve& curve, const CheckedRow& row, double norm, double u, double y) {
  const double h = least_curvature(curve, u, y) * row.loss_weight;
  if (!(h > 0) || !std::isfinite(h)) return;
  const double constant = curve.hessian.size() > static_cast<std::size_t>(objective_.dimensions)
                              ? (objective_.free_intercept ? 1.0 : objective_.constant_feature())
                              : 0.0;
  const double length = norm + constant;
  static const Progress quiet;
  curve.block.add(row.x, h, 1.0, curve.hessian, quiet);
  curve.mass += h;
  curve.size += h * length;
  curve.square += h * length * length;
  curve.scores += h * (std::fabs(u) + std::fabs(y));
  ++curve.rows;
}

void Audit::widen(std::int32_t dimensions, const double* weights) {
  primal_.widen(dimensions, weights);
  objective_.dimensions = dimensions;
  weights_ = weights;
  for (Output& output : outputs_)
    for (DualSide& side : output.sides) side.rows.widen(dimensions);
}

void Audit::flush() const {
  static const Progress quiet;
  for (Output& output : outputs_)
    for (DualCurve& curve : output.curves) curve.block.flush(1.0, curve.hessian, quiet);
}

namespace {

/// Writes the numbers of an audit, or takes them in, in one order for both.
struct Writer {
  std::vector<double>& out;
  void sum(ExactSum& s) { out.insert(out.end(), {s.rounded(), s.lost()}); }
  void number(double& v) { out.push_back(v); }
  void largest(double& v) { out.push_back(v); }
  void rows(RowSum& r) {
    const Eigen::VectorXd v = r.value();
    out.push_back(r.depth());
    out.insert(out.end(), v.data(), v.data() + v.size());
  }
};

struct Reader {
  const double* at;
  std::int32_t own, other;  // dimensions
  const std::vector<std::int32_t>* columns;
  double next() { return *at++; }
  void sum(ExactSum& s) {
    const double rounded = next();
    s.add(ExactSum::of(rounded, next()));
  }
  void number(double& v) { v += next(); }
  void largest(double& v) { v = std::max(v, next()); }
  void rows(RowSum& r) {
    const double depth = next();
    Eigen::VectorXd v = Eigen::VectorXd::Zero(own);
    for (std::int32_t j = 0; j < other; ++j)
      v[columns != nullptr ? (*columns)[static_cast<std::size_t>(j)] : j] += next();
    r.add(v, depth);
  }
};

template <class Outputs, class Visitor>
void visit(Outputs& outputs, std::vector<double>& largest, Visitor& visitor) {
  for (auto& output : outputs) {
    for (DualSide& side : output.sides) {
      visitor.sum(side.sum_of_conjugates);
      visitor.sum(side.coefficient);
      for (double* const v : {&side.size, &side.mass, &side.unseen}) visitor.number(*v);
      visitor.rows(side.rows);
    }
    for (DualCurve& curve : output.curves) {
      for (double* const v : {&curve.mass, &curve.size, &curve.square, &curve.scores}) visitor.number(*v);
      auto rows = static_cast<double>(curve.rows);
      visitor.number(rows);
      curve.rows = static_cast<std::int64_t>(rows);
      for (std::size_t j = 0; j < curve.hessian.size(); ++j)
        for (std::size_t i = j; i < curve.hessian.size(); ++i) visitor.number(curve.hessian.row(j)[i]);
    }
  }
  for (double& v : largest) visitor.largest(v);
}

}  // namespace

std::vector<double> Audit::state() const {
  flush();
  std::vector<double> all = {static_cast<double>(objective_.dimensions)};
  const std::vector<double> primal = primal_.state();
  all.insert(all.end(), primal.begin(), primal.end());
  Writer writer{all};
  std::vector<double> largest = largest_;
  visit(outputs_, largest, writer);
  for (const Output& output : outputs_) {
    const std::size_t at = all.size();
    all.push_back(0);
    output.kept.write(all);
    all[at] = static_cast<double>(all.size() - at - 1);
  }
  return all;
}

bool Audit::merge(const std::vector<double>& s, const std::vector<std::int32_t>* columns) {
  const std::size_t head = 1 + numbers_.size();
  const double d = objective_.dimensions;
  if (s.size() < head || !(s[0] >= 0 && s[0] <= d) || s[0] != std::floor(s[0])) return false;
  const auto other = static_cast<std::int32_t>(s[0]);
  if (columns != nullptr ? columns->size() != static_cast<std::size_t>(other) : other != objective_.dimensions)
    return false;
  std::size_t size = head + largest_.size();
  for (const Output& o : outputs_) {
    size += o.sides.size() * (8 + static_cast<std::size_t>(other));
    for (const DualCurve& c : o.curves) size += 5 + c.hessian.size() * (c.hessian.size() + 1) / 2;
  }
  if (s.size() < size) return false;
  std::size_t at = size;  // of what is kept, each with its length
  for (Output& o : outputs_) {
    if (at >= s.size() || !(s[at] >= 0 && s[at] <= static_cast<double>(s.size() - at - 1))) return false;
    const double* const from = s.data() + at + 1;
    const auto length = static_cast<std::size_t>(s[at]);
    if (!o.kept.merge(from, from + length, columns, objective_.dimensions)) return false;
    at += 1 + length;
  }
  if (at != s.size()) return false;
  if (!primal_.merge({s.begin() + 1, s.begin() + static_cast<std::ptrdiff_t>(head)})) return false;
  flush();
  Reader reader{s.data() + head, objective_.dimensions, other, columns};
  visit(outputs_, largest_, reader);
  return true;
}

}  // namespace margin
