#include "core/solvers/margin_scan.hpp"

#include <algorithm>

#include "core/data/four_rows.hpp"
#include "core/data/row_pass.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

/// The `capacity` smallest (key, row, rival) seen; ties by row, so that the choice does not depend on heap order.
class Worst {
 public:
  explicit Worst(std::size_t capacity) : capacity_(capacity) {}
  struct Entry {
    double key;
    std::int64_t row;
    std::int32_t rival;
    bool operator<(const Entry& o) const { return key != o.key ? key < o.key : row < o.row; }
  };
  bool wants(double key) const { return heap_.size() < capacity_ || key < heap_.front().key; }
  void add(const Entry& e) {
    if (heap_.size() == capacity_) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = e;
    } else {
      heap_.push_back(e);
    }
    std::push_heap(heap_.begin(), heap_.end());
  }
  /// Those of other rows, in any order.
  void add(const Worst& others) {
    for (const Entry& e : others.heap_)
      if (heap_.size() < capacity_ || e < heap_.front()) add(e);
  }
  const std::vector<Entry>& entries() const { return heap_; }

 private:
  std::size_t capacity_;
  std::vector<Entry> heap_;
};

/// What one pass keeps of all rows, or of some: the same whatever the rows are divided into.
struct Extremes {
  Extremes(std::int32_t classes, std::size_t per_class)
      : pair(Eigen::MatrixXd::Constant(classes, classes, infinity)),
        heaps(static_cast<std::size_t>(per_class > 0 ? classes : 0), Worst(per_class)) {}
  void keep(std::int32_t own, const Worst::Entry& entry) {
    if (!heaps.empty() && heaps[static_cast<std::size_t>(own)].wants(entry.key))
      heaps[static_cast<std::size_t>(own)].add(entry);
  }
  void add(const Extremes& others) {
    pair = pair.cwiseMin(others.pair);
    for (std::size_t c = 0; c < heaps.size(); ++c) heaps[c].add(others.heaps[c]);
  }

  Eigen::MatrixXd pair;
  std::vector<Worst> heaps;
};

/// The rows from `begin` to before `end`; what is kept of them does not depend on their order.
void scan_rows(const Problem& problem, const Weights& weights, const Eigen::VectorXd* offset, std::int64_t begin,
               std::int64_t end, Extremes& seen, const Progress& progress) {
  const std::int32_t k = problem.classes, outputs = problem.outputs();
  std::vector<double> scores(4 * static_cast<std::size_t>(outputs));  // of row r and output o at 4 o + r
  RowsByFour rows(problem.data, [&](const std::int64_t* dealt, const Row* x, int count, const Row* next) {
    for (std::int32_t o = 0; o < outputs; ++o)
      dots(x, count, o == 0 ? next : nullptr, weights.row(o).data(), &scores[4 * static_cast<std::size_t>(o)]);
    for (int r = 0; r < count; ++r) {
      const std::int64_t i = dealt[r];
      const auto score = [&](std::int32_t o) { return scores[static_cast<std::size_t>(4 * o + r)]; };
      progress.work((static_cast<double>(x[r].count) + 4) * outputs + 8);
      const std::int32_t own = problem.label[static_cast<std::size_t>(i)];
      if (outputs == 1) {
        const double m = (own == 1 ? 1.0 : -1.0) * score(0);
        double& least = seen.pair(own, 1 - own);
        if (m < least) least = m;
        seen.keep(own, {m, i, 1 - own});
        continue;
      }
      double closest = infinity;
      std::int32_t rival = -1;
      for (std::int32_t c = 0; c < k; ++c) {
        if (c == own) continue;
        const double m = score(own) - score(c);
        seen.pair(own, c) = std::min(seen.pair(own, c), m);
        const double key = m + (offset != nullptr ? (*offset)(own) - (*offset)(c) : 0.0);
        if (rival < 0 || key < closest) {
          closest = key;
          rival = c;
        }
      }
      seen.keep(own, {closest, i, rival});
    }
  });
  for (std::int64_t i = begin; i < end; ++i) rows.add(i);
  rows.finish();
}

}  // namespace

void finish_smallest(const Problem& problem, PairMargins& s, Run& run) {
  if (problem.intercept) {
    s.best = best_offsets(s.pair, run.progress());
    return;
  }
  double value = infinity;
  for (Eigen::Index a = 0; a < s.pair.rows(); ++a)
    for (Eigen::Index c = 0; c < s.pair.cols(); ++c)
      if (a != c) value = std::min(value, s.pair(a, c));
  s.best = {value, Eigen::VectorXd::Zero(problem.classes)};
}

PairMargins scan(const Problem& problem, const Weights& weights, Run& run, std::size_t per_class,
                 const Eigen::VectorXd* offset, std::vector<Pair>* worst) {
  const std::int32_t k = problem.classes;
  const double kept = static_cast<double>(k) * (k + 3.0 * static_cast<double>(per_class));
  const Chunks chunks(problem.rows(), (stored_numbers(problem.data) + 4) * problem.outputs() + 8, kept);
  std::vector<Extremes> seen(chunks.count(), Extremes(k, per_class));
  pass_threads(problem.data, run.progress())
      .run(chunks.count(), run.progress(), [&](std::size_t chunk, const Progress& progress) {
        scan_rows(problem, weights, offset, chunks.begin(chunk), chunks.end(chunk), seen[chunk], progress);
      });
  for (std::size_t chunk = 1; chunk < seen.size(); ++chunk) seen[0].add(seen[chunk]);
  PairMargins s;
  s.pair = std::move(seen[0].pair);
  if (worst != nullptr) {
    worst->clear();
    for (std::int32_t c = 0; c < k && per_class > 0; ++c)
      for (const auto& e : seen[0].heaps[static_cast<std::size_t>(c)].entries()) worst->push_back({e.row, c, e.rival});
    std::sort(worst->begin(), worst->end(), [](const Pair& a, const Pair& b) { return a.row < b.row; });
  }
  finish_smallest(problem, s, run);
  return s;
}

Eigen::VectorXd intercept_of(const Problem& problem, const Eigen::VectorXd& class_offsets) {
  if (problem.outputs() > 1) return class_offsets;
  return Eigen::VectorXd::Constant(1, class_offsets(1) - class_offsets(0));
}

double dual_bytes(const Problem& problem) { return 8.0 * static_cast<double>(problem.rows()) * problem.outputs(); }

}  // namespace margin
