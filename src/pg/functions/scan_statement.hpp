// The statement that asks all rows of a query one question: what the user wrote, wrapped into margin_sum(margin_term(...)).
#pragma once

#include "pg/server/boundary.hpp"

namespace margin::pg {

class ScanStatement {
 public:
  /// Parses and analyses `query`, one SELECT of label, features and, optionally, weight: columns of these names, the
  /// others by position. `shard`: the column that groups the rows, empty for none. `schema`: that of the extension.
  /// Throws Error(invalid_option), and what the server says of the query.
  ScanStatement(const std::string& query, const std::string& shard, Oid schema);

  /// The features are rows with named columns: encode_with() comes first then, with the encoder that the statement
  /// encoder_text() returns; its parameter $1 are the options.
  bool of_rows() const { return of_rows_; }
  std::string encoder_text() const;
  void encode_with(Datum encoder);

  /// With the question as parameter $1; its type is question_type(). One column; a row per shard, or one.
  const std::string& text() const { return text_; }
  Oid question_type() const { return question_type_; }
  /// There is a column `shard`.
  bool by_shard() const { return by_shard_; }
  /// The foreign servers that the query reads from; empty for none.
  const std::string& servers() const { return servers_; }
  /// With this question as a literal.
  std::string text_with(Datum question) const;

 private:
  std::string before_, features_, weight_, from_, group_;  // parts of text_
  std::string text_, prefix_;
  std::string servers_;
  std::string literal_type_;  // the cast of a literal
  Oid question_type_;
  bool by_shard_, of_rows_;

  std::string text_of(const std::string& question) const {
    return before_ + question + ", r.label, " + features_ + weight_ + "))\n" + from_ + group_;
  }
};

}  // namespace margin::pg
