#include "core/solvers/newton/gram.hpp"

#include <optional>

#include "core/data/pair_histograms.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

// From here on a matrix of its own for every chunk would take too much memory, and flush() is worth threads.
constexpr std::size_t many_columns = 256;

void add_upper(const SymmetricMatrix& from, SymmetricMatrix& to) {
  for (std::size_t j = 0; j < to.size(); ++j)
    for (std::size_t k = j; k < to.size(); ++k) to.row(j)[k] += from.row(j)[k];
}

}  // namespace

template <class Rows>
void GramSum::add_chunks(std::int64_t count, double factor, SymmetricMatrix& sum, Rows&& rows) {
  const std::size_t d = rows_.columns();
  const auto whole = static_cast<double>(d) * static_cast<double>(d);
  // At least 4096 rows each, so that the matrices take an eighth of the memory of dense rows at most.
  const Chunks chunks(d < many_columns ? count : 1, whole / 32 + rows_.row_work(), 2 * whole + 64 * rows_.row_work());
  if (chunks.count() == 1) {
    if (block_ == nullptr) block_ = std::make_unique<GramBlock>(rows_.features(), rows_.constant());
    rows(0, count, *block_, sum, rows_.run().progress());
    block_->flush(factor, sum, rows_.run().progress());
    return;
  }
  std::vector<std::optional<SymmetricMatrix>> parts(chunks.count());
  rows_.threads().run(chunks.count(), rows_.run().progress(), [&](std::size_t k, const Progress& progress) {
    GramBlock block(rows_.features(), rows_.constant());
    SymmetricMatrix part(sum.size());
    rows(chunks.begin(k), chunks.end(k), block, part, progress);
    block.flush(factor, part, progress);
    parts[k] = std::move(part);
  });
  for (const auto& part : parts) {
    add_upper(*part, sum);
    rows_.run().work(whole);
  }
}

/// Of rows as codes: of those of a weight, copied where they are few.
void GramSum::add_codes(const double* weight, double factor, SymmetricMatrix& sum) {
  const std::int64_t n = rows_.rows();
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < n; ++i)
    if (weight[i] != 0) some.push_back(i);
  rows_.run().work(static_cast<double>(n));
  if (2 * some.size() < static_cast<std::size_t>(n)) return add(some, weight, factor, sum);
  PairHistograms(*rows_.codes(), rows_.constant()).add(weight, factor, sum, rows_.threads(), rows_.run().progress());
}

void GramSum::add(const double* weight, SymmetricMatrix& sum) {
  if (rows_.codes() != nullptr) return add_codes(weight, 1.0, sum);
  add_chunks(
      rows_.rows(), 1.0, sum,
      [&](std::int64_t begin, std::int64_t end, GramBlock& block, SymmetricMatrix& to, const Progress& progress) {
        for (std::int64_t i = begin; i < end; ++i)
          if (weight[i] != 0) {
            rows_.prefetch_after(i);
            block.add(rows_.row(i), weight[i], 1.0, to, progress);
          }
      });
}

void GramSum::add(const std::vector<std::int64_t>& which, const double* weight, double factor, SymmetricMatrix& sum) {
  if (rows_.codes() != nullptr) {
    std::vector<double> weights(which.size());
    for (std::size_t k = 0; k < which.size(); ++k) weights[k] = weight[which[k]];
    const auto codes = rows_.codes()->subset(which, rows_.run().progress());
    return PairHistograms(*codes, rows_.constant())
        .add(weights.data(), factor, sum, rows_.threads(), rows_.run().progress());
  }
  add_chunks(
      static_cast<std::int64_t>(which.size()), factor, sum,
      [&](std::int64_t begin, std::int64_t end, GramBlock& block, SymmetricMatrix& to, const Progress& progress) {
        for (std::int64_t k = begin; k < end; ++k) {
          const std::int64_t i = which[static_cast<std::size_t>(k)];
          block.add(rows_.row(i), weight[i], factor, to, progress);
        }
      });
}

}  // namespace margin
