#include "core/kernel/kernel.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/base/monitor.hpp"
#include "core/kernel/linear.hpp"
#include "core/kernel/ntk.hpp"
#include "core/kernel/ntk_finite.hpp"
#include "core/kernel/polynomial.hpp"
#include "core/kernel/rbf.hpp"

namespace margin {

namespace {

// Squares of norms outside of this range, and powers of them, would leave the range of double.
constexpr double largest_norm = 1e75, smallest_norm = 1e-75;

// Weights of hidden units: 800 MB, which margin.memory_limit cannot know of before they are drawn.
constexpr double most_hidden_weights = 1e8;

/// The variance of all entries of the table, the zeros of sparse rows included.
double variance(const Dataset& rows, Monitor* monitor) {
  Poller poller(monitor);
  const double count = static_cast<double>(rows.rows()) * rows.dimensions();
  double sum = 0, square = 0;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const Row x = rows.row(i);
    for (std::int32_t k = 0; k < x.count; ++k) sum += x.value(k);
    poller.work(x.count);
  }
  const double mean = sum / count;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const Row x = rows.row(i);
    for (std::int32_t k = 0; k < x.count; ++k) square += (x.value(k) - mean) * (x.value(k) - mean);
    square += (rows.dimensions() - x.count) * mean * mean;
    poller.work(x.count);
  }
  return square / count;
}

double resolve_gamma(const Dataset& rows, const Options& s, Monitor* monitor) {
  const double d = rows.dimensions();
  if (s.gamma == Gamma::number) return s.gamma_value;
  if (s.gamma == Gamma::automatic) return 1 / d;
  const double v = variance(rows, monitor);
  return v > 0 ? 1 / (d * v) : 1.0;  // as scikit-learn
}

[[noreturn]] void refuse_norm(double norm) {
  throw Error(
      ErrorKind::invalid_value,
      "a kernel needs rows whose largest norm lies between 1e-75 and 1e75, and here it is " + describe(Value{norm}),
      "Scale the features.");
}

}  // namespace

void require_kernel_range(double norm) {
  if (!(norm <= largest_norm)) refuse_norm(norm);
}

const std::vector<std::string_view>& kernel_names() {
  static const std::vector<std::string_view> names = {LinearKernel::id, RbfKernel::id, PolynomialKernel::id,
                                                      NtkKernel::id, NtkFiniteKernel::id};
  return names;
}

std::shared_ptr<const KernelFunction> make_kernel(std::string_view name, const KernelParameters& p,
                                                  std::int32_t dimensions, Monitor* monitor) {
  const bool scaled = std::isfinite(p.gamma) && p.gamma > 0;
  if (name == LinearKernel::id) return std::make_shared<LinearKernel>();
  if (name == RbfKernel::id && scaled) return std::make_shared<RbfKernel>(p);
  if (name == PolynomialKernel::id && scaled && p.degree >= 1 && p.degree <= 100 && std::isfinite(p.coef0) &&
      p.coef0 >= 0)
    return std::make_shared<PolynomialKernel>(p);
  if (name == NtkKernel::id) return std::make_shared<NtkKernel>();
  if (name == NtkFiniteKernel::id && p.width >= 1 && p.width <= 1000000 && dimensions > 0 &&
      static_cast<double>(p.width) * dimensions <= most_hidden_weights)
    return std::make_shared<NtkFiniteKernel>(p, dimensions, monitor);
  return nullptr;
}

std::shared_ptr<const KernelFunction> make_kernel(const Dataset& rows, const Options& s, Monitor* monitor) {
  const std::string_view name = s.kernel.empty() ? LinearKernel::id : std::string_view(s.kernel);
  bool known = false;
  for (const std::string_view other : kernel_names()) known |= other == name;
  if (!known)
    throw Error(ErrorKind::invalid_option, "unknown kernel \"" + std::string(name) + "\"",
                name_hint(name, kernel_names()));
  if (rows.radius() > largest_norm || (rows.radius() > 0 && rows.radius() < smallest_norm)) refuse_norm(rows.radius());
  KernelParameters p;
  if (name == RbfKernel::id || name == PolynomialKernel::id) p.gamma = resolve_gamma(rows, s, monitor);
  p.degree = static_cast<std::int32_t>(s.degree);
  p.coef0 = s.coef0;
  p.width = s.width;
  p.seed = s.seed;
  auto kernel = make_kernel(name, p, rows.dimensions(), monitor);
  if (kernel == nullptr)
    throw Error(ErrorKind::limit_exceeded,
                "a tangent kernel of width " + std::to_string(p.width) + " on " + std::to_string(rows.dimensions()) +
                    " features has more than 1e8 hidden weights",
                "Lower the option \"width\", or use the kernel ntk of infinite width.");
  if (name == PolynomialKernel::id) {
    const double square = rows.radius() * rows.radius();
    if (!(kernel->diagonal(&square) < 1e150))
      throw Error(ErrorKind::invalid_value, "the polynomial kernel of these rows exceeds 1e150",
                  "Scale the features, or lower the options \"degree\" and \"gamma\".");
  }
  return kernel;
}

std::vector<KernelParameter> named_parameters(const KernelFunction& kernel) {
  const KernelParameters& p = kernel.parameters();
  std::vector<KernelParameter> out;
  if (p.gamma > 0) out.push_back({"gamma", p.gamma});
  if (p.degree > 0) out.push_back({"degree", static_cast<double>(p.degree)});
  if (p.degree > 0) out.push_back({"coef0", p.coef0});
  if (p.width > 0) out.push_back({"width", static_cast<double>(p.width)});
  if (p.width > 0) out.push_back({"seed", static_cast<double>(p.seed)});
  return out;
}

}  // namespace margin
