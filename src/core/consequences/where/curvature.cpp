#include "core/consequences/where/curvature.hpp"

#include <algorithm>
#include <cmath>

#include "core/data/gram_block.hpp"
#include "core/loss/loss.hpp"
#include "core/math/rounding.hpp"
#include "core/math/symmetric_matrix.hpp"
#include "core/simd/loops.hpp"

namespace margin {

namespace {
constexpr std::size_t most_columns = 1024;
constexpr double most_work = 4e10;

/// Roundings that a sum over the rows takes, of which each may move every eigenvalue by an ulp of the trace.
double depth_of(const Dataset& rows) {
  const auto n = static_cast<double>(rows.rows());
  // Sparse rows are added one by one, others in blocks.
  return rows.density() < 1 ? n + 16 : GramBlock::rows_per_block + n / GramBlock::rows_per_block + 16;
}

}  // namespace

bool knows_curvature(const Loss& loss) {
  return loss.classification() && loss.curvature_form() != CurvatureForm::unknown;
}

double least_curvature(const Loss& loss, double low, double high, double y) {
  // It rises to a single top and falls: of an interval the least lies at an end, that of the logistic loss at the farther one.
  if (loss.curvature_form() == CurvatureForm::logistic)
    return loss.second_derivative(std::max(std::fabs(low), std::fabs(high)), y) * (1 - 1e-7);
  return std::min(loss.second_derivative(low, y), loss.second_derivative(high, y)) * (1 - 1e-7);
}

bool InverseCurvature::affordable(const Problem& p, double constant) {
  const double n = p.dimensions() + (constant != 0 ? 1.0 : 0.0);
  double work = n * n * n;
  for (std::int64_t i = 0; i < p.rows(); ++i) work += 4.0 * p.data.row(i).count * p.data.row(i).count;
  return n <= static_cast<double>(most_columns) && work <= most_work;
}

SymmetricMatrix curvature_sum(const Problem& p, double constant,
                              const std::function<double(std::int64_t, const Row&)>& curvature,
                              const Progress& progress) {
  const auto features = static_cast<std::size_t>(p.dimensions());
  SymmetricMatrix sum(features + (constant != 0 ? 1 : 0));
  GramBlock block(features, constant);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const double c = p.weight(i);
    if (!(c > 0)) continue;
    const Row x = p.data.row(i);
    const double h = curvature(i, x);
    if (h > 0) block.add(x, c * h / p.total_weight, 1.0, sum, progress);
  }
  block.flush(1.0, sum, progress);
  return sum;
}

InverseCurvature::InverseCurvature(const Problem& p, double lambda, double constant, bool penalised,
                                   const std::function<double(std::int64_t, const Row&)>& curvature,
                                   const Progress& progress, SymmetricMatrix* rows)
    : size_(static_cast<std::size_t>(p.dimensions()) + (constant != 0 ? 1 : 0)),
      features_(static_cast<std::size_t>(p.dimensions())),
      constant_(constant) {
  SymmetricMatrix sum = curvature_sum(p, constant, curvature, progress);
  if (rows != nullptr) *rows = sum;
  for (std::size_t j = 0; j < size_; ++j)
    if (j < features_ || penalised) sum.row(j)[j] += lambda;
  invert(sum, lambda, penalised, depth_of(p.data), progress);
}

InverseCurvature::InverseCurvature(SymmetricMatrix matrix, double constant, double floor, const Progress& progress)
    : size_(matrix.size()), features_(matrix.size() - (constant != 0 ? 1 : 0)), constant_(constant) {
  invert(matrix, floor, true, 0, progress);
}

/// `floor`: no eigenvalue is below it, but for the constant column where that is not `penalised`; `depth`: roundings that the
/// matrix itself has.
void InverseCurvature::invert(SymmetricMatrix& sum, double floor, bool penalised, double depth,
                              const Progress& progress) {
  double trace = 0;
  std::vector<double> diagonal;
  for (std::size_t j = 0; j < size_; ++j) {
    trace += sum.row(j)[j];
    diagonal.push_back(sum.row(j)[j]);
  }
  if (!factorise(sum, progress)) return;
  // V = U⁻¹ by its rows, from the last, in the place of U; VVᵀ. UV is I up to a few n ε abs(U)abs(V), and so the forms of VVᵀ are
  // those of (UᵀU)⁻¹ up to a factor within 1 ± twice the norm of that, which `safe_` covers as it does the factor's own error.
  const SimdLoops& loops = simd();
  std::vector<double> terms;
  for (std::size_t i = size_; i-- > 0;) {
    double* const row = sum.row(i);
    const double inverse = 1 / row[i];
    terms.assign(row + i, row + size_);
    // With zeros before the diagonal, so that four rows below may be taken as if they began together.
    std::fill(row + i / 4 * 4, row + size_, 0.0);
    row[i] = inverse;
    std::size_t k = i + 1;
    for (; k < size_ && k % 4 != 0; ++k) loops.axpy_d(-terms[k - i] * inverse, sum.row(k) + k, row + k, size_ - k);
    for (; k + 4 <= size_; k += 4) {
      const double* const from[] = {sum.row(k) + k, sum.row(k + 1) + k, sum.row(k + 2) + k, sum.row(k + 3) + k};
      double factors[4];
      for (std::size_t r = 0; r < 4; ++r) factors[r] = -terms[k + r - i] * inverse;
      loops.axpys_d(factors, from, nullptr, row + k, size_ - k);
    }
    for (; k < size_; ++k) loops.axpy_d(-terms[k - i] * inverse, sum.row(k) + k, row + k, size_ - k);
    progress.work(static_cast<double>((size_ - i) * (size_ - i)) / 4);
  }
  double last = 0;
  for (std::size_t i = 0; i < size_; ++i) last += sum.row(i)[size_ - 1] * sum.row(i)[size_ - 1];
  values_.assign(size_ * size_, 0.0);
  for (std::size_t i = 0; i < size_; ++i) {
    const auto set = [&](std::size_t j, double value) { values_[i * size_ + j] = values_[j * size_ + i] = value; };
    std::size_t j = i;
    for (; j < size_ && (j % 4 != 0 || j + 4 > size_); ++j)
      set(j, loops.dot_dd(sum.row(i) + j, sum.row(j) + j, size_ - j));
    for (; j + 4 <= size_; j += 4) {
      const double* const from[] = {sum.row(j) + j, sum.row(j + 1) + j, sum.row(j + 2) + j, sum.row(j + 3) + j};
      double products[4];
      loops.dots_dd(from, nullptr, sum.row(i) + j, size_ - j, products);
      for (std::size_t r = 0; r < 4; ++r) set(j + r, products[r]);
    }
    for (; j < size_; ++j) set(j, loops.dot_dd(sum.row(i) + j, sum.row(j) + j, size_ - j));
    progress.work(static_cast<double>((size_ - i) * (size_ - i)) / 4);
  }
  // A last column that has no penalty adds vvᵀ to an inverse of no more than 1/floor, v the last column of V, which is known
  // far better than to a factor of two where what follows is of any use.
  if (!penalised && size_ > features_) floor = 0.25 / (1 / floor + last);
  const auto n = static_cast<double>(size_);
  double share = trace / floor;
  // In units that make every diagonal 1, the same computation: all errors above are products of what two columns have. There the
  // trace is n, and that of the inverse says how small an eigenvalue is, up to a factor of two as long as the errors are small.
  // It does not take columns of different units for nearly dependent ones.
  double least = infinity, most = 0, inverse_trace = 0;
  for (std::size_t j = 0; j < size_; ++j) {
    const double inverse = values_[j * size_ + j];
    least = std::min({least, inverse, diagonal[j]});
    most = std::max({most, inverse, diagonal[j]});
    inverse_trace += diagonal[j] * inverse;
  }
  constexpr double farthest = 1e290, small = 0.01;  // what vanishes is nothing next to such numbers
  const double unit = epsilon * (32 * n + 2 * depth), by_columns = 2 * n * inverse_trace;
  if (least > 1 / farthest && most < farthest && unit * by_columns < small) share = std::min(share, by_columns);
  safe_ = 1 + unit * share;
}

double InverseCurvature::form(const Row& x, const Progress& progress) const {
  double sum = 0, largest = 0;
  // The products of two different columns once, and twice their value.
  for (std::int32_t k = 0; k < x.count; ++k) {
    const auto j = static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k);
    const double value = x.value(k);
    if (value == 0) continue;
    largest = std::max(largest, std::fabs(value));
    const double* const inverse = values_.data() + j * size_;
    Row rest = x;
    rest.count = x.count - k - 1;
    rest.values = x.wide ? static_cast<const void*>(x.doubles() + k + 1) : x.floats() + k + 1;
    if (x.indices != nullptr) rest.indices = x.indices + k + 1;
    sum += value * (value * inverse[j] + 2 * (dot(rest, x.indices != nullptr ? inverse : inverse + j + 1) +
                                              (constant_ != 0 ? constant_ * inverse[features_] : 0.0)));
  }
  if (constant_ != 0) sum += constant_ * constant_ * values_[features_ * size_ + features_];
  progress.work(static_cast<double>(x.count) * x.count / 2 + 16);
  return in_range(sum, largest);
}

/// No less than the form of a row of values up to `largest`, whatever products of it vanished; infinite where some were too large.
double InverseCurvature::in_range(double form, double largest) const {
  const double n = static_cast<double>(size_) + 2;
  return std::isnan(form) ? infinity : form + 4 * tiny * n * n * (1 + largest);
}

std::vector<double> InverseCurvature::forms(const Dataset& rows, const Progress& progress, const double* wanted) const {
  constexpr std::size_t group = 8;  // of columns, whose products with all that follow are computed together
  std::vector<double> out(static_cast<std::size_t>(rows.rows())), twice(values_), tile(size_ * tile_rows);
  for (std::size_t j = 0; j < size_; ++j)
    for (std::size_t k = (j / group + 1) * group; k < size_; ++k) twice[j * size_ + k] *= 2;
  std::size_t filled = 0, of[tile_rows];
  double largest[tile_rows] = {};
  const auto flush = [&] {
    double products[group * tile_rows], sums[tile_rows] = {};
    for (std::size_t begin = 0; begin < size_; begin += group) {
      const std::size_t count = std::min(group, size_ - begin);
      const double* of_columns[group];
      for (std::size_t k = 0; k < count; ++k) of_columns[k] = twice.data() + (begin + k) * size_ + begin;
      simd().tile_dots_d(tile.data() + begin * tile_rows, of_columns, count, size_ - begin, products);
      for (std::size_t k = 0; k < count; ++k)
        for (std::size_t r = 0; r < tile_rows; ++r)
          sums[r] += tile[(begin + k) * tile_rows + r] * products[k * tile_rows + r];
    }
    for (std::size_t r = 0; r < filled; ++r) out[of[r]] = in_range(sums[r], largest[r]);
    filled = 0;
    progress.work(static_cast<double>(size_ * (size_ + group)));
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (wanted != nullptr && !(wanted[i] > 0)) {
      out[i] = -1;
      continue;
    }
    const Row x = rows.row(static_cast<std::int64_t>(i));
    // Sparse rows are multiplied out one by one.
    if (x.indices != nullptr) {
      out[i] = form(x, progress);
      continue;
    }
    largest[filled] = 0;
    for (std::size_t j = 0; j < features_; ++j) {
      const double value = x.value(static_cast<std::int32_t>(j));
      tile[j * tile_rows + filled] = value;
      largest[filled] = std::max(largest[filled], std::fabs(value));
    }
    if (constant_ != 0) tile[features_ * tile_rows + filled] = constant_;
    of[filled] = i;
    if (++filled == tile_rows) flush();
  }
  flush();
  return out;
}

std::vector<double> InverseCurvature::times(const std::vector<double>& v) const {
  const Row row{v.data(), nullptr, static_cast<std::int32_t>(size_), true};
  std::vector<double> out(size_);
  for (std::size_t j = 0; j < size_; ++j) out[j] = dot(row, values_.data() + j * size_);
  return out;
}

double InverseCurvature::form(const std::vector<double>& v) const {
  const std::vector<double> image = times(v);
  double square = 0;
  for (std::size_t j = 0; j < size_; ++j) square += v[j] * image[j];
  return in_range(std::max(0.0, square), 0);
}

double InverseCurvature::reach(const std::vector<double>& sizes) const {
  double sum = 0;
  for (std::size_t j = 0; j < size_; ++j) sum += sizes[j] * std::sqrt(values_[j * size_ + j] + tiny);
  return sum * std::sqrt(safe_) * (1 + epsilon * (static_cast<double>(size_) + 16));
}

}  // namespace margin
