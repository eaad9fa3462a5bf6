#include "core/solvers/margin_scan.hpp"

#include <algorithm>
#include <limits>

#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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
  const std::vector<Entry>& entries() const { return heap_; }

 private:
  std::size_t capacity_;
  std::vector<Entry> heap_;
};

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
  const std::int32_t k = problem.classes, outputs = problem.outputs();
  const std::int64_t n = problem.rows();
  PairMargins s;
  s.pair = Eigen::MatrixXd::Constant(k, k, infinity);
  std::vector<Worst> heaps(static_cast<std::size_t>(per_class > 0 ? k : 0), Worst(per_class));
  std::vector<double> scores(static_cast<std::size_t>(outputs));
  for (std::int64_t i = 0; i < n; ++i) {
    const Row x = problem.data.row(i);
    if (i + 4 < n) prefetch(problem.data.row(i + 4));
    run.work((static_cast<double>(x.count) + 4) * outputs + 8);
    const std::int32_t own = problem.label[static_cast<std::size_t>(i)];
    if (outputs == 1) {
      const double m = (own == 1 ? 1.0 : -1.0) * dot(x, weights.data());
      double& least = s.pair(own, 1 - own);
      if (m < least) least = m;
      if (per_class > 0 && heaps[static_cast<std::size_t>(own)].wants(m))
        heaps[static_cast<std::size_t>(own)].add({m, i, 1 - own});
      continue;
    }
    for (std::int32_t o = 0; o < outputs; ++o) scores[static_cast<std::size_t>(o)] = dot(x, weights.row(o).data());
    double closest = infinity;
    std::int32_t rival = -1;
    for (std::int32_t c = 0; c < k; ++c) {
      if (c == own) continue;
      const double m = scores[static_cast<std::size_t>(own)] - scores[static_cast<std::size_t>(c)];
      s.pair(own, c) = std::min(s.pair(own, c), m);
      const double key = m + (offset != nullptr ? (*offset)(own) - (*offset)(c) : 0.0);
      if (rival < 0 || key < closest) {
        closest = key;
        rival = c;
      }
    }
    if (per_class > 0 && heaps[static_cast<std::size_t>(own)].wants(closest))
      heaps[static_cast<std::size_t>(own)].add({closest, i, rival});
  }
  if (worst != nullptr) {
    worst->clear();
    for (std::int32_t c = 0; c < k && per_class > 0; ++c)
      for (const auto& e : heaps[static_cast<std::size_t>(c)].entries()) worst->push_back({e.row, c, e.rival});
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
