// What one row adds to the answer of a question: numbers, the row's coefficient in some sums of rows, and whether the
// row itself is wanted. A view of memory of whoever made it; as bytes it is what SQL calls a margin_term.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/data/fingerprint.hpp"
#include "core/data/row.hpp"

namespace margin {

/// What the terms of one question have in common; an answer takes only terms and answers of its own form.
struct AnswerForm {
  std::uint64_t question = 0;   ///< a hash of the question
  std::string_view reductions;  ///< one letter per number: '+' adds up, '<' keeps the smaller, '>' the larger
  std::int32_t vectors = 0;     ///< sums Σ c (x, constant)
  std::int32_t matrices = 0;    ///< sums Σ g (x, constant)(x, constant)ᵀ, g ≥ 0
  std::int32_t dimensions = 0;  ///< of x; 0: as far as the rows reach
  double constant = 0;          ///< the value of one more column
  std::int32_t bags = 0;        ///< rows are kept in so many bags
  std::int64_t bag_rows = 0;    ///< of each, at most
  std::int64_t bag_bytes = 0;   ///< of all rows of one bag, at most
  std::int32_t bag_small = 0;   ///< and of rows with small keys (bag.hpp) up to so many
  std::int32_t parts = 1;       ///< answers of other servers that meet: each of them keeps but its share
  bool labels = false;          ///< classes are counted, and some rows of each are kept
  bool columns = false;         ///< the features that any row has are told
  std::int32_t cells = 0;       ///< a table of sums, of which a row adds to a few
  std::int32_t sketches = 0;    ///< numbers by their weights (math/quantile_sketch.hpp), most_sketches at most

  /// Of rows, or of bytes, what one of the parts keeps: twice its even share, which leaves nothing out that all of them
  /// together would keep where rows are spread by chance; and not less than `least`.
  std::int64_t share_of(std::int64_t all, std::int64_t least) const {
    return parts <= 2 ? all : std::min(all, std::max(least, all / parts * 2));
  }
  std::int64_t share_of_rows() const { return share_of(bag_rows, 64); }
  std::int64_t share_of_bytes() const { return share_of(bag_bytes, 1 << 16); }
  std::int64_t share_of_small() const { return share_of(bag_small, 0); }
};
inline constexpr std::int32_t most_parts = 1 << 20;
inline constexpr std::int32_t most_sketches = 64;

/// A number for one cell, for one sum of rows, or for one sketch.
struct Entry {
  std::int64_t at;
  double value;
};

/// One row's. A skipped one (NULL label or features) says nothing else.
struct Term {
  AnswerForm form;
  bool skipped = false;
  const double* numbers = nullptr;      ///< as many as reductions
  const Entry* coefficients = nullptr;  ///< of the sums of rows; a sum that is not here has none of this row
  const double* curvatures = nullptr;   ///< as many as matrices
  const Entry* cells = nullptr;         ///< what it adds to the table
  const Entry* points = nullptr;  ///< what it adds to the sketches, each with the weight below, which is not 0 then
  std::int32_t coefficient_count = 0, cell_count = 0, point_count = 0;
  FeatureRow x{};             ///< what the sums take, and the bags
  bool sparse_input = false;  ///< the row came as indices and values
  // The row as a training will want it.
  std::string_view label;  ///< of a class, where the form has labels
  double label_key = 0;    ///< orders it among the others
  bool label_number = false;
  std::int32_t label_class = -1;  ///< sorted class index, where the question knows the classes
  double lower = 0, upper = 0;    ///< targets
  double weight = 1;
  Fingerprint fingerprint;       ///< of the row as it came
  const double* keys = nullptr;  ///< one per bag, where the rows of the smallest keys stay; +∞: not for this one
};

/// A hash of bytes: the identity of a question or of a row, the order of a sample.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed);

/// The bytes of a term, and the term in bytes, which must outlive it and begin at a multiple of 8. Throws
/// Error(malformed).
std::string term_bytes(const Term& term);
/// The same where it is written to: `to` begins at a multiple of 8 as well.
class TermWriter {
 public:
  explicit TermWriter(const Term& term);
  std::size_t size() const { return end_; }
  void write(char* to) const;

 private:
  const Term& term_;
  std::size_t values_, indices_, end_;  // where parts of it lie
};
Term read_term(std::string_view bytes);
/// The same of bytes that TermWriter wrote in this process or that were checked: nothing is checked again.
Term read_trusted_term(const char* bytes);

}  // namespace margin
