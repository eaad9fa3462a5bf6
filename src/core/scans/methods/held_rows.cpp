#include "core/scans/methods/held_rows.hpp"

#include <algorithm>
#include <numeric>

namespace margin {

namespace {

// Rows beside the sample, as a multiple of what a scan may bring.
constexpr std::int64_t most_bags = 4;

std::unique_ptr<Dataset> sample_of(const ScanProblem& p) {
  std::vector<std::int64_t> all(p.sample_stands_for.size());
  std::iota(all.begin(), all.end(), 0);
  return std::make_unique<Dataset>(p.sample_rows().subset(all));
}

}  // namespace

HeldRows::HeldRows(const ScanProblem& problem)
    : p_(problem), stands_for_(problem.sample_stands_for), rows_(sample_of(problem)) {
  for (const std::uint64_t identity : problem.sample_identity) ++copies_[identity];
}

void HeldRows::take(Bag& bag, const Progress& progress) {
  bag.sort();
  std::unordered_map<std::uint64_t, std::int64_t> seen;
  seen.reserve(static_cast<std::size_t>(bag.rows()));
  copies_.reserve(copies_.size() + static_cast<std::size_t>(bag.rows()));
  for (std::int64_t i = 0; i < bag.rows(); ++i) {
    const KeptRow row = bag.row(i);
    progress.work(16.0 * row.x.count + 64);  // its bytes are hashed and copied
    const std::uint64_t identity = row_identity(row);
    std::int64_t& known = copies_[identity];
    if (++seen[identity] <= known) continue;
    ++known;
    p_.append(*rows_, row, row.weight);
    identity_.push_back(identity);
  }
}

bool HeldRows::too_many(std::int64_t bag_bytes) const {
  return static_cast<std::int64_t>(rows_->bytes()) > most_bags * bag_bytes;
}

std::vector<std::int64_t> HeldRows::forget(const std::vector<double>& distance) {
  const auto sampled = static_cast<std::int64_t>(stands_for_.size());
  std::vector<std::int64_t> stay(identity_.size());
  std::iota(stay.begin(), stay.end(), sampled);
  const auto by_distance = [&](std::int64_t a, std::int64_t b) {
    const double left = distance[static_cast<std::size_t>(a)], right = distance[static_cast<std::size_t>(b)];
    return left != right ? left < right : a < b;
  };
  std::sort(stay.begin(), stay.end(), by_distance);
  stay.resize(stay.size() / 2);
  std::sort(stay.begin(), stay.end());
  std::unique_ptr<Dataset> kept = sample_of(p_);
  std::vector<std::uint64_t> identity;
  copies_.clear();
  for (const std::uint64_t known : p_.sample_identity) ++copies_[known];
  for (const std::int64_t i : stay) {
    const Row x = rows_->row(i);
    kept->append({x, p_.dimensions}, rows_->label(i), rows_->weight(i));
    identity.push_back(identity_[static_cast<std::size_t>(i - sampled)]);
    ++copies_[identity.back()];
  }
  rows_ = std::move(kept);
  identity_ = std::move(identity);
  std::vector<std::int64_t> all(static_cast<std::size_t>(sampled));
  std::iota(all.begin(), all.end(), 0);
  all.insert(all.end(), stay.begin(), stay.end());
  return all;
}

NewtonProblem HeldRows::newton(const Problem& problem, std::int32_t output, NewtonProblem::Systems systems,
                               Run& run) const {
  NewtonProblem all(problem, output, systems, run);
  for (std::size_t i = 0; i < stands_for_.size(); ++i) all.cost[i] /= stands_for_[i];
  if (problem.one_class()) std::fill(all.y.begin(), all.y.end(), 0.0);  // where its loss has the kink
  return all;
}

std::vector<double> proximal_weights(const ScanProblem& problem) {
  constexpr double share = 0.01;
  const Problem& p = problem.sample();
  const double constant = p.intercept_column();
  std::vector<double> weights(static_cast<std::size_t>(p.dimensions()) + (constant != 0 ? 1 : 0), 1.0);
  const double unit = share / (p.lambda * p.total_weight);
  for (std::int64_t i = 0; i < p.rows(); ++i) {
    const Row x = p.data.row(i);
    const double c = unit * p.weight(i);
    for (std::int32_t k = 0; k < x.count; ++k)
      weights[static_cast<std::size_t>(x.indices != nullptr ? x.indices[k] : k)] += c * x.value(k) * x.value(k);
    if (constant != 0) weights.back() += c * constant * constant;
  }
  return weights;
}

}  // namespace margin
