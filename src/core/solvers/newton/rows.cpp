#include "core/solvers/newton/rows.hpp"

#include <algorithm>
#include <optional>

#include "core/base/polled.hpp"
#include "core/math/box_term.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr std::int64_t block_rows = 1024;  // rows, or more where they are thin

}  // namespace

NewtonRows::NewtonRows(const Problem& problem, Run& run)
    : data_(problem.data),
      codes_(data_.codes()),
      run_(run),
      rows_(problem.rows()),
      features_(static_cast<std::size_t>(problem.dimensions())),
      constant_(problem.free_intercept ? 1.0
                : problem.intercept    ? problem.intercept_scale
                                       : 0.0),
      free_(problem.free_intercept),
      held_(problem.offset >= 0 ? static_cast<std::size_t>(problem.offset) : columns()),
      bounds_(problem.bounds.empty() ? nullptr : &problem.bounds),
      constraints_(problem.constraints.empty() ? nullptr : &problem.constraints) {}

NewtonRows::NewtonRows(const NewtonRows& all, std::vector<std::int64_t> which)
    : data_(all.data_),
      run_(all.run_),
      which_(std::move(which)),
      rows_(static_cast<std::int64_t>(which_.size())),
      features_(all.features_),
      constant_(all.constant_),
      free_(all.free_),
      held_(all.held_),
      bounds_(all.bounds_),
      constraints_(all.constraints_) {
  if (all.codes_ != nullptr) codes_ = all.codes_->subset(which_, run_.progress());
  for (std::int64_t& i : which_) i = all.source(i);
}

double NewtonRows::conjugate_penalty(const double* v) const {
  if (!bounded()) return 0.5 * penalized_product(v, v);
  double sum = 0;
  for (std::size_t j = 0; j < penalized(); ++j)
    if (j != held_) sum -= box_value(v[j], 1, 0, low(j), high(j));
  return sum;
}

double NewtonRows::penalty_gap(const double* w, const double* r) const {
  double sum = 0;
  for (std::size_t j = 0; j < penalized(); ++j) {
    if (j == held_) continue;
    // As the minimiser is the point between the bounds that is nearest to v, neither term is negative.
    const double v = w[j] - r[j], at = std::clamp(v, low(j), high(j)), off = w[j] - at;
    sum += 0.5 * off * off + std::max(0.0, off * (at - v));
  }
  return sum;
}

double NewtonRows::penalized_product(const double* v, const double* w) const {
  if (held_ == columns()) return simd().dot_dd(v, w, penalized());
  const std::size_t after = held_ + 1;
  return simd().dot_dd(v, w, held_) + simd().dot_dd(v + after, w + after, penalized() - after);
}

void NewtonRows::scores(const double* w, double* u) const {
  const double offset = constant_ != 0 ? constant_ * w[features_] : 0.0;
  const Chunks chunks(rows_, row_work());
  const std::optional<RowScores> of_codes = codes_ != nullptr ? std::optional<RowScores>({*codes_, w}) : std::nullopt;
  threads().run(chunks.count(), run_.progress(), [&](std::size_t chunk, const Progress& progress) {
    const std::int64_t end = chunks.end(chunk);
    for (std::int64_t i = chunks.begin(chunk); of_codes.has_value() && i < end; i += block_rows) {
      const std::int64_t to = std::min(end, i + block_rows);
      of_codes->write(i, to, offset, u + i);
      progress.work(static_cast<double>(to - i) * row_work());
    }
    if (of_codes.has_value()) return;
    for (std::int64_t i = chunks.begin(chunk); i < end; ++i) {
      prefetch_after(i);
      const Row x = row(i);
      u[i] = dot(x, w) + offset;
      progress.work(x.count + 8);
    }
  });
}

void NewtonRows::sum_codes(const double* coefficient, bool squares, double* v) const {
  const RowSums sums(*codes_);
  const std::size_t size = sums.size();
  const Chunks blocks((rows_ + block_rows - 1) / block_rows, static_cast<double>(block_rows) * row_work(),
                      static_cast<double>(size));
  std::vector<double> cells(size, 0.0);
  const auto add_blocks = [&](std::int64_t first, std::int64_t last, double* sum, const Progress& progress) {
    std::vector<double> part(size);
    for (std::int64_t begin = first * block_rows; begin < std::min(rows_, last * block_rows); begin += block_rows) {
      const std::int64_t end = std::min(rows_, begin + block_rows);
      std::fill(part.begin(), part.end(), 0.0);
      sums.add(begin, end, coefficient + begin, part.data(), squares);
      for (std::size_t j = 0; j < size; ++j) sum[j] += part[j];
      progress.work(static_cast<double>(end - begin) * row_work() + static_cast<double>(2 * size));
    }
  };
  add_in_chunks(threads(), blocks, run_.progress(), cells.data(), size, add_blocks);
  const double mass = sums.features(cells.data(), v);
  if (constant_ != 0) v[features_] = mass * (squares ? constant_ * constant_ : constant_);
}

void NewtonRows::combine(const double* coefficient, double* v) const {
  if (codes_ != nullptr) return sum_codes(coefficient, false, v);
  const std::size_t d = columns();
  std::fill(v, v + d, 0.0);
  // A block reads more numbers than it has columns: wide sparse rows would be lost among the sums of blocks.
  const double columns_read = 4 * static_cast<double>(d) / stored_numbers(data_);
  const std::int64_t size = std::max(block_rows, static_cast<std::int64_t>(columns_read));
  const Chunks blocks((rows_ + size - 1) / size, static_cast<double>(size) * row_work(), static_cast<double>(d));
  const auto add_blocks = [&](std::int64_t first, std::int64_t last, double* sum, const Progress& progress) {
    std::vector<double> part(d);
    for (std::int64_t begin = first * size; begin < std::min(rows_, last * size); begin += size) {
      const std::int64_t end = std::min(rows_, begin + size);
      std::fill(part.begin(), part.end(), 0.0);
      double mass = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const double c = coefficient[i];
        if (c == 0) continue;
        prefetch_after(i);
        const Row x = row(i);
        margin::add(c, x, part.data());
        mass += c;
        progress.work(x.count + 8);
      }
      if (constant_ != 0) part[features_] = mass * constant_;
      for (std::size_t j = 0; j < d; ++j) sum[j] += part[j];
      progress.work(static_cast<double>(2 * d));
    }
  };
  add_in_chunks(threads(), blocks, run_.progress(), v, d, add_blocks);
}

void NewtonRows::add(const std::vector<std::int64_t>& which, const std::vector<double>& coefficient, double* v) const {
  if (codes_ != nullptr) {
    const RowSums sums(*codes_);
    std::vector<double> cells(sums.size(), 0.0), part(columns());
    polled_each(static_cast<std::int64_t>(which.size()), row_work(), run_.progress(), [&](std::int64_t k) {
      const auto at = static_cast<std::size_t>(k);
      sums.add(&which[at], 1, &coefficient[at], cells.data());
    });
    const double mass = sums.features(cells.data(), part.data());
    if (constant_ != 0) part[features_] = mass * constant_;
    for (std::size_t j = 0; j < columns(); ++j) v[j] += part[j];
    return;
  }
  const Chunks chunks(static_cast<std::int64_t>(which.size()), row_work(), static_cast<double>(columns()));
  const auto add_rows = [&](std::int64_t begin, std::int64_t end, double* sum, const Progress& progress) {
    double mass = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const double c = coefficient[static_cast<std::size_t>(k)];
      const Row x = row(which[static_cast<std::size_t>(k)]);
      margin::add(c, x, sum);
      mass += c;
      progress.work(x.count + 8);
    }
    if (constant_ != 0) sum[features_] += mass * constant_;
  };
  add_in_chunks(threads(), chunks, run_.progress(), v, columns(), add_rows);
}

}  // namespace margin
