// Which pairs of columns enter a model (option interactions): those that gain most beside the columns by themselves, as many as
// are asked for or as cross-validation finds best. The certificate of the model is about its pairs; that others would not be
// better is not proven.
#pragma once

#include <memory>
#include <vector>

#include "core/encoder/row_table.hpp"
#include "core/train/path.hpp"

namespace margin {

/// Rows with named columns as numbers, and what made these of them.
struct EncodedTable {
  std::shared_ptr<const Encoder> encoder;
  std::unique_ptr<const Dataset> rows;
};

struct PairGain {
  ColumnPair columns;
  double gain;
};

/// What each pair of columns gains beside a model of the columns by themselves, by falling gain, those below 0 left out. A model of
/// `rows`, as `encoder` without pairs has them, is trained; its losses have slopes g and curvatures h (c where they have kinks) at the
/// rows, by their weights c. For the cells of coarse levels of a pair, one pass sums them to G, H and S = Σ g². What an additive
/// function of the two columns would still take away of G is left out, and a Newton step of one weight for each cell gains
///   Σ (G² − (1 − 1/a)(1 − 1/b) S)/(H + λW),
/// less what noise alone would gain, S for a and b levels. Several outputs add up. Throws Error as train().
std::vector<PairGain> pair_gains(const RowTable& table, const Encoder& encoder, const std::vector<Column>& cut,
                                 const Dataset& rows, const Options& settings, const Progress& progress,
                                 MemoryBudget memory);

/// What a selection of these options would be of, where they are those of one training, or of a path without a metric of its own.
SelectionOptions one_selection(const Options& settings);
void complete_selection(SelectionOptions& options);

/// The option interactions as the names of the pairs that were found: a training with it has these.
void name_pairs(Value::Object& options, const Encoder& encoder);

/// The encoder with the pairs that the options ask for, and the rows as it has them; nothing where no pair gains. `encoder`, `rows`:
/// without pairs; `memory`: what is left beside them; `fold` as cross_validate() has it. Throws Error:
/// unsupported (no lambda above 0), and as train().
EncodedTable with_interactions(const RowTable& table, const Encoder& encoder, const Dataset& rows,
                               const SelectionOptions& options, const Progress& progress, MemoryBudget memory,
                               const std::int32_t* fold);

}  // namespace margin
