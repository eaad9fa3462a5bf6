#include "core/math/active_cholesky.hpp"

#include <cmath>
#include <cstring>

#include "core/simd/loops.hpp"

namespace margin {

void ActiveCholesky::reserve(Eigen::Index n) {
  if (n <= l_.rows()) return;
  const Eigen::Index capacity = std::max<Eigen::Index>(n, std::max<Eigen::Index>(32, l_.rows() * 3 / 2));
  Eigen::MatrixXd l = grown(l_, capacity, capacity), y = grown(y_, capacity, p_);
  Eigen::MatrixXd q = dimension_ > 0 ? grown(q_, dimension_, capacity) : Eigen::MatrixXd();
  l_.swap(l);
  y_.swap(y);
  q_.swap(q);
}

Eigen::MatrixXd ActiveCholesky::grown(const Eigen::MatrixXd& m, Eigen::Index rows, Eigen::Index columns) const {
  Eigen::MatrixXd out(rows, columns);
  for (Eigen::Index j = 0; j < columns; ++j) {
    const Eigen::Index known = j < m.cols() ? m.rows() : 0;
    if (known > 0) out.col(j).head(known) = m.col(j);
    out.col(j).tail(rows - known).setZero();
    if (progress_ != nullptr) progress_->work(2.0 * static_cast<double>(rows));
  }
  return out;
}

Eigen::VectorXd ActiveCholesky::solve_lower(Eigen::VectorXd v) const {
  const SimdLoops& k = simd();
  for (Eigen::Index j = 0; j < size_; ++j) {
    v(j) /= l_(j, j);
    k.axpy_d(-v(j), &l_(j, j) + 1, v.data() + j + 1, static_cast<std::size_t>(size_ - j - 1));
  }
  return v;
}

Eigen::VectorXd ActiveCholesky::solve_transposed(Eigen::VectorXd v) const {
  const SimdLoops& k = simd();
  for (Eigen::Index j = size_ - 1; j >= 0; --j)
    v(j) = (v(j) - k.dot_dd(&l_(j, j) + 1, v.data() + j + 1, static_cast<std::size_t>(size_ - j - 1))) / l_(j, j);
  return v;
}

double ActiveCholesky::append(const Eigen::VectorXd& cross, double square, const Eigen::VectorXd& rhs, double floor) {
  reserve(size_ + 1);
  const Eigen::VectorXd row = solve_lower(cross);
  const double rest = square - row.squaredNorm();
  const double relative = square > 0 ? rest / square : 0.0;
  const double pivot = std::sqrt(std::max(rest, floor * square));
  for (Eigen::Index j = 0; j < size_; ++j) l_(size_, j) = row(j);
  l_(size_, size_) = pivot;
  for (Eigen::Index c = 0; c < p_; ++c)
    y_(size_, c) = (rhs(c) - (size_ > 0 ? row.dot(y_.col(c).head(size_)) : 0.0)) / pivot;
  ++size_;
  return relative;
}

void ActiveCholesky::append_block(Eigen::MatrixXd cross, const Eigen::MatrixXd& squares, const Eigen::MatrixXd& rhs,
                                  double floor) {
  constexpr Eigen::Index panel = 64;
  const Eigen::Index s = size_, k = cross.cols();
  reserve(s + k);
  for (Eigen::Index at = 0; at < s; at += panel) {
    const Eigen::Index n = std::min(panel, s - at), below = s - at - n;
    auto part = cross.middleRows(at, n);
    l_.block(at, at, n, n).triangularView<Eigen::Lower>().solveInPlace(part);
    if (below > 0) cross.bottomRows(below).noalias() -= l_.block(at + n, at, below, n) * part;
    if (progress_ != nullptr) progress_->work(static_cast<double>(n * k) * static_cast<double>(below + n));
  }
  l_.block(s, 0, k, s) = cross.transpose();
  Eigen::MatrixXd rest = squares, y = rhs;
  if (s > 0) {
    rest.noalias() -= cross.transpose() * cross;
    y.noalias() -= cross.transpose() * y_.topLeftCorner(s, p_);
  }
  for (Eigen::Index c = 0; c < k; ++c) {
    auto row = l_.row(s + c).segment(s, k);
    for (Eigen::Index b = 0; b < c; ++b)
      row(b) = (rest(c, b) - row.head(b).dot(l_.row(s + b).segment(s, b))) / l_(s + b, s + b);
    const double pivot = std::sqrt(std::max(rest(c, c) - row.head(c).squaredNorm(), floor * squares(c, c)));
    row(c) = pivot;
    y_.row(s + c) = (y.row(c) - row.head(c) * y_.middleRows(s, c)) / pivot;
  }
  size_ += k;
}

double ActiveCholesky::append_vector(const Eigen::VectorXd& v, double floor) {
  reserve(size_ + 1);
  Eigen::VectorXd rest = v, row = Eigen::VectorXd::Zero(size_);
  for (int pass = 0; pass < 2 && size_ > 0; ++pass) {  // twice is enough: the second takes out what rounding left
    const Eigen::VectorXd part = q_.leftCols(size_).transpose() * rest;
    rest.noalias() -= q_.leftCols(size_) * part;
    row += part;
  }
  const double norm = v.norm(), remaining = rest.norm();
  const double pivot = std::max(remaining, std::max(floor * norm, 1e-300));
  for (Eigen::Index j = 0; j < size_; ++j) l_(size_, j) = row(j);
  l_(size_, size_) = pivot;
  q_.col(size_) = rest / pivot;
  // B = Y-part of the vectors, so L⁻¹B is the matching part of Q.
  y_.row(size_) = q_.col(size_).tail(p_).transpose();
  ++size_;
  return norm > 0 ? remaining / norm : 0.0;
}

void ActiveCholesky::remove(Eigen::Index at) {
  const Eigen::Index last = size_ - 1;
  // Drop row `at` of every column; the columns from `at` on then have one entry above the diagonal's place.
  for (Eigen::Index j = 0; j <= last; ++j) {
    const Eigen::Index from = std::max(at, j - 1);
    double* column = l_.col(j).data();
    if (last > from)
      std::memmove(column + from, column + from + 1, static_cast<std::size_t>(last - from) * sizeof(double));
  }
  for (Eigen::Index j = at; j < last; ++j) {
    // Rotate columns j and j+1 so that row j ends on the diagonal; Y = L⁻¹B turns with them.
    double* a = l_.col(j).data();
    double* b = l_.col(j + 1).data();
    const double r = std::hypot(a[j], b[j]);
    const double cosine = a[j] / r, sine = b[j] / r;
    simd().rotate(cosine, sine, a + j, b + j, static_cast<std::size_t>(last - j));
    a[j] = r;
    b[j] = 0;
    if (dimension_ > 0)
      simd().rotate(cosine, sine, q_.col(j).data(), q_.col(j + 1).data(), static_cast<std::size_t>(dimension_));
    for (Eigen::Index c = 0; c < p_; ++c) {
      const double u = y_(j, c), v = y_(j + 1, c);
      y_(j, c) = cosine * u + sine * v;
      y_(j + 1, c) = cosine * v - sine * u;
    }
  }
  --size_;
}

}  // namespace margin
