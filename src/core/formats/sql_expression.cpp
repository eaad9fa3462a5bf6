#include "core/formats/sql_expression.hpp"

#include <cmath>

#include "core/base/error.hpp"
#include "core/data/stump_basis.hpp"
#include "core/formats/sql_columns.hpp"
#include "core/formats/sql_terms.hpp"
#include "core/model/column_weights.hpp"

namespace margin {

namespace {

constexpr double term_work = 512;  // of a term, by the length of its text
constexpr std::size_t longest = std::size_t{16} << 20U;

void require_short(std::size_t bytes) {
  if (bytes <= longest) return;
  throw Error(
      ErrorKind::limit_exceeded, "the model as a SQL expression has more than 16 MB of text",
      "The server would take long to read it. A model with l1_ratio above 0 has fewer weights; margin_score takes "
      "any model.");
}

/// Stops a text that grows beyond what a server reads, and answers to a cancel.
class Growth {
 public:
  explicit Growth(const Progress& progress) : progress_(progress) {}
  std::string operator()(std::string text) {
    progress_.work(term_work + 8.0 * static_cast<double>(text.size()));
    written_ += text.size();
    require_short(written_);
    return text;
  }

 private:
  const Progress& progress_;
  std::size_t written_ = 0;
};

std::string product(const std::string& factor, double weight) {
  return weight == 1 ? factor : factor + " * " + sql_number(weight);
}

/// One output of a model of arrays: the products of the elements that have a weight.
SqlSum of_array(const Model& m, std::int32_t output, const std::string& array, Growth& grown) {
  return sql_sum(static_cast<std::size_t>(m.terms()), [&](std::size_t j) {
    const auto term = static_cast<std::int32_t>(j);
    const double w = m.weights(output, term);
    if (w == 0) return std::string();
    return grown(product(array + "[" + std::to_string(m.feature(term) + 1) + "]::float8", w));
  });
}

/// One output of a model of rows: the sum of what its columns and pairs add.
SqlSum of_columns(const Model& m, std::int32_t output, const SqlColumns& columns, Growth& grown) {
  SqlSum sum;
  for (const Column& c : m.encoder->columns())
    sum = std::move(sum) + SqlSum{grown(columns.part(c, column_weights(m, output, c)))};
  for (const PairTerm& pair : m.encoder->pairs()) {
    std::vector<double> w;
    for (std::int32_t k = 0; k < pair.cells(); ++k) w.push_back(weight_in_column(m, output, pair.first + k));
    sum = std::move(sum) + SqlSum{grown(columns.part(pair, w))};
  }
  return sum;
}

/// `value` above the threshold: `above`; else `below`; NULL where it is NULL.
std::string branch(const std::string& value, double threshold, const std::string& above, const std::string& below) {
  const std::string at = sql_number(threshold);
  return "CASE WHEN " + value + " > " + at + " THEN " + above + " WHEN " + value + " <= " + at + " THEN " + below +
         " END";
}

/// A model of stumps or trees, whose leaves are ±1.
SqlSum of_trees(const Model& m, const std::function<std::string(std::int32_t)>& feature, Growth& grown) {
  const StumpBasis& basis = *stumps_of(m.basis.get());
  return sql_sum(static_cast<std::size_t>(m.terms()), [&](std::size_t j) {
    const double w = m.weights(0, static_cast<std::int32_t>(j));
    if (w == 0) return std::string();
    const auto side = [&](const TreeSide& s) {
      const std::string above = sql_number(s.above * w), below = sql_number(-s.above * w);
      return s.feature < 0 ? above : branch(feature(s.feature), s.threshold, above, below);
    };
    const Tree& tree = basis.trees()[j];
    return grown(branch(feature(tree.split.feature), tree.split.threshold, side(tree.above), side(tree.below)));
  });
}

void require_expressible(const Model& m) {
  if (m.basis == nullptr || stumps_of(m.basis.get()) != nullptr) return;
  throw Error(ErrorKind::unsupported, "a model with a kernel is no SQL expression",
              "Its score sums kernel values of the row with every support vector. Train without kernel, or on the "
              "features of margin_fourier, whose model is linear.");
}

/// NULL for an array of another length; an element that is not there would count as 0.
std::string guarded(const std::string& array, std::int32_t length, const std::string& score) {
  return "CASE WHEN cardinality(" + array + ") = " + std::to_string(length) + " THEN " + score + " END";
}

}  // namespace

std::string sql_expression(const Model& m, const SqlNames& names, const Progress& progress) {
  require_expressible(m);
  const std::string owner = names.alias.empty() ? std::string() : sql_identifier(names.alias) + ".";
  const std::string array = "(" + owner + sql_identifier(names.features) + ")";
  Growth grown(progress);
  std::optional<SqlColumns> columns;
  if (m.encoder != nullptr) columns.emplace(*m.encoder, owner, !m.columns.empty() || m.encoder->sparse());
  const auto feature = [&](std::int32_t f) {
    return columns.has_value() ? columns->feature(f) : array + "[" + std::to_string(f + 1) + "]::float8";
  };
  std::string out;
  for (std::int32_t o = 0; o < m.outputs(); ++o) {
    // From +0, as score() starts: no sum is −0.
    SqlSum score{sql_number(0)};
    score = std::move(score) + (m.basis != nullptr    ? of_trees(m, feature, grown)
                                : columns.has_value() ? of_columns(m, o, *columns, grown)
                                                      : of_array(m, o, array, grown));
    if (m.intercept(o) != 0) score = std::move(score) + SqlSum{sql_number(m.intercept(o))};
    out += (o > 0 ? ", " : "") + score.text;
    require_short(out.size());
  }
  if (m.outputs() > 1) out = "ARRAY[" + out + "]";
  if (m.encoder == nullptr) return guarded(array, m.dimensions, out);
  return m.outputs() > 1 ? out : "(" + out + ")";
}

}  // namespace margin
