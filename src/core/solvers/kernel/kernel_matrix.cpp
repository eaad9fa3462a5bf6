#include "core/solvers/kernel/kernel_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/spares.hpp"
#include "core/base/threads.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {
constexpr std::size_t batch = 8;                 // rows whose kernel values are computed together
constexpr int most_steps = 2000;                 // of conjugate gradients
constexpr Eigen::Index block = 64;               // rows between two polls
constexpr std::size_t stretch = 64 * tile_rows;  // of a single column
// A product's parts: rows that pay for sums of their own, and how many such sums there are at most.
constexpr std::size_t rows_of_a_part = 512, most_parts = 16;

/// Kernel values of a batch of rows, and their points.
struct Batch {
  explicit Batch(std::size_t n) : points(batch), values(batch * n) {}
  std::vector<KernelPoint> points;
  std::vector<double> values;
};
}  // namespace

template <class Visit>
void KernelMatrix::each_row(bool triangle, Visit visit) const {
  const auto n = static_cast<std::size_t>(n_);
  const double operations = static_cast<double>(batch * n) * rows_.operations() / (triangle ? 2 : 1);
  const Chunks batches(static_cast<std::int64_t>((n + batch - 1) / batch), operations);
  Threads& threads = run_.progress().threads();
  Spares<Batch> spares(threads.count());
  threads.run(batches.count(), run_.progress(), [&](std::size_t k, const Progress& progress) {
    const Spares<Batch>::Lent lent(spares, [&] { return Batch(n); });
    std::vector<const KernelPoint*> at;
    std::vector<double*> to(batch);
    for (std::int64_t number = batches.begin(k); number < batches.end(k); ++number) {
      const std::size_t first = static_cast<std::size_t>(number) * batch, count = std::min(batch, n - first);
      const std::size_t end = triangle ? first + count : n;
      at.clear();
      for (std::size_t b = 0; b < count; ++b) {
        rows_.set(lent->points[b], first + b);
        at.push_back(&lent->points[b]);
      }
      for (std::size_t from = 0; from < end; from += rows_of_poll) {
        const std::size_t until = std::min(end, from + rows_of_poll);
        for (std::size_t b = 0; b < count; ++b) to[b] = lent->values.data() + b * n + from;
        rows_.evaluate(at, from, until, to.data());
        progress.work(static_cast<double>(count * (until - from)) * rows_.operations());
      }
      for (std::size_t b = 0; b < count; ++b) {
        lent->values[b * n + first + b] = rows_.diagonal(first + b);
        visit(first + b, lent->values.data() + b * n, progress);
      }
    }
  });
}

KernelMatrix::KernelMatrix(const KernelRows& rows, double bytes, const Run& run)
    : rows_(rows), run_(run), n_(static_cast<Eigen::Index>(rows.size())) {
  const std::size_t n = rows.size();
  if (triangle_bytes(static_cast<double>(n)) > bytes) return;
  triangle_ = LargeArray(n * (n + 1) / 2);
  each_row(true, [&](std::size_t i, const double* values, const Progress& progress) {
    std::copy_n(values, i + 1, triangle_.data() + i * (i + 1) / 2);
    progress.work(static_cast<double>(i));
  });
}

Eigen::MatrixXd KernelMatrix::times(const Eigen::MatrixXd& x) const {
  const auto n = static_cast<std::size_t>(n_);
  if (triangle_.data() != nullptr && n > 0 && triangle_.size() > 0) return triangle_times(x);
  Eigen::MatrixXd y = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  each_row(false, [&](std::size_t i, const double* values, const Progress& progress) {
    for (Eigen::Index c = 0; c < x.cols(); ++c)
      y(static_cast<Eigen::Index>(i), c) = simd().dot_dd(values, x.col(c).data(), n);
    progress.work(static_cast<double>(n) * static_cast<double>(x.cols()) / 2);
  });
  return y;
}

/// Stretches of rows of about the same area, each with sums of its own, which are added in order.
Eigen::MatrixXd KernelMatrix::triangle_times(const Eigen::MatrixXd& x) const {
  const auto n = static_cast<std::size_t>(n_);
  const std::size_t parts = std::clamp<std::size_t>(n / rows_of_a_part, 1, most_parts);
  std::vector<std::size_t> begin(parts + 1, n);
  for (std::size_t k = 0; k < parts; ++k)
    begin[k] = static_cast<std::size_t>(static_cast<double>(n) *
                                        std::sqrt(static_cast<double>(k) / static_cast<double>(parts)));
  std::vector<Eigen::MatrixXd> sums(parts);
  run_.progress().threads().run(parts, run_.progress(), [&](std::size_t k, const Progress& progress) {
    Eigen::MatrixXd& y = sums[k] = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(begin[k + 1]), x.cols());
    for (std::size_t i = begin[k]; i < begin[k + 1]; ++i) {
      const double* const values = triangle_.data() + i * (i + 1) / 2;
      const auto row = static_cast<Eigen::Index>(i);
      for (Eigen::Index c = 0; c < x.cols(); ++c) {
        y(row, c) += simd().dot_dd(values, x.col(c).data(), i + 1);
        simd().axpy_d(x(row, c), values, y.col(c).data(), i);
      }
      progress.work(static_cast<double>(i) * static_cast<double>(x.cols()) / 2);
    }
  });
  Eigen::MatrixXd& y = sums.back();
  for (std::size_t k = 0; k + 1 < parts; ++k) y.topRows(sums[k].rows()) += sums[k];
  return std::move(y);
}

void KernelMatrix::column(std::size_t row, double* values) const {
  KernelPoint point;
  rows_.set(point, row);
  const std::size_t n = rows_.size();
  const Chunks stretches(static_cast<std::int64_t>((n + stretch - 1) / stretch),
                         static_cast<double>(stretch) * rows_.operations());
  run_.progress().threads().run(stretches.count(), run_.progress(), [&](std::size_t k, const Progress& progress) {
    for (std::int64_t s = stretches.begin(k); s < stretches.end(k); ++s) {
      const std::size_t from = static_cast<std::size_t>(s) * stretch, to = std::min(n, from + stretch);
      double* at = values + from;
      rows_.evaluate({&point}, from, to, &at);
      progress.work(static_cast<double>(to - from) * rows_.operations());
    }
  });
  values[row] = rows_.diagonal(row);
}

KernelPreconditioner::KernelPreconditioner(const KernelMatrix& kernel, Eigen::Index rank) : kernel_(kernel) {
  const Eigen::Index n = kernel.size();
  Eigen::VectorXd left(n);
  for (Eigen::Index i = 0; i < n; ++i) left(i) = kernel.diagonal(static_cast<std::size_t>(i));
  const double enough = 1e-10 * left.maxCoeff();
  factor_ = Eigen::MatrixXd::Zero(n, std::min(rank, n));
  Eigen::VectorXd column(n);
  Eigen::Index made = 0;
  for (; made < factor_.cols(); ++made) {
    Eigen::Index pivot = 0;
    if (!(left.maxCoeff(&pivot) > enough)) break;
    kernel.column(static_cast<std::size_t>(pivot), column.data());
    for (Eigen::Index c = 0; c < made; ++c) {
      simd().axpy_d(-factor_(pivot, c), factor_.col(c).data(), column.data(), static_cast<std::size_t>(n));
      kernel.run().work(static_cast<double>(n) / 2);
    }
    factor_.col(made) = column / std::sqrt(left(pivot));
    left -= factor_.col(made).cwiseAbs2();
    left(pivot) = 0;
    kernel.run().work(2 * static_cast<double>(n));
  }
  factor_.conservativeResize(Eigen::NoChange, made);
}

void KernelPreconditioner::set(const Eigen::VectorXd& s) {
  s_ = s;
  const Eigen::Index r = factor_.cols();
  Eigen::MatrixXd inner = Eigen::MatrixXd::Identity(r, r);
  for (Eigen::Index from = 0; from < factor_.rows(); from += block) {
    const Eigen::Index count = std::min(block, factor_.rows() - from);
    const Eigen::MatrixXd part = s.segment(from, count).asDiagonal() * factor_.middleRows(from, count);
    inner.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose());
    kernel_.run().work(static_cast<double>(count * r * r) / 8);
  }
  inner_.compute(inner.selfadjointView<Eigen::Lower>());
  kernel_.run().work(static_cast<double>(r * r * r) / 16);
}

Eigen::MatrixXd KernelPreconditioner::solve(const Eigen::MatrixXd& v) const {
  const Eigen::MatrixXd scaled = s_.asDiagonal() * v;
  const Eigen::MatrixXd inner = inner_.solve(factor_.transpose() * scaled);
  kernel_.run().work(static_cast<double>(2 * factor_.size() * v.cols()) / 4);
  return v - s_.asDiagonal() * (factor_ * inner);
}

Eigen::MatrixXd solve_system(const KernelMatrix& kernel, const KernelPreconditioner& preconditioner,
                             const Eigen::VectorXd& s, const Eigen::MatrixXd& b, double tolerance) {
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(b.rows(), b.cols()), rest = b, z = preconditioner.solve(rest), p = z;
  Eigen::VectorXd product = rest.cwiseProduct(z).colwise().sum();
  const Eigen::VectorXd target = tolerance * b.colwise().norm().transpose();
  for (int step = 0; step < most_steps; ++step) {
    bool done = true;
    for (Eigen::Index c = 0; c < b.cols(); ++c) done &= !(rest.col(c).norm() > target(c));
    if (done) break;
    const Eigen::MatrixXd image = p + s.asDiagonal() * kernel.times(s.asDiagonal() * p);
    for (Eigen::Index c = 0; c < b.cols(); ++c) {
      const double curvature = p.col(c).dot(image.col(c));
      if (!(rest.col(c).norm() > target(c)) || !(curvature > 0)) {
        p.col(c).setZero();
        continue;
      }
      const double t = product(c) / curvature;
      x.col(c) += t * p.col(c);
      rest.col(c) -= t * image.col(c);
    }
    z = preconditioner.solve(rest);
    for (Eigen::Index c = 0; c < b.cols(); ++c) {
      const double now = rest.col(c).dot(z.col(c));
      if (p.col(c).isZero(0)) continue;
      p.col(c) = z.col(c) + now / product(c) * p.col(c);
      product(c) = now;
    }
    if (p.isZero(0)) break;
  }
  return x;
}

}  // namespace margin
