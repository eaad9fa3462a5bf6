#include "pg/functions/pass_agg.hpp"

namespace margin::pg {

std::string flat_model(Datum composite) {
  const auto* header = backend([=] { return DatumGetHeapTupleHeader(composite); });
  return {reinterpret_cast<const char*>(header), VARSIZE_ANY(header)};
}

GroupModel::GroupModel(std::string flat)
    : flat_(std::move(flat)),
      model_(read_model(PointerGetDatum(flat_.data()))),
      scorer_(scorer_of(model_)),
      classes_(model_.classes) {}

[[noreturn]] static void refuse_second_model() {
  throw Error(ErrorKind::invalid_option, "the model must be the same for every row of a group",
              "To use several models at once, GROUP BY the column that tells them apart. A model trained in the same "
              "statement belongs in WITH ... AS MATERIALIZED, or a plan may train it anew for every row.");
}

void GroupModel::require_same(Datum composite) {
  const std::string_view key = argument_key(composite);
  if (key == key_) return;
  if (flat_model(composite) != flat_) refuse_second_model();
  key_ = key;
}

void GroupModel::tell_size(MemoryContext context, double bytes) {
  bytes += 2 * bytes_of(model_) + 2 * static_cast<double>(flat_.size());
  if (bytes <= 1.25 * told_bytes_) return;
  void* const before = told_;
  const auto size = static_cast<std::size_t>(bytes);
  told_ = backend([=] {
    if (before != nullptr) pfree(before);
    return size > MaxAllocHugeSize ? nullptr
                                   : MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
  });
  told_bytes_ = bytes;
}

void GroupModel::require_same(const GroupModel& other) const {
  if (flat_ != other.flat_) refuse_second_model();
}

void require_same_options(bool same) {
  if (!same) throw Error(ErrorKind::invalid_option, "the options must be the same for every row of a group");
}

bool sees_all_rows(FunctionCallInfo fcinfo) {
  const Aggref* aggref = AggGetAggref(fcinfo);
  return aggref == nullptr || aggref->aggsplit == AGGSPLIT_SIMPLE;  // null: a window function
}

}  // namespace margin::pg
