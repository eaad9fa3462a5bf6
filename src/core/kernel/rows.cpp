#include "core/kernel/rows.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.hpp"

namespace margin {

namespace {
constexpr double thin = 0.12;  // below this density sparse rows are quicker, as in data/dataset.cpp
// A point of so many features no longer stays in the cache, and one of 100 million takes seconds to make.
constexpr std::int32_t wide_point = 8192;
constexpr double place_bytes = 48;      // a node of the table of places, with its share of the buckets
constexpr std::size_t tile_block = 16;  // tiles of rows per block of inner products: their values stay in the cache
}  // namespace

KernelRows::KernelRows(std::shared_ptr<const KernelFunction> kernel, std::int32_t dimensions, Layout layout)
    : kernel_(std::move(kernel)), d_(static_cast<std::size_t>(dimensions)), layout_(layout), starts_(1, 0) {}

void KernelRows::reserve(std::size_t rows, double values) {
  const std::size_t tiles = (rows + tile_rows - 1) / tile_rows * tile_rows * d_;
  if (layout_ == Layout::floats) floats_.reserve(tiles);
  if (layout_ == Layout::doubles) doubles_.reserve(tiles);
  if (is_sparse()) {
    doubles_.reserve(static_cast<std::size_t>(values));
    columns_.reserve(static_cast<std::size_t>(values));
    starts_.reserve(rows + 1);
  }
  summaries_.reserve(rows * kernel_->summary_size());
}

void KernelRows::append(const Row& x, const Progress& progress) {
  // The rows of a stored model come from outside: nothing is written by an index that was not looked at.
  std::int32_t least = 0;
  std::int32_t most = x.indices == nullptr ? x.count - 1 : -1;
  if (x.indices != nullptr)
    for (std::int32_t k = 0; k < x.count; ++k) {
      least = std::min(least, x.indices[k]);
      most = std::max(most, x.indices[k]);
    }
  if (least < 0 || most >= dimensions())
    throw Error(ErrorKind::wrong_dimensions, "a row with feature " + std::to_string(std::int64_t{most} + 1) +
                                                 " among rows of " + std::to_string(dimensions()) + " features");
  const std::size_t lane = size_ % tile_rows;
  if (is_sparse()) {
    for (std::int32_t k = 0; k < x.count; ++k) {
      const std::int32_t column = x.indices != nullptr ? x.indices[k] : k;
      columns_.push_back(column);
      doubles_.push_back(x.value(k));
      if (layout_ == Layout::compact)
        places_.push_back(place_of_.emplace(column, static_cast<std::int32_t>(place_of_.size())).first->second);
    }
    starts_.push_back(columns_.size());
    longest_ = std::max(longest_, x.count);
  } else if (layout_ == Layout::floats) {
    if (lane == 0) floats_.resize(floats_.size() + tile_rows * d_, 0.0F);
    float* tile = floats_.data() + size_ / tile_rows * tile_rows * d_ + lane;
    for (std::int32_t k = 0; k < x.count; ++k)
      tile[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k) * tile_rows] =
          static_cast<float>(x.value(k));
  } else {
    if (lane == 0) doubles_.resize(doubles_.size() + tile_rows * d_, 0.0);
    double* tile = doubles_.data() + size_ / tile_rows * tile_rows * d_ + lane;
    for (std::int32_t k = 0; k < x.count; ++k)
      tile[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k) * tile_rows] = x.value(k);
  }
  summaries_.resize(summaries_.size() + kernel_->summary_size());
  kernel_->summarize(x, summaries_.data() + size_ * kernel_->summary_size(), progress);
  progress.work(x.count + 16.0);
  longest_square_ = std::max(longest_square_, summary(size_)[0]);
  ++size_;
}

Row KernelRows::sparse_row(std::size_t i) const {
  const std::size_t from = starts_[i];
  return margin::sparse_row(columns_.data() + from, doubles_.data() + from,
                            static_cast<std::int32_t>(starts_[i + 1] - from), 0);
}

Row KernelRows::placed_row(std::size_t i) const {
  Row x = sparse_row(i);
  if (layout_ == Layout::compact && x.count > 0) x.indices = places_.data() + starts_[i];
  return x;
}

Row KernelRows::row(std::size_t i, std::vector<double>& scratch) const {
  if (is_sparse()) return sparse_row(i);
  scratch.resize(d_);
  const std::size_t at = i / tile_rows * tile_rows * d_ + i % tile_rows;
  for (std::size_t j = 0; j < d_; ++j)
    scratch[j] =
        layout_ == Layout::floats ? static_cast<double>(floats_[at + j * tile_rows]) : doubles_[at + j * tile_rows];
  return {scratch.data(), nullptr, static_cast<std::int32_t>(d_), true};
}

void KernelRows::set_places(KernelPoint& point, const Row& x) const {
  if (point.dense.size() != place_of_.size() || point.all)
    point.dense.assign(place_of_.size(), 0.0);
  else
    for (const std::int32_t j : point.touched) point.dense[static_cast<std::size_t>(j)] = 0;
  point.touched.clear();
  point.all = false;
  for (std::int32_t k = 0; k < x.count; ++k) {
    const auto found = place_of_.find(x.indices != nullptr ? x.indices[k] : k);
    if (found == place_of_.end()) continue;  // no row has it
    point.dense[static_cast<std::size_t>(found->second)] = x.value(k);
    point.touched.push_back(found->second);
  }
}

void KernelRows::set(KernelPoint& point, const Row& x, const Progress& progress) const {
  point.summary.resize(kernel_->summary_size());
  kernel_->summarize(x, point.summary.data(), progress);
  progress.work(x.count + 16.0);
  if (is_sparse()) {
    point.features.clear();
    point.values.clear();
    for (std::int32_t k = 0; k < x.count; ++k) {
      if (x.value(k) == 0) continue;
      point.features.push_back(x.indices != nullptr ? x.indices[k] : k);
      point.values.push_back(x.value(k));
    }
  }
  if (layout_ == Layout::compact) return set_places(point, x);
  if (point.dense.size() != d_ || point.all)
    point.dense.assign(d_, 0.0);
  else
    for (const std::int32_t j : point.touched) point.dense[static_cast<std::size_t>(j)] = 0;
  point.touched.clear();
  point.all = x.indices == nullptr;
  for (std::int32_t k = 0; k < x.count; ++k)
    point.dense[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)] = x.value(k);
  if (x.indices != nullptr) point.touched.assign(x.indices, x.indices + x.count);
}

void KernelRows::set(KernelPoint& point, std::size_t i) const {
  if (is_sparse()) {
    set(point, sparse_row(i));
    return;
  }
  point.all = true;
  row(i, point.dense);
  point.summary.assign(summary(i), summary(i) + kernel_->summary_size());
}

void KernelRows::inner_products(const std::vector<const KernelPoint*>& points, std::size_t from, std::size_t to,
                                double* const* values) const {
  if (is_sparse()) {
    for (std::size_t p = 0; p < points.size(); ++p)
      for (std::size_t i = from; i < to; ++i) values[p][i - from] = dot(placed_row(i), points[p]->dense.data());
    return;
  }
  std::vector<const double*> x;
  for (const KernelPoint* point : points) x.push_back(point->dense.data());
  std::vector<double> out(points.size() * tile_rows);
  for (std::size_t i = from; i < to; i += tile_rows) {
    if (layout_ == Layout::floats)
      simd().tile_dots_f(floats_.data() + i * d_, x.data(), points.size(), d_, out.data());
    else
      simd().tile_dots_d(doubles_.data() + i * d_, x.data(), points.size(), d_, out.data());
    const std::size_t count = std::min(tile_rows, to - i);
    for (std::size_t p = 0; p < points.size(); ++p)
      std::copy_n(out.data() + p * tile_rows, count, values[p] + (i - from));
  }
}

void KernelRows::evaluate(const std::vector<const KernelPoint*>& points, std::size_t from, std::size_t to,
                          double* const* values, double* const* errors) const {
  const double terms = is_sparse() ? longest_ : static_cast<double>(d_);
  std::vector<double*> block(points.size());
  for (std::size_t i = from; i < to; i += tile_block * tile_rows) {
    const std::size_t end = std::min(to, i + tile_block * tile_rows);
    for (std::size_t p = 0; p < points.size(); ++p) block[p] = values[p] + (i - from);
    inner_products(points, i, end, block.data());
    for (std::size_t p = 0; p < points.size(); ++p) {
      double* const bound = errors != nullptr ? errors[p] + (i - from) : nullptr;
      kernel_->evaluate(points[p]->summary.data(), summary(i), end - i, terms, block[p], bound);
      if (kernel_->prefers_distance(points[p]->summary[0], longest_square_))
        refine(*points[p], i, end, block[p], bound);
    }
  }
}

double KernelRows::squared_distance(const KernelPoint& point, std::size_t i) const {
  const Row x = sparse_row(i);
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  double sum = 0;
  std::size_t a = 0;
  std::int32_t b = 0;
  while (a < point.features.size() || b < x.count) {
    const std::int32_t own = a < point.features.size() ? point.features[a] : none,
                       other = b < x.count ? x.indices[b] : none;
    const double difference = (own <= other ? point.values[a++] : 0.0) - (other <= own ? x.doubles()[b++] : 0.0);
    sum += difference * difference;
  }
  return sum;
}

namespace {
template <class T>
void tile_distances(const T* tile, const double* x, std::size_t d, double* out) {
  std::fill_n(out, tile_rows, 0.0);
  for (std::size_t j = 0; j < d; ++j)
    for (std::size_t lane = 0; lane < tile_rows; ++lane) {
      const double difference = x[j] - static_cast<double>(tile[j * tile_rows + lane]);
      out[lane] += difference * difference;
    }
}
}  // namespace

void KernelRows::refine(const KernelPoint& point, std::size_t from, std::size_t to, double* values,
                        double* errors) const {
  double distances[tile_rows];
  const double terms = is_sparse() ? static_cast<double>(point.features.size()) + longest_ : static_cast<double>(d_);
  for (std::size_t tile = from; tile < to; tile += tile_rows) {
    const std::size_t end = std::min(to, tile + tile_rows);
    bool known = false;
    for (std::size_t i = tile; i < end; ++i) {
      if (!kernel_->prefers_distance(point.summary[0], summary(i)[0])) continue;
      if (is_sparse())
        distances[i - tile] = squared_distance(point, i);
      else if (!known && layout_ == Layout::floats)
        tile_distances(floats_.data() + tile * d_, point.dense.data(), d_, distances);
      else if (!known)
        tile_distances(doubles_.data() + tile * d_, point.dense.data(), d_, distances);
      known = true;
      kernel_->from_distance(distances[i - tile], terms, values[i - from],
                             errors != nullptr ? errors + (i - from) : nullptr);
    }
  }
}

double KernelRows::operations() const {
  const double inner = is_sparse() && size_ > 0 ? static_cast<double>(columns_.size()) / static_cast<double>(size_)
                                                : static_cast<double>(d_) / 4;
  return inner + kernel_->operations();
}

Layout KernelRows::layout_for(const Dataset& rows) {
  if (rows.density() < thin) return rows.dimensions() > wide_point ? Layout::compact : Layout::sparse;
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    if (rows.row(i).wide) return Layout::doubles;
  return Layout::floats;
}

Layout KernelRows::layout_for(double density) { return density < thin ? Layout::sparse : Layout::doubles; }

double KernelRows::bytes() const {
  return 4.0 * static_cast<double>(floats_.capacity() + columns_.capacity() + places_.capacity()) +
         place_bytes * static_cast<double>(place_of_.size()) +
         8.0 * static_cast<double>(doubles_.capacity() + starts_.capacity() + summaries_.capacity());
}

double KernelRows::bytes(const Dataset& rows, const KernelFunction& kernel) {
  const double n = static_cast<double>(rows.rows()), d = rows.dimensions();
  const Layout layout = layout_for(rows);
  const bool compact = layout == Layout::compact;
  const double each = compact                    ? 16 * rows.density()
                      : layout == Layout::sparse ? 12 * rows.density()
                      : layout == Layout::floats ? 4
                                                 : 8;
  const double places = compact ? place_bytes * std::min(d, rows.density() * n * d) : 0;
  return each * n * d + places + 8 * n * static_cast<double>(kernel.summary_size() + 1) + kernel.bytes();
}

KernelRows kernel_rows(const Dataset& rows, std::shared_ptr<const KernelFunction> kernel, const Progress& progress) {
  progress.work(static_cast<double>(rows.rows()) * 4);  // the look at all rows that follows, and those before
  KernelRows out(std::move(kernel), rows.dimensions(), KernelRows::layout_for(rows));
  const auto n = static_cast<double>(rows.rows());
  out.reserve(static_cast<std::size_t>(rows.rows()), rows.density() * n * rows.dimensions() + 1);
  for (std::int64_t i = 0; i < rows.rows(); ++i) out.append(rows.row(i), progress);
  return out;
}

double largest_diagonal(const KernelRows& rows) {
  double largest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) largest = std::max(largest, rows.diagonal(i));
  return largest;
}

double largest_value_error(const KernelRows& rows) {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows.summary(i)[0] > rows.summary(longest)[0]) longest = i;
  const std::size_t some = std::min<std::size_t>(rows.size(), 256);
  std::vector<double> values(some), errors(some);
  double *value_at = values.data(), *error_at = errors.data();
  KernelPoint point;
  rows.set(point, longest);
  rows.evaluate({&point}, 0, some, &value_at, &error_at);
  return *std::max_element(errors.begin(), errors.end());
}

}  // namespace margin
