// The columns of an encoder in SQL expressions: what each adds to a score, and its features.
#pragma once

#include <string>
#include <vector>

#include "core/encoder/encoder.hpp"

namespace margin {

/// Texts of double precision, NULL where encode() has no answer.
class SqlColumns {
 public:
  /// `owner`: in front of every name, quoted; `from_left`: products of a column are added up from the left, not as PlainDots.
  SqlColumns(const Encoder& encoder, std::string owner, bool from_left)
      : encoder_(encoder), owner_(std::move(owner)), from_left_(from_left) {}

  /// What a column adds to a score whose weights on its features are `w`; empty where that is 0 for every value. Throws
  /// Error(unsupported) for a column that SQL cannot take apart.
  std::string part(const Column& column, const std::vector<double>& w) const;
  /// The same of a pair, whose cells have the weights `w`. Where a column is NULL and may not be it is any number: that column's
  /// part is NULL.
  std::string part(const PairTerm& pair, const std::vector<double>& w) const;
  /// A feature of the encoder, as encode() writes it, in parentheses. Throws likewise.
  std::string feature(std::int32_t feature) const;

 private:
  std::string name(const Column& c) const;
  std::string cell(const Column& c) const;
  std::string standardised(const Column& c) const;
  std::string element(const Column& c, std::size_t k) const;
  std::string compared(const Column& c) const;
  std::vector<std::size_t> kept(const Column& c, std::size_t features) const;
  double part_of(const Column& c, const std::vector<double>& features, const std::vector<double>& w) const;
  double part_of_null(const Column& c, const std::vector<double>& w) const;
  std::string binned_part(const Column& c, const std::vector<double>& w) const;
  std::string bin_part(const Column& c, const std::vector<double>& parts, std::size_t first, std::size_t last) const;
  std::string number_part(const Column& c, const std::vector<double>& w) const;
  std::string boolean_part(const Column& c, const std::vector<double>& w) const;
  std::string category_part(const Column& c, const std::vector<double>& w) const;
  std::string dense_part(const Column& c, const std::vector<double>& w) const;
  std::string elements(const Column& c) const;
  std::string of_set(const Column& c, const std::string& value, const std::string& null) const;
  std::string set_part(const Column& c, const std::vector<double>& w) const;
  std::string category_feature(const Column& c, std::size_t value) const;
  std::string value_of(const Column& c, std::size_t value) const;
  std::string at_level(const PairSide& side, const std::vector<std::string>& texts) const;
  std::string pair_feature(const PairTerm& pair, std::int32_t cell) const;

  const Encoder& encoder_;
  std::string owner_;
  bool from_left_;
};

}  // namespace margin
