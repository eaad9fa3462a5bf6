// A kernel k(x, x') as a function of the inner product <x, x'> and of a few numbers per row that are computed once.
// Adding one = a file in kernel/ with its record (id, formula, reads), and its class in the list of kernel/kernel.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/data/dataset.hpp"
#include "core/options/options.hpp"

namespace margin {

/// What defines a kernel besides its name; a kernel reads its own parameters and leaves the others 0.
struct KernelParameters {
  double gamma = 0, coef0 = 0;
  std::int32_t degree = 0, width = 0;
  std::uint64_t seed = 0;
};

/// Stateless but for its parameters; positive semidefinite.
class KernelFunction {
 public:
  virtual ~KernelFunction() = default;
  virtual std::string_view name() const = 0;
  virtual const KernelParameters& parameters() const = 0;

  /// Numbers kept for every row, its summary; the first is ‖x‖².
  virtual std::size_t summary_size() const { return 1; }
  /// `progress` hears of what that takes beyond a look at the row.
  virtual void summarize(const Row& x, double* summary, const Progress& /*progress*/) const {
    summary[0] = squared_norm(x);
  }

  /// values[k]: <x, x_k> on entry, k(x, x_k) on return, for n rows with summaries one after another in `others`.
  /// `errors` (null: not wanted): a bound on the rounding of each value, that of its inner product, a sum of at most
  /// `terms` products in any order, and of the summaries included.
  virtual void evaluate(const double* own, const double* others, std::size_t n, double terms, double* values,
                        double* errors) const = 0;
  /// Whether k(x, x') of rows with these squared norms needs ‖x − x'‖² summed from differences: then `value` comes from
  /// that by from_distance(), with a bound on its rounding (null: not wanted), that of a sum of `terms` squares
  /// included.
  virtual bool prefers_distance(double /*own*/, double /*other*/) const { return false; }
  virtual void from_distance(double /*distance*/, double /*terms*/, double& /*value*/, double* /*error*/) const {}
  /// k(x, x)
  virtual double diagonal(const double* summary) const = 0;
  /// Multiply-adds of one evaluation beyond the inner product.
  virtual double operations() const { return 16; }
  /// Bytes that the kernel itself holds.
  virtual double bytes() const { return 0; }
};

/// What margin_kernels() shows of a kernel.
struct KernelRecord {
  std::string_view name, formula;
  std::vector<std::string_view> parameters;  ///< names of parameters, which are the options that it reads
};

/// In the order of docs/reference/kernels.md.
const std::vector<KernelRecord>& kernel_records();

/// All names, in that order.
const std::vector<std::string_view>& kernel_names();

/// Whether the kernel of this name reads an option.
bool kernel_reads(std::string_view name, std::string_view option);

/// Sets a parameter of a stored model by its name; false for a name that no kernel knows, or a number that it cannot
/// hold.
bool set_kernel_parameter(KernelParameters& parameters, std::string_view name, double value);

/// Throws Error(invalid_value) for a norm of a row that powers of norms would overflow with.
void require_kernel_range(double norm);

/// The kernel of the options for rows like these: resolves gamma, and checks that no value overflows. Throws
/// Error(invalid_option) for an unknown name. `progress` is polled while the rows are read.
std::shared_ptr<const KernelFunction> make_kernel(const Dataset& rows, const Options& options,
                                                  const Progress& progress);

/// A kernel by name and resolved parameters, as a stored model has them; null when they do not fit together. `progress`
/// hears of the hidden units that are drawn.
std::shared_ptr<const KernelFunction> make_kernel(std::string_view name, const KernelParameters& parameters,
                                                  std::int32_t dimensions, const Progress& progress = {});

/// The parameters that a kernel reads, by name, for a stored model.
struct KernelParameter {
  std::string_view name;
  double value;
};
std::vector<KernelParameter> named_parameters(const KernelFunction& kernel);

}  // namespace margin
