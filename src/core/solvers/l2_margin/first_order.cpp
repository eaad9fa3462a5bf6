#include "core/solvers/l2_margin/first_order.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/polled.hpp"
#include "core/base/threads.hpp"
#include "core/data/four_rows.hpp"
#include "core/data/row_pass.hpp"
#include "core/math/norm.hpp"
#include "core/math/rounding.hpp"
#include "core/solvers/l2_margin/soft_min.hpp"
#include "core/solvers/run.hpp"

namespace margin {

namespace {

// Rows whose margins are certainly this far above the reference are not read: above what the pass would set to 0, unless
// the reference is missed by so much that the pass is repeated, and then with all rows.
constexpr double far = 1.5 * soft_min_cut_off;
// A margin this far below the reference would overflow what is summed so far: change the reference.
constexpr double change_reference = 300;

}  // namespace

FirstOrder::FirstOrder(const Problem& problem, Run& run, bool logistic, double memory)
    : problem_(problem),
      run_(run),
      logistic_(logistic),
      far_(problem.outputs() == 1 ? problem.rows() : 0, problem.data.radius()),
      memory_(memory) {
  const double radius = problem.data.radius();
  z_scale_ = radius > 0 ? 1 / radius : 1.0;
  if (!std::isfinite(z_scale_)) z_scale_ = unit_scale(radius);
  if (problem.outputs() > 1) z_scale_ /= std::sqrt(2.0);
  const std::size_t banks = problem.intercept && problem.outputs() == 1 ? 2 : 1;
  const Weights zero = Weights::Zero(problem.outputs(), problem.dimensions());
  w_ = scaled_w_ = g_ = zero;
  v_.assign(banks, zero);
  sum_.assign(banks, zero);
  mass_.assign(banks, 0.0);
  sum_mass_ = divisor_ = log_scale_ = mass_;
  reference_.resize(banks);
  const auto zeros = [&] { return polled_zeros(problem.rows(), problem.outputs(), run_.progress()); };
  q_ = zeros();
  dual_ = zeros();
  offset_ = Eigen::VectorXd::Zero(problem.classes);
  if (problem.outputs() > 1) scores_ = zeros();
}

void FirstOrder::pass() {
  consider_span();
  ++passes_;
  if (span_) {
    span_pass();
  } else {
    scaled_w_ = z_scale_ * w_;
    if (problem_.outputs() > 1)
      multiclass_pass();
    else
      binary_pass(true);
  }
  scale_directions();
  smallest_.pair /= z_scale_;  // to the units of the rows
  finish_smallest(problem_, smallest_, run_);
  if (!span_) separation_ = margin() * z_scale_;
}

void FirstOrder::fade(Part& part, std::size_t b, double factor, const Progress& progress) {
  BankPart& bank = part.banks[b];
  for (Eigen::Index j = 0; j < w_.cols(); ++j) bank.v[j] *= factor;
  bank.mass *= factor;
  bank.sum *= factor;
  // Also those of rows that are still to come, which will be written anew.
  for (std::int64_t i = part.begin; i < part.end; ++i)
    if (bank_of(problem_.label[static_cast<std::size_t>(i)]) == b) q_(i, 0) *= factor;
  progress.work(2 * static_cast<double>(part.end - part.begin + w_.cols()));
}

void FirstOrder::add_rows(Part& part, const double* near, const Progress& progress) {
  const auto deal = [&](std::size_t b) {
    return RowsByFour(problem_.data,
                      [this, &part, b, &progress](auto... dealt) { add_dealt(part, b, dealt..., progress); });
  };
  decltype(deal(0)) banks[2] = {deal(0), deal(1)};
  for (std::int64_t i = part.begin; i < part.end; ++i) {
    const std::size_t b = bank_of(problem_.label[static_cast<std::size_t>(i)]);
    if (far_.key(i) > near[b])
      q_(i, 0) = 0;
    else
      banks[b].add(i);
  }
  for (std::size_t b = 0; b < v_.size(); ++b) banks[b].finish();
  progress.work(static_cast<double>(part.end - part.begin));
}

void FirstOrder::add_dealt(Part& part, std::size_t b, const std::int64_t* rows, const Row* x, int count,
                           const Row* next, const Progress& progress) {
  BankPart& bank = part.banks[b];
  double score[4], slope[4] = {};
  dots(x, count, nullptr, scaled_w_.data(), score);
  for (int r = 0; r < count; ++r) {
    const std::int64_t i = rows[r];
    const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
    const double sign = own == 1 ? 1.0 : -1.0, m = sign * score[r];
    progress.work(x[r].count + 16.0);
    far_.read(i, m);
    part.least[own] = std::min(part.least[own], m);
    bank.low = std::min(bank.low, m);
    q_(i, 0) = 0;
    if (m > std::max(bank.ref, bank.low) + soft_min_cut_off) continue;
    if (m < bank.ref - change_reference) {
      const double factor = std::exp(m - bank.ref);
      fade(part, b, factor, progress);
      for (double& waiting : slope) waiting *= factor;
      bank.ref = m;
    }
    const Soft s = soft(logistic_, m, bank.ref);
    q_(i, 0) = s.slope;
    bank.mass += s.slope;
    bank.sum += s.value;
    slope[r] = sign * s.slope;
  }
  add(slope, x, count, next, bank.v);
}

// Chunks of rows with banks of their own, which are then added relative to the lowest reference.
void FirstOrder::binary_pass(bool predict) {
  const std::size_t banks = v_.size();
  const auto d = static_cast<std::size_t>(problem_.dimensions());
  const Chunks chunks(problem_.rows(), 2 * stored_numbers(problem_.data) + 16, static_cast<double>(banks * d));
  std::vector<Part> parts(chunks.count());
  parts_.resize(chunks.count() * banks * d);
  // Before the pass: chunks must not learn from each other which rows are far.
  double ref[2] = {}, near[2] = {};
  if (predict) far_.move_to(scaled_w_);
  for (std::size_t b = 0; b < banks; ++b) {
    ref[b] = predict ? reference_[b].predict() : reference_[b].value;
    if (logistic_) ref[b] = std::max(ref[b], 0.0);
    near[b] = predict ? far_.key_above(ref[b] + far) : infinity;
  }
  pass_threads(problem_.data, run_.progress())
      .run(chunks.count(), run_.progress(), [&](std::size_t k, const Progress& own) {
        Part& part = parts[k];
        part.begin = chunks.begin(k);
        part.end = chunks.end(k);
        for (std::size_t b = 0; b < banks; ++b) {
          BankPart& bank = part.banks[b];
          bank.ref = ref[b];
          bank.v = parts_.data() + (k * banks + b) * d;
          std::fill_n(bank.v, d, 0.0);
        }
        add_rows(part, near, own);
      });
  smallest_.pair = Eigen::MatrixXd::Constant(2, 2, infinity);
  for (const Part& part : parts) {
    smallest_.pair(0, 1) = std::min(smallest_.pair(0, 1), part.least[0]);
    smallest_.pair(1, 0) = std::min(smallest_.pair(1, 0), part.least[1]);
  }
  bool missed = false;
  for (std::size_t b = 0; b < banks; ++b) {
    double lowest = infinity, low = infinity, sum = 0;
    for (const Part& part : parts) {
      lowest = std::min(lowest, part.banks[b].ref);
      low = std::min(low, part.banks[b].low);
    }
    v_[b].setZero();
    mass_[b] = 0;
    for (Part& part : parts) {
      BankPart& bank = part.banks[b];
      if (bank.ref != lowest) fade(part, b, std::exp(lowest - bank.ref), run_.progress());
      mass_[b] += bank.mass;
      sum += bank.sum;
    }
    Reference& r = reference_[b];
    // The predicted reference was so far off that weights were lost: once more with the true one.
    missed |= predict && (mass_[b] <= 0 || low > lowest + (far - soft_min_cut_off));
    r.previous = r.known && predict ? r.value : low;
    r.value = low;
    r.known = true;
    divisor_[b] = psi_divisor(logistic_, sum, lowest);
    log_scale_[b] = std::log(divisor_[b]) - lowest;
  }
  if (missed)
    binary_pass(false);
  else
    add_parts(parts);
}

// Threads share the features, of which each is summed in the order of the parts.
void FirstOrder::add_parts(const std::vector<Part>& parts) {
  const std::int64_t d = problem_.dimensions();
  // What another thread wrote takes longer to read than to add.
  constexpr double operations = 4;
  const Chunks features(d, operations * static_cast<double>(parts.size() * v_.size()));
  run_.progress().threads().run(features.count(), run_.progress(), [&](std::size_t k, const Progress& own) {
    const std::int64_t from = features.begin(k), count = features.end(k) - from;
    for (std::size_t b = 0; b < v_.size(); ++b)
      for (const Part& part : parts) {
        simd().axpy_d(1.0, part.banks[b].v + from, v_[b].data() + from, static_cast<std::size_t>(count));
        own.work(static_cast<double>(count));
      }
  });
}

double FirstOrder::score_pairs() {
  const std::int32_t k = problem_.classes;
  smallest_.pair = Eigen::MatrixXd::Constant(k, k, infinity);
  double low = infinity;
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    const Row x = problem_.data.row(i);
    run_.work((static_cast<double>(x.count) + 4) * k + 16.0);
    for (std::int32_t o = 0; o < k; ++o) scores_(i, o) = dot(x, scaled_w_.row(o).data());
    const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
    for (std::int32_t c = 0; c < k; ++c) {
      if (c == own) continue;
      const double m = scores_(i, own) - scores_(i, c);
      smallest_.pair(own, c) = std::min(smallest_.pair(own, c), m);
      low = std::min(low, m + offset_(own) - offset_(c));
    }
  }
  return low;
}

double FirstOrder::weigh_pairs(double ref, Eigen::MatrixXd& pair_mass) {
  const std::int32_t k = problem_.classes;
  double sum = 0;
  pair_mass = Eigen::MatrixXd::Zero(k, k);
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
    run_.work(16.0 * k);
    for (std::int32_t c = 0; c < k; ++c) {
      q_(i, c) = 0;
      const double m = scores_(i, own) - scores_(i, c) + offset_(own) - offset_(c);
      if (c == own || m > ref + soft_min_cut_off) continue;
      const Soft s = soft(logistic_, m, ref);
      q_(i, c) = s.slope;
      pair_mass(own, c) += s.slope;
      sum += s.value;
    }
  }
  return sum;
}

void FirstOrder::sum_pairs(const Eigen::VectorXd& balance) {
  const std::int32_t k = problem_.classes;
  v_[0].setZero();
  mass_[0] = 0;
  for (std::int64_t i = 0; i < problem_.rows(); ++i) {
    const std::int32_t own = problem_.label[static_cast<std::size_t>(i)];
    double total = 0;
    const Row x = problem_.data.row(i);
    run_.work(2.0 * k);
    for (std::int32_t c = 0; c < k; ++c) {
      if (q_(i, c) == 0) continue;
      q_(i, c) *= balance(own) / balance(c);
      total += q_(i, c);
      add(-q_(i, c), x, v_[0].row(c).data());
      run_.work(x.count);
    }
    if (total == 0) continue;
    mass_[0] += total;
    add(total, x, v_[0].row(own).data());
  }
}

void FirstOrder::multiclass_pass() {
  const double low = score_pairs(), ref = logistic_ ? std::max(low, 0.0) : low;
  Eigen::MatrixXd pair_mass;
  double sum = weigh_pairs(ref, pair_mass);
  Eigen::VectorXd balance = Eigen::VectorXd::Ones(problem_.classes);
  if (problem_.intercept) {
    balance = balancing_scales(pair_mass, run_.progress());
    sum = (balance.asDiagonal() * pair_mass * balance.cwiseInverse().asDiagonal()).sum();
    offset_ -= balance.array().log().matrix();
  }
  sum_pairs(balance);
  divisor_[0] = problem_.intercept ? sum : psi_divisor(logistic_, sum, ref);
  log_scale_[0] = std::log(divisor_[0]) - ref;
}

void FirstOrder::scale_directions() {
  for (std::size_t b = 0; b < v_.size(); ++b) {
    v_[b] *= (span_ ? 1.0 : z_scale_) / divisor_[b];
    mass_[b] /= divisor_[b];
  }
}

void FirstOrder::average(double coefficient) {
  if (coefficient == 0) return;
  for (std::size_t b = 0; b < v_.size(); ++b) {
    sum_[b] += coefficient * v_[b];
    sum_mass_[b] += coefficient * mass_[b];
  }
  const Chunks rows(problem_.rows(), 8 + 16 * static_cast<double>(q_.cols()));
  run_.progress().threads().run(rows.count(), run_.progress(), [&](std::size_t k, const Progress& own) {
    for (std::int64_t i = rows.begin(k); i < rows.end(k); ++i) {
      const std::size_t b = bank_of(problem_.label[static_cast<std::size_t>(i)]);
      const double factor = coefficient / divisor_[b];
      own.work(2.0 * static_cast<double>(q_.cols()));
      for (Eigen::Index c = 0; c < q_.cols(); ++c)
        if (q_(i, c) != 0) dual_(i, c) += factor * q_(i, c);
    }
  });
}

Weights FirstOrder::direction() const {
  Weights v = v_[0];
  for (std::size_t b = 1; b < v_.size(); ++b) v += v_[b];
  return v / banks();
}

void FirstOrder::step(double size) { w_ += size * direction(); }

void FirstOrder::momentum_step(std::int64_t t, double theta) {
  const Weights v = direction();
  const auto time = static_cast<double>(t);
  g_ = (time / (time + 1)) * (g_ + v);
  w_ += theta * (g_ + v);
}

double FirstOrder::margin() const {
  const double length = norm(w_);
  return length > 0 ? smallest_.best.value / length : -infinity;
}

double FirstOrder::upper() const {
  Weights u = Weights::Zero(w_.rows(), w_.cols());
  for (std::size_t b = 0; b < v_.size(); ++b) {
    if (!(sum_mass_[b] > 0)) return infinity;
    u += (1.0 / (banks() * sum_mass_[b])) * sum_[b];
  }
  return norm(u) / z_scale_;
}

double FirstOrder::log_gradient() const {
  double sum = 0;
  for (const double l : log_scale_) sum += l;
  return sum / banks();
}

}  // namespace margin
