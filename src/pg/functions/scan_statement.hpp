// The statement that asks all rows of a query one question: what the user wrote, wrapped into margin_sum(margin_term(...)).
#pragma once

#include "pg/server/scan_call.hpp"

namespace margin::pg {

class ScanStatement {
 public:
  /// Parses and analyses `query`, one SELECT of label, features and, optionally, weight: columns of these names, the
  /// others by position. `shard`: the column that groups the rows, empty for none. `function`: one of the extension.
  /// Throws Error(invalid_option), and what the server says of the query.
  ScanStatement(const std::string& query, const std::string& shard, Oid function);

  /// The features are rows with named columns: encode_with() comes first then, with the encoder that encoder_call()
  /// returns for the options. The encoder lives as long as the statement.
  bool of_rows() const { return of_rows_; }
  ScanCall encoder_call(Datum options) const;
  void encode_with(Datum encoder);

  /// One result per shard, or one.
  ScanCall call(Datum question) const;
  /// There is a column `shard`.
  bool by_shard() const { return by_shard_; }
  /// The foreign servers that the query reads from; empty for none.
  const std::string& servers() const { return servers_; }

  /// For people to read, and to EXPLAIN: with names, which whoever runs it looks up. The question as a literal; the
  /// options of the encoder as parameter $1.
  std::string text_with(Datum question) const;
  std::string encoder_text() const;

 private:
  std::string weight_, from_, group_, prefix_;  // parts of statements for people
  std::string text_, servers_;
  Oid function_, question_type_;
  ScanCall call_{};
  bool by_shard_, of_rows_;
};

}  // namespace margin::pg
