// What the aggregates over (model, label, features [, weight] [, options]) have in common that keep their rows, as train_margin does.
#pragma once

#include "pg/functions/pass_agg.hpp"
#include "pg/server/spill.hpp"

namespace margin::pg {

/// The rows of a group, whose memory is the aggregate context's: no destructor runs.
struct CollectedGroup {
  CollectedGroup(MemoryContext context, Dataset::Outcome outcome)
      : memory(context, memory_limit(), &rows),
        store(context, std::max(0.0, memory_limit())),
        data(outcome, &memory, memory_limit() < 0 ? nullptr : &store) {}
  std::int64_t rows = 0;
  ContextResource memory;
  SpillStore store;
  Dataset data;
};

/// A state that keeps rows. Made for models of the right kind only: `require` throws for others.
class GroupState : public PassState {
 public:
  template <class Require>
  GroupState(PassStart&& start, const Require& require) : PassState(std::move(start)), settings(settings_of(*model)) {
    require(*model, settings);
    kept = new (allocate_in(start.context, sizeof(CollectedGroup)))
        CollectedGroup(start.context, model->regression() ? Dataset::Outcome::targets : Dataset::Outcome::classes);
    // In the order of the model, whatever that of the rows.
    for (std::size_t c = 0; c < model->classes.size(); ++c)
      kept->data.classes().intern(model->classes[c], static_cast<double>(c));
  }

  void add(const PassRow& row) override {
    const double weight = row.weight();
    FeatureRow x{};
    static_cast<Row&>(x) = fitted(*model, row.features);
    x.dimensions = model->dimensions;
    ++kept->rows;
    if (model->regression())
      kept->data.append(x, row.call.label->number(row.label()), weight);
    else
      kept->data.append(x, class_of(row), weight);
  }

  const Options settings;
  CollectedGroup* kept = nullptr;
};

}  // namespace margin::pg
