#include "core/data/pair_histograms.hpp"

#include <algorithm>

namespace margin {

namespace {

constexpr std::int64_t rows_between_polls = 16384;  // rows between two polls
// Tables of so few cells are kept twice or more, in turn by rows: an addition to a cell waits for the last one there.
constexpr std::size_t few_cells = 512, some_cells = 2048;

template <std::size_t copies, class A, class B>
void count_pairs(const A* a, const B* b, const double* weight, std::size_t n, std::size_t width, std::size_t cells,
                 double* table) {
  std::size_t i = 0;
  for (; i + copies <= n; i += copies)
    for (std::size_t k = 0; k < copies; ++k) table[k * cells + a[i + k] * width + b[i + k]] += weight[i + k];
  for (; i < n; ++i) table[a[i] * width + b[i]] += weight[i];
}

double& at(SymmetricMatrix& m, std::int32_t j, std::int32_t k) {
  return m.row(static_cast<std::size_t>(std::min(j, k)))[std::max(j, k)];
}

}  // namespace

PairHistograms::PairHistograms(const CodedRows& rows, double constant) : rows_(rows), constant_(constant) {
  for (std::size_t s = 0; s < rows.layout().terms.size(); ++s)
    for (std::size_t t = s + 1; t < rows.layout().terms.size(); ++t) pairs_.push_back({s, t});
}

double PairHistograms::work(const CodeLayout& layout, double rows) {
  const auto p = static_cast<double>(layout.terms.size()), q = static_cast<double>(layout.numbers.size()) + 1;
  return rows * (p * (p - 1) / 2 + p * q + q * q / 2);
}

/// The products with number k, or, behind the numbers, with the constant; with it the terms' own blocks.
void PairHistograms::add_number(std::size_t k, const double* weight, double factor, SymmetricMatrix& sum,
                                const Progress& progress) const {
  const CodeLayout& layout = rows_.layout();
  const std::size_t numbers = layout.numbers.size();
  const bool of_constant = k == numbers;
  const double* const x = of_constant ? nullptr : rows_.number(k);
  const RowSums sums(rows_);
  const std::vector<std::size_t> starts = layout.starts();
  std::vector<double> cells(sums.size(), 0.0), c(static_cast<std::size_t>(rows_between_polls)),
      features(static_cast<std::size_t>(layout.dimensions), 0.0);
  for (std::int64_t begin = 0; begin < rows_.rows(); begin += rows_between_polls) {
    const std::int64_t end = std::min(rows_.rows(), begin + rows_between_polls);
    for (std::int64_t i = begin; i < end; ++i)
      c[static_cast<std::size_t>(i - begin)] = of_constant ? weight[i] : weight[i] * x[i];
    sums.add(begin, end, c.data(), cells.data());
    progress.work(static_cast<double>(end - begin) * RowScores::work(layout));
  }
  const double mass = sums.features(cells.data(), features.data());
  if (!of_constant) {
    const std::int32_t j = layout.numbers[k];
    for (const CodedTerm& t : layout.terms)
      for (std::int32_t f = t.first; f < t.first + t.features(); ++f)
        at(sum, f, j) += factor * features[static_cast<std::size_t>(f)];
    for (std::size_t l = k; l < numbers; ++l)
      at(sum, j, layout.numbers[l]) += factor * features[static_cast<std::size_t>(layout.numbers[l])];
    if (constant_ != 0) at(sum, j, layout.dimensions) += factor * constant_ * mass;
    return;
  }
  for (std::size_t t = 0; t < layout.terms.size(); ++t) {
    const CodedTerm& term = layout.terms[t];
    const double* const of = cells.data() + starts[t];
    for (std::int32_t f = 0; f < term.features(); ++f) {
      const double v = factor * features[static_cast<std::size_t>(term.first + f)];
      if (constant_ != 0) at(sum, term.first + f, layout.dimensions) += constant_ * v;
      // Of two steps the later one is 1 only where both are.
      for (std::int32_t before = 0; before < std::min(f, term.steps); ++before)
        if (f < term.steps) at(sum, term.first + before, term.first + f) += v;
      at(sum, term.first + f, term.first + f) += v;
      for (std::int32_t before = 0; f >= term.steps && before < term.filled; ++before)
        at(sum, term.first + before, term.first + f) += factor * of[f + 1];
    }
  }
  if (constant_ != 0) at(sum, layout.dimensions, layout.dimensions) += factor * constant_ * constant_ * mass;
  progress.work(static_cast<double>(layout.dimensions) * 8);
}

void PairHistograms::add_pair(const Pair& pair, const double* weight, double factor, std::vector<double>& table,
                              SymmetricMatrix& sum, const Progress& progress) const {
  const CodedTerm &s = rows_.layout().terms[pair.one], &t = rows_.layout().terms[pair.other];
  const auto width = static_cast<std::size_t>(t.codes()), cells = static_cast<std::size_t>(s.codes()) * width,
             copies = std::size_t{cells <= few_cells    ? 4U
                                  : cells <= some_cells ? 2U
                                                        : 1U};
  const auto features = static_cast<std::size_t>(t.features());
  table.assign(std::max(copies * cells, cells + features), 0.0);
  for (std::int64_t begin = 0; begin < rows_.rows(); begin += rows_between_polls) {
    const auto n = static_cast<std::size_t>(std::min(rows_between_polls, rows_.rows() - begin));
    rows_.with_codes(pair.one, [&](const auto* a) {
      rows_.with_codes(pair.other, [&](const auto* b) {
        if (copies == 4)
          count_pairs<4>(a + begin, b + begin, weight + begin, n, width, cells, table.data());
        else if (copies == 2)
          count_pairs<2>(a + begin, b + begin, weight + begin, n, width, cells, table.data());
        else
          count_pairs<1>(a + begin, b + begin, weight + begin, n, width, cells, table.data());
      });
    });
    progress.work(2.0 * static_cast<double>(n));
  }
  for (std::size_t k = 1; k < copies; ++k)
    for (std::size_t cell = 0; cell < cells; ++cell) table[cell] += table[k * cells + cell];
  // Along the second side in place: each feature's sum stands where its own cell was.
  for (std::int32_t c = 0; c < s.codes(); ++c) {
    double* const row = table.data() + static_cast<std::size_t>(c) * width;
    fold_cells(t, row, [&](std::int32_t f, double v) { row[f + 1] = v; });
  }
  // Along the first, all features of the second at once.
  const auto row = [&](std::int32_t code) { return table.data() + static_cast<std::size_t>(code) * width + 1; };
  const auto put = [&](std::int32_t f, const double* from) {
    double* const to = sum.row(static_cast<std::size_t>(s.first + f)) + t.first;
    for (std::size_t k = 0; k < features; ++k) to[k] += factor * from[k];
  };
  std::vector<double> all(features, 0.0), running(features, 0.0);
  for (std::int32_t k = 0; k < s.indicators; ++k) {
    const double* const from = row(s.steps + 1 + k);
    put(s.steps + k, from);
    for (std::size_t f = 0; f < features; ++f) all[f] += from[f];
  }
  for (std::int32_t step = s.steps; step-- > 0;) {
    const double* const from = row(step + 1);
    for (std::size_t f = 0; f < features; ++f) running[f] += from[f];
    if (step + 1 == s.filled)
      for (std::size_t f = 0; f < features; ++f) running[f] += all[f];
    put(step, running.data());
  }
  progress.work(static_cast<double>(copies * cells) * 4);
}

void PairHistograms::add(const double* weight, double factor, SymmetricMatrix& sum, Threads& threads,
                         const Progress& progress) {
  // Cells of their own: the order in which they are written does not matter.
  const auto rows = static_cast<double>(rows_.rows());
  const std::size_t numbers = rows_.layout().numbers.size() + 1;
  const auto items = static_cast<std::int64_t>(pairs_.size() + numbers);
  const Chunks chunks(items, 2 * rows);
  threads.run(chunks.count(), progress, [&](std::size_t chunk, const Progress& own) {
    std::vector<double> table;
    for (auto k = static_cast<std::size_t>(chunks.begin(chunk)); k < static_cast<std::size_t>(chunks.end(chunk)); ++k) {
      if (k < numbers)
        add_number(k, weight, factor, sum, own);
      else
        add_pair(pairs_[k - numbers], weight, factor, table, sum, own);
    }
  });
}

}  // namespace margin
