// The statement that asks all rows of a query one question: what the user wrote, wrapped into margin_sum(margin_term(...)).
#pragma once

#include "pg/functions/scan_query.hpp"

namespace margin::pg {

class ScanStatement {
 public:
  /// Parses and analyses `query`, one SELECT of label, features and, optionally, weight: columns of these names, the
  /// others by position. `shard`: the column that groups the rows, empty for none. `function`: one of the extension.
  /// With folds a column `fold` is one of the query's; without labels each row is an inlier.
  /// Throws Error(invalid_option), and what the server says of the query.
  ScanStatement(const std::string& query, const std::string& shard, Oid function, Beside beside = Beside::label);

  /// The features are rows with named columns: encode_with() comes first then, with an encoder that was made by one of the
  /// two calls below. It lives as long as the statement.
  bool of_rows() const { return of_rows_; }
  void encode_with(Datum encoder);
  /// Whether a profile tells the encoder by these rules. It does not where pairs act together, rows have weights, a column of sparse features, or
  /// are no rows of a table, a view or a subquery that the query itself selects.
  bool profiled(const EncoderRules& rules) const;
  /// One profile per shard, or one, of the columns that are features; `with_label`: and of the label, as label_name(). Throws
  /// Error(invalid_option, wrong_type) for rules that name columns that there are not, or leave none.
  ScanCall profile_call(const EncoderRules& rules, bool with_label);
  const std::string& label_name() const { return label_name_; }
  /// One encoder, of rows that one process gathers; by one value, which must outlive the call.
  ScanCall encoder_call(const std::vector<Datum>& options) const;

  /// One result for each question, per shard, or once; `tests`: of some of the rows, empty: of all. Both must outlive the call.
  ScanCall call(const std::vector<Datum>& questions, const std::vector<RowTest>& tests = {}) const;
  /// The same of models, which take the features as they are.
  ScanCall judging_call(const std::vector<Datum>& models, const std::vector<RowTest>& tests) const;
  /// The statement of all folds of rows that have a label.
  const std::string& folds_text() const { return folds_text_; }
  Oid model_type() const { return model_type_; }
  /// How many tasks on other servers the rows are read by.
  std::int32_t tasks() const { return tasks_; }
  bool weighted() const { return call_.weight > 0; }
  /// There is a column `shard`.
  bool by_shard() const { return by_shard_; }
  /// The function that asks, by its name.
  const std::string& caller() const { return caller_; }
  /// The foreign servers that the query reads from; empty for none.
  const std::string& servers() const { return servers_; }

  /// For people to read, and to EXPLAIN: with names, which whoever runs it looks up.
  std::string text_with(Datum question) const;
  std::string profile_text(const EncoderRules& rules, bool with_label);
  std::string encoder_text(Datum options) const;

 private:
  struct RowColumn {
    std::string name;
    Oid type;
  };
  std::vector<std::string> feature_columns(const EncoderRules& rules);
  Datum names(const std::vector<std::string>& columns, bool with_label) const;
  void name_columns(ScanCall& call, const std::vector<std::string>& columns) const;

  std::string weight_, from_, group_, prefix_;  // parts of statements for people
  std::string text_, ungrouped_text_, folds_text_, servers_, caller_, label_name_;
  std::vector<RowColumn> row_;  // the columns of the row; none where they are not known before it is there
  Oid function_, question_type_, profile_type_, model_type_;
  ScanCall call_{};
  std::int32_t tasks_;
  bool by_shard_, of_rows_;
};

}  // namespace margin::pg
