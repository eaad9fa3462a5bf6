#include "core/certificate/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/progress.hpp"
#include "core/certificate/interpolation.hpp"
#include "core/certificate/joint.hpp"
#include "core/certificate/kernel.hpp"
#include "core/certificate/kernel_check.hpp"
#include "core/certificate/l2_margin.hpp"
#include "core/certificate/likelihood.hpp"
#include "core/certificate/lp_margin.hpp"
#include "core/certificate/one_class.hpp"
#include "core/certificate/risk.hpp"
#include "core/certificate/stumps.hpp"
#include "core/data/row_pass.hpp"
#include "core/math/rounding.hpp"

namespace margin {

Objective objective_of(const Problem& p) { return {p, p.dimensions()}; }

std::unique_ptr<Check> make_check(const Objective& objective, const ModelVectors& v, bool with_dual) {
  if (const KernelBasis* const basis = support_vectors_of(v.basis))
    return std::make_unique<KernelCheck>(objective, *basis, v.weights, v.intercept, with_dual);
  if (const StumpBasis* const basis = stumps_of(v.basis)) return std::make_unique<StumpCheck>(objective, *basis, v);
  if (objective.interpolate)
    return std::make_unique<InterpolationCheck>(objective.dimensions, objective.norm, v.weights,
                                                v.intercept != nullptr ? *v.intercept : 0.0, objective.intercept,
                                                with_dual);
  if (objective.one_class()) return std::make_unique<OneClassCheck>(objective, v.weights, v.intercept, with_dual);
  if (objective.likelihood()) return std::make_unique<LikelihoodCheck>(objective, v.weights, v.intercept);
  if (joint_of(objective.loss.get()) != nullptr)
    return std::make_unique<JointCheck>(objective, v.weights, v.intercept, with_dual);
  if (!objective.hard_margin()) return std::make_unique<RiskCheck>(objective, v.weights, v.intercept, with_dual);
  if (objective.norm != 2)
    return std::make_unique<NormCheck>(objective.classes, objective.dimensions, objective.norm, v.weights, v.intercept,
                                       objective.intercept, with_dual);
  return std::make_unique<MarginCheck>(objective.classes, objective.dimensions, v.weights, v.intercept,
                                       objective.intercept, with_dual);
}

bool has_dual_weights(const Problem& problem, const Weights& dual) {
  return dual.rows() == problem.rows() && dual.cols() == problem.outputs();
}

namespace {

/// In place: a copy would wait for what was just written.
void read_outcome(const Problem& problem, std::int64_t i, CheckedRow& row) {
  if (problem.task == Task::regression)
    row.target = problem.target(i, 0);
  else
    row.label = problem.label[static_cast<std::size_t>(i)];
  if (problem.interpolate) row.upper_target = problem.data.upper_target(i);
  row.sample_weight = problem.data.weight(i);
  row.loss_weight = problem.weight(i);
}

void read_row(const Problem& problem, std::int64_t i, CheckedRow& row) {
  row.x = problem.data.row(i);
  read_outcome(problem, i, row);
}

/// Rows begin … end − 1 of those that are codes.
void add_codes(Check& check, const Problem& problem, const Weights* dual, std::int64_t begin, std::int64_t end,
               const Progress& progress) {
  constexpr std::int64_t together = 512;
  const CodedRows& codes = *problem.data.codes();
  std::vector<CheckedRow> rows(static_cast<std::size_t>(together));
  for (; begin < end; begin += together) {
    const std::int64_t count = std::min(together, end - begin);
    for (std::int64_t k = 0; k < count; ++k) {
      CheckedRow& row = rows[static_cast<std::size_t>(k)];
      read_outcome(problem, begin + k, row);
      row.dual = dual != nullptr ? dual->row(begin + k).data() : nullptr;
    }
    check.add_coded(codes, begin, rows.data(), static_cast<std::size_t>(count));
    progress.work(static_cast<double>(count) * problem.outputs() * (2 * RowScores::work(codes.layout()) + 64.0));
  }
}

}  // namespace

CheckedRow checked_row(const Problem& problem, std::int64_t i) {
  CheckedRow row;
  read_row(problem, i, row);
  return row;
}

void add_rows(Check& check, const Problem& problem, const Weights& dual, const Basis* basis, const Progress& progress) {
  const bool with_dual = has_dual_weights(problem, dual);
  const double products = 1.0 + 2.0 * problem.outputs();
  const auto add = [&](Check& to, std::int64_t begin, std::int64_t end, const Progress& own) {
    if (problem.data.codes() != nullptr && basis == nullptr)
      return add_codes(to, problem, with_dual ? &dual : nullptr, begin, end, own);
    constexpr std::int64_t together = 64;
    constexpr double much = 1e5;
    CheckedRow rows[together];
    while (begin < end) {
      std::size_t count = 0;
      double work = 0;
      // A check with a basis, or of thousands of classes, may take a millisecond for a row.
      for (const std::int64_t last = basis != nullptr ? begin + 1 : std::min(end, begin + together);
           begin < last && work < much; ++begin) {
        CheckedRow& row = rows[count++];
        read_row(problem, begin, row);
        if (with_dual) row.dual = dual.row(begin).data();
        work += products * ((basis != nullptr ? basis->size() : row.x.count) + 32.0) + 64.0;
      }
      to.add_all(rows, count);
      own.work(work);
    }
  };
  if (check.part() == nullptr) return add(check, 0, problem.rows(), progress);
  const Chunks chunks(problem.rows(), products * (stored_numbers(problem.data) + 32.0) + 64.0, check.part_size());
  if (chunks.count() == 1) return add(check, 0, problem.rows(), progress);
  std::vector<std::unique_ptr<Check>> parts(chunks.count());
  pass_threads(problem.data, progress).run(chunks.count(), progress, [&](std::size_t k, const Progress& own) {
    parts[k] = check.part();  // of thousands of classes a part is half a millisecond and as many kilobytes
    own.work(check.part_size() + 64 * products);
    add(*parts[k], chunks.begin(k), chunks.end(k), own);
  });
  for (auto& part : parts) {
    check.add_part(*part);
    part.reset();
    progress.work(check.part_size() + 64 * products);
  }
}

void set_margin_gap(Certificate& c) {
  c.gap = c.upper - c.lower;
  c.relative_gap = !(c.upper < infinity) ? infinity : c.upper > 0 ? c.gap / c.upper : 0;
}

void set_minimum_gap(Certificate& c) {
  c.gap = c.upper < infinity ? std::max(0.0, c.upper - c.lower) : infinity;
  c.relative_gap = c.gap < infinity && c.gap > 0 ? c.gap / std::max(std::fabs(c.upper), std::fabs(c.lower)) : c.gap;
}

void widen(Weights& matrix, Eigen::Index columns) {
  Weights wider = Weights::Zero(matrix.rows(), columns);
  wider.leftCols(matrix.cols()) = matrix;
  matrix.swap(wider);
}

Certificate certify(const Problem& problem, const Weights& weights, const Eigen::VectorXd& intercept,
                    const Weights& dual, const Basis* basis, const Progress& progress,
                    std::shared_ptr<const DualPoint>* point, double enough) {
  // Of these two the dual weights prove something only of all rows together.
  if (const KernelBasis* const vectors = support_vectors_of(basis))
    return certify_kernel(problem, weights, *vectors, intercept, dual, progress);
  if (const StumpBasis* const stumps = stumps_of(basis))
    return certify_stumps(problem, *stumps, weights, intercept, dual, progress);

  const Objective objective = objective_of(problem);
  const auto check = make_check(objective, {weights.data(), problem.intercept ? intercept.data() : nullptr, basis},
                                has_dual_weights(problem, dual));
  add_rows(*check, problem, dual, nullptr, progress);
  if (auto* const risk = dynamic_cast<RiskCheck*>(check.get()); risk != nullptr && risk->blurred(enough)) {
    *risk = RiskCheck(objective, weights.data(), problem.intercept ? intercept.data() : nullptr, true);
    risk->sum_precisely();
    add_rows(*check, problem, dual, nullptr, progress);
  }
  Certificate c = check->certificate(progress);
  if (point != nullptr) *point = check->dual_point(progress);
  if (objective.hard_margin() && !objective.interpolate && objective.norm == 2) {
    // No margin exceeds the radius: the bound that holds without any dual weights (times √2 for score differences).
    c.upper = std::min(c.upper, c.radius * (problem.task == Task::multiclass ? std::sqrt(2.0) : 1.0));
    set_margin_gap(c);
  }
  return c;
}

}  // namespace margin
