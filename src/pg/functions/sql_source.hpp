// Rows that a query returns: asked with the caller's rights, in the snapshot of the running statement, reading
// only.
#pragma once

#include "core/profile/profile.hpp"
#include "core/scans/row_source.hpp"
#include "pg/functions/scan_statement.hpp"
#include "pg/server/interrupts.hpp"

namespace margin::pg {

class SqlSource final : public RowSource {
 public:
  /// Both must outlive it. `catch_row_errors`: errors about rows come as Error, so that the caller can go on; without it
  /// as the server raised them.
  SqlSource(const ScanStatement& statement, const SessionProgress& session, bool catch_row_errors)
      : statement_(statement), session_(session), catch_row_errors_(catch_row_errors) {}

  /// The profile that such a call of the statement returns, without rows an empty one.
  Profile profile(const ScanCall& call, const Progress& progress);
  /// The encoder of the rows, a jsonb in the current memory context, by one run of the statement for it; nothing where
  /// there are no rows. Such a run takes all rows into memory, or a file.
  std::optional<Datum> encoder(Datum options);

  /// Which folds there are, by one scan of them alone. Throws Error(null_value) for a row without one.
  void find_folds();

  Answer ask(const Question& question, const Progress& progress) override;
  std::vector<Answer> ask_all(const std::vector<Asked>& questions, const Progress& progress) override;
  std::int32_t parts() const override { return statement_.tasks(); }
  std::int32_t folds() const override { return static_cast<std::int32_t>(folds_.size()); }
  std::vector<Judgement> judge(const std::vector<Model>& models, const std::vector<std::int32_t>& folds,
                               const Progress& progress) override;

  /// After the first scan: what a training returns nothing for.
  bool without_rows() const { return without_rows_; }
  bool one_class() const { return one_class_; }

 private:
  List* results(const ScanCall& call, bool by_shard, std::int64_t number);
  RowTest test_of(const FoldPart& part) const;
  std::vector<Answer> merged(const ScanCall& call, const Progress& progress);
  void tell(std::int64_t rows, std::chrono::steady_clock::time_point start);

  const ScanStatement& statement_;
  const SessionProgress& session_;
  bool catch_row_errors_, without_rows_ = false, one_class_ = false, started_ = false;
  std::int64_t scans_ = 0;
  std::vector<std::int32_t> folds_;  // their numbers, ascending
};

}  // namespace margin::pg
