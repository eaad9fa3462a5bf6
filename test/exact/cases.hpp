// Small problems that are hard on floating point: rows that nearly tie, cancel, repeat, lie on a line, are zero, or
// have values of 1e-140 to 1e140, and options of every kind for them.
#pragma once

#include <memory_resource>
#include <optional>

#include "core/base/random.hpp"
#include "core/data/coded_rows.hpp"
#include "core/problem/problem.hpp"

namespace exact {

using OptionValues = margin::Value::Object;

struct Case {
  std::vector<std::vector<double>> x;
  std::vector<double> y, upper, weight;            ///< class number or target; upper: ends of target intervals, if any
  std::shared_ptr<const margin::CodedRows> codes;  ///< null: rows are as x says; else these are the same
  OptionValues options;
  std::string family;  ///< what the checks are counted under
};
Case make_case(std::uint64_t seed);
/// A soft margin of rows as trainings on bins and pairs keep them; its family is this.
constexpr const char* coded_family = "rows as codes";
Case make_coded_case(std::uint64_t seed);
/// A number between the given powers of ten, or one of a few that floating point finds hard.
double any_number(margin::Random& random, double from, double to);

/// The rows as the core holds them.
class Rows {
 public:
  Rows(const Case& c, const margin::Options& options);
  const margin::Dataset& data() const { return coded_.has_value() ? *coded_ : data_; }

 private:
  std::pmr::monotonic_buffer_resource memory_;
  margin::Dataset data_;
  std::optional<margin::Dataset> coded_;
};

/// The case as SQL.
std::string reproducer(const Case& c);

}  // namespace exact
