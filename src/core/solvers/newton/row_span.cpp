#include "core/solvers/newton/row_span.hpp"

#include <algorithm>

#include "core/solvers/run.hpp"

namespace margin {

namespace {

constexpr std::size_t width = panel_bytes / sizeof(double);
constexpr std::size_t block_features = 256;
// Below this density dot products of sparse rows beat the dense kernel.
constexpr double dense_share = 0.1;

}  // namespace

// K + B²: by panels of 256 features of all rows, or row by row where the rows are thin.
void RowSpan::multiply_rows(SymmetricMatrix& k) const {
  const auto n = static_cast<std::size_t>(original_.rows());
  const auto d = static_cast<std::size_t>(original_.dimensions());
  const Dataset& data = original_.data;
  if (data.density() < dense_share) {
    std::vector<double> x(d, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(x.begin(), x.end(), 0.0);
      margin::add(1.0, data.row(static_cast<std::int64_t>(i)), x.data());
      for (std::size_t j = i; j < n; ++j) {
        const Row other = data.row(static_cast<std::int64_t>(j));
        k.row(i)[j] = dot(other, x.data());
        run_.work(other.count + 8);
      }
    }
  } else {
    const std::size_t panels = k.stride() / width, panel = width * block_features;
    std::vector<double> packed(panels * panel, 0.0);
    // Sparse rows remember where the next block begins.
    std::vector<std::int32_t> next(n, 0);
    for (std::size_t begin = 0; begin < d; begin += block_features) {
      const std::size_t end = std::min(d, begin + block_features);
      for (std::size_t i = 0; i < n; ++i) {
        const Row x = data.row(static_cast<std::int64_t>(i));
        double* to = packed.data() + i / width * panel + i % width;
        if (x.indices == nullptr) {
          for (std::size_t j = begin; j < end; ++j) to[(j - begin) * width] = x.value(static_cast<std::int32_t>(j));
        } else {
          for (std::size_t j = begin; j < end; ++j) to[(j - begin) * width] = 0;
          std::int32_t& at = next[i];
          for (; at < x.count && static_cast<std::size_t>(x.indices[at]) < end; ++at)
            to[(static_cast<std::size_t>(x.indices[at]) - begin) * width] = x.value(at);
        }
        run_.work(2 * static_cast<double>(end - begin));
      }
      for (std::size_t p = 0; p < panels; ++p) {
        simd().rank_update_d(packed.data(), end - begin, panel, p, panels, 1.0, k.row(0), k.stride());
        run_.work(static_cast<double>((end - begin) * (panels - p) * width * width) / 16);
      }
    }
  }
  const double constant = original_.intercept && !original_.free_intercept ? original_.intercept_scale : 0.0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) k.row(i)[j] += constant * constant;
}

RowSpan::RowSpan(const Problem& problem, Run& run)
    : original_(problem),
      run_(run),
      factor_(static_cast<std::size_t>(problem.rows())),
      rows_(problem.task == Task::regression ? Dataset::Outcome::targets : Dataset::Outcome::classes, &memory_),
      reduced_(rows_) {
  multiply_rows(factor_);
  factorise(factor_, run, true);
  const auto n = static_cast<std::size_t>(problem.rows());
  std::vector<double> row(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) row[j] = j <= i ? factor_.row(j)[i] : 0.0;
    const auto source = static_cast<std::int64_t>(i);
    rows_.append(dense_row(row.data(), static_cast<std::int32_t>(n)),
                 problem.task == Task::regression ? Label(problem.target(source, 0)) : Label(0));
    run.work(static_cast<double>(2 * n));
  }
  reduced_.task = problem.task;
  reduced_.classes = problem.classes;
  reduced_.class_names = problem.class_names;
  reduced_.label = problem.label;
  reduced_.hard_margin = false;
  reduced_.lambda = problem.lambda;
  reduced_.loss = problem.loss;
  reduced_.loss_name = problem.loss_name;
  reduced_.intercept = reduced_.free_intercept = problem.free_intercept;
  reduced_.row_weight = problem.row_weight;
  reduced_.total_weight = problem.total_weight;
}

double RowSpan::cost(std::int64_t i) const { return original_.weight(i) / original_.lambda / original_.total_weight; }

std::optional<InitialModel> RowSpan::reduce(const InitialModel& model) const {
  const auto n = static_cast<std::size_t>(original_.rows()), k = static_cast<std::size_t>(original_.outputs());
  if (model.dual_weights.size() != n * k) return std::nullopt;
  InitialModel reduced{std::vector<double>(k * n), {}, model.dual_weights};
  if (original_.free_intercept) reduced.intercept = model.intercept;
  std::vector<double> beta(n);
  for (std::size_t o = 0; o < k; ++o) {
    for (std::size_t i = 0; i < n; ++i) beta[i] = cost(static_cast<std::int64_t>(i)) * model.dual_weights[i * k + o];
    for (std::size_t j = 0; j < n; ++j)
      reduced.weights[o * n + j] = simd().dot_dd(factor_.row(j) + j, beta.data() + j, n - j);
  }
  return reduced;
}

void RowSpan::expand(Solution& s) const {
  const auto n = static_cast<std::size_t>(original_.rows());
  Weights weights = Weights::Zero(original_.outputs(), original_.dimensions());
  std::vector<double> beta(n), residual(n);
  for (std::int32_t o = 0; o < original_.outputs(); ++o) {
    // γ = β + δ with β_i = cost_i a_i: at the optimum Rᵀβ = z, so δ only carries the small residual and the
    // conditioning of R does not touch the rest.
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      beta[i] = cost(row) * s.dual(row, o);
    }
    for (std::size_t j = 0; j < n; ++j)
      residual[j] =
          s.weights(o, static_cast<std::int64_t>(j)) - simd().dot_dd(factor_.row(j) + j, beta.data() + j, n - j);
    for (std::size_t j = n; j-- > 0;) {
      const double* row = factor_.row(j);
      residual[j] =
          row[j] == 0 ? 0.0 : (residual[j] - simd().dot_dd(row + j + 1, residual.data() + j + 1, n - j - 1)) / row[j];
    }
    double mass = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double gamma = beta[i] + residual[i];
      const Row x = original_.data.row(static_cast<std::int64_t>(i));
      margin::add(gamma, x, weights.row(o).data());
      mass += gamma;
      run_.work(x.count + 8);
    }
    if (original_.intercept && !original_.free_intercept)
      s.intercept[o] = mass * original_.intercept_scale * original_.intercept_scale;
  }
  s.weights = std::move(weights);
}

}  // namespace margin
