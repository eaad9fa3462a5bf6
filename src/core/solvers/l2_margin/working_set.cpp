#include "core/solvers/l2_margin/working_set.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/polled.hpp"
#include "core/data/four_rows.hpp"
#include "core/data/row_pass.hpp"

namespace margin {

namespace {
constexpr Eigen::Index first_capacity = 64;  // rows, where there are as many

/// Whether four rows are dense and of one width.
bool alike(const Row* x) {
  return std::all_of(x, x + 4, [&](const Row& r) { return r.indices == nullptr && r.wide == x->wide; });
}

}  // namespace

WorkingSet::WorkingSet(const Problem& problem, double scale)
    : problem_(problem), scale_(scale), outputs_(problem.outputs()), rows_(problem.data) {
  const auto few = static_cast<std::size_t>(std::min<std::int64_t>(problem.rows(), first_capacity));
  pairs_.reserve(few);
  slot_.reserve(few);
}

bool WorkingSet::add(const std::vector<Pair>& pairs, Eigen::Index most_rows, const Progress& progress) {
  const Eigen::Index before = distinct_rows();
  bool added = false;
  for (const Pair& pair : pairs) {
    const std::int64_t key = pair.row * problem_.classes + pair.rival;
    if (!index_of_pair_.emplace(key, size()).second) continue;
    slot_.push_back(intern_row(pair.row));
    pairs_.push_back(pair);
    added = true;
    if (distinct_rows() > most_rows) break;
  }
  multiply_from(before, progress);
  return added;
}

void WorkingSet::grow(Eigen::Index capacity, const Progress& progress) {
  Eigen::MatrixXd grown(capacity, capacity);
  for (Eigen::Index c = 0; c < inner_.cols(); ++c) {
    grown.col(c).head(inner_.rows()) = inner_.col(c);
    progress.work(4.0 * static_cast<double>(capacity));  // memory is fresh: the kernel zeroes it first
  }
  inner_.swap(grown);
}

std::int32_t WorkingSet::intern_row(std::int64_t row) {
  const auto found = slot_of_row_.find(row);
  if (found != slot_of_row_.end()) return found->second;
  const auto slot = static_cast<std::int32_t>(rows_.size());
  rows_.add(row);
  slot_of_row_.emplace(row, slot);
  return slot;
}

/// The products of the rows from `first` on with all before them and with themselves.
void WorkingSet::multiply_from(Eigen::Index first, const Progress& progress) {
  const Eigen::Index rows = distinct_rows();
  if (rows == first) return;
  if (rows > inner_.rows()) {
    Eigen::Index capacity = std::max(inner_.rows(), std::min<Eigen::Index>(first_capacity, problem_.rows()));
    while (capacity < rows) capacity = capacity * 3 / 2;
    grow(capacity, progress);
  }
  const Chunks chunks(rows - first, (stored_numbers(problem_.data) + 8) * static_cast<double>(rows),
                      problem_.dimensions());
  pass_threads(problem_.data, progress).run(chunks.count(), progress, [&](std::size_t chunk, const Progress& own) {
    std::vector<double> dense(static_cast<std::size_t>(problem_.dimensions()));
    for (Eigen::Index slot = first + chunks.begin(chunk); slot < first + chunks.end(chunk); ++slot) {
      const Row& x = rows_[static_cast<std::size_t>(slot)];
      // One side of every product is expanded and scaled, so that no square of a raw value is ever formed.
      std::fill(dense.begin(), dense.end(), 0.0);
      margin::add(scale_, x, dense.data());
      for (Eigen::Index from = 0; from <= slot; from += 4) {
        const auto count = static_cast<int>(std::min<Eigen::Index>(4, slot + 1 - from));
        const Row* const others = &rows_[static_cast<std::size_t>(from)];
        double products[4];
        if (count == 4 && alike(others))
          dots(others, count, nullptr, dense.data(), products);
        else
          for (int r = 0; r < count; ++r) products[r] = dot(others[r], dense.data());
        for (int r = 0; r < count; ++r) {
          const double product = scale_ * products[r];
          inner_(from + r, slot) = product;
          inner_(slot, from + r) = product;
        }
      }
      own.work((static_cast<double>(x.count) + 8) * static_cast<double>(slot) + static_cast<double>(dense.size()));
    }
  });
}

double WorkingSet::gram(Eigen::Index i, Eigen::Index j) const {
  const Pair &p = pairs_[static_cast<std::size_t>(i)], &q = pairs_[static_cast<std::size_t>(j)];
  const double product = inner_(slot_[static_cast<std::size_t>(i)], slot_[static_cast<std::size_t>(j)]);
  if (outputs_ == 1) return p.own == q.own ? product : -product;
  const int same = (p.own == q.own) - (p.own == q.rival) - (p.rival == q.own) + (p.rival == q.rival);
  return same * product;
}

Eigen::VectorXd WorkingSet::products(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& weights,
                                     const Progress& progress) const {
  const Eigen::Index rows = distinct_rows();
  const auto height = static_cast<std::size_t>(rows);
  polled_assign(scores_, height * static_cast<std::size_t>(outputs_), 0.0, progress);  // column by column
  const auto of_class = [&](std::int32_t o) { return scores_.data() + height * static_cast<std::size_t>(o); };
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto at = static_cast<std::size_t>(members[m]);
    const Pair& p = pairs_[at];
    const double* column = inner_.col(slot_[at]).data();
    const double weight = weights(static_cast<Eigen::Index>(m));
    if (weight == 0) continue;
    if (outputs_ == 1) {
      simd().axpy_d(coefficient(p, 0) * weight, column, of_class(0), height);
    } else {
      simd().axpy_d(weight, column, of_class(p.own), height);
      simd().axpy_d(-weight, column, of_class(p.rival), height);
    }
    progress.work(2.0 * static_cast<double>(height));
  }
  Eigen::VectorXd out(size());
  for (Eigen::Index j = 0; j < size(); ++j) {
    const Pair& p = pairs_[static_cast<std::size_t>(j)];
    const Eigen::Index slot = slot_[static_cast<std::size_t>(j)];
    out(j) = outputs_ == 1 ? coefficient(p, 0) * of_class(0)[slot] : of_class(p.own)[slot] - of_class(p.rival)[slot];
  }
  return out;
}

Weights WorkingSet::combine(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& weights) const {
  Weights w = Weights::Zero(outputs_, problem_.dimensions());
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Pair& p = pairs_[static_cast<std::size_t>(members[m])];
    const double a = scale_ * weights(static_cast<Eigen::Index>(m));
    if (a == 0) continue;
    const Row& x = row_of(members[m]);
    if (outputs_ == 1) {
      margin::add(coefficient(p, 0) * a, x, w.row(0).data());
    } else {
      margin::add(a, x, w.row(p.own).data());
      margin::add(-a, x, w.row(p.rival).data());
    }
  }
  return w;
}

Weights WorkingSet::combine_exactly(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& weights) const {
  Weights w = Weights::Zero(outputs_, problem_.dimensions()), low = w;
  auto add_product = [&](double a, double x, double& sum, double& rest) {
    const double product = a * x, lost = std::fma(a, x, -product);
    const double total = sum + product, part = total - sum;
    rest += (sum - (total - part)) + (product - part) + lost;  // the exact error of the sum (Knuth) and the product
    sum = total;
  };
  for (std::size_t m = 0; m < members.size(); ++m) {
    const Pair& p = pairs_[static_cast<std::size_t>(members[m])];
    const double a = scale_ * weights(static_cast<Eigen::Index>(m));  // a power of two times the weight: exact
    const Row& x = row_of(members[m]);
    for (std::int32_t k = 0; k < x.count; ++k) {
      const std::int32_t j = x.indices != nullptr ? x.indices[k] : k;
      if (outputs_ == 1) {
        add_product(coefficient(p, 0) * a, x.value(k), w(0, j), low(0, j));
      } else {
        add_product(a, x.value(k), w(p.own, j), low(p.own, j));
        add_product(-a, x.value(k), w(p.rival, j), low(p.rival, j));
      }
    }
  }
  return w + low;
}

Eigen::VectorXd WorkingSet::expand(Eigen::Index j) const {
  const Weights z = combine({j}, Eigen::VectorXd::Ones(1));
  return Eigen::Map<const Eigen::VectorXd>(z.data(), z.size());
}

double WorkingSet::product(Eigen::Index j, const Weights& w) const {
  const Pair& p = pairs_[static_cast<std::size_t>(j)];
  const Row& x = row_of(j);
  const double own = dot(x, w.row(outputs_ == 1 ? 0 : p.own).data());
  if (outputs_ == 1) return scale_ * coefficient(p, 0) * own;
  return scale_ * (own - dot(x, w.row(p.rival).data()));
}

}  // namespace margin
