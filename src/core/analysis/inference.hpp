// Standard errors, tests and intervals of the coefficients of a model that was trained at lambda 0: what one pass over
// its rows says of them.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/data/gram_block.hpp"
#include "core/data/shifted_rows.hpp"
#include "core/math/exact_sum.hpp"
#include "core/model/column_space.hpp"
#include "core/model/model.hpp"

namespace margin {

/// How the coefficients' covariance V is estimated; z = (x, 1), s = φ' of a row, H = Σ c φ'' z zᵀ, n = Σ c. For the squared
/// loss φ is taken as ½(u − y)², so that s is the residual.
enum class Covariance {
  classical,  ///< H⁻¹, for the squared loss times Σ c s²/(n − p)
  hc0,        ///< H⁻¹ (Σ c s² z zᵀ) H⁻¹ (White 1980)
  hc1,        ///< that times n/(n − p)
  cluster,    ///< the same of the clusters' sums of s z, times G/(G − 1) · (n − 1)/(n − p)
};

struct InferenceOptions {
  Covariance covariance = Covariance::classical;
  double level = 0.95;  ///< of the intervals
};

/// Throws Error(invalid_option). `clustered`: rows have clusters, which then are the default.
InferenceOptions parse_inference(const Value::Object& options, bool clustered);

/// Of rows with named columns in the units of these. The offset, whose weight is known, has none.
struct Coefficient {
  std::int32_t feature = 0;  ///< 0-based; −1: the intercept
  double estimate = 0, std_error = 0;
  double statistic = 0;  ///< estimate/std_error: Student's t for the squared loss, else standard normal
  double p_value = 0;    ///< of both sides
  double lower = 0, upper = 0;
};

class Inference {
 public:
  /// `model` and `settings`, those it was trained with, are kept by reference. Throws Error(unsupported) for a model whose
  /// coefficients have no such standard errors.
  /// `status`: of the model, where it is known.
  Inference(const Model& model, std::optional<Status> status, const Options& settings, const InferenceOptions& options);

  /// A finite row that fits the model with its target (−1 or +1 for classes), a weight ≥ 0 that counts rows, and the
  /// name of its cluster (empty without clusters). `memory_limit` in bytes, negative: none. Throws Error.
  void add(const Row& x, double target, double weight, std::string_view cluster, double memory_limit);
  std::int64_t rows() const { return rows_; }
  /// Whether it sums up squares of slopes, for HC0 and HC1.
  bool robust() const { return options_.covariance == Covariance::hc0 || options_.covariance == Covariance::hc1; }
  /// Of the sums, without those of clusters.
  double bytes() const { return 4 * SymmetricMatrix::bytes(columns_); }

  std::vector<double> state() const;
  std::vector<std::string> clusters() const;
  /// What another process made of other rows; false, and nothing is to be made of it, when it is not of this shape.
  bool merge(const std::vector<double>& state, const std::vector<std::string>& clusters);

  /// The intercept last. Throws Error(invalid_value): fewer rows than coefficients, collinear features, rows whose
  /// optimum the model is not.
  std::vector<Coefficient> result(const Progress& progress) const;
  /// Least squares left residuals of the size of rounding: standard errors would measure that, and are 0.
  bool exact_fit() const;

 private:
  std::size_t cluster_of(std::string_view name, double memory_limit);
  void flush() const;
  void require_degrees(double n, std::size_t estimated) const;
  [[noreturn]] void refuse_dependent(std::vector<std::size_t> columns) const;
  double square_along(const std::vector<double>& unit, const std::vector<double>& h, const Progress& progress) const;
  std::vector<double> moved_by(const std::vector<double>& origin) const;

  const Model& model_;
  const InferenceOptions options_;
  std::shared_ptr<const Loss> loss_;
  std::optional<ColumnSpace> space_;  // of a model with columns
  bool squared_, intercept_;
  std::size_t features_, columns_;
  std::int32_t offset_;  // the feature whose weight is known; −1: none
  std::int64_t rows_ = 0;
  ExactSum mass_, squares_;  // n, Σ c s²
  ShiftedRows shifted_;
  mutable GramBlock curvatures_, slopes_;
  mutable SymmetricMatrix hessian_, meat_;  // of HC0 and HC1, else of size 1
  std::vector<double> gradient_;
  std::unordered_map<std::string, std::size_t> cluster_index_;
  std::vector<std::vector<double>> cluster_sums_;
};

}  // namespace margin
