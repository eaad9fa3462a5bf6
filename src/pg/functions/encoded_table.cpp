// Rows with named columns that an aggregate has collected as the numbers that are trained on: the encoder is fitted to them, pairs of
// columns are searched, the rows are encoded.
#include "core/problem/problem.hpp"
#include "core/solvers/solver.hpp"
#include "pg/functions/group_errors.hpp"
#include "pg/functions/train_agg.hpp"
#include "pg/server/interrupts.hpp"

namespace margin::pg {

[[noreturn]] void refuse_search() {
  throw Error(ErrorKind::unsupported,
              "option \"interactions\" names no pairs, and nothing is trained here to search them by",
              "Name them, such as those that train_margin found: interactions => '{age*income}'. "
              "margin_importance(model) lists the columns and pairs of a model.");
}

namespace {

/// The pairs that the options ask for; none where no pair gains. False, after a warning, where the rows ruined the group.
bool search_pairs(EncodedTable& found, const RowTable& table, const CollectedRows& rows, GroupWarnings& warnings,
                  SelectionOptions wanted) {
  if (without_model(rows.data, wanted.settings)) return true;
  wanted.settings.initial.reset();
  return attempt(rows, warnings, [&] {
    wanted.settings = settings_for(rows, std::move(wanted.settings));
    for (GridPoint& point : wanted.grid) point.settings = settings_for(rows, std::move(point.settings));
    ThreadedProgress progress;
    named_features(rows.encoder.get(), [&] {
      found = with_interactions(table, *rows.encoder, rows.data, wanted, progress, rows.memory, rows.folds);
    });
  });
}

}  // namespace

std::optional<CollectedRows> encoded_rows(const RowTable& table, CollectedRows&& rows, GroupWarnings& warnings,
                                          SelectionOf selection_of) {
  const bool searched = table.rules().interactions.searched();
  if (searched && selection_of == nullptr) refuse_search();
  const bool coded = table.rules().bins.any() || !table.rules().interactions.named.empty();
  const bool as_codes = coded && selection_of != nullptr && prefers_codes(selection_of(rows.options));
  ThreadedProgress progress;
  std::shared_ptr<const Encoder> encoder = table.fit(progress, rows.memory);
  const auto with = [&](EncodedTable&& encoded, MemoryBudget memory) {
    const Dataset& data = *encoded.rows;
    return CollectedRows{data,
                         std::move(encoded.encoder),
                         std::move(encoded.rows),
                         std::string(table.label_column(progress)),
                         rows.options,
                         rows.skipped,
                         rows.null_for_error,
                         memory,
                         rows.folds,
                         &table};
  };
  MemoryBudget left = rows.memory;
  std::unique_ptr<const Dataset> encoded = table.encode(*encoder, progress, rows.memory, as_codes);
  CollectedRows plain = with({std::move(encoder), std::move(encoded)}, rows.memory);
  if (!searched) return plain;
  EncodedTable found;
  if (!search_pairs(found, table, plain, warnings, selection_of(rows.options))) return std::nullopt;
  if (found.rows == nullptr) return plain;
  left.use(static_cast<double>(found.rows->bytes()));
  return with(std::move(found), left);
}

}  // namespace margin::pg
