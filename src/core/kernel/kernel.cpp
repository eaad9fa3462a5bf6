#include "core/kernel/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/progress.hpp"
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
double variance(const Dataset& rows, const Progress& progress) {
  const double count = static_cast<double>(rows.rows()) * rows.dimensions();
  double sum = 0, square = 0;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const Row x = rows.row(i);
    for (std::int32_t k = 0; k < x.count; ++k) sum += x.value(k);
    progress.work(x.count);
  }
  const double mean = sum / count;
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    const Row x = rows.row(i);
    for (std::int32_t k = 0; k < x.count; ++k) square += (x.value(k) - mean) * (x.value(k) - mean);
    square += (rows.dimensions() - x.count) * mean * mean;
    progress.work(x.count);
  }
  return square / count;
}

double resolve_gamma(const Dataset& rows, const Options& s, const Progress& progress) {
  const double d = rows.dimensions();
  if (s.gamma == Gamma::number) return s.gamma_value;
  if (s.gamma == Gamma::automatic) return 1 / d;
  const double v = variance(rows, progress);
  return v > 0 ? 1 / (d * v) : 1.0;  // as scikit-learn
}

constexpr double unbounded = std::numeric_limits<double>::max();

/// A parameter of kernels, the option of the same name.
struct ParameterRecord {
  std::string_view name;
  double least, most;
  bool whole;
  double (*get)(const KernelParameters&);
  void (*set)(KernelParameters&, double);
  double (*given)(const Dataset&, const Options&, const Progress&);  ///< by the options, for these rows

  bool holds(double v) const { return !whole || (v >= 0 && v <= most && v == std::floor(v)); }
  bool valid(double v) const { return holds(v) && v >= least && v <= most; }
};

constexpr ParameterRecord parameters[] = {
    {"gamma", std::numeric_limits<double>::denorm_min(), unbounded, false,
     [](const KernelParameters& p) { return p.gamma; }, [](KernelParameters& p, double v) { p.gamma = v; },
     resolve_gamma},
    {"degree", 1, 100, true, [](const KernelParameters& p) { return static_cast<double>(p.degree); },
     [](KernelParameters& p, double v) { p.degree = static_cast<std::int32_t>(v); },
     [](const Dataset&, const Options& s, const Progress&) { return static_cast<double>(s.degree); }},
    {"coef0", 0, unbounded, false, [](const KernelParameters& p) { return p.coef0; },
     [](KernelParameters& p, double v) { p.coef0 = v; },
     [](const Dataset&, const Options& s, const Progress&) { return s.coef0; }},
    {"width", 1, 1e6, true, [](const KernelParameters& p) { return static_cast<double>(p.width); },
     [](KernelParameters& p, double v) { p.width = static_cast<std::int32_t>(v); },
     [](const Dataset&, const Options& s, const Progress&) { return static_cast<double>(s.width); }},
    {"seed", 0, 0x1p53, true, [](const KernelParameters& p) { return static_cast<double>(p.seed); },
     [](KernelParameters& p, double v) { p.seed = static_cast<std::uint64_t>(v); },
     [](const Dataset&, const Options& s, const Progress&) { return static_cast<double>(s.seed); }},
};

const ParameterRecord* find_parameter(std::string_view name) {
  const auto* at = std::find_if(std::begin(parameters), std::end(parameters),
                                [&](const ParameterRecord& p) { return p.name == name; });
  return at == std::end(parameters) ? nullptr : at;
}

using Maker = std::shared_ptr<const KernelFunction> (*)(const KernelParameters&, std::int32_t, const Progress&);

template <class K>
std::shared_ptr<const KernelFunction> make(const KernelParameters& p, std::int32_t dimensions,
                                           const Progress& progress) {
  if constexpr (std::is_constructible_v<K, const KernelParameters&, std::int32_t, const Progress&>)
    return std::make_shared<K>(p, dimensions, progress);
  else if constexpr (std::is_constructible_v<K, const KernelParameters&>)
    return std::make_shared<K>(p);
  else
    return std::make_shared<K>();
}

// A kernel is a final subclass of KernelFunction with, beside the virtual interface, three constants: id (its name),
// formula, and reads (the names of its parameters).
template <class... K>
struct KernelList {};

/// In the order of docs/reference/kernels.md.
using AllKernels = KernelList<LinearKernel, RbfKernel, PolynomialKernel, NtkKernel, NtkFiniteKernel>;

template <class... K>
std::vector<KernelRecord> records_of(KernelList<K...>) {
  return {{K::id, K::formula, {K::reads.begin(), K::reads.end()}}...};
}

template <class... K>
std::vector<Maker> makers_of(KernelList<K...>) {
  return {make<K>...};
}

/// The place of a kernel in the list; its length for an unknown name.
std::size_t place_of(std::string_view name) {
  const auto& names = kernel_names();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
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

const std::vector<KernelRecord>& kernel_records() {
  static const std::vector<KernelRecord> records = records_of(AllKernels{});
  return records;
}

const std::vector<std::string_view>& kernel_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const KernelRecord& record : kernel_records()) out.push_back(record.name);
    return out;
  }();
  return names;
}

bool kernel_reads(std::string_view name, std::string_view option) {
  const std::size_t place = place_of(name);
  if (place == kernel_names().size()) return false;
  const auto& own = kernel_records()[place].parameters;
  return std::find(own.begin(), own.end(), option) != own.end();
}

bool set_kernel_parameter(KernelParameters& to, std::string_view name, double value) {
  const ParameterRecord* const parameter = find_parameter(name);
  if (parameter == nullptr || !parameter->holds(value)) return false;
  parameter->set(to, value);
  return true;
}

std::shared_ptr<const KernelFunction> make_kernel(std::string_view name, const KernelParameters& p,
                                                  std::int32_t dimensions, const Progress& progress) {
  static const std::vector<Maker> makers = makers_of(AllKernels{});
  const std::size_t place = place_of(name);
  if (place == makers.size()) return nullptr;
  for (const std::string_view own : kernel_records()[place].parameters) {
    const ParameterRecord* const parameter = find_parameter(own);
    if (parameter == nullptr || !parameter->valid(parameter->get(p))) return nullptr;
  }
  if (name == NtkFiniteKernel::id &&
      !(dimensions > 0 && static_cast<double>(p.width) * dimensions <= most_hidden_weights))
    return nullptr;
  return makers[place](p, dimensions, progress);
}

std::shared_ptr<const KernelFunction> make_kernel(const Dataset& rows, const Options& s, const Progress& progress) {
  const std::string_view name = s.kernel.empty() ? LinearKernel::id : std::string_view(s.kernel);
  const std::size_t place = place_of(name);
  if (place == kernel_names().size())
    throw Error(ErrorKind::invalid_option, "unknown kernel \"" + std::string(name) + "\"",
                name_hint(name, kernel_names()));
  if (rows.radius() > largest_norm || (rows.radius() > 0 && rows.radius() < smallest_norm)) refuse_norm(rows.radius());
  KernelParameters p;
  for (const std::string_view own : kernel_records()[place].parameters) {
    const ParameterRecord& parameter = *find_parameter(own);
    parameter.set(p, parameter.given(rows, s, progress));
  }
  auto kernel = make_kernel(name, p, rows.dimensions(), progress);
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
  std::vector<KernelParameter> out;
  for (const std::string_view own : kernel_records()[place_of(kernel.name())].parameters)
    out.push_back({own, find_parameter(own)->get(kernel.parameters())});
  return out;
}

}  // namespace margin
